"""A copy of what is known stays as it was, whatever the estimator that it was made of goes through."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np
import pytest
from support.chain import make_chain, puma_motion, simulate_puma

from inertid_ros.core.tasks.wrist import WristLoadTask


def assert_same(found: Any, expected: Any, where: str) -> None:
    if isinstance(expected, np.ndarray):
        np.testing.assert_array_equal(found, expected, err_msg=where)
    elif isinstance(expected, tuple) and not hasattr(expected, "_fields"):
        for index, (one, other) in enumerate(zip(found, expected, strict=True)):
            assert_same(one, other, f"{where}[{index}]")
    elif hasattr(expected, "__dict__") and not callable(expected):
        for name, value in vars(expected).items():
            assert_same(getattr(found, name), value, f"{where}.{name}")
    elif isinstance(expected, float | int | str | bool | None):
        assert found == expected, where


@pytest.mark.parametrize("push", [0.0, 20.0], ids=["tracking", "testing"])
def test_copy_is_independent(push: float) -> None:
    """Made while a load is tracked, and while hypotheses are tested: none of its arrays is changed later."""
    chain = make_chain()
    simulator = simulate_puma(puma_motion(rounds=4), seed=3)

    def feed(start: float, end: float, force: float) -> None:
        joints, wrenches = simulator.joints(start, end), simulator.wrenches(start, end)
        wrenches.wrenches[:, 0] += force
        chain.push(joints)
        chain.push(wrenches)
        chain.process()

    feed(0.0, 6.0, 0.0)
    feed(6.0, 6.2, push)
    task = chain._task
    assert isinstance(task, WristLoadTask)
    kept = task._estimator.copy()
    before = deepcopy(kept)
    feed(6.2, 9.0, 2.0 * push)
    for name in ("_whitened", "_variance", "_noise", "_products"):  # written by each row before they are read
        setattr(kept, name, getattr(before, name))
    assert_same(kept, before, "estimator")
    assert task._estimator.rows != kept.rows or task._estimator.mode is not kept.mode
