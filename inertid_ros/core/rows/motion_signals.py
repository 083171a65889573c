"""The signals from which rows are made: kinematics and wrench side by side, and how much of the motion is noise."""

from __future__ import annotations

import numpy as np

from inertid_ros.core.equations.load_regressor import build_products
from inertid_ros.core.input.synchroniser import Stretch
from inertid_ros.core.records import FloatArray
from inertid_ros.core.robot.kinematics import SensorKinematics
from inertid_ros.core.robot.robot import FramePath

RAW_SIGNALS = 35
"""v (3), w (3), their squared second differences (6), products of w and v (6) and of w and w (6), g (3), 1, wrench (6),
step."""

SIGNALS = 28
"""v (3), w (3), w x v (3), w w^T (6), g (3), 1, wrench (6), squared second differences of v and of w (2), step."""

ROW_SIGNALS = SIGNALS - 3
"""The same after the first filter, with a + g and dw in the place of v, w and w x v."""


class MotionSignals:
    """Kinematics and wrench of a stretch side by side.

    They are laid down in memory that the caller gives. Where it is the same as for the last stretch, all views of it
    are there already: for single samples to make them would cost as much as to compute what they hold.
    """

    def __init__(self, path: FramePath, gravity: FloatArray) -> None:
        """Set the joints and the gravity vector in the root frame."""
        self._kinematics = SensorKinematics(path, gravity)
        self._is_new = True
        self._last_time = 0.0
        self._last_step = 0.0
        self._weights = np.zeros((3, 3))
        self._weights[1, 2] = 1.0
        self._flat_weights = self._weights.ravel()
        self._twists: FloatArray = np.zeros((2, 6))
        self._view(np.empty((1, RAW_SIGNALS)))

    def _view(self, signals: FloatArray) -> None:
        """Use memory (N, 35) for signals from now on. Of the twists, the first two are those before the stretch."""
        count = len(signals)
        twists = np.empty((count + 2, 6))
        twists[:2] = self._twists[:2]
        self._twists = twists
        self._earlier, self._before, self._now = twists[0], twists[1], twists[2:]
        self._last_but_one, self._last = twists[-2], twists[-1]
        self._moves = np.empty((count, 18))
        self._bends, self._corrected = self._moves[:, :6], self._moves[:, 12:]
        self._moves_by_kind = self._moves[0].reshape(3, 6)
        self._multiplied = self._moves[:, :12]
        self._factors = np.empty((count, 36))
        self._left, self._right = self._factors[:, :18], self._factors[:, 18:]
        self._signals = signals
        signals[:, 27] = 1.0
        self._velocities, self._products, self._gravity = signals[:, :6], signals[:, 6:24], signals[:, 24:27]
        self._wrenches, self._steps = signals[:, 28:34], signals[:, 34]
        self._single_gravity = signals[0, 24:27]

    def start_anew(self) -> None:
        """Forget the past at the next sample."""
        self._is_new = True

    def process(self, stretch: Stretch, signals: FloatArray) -> tuple[FloatArray, bool]:
        """Take samples without a gap, and lay down their raw signals in (N, 35).

        Tustin's derivative of v misses h^2/12 of its third derivative; v + h^2/12 v'' is given in the place of v, so
        that it does not.

        Returns:
            Steps (N,) [s], and whether this is a start; the first step of a start is zero.
        """
        starts_anew, _, times, positions, velocities, wrenches = stretch
        count = len(times)
        if signals is not self._signals:
            self._view(signals)
        if count == 1:
            self._kinematics.compute_one(positions, velocities, self._last, self._single_gravity)
        else:
            self._now[...], self._gravity[...] = self._kinematics.compute(positions, velocities)
        started = starts_anew or self._is_new
        if started:
            self._is_new, self._last_time, self._last_step = False, times.item(0), 0.0
            self._earlier[...] = self._before[...] = self._now[0]
        if count == 1:
            self._compute_moves_of_one(times.item())
        else:
            self._compute_moves(times)
        self._multiplied.dot(_FACTORS, self._factors)
        np.multiply(self._left, self._right, self._products)
        self._velocities[...] = self._corrected
        self._wrenches[...] = wrenches
        self._earlier[...] = self._last_but_one
        self._before[...] = self._last
        return self._steps, started

    def _compute_moves(self, times: FloatArray) -> None:
        """Second differences h^2 v'' of the twists on their true steps, twists, and twists plus a twelfth of those.

        With x the twist, they are x_k - x_(k-1) - h_k / h_(k-1) (x_(k-1) - x_(k-2)), and zero where two before are not
        known.
        """
        steps = self._steps
        steps[0] = times.item(0) - self._last_time
        np.subtract(times[1:], times[:-1], out=steps[1:])
        before = np.empty_like(steps)
        before[0], before[1:] = self._last_step, steps[:-1]
        known = before > 0.0
        ratios = np.divide(steps, before, out=before, where=known)[:, None]
        changes = self._twists[1:] - self._twists[:-1]
        np.multiply(changes[1:] - ratios * changes[:-1], known[:, None], out=self._bends)
        self._moves[:, 6:12] = self._now
        np.multiply(self._bends, 1.0 / 12.0, out=self._corrected)
        self._corrected += self._now
        self._last_time, self._last_step = times.item(-1), steps.item(-1)

    def _compute_moves_of_one(self, time: float) -> None:
        """The same for a single sample, as weighted sums of three twists."""
        step, before = time - self._last_time, self._last_step
        ratio, known = (step / before, 1.0) if before > 0.0 else (0.0, 0.0)
        weights = self._flat_weights
        weights[0] = ratio
        weights[1] = -ratio - known
        weights[2] = known
        weights[6] = ratio / 12.0
        weights[7] = (-ratio - known) / 12.0
        weights[8] = 1.0 + known / 12.0
        self._weights.dot(self._twists, self._moves_by_kind)
        self._steps[0] = self._last_step = step
        self._last_time = time


def _build_factors() -> FloatArray:
    """(12, 36) from second differences and twist to the left and the right factors of their products."""
    left, right, _ = build_products()
    factors = np.zeros((12, 36))
    factors[:6, :6] = factors[:6, 18:24] = np.eye(6)
    factors[6:, 6:18], factors[6:, 24:] = left, right
    return factors


def _build_sums() -> FloatArray:
    """(35, 28) from raw signals to signals."""
    sums = np.zeros((RAW_SIGNALS, SIGNALS))
    sums[:6, :6] = np.eye(6)
    sums[6:12, 25:27] = np.repeat(np.eye(2), 3, axis=0)
    sums[12:24, 6:15] = build_products()[2]
    sums[24:34, 15:25] = np.eye(10)
    sums[34, 27] = 1.0
    return sums


_FACTORS = _build_factors()

SUMS = _build_sums()
"""(35, 28) matrix from raw signals to signals."""
