"""Samples read between their times, against numpy; gaps found, and joint states extrapolated."""

from __future__ import annotations

import numpy as np
import pytest

from inertid_ros.core.compiled import config
from inertid_ros.core.diagnosis import Health
from inertid_ros.core.input.joint_samples import CROSSING
from inertid_ros.core.input.joint_stream import JointStream, extrapolate
from inertid_ros.core.input.segments import (
    AFTER_GAP,
    CUT,
    FOLLOWS,
    IN_GAP,
    NOT_FINITE,
    WIDTH,
    find_cuts,
    lay_down,
)
from inertid_ros.core.input.timeline import MAX_GAP, NEVER, ORIGIN, PAIRED, STAMPS, START, STOP, Timeline, interpolate
from inertid_ros.core.records import FloatArray, IntArray

SECOND = 1_000_000_000


def make_line(times: FloatArray, start: int = 0, stop: int | None = None) -> IntArray:
    """Integers of a time line of which some samples are kept."""
    line = np.zeros(STAMPS + len(times), dtype=np.int64)
    line[START], line[STOP] = start, len(times) if stop is None else stop
    line[STAMPS:] = np.round(times * 1e9)
    return line


def read(
    times: FloatArray, states: FloatArray, queries: FloatArray, start: int = 0, stop: int | None = None
) -> tuple[FloatArray, FloatArray]:
    samples, widths = np.full((len(queries), 1 + states.shape[1]), 1e9), np.zeros(len(queries))
    samples[:, 0] = queries
    interpolate(make_line(times, start, stop), states, 1 + np.arange(states.shape[1]), samples, widths, 0)
    return samples[:, 1:], widths


@pytest.mark.parametrize("seed", range(5))
def test_interpolation_is_numpy_s(seed: int) -> None:
    random = np.random.default_rng(seed)
    times = np.round(np.cumsum(random.uniform(0.001, 0.1, 50)), 9)
    states = random.normal(size=(50, 3))
    start, stop = 5, 45
    queries = np.sort([*random.uniform(times[start], times[stop - 1], 200), times[start + 1], times[stop - 1]])
    found, widths = read(times, states, queries, start, stop)
    inside = times[start:stop]
    for column in range(3):
        expected = np.interp(queries, inside, states[start:stop, column])
        np.testing.assert_allclose(found[:, column], expected, atol=1e-12)
    after = np.searchsorted(inside, queries)
    np.testing.assert_allclose(widths, inside[after] - inside[after - 1])
    for query, expected_row in zip(queries, found, strict=True):
        np.testing.assert_array_equal(read(times, states, np.array([query]), start, stop)[0][0], expected_row)


def test_before_the_first_sample_there_is_nothing_to_read_from() -> None:
    times, states = np.array([1.0, 2.0, 3.0]), np.array([[10.0], [20.0], [30.0]])
    found, widths = read(times, states, np.array([0.5, 1.0, 1.5]))
    assert widths.tolist() == [np.inf, np.inf, 1.0]
    assert found[2, 0] == 15.0
    _, widths = read(times[:1], states[:1], np.array([1.0]))
    assert widths[0] == np.inf


def test_several_publishers_fill_their_columns_and_the_wider_gap_counts() -> None:
    queries = np.array([0.25, 0.75])
    samples, widths = np.zeros((2, 4)), np.zeros(2)
    samples[:, 0] = queries
    coarse, fine = np.array([0.0, 1.0]), np.linspace(0.0, 1.0, 11)
    interpolate(make_line(coarse), coarse[:, None], np.array([3]), samples, widths, 0)
    interpolate(make_line(fine), np.stack((fine, -fine), axis=1), np.array([2, 1]), samples, widths, 0)
    np.testing.assert_allclose(samples, np.stack((queries, -queries, queries, queries), axis=1))
    np.testing.assert_array_equal(widths, 1.0)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("size", [1, 7, 200])
