"""A message as it arrives gives to the last bit what it gives when it is pushed, processed and answered."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from support.chain_cases import NAMES, assert_same, make_case

from inertid_ros.core.chain import Chain
from inertid_ros.core.input.arrivals import CAPACITY, make_message
from inertid_ros.core.records import JointBlock, Output, SampleBlock, Taken, WrenchBlock
from inertid_ros.core.rows.arrival import Answered

TROUBLES = ["none", "gap", "outlier", "duplicate", "reset", "not_finite", "burst", "second_publisher", "no_velocities"]


def in_one_memory(joints: JointBlock, wrenches: WrenchBlock, order: list[tuple[int, int]]) -> Iterator[SampleBlock]:
    """Samples one by one, those of a kind as one block in the same memory, as decoders give them."""
    state, wrench = joints.take(slice(0, 1)), wrenches.take(slice(0, 1))
    state = JointBlock(state.names, *(None if part is None else part.copy() for part in state[1:]))  # type: ignore[arg-type]
    wrench = WrenchBlock(wrench.frame, wrench.stamps.copy(), wrench.wrenches.copy())
    for kind, index in order:
        block, source = (state, joints) if kind == 0 else (wrench, wrenches)
        for part, values in zip(block[1:], source[1:], strict=True):
            if part is not None and values is not None:
                part[0] = values[index]
        yield block


def disturb(trouble: str, joints: JointBlock, wrenches: WrenchBlock) -> tuple[JointBlock, WrenchBlock]:
    """The same samples with something wrong with them."""
    joints = joints._replace(stamps=joints.stamps.copy(), positions=joints.positions.copy())
    wrenches = wrenches._replace(stamps=wrenches.stamps.copy(), wrenches=wrenches.wrenches.copy())
    if trouble == "gap":
        rest = [None if part is None else np.delete(part, slice(400, 480), axis=0) for part in joints[1:]]
        joints = JointBlock(joints.names, *rest)  # type: ignore[arg-type]
    elif trouble == "outlier":
        joints.positions[300] += 3.0
        wrenches.wrenches[[350, 500]] += 1e4
        wrenches.wrenches[600:] += 30.0
    elif trouble == "duplicate":
        joints.stamps[300], wrenches.stamps[350] = joints.stamps[299], wrenches.stamps[349]
        wrenches.stamps[400] = 0
    elif trouble == "reset":
        joints.stamps[500:] -= 2 * 10**9
        wrenches.stamps[500:] -= 2 * 10**9
    elif trouble == "not_finite":
        joints.positions[300, 0] = np.nan
        wrenches.wrenches[350] = np.nan
    elif trouble == "no_velocities":
        joints = joints._replace(velocities=None)
    return joints, wrenches


def list_order(trouble: str, joints: JointBlock, wrenches: WrenchBlock) -> list[tuple[int, int]]:
    """Kind and number of the samples as they arrive: by their stamps, with joint states held up for a while."""
    count = min(len(joints.stamps), len(wrenches.stamps))
    order = sorted(
        ((index, kind) for kind in (0, 1) for index in range(count)),
        key=lambda item: item[0] + (0.4 if item[1] else 0.0),
    )
    if trouble == "burst":
        late = [item for item in order if item[1] == 0 and 300 <= item[0] < 300 + 3 * CAPACITY]
        rest = [item for item in order if item not in late]
        place = rest.index((300 + 3 * CAPACITY, 1))
        order = rest[:place] + late + rest[place:]
    return [(kind, index) for index, kind in order]


def take_apart(chain: Chain, block: SampleBlock) -> tuple[list[Output], int]:
    """What `Chain.take` stands for: what is processed, and what waits of this message, with nothing left out."""
    chain.push(block)
    processed, waiting = chain.process(), None
    if processed is None or processed.stamps.item(-1) != block.stamps.item(-1):
        waiting = chain.answer(block.stamps.item(0) - 1)
    return [processed, waiting], 0 if processed is None else len(processed.stamps)  # type: ignore[list-item]


def answered_by(name: str) -> type[SampleBlock]:
    return JointBlock if name in ("effort", "energy", "payload") else WrenchBlock


CASES = [(name, trouble) for name in ("load", "effort", "payload") for trouble in TROUBLES]
CASES += [(name, "gap") for name in NAMES if name in ("base_wrench", "both", "energy")]


@pytest.mark.parametrize(("name", "trouble"), CASES)
def test_a_message_as_it_arrives(name: str, trouble: str) -> None:
    make, joints, wrenches = make_case(name)
    joints, wrenches = disturb(trouble, joints, wrenches)
    order = list_order(trouble, joints, wrenches)
    whole, apart, answered = make(), make(), Answered()
    other = JointBlock(("gripper_joint", *joints.names[:2]), joints.stamps[:1].copy(), np.zeros((1, 3)), None, None)
    answers = used = 0
    for number, block in enumerate(in_one_memory(joints, wrenches, order)):
        blocks: list[SampleBlock] = [block]
        if trouble == "second_publisher" and number % 40 == 39:
            other.stamps[0] = block.stamps[0] - 1
            blocks.append(other)
        for one in blocks:
            taken = whole.take(one)
            (processed, waiting), count = take_apart(apart, one)
            expected = [None if processed is None else answered.select_processed(processed)]
            if isinstance(one, answered_by(name)) and waiting is not None:
                expected.append(answered.select_waiting(waiting))
            compare(taken, [output for output in expected if output is not None], count)
            answers, used = answers + sum(len(output.stamps) for output in taken.answers), used + count
    assert used > 300
    assert answers > 300
    assert_same(whole.estimate(), apart.estimate())
    assert whole.health == apart.health


def compare(taken: Taken, expected: list[Output], used: int) -> None:
    assert taken.used == used
    assert len(taken.answers) == len(expected) or sum(len(one.stamps) for one in taken.answers) == sum(
        len(one.stamps) for one in expected
    )
    if expected:
        for field in ("stamps", "measured", "predicted", "usable"):
            found, wanted = (
                np.concatenate([getattr(output, field) for output in outputs]) for outputs in (taken.answers, expected)
            )
            np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("name", ["load", "effort", "payload"])
def test_the_ordinary_message_takes_one_call(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else all of this would be tested of nothing: samples without a row never come to `push` or `process`."""
    make, joints, wrenches = make_case(name)
    chain, calls = make(), {"push": 0, "process": 0}
    for method in calls:
        original = getattr(Chain, method)

        def count(self: Chain, *arguments: object, method: str = method, original: object = original) -> object:
            calls[method] += 1
            return original(self, *arguments)  # type: ignore[operator]

        monkeypatch.setattr(Chain, method, count)
    order = list_order("none", joints, wrenches)
    for block in in_one_memory(joints, wrenches, order):
        if name == "load" or isinstance(block, JointBlock):
            chain.take(block)
    assert calls["push"] < 10
    assert calls["process"] < 30


@pytest.mark.parametrize("name", ["load", "effort"])
def test_a_prediction_that_is_not_finite_is_an_error(name: str) -> None:
    make, joints, wrenches = make_case(name)
    chain = make()
    blocks = in_one_memory(joints, wrenches, list_order("none", joints, wrenches)[:200])
    for block in blocks:
        if block.stamps[0] > joints.stamps[50]:
            break
        chain.take(block)
    estimate = chain.estimate()
    assert estimate is not None
    chain.freeze(np.full(16 if name == "load" else len(chain.model.prior), np.nan))  # type: ignore[union-attr]
    with pytest.raises(FloatingPointError, match="not finite"):
        list(map(chain.take, blocks))


def test_only_plain_memory_goes_to_the_kernel() -> None:
    stamps, wrenches = np.ones(1, dtype=np.int64), np.ones((1, 6))
    assert make_message(stamps, readings=wrenches) is not None
    assert make_message(np.ones(2, dtype=np.int64), readings=np.ones((2, 6))) is None
    assert make_message(stamps, readings=np.ones((1, 12))[:, ::2]) is None
    assert make_message(stamps, readings=wrenches.astype(np.float32)) is None
