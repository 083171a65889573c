"""Noise density at standstill against the density that was put in, and against a direct computation."""

from __future__ import annotations

import numpy as np
import pytest
from support.chain import PUMA
from support.rows import Path, cut, make_rows, make_segment, run_rows

from inertid_ros.core.equations.load import make_load_equation
from inertid_ros.core.records import FloatArray
from inertid_ros.core.robot.robot import Robot
from inertid_ros.core.rows.rows import Rows
from inertid_ros.core.rows.standstill import (
    CALIBRATED,
    UNCALIBRATED_FORCE,
    UNCALIBRATED_TORQUE,
    discard_run,
    start_noise,
)

RATE = 200.0
EQUATION = make_load_equation(Robot.from_urdf(PUMA).path_to("ft_sensor"), np.array([0.0, 0.0, -9.81]))


def make_noise(count: int, seed: int = 0) -> FloatArray:
    rng = np.random.default_rng(seed)
    return np.asarray(rng.normal(size=(count, 6)) * np.repeat([0.1, 0.005], 3))


def make_monitor(floor_force: float = 1e-6, floor_torque: float = 1e-6) -> Rows:
    rows = make_rows(EQUATION, 6)
    start_noise(rows.memory, floor_force, floor_torque)
    return rows


def feed(rows: Rows, positions: FloatArray, readings: FloatArray, start: int = 0, size: int = 10**6) -> None:
    """Samples from number `start` on, in blocks."""
    times = (start + np.arange(len(readings))) / RATE
    path = Path(times, positions, np.zeros_like(positions), np.zeros_like(positions))
    for first in range(0, len(times), size):
        part = slice(first, first + size)
        run_rows(rows, make_segment(cut(path, part), readings[part], starts_anew=start + first == 0))


def deviations(rows: Rows) -> FloatArray:
    """Roots of the densities (6,)."""
    return np.asarray(np.sqrt(rows.memory.noise[:6]))


def is_calibrated(rows: Rows) -> bool:
    return bool(rows.memory.noise[CALIBRATED])


def test_density_of_white_noise_is_found_and_vibration_is_not_counted() -> None:
    count = 60 * int(RATE)
    vibration = 0.5 * np.sin(2 * np.pi * 30.0 * np.arange(count) / RATE)[:, None] * np.repeat([1.0, 0.05], 3)
    rows = make_monitor()
    feed(rows, np.zeros((count, 6)), make_noise(count) + vibration + 3.0)
    expected = np.repeat([0.1, 0.005], 3) / np.sqrt(RATE)
    np.testing.assert_allclose(deviations(rows), expected, rtol=0.15)


def test_density_is_that_of_the_means_over_a_tenth_of_a_second() -> None:
    """49 blocks have ended: runs of 20, 20 and 9 means, pooled, with the mean of Student's variance."""
    count = 5 * int(RATE)
    readings = make_noise(count, 1) + 2.0
    rows = make_monitor()
    feed(rows, np.zeros((count, 6)), readings)
    means = readings.reshape(50, -1, 6).mean(axis=1)
    runs = means[:20], means[20:40], means[40:49]
    squares = sum(np.square(run - run.mean(axis=0)).sum(axis=0) for run in runs)
    np.testing.assert_allclose(rows.memory.noise[:6], squares / (19 + 19 + 8 - 2) * 0.1, rtol=1e-9)


def test_readings_that_only_repeat_themselves_show_no_noise() -> None:
    """A driver that holds one reading in each pose; then one that shows its noise."""
    count = 4 * int(RATE)
    poses = np.repeat(make_noise(2, 3) + 2.0, count // 2, axis=0)
    rows = make_monitor()
    feed(rows, np.zeros((count, 6)), poses)
    assert not is_calibrated(rows)
    np.testing.assert_allclose(deviations(rows), np.repeat([UNCALIBRATED_FORCE, UNCALIBRATED_TORQUE], 3))
    feed(rows, np.zeros((count, 6)), make_noise(count, 4) + 2.0, start=count)
    assert is_calibrated(rows)
    np.testing.assert_allclose(deviations(rows), np.repeat([0.1, 0.005], 3) / np.sqrt(RATE), rtol=0.5)


def test_nothing_is_learned_in_motion() -> None:
    count = 10 * int(RATE)
    rows = make_monitor()
    feed(rows, np.linspace(0.0, 1.0, count)[:, None] * np.ones(6), make_noise(count))
    assert not is_calibrated(rows)
    np.testing.assert_allclose(deviations(rows), np.repeat([UNCALIBRATED_FORCE, UNCALIBRATED_TORQUE], 3))


@pytest.mark.parametrize("size", [1, 13, 400])
def test_blocks_do_not_matter(size: int) -> None:
    count = 5 * int(RATE)
    readings, positions = make_noise(count, 3), np.zeros((count, 6))
    positions[700:] = 0.5
    whole, pieces = make_monitor(), make_monitor()
    feed(whole, positions, readings)
    feed(pieces, positions, readings, size=size)
    np.testing.assert_array_equal(deviations(pieces), deviations(whole))


@pytest.mark.parametrize("count", [300, 310, 319])
def test_discarded_run_is_not_counted(count: int) -> None:
    """Whether a block of 0.1 s has just ended, or is half over, or nearly over."""
    rows = make_monitor()
    readings = make_noise(2 * count) + 10.0
    readings[count:] += 50.0
    still = np.zeros((count, 6))
    feed(rows, still, readings[:count])
    discard_run(rows.memory, rows.own_integers)
    feed(rows, still, readings[count:], start=count)
    assert np.all(deviations(rows)[:3] < 0.02)
