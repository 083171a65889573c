"""A single sample of any size costs that sample: the chain goes on as if it had never come."""

from __future__ import annotations

import numpy as np
import pytest
from support.chain import BAR, load_of, make_chain, puma_motion, simulate_puma

from inertid_ros.core.chain import Chain
from inertid_ros.core.diagnosis import Health
from inertid_ros.core.input.joint_stream import JointStream
from inertid_ros.core.records import FloatArray, JointBlock, WrenchBlock

SECOND = 1_000_000_000
SIZES = [30.0, 1e3, 1e6, 1e80, 1.7e308]
START, END = 0.8, 4.0
SIMULATOR = simulate_puma(puma_motion(rest=1.0), 4, velocity_noise=2e-3)
JOINTS, WRENCHES = SIMULATOR.joints(START, END), SIMULATOR.wrenches(START, END)


def _leave_out(joints: JointBlock, row: int) -> JointBlock:
    """The same without one sample."""
    parts = (None if part is None else np.delete(part, row, axis=0) for part in joints[1:])
    return JointBlock(joints.names, *parts)  # type: ignore[arg-type]


def _put(joints: JointBlock, what: str, values: FloatArray) -> JointBlock:
    return joints._replace(positions=values) if what == "positions" else joints._replace(velocities=values)


def _run(joints: JointBlock, wrenches: WrenchBlock) -> Chain:
    chain = make_chain()
    for block in (joints, wrenches):
        chain.push(block)
    chain.process()
    return chain


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("what", ["positions", "velocities", "wrenches"])
@pytest.mark.parametrize("row", [60, 400])
def test_outlier_costs_that_sample_and_nothing_else(what: str, size: float, row: int) -> None:
    joints, wrenches = JOINTS, WRENCHES
    if what == "wrenches":
        values = wrenches.wrenches.copy()
        values[row, 1] += size
        spoiled = _run(joints, wrenches._replace(wrenches=values))
        kept = np.arange(len(wrenches.stamps)) != row
        missing = _run(joints, WrenchBlock(wrenches.frame, wrenches.stamps[kept], wrenches.wrenches[kept]))
    else:
        values = getattr(joints, what).copy()
        values[row, 2] += size
        spoiled = _run(_put(joints, what, values), wrenches)
        missing = _run(_leave_out(joints, row), wrenches)
    assert {item.code for item in spoiled.health} <= {"outlier", "implausible"}
    assert sum(item.count for item in spoiled.health) == 1
    np.testing.assert_allclose(load_of(spoiled).values, load_of(missing).values, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("what", ["positions", "velocities", "wrenches"])
def test_first_sample_may_be_an_outlier(what: str) -> None:
    joints, wrenches = JOINTS, WRENCHES
    values = (wrenches.wrenches if what == "wrenches" else getattr(joints, what)).copy()
    values[0] += 500.0
    if what == "wrenches":
        chain = _run(joints, wrenches._replace(wrenches=values))
    else:
        chain = _run(_put(joints, what, values), wrenches)
    estimate = load_of(chain)
    assert abs(estimate.values[0] - BAR[0]) < 3.0 * estimate.deviations[0]
    assert estimate.deviations[0] < 0.05


def test_joints_that_are_set_elsewhere_begin_anew() -> None:
    """A simulation that puts its arm into another pose: from the third sample there it is believed."""
    health = Health()
    stream = JointStream((0,), (False,), np.full((2, 1), np.inf), 1, 0, health)
    stamps = SECOND + 5_000_000 * np.arange(200)
    positions = np.where(np.arange(200) < 100, 0.0, 2.0)[:, None]
    stream.push_states(np.arange(1), stamps, positions, np.zeros((200, 1)))
    np.testing.assert_array_equal(stream.stamps, stamps[102:])
    np.testing.assert_array_equal(stream.states[stream.integers[0] : stream.integers[1], 0], 2.0)
    assert [(item.code, item.count) for item in health.items()] == [("outlier", 2)]


def test_velocities_that_are_right_again_are_used_again() -> None:
    health = Health()
    stream = JointStream((0,), (True,), np.full((2, 1), np.inf), 1, 0, health)
    stamps = SECOND + 4_000_000 * np.arange(3000)
    times = stamps * 1e-9
    factor = np.where((np.arange(3000) > 500) & (np.arange(3000) < 1000), 0.0, 1.0)
    velocities = (factor * 3.0 * np.cos(3.0 * times))[:, None]
    stream.push_states(np.arange(1), stamps, np.sin(3.0 * times)[:, None], velocities)
    (item,) = [item for item in health.items() if item.code == "velocity_unusable"]
    assert stamps[500] < item.first_stamp < stamps[900]
    assert stamps[1000] < item.last_stamp < stamps[2500], "said for as long as they are not used, and no longer"
    late = slice(-100, None)
    np.testing.assert_allclose(stream.states[: len(stream.stamps)][late, 1], velocities[late, 0], atol=2e-3)


def test_samples_far_beyond_the_limits_of_the_urdf_are_left_out_and_degrees_are_not() -> None:
    """The PUMA's limits: 160 degrees and 2 rad/s; the unit is judged by what is measured."""
    for what, size, count in (("positions", 500.0, 100), ("positions", 160.0, 0), ("velocities", 900.0, 100)):
        chain = make_chain()
        values = getattr(JOINTS, what).copy()
        values[100:200, 0] = size
        chain.push(_put(JOINTS, what, values))
        assert sum(item.count for item in chain.health if item.code == "implausible") == count, (what, size)


@pytest.mark.parametrize("pause", [0.5, 20.0, -100.0])
def test_gap_or_clock_jump_does_not_condemn_velocities(pause: float) -> None:
    health = Health()
    stream = JointStream((0,), (True,), np.full((2, 1), np.inf), 1, 0, health)
    times = 200.0 + 0.004 * np.arange(2000)
    positions, velocities = np.sin(2.0 * times)[:, None], 2.0 * np.cos(2.0 * times)[:, None]
    stamps = np.round(times * 1e9).astype(np.int64)
    stamps[1030:] += round(pause * SECOND)
    stream.push_states(np.arange(1), stamps, positions, velocities)
    assert "velocity_unusable" not in {item.code for item in health.items()}


@pytest.mark.parametrize("block", [1, 1000])
def test_first_reading_of_a_step_is_predicted_too(block: int) -> None:
    """A contact: its first reading stands out as an outlier does, until the next one agrees with it."""
    values = WRENCHES.wrenches.copy()
    values[300:, 1] += 40.0
    wrenches = WRENCHES._replace(wrenches=values)
    chain = make_chain()
    predicted: list[int] = []
    chain.push(JOINTS)
    for start in range(0, len(values), block):
        chain.push(wrenches.take(slice(start, start + block)))
        output = chain.process()
        predicted += [] if output is None else output.stamps.tolist()
    between_joint_states = WRENCHES.stamps[1:-1].tolist()
    assert [stamp for stamp in predicted if stamp in between_joint_states] == between_joint_states
    assert not chain.health
