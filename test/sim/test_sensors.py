"""Readings against the definition of each error, one at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from inertid_ros.core.errors import SettingError
from inertid_ros.core.records import FloatArray
from inertid_ros.sim.sensors import (
    JointSensors,
    NoiseStream,
    SampleClock,
    Samples,
    SensorModel,
    WrenchSensor,
    paper_ddarm_sensors,
    paper_puma_sensors,
)

CHANNELS = np.array([1.0, 1.0, 1.0, 0.1, 0.1, 0.1])


def take_samples(duration: float = 100.0, rate: float = 200.0) -> Samples:
    """Evenly spaced samples from time 0."""
    return SampleClock(rate, 0.0, NoiseStream(0, "clock", 1, uniform=True)).between(0.0, duration)


def errors_of(model: SensorModel, seed: int = 0) -> FloatArray:
    """What a sensor adds to a constant wrench over 100 s."""
    samples = take_samples()
    truth = np.tile(np.arange(1.0, 7.0), (len(samples.instants), 1))
    return WrenchSensor(model, seed, "wrist").read(samples, truth) - truth


def test_default_sensors_are_perfect() -> None:
    np.testing.assert_array_equal(errors_of(SensorModel()), 0.0)
    positions = np.random.default_rng(0).normal(size=(10, 3))
    np.testing.assert_array_equal(JointSensors(SensorModel(), 0, 3).read_positions(positions), positions)


def test_wrench_noise_has_its_standard_deviation_and_is_white() -> None:
    errors = errors_of(SensorModel(force_noise=0.2, torque_noise=0.02))
    np.testing.assert_allclose(errors.std(0), 0.2 * CHANNELS, rtol=0.03)
    np.testing.assert_allclose(errors.mean(0) / (0.2 * CHANNELS), 0.0, atol=0.03)
    np.testing.assert_allclose(np.corrcoef(errors.T, np.roll(errors, 1, axis=0).T), np.eye(12), atol=0.04)


def test_bias_is_read_in_the_sensors_own_sign() -> None:
    bias = (1.0, -2.0, 3.0, 0.1, 0.2, -0.3)
    truth = np.ones((1, 6))
    for model, factor in ((SensorModel(bias=bias), 1.0), (SensorModel(bias=bias, sign="on_sensor"), -1.0)):
        readings = WrenchSensor(model, 0, "wrist").read(take_samples(0.001), truth)
        np.testing.assert_allclose(readings[0], factor + np.array(bias))


def test_drift_grows_with_the_root_of_time() -> None:
    model = SensorModel(force_drift=0.3, torque_drift=0.03)
    after_100_s = np.array([errors_of(model, seed)[[5000, 19999]] for seed in range(40)])
    spread = np.sqrt(np.mean((after_100_s / CHANNELS) ** 2, axis=(0, 2)))
    np.testing.assert_allclose(spread, 0.3 * np.sqrt([25.0, 100.0]), rtol=0.2)


def test_vibration_is_one_sine_with_a_phase_for_each_channel() -> None:
    errors = errors_of(SensorModel(vibration_force=0.5, vibration_torque=0.05, vibration_frequency=30.0))
    spectrum = np.fft.rfft(errors, axis=0) / (len(errors) / 2)
    frequencies = np.fft.rfftfreq(len(errors), 1.0 / 200.0)
    line = int(np.argmin(np.abs(frequencies - 30.0)))
    np.testing.assert_allclose(np.abs(spectrum[line]), 0.5 * CHANNELS, rtol=1e-6)
    np.testing.assert_allclose(np.delete(np.abs(spectrum), line, axis=0), 0.0, atol=1e-9)
    assert len(set(np.round(np.angle(spectrum[line]), 3))) == 6


def test_sensors_of_other_names_and_seeds_have_independent_errors() -> None:
    model = SensorModel(force_noise=1.0, torque_noise=1.0)
    samples, truth = take_samples(), np.zeros((20000, 6))
    wrist, again, base, other = (
        WrenchSensor(model, seed, name).read(samples, truth)
        for seed, name in ((0, "wrist"), (0, "wrist"), (0, "base"), (1, "wrist"))
    )
    np.testing.assert_array_equal(wrist, again)
    np.testing.assert_allclose(np.corrcoef(np.hstack([wrist, base, other]).T), np.eye(18), atol=0.04)


def test_encoders_round_to_the_nearest_step() -> None:
    positions = np.random.default_rng(0).uniform(-7.0, 7.0, (1000, 2))
    readings = JointSensors(SensorModel(encoder_resolution=0.01), 0, 2).read_positions(positions)
    assert np.abs(readings - positions).max() <= 0.005 + 1e-12
    np.testing.assert_allclose(readings / 0.01, np.rint(readings / 0.01), atol=1e-9)


def test_tachometers_add_noise_and_may_be_missing() -> None:
    samples = take_samples()
    truth = np.full((len(samples.instants), 2), 3.0)
    readings = JointSensors(SensorModel(velocity_noise=0.05), 0, 2).read_velocities(samples, truth)
    assert readings is not None
    np.testing.assert_allclose((readings - 3.0).std(0), 0.05, rtol=0.03)
    exact = JointSensors(SensorModel(velocity_noise=0.0), 0, 2).read_velocities(samples, truth)
    assert exact is not None
    np.testing.assert_array_equal(exact, truth)
    assert JointSensors(SensorModel(), 0, 2).read_velocities(samples, truth) is None


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("effort_noise", (1.0, -0.1), "0 or more"),
        ("effort_limit", (1.0, float("nan")), "0 or more"),
        ("stamp_jitter", 0.0025, "less than half a sampling period, 0.0025 s"),
    ],
)
def test_impossible_sensors_are_rejected_with_what_is_possible(name: str, value: object, expected: str) -> None:
    arguments: dict[str, Any] = {name: value}
    with pytest.raises(SettingError, match=f"'{name}'.*{expected}"):
        SensorModel(**arguments)


def test_paper_sensors_draw_their_bias_from_the_seed() -> None:
    for make in (paper_puma_sensors, paper_ddarm_sensors):
        biases = np.array([make(seed).bias for seed in range(200)])
        assert make(3) == make(3)
        assert 2.5 < np.abs(biases[:, :3]).max() <= 3.0
        assert 0.25 < np.abs(biases[:, 3:]).max() <= 0.3
    assert paper_puma_sensors(0).velocity_noise is None
    assert paper_ddarm_sensors(0).velocity_noise == 0.005
