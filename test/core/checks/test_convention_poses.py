"""The poses that conventions are judged by: which rows are kept, and what is kept of them."""

from __future__ import annotations

import numpy as np
import pytest

from inertid_ros.core.checks.wrench_convention import count_row, leave_out
from inertid_ros.core.records import FloatArray, IntArray

JOINTS = 2
PERIOD, LAG = 0.02, 0.05


class Kept:
    """Rows of 20 ms, late by 50 ms, of an arm with two joints."""

    def __init__(self, room: int = 8) -> None:
        self.history, self.rows = np.full((16, 4 + JOINTS), np.nan), np.full((room, 14 + JOINTS), np.nan)
        self.counts: IntArray = np.zeros(3, dtype=np.int64)
        self.time = 0.0

    def take(self, signals: FloatArray, readings: FloatArray, positions: FloatArray) -> None:
        """The next row; all but its amplitude is multiplied by that."""
        scaled = signals[12] * signals
        scaled[12] = signals[12]
        sample = np.array([self.time, *positions, 99.0])
        count_row(scaled, signals[12] * readings, sample, LAG, self.history, self.rows, self.counts)
        self.time += PERIOD


def _make_signals(acceleration: float = 0.0, amplitude: float = 1.0) -> FloatArray:
    """Gravity along -z, and an acceleration along x."""
    signals = np.zeros(16)
    signals[0], signals[12], signals[15] = acceleration, amplitude, -9.81
    return signals


def test_a_pose_is_what_the_filters_saw_over_their_amplitude() -> None:
    random, kept = np.random.default_rng(1), Kept()
    signals, readings = random.normal(size=16), random.normal(size=6)
    signals[[6, 9, 11]], signals[12] = [0.3, 0.4, 0.5], 0.95
    kept.take(signals, readings, np.zeros(2))
    expected = [*signals[:3], *signals[13:], *readings, np.linalg.norm(signals[3:6]) + 1.2, 0.0, 0.0, np.inf]
    np.testing.assert_allclose(kept.rows[0], expected, rtol=1e-12)
    assert kept.counts.tolist() == [1, 1, 1]


def test_joints_are_where_they_were_when_the_filters_saw_them() -> None:
    """Against numpy's interpolation of all positions so far, 50 ms before; at the very beginning the first ones."""
    kept, times, positions = Kept(64), [], []
    for row in range(40):
        times.append(kept.time)
        positions.append([0.2 * row, np.sin(0.7 * row)])
        kept.take(_make_signals(), np.zeros(6), np.array(positions[-1]))
        seen = max(times[-1] - LAG, 0.0)
        expected = [np.interp(seen, times, column) for column in zip(*positions, strict=True)]
        np.testing.assert_allclose(kept.rows[kept.counts[0] - 1 if row else 0, 13:-1], expected, atol=1e-9)


def test_filters_that_have_not_settled_show_no_pose() -> None:
    kept = Kept()
    for amplitude, count in ((0.5, 0), (0.89, 0), (0.91, 1)):
        kept.take(_make_signals(amplitude=amplitude), np.zeros(6), np.zeros(2))
        assert kept.counts[0] == kept.counts[2] == count
    assert kept.counts[1] == 3


@pytest.mark.parametrize("channel", [0, 1, 2, 13, 14, 15])
def test_another_acceleration_or_another_gravity_is_another_pose(channel: int) -> None:
    """By 1 m/s² from the last pose that was kept, not from the row before."""
    kept, signals = Kept(), _make_signals()
    for change, count in ((0.0, 1), (0.6, 1), (0.99, 1), (1.01, 2), (1.6, 2), (2.02, 3), (1.1, 3), (1.01, 4)):
        turned = signals.copy()
        turned[channel] += change
        kept.take(turned, np.zeros(6), np.zeros(2))
        assert kept.counts[0] == kept.counts[2] == count, change


@pytest.mark.parametrize("joint", range(JOINTS))
@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_a_joint_that_has_moved_is_another_pose_where_gravity_stays(joint: int, side: float) -> None:
    kept = Kept()
    for moved, count in ((0.0, 1), (0.099, 1), (0.101, 2), (0.19, 2), (0.21, 3)):
        for _ in range(5):  # until the filters see it
            kept.take(_make_signals(), np.zeros(6), side * moved * np.eye(JOINTS)[joint])
        assert kept.counts[0] == count, moved


def test_a_pose_that_is_held_is_kept_where_its_force_is_steadiest() -> None:
    """The force is 10 N while somebody lets the load go, 3 N for a second, and 7 N when it is touched again."""
    kept, forces = Kept(), [*np.linspace(10.0, 3.0, 20), *[3.0] * 50, *np.linspace(3.2, 7.0, 20)]
    for row, force in enumerate(forces):
        kept.take(_make_signals(), np.array([force, *[0.0] * 5]), np.zeros(2))
        assert np.isfinite(kept.rows[0, -1]) == (row >= 15), "it takes a third of a second to see that a pose is held"
    assert kept.counts[0] == 1
    np.testing.assert_allclose(kept.rows[0, [6, -1]], [3.0, 0.0], atol=1e-12)


def test_a_pose_that_the_arm_passes_slowly_is_not_held() -> None:
    kept = Kept()
    for row in range(100):
        kept.take(_make_signals(), np.zeros(6), np.array([2e-4 * row, 0.0]))
    assert np.isinf(kept.rows[0, -1])


def test_poses_that_are_held_stay_where_there_is_no_more_room() -> None:
    rows = np.column_stack((np.arange(8.0), [np.inf, 0.1, 0.2, np.inf, 0.1, 0.1, np.inf, np.inf]))
    left = len(rows) - leave_out(rows)
    assert rows[:left, 0].tolist() == [1.0, 2.0, 4.0, 5.0, 6.0, 7.0]


def test_where_there_is_no_more_room_every_other_old_pose_is_left_out() -> None:
    kept = Kept(8)
    for row in range(8):
        kept.take(_make_signals(2.0 * row), np.full(6, row), np.zeros(2))
    assert kept.rows[: kept.counts[0], 6].tolist() == [0.0, 2.0, 4.0, 5.0, 6.0, 7.0]
    assert kept.counts.tolist() == [6, 8, 8]
    kept.take(_make_signals(14.5), np.full(6, 8.0), np.zeros(2))
    assert kept.counts.tolist() == [6, 9, 8], "the last pose is still the one of the row before"
    kept.take(_make_signals(16.0), np.full(6, 9.0), np.zeros(2))
    assert kept.rows[: kept.counts[0], 6].tolist() == [0.0, 2.0, 4.0, 5.0, 6.0, 7.0, 9.0]


@pytest.mark.parametrize("count", [8, 12, 128])
def test_the_younger_half_stays_whole(count: int) -> None:
    rows = np.arange(3.0 * count).reshape(count, 3)
    expected = np.vstack((rows[: count // 2 : 2], rows[count // 2 :]))
    left = count - leave_out(rows)
    np.testing.assert_array_equal(rows[:left], expected)
