"""What all chains have in common: queries change nothing, and what a chain does not use is ignored."""

from __future__ import annotations

import itertools
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from support.chain_cases import NAMES, assert_same, make_case

from inertid_ros.core.errors import SettingError
from inertid_ros.core.records import Output, join_outputs


@pytest.mark.parametrize("name", NAMES)
def test_queries_change_nothing(name: str) -> None:
    """A chain that is asked all the time gives what one gives that is never asked until the end."""
    make, joints, wrenches = make_case(name)
    asked, unasked = make(), make()
    for start in range(0, 800, 25):
        part = slice(start, start + 25)
        outputs: list[Output | None] = []
        for chain in (asked, unasked):
            chain.push(joints.take(part))
            chain.push(wrenches.take(part))
            outputs.append(chain.process())
        assert_same(outputs[0], outputs[1])
        first = asked.estimate()
        asked.answer()
        assert_same(first, asked.estimate())
        assert isinstance(asked.health, tuple)
        assert len(asked.channels) in (3, 6, 9)
    assert_same(asked.estimate(), unasked.estimate())
    assert asked.health == unasked.health


@pytest.mark.parametrize("name", NAMES)
def test_results_do_not_depend_on_blocks(name: str) -> None:
    """To the last bit; numpy adds up the work of the energy method in another order."""
    make, joints, wrenches = make_case(name)
    found = []
    for size in (1, 7, 1000):
        chain = make()
        for start in range(0, 800, size):
            chain.push(joints.take(slice(start, start + size)))
            chain.push(wrenches.take(slice(start, start + size)))
            chain.process()
        found.append(chain.estimate())
    assert found[0] is not None
    assert found[0].rows > 100
    tolerance = 1e-9 if name == "energy" else 0.0
    assert_same(found[0], found[1], tolerance)
    assert_same(found[0], found[2], tolerance)


@pytest.mark.parametrize("name", NAMES)
def test_prepared_estimate_is_that_of_its_time(name: str) -> None:
    """In any thread, while the chain goes on."""
    make, joints, wrenches = make_case(name)
    chain = make()
    waiting, expected = [], []
    for start in range(0, 800, 80):
        chain.push(joints.take(slice(start, start + 80)))
        chain.push(wrenches.take(slice(start, start + 80)))
        chain.process()
        prepared = chain.prepare_estimate()
        assert prepared is not None
        waiting.append(prepared)
        expected.append(chain.estimate())
    chain.reset()
    with ThreadPoolExecutor(2) as threads:
        found = list(threads.map(lambda prepared: prepared(), waiting))
    for one, other in zip(found, expected, strict=True):
        assert_same(one, other)


@pytest.mark.parametrize("name", ["load", "base_wrench"])
def test_only_what_comes_after_a_stamp_is_answered(name: str) -> None:
    make, joints, wrenches = make_case(name)
    chain = make()
    chain.push(joints.take(slice(0, 400)))
    chain.push(wrenches.take(slice(0, 404)))
    chain.process()
    answer = chain.answer()
    assert answer is not None
    assert answer.stamps[-1] == wrenches.stamps[403]
    later = chain.answer(int(answer.stamps[1]))
    assert later is not None
    np.testing.assert_array_equal(later.stamps, answer.stamps[2:])
    np.testing.assert_array_equal(later.predicted, answer.predicted[2:])
    assert chain.answer(int(wrenches.stamps[403])) is None


@pytest.mark.parametrize("name", ["effort", "energy", "payload"])
def test_wrenches_that_a_chain_does_not_use_are_ignored(name: str) -> None:
    make, joints, wrenches = make_case(name)
    plain, pushed = make(), make()
    for chain in (plain, pushed):
        chain.push(joints)
    pushed.push(wrenches)
    pushed.push(wrenches._replace(frame="nowhere", wrenches=np.nan * wrenches.wrenches))
    assert_same(plain.process(), pushed.process())
    assert_same(plain.estimate(), pushed.estimate())
    assert pushed.health == ()


@pytest.mark.parametrize("name", NAMES[1:])
def test_tool_belongs_to_a_wrist_sensor(name: str) -> None:
    chain = make_case(name)[0]()
    assert chain.tool is None
    with pytest.raises(SettingError, match="wrist sensor"):
        chain.capture_tool()


@pytest.mark.parametrize("name", NAMES)
def test_chain_that_was_reset_starts_from_nothing(name: str) -> None:
    """All but the noise at standstill, which stays calibrated."""
    make, joints, wrenches = make_case(name)
    chain, fresh = make(), make()
    chain.push(joints)
    chain.push(wrenches)
    chain.process()
    chain.reset()
    before, untouched = chain.estimate(), fresh.estimate()
    assert before is not None
    assert untouched is not None
    assert before.mode == "waiting"
    assert before.rows == 0
    assert before.findings == ()
    np.testing.assert_allclose(before.values, untouched.values, atol=1e-12)
    np.testing.assert_allclose(before.covariance, untouched.covariance, rtol=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_frozen_chain_predicts_and_learns_nothing(name: str) -> None:
    make, joints, wrenches = make_case(name)
    chain = make()
    model = chain.model
    size = 16 if name == "load" else 0 if model is None else model.base.rank + 10 * (name == "payload")
    values = np.random.default_rng(0).normal(size=size)
    chain.freeze(values)
    for block in (joints, wrenches):
        chain.push(block)
    output = chain.process()
    assert output is not None
    assert np.abs(output.predicted).max() > 0.1
    estimate = chain.estimate()
    assert estimate is not None
    assert estimate.mode == "paused"
    assert estimate.rows == 0


@pytest.mark.parametrize("name", ["load", "effort", "base_wrench"])
def test_a_gap_within_a_block_is_one_between_blocks(name: str) -> None:
    """Half a second is missing: filters begin anew with the first sample after it, whichever block that is in."""
    make, joints, wrenches = make_case(name)
    outputs, estimates = [], []
    for edges in ([0, 800], [0, 500, 800]):
        chain = make()
        parts = []
        for a, b in itertools.pairwise(edges):
            rows: Any = np.setdiff1d(np.arange(a, b), np.arange(400, 500))
            for block in (joints, wrenches):
                chain.push(block.take(rows))
            parts.append(chain.process())
        outputs.append(join_outputs([part for part in parts if part is not None]))
        estimates.append(chain.estimate())
    assert_same(outputs[0].stamps, outputs[1].stamps)
    np.testing.assert_allclose(outputs[0].predicted, outputs[1].predicted, atol=1e-9)
    assert_same(estimates[0], estimates[1], 1e-9)
