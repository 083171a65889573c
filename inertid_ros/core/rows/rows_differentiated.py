"""Rows with accelerations, as in the 1986 paper: joint states low-passed and differentiated, the wrench low-passed.

Positions q and velocities v go twice through p/(s+p); with v_1, v_2 the velocities after one and after two passes, the
joint acceleration is p (v_1 - v_2), the derivative of v_2. The wrench goes through the same two filters.
"""

from __future__ import annotations

import numpy as np

from inertid_ros.core.equations.load_regressor import FEATURES, compute_products
from inertid_ros.core.input.synchroniser import Stretch
from inertid_ros.core.records import FloatArray
from inertid_ros.core.robot.kinematics import SensorKinematics
from inertid_ros.core.robot.robot import FramePath
from inertid_ros.core.rows.lowpass import LowPass
from inertid_ros.core.rows.motion_signals import RAW_SIGNALS, ROW_SIGNALS, SUMS, MotionSignals
from inertid_ros.core.rows.noise_suppression import suppress_noise


class DifferentiatedRows:
    """The paper's eq. 8 with differentiated joint angles."""

    def __init__(self, path: FramePath, gravity: FloatArray, cutoff: float) -> None:
        """Set the cutoff of both filters [rad/s]."""
        self._signals = MotionSignals(path, gravity)
        self._kinematics = SensorKinematics(path, gravity)
        self._joints = len(path.joint_names)
        self._first = LowPass(cutoff)
        self._second = LowPass(cutoff)
        self.noise_bandwidth = cutoff / 4.0
        self.feature_map: FloatArray = np.eye(FEATURES)

    def start_anew(self) -> None:
        """Forget the past at the next sample."""
        self._signals.start_anew()

    def process(self, stretch: Stretch, picked: list[int]) -> tuple[FloatArray, list[FloatArray]]:
        """Features of every sample, late by the filters' delay, and rows at the picked ones."""
        n = self._joints
        raw = np.empty((len(stretch.stamps), RAW_SIGNALS))
        steps, started = self._signals.process(stretch, raw)
        signals = np.concatenate((stretch.positions, stretch.velocities, raw.dot(SUMS)[:, 19:]), axis=1)
        if started:
            self._first.start(signals[0], signals[0])
            self._second.start(signals[0], signals[0])
        once = self._first.filter(steps, signals)
        twice = self._second.filter(steps, once)
        cutoff = self._second.cutoff
        accelerations = cutoff * (once[:, n : 2 * n] - twice[:, n : 2 * n])
        motion = self._kinematics.compute_with_accelerations(twice[:, :n], twice[:, n : 2 * n], accelerations)
        rows = np.empty((len(signals), ROW_SIGNALS))
        rows[:, :6] = motion.acceleration
        rows[:, 6:12] = compute_products(motion.twist)[:, 3:]
        rows[:, 12:15] = motion.gravity
        rows[:, 15] = 1.0
        rows[:, 16:] = twice[:, 2 * n :]
        features = np.concatenate((rows[:, :12], rows[:, 15:16]), axis=1)
        features[:, :3] -= motion.gravity
        return features, [suppress_noise(rows[index], cutoff**3 / 4.0, stand_out=2.0) for index in picked]
