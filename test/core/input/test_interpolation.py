"""Samples read between their times, against numpy; gaps found, and joint states extrapolated."""

from __future__ import annotations

import numpy as np
import pytest
from inertid_ros.core.input.interpolation import (
    AFTER_GAP,
    FOLLOWS,
    IN_GAP,
    NOT_FINITE,
    append_next,
    compare_velocities,
    find_cuts,
    interpolate,
    lay_down,
)
from inertid_ros.core.input.sample_buffer import SampleBuffer

from inertid_ros.core.diagnosis import Health
from inertid_ros.core.input.joint_stream import JointStream, find_slopes
from inertid_ros.core.records import FloatArray

SECOND = 1_000_000_000


def read(
    times: FloatArray, states: FloatArray, queries: FloatArray, start: int = 0, stop: int | None = None
) -> tuple[FloatArray, FloatArray]:
    samples, widths = np.zeros((len(queries), 1 + states.shape[1])), np.zeros(len(queries))
    samples[:, 0] = queries
    stop = len(times) if stop is None else stop
    interpolate(times, states, start, stop, 1 + np.arange(states.shape[1]), samples, widths)
    return samples[:, 1:], widths


@pytest.mark.parametrize("seed", range(5))
def test_interpolation_is_numpy_s(seed: int) -> None:
    random = np.random.default_rng(seed)
    times = np.cumsum(random.uniform(0.001, 0.1, 50))
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
    interpolate(coarse, coarse[:, None], 0, 2, np.array([3]), samples, widths)
    interpolate(fine, np.stack((fine, -fine), axis=1), 0, 11, np.array([2, 1]), samples, widths)
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
        in_gap = not width <= 0.15
        expected.append(IN_GAP if in_gap else AFTER_GAP if time - last > 0.15 else FOLLOWS)
        last = -np.inf if in_gap else time
    cuts, before = np.empty(200, dtype=np.int64), -np.inf
    for start in range(0, 200, size):
        part = slice(start, min(start + size, 200))
        count = find_cuts(samples[part], 2, widths[part], before, 0.15, cuts[part])
        assert count == np.count_nonzero(cuts[part] != FOLLOWS)
        for kind, (time, *_) in zip(cuts[part], samples[part], strict=True):
            before = before if kind == NOT_FINITE else -np.inf if kind == IN_GAP else time
    np.testing.assert_array_equal(cuts, expected)


def test_times_and_readings_are_laid_down() -> None:
    stamps = 1_700_000_000_000_000_000 + np.array([5, 10_000_000, 3_000_000_000])
    samples = np.full((3, 8), np.nan)
    readings = np.random.default_rng(0).normal(size=(3, 2))
    lay_down(stamps, 1_700_000_000_000_000_000, readings, 4, samples)
    np.testing.assert_allclose(samples[:, 0], [5e-9, 0.01, 3.0])
    np.testing.assert_array_equal(samples[:, 4:6], readings)
    np.testing.assert_array_equal(samples[:, 6:], 0.0)
    assert np.isnan(samples[:, 1:4]).all()


@pytest.mark.parametrize(
    ("position", "velocity", "continues"),
    [
        ([1.0, 2.0], [0.1, 0.2], True),
        ([1.0, 2.0 + 3.1], [0.1, 0.2], True),
        ([1.0, 2.0 + 3.2], [0.1, 0.2], False),
        ([1.0, np.nan], [0.1, 0.2], False),
        ([np.inf, 2.0], [0.1, 0.2], False),
        ([1.0, 2.0], [0.1, np.nan], False),
        ([1.0, 2.0], [-np.inf, 0.2], False),
    ],
)
def test_single_sample_is_written_if_it_continues_the_last(
    position: list[float], velocity: list[float], continues: bool
) -> None:
    times, states, last = np.zeros(3), np.zeros((3, 4)), np.array([1.0, 2.0])
    assert append_next(times, states, 1, last, 5.0, np.array([position]), np.array([velocity])) == continues
    if continues:
        np.testing.assert_array_equal(times, [0.0, 5.0, 0.0])
        np.testing.assert_array_equal(states[1], position + velocity)
        np.testing.assert_array_equal(last, position)
    else:
        assert not times.any()
        assert not states.any()
        np.testing.assert_array_equal(last, [1.0, 2.0])


def test_buffer_keeps_what_is_needed_and_no_more() -> None:
    """An hour of samples at 1 kHz in blocks of any size: a few thousand are kept, and read as all of them would be."""
    buffer, random = SampleBuffer(2), np.random.default_rng(0)
    start, largest = 0, 0
    while start < 3_600_000:
        count = int(random.integers(1, 20_000))
        times = np.arange(start, start + count) * 1e-3
        buffer.append(times, np.stack((np.sin(times), times), axis=1))
        queries = times[:: max(1, count // 3)] + 0.0
        samples, widths = np.zeros((len(queries), 3)), np.zeros(len(queries))
        samples[:, 0] = queries
        if start:
            buffer.read(np.array([1, 2]), samples, widths)
            np.testing.assert_allclose(samples[:, 1:], np.stack((np.sin(queries), queries), axis=1), atol=1e-9)
            np.testing.assert_allclose(widths, 1e-3, atol=1e-9)
        buffer.forget_before(times[-1])
        start += count
        largest = max(largest, len(buffer.all_times))
    assert len(buffer.times) <= 512 + 20_000
    assert largest < 100_000


def test_slopes_are_those_of_the_parabola() -> None:
    random = np.random.default_rng(0)
    times = np.cumsum(random.uniform(0.01, 0.1, 20))
    a, b, c = random.normal(size=(3, 2))
    t = times[:, None]
    np.testing.assert_allclose(find_slopes(times, a + b * t + c * t**2), (b + 2.0 * c * t)[1:-1], atol=1e-10)


@pytest.mark.parametrize("has_velocity", [True, False])
def test_extrapolation_goes_on_with_the_velocity_for_one_period_at_most(has_velocity: bool) -> None:
    stream = JointStream(np.array([0, 1]), (True, False), 0, Health())
    stream.targets = np.array([1, 2, 3, 4])
    samples = np.zeros((3, 5))
    samples[:, 0] = 0.054, 0.06, 0.55
    assert not stream.extrapolate(samples)
    stamps = np.arange(1, 6) * SECOND // 100
    velocity = np.array([0.5, -2.0])
    positions = stamps[:, None] * 1e-9 * velocity
    stream.push(stamps, positions, np.tile(velocity, (5, 1)) if has_velocity else None)
    assert stream.extrapolate(samples)
    np.testing.assert_allclose(samples[:, 1:3], np.outer([0.054, 0.06, 0.06], velocity))
    np.testing.assert_allclose(samples[:, 3:], np.tile(velocity, (3, 1)))


def test_velocities_are_compared_with_the_change_of_the_positions() -> None:
    random = np.random.default_rng(5)
    times = np.cumsum(random.uniform(0.001, 0.003, 50))
    velocities = random.normal(size=(50, 3))
    positions = random.normal(size=(50, 3))
    positions[-1, 2] = positions[10, 2] + 0.005
    product, power = np.ones((2, 3))
    compare_velocities(times, np.hstack((positions, velocities)), 10, 50, 0.01, product, power)
    change = positions[-1] - positions[10]
    integral = np.trapezoid(velocities[10:], times[10:], axis=0)
    judged = np.array([1.0, 1.0, 0.0])
    np.testing.assert_allclose(product, 1.0 + judged * change * integral)
    np.testing.assert_allclose(power, 1.0 + judged * change**2)
