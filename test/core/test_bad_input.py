"""Bad samples at the chain's door, for a load and for links: counted, named, survived, and soon forgotten."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from support.chain import BAR, PUMA, drive, load_of, make_chain, process, puma_motion, simulate_puma
from support.link_chain import (
    assert_found,
    estimate_of,
    fit_of,
    make_link_chain,
    make_motion,
    pick,
    simulate_links,
    true_values,
)

from inertid_ros.core.chain import Chain
from inertid_ros.core.records import FloatArray, JointBlock, Output, WrenchBlock
from inertid_ros.core.robot.robot import Robot
from inertid_ros.sim.simulator import Simulator

Blocks = tuple[JointBlock, WrenchBlock]
Spoil = Callable[[JointBlock, WrenchBlock], Blocks]
SECOND = 1_000_000_000


@dataclass(frozen=True)
class Rig:
    """A chain, and the arm that drives it: a load on a wrist sensor, or links by efforts, a base wrench or both."""

    name: str

    @property
    def is_load(self) -> bool:
        return self.name == "load"

    @property
    def wrench_source(self) -> str:
        return "wrench" if self.is_load else "base_wrench"

    def make_chain(self, simulator: Simulator | None = None) -> Chain:
        if self.is_load:
            return make_chain()
        joints = [] if simulator is None else list(simulator.joint_names)
        return make_link_chain(source=self.name, joints=joints)

    def simulate(self, seed: int, rounds: int = 3) -> Simulator:
        return simulate_puma(puma_motion(rounds=rounds), seed) if self.is_load else simulate_links(make_motion(), seed)

    def wrenches(self, simulator: Simulator, start: float, end: float) -> WrenchBlock:
        return simulator.wrenches(start, end) if self.is_load else simulator.base_wrenches(start, end)

    def drive(self, chain: Chain, simulator: Simulator, start: float, end: float, chunk: float = 0.5) -> Output:
        return drive(chain, simulator, start, end, chunk)

    def assert_good(self, chain: Chain) -> None:
        """What was to be found is found, within its uncertainty."""
        if self.is_load:
            assert load_of(chain).mode == "tracking"
            assert np.all(np.abs(load_of(chain).values - BAR) < 4.0 * load_of(chain).deviations)
        else:
            assert_found(estimate_of(chain))


LOAD, EFFORT, BASE, BOTH = (Rig(name) for name in ("load", "effort", "base_wrench", "both"))
RIGS = pytest.mark.parametrize("rig", [LOAD, EFFORT, BOTH], ids=lambda rig: rig.name)
WRENCH_RIGS = pytest.mark.parametrize("rig", [LOAD, BASE, BOTH], ids=lambda rig: rig.name)


def _nan_position(joints: JointBlock, wrenches: WrenchBlock) -> Blocks:
    values = joints.positions.copy()
    values[10:20, 2] = np.nan
    values[40, 0] = -np.inf
    return joints._replace(positions=values), wrenches


def _short_positions(joints: JointBlock, wrenches: WrenchBlock) -> Blocks:
    return joints._replace(positions=joints.positions[:, :2]), wrenches


def _empty(joints: JointBlock, wrenches: WrenchBlock) -> Blocks:
    return joints.take(slice(0, 0)), wrenches.take(slice(0, 0))


def _no_names(joints: JointBlock, wrenches: WrenchBlock) -> Blocks:
    none = np.empty((len(joints.stamps), 0))
    return JointBlock((), joints.stamps, none, None, none), wrenches


def _other_names(joints: JointBlock, wrenches: WrenchBlock) -> Blocks:
    return joints._replace(names=tuple(f"wheel{index}" for index in range(len(joints.names)))), wrenches


def _no_joints(joints: JointBlock, wrenches: WrenchBlock) -> Blocks:
    return joints.take(slice(0, 0)), wrenches


def _zero_stamps(joints: JointBlock, wrenches: WrenchBlock) -> Blocks:
    return joints._replace(stamps=0 * joints.stamps), wrenches._replace(stamps=0 * wrenches.stamps)


def _future_stamp(joints: JointBlock, wrenches: WrenchBlock) -> Blocks:
    stamps, other = wrenches.stamps.copy(), joints.stamps.copy()
    stamps[15] += 3600 * SECOND
    other[25] += 3600 * SECOND
    return joints._replace(stamps=other), wrenches._replace(stamps=stamps)


def _frozen_joint_stamps(joints: JointBlock, wrenches: WrenchBlock) -> Blocks:
    return joints._replace(stamps=np.full_like(joints.stamps, joints.stamps[0])), wrenches


def _backward_joint_stamps(joints: JointBlock, wrenches: WrenchBlock) -> Blocks:
    order = np.arange(len(joints.stamps))
    order[20], order[21] = 21, 20
    names, stamps, positions, velocities, efforts = joints
    velocities = None if velocities is None else velocities[order]
    efforts = None if efforts is None else efforts[order]
    return JointBlock(names, stamps[order], positions[order], velocities, efforts), wrenches


def _nan_wrench(joints: JointBlock, wrenches: WrenchBlock) -> Blocks:
    values = wrenches.wrenches.copy()
    values[10:20, 3] = np.nan
    values[30] = np.inf
    return joints, wrenches._replace(wrenches=values)


def _frozen_stamps(joints: JointBlock, wrenches: WrenchBlock) -> Blocks:
    return joints, wrenches._replace(stamps=np.full_like(wrenches.stamps, wrenches.stamps[0]))


def _backward_stamps(joints: JointBlock, wrenches: WrenchBlock) -> Blocks:
    order = np.arange(len(wrenches.stamps))
    order[20], order[21] = 21, 20
    return joints, wrenches._replace(stamps=wrenches.stamps[order], wrenches=wrenches.wrenches[order])


@RIGS
@pytest.mark.parametrize(
    ("spoil", "code"),
    [
        (_nan_position, "not_finite"),
        (_short_positions, "wrong_length"),
        (_empty, None),
        (_no_names, None),
        (_other_names, None),
        (_no_joints, None),
        (_zero_stamps, "zero_stamp"),
        (_frozen_joint_stamps, "duplicate_stamp"),
        (_backward_joint_stamps, "backward_stamp"),
        (_future_stamp, "jumping_stamp"),
    ],
)
def test_second_of_spoiled_joint_states_is_named_and_survived(spoil: Spoil, code: str | None, rig: Rig) -> None:
    _survive(rig, spoil, None if code is None else ("joint_states", code))


@WRENCH_RIGS
@pytest.mark.parametrize(
    ("spoil", "code"),
    [
        (_nan_wrench, "not_finite"),
        (_zero_stamps, "zero_stamp"),
        (_frozen_stamps, "duplicate_stamp"),
        (_backward_stamps, "backward_stamp"),
        (_future_stamp, "jumping_stamp"),
    ],
)
def test_second_of_spoiled_wrenches_is_named_and_survived(spoil: Spoil, code: str, rig: Rig) -> None:
    _survive(rig, spoil, (rig.wrench_source, code))


def test_second_of_wrenches_in_another_frame_is_named_and_survived() -> None:
    _survive(
        LOAD, lambda joints, wrenches: (joints, wrenches._replace(frame="base_link")), ("wrench", "frame_mismatch")
    )
    _survive(
        BASE,
        lambda joints, wrenches: (joints, wrenches._replace(frame="link2")),
        ("base_wrench", "base_frame_mismatch"),
    )


def _survive(rig: Rig, spoil: Spoil, expected: tuple[str, str] | None) -> None:
    simulator, chain = rig.simulate(8 if rig.is_load else 3), rig.make_chain()
    start, end = (6.0, 9.0) if rig.is_load else (4.0, 12.0)
    rig.drive(chain, simulator, 0.0, start)
    spoiled = spoil(simulator.joints(start, start + 1.0), rig.wrenches(simulator, start, start + 1.0))
    for block in spoiled:
        chain.push(block)
    output = chain.process()
    if output is not None:
        _assert_finite(chain, output)
    if expected is not None:
        (item,) = [one for one in chain.health if (one.source, one.code) == expected]
        assert item.count > 0
        assert item.message
        assert item.remedy
    output = rig.drive(chain, simulator, start + 1.0, end)
    _assert_finite(chain, output)
    if rig.is_load:
        assert np.sqrt(np.mean(output.residual[-100:] ** 2)) < 0.6
    rig.assert_good(chain)


def _assert_finite(chain: Chain, output: Output) -> None:
    for part in (output.measured, output.predicted, output.rows.measured, output.rows.predicted):
        assert np.all(np.isfinite(part))
    estimate = chain.estimate()
    assert estimate is not None
    assert estimate.is_finite


@RIGS
@pytest.mark.parametrize("gap", [0.2, 1.0, 5.0])
def test_gap_costs_nothing_but_the_gap(rig: Rig, gap: float) -> None:
    simulator, chain = rig.simulate(15 if rig.is_load else 9), rig.make_chain()
    rig.drive(chain, simulator, 0.0, 5.0)
    rig.drive(chain, simulator, 5.0 + gap, 5.0 + gap + (3.0 if rig.is_load else 8.0))
    assert "gap" in {item.code for item in chain.health}
    rig.assert_good(chain)


def test_bag_loop_restarts_time_and_keeps_the_load() -> None:
    simulator, chain = simulate_puma(puma_motion(), 14), make_chain()
    for _ in range(3):
        drive(chain, simulator, 0.0, puma_motion().duration, chunk=0.1)
    assert "time_reset" in {item.code for item in chain.health}
    LOAD.assert_good(chain)


@pytest.mark.parametrize("source", ["effort", "base_wrench", "both"])
def test_bag_loop_restarts_time_and_keeps_the_links(source: str) -> None:
    """The same stamps three times over, with other noise each time: the same noise would count as new knowledge."""
    chain = make_link_chain(source=source)
    rows = []
    for seed in (8, 9, 10):
        drive(chain, simulate_links(make_motion(), seed), 2.0, 7.0, chunk=0.1)
        rows.append(fit_of(chain).rows.copy())
    assert "time_reset" in {item.code for item in chain.health}
    np.testing.assert_allclose(rows[2] - rows[1], rows[0], rtol=0.1)
    errors = estimate_of(chain).values - true_values(estimate_of(chain))
    assert np.all(np.abs(errors) < 4.0 * estimate_of(chain).deviations)


@RIGS
def test_joint_order_may_change_at_any_message(rig: Rig) -> None:
    simulator = rig.simulate(9, rounds=1)
    straight, turned = rig.make_chain(simulator), rig.make_chain(simulator)
    order = [3, 1, 5, 0, 2, 4] if rig.is_load else [2, 0, 1]
    for index, start in enumerate(np.arange(0.0, 6.0, 0.25).tolist()):
        block = simulator.joints(start, start + 0.25)
        straight.push(block)
        turned.push(_reorder(block, order) if index % 2 else block)
        for chain in (straight, turned):
            chain.push(rig.wrenches(simulator, start, start + 0.25))
            chain.process()
    estimates = straight.estimate(), turned.estimate()
    assert estimates[0] is not None
    assert estimates[1] is not None
    np.testing.assert_allclose(estimates[1].values, estimates[0].values, atol=1e-9)
    assert turned.health == straight.health == ()


def _reorder(block: JointBlock, joints: list[int]) -> JointBlock:
    if block.velocities is not None and block.efforts is not None:
        return pick(block, joints)
    positions = np.ascontiguousarray(block.positions[:, joints])  # of another layout kernels would be compiled anew
    return block._replace(names=tuple(block.names[k] for k in joints), positions=positions)


def test_partial_joint_states_with_stamps_of_their_own_are_merged() -> None:
    motion = puma_motion()
    simulator, chain = simulate_puma(motion, 10), make_chain()
    for start in np.arange(0.0, motion.duration, 0.25).tolist():
        joints = simulator.joints(start, start + 0.25)
        late = joints._replace(stamps=joints.stamps + 1_300_000)
        exact = simulator._motion.at((late.stamps - simulator._start) * 1e-9).positions
        chain.push(joints._replace(names=joints.names[:3], positions=joints.positions[:, :3]))
        chain.push(
            late._replace(names=(*joints.names[3:], "gripper"), positions=np.column_stack((exact[:, 3:], exact[:, 0])))
        )
        chain.push(simulator.wrenches(start, start + 0.25))
        chain.process()
    LOAD.assert_good(chain)


def test_missing_joints_are_named() -> None:
    simulator, chain = simulate_puma(puma_motion(), 11), make_chain()
    joints = simulator.joints(0.0, 2.0)
    chain.push(joints._replace(names=joints.names[:5], positions=joints.positions[:, :5]))
    chain.push(simulator.wrenches(0.0, 2.0))
    assert chain.process() is None
    (item,) = [one for one in chain.health if one.code == "missing_joints"]
    assert item.detail == Robot.from_urdf(PUMA).joint_names[5]


def test_wrenches_without_joint_states_are_counted_and_given_up() -> None:
    simulator, chain = simulate_puma(puma_motion(), 12), make_chain()
    chain.push(simulator.joints(0.0, 0.5))
    chain.push(simulator.wrenches(0.0, 5.0))
    chain.process()
    (item,) = [one for one in chain.health if one.code == "no_joint_state"]
    assert item.level == "error"
    assert "before the wrench" in item.detail


@WRENCH_RIGS
def test_wrenches_without_any_joint_state_are_given_up_too(rig: Rig) -> None:
    """A minute of them: what waits is that of two seconds."""
    simulator = rig.simulate(12)
    chain = rig.make_chain(simulator)
    for start in range(60):
        chain.push(rig.wrenches(simulator, start, start + 1.0))
        assert chain.process() is None
    (item,) = chain.health
    assert (item.source, item.code, item.detail) == (rig.wrench_source, "no_joint_state", "no joint states at all")
    assert item.count > 0.95 * 58 * 200


def test_angle_that_jumps_by_a_turn_changes_nothing() -> None:
    motion = puma_motion()
    simulator = simulate_puma(motion, 13)
    joints, wrenches = simulator.joints(0.0, motion.duration), simulator.wrenches(0.0, motion.duration)
    positions = joints.positions.copy()
    positions[500:, 3] += 2.0 * np.pi
    positions[700:, 5] -= 4.0 * np.pi
    found: list[FloatArray] = []
    for block in (joints, joints._replace(positions=positions)):
        chain = make_chain()
        chain.push(block)
        chain.push(wrenches)
        chain.process()
        found.append(load_of(chain).values)
    np.testing.assert_allclose(found[1], found[0], atol=1e-9)


@pytest.mark.parametrize("scale", [0.0, 57.3])
def test_velocities_that_are_none_are_noticed_and_replaced(scale: float) -> None:
    """All zero, or degrees: both are called out, and positions are differentiated instead."""
    motion = puma_motion(rounds=3)
    simulator, chain = simulate_puma(motion, 16, velocity_noise=0.0), make_chain()

    def feed(begin: float, end: float, shift: int) -> None:
        for start in np.arange(begin, end, 0.5).tolist():
            joints, wrenches = simulator.joints(start, start + 0.5), simulator.wrenches(start, start + 0.5)
            assert joints.velocities is not None
            chain.push(joints._replace(stamps=joints.stamps + shift, velocities=scale * joints.velocities))
            chain.push(wrenches._replace(stamps=wrenches.stamps + shift))
            chain.process()

    feed(0.0, motion.duration, 0)
    assert "velocity_unusable" in {item.code for item in chain.health}
    chain.reset()
    feed(2.0, 10.0, 100 * SECOND)
    assert np.all(np.abs(load_of(chain).values - BAR) < 4.0 * load_of(chain).deviations)


def test_zero_stamps_at_the_very_start_spoil_nothing() -> None:
    motion = puma_motion()
    simulator, chain = simulate_puma(motion, 20), make_chain()
    joints = simulator.joints(0.0, 0.1)
    chain.push(joints._replace(stamps=0 * joints.stamps))
    drive(chain, simulator, 0.1, motion.duration)
    LOAD.assert_good(chain)
    assert [(item.code, item.count) for item in chain.health] == [("zero_stamp", len(joints.stamps))]


def test_normal_start_is_no_trouble() -> None:
    simulator, chain = simulate_puma(puma_motion(), 19), make_chain()
    chain.push(simulator.wrenches(0.0, 0.2))
    chain.process()
    drive(chain, simulator, 0.2, 2.0)
    assert chain.health == ()


def test_unknown_frame_id_is_taken_with_a_warning() -> None:
    simulator, chain = simulate_puma(puma_motion(), 17), make_chain()
    chain.push(simulator.joints(0.0, 1.0))
    chain.push(simulator.wrenches(0.0, 1.0)._replace(frame="tool0_controller"))
    assert len(process(chain).stamps) > 150
    assert [(item.code, item.level) for item in chain.health] == [("frame_unknown", "warning")]
