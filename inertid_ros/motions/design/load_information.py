"""How much a motion will tell of a load, from the wrench it causes at a sensor."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pinocchio as pin

from inertid_ros.core.equations.load_regressor import FEATURES, UNKNOWNS, build_regressor, compute_products
from inertid_ros.core.estimation.load_trial import LOAD, PRIOR_BIAS, PRIOR_LOAD
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
        self._sensor = self._model.njoints - 1
        if load is not None:
            self._model.appendBodyToJoint(self._sensor, to_pinocchio(load), pin.SE3.Identity())
        self._data = self._model.createData()
        regressors = np.array([build_regressor(feature) for feature in np.eye(FEATURES)])
        weights = 1.0 / np.repeat([noise.force, noise.torque], 3)
        whitened = (weights[:, None] * regressors).reshape(FEATURES, 6 * UNKNOWNS)
        prior = np.diag(1.0 / np.concatenate((PRIOR_LOAD, PRIOR_BIAS)) ** 2)
        if known is not None:
            prior[:LOAD, :LOAD] += information_of(known)
        super().__init__(
            (settings.filter_cutoff, settings.smoothing_cutoff), whitened, prior, np.arange(UNKNOWNS) < LOAD
        )

    def move(self, path: JointPath) -> tuple[FloatArray, FloatArray]:
        """Features of the regressor and efforts, from one call of inverse dynamics a sample."""
        twists, felt, efforts = self._move_sensor(path)
        features: FloatArray = np.ones((len(twists), FEATURES))
        products = compute_products(twists)
        features[:, :3] = felt[:, :3] + products[:, :3]
        features[:, 3:6] = felt[:, 3:]
        features[:, 6:12] = products[:, 3:]
        return features, efforts

    def _move_sensor(self, path: JointPath) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Twist and spatial acceleration less gravity of the sensor in its axes, (N, 6) each, and efforts (N, n)."""
        count = len(path.positions)
        coordinates = np.zeros((count, 3, self._joints + 1))
        for kind, values in enumerate(path):
            coordinates[:, kind, :-1] = values
        twists, felt, efforts = np.empty((count, 6)), np.empty((count, 6)), np.empty((count, self._joints + 1))
        model, data, inverse_dynamics = self._model, self._data, pin.rnea
        twist, acceleration = data.v[self._sensor].vector, data.a_gf[self._sensor].vector
        for i, (q, v, a) in enumerate(coordinates):
            efforts[i] = inverse_dynamics(model, data, q, v, a)
            twists[i] = twist
            felt[i] = acceleration
        return twists, felt, efforts[:, :-1]
