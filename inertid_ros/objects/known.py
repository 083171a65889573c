"""Objects that were identified before, and poses in which they are held.

An object is ten parameters in a frame of its own, fixed to it. A grip is the pose of that frame in the sensor's frame,
a (4, 4) homogeneous transformation. Under it the pseudo-inertia P becomes T P Tᵀ, which is linear in phi.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from inertid_ros.core.errors import NotIdentifiedError
from inertid_ros.core.estimation.estimate import LoadEstimate
from inertid_ros.core.estimation.states import ParameterState
from inertid_ros.core.records import FloatArray
from inertid_ros.core.rigid_body.inertial import PARAMETER_NAMES, from_pseudo_inertia, pseudo_inertia

_TO_PSEUDO = np.array([pseudo_inertia(unit).ravel() for unit in np.eye(10)]).T
"""(16, 10): entries of the pseudo-inertia from phi."""
FROM_PSEUDO = np.array([from_pseudo_inertia(unit.reshape(4, 4)) for unit in np.eye(16)]).T
"""(10, 16): phi from the entries of the pseudo-inertia."""


def find_transfer(poses: FloatArray) -> FloatArray:
    """The matrices (..., 10, 10) that take phi from a body's frame to the frame in which it has these poses."""
    pairs = np.einsum("...ab,...cd->...acbd", poses, poses)
    return np.asarray(FROM_PSEUDO @ pairs.reshape(*poses.shape[:-2], 16, 16) @ _TO_PSEUDO)


def make_pose(rotation: FloatArray, position: FloatArray) -> FloatArray:
    """A pose (4, 4) from axes (3, 3) and origin (3,) [m]."""
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = rotation, position
    return pose


@dataclass(frozen=True, slots=True)
class KnownObject:
    """An object of the library.

    Attributes:
        name: by which it is called.
        phi: (10,) in its own frame.
        covariance: (10, 10) how far from the truth.
        repeatability: (10, 10) the part of it that noise causes: what is wrong with the sensor drops out where the same
            sensor holds the object in the same way again.
        grip: (4, 4) how it was held when it was identified, and
        sensor_frame: in which frame.
    """

    name: str
    phi: FloatArray
    covariance: FloatArray
    repeatability: FloatArray
    grip: FloatArray
    sensor_frame: str

    @classmethod
    def from_estimate(cls, name: str, estimate: LoadEstimate, origin: FloatArray) -> KnownObject:
        """What is held now as an object, with the axes of the sensor's frame and its origin at a point (3,) of it.

        NotIdentifiedError while mass or centre of mass are not known.
        """
        unknown = [
            parameter
            for parameter, state in zip(PARAMETER_NAMES[:4], estimate.states, strict=False)
            if state is not ParameterState.KNOWN
        ]
        if unknown:
            raise NotIdentifiedError(
                f"'{name}' is not identified ({', '.join(unknown)}): move it through more poses before it is added"
            )
        transfer = find_transfer(make_pose(np.eye(3), -origin))
        covariance, repeatability = (
            transfer @ matrix @ transfer.T for matrix in (estimate.covariance, estimate.repeatability)
        )
        grip = make_pose(np.eye(3), origin)
        return cls(name, transfer @ estimate.values, covariance, repeatability, grip, estimate.frame)

    @property
    def com(self) -> FloatArray:
        """Centre of mass (3,) [m] in its own frame."""
        return np.asarray(self.phi[1:4] / self.phi[0])
