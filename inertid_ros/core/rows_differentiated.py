"""Rows with accelerations, as in the 1986 paper: joint states are low-passed and differentiated, the wrench low-passed alike.

Positions q and velocities v go twice through p/(s+p); with v_1, v_2 the velocities after one and after two passes, the
joint acceleration is p (v_1 - v_2), the derivative of v_2. The wrench goes through the same two filters.
"""

from __future__ import annotations

import numpy as np

from inertid_ros.core.alignment import Stretch
from inertid_ros.core.kinematics import SensorKinematics
from inertid_ros.core.load_regressor import compute_products
from inertid_ros.core.lowpass import LowPass
from inertid_ros.core.motion_signals import ROW_SIGNALS, MotionSignals, suppress_noise
from inertid_ros.core.records import FloatArray, IntArray
from inertid_ros.core.robot import FramePath


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

    def start_anew(self) -> None:
        """Forget the past at the next sample."""
        self._signals.start_anew()

    def process(self, stretch: Stretch, picked: IntArray) -> tuple[FloatArray, FloatArray]:
        """Features of every sample, late by the filters' delay, and rows at the picked ones."""
        n = self._joints
        raw, steps, started = self._signals.process(stretch)
        signals = np.concatenate((stretch.positions, stretch.velocities, raw[:, 19:]), axis=1)
        if started:
            self._first.start(signals[0], signals[0])
            self._second.start(signals[0], signals[0])
        once = self._first.filter(steps, signals)
        twice = self._second.filter(steps, once)
        accelerations = self._second.cutoff * (once[:, n : 2 * n] - twice[:, n : 2 * n])
        motion = self._kinematics.compute_with_accelerations(twice[:, :n], twice[:, n : 2 * n], accelerations)
        rows = np.empty((len(signals), ROW_SIGNALS))
        rows[:, :6] = motion.acceleration
        np.negative(motion.gravity, out=rows[:, 6:9])
        rows[:, 9:15] = compute_products(motion.twist)[:, 3:]
        rows[:, 15] = 1.0
        rows[:, 16:] = twice[:, 2 * n :]
        features = np.concatenate((rows[:, :6], rows[:, 9:16]), axis=1)
        features[:, :3] += rows[:, 6:9]
        return features, suppress_noise(rows[picked], self._second.cutoff**3 / 4.0, stand_out=2.0)
