"""Curves of what was known: the last seconds, thinned, without gaps, and with their bands."""

from __future__ import annotations

import numpy as np

from inertid_ros.text.numbers import INTERVAL
from inertid_ros.view.instant import Instant, Parameters, Signals
from inertid_ros.view.tracks import POINTS, WIDEST, Track, Tracks


def test_only_the_last_seconds_are_kept_and_a_clock_that_goes_back_begins_anew() -> None:
    track = Track(window=2.0)
    for time in np.arange(0.0, 10.0, 0.5).tolist():
        track.append(time, np.array([time]))
    times, values = track.look(np.inf, 0)
    np.testing.assert_array_equal(times, [7.5, 8.0, 8.5, 9.0, 9.5])
    np.testing.assert_array_equal(values, times)
    for old in (9.5, 9.2):
        track.append(old, np.array([np.nan]))
    np.testing.assert_array_equal(track.look(np.inf, 0)[0], times)
    track.append(1.0, np.array([5.0]))
    assert track.look(np.inf, 0)[0].tolist() == [1.0]


def test_long_curves_are_thinned_up_to_the_moment_that_is_shown() -> None:
    times = np.arange(10_000) * 0.01
    track = Track.of(times, list(times[:, None]))
    seen, values = track.look(50.0, 0)
    assert POINTS / 2 <= len(seen) <= POINTS
    assert seen[-1] == 50.0
    np.testing.assert_array_equal(seen, values)


def make_instant(time: float, value: float, state: str = "known", deviation: float = 0.1) -> Instant:
    parameters = Parameters(("m",), ("kg",), np.array([value]), np.array([deviation]), (state,))
    return Instant(time, signals=Signals(("fx",), ("N",), np.array([3.0]), np.array([1.0])), parameters=parameters)


def test_bands_are_95_percent_wide_and_begin_when_something_is_known() -> None:
    tracks = Tracks(Track(), Track())
    tracks.append(make_instant(0.0, 0.0, "not excited yet"))
    tracks.append(make_instant(1.0, 2.0, "uncertain"))
    tracks.append(make_instant(2.0, 2.0, deviation=0.05))
    times, low, high, values = tracks.draw_parameter(0, 1, 2.0)
    np.testing.assert_array_equal(times, [1.0, 2.0])
    np.testing.assert_allclose(high - values, INTERVAL * np.array([0.1, 0.05]))
    np.testing.assert_allclose(values - low, high - values)
    _, measured, predicted, residual = tracks.draw_channel(0, 1, 2.0)
    np.testing.assert_array_equal(residual, measured - predicted)


def test_an_interval_from_the_beginning_does_not_dwarf_the_curve() -> None:
    tracks = Tracks(Track(), Track())
    tracks.append(make_instant(0.0, 2.0, deviation=100.0))
    tracks.append(make_instant(1.0, 2.0, deviation=0.1))
    _, low, high, _ = tracks.draw_parameter(0, 1, 1.0)
    np.testing.assert_allclose((high - low) / 2.0, INTERVAL * np.array([WIDEST * 0.1, 0.1]))
