"""What is kept of a recording in bounded memory, against numpy and scipy over everything."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from scipy.signal import welch

from inertid_ros.bags.bag import Topics
from inertid_ros.core.errors import FileFormatError, SettingError
from inertid_ros.core.records import FloatArray
from inertid_ros.core.settings.settings import Settings
from inertid_ros.files.parameters import list_settings, read_settings
from inertid_ros.files.share import share_path
from inertid_ros.replay.inputs import TopicWatch
from inertid_ros.replay.recorder import (
    BUCKETS,
    SEGMENT,
    EnvelopeBuilder,
    HistogramBuilder,
    MomentKeeper,
    SpectrumBuilder,
    TimeAxis,
)
from inertid_ros.replay.residuals import ResidualSums


def make_signal(count: int, seed: int = 3) -> tuple[FloatArray, FloatArray]:
    rng = np.random.default_rng(seed)
    return np.arange(count) * 0.01, rng.normal(size=(count, 6)) * np.array([1.0, 2.0, 3.0, 0.1, 0.2, 0.3])


def pieces(count: int) -> list[slice]:
    edges = np.unique(np.r_[0, np.random.default_rng(0).integers(0, count, 40), count]).tolist()
    return [slice(a, b) for a, b in pairwise(edges)]


def test_envelope_loses_no_peak_and_does_not_grow() -> None:
    times, values = make_signal(20_000)
    builder = EnvelopeBuilder(6)
    for part in pieces(len(times)):
        builder.take(times[part], values[part])
    starts, low, high = builder.finish()
    assert len(starts) <= BUCKETS
    for start, lowest, highest in zip(starts.tolist(), low, high, strict=True):
        inside = values[(times / builder.width).astype(int) == round(start / builder.width)]
        np.testing.assert_array_equal(lowest, inside.min(axis=0))
        np.testing.assert_array_equal(highest, inside.max(axis=0))


def test_envelope_has_nothing_where_there_was_nothing() -> None:
    builder = EnvelopeBuilder(1)
    builder.take(np.array([0.0, 1.0]), np.array([[1.0], [2.0]]))
    _, low, high = builder.finish()
    assert np.isnan(low[1:-1]).all()
    assert (low[0, 0], high[-1, 0]) == (1.0, 2.0)


def test_sums_are_those_of_numpy() -> None:
    _, residual = make_signal(5000)
    measured = residual + make_signal(5000, 4)[1] + 7.0
    sums = ResidualSums(6)
    for part in pieces(5000):
        sums.take(measured[part], residual[part])
    bias = np.full(6, 6.5)
    found = sums.finish(bias)
    np.testing.assert_allclose(found.rms, np.sqrt(np.mean(residual**2, axis=0)))
    np.testing.assert_allclose(found.mean, residual.mean(axis=0), atol=1e-12)
    np.testing.assert_allclose(found.largest, np.abs(residual).max(axis=0))
    np.testing.assert_allclose(found.measured_rms, np.sqrt(np.mean((measured - bias) ** 2, axis=0)))


def test_histogram_counts_as_numpy_does() -> None:
    _, residual = make_signal(5000)
    builder = HistogramBuilder(6)
    for part in pieces(5000):
        builder.take(residual[part])
    histogram = builder.finish()
    for channel in range(6):
        counts, _ = np.histogram(residual[:, channel], histogram.edges[channel])
        assert np.abs(histogram.counts[channel] - counts).sum() <= 2
        assert histogram.edges[channel, -1] <= 2.0 * np.abs(residual[:, channel]).max()


def test_spectrum_is_that_of_scipy() -> None:
    times, residual = make_signal(8 * SEGMENT)
    builder = SpectrumBuilder(6)
    for part in pieces(len(times)):
        builder.take(times[part], residual[part])
    found = builder.finish()
    frequencies, density = welch(residual, 100.0, np.hanning(SEGMENT), SEGMENT, noverlap=0, detrend="constant", axis=0)
    assert found.segments == 8
    np.testing.assert_allclose(found.frequencies, frequencies)
    np.testing.assert_allclose(found.density, density, rtol=1e-9)


def test_topic_is_described() -> None:
    rng = np.random.default_rng(5)
    steps = rng.normal(0.01, 0.001, 1000)
    steps[500] = 0.5
    stamps = (10**18 + np.cumsum(steps) * 1e9).astype(np.int64)
    watch = TopicWatch("/wrench")
    for part in pieces(1000):
        watch.take(stamps[part], stamps[part] + 3_000_000)
    found = watch.summarise()
    regular = np.delete(np.diff(stamps) * 1e-9, 499)
    assert found.count == 1000
    assert found.gaps == 1
    assert found.backward == 0
    assert found.longest_gap == pytest.approx(0.5, abs=1e-6)
    assert found.rate == pytest.approx(1.0 / regular.mean())
    assert found.interval_deviation == pytest.approx(regular.std(), rel=1e-6)
    assert found.latency == pytest.approx(0.003)


def test_jumps_of_the_stamps_take_a_second() -> None:
    axis = TimeAxis()
    first = axis.place(np.array([5, 6, 7]) * 10**9)
    second = axis.place(np.array([3, 4, 400]) * 10**9)
    np.testing.assert_allclose(np.r_[first, second], [0.0, 1.0, 2.0, 3.0, 4.0, 5.0])


def test_parameter_file_is_read_as_the_node_reads_it(tmp_path: Path) -> None:
    assert read_settings(share_path("config", "template.yaml")) == Settings()
    path = tmp_path / "parameters.yaml"
    path.write_text(
        "/**:\n  ros__parameters:\n    load: {gate: 7.0}\n"
        "/cell/inertid:\n  ros__parameters:\n    use_sim_time: true\n    load.sensor_frame: ft\n"
        "other:\n  ros__parameters:\n    load: {gate: 9.0}\n"
    )
    values = list_settings(read_settings(path))
    assert (values["load.gate"], values["load.sensor_frame"]) == (7.0, "ft")
    path.write_text("/**:\n  ros__parameters:\n    load: {gate: 1.0}\n")
    with pytest.raises(SettingError, match=r"load\.gate"):
        read_settings(path)
    path.write_text("other:\n  ros__parameters: {a: 1}\n")
    with pytest.raises(FileFormatError, match="/other"):
        read_settings(path)


def test_remappings() -> None:
    topics = Topics.from_remappings(["wrench:=ft/raw", "/joint_states:=/arm/joint_states"])
    assert topics == Topics(joint_states="/arm/joint_states", wrench="/ft/raw")
    for wrong in ("wrench", "wrench:=", "torque:=/a"):
        with pytest.raises(SettingError, match="wrench:=/TOPIC"):
            Topics.from_remappings([wrong])


@pytest.mark.parametrize("duration", [0.0, 100e9])
def test_moments_are_evenly_spread_however_long_it_lasts(duration: float) -> None:
    """Where the duration is known, none is asked for in vain."""
    moments = MomentKeeper[FloatArray](100_000_000, 16, duration)
    asked = 0
    for time in np.cumsum(np.full(1000, 0.1)).tolist():
        if moments.is_due(time):
            asked += 1
            moments.keep(time, np.array([time]))
    times, rows = moments.list_all()
    assert 8 <= len(times) <= 16
    np.testing.assert_array_equal(np.array(rows)[:, 0], times)
    np.testing.assert_allclose(np.diff(times), moments.spacing * 1e-9)
    assert (asked == len(times)) == (duration > 0.0)