def test_gaps_are_those_of_a_plain_loop(seed: int, size: int) -> None:
    """After a gap, in one, or not finite, in blocks of any size."""
    random = np.random.default_rng(seed)
    samples = np.zeros((200, 4))
    samples[:, 0] = np.cumsum(random.choice([0.01, 0.2], 200, p=[0.9, 0.1]))
    samples[:, 1] = np.nan
    samples[random.random(200) < 0.05, 3] = np.inf
    samples[random.random(200) < 0.05, 2] = np.nan
    widths = random.choice([0.01, 0.3, np.inf, np.nan], 200, p=[0.85, 0.05, 0.05, 0.05])
    expected, last = [], -np.inf
    for (time, _, *readings), width in zip(samples.tolist(), widths.tolist(), strict=True):
        if not np.isfinite(readings).all():
            expected.append(NOT_FINITE)
            continue
        in_gap = not width <= MAX_GAP
        expected.append(IN_GAP if in_gap else AFTER_GAP if time - last > MAX_GAP else FOLLOWS)
        last = -np.inf if in_gap else time
    stamps = np.round(samples[:, 0] * 1e9).astype(np.int64)
    line, marks = make_line(np.empty(0)), np.stack((widths, np.zeros(200)))
    line[PAIRED] = NEVER
    for start in range(0, 200, size):
        part = slice(start, min(start + size, 200))
        found = marks[:, part].copy()
        count = find_cuts(line, 2, stamps[part], samples[part], found)
        assert count == np.count_nonzero(found[CUT] != FOLLOWS)
        marks[:, part] = found
    np.testing.assert_array_equal(marks[CUT], expected)


def test_times_and_readings_are_laid_down() -> None:
    origin = 1_700_000_000_000_000_000
    line = make_line(np.empty(5), 1)
    line[ORIGIN] = origin
    line[STAMPS:] = origin + np.array([1, 5, 10_000_000, 3_000_000_000, 4_000_000_000])
    samples, marks, stamps = np.full((3, 8), np.nan), np.full((3, 9), np.nan), np.empty(3, dtype=np.int64)
    readings = np.random.default_rng(0).normal(size=(5, 2))
    lay_down(line, readings, 4, stamps, samples, marks)
    np.testing.assert_array_equal(stamps, line[STAMPS + 1 : STAMPS + 4])
    np.testing.assert_allclose(samples[:, 0], [5e-9, 0.01, 3.0])
    np.testing.assert_array_equal(samples[:, 4:6], readings[1:4])
    np.testing.assert_array_equal(samples[:, 6:], 0.0)
    np.testing.assert_array_equal(marks[WIDTH, :3], 0.0)
    assert np.isnan(samples[:, 1:4]).all()
    assert line[[START, STOP]].tolist() == [4, 5]


def push(stream: JointStream, stamp: int, position: list[float], velocity: list[float] | None) -> bool:
    given = None if velocity is None else np.array([velocity])
    return stream.push_states(np.arange(len(position)), np.array([stamp]), np.array([position]), given)


@pytest.mark.parametrize(
    ("position", "velocity", "expected"),
    [
        ([1.0, 2.0], [0.1, 0.2], [1.0, 2.0]),
        ([1.0, 2.0 + 3.1], [0.1, 0.2], [1.0, 5.1]),
        ([1.0 + 5.4, 2.0], [0.1, 0.2], [6.4 - 2.0 * np.pi, 2.0]),
        ([1.0 + 3.2, 2.0], [0.1, 0.2], [4.2, 2.0]),
        ([1.0 - 4.0 * np.pi, 2.0 + 7.0], [0.1, 0.2], [1.0, 9.0]),
        ([1.0, np.nan], [0.1, 0.2], None),
        ([np.inf, 2.0], [0.1, 0.2], None),
        ([1.0, 2.0], [0.1, np.nan], None),
        ([1.0, 2.0], [-np.inf, 0.2], None),
    ],
)
def test_joint_state_is_unwrapped_and_left_out_if_not_finite(
    position: list[float], velocity: list[float], expected: list[float] | None
) -> None:
    """An angle and a length, first at 1 and 2."""
    health = Health()
    stream = JointStream((0, 1), (True, False), np.full((2, 2), np.inf), 2, 0, health)
    push(stream, SECOND, [1.0, 2.0], [0.0, 0.0])
    push(stream, 2 * SECOND, position, velocity)
    if expected is None:
        assert stream.stamps.tolist() == [SECOND]
        assert [item.code for item in health.items()] == ["not_finite"]
    else:
        assert stream.stamps.tolist() == [SECOND, 2 * SECOND]
        np.testing.assert_allclose(stream.states[1, :4], expected + velocity)


