"""Velocities at readings that are noisy, or slower than joint states: against polyfit, and against fewer of them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.interpolate import CubicHermiteSpline

from inertid_ros.core.diagnosis import Health
from inertid_ros.core.input.joint_stream import JointStream
from inertid_ros.core.input.smoothing import LONGEST_SPAN, LONGEST_STEP, QUIET, STEPS, count_settled, smooth
from inertid_ros.core.input.timeline import LAID, NEWEST, STAMPS, STOP, find_after, interpolate
from inertid_ros.core.records import FloatArray, IntArray

TARGETS = np.array([1, 2])


def make_line(times: FloatArray, last: float = 0.0) -> IntArray:
    """Integers of a time line with samples at times [s], after a reading at the time `last`."""
    stamps = np.rint(1e9 * times).astype(np.int64)
    line = np.zeros(STAMPS + len(times), dtype=np.int64)
    line[STAMPS:] = stamps
    line[[STOP, NEWEST, LAID]] = len(times), stamps[-1], round(1e9 * last)
    return line


def with_span(states: FloatArray, span: float = 0.0) -> FloatArray:
    """States with T [s], as noise asks for it."""
    return np.column_stack((states, np.full(len(states), span)))


def read(times: FloatArray, states: FloatArray, at: FloatArray, step: float, span: float = 0.0) -> FloatArray:
    """Velocities (N,) at times, each a step after the reading before."""
    line, samples, states = make_line(times), np.zeros((len(at), 3)), with_span(states, span)
    samples[:, 0] = at
    after = find_after(line, at[0])
    interpolate(line, states, TARGETS, samples, np.zeros(len(at)), 1)
    smooth(line, states, TARGETS, samples, np.full(len(at), step), 0, after)
    return samples[:, 2]


def differentiate(positions: FloatArray, step: float) -> FloatArray:
    """Positions and central differences (N - 2, 2)."""
    return np.stack((positions[1:-1], (positions[2:] - positions[:-2]) / (2.0 * step)), axis=1)


def test_it_is_the_weighted_parabola_of_polyfit() -> None:
    rng = np.random.default_rng(1)
    times = np.round(1.0 + np.cumsum(rng.uniform(0.5e-3, 1.5e-3, 300)), 9)
    velocities, at, step = rng.normal(size=300), np.array([1.1, 1.1043, 1.1085]), 0.0042
    found = read(times, np.stack((np.zeros(300), velocities), axis=1), at, step)
    for time, value in zip(at, found, strict=True):
        away = (times - time) / (STEPS * step)
        near = np.abs(away) < 1.0
        weights = np.sqrt(1.0 - away[near] ** 2)
        assert value == pytest.approx(np.polyfit(away[near], velocities[near], 2, w=weights)[-1], rel=1e-9)


def test_every_joint_is_averaged_by_itself() -> None:
    rng = np.random.default_rng(5)
    times, at, step = 1.0 + 1e-3 * np.arange(100), np.array([1.04, 1.0442]), 0.0042
    states = rng.normal(size=(100, 6))
    samples = np.zeros((2, 7))
    samples[:, 0] = at
    line, targets = make_line(times), np.array([3, 1, 2, 5, 6, 4])
    smooth(line, with_span(states), targets, samples, np.full(2, step), 0, find_after(line, at[0]))
    for joint in range(3):
        alone = read(times, states[:, [joint, 3 + joint]], at, step)
        np.testing.assert_allclose(samples[:, targets[3 + joint]], alone, rtol=1e-12)


@pytest.mark.parametrize("ratio", [1.5, 2.0, 25.0 / 6.0, 8.0, 10.0])
def test_more_joint_states_are_never_noisier(ratio: float) -> None:
    """Differences of white positions at the readings' rate against those of a faster stream, averaged."""
    rng, step = np.random.default_rng(2), 1.0 / 240.0
    count = 6000
    fast = differentiate(rng.normal(size=count), step / ratio)
    slow = differentiate(rng.normal(size=count), step)
    times = 1.0 + step / ratio * np.arange(len(fast))
    at = 1.0 + step * np.arange(10, int(len(fast) / ratio) - 10)
    assert read(times, fast, at, step).std() < 1.08 * slow[:, 1].std()


def test_a_motion_stays_as_it_is() -> None:
    times, step = 1.0 + 1e-3 * np.arange(2000), 1.0 / 240.0
    at = 1.0 + step * np.arange(10, 400)
    pulse = 2.0 * np.pi * 5.0
    found = read(times, np.stack((np.zeros(2000), np.sin(pulse * times)), axis=1), at, step)
    np.testing.assert_allclose(found, np.sin(pulse * at), atol=3e-5)


def test_at_one_rate_nothing_is_averaged() -> None:
    rng = np.random.default_rng(3)
    times = np.round(1.0 + (np.arange(500) + rng.uniform(-0.4, 0.4, 500)) / 500.0, 9)
    states, at = rng.normal(size=(500, 2)), 1.1 + np.arange(200) / 500.0
    np.testing.assert_allclose(read(times, states, at, 1.0 / 500.0), np.interp(at, times, states[:, 1]), rtol=1e-9)


def test_a_pause_of_joint_states_is_not_averaged_over() -> None:
    times = 1.0 + 1e-3 * np.arange(200)
    kept = (times < 1.0995) | (times > 1.13)
    states = np.random.default_rng(4).normal(size=(200, 2))[kept]
    at = np.array([1.112])
    cubic = CubicHermiteSpline(times[kept], states[:, 0], states[:, 1])
    expected = cubic.derivative()(at)  # the pause is a long step
    np.testing.assert_allclose(read(times[kept], states, at, 0.004), expected, rtol=1e-9)


