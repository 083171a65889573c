"""Whatever finite numbers come in, the chain does not raise, and what it knows is finite with a definite covariance."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.chain import load_of, make_chain, puma_motion, simulate_puma

from inertid_ros.core.chain import Chain

SIMULATOR = simulate_puma(puma_motion(rest=0.2), 1, velocity_noise=2e-3)
JOINTS, WRENCHES = SIMULATOR.joints(0.0, 1.6), SIMULATOR.wrenches(0.0, 1.6)
PARTS = ("positions", "velocities", "wrenches")


def _spoil(largest: float) -> st.SearchStrategy[list[tuple[str, int, int, int, float]]]:
    """What is replaced: part, first row, how many rows, column, and by which number."""
    numbers = st.floats(-largest, largest, allow_nan=False, allow_infinity=False)
    rows = st.integers(0, len(JOINTS.stamps) - 1), st.sampled_from([1, 2, 5, 40, 400])
    return st.lists(st.tuples(st.sampled_from(PARTS), *rows, st.integers(0, 5), numbers), min_size=1, max_size=12)


def _check(chain: Chain, changes: list[tuple[str, int, int, int, float]], step: int) -> None:
    assert JOINTS.velocities is not None
    parts = {"positions": JOINTS.positions, "velocities": JOINTS.velocities, "wrenches": WRENCHES.wrenches}
    parts = {name: part.copy() for name, part in parts.items()}
    for name, first, count, column, number in changes:
        parts[name][first : first + count, column] = number
    joints = JOINTS._replace(positions=parts["positions"], velocities=parts["velocities"])
    wrenches = WRENCHES._replace(wrenches=parts["wrenches"])
    for start in range(0, len(JOINTS.stamps), step):
        chain.push(joints.take(slice(start, start + step)))
        chain.push(wrenches.take(slice(start, start + step)))
        for output in (chain.process(), chain.answer()):
            assert output is None or np.isfinite(output.predicted).all()
    estimate = load_of(chain)
    assert estimate.is_finite
    np.linalg.cholesky(estimate.covariance)
    np.linalg.cholesky(estimate.repeatability)


@pytest.mark.parametrize("method", ["filtered", "differentiated", "integral"])
@settings(max_examples=15, deadline=None, derandomize=True)
@given(changes=_spoil(1e6), step=st.sampled_from([7, 100, 400]))
def test_moderate_numbers_give_a_definite_covariance(
    method: str, changes: list[tuple[str, int, int, int, float]], step: int
) -> None:
    _check(make_chain(method=method), changes, step)


@pytest.mark.parametrize("method", ["filtered", "differentiated", "integral"])
@settings(max_examples=15, deadline=None, derandomize=True)
@given(changes=_spoil(1.7e308), step=st.sampled_from([7, 100, 400]))
def test_extreme_numbers_give_a_definite_covariance(
    method: str, changes: list[tuple[str, int, int, int, float]], step: int
) -> None:
    _check(make_chain(method=method), changes, step)