def test_time_line_keeps_what_is_needed_and_no_more() -> None:
    """An hour of samples at 1 kHz in blocks of any size: a few thousand are kept, and read as all of them would be.

    Where nothing is compiled, two minutes of them.
    """
    line, random = Timeline(2, "wrench", Health()), np.random.default_rng(0)
    channels, scales = np.array([[0, 1], [0, 0], [0, 0]]), np.ones((7, 2))
    start, largest, end = 1, 0, 120_000 if config.DISABLE_JIT else 3_600_000
    while start < end:
        count = int(random.integers(1, 9_000))
        stamps = np.arange(start, start + count) * 1_000_000
        times = stamps * 1e-9
        line.push(channels, scales, stamps, np.stack((np.sin(times), times), axis=1))
        queries = times[:: max(1, count // 3)]
        samples, widths = np.zeros((len(queries), 3)), np.zeros(len(queries))
        samples[:, 0] = queries
        interpolate(line.integers, line.states, np.array([1, 2]), samples, widths, 0)
        if start > 1:
            np.testing.assert_allclose(samples[:, 1:], np.stack((np.sin(queries), queries), axis=1), atol=1e-9)
            np.testing.assert_allclose(widths, 1e-3, atol=1e-9)
        start += count
        largest = max(largest, len(line.states))
    assert len(line.stamps) <= 512 + 9_000
    assert largest < 50_000


def test_slopes_are_those_of_the_parabola() -> None:
    random = np.random.default_rng(0)
    stamps = np.cumsum(random.integers(10_000_000, 100_000_000, 20))
    a, b, c = random.normal(size=(3, 2))
    t = stamps[:, None] * 1e-9
    stream = JointStream((0, 1), (False, False), np.full((2, 2), np.inf), 2, 0, Health())
    stream.push_states(np.arange(2), stamps, a + b * t + c * t**2, None)
    np.testing.assert_array_equal(stream.stamps, stamps[1:-1])
    np.testing.assert_allclose(stream.states[:18, :2], (a + b * t + c * t**2)[1:-1])
    np.testing.assert_allclose(stream.states[:18, 2:4], (b + 2.0 * c * t)[1:-1], atol=1e-10)


@pytest.mark.parametrize("has_velocity", [True, False])
def test_extrapolation_goes_on_with_the_velocity_for_one_period_at_most(has_velocity: bool) -> None:
    stream = JointStream((0, 1), (True, False), np.full((2, 2), np.inf), 2, 0, Health())
    samples = np.zeros((3, 5))
    samples[:, 0] = 0.054, 0.06, 0.55
    assert not extrapolate(stream.integers, stream.states, stream.joints, stream.targets, samples)
    stamps = np.arange(1, 6) * SECOND // 100
    velocity = np.array([0.5, -2.0])
    positions = stamps[:, None] * 1e-9 * velocity
    stream.push_states(np.arange(2), stamps, positions, np.tile(velocity, (5, 1)) if has_velocity else None)
    assert extrapolate(stream.integers, stream.states, stream.joints, stream.targets, samples)
    np.testing.assert_allclose(samples[:, 1:3], np.outer([0.054, 0.06, 0.06], velocity))
    np.testing.assert_allclose(samples[:, 3:], np.tile(velocity, (3, 1)))


@pytest.mark.parametrize(("factor", "is_used"), [(1.0, True), (1.3, True), (0.0, False), (57.3, False), (-1.0, False)])
@pytest.mark.parametrize("size", [1, 30, 250])
def test_velocities_that_contradict_the_positions_are_not_used(factor: float, is_used: bool, size: int) -> None:
    """A joint that moves, beside one that stands; judged at the end of the first hundred samples."""
    health = Health()
    stream = JointStream((0, 1), (True, True), np.full((2, 2), np.inf), 2, 0, health)
    stamps = SECOND + 4_000_000 * np.arange(250)
    positions = np.stack((np.sin(stamps * 1e-9), np.zeros(250)), axis=1)
    velocities = np.stack((factor * np.cos(stamps * 1e-9), np.full(250, 1e-3)), axis=1)
    for start in range(0, 250, size):
        part = slice(start, start + size)
        stream.push_states(np.arange(2), stamps[part], positions[part], velocities[part])
    states, taken = stream.states[: len(stream.stamps)], np.searchsorted(stamps, stream.stamps)
    early = taken < 100
    assert early.sum() >= 98, "a velocity that is none of the positions looks like an outlier at first"
    np.testing.assert_array_equal(states[early, 2:4], velocities[taken[early]])
    assert {item.code for item in health.items()} <= (set() if is_used else {"velocity_unusable", "outlier"})
    assert is_used or "velocity_unusable" in {item.code for item in health.items()}
    true = np.stack((np.cos(stamps * 1e-9), np.zeros(250)), axis=1)
    late = taken >= (150 if is_used else 103)
    message = "positions correct a wrong gain"
    np.testing.assert_allclose(states[late, 2:4], true[taken[late]], atol=2e-3 if is_used else 1e-4, err_msg=message)


def test_velocities_are_fused_with_positions_by_the_noise_of_both() -> None:
    random = np.random.default_rng(1)
    count, step, tachometer, resolution = 6000, 0.002, 0.02, 1e-3
    times = step * np.arange(count)
    stamps = SECOND + np.round(times * 1e9).astype(np.int64)
    true = 0.8 * np.cos(2.0 * times)
    positions = (np.round(0.4 * np.sin(2.0 * times) / resolution) * resolution)[:, None]
    velocities = (true + tachometer * random.normal(size=count))[:, None]
    stream = JointStream((0,), (True,), np.full((2, 1), np.inf), 1, 0, Health())
    stream.push_states(np.arange(1), stamps, positions, velocities)
    states = stream.states[: len(stream.stamps)]
    crossing = stream.joints[CROSSING, 0]
    assert crossing == pytest.approx(tachometer / (resolution / np.sqrt(12.0)), rel=0.3)
    settled = slice(3000, None)

    def smooth(error: FloatArray) -> float:
        """Root mean square in the band of the rows: means over 0.2 s."""
        return float(np.sqrt(np.mean(error[settled].reshape(-1, 100).mean(axis=1) ** 2)))

    fused, measured = smooth(states[:, 1] - true[: len(states)]), smooth(velocities[:, 0] - true)
    assert fused < 0.5 * measured


@pytest.mark.parametrize("is_even", [True, False])
def test_slopes_are_those_of_the_clock_that_sampled(is_even: bool) -> None:
    """A controller that samples evenly and stamps late now and then, and one that samples when its stamps say."""
    random = np.random.default_rng(2)
    count, step = 4000, 0.001
    even = step * np.arange(count)
    stamped = even + random.uniform(-4e-4, 4e-4, count)
    sampled = even if is_even else stamped
    stream = JointStream((0,), (True,), np.full((2, 1), np.inf), 1, 0, Health())
    stamps = SECOND + np.round(stamped * 1e9).astype(np.int64)
    stream.push_states(np.arange(1), stamps, np.sin(3.0 * sampled)[:, None], None)
    slopes = stream.states[: len(stream.stamps), 1]
    true = 3.0 * np.cos(3.0 * sampled[1:-1])
    settled = slice(500, None)
    gain = true[settled] @ slopes[settled] / (true[settled] @ true[settled])
    assert gain == pytest.approx(1.0, abs=2e-3), "slopes on jittered stamps are too steep by several per cent"
    np.testing.assert_allclose(slopes[settled], true[settled], atol=0.02)


def test_positions_are_interpolated_by_the_cubic_with_their_velocities() -> None:
    times = np.array([0.0, 0.004, 0.01])
    cubic = np.polynomial.Polynomial([0.3, -1.0, 2.0, 1.5])
    states = np.stack((cubic(times), cubic.deriv()(times)), axis=1)
    samples, widths = np.zeros((7, 3)), np.zeros(7)
    samples[:, 0] = np.linspace(5e-4, 0.01, 7)
    interpolate(make_line(times), states, np.array([1, 2]), samples, widths, 1)
    np.testing.assert_allclose(samples[:, 1], cubic(samples[:, 0]), atol=1e-12)
    np.testing.assert_allclose(samples[:, 2], np.interp(samples[:, 0], times, states[:, 1]), atol=1e-12)


@pytest.mark.parametrize("lost", [[], [60], [60, 61, 62, 63, 64]])
def test_slopes_of_slow_joint_states_are_not_too_flat(lost: list[int]) -> None:
    """A motion of 0.8 Hz at 25 Hz: a parabola's slope is 0.7 % too small; the phase that is left is a delay of 0.3 ms.

    Across a gap they are those of the parabola.
    """
    times = np.delete(np.arange(0.0, 8.0, 0.04), lost)
    rate = 2.0 * np.pi * 0.8
    stream = JointStream((0,), (True,), np.full((2, 1), np.inf), 1, 0, Health())
    for time in times:
        push(stream, SECOND + round(time * SECOND), [np.sin(rate * time)], None)
    kept = len(stream.stamps)
    found, at = stream.states[:kept, 1], 1e-9 * (stream.stamps - SECOND)
    waves = rate * np.stack((np.cos(rate * at), np.sin(rate * at)), axis=1)
    settled = (at > 1.0) & ((at < 2.3) | (at > 2.7))
    gain, across = np.linalg.lstsq(waves[settled], found[settled])[0]
    assert gain == pytest.approx(1.0, abs=1e-3)
    assert abs(across) / rate < 4e-4
    assert np.abs(found - waves[:, 0])[settled].max() < 0.003 * rate


def test_velocities_between_slow_joint_states_are_those_of_the_cubic() -> None:
    times = np.array([0.0, 0.04, 0.1])
    cubic = np.polynomial.Polynomial([0.3, -1.0, 2.0, 150.0])
    states = np.stack((cubic(times), cubic.deriv()(times)), axis=1)
    samples, widths = np.zeros((7, 3)), np.zeros(7)
    samples[:, 0] = np.linspace(0.005, 0.1, 7)
    interpolate(make_line(times), states, np.array([1, 2]), samples, widths, 1)
    np.testing.assert_allclose(samples[:, 1], cubic(samples[:, 0]), atol=1e-12)
    np.testing.assert_allclose(samples[:, 2], cubic.deriv()(samples[:, 0]), atol=1e-11)


def test_slopes_of_messages_that_come_in_bursts_are_those_of_the_clock() -> None:
    """Stamped on arrival, up to two periods late, so that some come within 50 us of each other; some are lost."""
    random = np.random.default_rng(5)
    count, step = 4000, 0.002
    sampled = step * np.arange(count)
    late = sampled + 1e-3 * np.abs(random.normal(size=count))
    spread = 5e-5 * np.arange(count)
    stamped = np.maximum.accumulate(late - spread) + spread
    kept = random.uniform(size=count) > 0.01
    stream = JointStream((0,), (True,), np.full((2, 1), np.inf), 1, 0, Health())
    stamps = SECOND + np.round(stamped[kept] * 1e9).astype(np.int64)
    stream.push_states(np.arange(1), stamps, np.sin(3.0 * sampled[kept])[:, None], None)
    at = 1e-9 * (stream.stamps - SECOND)
    slopes, true = stream.states[: len(at), 1], 3.0 * np.cos(3.0 * (at - 0.8e-3))
    settled = slice(500, None)
    gain = true[settled] @ slopes[settled] / (true[settled] @ true[settled])
    assert gain == pytest.approx(1.0, abs=5e-3)
    assert np.sqrt(np.mean((slopes - true)[settled] ** 2)) < 0.25, (
        "slopes on the stamps miss by several times the speed"
    )
