"""The filter against the exact solution of its differential equation."""

from __future__ import annotations

import numpy as np
import pytest
from inertid_ros.core.rows.lowpass import LowPass, filter_block
from scipy.integrate import solve_ivp


def test_follows_the_differential_equation_on_irregular_steps() -> None:
    rng = np.random.default_rng(0)
    times = np.concatenate(([0.0], np.cumsum(rng.uniform(0.5e-3, 1.5e-3, 2000))))

    def signal(time: float) -> float:
        return float(np.sin(7.0 * time) + 0.3 * np.cos(19.0 * time))

    exact = solve_ivp(
        lambda t, y: 30.0 * (signal(t) - y), (0.0, times[-1]), [0.0], t_eval=times, rtol=1e-10, atol=1e-12
    )
    filtered = LowPass(30.0)
    inputs = np.array([[signal(time)] for time in times])
    filtered.start(inputs[0], np.zeros(1))
    outputs = filtered.filter(np.diff(times), inputs[1:])
    np.testing.assert_allclose(outputs[:, 0], exact.y[0][1:], atol=3e-5)


def test_blocks_do_not_matter() -> None:
    rng = np.random.default_rng(1)
    steps, inputs = rng.uniform(1e-3, 5e-3, 300), rng.normal(size=(300, 4))
    whole, pieces = LowPass(50.0), LowPass(50.0)
    for one in (whole, pieces):
        one.start(np.ones(4), np.zeros(4))
    expected = whole.filter(steps, inputs).copy()
    parts = [pieces.filter(steps[a:b], inputs[a:b]).copy() for a, b in ((0, 1), (1, 8), (8, 9), (9, 300))]
    np.testing.assert_allclose(np.concatenate(parts), expected, atol=1e-13)


@pytest.mark.parametrize("cutoff", [1.0, 30.0, 1000.0])
def test_constant_input_is_reached(cutoff: float) -> None:
    one = LowPass(cutoff)
    one.start(np.ones(1), np.zeros(1))
    assert one.filter(np.full(20_000, 2e-3), np.ones((20_000, 1)))[-1, 0] == pytest.approx(1.0)


@pytest.mark.parametrize("step", [1e-3, 0.02, 0.04, 0.1])
def test_long_steps_and_long_blocks_follow_the_recursion(step: float) -> None:
    """Decays close to one, that vanish in a block, that are zero, and that are negative."""
    rng = np.random.default_rng(2)
    steps, inputs = np.full(2000, step), rng.normal(size=(2001, 3))
    gain = 50.0 * step / (2.0 + 50.0 * step)
    expected = [np.ones(3)]
    for now, before in zip(inputs[1:], inputs[:-1], strict=True):
        expected.append((1.0 - 2.0 * gain) * expected[-1] + gain * (now + before))
    np.testing.assert_allclose(filter_block(50.0, steps, inputs, np.ones(3)), expected[1:], atol=1e-12)
