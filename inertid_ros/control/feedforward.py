"""Efforts for a trajectory: by an arm that was saved or is being identified, with what it carries, within limits."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from inertid_ros.control.inverse_model import CarriedLoad, InverseModel
from inertid_ros.core.errors import FileFormatError, NotIdentifiedError
from inertid_ros.core.estimation.estimate import LinksEstimate, LoadEstimate
from inertid_ros.core.estimation.full_set import find_predictor
from inertid_ros.core.records import FloatArray
from inertid_ros.core.robot.robot import Robot
from inertid_ros.core.settings.settings import Settings
from inertid_ros.files.document import read_mapping
from inertid_ros.files.estimate import SavedEstimate, read_estimate
from inertid_ros.files.parameters import load_from_yaml
from inertid_ros.motions.files import read_limits
from inertid_ros.motions.trajectory import Trajectory


class Filled(NamedTuple):
    """A trajectory with efforts, and the standard deviations (N, n) of these."""

    trajectory: Trajectory
    deviations: FloatArray


def model_of_file(saved: SavedEstimate, robot: Robot, load: CarriedLoad | None = None) -> InverseModel:
    """The arm of a file, with its own settings; InertidError if it is of another robot, or knows no efforts."""
    links, settings = saved.need_links(), saved.need_settings()
    model = links.make_model(robot, settings)
    left = np.array([links.noise.get(name, 0.0) for name in model.arm.joint_names])
    return InverseModel(model, links.predictor, links.predictor_covariance, left, load, settings.links.coulomb_velocity)


def model_of_estimate(estimate: LinksEstimate, settings: Settings, load: CarriedLoad | None = None) -> InverseModel:
    """The arm as it is known now; NotIdentifiedError if nothing is, or no efforts."""
    if not estimate.rows or estimate.fit is None:
        raise NotIdentifiedError("nothing is known of the links yet: move the arm")
    predictor, joints = find_predictor(estimate), len(estimate.model.arm.joint_names)
    left = np.asarray(estimate.fit.noise)[-joints:]
    return InverseModel(
        estimate.model, predictor.values, predictor.covariance, left, load, settings.links.coulomb_velocity
    )


def load_of_estimate(load: LoadEstimate) -> CarriedLoad:
    """A load that was identified; NotIdentifiedError if there was nothing to identify it from.

    What is not known of it makes efforts uncertain, and is refused where it matters. A tool counts as part of the arm.
    """
    if not load.rows:
        raise NotIdentifiedError("nothing is known of the load yet: move the arm, or do without estimating a load")
    return CarriedLoad(load.frame, load.values, load.covariance)


def load_of_file(path: Path, frame: str) -> CarriedLoad:
    """A load from a load file, in a frame, or from an estimate, in its own; InertidError if it is neither."""
    if "format" in read_mapping(path).content:
        found = load_of_estimate(read_estimate(path).need_load())
        if frame and frame != found.frame:
            raise FileFormatError(f"'{path}' has a load in frame '{found.frame}', not in '{frame}'")
        return found
    if not frame:
        raise FileFormatError(f"'{path}' does not say to which frame the load is fixed: name it with --frame")
    return CarriedLoad(frame, load_from_yaml(path), np.zeros((10, 10)))


def fill_efforts(model: InverseModel, trajectory: Trajectory) -> Filled:
    """Fill in the efforts that the motion takes (eq. 6.1).

    Raises:
        FileFormatError: if the trajectory has other joints, or goes beyond limits of position, velocity or effort.
        NotIdentifiedError: if the parameters of a joint are not known for this motion.
    """
    arranged = arrange(model, trajectory)
    path = arranged.path
    unknown = model.find_unknown(path)
    if unknown:
        listed = ", ".join(f"{name} ({effort:.3g} ± {spread:.2g} Nm)" for name, (spread, effort) in unknown.items())
        raise NotIdentifiedError(
            f"the parameters of {listed} are not known for this motion (rms effort and its standard deviation): "
            "identify the arm on a motion like it (inertid excite --target links), or slow this one down"
        )
    filled = replace(arranged, efforts=model.efforts(path))
    check_efforts(model, filled)
    return Filled(filled, model.deviations(path))


def arrange(model: InverseModel, trajectory: Trajectory) -> Trajectory:
    """The trajectory in the order of the arm's joints, after a look at its limits of position and velocity."""
    arranged = trajectory.arrange(model.joint_names, "the arm")
    arranged.check(read_limits(model.model.arm))
    return arranged


def check_efforts(model: InverseModel, trajectory: Trajectory) -> None:
    """FileFormatError if efforts of a trajectory are beyond the limits of the URDF."""
    assert trajectory.efforts is not None
    largest, limits = np.abs(trajectory.efforts).max(axis=0), model.model.arm.effort_limits
    beyond = [
        f"{name} {most:.4g} of {limit:.4g} Nm"
        for name, most, limit in zip(model.joint_names, largest.tolist(), limits.tolist(), strict=True)
        if most > limit
    ]
    if beyond:
        raise FileFormatError(
            f"the trajectory takes more effort than the robot description allows ({', '.join(beyond)}): slow it down"
        )