def test_a_reading_waits_for_what_it_is_averaged_over() -> None:
    """Its value is then the same however many joint states have come since."""
    readings = 1.0 + 0.004 * np.arange(1, 40)
    line = make_line(readings, last=1.0)
    for newest in (1.05, 1.0501, 1.09):
        joints = make_line(1.0 + 1e-3 * np.arange(round(1e3 * (newest - 1.0)) + 1))
        count = count_settled(joints, np.zeros((len(joints), 3)), line, int(np.searchsorted(readings, newest)))
        assert readings[count - 1] + STEPS * 0.004 <= newest + 1e-9 < readings[count] + STEPS * 0.004 + 1e-9
    slow = make_line(1.0 + 0.004 * np.arange(30))
    assert count_settled(slow, np.zeros((len(slow), 3)), line, 29) == 29


def test_after_a_pause_of_readings_the_average_is_short() -> None:
    joints = make_line(1.0 + 1e-3 * np.arange(200))
    line = make_line(np.array([1.15, 1.18]), last=1.0)
    states = np.zeros((len(joints), 3))
    assert count_settled(joints, states, line, 1) == 1
    line[LAID], line[STAMPS] = 0, round(1e9 * (1.199 - STEPS * LONGEST_STEP + 0.001))
    assert count_settled(joints, states, line, 1) == 0


def find_spans(positions: FloatArray, step: float, velocities: FloatArray | None = None) -> FloatArray:
    """T [s] of the states of a stream of positions (N, n) at even steps [s]."""
    joints = positions.shape[1]
    reach, health = np.full((2, joints), np.inf), Health()
    stream = JointStream(tuple(range(joints)), (False,) * joints, reach, joints, 0, health)
    stamps = 1_000_000_000 + np.rint(1e9 * step * np.arange(len(positions))).astype(np.int64)
    stream.push_states(np.arange(joints), stamps, positions, velocities)
    return stream.states[: stream.integers.item(STOP), -1].copy()


def move(step: float, seconds: float, pulse: float = 4.0) -> FloatArray:
    """Positions (N, 1) of a joint that stands for half a second, and swings with 1 rad/s half a second later."""
    times = step * np.arange(round(seconds / step))
    u = np.clip(2.0 * times - 1.0, 0.0, 1.0)
    return np.asarray((u**3 * (10.0 - 15.0 * u + 6.0 * u**2) * np.sin(pulse * times) / pulse)[:, None])


@pytest.mark.parametrize("step", [1e-3, 4e-3])
def test_noise_of_white_positions_is_brought_down_to_what_is_quiet(step: float) -> None:
    rng = np.random.default_rng(6)
    positions = 2e-4 * rng.normal(size=(round(20.0 / step), 1))
    span = find_spans(positions, step)[-1]
    slopes = differentiate(positions[:, 0], step)
    at = 1.0 + step * np.arange(100, len(slopes) - 100)
    found = read(1.0 + step * np.arange(len(slopes)), slopes, at, step, span)
    assert slopes[:, 1].std() > 5.0 * QUIET
    assert found.std() == pytest.approx(QUIET, rel=0.15)


def test_good_encoders_are_not_averaged() -> None:
    rng = np.random.default_rng(7)
    for step in (1e-3, 4e-3, 8e-3):
        fine = np.round(move(step, 3.0) / 1e-5) * 1e-5
        assert not find_spans(fine, step).any()
        assert not find_spans(move(step, 3.0, 20.0), step).any()  # 3 Hz, exact
        tachometer = np.gradient(fine[:, 0], step)[:, None] + 1e-3 * rng.normal(size=fine.shape)
        assert not find_spans(fine, step, tachometer).any()


@pytest.mark.parametrize("step", [1e-3, 2e-3, 4e-3])
@pytest.mark.parametrize("has_velocities", [False, True])
def test_the_first_steps_of_a_coarse_encoder_tell_how_coarse_it_is(step: float, has_velocities: bool) -> None:
    """A single step, averaged, is a velocity of 4 QUIET at most, also where the driver publishes differences."""
    coarse, fine = np.round(move(step, 2.0) / 5e-4) * 5e-4, move(step, 2.0)
    positions = np.column_stack((fine, coarse))
    velocities = np.diff(positions, axis=0, prepend=positions[:1]) / step
    spans = find_spans(positions, step, velocities if has_velocities else None)
    changes = np.flatnonzero(np.diff(coarse[:, 0]))
    assert not spans[: changes[0] - 1].any()
    assert (spans[changes[0] + 3 :] > 0.0).all()
    assert (spans[changes[4] :] >= 45.0 / 32.0 * 5e-4 / (4.0 * QUIET) - 1e-12).all()
    assert spans.max() <= LONGEST_SPAN


def test_a_reading_waits_for_what_noise_makes_it_be_averaged_over() -> None:
    joints, line = make_line(1.0 + 0.004 * np.arange(40)), make_line(1.0 + 0.004 * np.arange(1, 39), last=1.0)
    states = with_span(np.zeros((40, 2)), 0.05)
    count = count_settled(joints, states, line, 38)
    readings = 1.0 + 0.004 * np.arange(1, 39)
    assert readings[count - 1] + 0.05 <= 1.156 + 1e-9 < readings[count] + 0.05 + 1e-9
