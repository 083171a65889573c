"""Rows of all methods against what their equations say, with true accelerations, on smooth motions without noise."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import cumulative_simpson
from support.rows import (
    FILTERS,
    Made,
    Path,
    cut,
    filter_by_scipy,
    make_equations,
    make_path,
    make_rows,
    make_segment,
    run_rows,
)

from inertid_ros.core.equations.equation import Equation
from inertid_ros.core.records import FloatArray
from inertid_ros.core.rows.advance import INTERVAL
from inertid_ros.core.rows.making import FAR, LONG, NEAR, ONE_POSE
from inertid_ros.core.rows.rows import Rows
from inertid_ros.core.settings.choices import Method

NAMES = ["load", "effort", "base_wrench", "both"]
METHODS = [Method.FILTERED, Method.INTEGRAL, Method.DIFFERENTIATED]


def make_readings(equation: Equation, path: Path, seed: int = 0) -> tuple[FloatArray, FloatArray]:
    """Any unknowns (U,), also such as no body can have, and what they make the channels read (N, K)."""
    values = np.random.default_rng(seed).normal(size=len(equation.unknowns))
    return values, equation.assemble(equation.compute(*path[1:])) @ values


def make(name: str, seed: int, method: Method, rate: float, **options: float) -> tuple[Rows, Path, FloatArray, Made]:
    equation, joints = make_equations(seed)[name]
    path = make_path(joints, rate, 2.0, seed, **options)
    values, readings = make_readings(equation, path)
    rows = make_rows(equation, joints, method)
    return rows, path, values, run_rows(rows, make_segment(path, readings))


def relative_error(made: Made, values: FloatArray) -> FloatArray:
    """Largest error of a row, over the largest measured, in each channel (K,)."""
    predicted, measured = made.equations[:, :, :-1] @ values, made.equations[:, :, -1]
    return np.asarray(np.abs(predicted - measured).max(axis=0) / np.abs(measured).max(axis=0))


@pytest.mark.parametrize("method", METHODS[:2])
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("seed", [0, 3])
def test_rows_hold_for_any_unknowns(name: str, seed: int, method: Method) -> None:
    """Also at stamps that jitter; what is left is Tustin's (w h)²/12."""
    *_, values, made = make(name, seed, method, 1000.0, jitter=3e-4)
    assert len(made.places) == 100
    assert np.all(relative_error(made, values) < 1e-5)
    *_, values, rough = make(name, seed, method, 250.0)
    assert np.all(relative_error(rough, values) < 1e-4)


@pytest.mark.parametrize("name", NAMES)
def test_differentiated_rows_hold_for_slow_motions(name: str) -> None:
    """Readings are smoothed as the motion is; products of smoothed signals are not smoothed products."""
    *_, values, made = make(name, 1, Method.DIFFERENTIATED, 500.0, speed=0.5)
    settled = made._replace(equations=made.equations[25:])
    assert np.all(relative_error(settled, values) < 0.02)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", NAMES)
def test_rows_of_one_motion_give_the_unknowns_back(name: str, method: Method) -> None:
    *_, values, made = make(name, 1, method, 1000.0, speed=4.0)
    stacked = made.equations[10:].reshape(-1, made.equations.shape[-1])
    scale = np.linalg.norm(stacked[:, :-1], axis=0)
    found, _, rank, singular = np.linalg.lstsq(stacked[:, :-1] / scale, stacked[:, -1], rcond=None)
    assert rank == len(values)
    tolerance = 0.05 if method is Method.DIFFERENTIATED else 1e-4
    error = (found - values * scale) / np.linalg.norm(stacked[:, -1])
    assert np.abs(error).max() < tolerance * max(1.0, 1.0 / singular[-1])


