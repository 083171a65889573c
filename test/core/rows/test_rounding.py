"""Steps of readings against those that were put in, and what rounding does to means against many random recordings."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.signal import lfilter

from inertid_ros.core.records import FloatArray
from inertid_ros.core.rows.rounding import LAST, LEVELS, ROWS, STEP, find_rounding, make_rounding, note_rounding

WHITE = 8.0
MOVING = np.array([0.0, 0.5])
ROWS_A_SECOND = 50.0


def take(readings: FloatArray, seen: FloatArray | None = None, velocities: FloatArray = MOVING) -> FloatArray:
    """Rows (N, K) of readings."""
    seen = make_rounding(readings.shape[1]) if seen is None else seen
    for row in readings:
        note_rounding(seen, row, np.zeros(len(row)), velocities)
    return seen


def make_torques(seed: int, count: int = 1500, size: float = 3.0, noise: float = 0.0) -> FloatArray:
    """Rows (N, 1) of three slow sines, an offset, and noise."""
    rng, times = np.random.default_rng(seed), np.arange(count) / ROWS_A_SECOND
    angles = 2.0 * np.pi * rng.uniform(0.1, 0.4, 3) * times[:, None] + rng.uniform(0.0, 6.3, 3)
    return np.asarray((size * np.sin(angles).mean(axis=1) + rng.normal() + noise * rng.normal(size=count))[:, None])


@pytest.mark.parametrize("step", [1e-3, 0.05, 0.5, 7.0])
def test_the_step_is_that_of_the_driver(step: float) -> None:
    torques = make_torques(1, size=20.0 * step)
    for rounded in (np.round(torques / step) * step, np.round(torques / step) * step + 0.3 * step):
        seen = take(rounded)
        assert seen[STEP, 0] == pytest.approx(step, rel=1e-6)
        assert find_rounding(seen, WHITE)[0] > 0.0


def test_counts_of_a_current_times_a_constant_in_single_precision_are_steps() -> None:
    counts = np.round(make_torques(2) / 0.31).astype(np.float32)
    readings = (counts * np.float32(0.0473) * np.float32(101.0)).astype(np.float64)
    seen = take(readings * 0.99999)
    assert seen[STEP, 0] == pytest.approx(0.0473 * 101.0, rel=1e-3)
    assert find_rounding(seen, WHITE)[0] > 0.0


@pytest.mark.parametrize("seed", range(20))
def test_what_is_not_rounded_has_no_step(seed: int) -> None:
    smooth, noisy = make_torques(seed), make_torques(seed, noise=0.05)
    held = np.repeat(noisy[::5], 5, axis=0)
    filtered = lfilter([0.05], [1.0, -0.95], np.round(noisy / 0.5) * 0.5, axis=0)
    single = noisy.astype(np.float32).astype(np.float64)
    standing = np.full_like(smooth, 1.3)
    readings = np.hstack((smooth, noisy, held, filtered, single, standing))
    seen = make_rounding(readings.shape[1])
    for part in np.array_split(readings, 60):
        assert (find_rounding(take(part, seen), WHITE) == 0.0).all()


def test_noise_beyond_the_step_leaves_nothing_but_noise() -> None:
    for noise, share in (0.05, 0.5), (0.6, 0.0):
        torques = make_torques(3, noise=noise)
        variance = find_rounding(take(np.round(torques)), WHITE)[0]
        assert variance >= share / 12.0
        assert share > 0.0 or variance == 0.0


def test_what_moves_by_a_step_and_more_from_row_to_row_is_noise() -> None:
    torques = make_torques(4, size=200.0)
    assert find_rounding(take(np.round(torques)), WHITE)[0] == 0.0
    assert find_rounding(take(np.round(torques / 50.0) * 50.0), WHITE)[0] > 0.0


@pytest.mark.parametrize("size", [0.3, 1.0, 3.0, 10.0])
def test_means_of_rounded_torques_are_as_uncertain_as_stated(size: float) -> None:
    """The root mean square error of a mean and of a Coulomb friction over many recordings, in units of the step."""
    errors, stated = [], []
    for seed in range(200):
        torques = make_torques(seed, size=size)
        direction = np.sign(np.gradient(torques[:, 0]))
        torques += 0.4 * size * direction[:, None]
        rounded = np.round(torques)
        variance = find_rounding(take(rounded), WHITE)[0]
        columns = np.stack((np.ones(len(torques)), direction), axis=1)
        errors.append(np.linalg.lstsq(columns, (rounded - torques)[:, 0], rcond=None)[0])
        stated.append(np.sqrt(variance * WHITE / len(torques)))
    actual, typical = np.sqrt(np.mean(np.square(errors))), np.sqrt(np.mean(np.square(stated)))
    assert actual < 1.2 * typical
    assert typical < 8.0 * actual


def test_nothing_is_noted_at_rest_or_where_there_is_no_effort() -> None:
    seen = take(np.round(make_torques(5)), velocities=np.zeros(2))
    assert seen[ROWS, 0] == 0.0
    assert (seen[LEVELS:] == 0.0).all()
    assert find_rounding(seen, WHITE)[0] == 0.0
    note_rounding(seen, np.ones(1), np.ones(1), MOVING)
    assert np.isnan(seen[LAST, 0])
    note_rounding(seen, np.array([99.0]), np.zeros(1), MOVING)
    assert seen[STEP, 0] == 1.0
    assert seen[ROWS, 0] == 0.0


def test_a_reading_that_hardly_ever_changes_is_rounded() -> None:
    readings = np.zeros((1000, 1))
    readings[[100, 101, 500]] = 1.0
    assert find_rounding(take(readings), WHITE)[0] == pytest.approx(999.0 / (12.0 * WHITE), rel=0.1)


def test_a_torque_that_is_rounded_to_either_of_two_levels_is_rounded() -> None:
    direction = np.repeat(np.random.default_rng(0).permutation([1.0, -1.0] * 15), 50)[:, None]
    assert find_rounding(take(0.5 * direction), WHITE)[0] > 1.0 / 12.0
