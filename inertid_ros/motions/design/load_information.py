"""How much a motion will tell of a load, from the wrench it causes at a sensor."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pinocchio as pin

from inertid_ros.core.equations.load import (
    FEATURES,
    LOAD,
    PRIOR_BIAS,
    PRIOR_LOAD,
    REGRESSORS,
    UNKNOWNS,
    make_load_equation,
)
from inertid_ros.core.records import FloatArray
from inertid_ros.core.rigid_body.inertial import to_pinocchio
from inertid_ros.core.robot.robot import FramePath
from inertid_ros.core.settings.settings import LoadSettings
from inertid_ros.motions.design.motion_information import MotionInformation, information_of
from inertid_ros.motions.motion import JointPath


class WrenchNoise(NamedTuple):
    """Densities of the wrench noise; the defaults are 0.1 N and 5 mNm at 200 Hz.

    Attributes:
        force: N/sqrt(Hz).
        torque: Nm/sqrt(Hz).
    """

    force: float = 0.1 / 200.0**0.5
    torque: float = 0.005 / 200.0**0.5


class LoadInformation(MotionInformation):
    """The information on [phi (10), bias (6)] that joint paths bring, of which phi is wanted."""

    def __init__(
        self,
        path: FramePath,
        gravity: FloatArray,
        noise: WrenchNoise,
        settings: LoadSettings,
        known: FloatArray | None = None,
        load: FloatArray | None = None,
    ) -> None:
        """Set up for one sensor frame.

        Args:
            path: the joints that move the frame.
            gravity: (3,) in the root frame, m/s^2.
            noise: of the wrench.
            settings: with the two cutoffs of the filtered method.
            known: (10, 10) covariance of what is known of the load already; None for nothing.
            load: (10,) what is carried, for the efforts; None for nothing.
        """
        self._model = path.model.copy()
        self._model.gravity.linear = np.asarray(gravity, dtype=np.float64)
        self._joints = len(path.joint_names)
        if load is not None:
            self._model.appendBodyToJoint(self._model.njoints - 1, to_pinocchio(load), pin.SE3.Identity())
        self._data = self._model.createData()
        self._equation = make_load_equation(path, self._model.gravity.linear)
        weights = 1.0 / np.repeat([noise.force, noise.torque], 3)
        whitened = (weights[:, None] * REGRESSORS).reshape(FEATURES, 6 * UNKNOWNS)
        prior = np.diag(1.0 / np.concatenate((PRIOR_LOAD, PRIOR_BIAS)) ** 2)
        if known is not None:
            prior[:LOAD, :LOAD] += information_of(known)
        super().__init__(
            (settings.filter_cutoff, settings.smoothing_cutoff), whitened, prior, np.arange(UNKNOWNS) < LOAD
        )

    def move(self, path: JointPath) -> tuple[FloatArray, FloatArray]:
        """Features of the regressor (N, 13), and efforts (N, n)."""
        signals = self._equation.compute(*path)
        features = signals[:, :FEATURES]
        features[:, :3] -= signals[:, FEATURES:]
        coordinates = np.zeros((len(signals), 3, self._joints + 1))
        for kind, values in enumerate(path):
            coordinates[:, kind, :-1] = values
        efforts = np.array([pin.rnea(self._model, self._data, *state) for state in coordinates])
        return features, efforts[:, :-1]
