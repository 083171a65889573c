"""Rows that are followed by the kernel are taken as they would be one by one, whatever happens between them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from support.chain import BAR, load_of, make_chain, puma_motion, push_force, simulate_puma

from inertid_ros.core.chain import Chain
from inertid_ros.core.input.segments import Segment
from inertid_ros.core.records import JointBlock, Output, WrenchBlock, join_outputs
from inertid_ros.core.tasks.wrist import WristLoadTask

Blocks = tuple[JointBlock, WrenchBlock]


def leave(joints: JointBlock, wrenches: WrenchBlock, _: float) -> Blocks:
    return joints, wrenches


def push(joints: JointBlock, wrenches: WrenchBlock, time: float) -> Blocks:
    """A push of a second."""
    force = np.array([0.0, 8.0, 0.0, 0.3, 0.0, 0.0])
    return joints, push_force(wrenches, force) if 6.0 <= time < 7.0 else wrenches


def freeze(joints: JointBlock, wrenches: WrenchBlock, time: float) -> Blocks:
    """A sensor that repeats itself for half a second."""
    if 7.0 <= time < 7.5:
        wrenches = wrenches._replace(wrenches=np.repeat(wrenches.wrenches[:1], len(wrenches.stamps), axis=0))
    return joints, wrenches


def flip(joints: JointBlock, wrenches: WrenchBlock, time: float) -> Blocks:
    """A sensor that changes its sign for a second."""
    return joints, wrenches._replace(wrenches=-wrenches.wrenches) if 6.0 <= time < 7.0 else wrenches


def interrupt(joints: JointBlock, wrenches: WrenchBlock, time: float) -> Blocks:
    """A gap."""
    kept = slice(0, 0) if 6.0 <= time < 6.5 else slice(None)
    return joints.take(kept), wrenches.take(kept)


def run(edit: Callable[[JointBlock, WrenchBlock, float], Blocks], has_other_load: bool) -> tuple[Chain, Output]:
    schedule = [(0.0, BAR), (5.0, 0.5 * BAR)] if has_other_load else [(0.0, BAR)]
    simulator, chain, outputs = simulate_puma(puma_motion(rounds=2), 3, schedule), make_chain(), []
    for time in np.arange(0.0, 10.0, 0.5).tolist():
        for block in edit(simulator.joints(time, time + 0.5), simulator.wrenches(time, time + 0.5), time):
            chain.push(block)
        outputs.append(chain.process())
    return chain, join_outputs([output for output in outputs if output is not None])


@pytest.mark.parametrize("edit", [leave, push, freeze, flip, interrupt])
@pytest.mark.parametrize("has_other_load", [False, True])
def test_followed_rows_are_taken_as_they_would_be_one_by_one(
    edit: Callable[[JointBlock, WrenchBlock, float], Blocks], has_other_load: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    followed: list[int] = []
    follow = WristLoadTask._follow

    def note(task: WristLoadTask, segment: Segment, position: int) -> int:
        followed.append(position)
        return follow(task, segment, position)

    monkeypatch.setattr(WristLoadTask, "_follow", note)
    chain, output = run(edit, has_other_load)
    assert len(followed) > 10
    monkeypatch.setattr(WristLoadTask, "_is_followed", False)
    plain_chain, plain = run(edit, has_other_load)
    assert output.events == plain.events
    np.testing.assert_array_equal(output.predicted, plain.predicted)
    estimate, expected = load_of(chain), load_of(plain_chain)
    np.testing.assert_array_equal(estimate.values, expected.values)
    np.testing.assert_array_equal(estimate.covariance, expected.covariance)
    assert (estimate.rows, estimate.states, estimate.findings) == (expected.rows, expected.states, expected.findings)
    assert estimate.fit is not None
    assert expected.fit is not None
    np.testing.assert_array_equal(estimate.fit.residual_rms, expected.fit.residual_rms)
    assert estimate.sensor is not None
    assert expected.sensor is not None
    assert estimate.sensor.contact_share == expected.sensor.contact_share
