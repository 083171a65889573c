"""Noise density against the density that was put in."""

from __future__ import annotations

import numpy as np
import pytest
from inertid_ros.core.estimation.standstill_noise import UNCALIBRATED_FORCE, UNCALIBRATED_TORQUE, StandstillNoise

from inertid_ros.core.records import FloatArray, IntArray

RATE = 200.0


def _stamps(count: int) -> IntArray:
    return np.asarray(1_700_000_000_000_000_000 + (np.arange(count) * (1e9 / RATE)).astype(np.int64))


def _noise(count: int, seed: int = 0) -> FloatArray:
    rng = np.random.default_rng(seed)
    return np.asarray(rng.normal(size=(count, 6)) * np.repeat([0.1, 0.005], 3))


def test_density_of_white_noise_is_found_and_vibration_is_not_counted() -> None:
    count = 60 * int(RATE)
    vibration = 0.5 * np.sin(2 * np.pi * 30.0 * np.arange(count) / RATE)[:, None] * np.repeat([1.0, 0.05], 3)
    noise = StandstillNoise(1e-6, 1e-6)
    noise.process(_stamps(count), np.zeros((count, 6)), _noise(count) + vibration + 3.0, True)
    expected = np.repeat([0.1, 0.005], 3) / np.sqrt(RATE)
    np.testing.assert_allclose(np.sqrt(noise.density), expected, rtol=0.15)


def test_nothing_is_learned_in_motion() -> None:
    count = 10 * int(RATE)
    positions = np.linspace(0.0, 1.0, count)[:, None] * np.ones(6)
    noise = StandstillNoise(1e-6, 1e-6)
    noise.process(_stamps(count), positions, _noise(count), True)
    assert not noise.is_calibrated
    np.testing.assert_allclose(np.sqrt(noise.density), np.repeat([UNCALIBRATED_FORCE, UNCALIBRATED_TORQUE], 3))


def test_repeated_readings_do_not_give_zero_noise() -> None:
    count = 4 * int(RATE)
    noise = StandstillNoise(0.002, 1e-4)
    noise.process(_stamps(count), np.zeros((count, 6)), np.ones((count, 6)), True)
    assert noise.is_calibrated
    np.testing.assert_allclose(np.sqrt(noise.density), np.repeat([0.002, 1e-4], 3))


@pytest.mark.parametrize("size", [1, 13, 400])
def test_blocks_do_not_matter(size: int) -> None:
    count = 5 * int(RATE)
    stamps, readings, positions = _stamps(count), _noise(count, 3), np.zeros((count, 6))
    positions[700:] = 0.5
    whole, pieces = StandstillNoise(1e-6, 1e-6), StandstillNoise(1e-6, 1e-6)
    whole.process(stamps, positions, readings, True)
    for start in range(0, count, size):
        part = slice(start, start + size)
        pieces.process(stamps[part], positions[part], readings[part], start == 0)
    np.testing.assert_allclose(pieces.density, whole.density, rtol=1e-12)


@pytest.mark.parametrize("count", [300, 310, 319])
def test_discarded_run_is_not_counted(count: int) -> None:
    """Whether a block of 0.1 s has just ended, or is half over, or nearly over."""
    noise = StandstillNoise(1e-6, 1e-6)
    stamps, positions = _stamps(2 * count), np.zeros((2 * count, 6))
    readings = _noise(2 * count) + 10.0
    noise.process(stamps[:count], positions[:count], readings[:count], True)
    noise.discard_run()
    readings[count:] += 50.0
    noise.process(stamps[count:], positions[count:], readings[count:], False)
    assert np.all(np.sqrt(noise.density[:3]) < 0.02)
