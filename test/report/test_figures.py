"""Numbers behind the report's figures."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm
from support.report_traces import puma_trace

from inertid_ros.core.rigid_body.inertial import PARAMETER_NAMES
from inertid_ros.files.vendor_snippets import find_body
from inertid_ros.replay.trace import Envelope, LoadTrace, TraceEvent
from inertid_ros.report.body_view import draw_body, ellipsoid_points
from inertid_ros.report.convergence import (
    draw_deviations,
    draw_load_convergence,
    draw_load_states,
    find_band_range,
    outline,
)
from inertid_ros.report.drawing import find_range, zigzag
from inertid_ros.report.events import MOST_EVENTS, describe_events, mark_events
from inertid_ros.report.signals import (
    MOST_BUCKETS,
    SignalView,
    bucket_factor,
    draw_distribution,
    draw_residual,
    draw_signals,
    draw_spectrum,
    find_spread,
    merge_buckets,
)


def test_every_parameter_has_its_estimate_and_band() -> None:
    trace = puma_trace()
    figure = draw_load_convergence(trace)
    estimates = [line for line in figure.data if line["name"] == "estimate"]
    bands = [line for line in figure.data if line["name"] == "95 %"]
    assert len(estimates) == len(bands) == 10
    last = sorted(float(np.asarray(line["y"])[-1]) for line in estimates)
    np.testing.assert_allclose(last, sorted(trace.convergence.values[-1]), rtol=1e-12)
    titles = " ".join(annotation["text"] for annotation in figure.layout["annotations"])
    assert all(f"<b>{name}</b>" in titles for name in PARAMETER_NAMES)


def test_band_is_1_96_deviations_at_the_end() -> None:
    trace = puma_trace()
    (band, *_) = (line for line in draw_load_convergence(trace).data if line["name"] == "95 %")
    at_end = np.asarray(band["y"])[np.asarray(band["x"]) == trace.convergence.times[-1]]
    assert np.ptp(at_end) == pytest.approx(2 * 1.96 * trace.convergence.deviations[-1, 0], rel=1e-9)


def test_a_parameter_that_is_not_excited_is_not_drawn() -> None:
    trace = puma_trace()
    states = np.zeros_like(trace.convergence.states)
    figure = draw_load_convergence(replace(trace, convergence=replace(trace.convergence, states=states)))
    assert all(np.all(np.isnan(np.asarray(line["y"]))) for line in figure.data if line["name"] == "estimate")
    assert sum(annotation["text"] == "not excited" for annotation in figure.layout["annotations"]) == 10


def test_range_is_that_of_the_end_not_of_the_start() -> None:
    values = np.array([500.0, -30.0, 1.1, 1.0])
    margins = np.array([1000.0, 50.0, 0.3, 0.1])
    low, high = find_band_range(values, margins, np.ones(4, dtype=bool))
    assert 0.6 < low < 0.8
    assert 1.4 < high < 1.6


def test_range_holds_earlier_loads_that_were_known_as_well() -> None:
    low, high = find_band_range(np.array([0.0, 0.0, 5.0, 1.8]), np.array([0.1, 0.1, 99.0, 0.1]), np.ones(4, dtype=bool))
    assert low < -0.1
    assert 1.9 < high < 3.0


def test_range_of_an_axis_is_padded_and_leaves_out_what_is_rare() -> None:
    values = np.append(np.linspace(0.0, 1.0, 999), np.nan)
    values[500] = 100.0
    assert find_range(values, values, 0.1) == pytest.approx((-10.0, 110.0))
    low, high = find_range(values, values, 0.0, 0.005) or (0.0, 0.0)
    assert 0.0 <= low < high < 1.01
    assert find_range(values[-1:], values[-1:], 0.1) is None


def test_outline_closes_each_run_on_its_own() -> None:
    times = np.arange(5.0)
    x, y = outline(times, times - 1.0, times + 1.0, np.array([True, True, False, True, True]))
    np.testing.assert_array_equal(x, [0.0, 1.0, 1.0, 0.0, np.nan, 3.0, 4.0, 4.0, 3.0, np.nan])
    np.testing.assert_array_equal(y, [-1.0, 0.0, 2.0, 1.0, np.nan, 2.0, 3.0, 5.0, 4.0, np.nan])
    assert outline(times, times, times, np.zeros(5, dtype=bool))[0].size == 0


def test_decimation_keeps_every_peak() -> None:
    generator = np.random.default_rng(7)
    count = 2 * MOST_BUCKETS + 37
    low = generator.normal(size=(count, 6))
    high = low + generator.exponential(size=(count, 6))
    low[100:140], high[100:140] = np.nan, np.nan
    times, merged_low, merged_high = merge_buckets(np.arange(count) * 0.01, Envelope(low, high))
    assert len(times) <= MOST_BUCKETS
    assert bucket_factor(count) == 3
    np.testing.assert_array_equal(np.nanmin(merged_low, axis=0), np.nanmin(low, axis=0))
    np.testing.assert_array_equal(np.nanmax(merged_high, axis=0), np.nanmax(high, axis=0))
    np.testing.assert_array_equal(merged_high[10], high[30:33].max(axis=0))
    assert np.all(np.isnan(merged_low[34:46]))


def test_line_is_broken_by_a_gap_and_not_by_a_late_sample() -> None:
    times = np.arange(40) * 0.01
    values = np.ones(40)
    values[3] = np.nan
    values[10:30] = np.nan
    x, y = zigzag(times, values, values + 1.0)
    assert np.count_nonzero(np.isnan(y)) == 2  # one bucket of the gap, low and high
    np.testing.assert_allclose(x[::2][:5], [0.0, 0.01, 0.02, 0.04, 0.05], atol=1e-6)
    np.testing.assert_array_equal(y[:2], [1.0, 2.0])


def test_spread_is_that_of_a_normal_distribution_whatever_the_outliers() -> None:
    generator = np.random.default_rng(3)
    samples = np.concatenate([norm.rvs(0.2, 0.5, 100_000, random_state=generator), np.full(500, 9.0)])
    counts, edges = np.histogram(samples, 400, (-10.0, 10.0))
    median, deviation = find_spread(edges, counts)
    assert median == pytest.approx(0.2, abs=0.02)
    assert deviation == pytest.approx(0.5, rel=0.02)


def test_wrenches_and_residual_have_six_axes_each() -> None:
    trace = puma_trace()
    assert [line["name"] for line in draw_signals(SignalView.of(trace)).data] == ["measured"] * 6 + ["predicted"] * 6
    residual = draw_residual(SignalView.of(trace))
    assert len(residual.data) == 6
    assert max(np.nanmax(line["y"]) for line in residual.data) == pytest.approx(np.nanmax(trace.signals.residual.high))


def test_spectrum_is_an_amplitude_density() -> None:
    trace = puma_trace()
    lines = [line for line in draw_spectrum(SignalView.of(trace)).data if "name" in line]
    assert [line["name"] for line in lines] == ["fx", "fy", "fz", "nx", "ny", "nz"]
    np.testing.assert_allclose(np.asarray(lines[2]["y"]) ** 2, trace.spectrum.density[1:, 2])


def test_distribution_has_the_area_one_with_what_lies_outside() -> None:
    trace = puma_trace()
    figure = draw_distribution(SignalView.of(trace))
    bars = [bar for bar in figure.data if bar["type"] == "bar"]
    for index, bar in enumerate(bars):
        outside = float(figure.layout["annotations"][index]["text"].split("</b>")[1].split("%")[0])
        assert np.sum(np.asarray(bar["y"]) * np.asarray(bar["width"])) == pytest.approx(1.0 - outside / 100.0, abs=6e-3)


def test_states_and_deviations_cover_all_parameters() -> None:
    trace = puma_trace()
    mode, states = (strip for strip in draw_load_states(trace).data if strip["type"] == "heatmap")
    assert np.asarray(states["z"]).shape == (10, len(trace.convergence.times))
    assert states["customdata"][0][-1] == "known"
    assert "contact" in mode["customdata"][0]
    assert [line["name"] for line in draw_deviations(trace).data] == list(PARAMETER_NAMES)


def test_contacts_are_shaded_and_changes_marked() -> None:
    trace = puma_trace()
    shapes = draw_residual(SignalView.of(trace)).layout["shapes"]
    began, ended = (event.time for event in trace.events if event.kind.startswith("contact"))
    rectangles = [shape for shape in shapes if shape["type"] == "rect"]
    assert {(shape["x0"], shape["x1"]) for shape in rectangles} == {(began, ended)}
    assert len(rectangles) == len([shape for shape in shapes if shape["type"] == "line"]) == 6


def test_a_contact_that_goes_on_ends_with_the_recording() -> None:
    figure = draw_spectrum(SignalView.of(puma_trace()))
    mark_events(figure, (TraceEvent(4.0, "contact_began", ""),), 9.0)
    assert {(shape["x0"], shape["x1"]) for shape in figure.layout["shapes"]} == {(4.0, 9.0)}


def test_the_number_of_drawn_events_is_bounded() -> None:
    events = [TraceEvent(float(n), "load_changed", "<b>x</b>") for n in range(3 * MOST_EVENTS)]
    markers = describe_events(events, "events")
    assert len(markers["x"]) == MOST_EVENTS
    assert "&lt;b&gt;" in markers["text"][0]


def test_points_lie_on_the_ellipsoid() -> None:
    generator = np.random.default_rng(5)
    axes = np.linalg.qr(generator.normal(size=(3, 3)))[0]
    centre, semi_axes = generator.normal(size=3), np.array([0.1, 0.2, 0.4])
    local = (ellipsoid_points(centre, axes, semi_axes) - centre) @ axes / semi_axes
    np.testing.assert_allclose(np.linalg.norm(local, axis=1), 1.0, rtol=1e-12)


def body_names(trace: LoadTrace, shows_inertia: bool) -> list[str]:
    body = find_body(trace.estimate.states, trace.estimate.feasible, trace.estimate.covariance)
    assert body is not None
    return [str(item["name"]) for item in draw_body(body, shows_inertia).data]


def test_the_ellipsoid_is_drawn_only_if_the_inertia_is_known() -> None:
    assert "inertia" in body_names(puma_trace(), True)
    assert "inertia" not in body_names(puma_trace(), False)


def test_there_is_no_body_while_the_mass_is_not_known() -> None:
    estimate = puma_trace().estimate
    assert find_body(("uncertain", *estimate.states[1:]), estimate.feasible, estimate.covariance) is None
    assert find_body(estimate.states, np.full(10, 1e-9), estimate.covariance) is None
