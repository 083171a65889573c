"""The compiled filters against the differential equation they solve, scipy's filters, and their own recursion."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from support.rows import FILTERS, filter_by_scipy, make_equations, make_path, make_rows, make_segment

from inertid_ros.core.records import FloatArray
from inertid_ros.core.rows.advance import filter_twice, find_gain


def run(cutoffs: tuple[float, float], steps: FloatArray, inputs: FloatArray, start: FloatArray) -> FloatArray:
    """States (N, 3) of one signal through two filters; the first input is that of the start."""
    state = start.copy()
    states = []
    for step, u in zip(steps, inputs, strict=True):
        filter_twice(state, 0, u, find_gain(cutoffs[0], step), find_gain(cutoffs[1], step))
        states.append(state.copy())
    return np.array(states)


def test_follows_the_differential_equation_on_irregular_steps() -> None:
    rng = np.random.default_rng(0)
    times = np.concatenate(([0.0], np.cumsum(rng.uniform(0.5e-3, 1.5e-3, 2000))))

    def signal(time: float) -> float:
        return float(np.sin(7.0 * time) + 0.3 * np.cos(19.0 * time))

    exact = solve_ivp(
        lambda t, y: [30.0 * (signal(t) - y[0]), 50.0 * (y[0] - y[1])],
        (0.0, times[-1]),
        [0.0, 0.0],
        t_eval=times,
        rtol=1e-10,
        atol=1e-12,
    )
    inputs = np.array([signal(time) for time in times])
    states = run((30.0, 50.0), np.diff(times), inputs[1:], np.array([inputs[0], 0.0, 0.0]))
    np.testing.assert_allclose(states[:, 1:], exact.y.T[1:], atol=3e-5)


@pytest.mark.parametrize("step", [1e-3, 0.02, 0.04, 0.1])
def test_long_steps_follow_the_recursion(step: float) -> None:
    """Decays close to one, that vanish soon, that are zero, and that are negative."""
    inputs = np.random.default_rng(2).normal(size=2001)
    gain = 50.0 * step / (2.0 + 50.0 * step)
    expected = [1.0]
    for now, before in zip(inputs[1:], inputs[:-1], strict=True):
        expected.append((1.0 - 2.0 * gain) * expected[-1] + gain * (now + before))
    states = run((50.0, 20.0), np.full(2000, step), inputs[1:], np.array([inputs[0], 1.0, 0.0]))
    np.testing.assert_allclose(states[:, 1], expected[1:], atol=1e-12)


@pytest.mark.parametrize("cutoff", [1.0, 30.0, 1000.0])
def test_constant_input_is_reached(cutoff: float) -> None:
    states = run((cutoff, cutoff), np.full(20_000, 2e-3), np.ones(20_000), np.array([1.0, 0.0, 0.0]))
    np.testing.assert_allclose(states[-1], 1.0)


@pytest.mark.parametrize("name", ["load", "both"])
def test_all_signals_go_through_both_filters_as_through_scipy_s(name: str) -> None:
    """F_d F_l R and readings from zero on; momenta, less their first value, through F_l, F_d F_l and F_d, twice."""
    equation, joints = make_equations(2)[name]
    rate = 500.0
    path = make_path(joints, rate, 1.0)
    readings = np.random.default_rng(0).normal(size=(len(path.times), len(equation.channels)))
    rows = make_rows(equation, joints)
    segment = make_segment(path, readings)
    memory = rows.memory
    momenta, rests, found = [], [], []
    for k in range(len(path.times)):
        one = segment._replace(starts_anew=k == 0, stamps=segment.stamps[k : k + 1], samples=segment.samples[k : k + 1])
        rows.begin(one)
        momenta.append(memory.filtered_momentum[0].copy())
        rests.append(memory.filtered_rest[0].copy())
        parts = memory.filtered_momentum[1:], memory.filtered_rest[1:], memory.filtered_readings[:, 1:].T
        found.append([part.copy() for part in parts])
    l, d = FILTERS.cutoff, FILTERS.smoothing  # noqa: E741
    of_momenta, of_rests, of_readings = (np.array(part) for part in zip(*found, strict=True))
    change = np.array(momenta) - momenta[0]
    for column, cutoffs in enumerate(((l,), (l, d), (d,), (d,))):
        expected = momenta[0] + filter_by_scipy(change, rate, *cutoffs)
        np.testing.assert_allclose(of_momenta[:, column], expected, atol=1e-11 * np.abs(expected).max())
    for column, cutoffs in enumerate(((l,), (l, d))):
        for filtered, inputs in ((of_rests, np.array(rests)), (of_readings, readings)):
            smoothed = filter_by_scipy(inputs, rate, *cutoffs)
            np.testing.assert_allclose(filtered[:, column], smoothed, atol=1e-11 * np.abs(smoothed).max())
