"""Objects of known shape, and estimates of them as if they had been identified."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from inertid_ros.core.estimation.estimate import LoadEstimate, Mode, Solution, judge_load
from inertid_ros.core.records import FloatArray
from inertid_ros.core.rigid_body.inertial import change_frame, compose
from inertid_ros.objects.known import KnownObject, make_pose

FINGERS = np.array([0.0, 0.0, 0.12])
DEVIATIONS = np.array([3e-3] + [3e-4] * 3 + [3e-5] * 6)
"""Of estimates [kg, kg m, kg m²] about the object's own centre of mass: those of a good sensor after ten seconds."""


def box(mass: float, x: float, y: float, z: float, com: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> FloatArray:
    """Parameters of a homogeneous box about a frame in which its centre is at `com`."""
    moments = mass / 12.0 * np.array([y**2 + z**2, x**2 + z**2, x**2 + y**2])
    return compose(mass, np.array(com), np.diag(moments))


def make_known(name: str, phi: FloatArray) -> KnownObject:
    """An object that was identified in the fingers."""
    covariance = np.diag(DEVIATIONS**2)
    return KnownObject(name, phi, covariance, 0.25 * covariance, make_pose(np.eye(3), FINGERS), "ft_sensor")


def make_estimate(phi: FloatArray, covariance: FloatArray, rows: int = 500) -> LoadEstimate:
    """An estimate with this result."""
    solution = Solution(1_000_000_000, Mode.TRACKING, phi, covariance, rows, None, 0.25 * covariance)
    return judge_load(solution, "ft_sensor", ())


def hold(
    phi: FloatArray,
    rotation: FloatArray | None = None,
    place: FloatArray = FINGERS,
    seed: int | None = None,
    deviations: FloatArray = DEVIATIONS,
) -> LoadEstimate:
    """Hold an object in a pose and identify it, with noise if there is a seed."""
    rotation = np.eye(3) if rotation is None else rotation
    at_com = np.array([change_frame(unit, np.eye(3), rotation @ phi[1:4] / phi[0] + place) for unit in np.eye(10)]).T
    covariance = at_com * deviations**2 @ at_com.T
    values = change_frame(phi, rotation, place)
    if seed is not None:
        values = values + at_com @ (deviations * np.random.default_rng(seed).normal(size=10))
    return make_estimate(values, covariance)


def random_rotation(seed: int) -> FloatArray:
    """Any rotation."""
    return np.asarray(Rotation.random(random_state=seed).as_matrix())