@pytest.mark.parametrize("name", ["load", "both"])
def test_filtered_rows_are_the_filtered_equation(name: str) -> None:
    """F_d F_l of d/dt P + R with true accelerations and of the readings, by scipy on steps ten times finer."""
    equation, joints = make_equations(1)[name]
    fine = make_path(joints, 10_000.0, 1.0, 1)
    _, readings = make_readings(equation, fine)
    made = run_rows(make_rows(equation, joints), make_segment(cut(fine, slice(None, None, 10)), readings[::10]))
    signals = equation.compute(*fine[1:])
    for inputs, found in ((signals, made.signals), (readings, made.equations[:, :, -1])):
        expected = filter_by_scipy(inputs, 10_000.0, FILTERS.cutoff, FILTERS.smoothing)[10 * made.places]
        if name == "load" and inputs is signals:
            expected, kept = _leave_out_suppressed(expected, found)
        else:
            kept = found
        np.testing.assert_allclose(kept, expected, atol=5e-5 * np.abs(expected).max())


def _leave_out_suppressed(expected: FloatArray, found: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The first rows' accelerations do not stand out of their noise, and are zero."""
    kept = np.all(found[:, :12] != 0.0, axis=1)
    assert kept.mean() > 0.9
    return expected[kept], found[kept]


@pytest.mark.parametrize("name", ["load", "both"])
def test_integral_rows_are_the_integrated_equation(name: str) -> None:
    """From the newest row that is a window before, or from the start, to the row; divided by the window."""
    equation, joints = make_equations(1)[name]
    fine = make_path(joints, 10_000.0, 1.0, 1)
    _, readings = make_readings(equation, fine)
    filters = replace(FILTERS, window=0.31)
    rows = make_rows(equation, joints, Method.INTEGRAL, filters)
    made = run_rows(rows, make_segment(cut(fine, slice(None, None, 10)), readings[::10]))
    ends = 10 * made.places
    starts = np.where(ends > 3100, ends - 3200, 0)
    for inputs, found in ((equation.compute(*fine[1:]), made.signals), (readings, made.equations[:, :, -1])):
        integral = cumulative_simpson(inputs, x=fine.times, axis=0, initial=0.0)
        expected = (integral[ends] - integral[starts]) / filters.window
        if name == "load" and found is made.signals:
            expected, kept = _leave_out_suppressed(expected, found)
        else:
            kept = found
        np.testing.assert_allclose(kept, expected, atol=1e-5 * np.abs(expected).max())


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("method", METHODS[:2])
def test_rows_hold_from_the_first_sample_after_a_restart_and_after_a_gap(name: str, method: Method) -> None:
    equation, joints = make_equations(2)[name]
    path = make_path(joints, 1000.0, 3.0, 2)
    values, readings = make_readings(equation, path)
    rows = make_rows(equation, joints, method)
    parts = slice(0, 1000), slice(1000, 1500), slice(2000, 2500)
    for index, part in enumerate(parts):
        if index == 1:
            rows.restart()
        made = run_rows(rows, make_segment(cut(path, part), readings[part], starts_anew=index != 1))
        assert made.places[0] < 20
        assert np.all(relative_error(made, values) < 2e-5)
        first = 0 if index else 1
        assert np.abs(made.equations[first, :, -1]).max() < 0.5 * np.abs(made.equations[:, :, -1]).max()


@pytest.mark.parametrize("size", [1, 7, 1000])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", NAMES)
def test_blocks_make_no_difference_at_all(name: str, method: Method, size: int) -> None:
    equation, joints = make_equations(0)[name]
    path = make_path(joints, 200.0, 1.0, jitter=1e-3)
    values, readings = make_readings(equation, path)
    whole, pieces = make_rows(equation, joints, method), make_rows(equation, joints, method)
    for rows in (whole, pieces):
        rows.set_values(values)
    expected = run_rows(whole, make_segment(path, readings))
    found = [
        run_rows(pieces, make_segment(cut(path, slice(k, k + size)), readings[k : k + size], starts_anew=k == 0))
        for k in range(0, len(path.times), size)
    ]
    np.testing.assert_array_equal(np.concatenate([part.equations for part in found]), expected.equations)
    np.testing.assert_array_equal(np.concatenate([part.predicted for part in found]), expected.predicted)


def test_one_row_in_a_decision_interval_of_stamps() -> None:
    equation, joints = make_equations(0)["effort"]
    path = make_path(joints, 300.0, 1.0, jitter=1e-3)
    segment = make_segment(path, np.zeros((len(path.times), joints)), origin=1_700_000_000_123_456_789)
    made = run_rows(make_rows(equation, joints), segment)
    intervals = segment.stamps // INTERVAL
    expected = np.flatnonzero(np.diff(intervals, prepend=-1) != 0)
    np.testing.assert_array_equal(made.places, expected)


@pytest.mark.parametrize("method", METHODS)
def test_bad_reading_is_felt_as_long_as_the_method_remembers(method: Method) -> None:
    equation, joints = make_equations(0)["both"]
    path = make_path(joints, 1000.0, 2.0)
    readings = np.zeros((len(path.times), len(equation.channels)))
    bad = np.zeros(readings.shape, dtype=bool)
    bad[503, 2] = True
    rows = make_rows(equation, joints, method)
    made = run_rows(rows, make_segment(path, readings, bad=bad))
    assert np.all(np.delete(made.usable, 2, axis=1) == 1.0)
    since = path.times[made.places] - path.times[503]
    np.testing.assert_array_equal(made.usable[:, 2] == 0.0, (since >= 0.0) & (since <= rows.settling))
    assert 0.2 < rows.settling < 1.0


def test_wrong_reading_is_forgotten_once_it_is_no_longer_felt() -> None:
    """What a spike of 1000 leaves in rows that are usable again is below a thousandth of what it did."""
    equation, joints = make_equations(0)["effort"]
    path = make_path(joints, 1000.0, 2.0)
    readings = np.zeros((len(path.times), joints))
    bad = np.zeros(readings.shape, dtype=bool)
    readings[500:520], bad[500:520] = 1000.0, True
    for method in METHODS:
        made = run_rows(make_rows(equation, joints, method), make_segment(path, readings, bad=bad))
        left = np.abs(made.equations[:, :, -1])
        assert left[made.usable == 1.0].max() < 1e-3 * left.max()


def test_a_joint_stands_then_may_be_moving_then_has_moved() -> None:
    equation, joints = make_equations(0)["effort"]
    assert joints == 2
    positions = np.array([[0.0, 1.0], [0.8 * FAR, 1.0 + 0.5 * NEAR], [-0.4 * FAR, 1.001], [0.0, 1.0], [0.0, 1.1]])
    times = 0.02 * np.arange(5)
    rows = make_rows(equation, joints)
    still = np.zeros_like(positions)
    path = Path(times, positions, still, still)
    standing, moved = [], []
    for k in range(5):
        run_rows(rows, make_segment(cut(path, slice(k, k + 1)), np.zeros((1, 2)), starts_anew=k == 0))
        standing.append((rows.row.standing == 1.0).tolist())
        moved.append((rows.row.moved == 1.0).tolist())
    assert standing == [[True, True], [False, True], [False, False], [False, False], [False, False]]
    assert moved == [[False, False], [False, False], [True, False], [True, False], [True, True]]
    rows.forget_reach()
    run_rows(rows, make_segment(Path(times[:1] + 0.1, positions[:1], still[:1], still[:1]), np.zeros((1, 2)), False))
    assert rows.row.standing.all()
    assert not rows.row.moved.any()


def test_rows_of_a_pose_in_which_the_arm_stands_for_long_are_old() -> None:
    equation, joints = make_equations(0)["effort"]
    times = 0.01 * np.arange(500)
    positions = np.where(times[:, None] < 3.0, 0.4 * ONE_POSE * np.sin(times)[:, None], 2.0 * ONE_POSE) * np.ones(
        joints
    )
    still = np.zeros_like(positions)
    path, rows = Path(times, positions, still, still), make_rows(equation, joints)
    old = []
    for k in range(0, 500, 2):
        run_rows(rows, make_segment(cut(path, slice(k, k + 2)), np.zeros((2, joints)), starts_anew=k == 0))
        old.append(rows.row.is_old[0] == 1.0)
    since = np.where(times[::2] < 3.0, times[::2], times[::2] - 3.0)
    np.testing.assert_array_equal(old, since > LONG + 1e-9)
