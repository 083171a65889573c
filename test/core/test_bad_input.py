"""Bad samples at the chain's door: counted, named, survived, and forgotten within two seconds."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from support.chain import BAR, PUMA, drive, make_chain, puma_motion, simulate_puma

from inertid_ros.core.chain import Chain
from inertid_ros.core.records import FloatArray, JointBlock, WrenchBlock
from inertid_ros.core.robot.robot import Robot

Spoil = Callable[[JointBlock, WrenchBlock], tuple[list[JointBlock], list[WrenchBlock]]]
SECOND = 1_000_000_000


def _nan_wrench(joints: JointBlock, wrenches: WrenchBlock) -> tuple[list[JointBlock], list[WrenchBlock]]:
    values = wrenches.wrenches.copy()
    values[10:20, 3] = np.nan
    values[30] = np.inf
    return [joints], [wrenches._replace(wrenches=values)]


def _nan_position(joints: JointBlock, wrenches: WrenchBlock) -> tuple[list[JointBlock], list[WrenchBlock]]:
    values = joints.positions.copy()
    values[10:20, 2] = np.nan
    values[40, 0] = -np.inf
    return [joints._replace(positions=values)], [wrenches]


def _short_positions(joints: JointBlock, wrenches: WrenchBlock) -> tuple[list[JointBlock], list[WrenchBlock]]:
    return [joints._replace(positions=joints.positions[:, :4])], [wrenches]


def _empty(joints: JointBlock, wrenches: WrenchBlock) -> tuple[list[JointBlock], list[WrenchBlock]]:
    none = slice(0, 0)
    return (
        [joints._replace(stamps=joints.stamps[none], positions=joints.positions[none])],
        [wrenches._replace(stamps=wrenches.stamps[none], wrenches=wrenches.wrenches[none])],
    )


def _no_names(joints: JointBlock, wrenches: WrenchBlock) -> tuple[list[JointBlock], list[WrenchBlock]]:
    return [JointBlock((), joints.stamps, np.empty((len(joints.stamps), 0)), None)], [wrenches]


def _zero_stamps(joints: JointBlock, wrenches: WrenchBlock) -> tuple[list[JointBlock], list[WrenchBlock]]:
    return [joints._replace(stamps=0 * joints.stamps)], [wrenches._replace(stamps=0 * wrenches.stamps)]


def _frozen_stamps(joints: JointBlock, wrenches: WrenchBlock) -> tuple[list[JointBlock], list[WrenchBlock]]:
    return [joints], [wrenches._replace(stamps=np.full_like(wrenches.stamps, wrenches.stamps[0]))]


def _backward_stamps(joints: JointBlock, wrenches: WrenchBlock) -> tuple[list[JointBlock], list[WrenchBlock]]:
    order = np.arange(len(wrenches.stamps))
    order[20], order[21] = 21, 20
    return [joints], [wrenches._replace(stamps=wrenches.stamps[order], wrenches=wrenches.wrenches[order])]


def _future_stamp(joints: JointBlock, wrenches: WrenchBlock) -> tuple[list[JointBlock], list[WrenchBlock]]:
    stamps, other = wrenches.stamps.copy(), joints.stamps.copy()
    stamps[15] += 3600 * SECOND
    other[25] += 3600 * SECOND
    return [joints._replace(stamps=other)], [wrenches._replace(stamps=stamps)]


def _other_frame(joints: JointBlock, wrenches: WrenchBlock) -> tuple[list[JointBlock], list[WrenchBlock]]:
    return [joints], [wrenches._replace(frame="base_link")]


def _no_joints(_: JointBlock, wrenches: WrenchBlock) -> tuple[list[JointBlock], list[WrenchBlock]]:
    return [], [wrenches]


@pytest.mark.parametrize(
    ("spoil", "source", "code"),
    [
        (_nan_wrench, "wrench", "not_finite"),
        (_nan_position, "joint_states", "not_finite"),
        (_short_positions, "joint_states", "wrong_length"),
        (_empty, None, None),
        (_no_names, None, None),
        (_zero_stamps, "wrench", "zero_stamp"),
        (_frozen_stamps, "wrench", "duplicate_stamp"),
        (_backward_stamps, "wrench", "backward_stamp"),
        (_future_stamp, "wrench", "jumping_stamp"),
        (_other_frame, "wrench", "frame_mismatch"),
        (_no_joints, None, None),
    ],
)
def test_spoiled_second_is_named_survived_and_forgotten(spoil: Spoil, source: str | None, code: str | None) -> None:
    motion = puma_motion(rounds=3)
    simulator = simulate_puma(motion, 8)
    chain = make_chain()
    drive(chain, simulator, 0.0, 6.0)
    joint_blocks, wrench_blocks = spoil(simulator.joints(6.0, 7.0), simulator.wrenches(6.0, 7.0))
    for joints in joint_blocks:
        chain.push(joints)
    for wrenches in wrench_blocks:
        chain.push(wrenches)
    _assert_finite(chain, chain.process())
    named = {(item.source, item.code) for item in chain.health}
    if code is not None:
        assert (source, code) in named
        (item,) = [one for one in chain.health if (one.source, one.code) == (source, code)]
        assert item.count > 0
        assert item.message
        assert item.remedy
    output = drive(chain, simulator, 7.0, 9.0)
    _assert_finite(chain, output)
    estimate = load_of(chain)
    assert estimate.mode == "tracking"
    assert np.sqrt(np.mean(output.residual[-100:] ** 2)) < 0.6
    assert np.all(np.abs(estimate.values - BAR) < 4.0 * np.sqrt(np.diag(estimate.covariance)))


def _assert_finite(chain: Chain, output: Output) -> None:
    assert np.all(np.isfinite(output.predicted))
    assert np.all(np.isfinite(output.residual))
    estimate = load_of(chain)
    for part in (estimate.values, estimate.covariance, estimate.feasible, estimate.bias, estimate.bias_covariance):
        assert np.all(np.isfinite(part))


def test_joint_order_may_change_at_any_message() -> None:
    motion = puma_motion()
    simulator = simulate_puma(motion, 9)
    straight, turned = make_chain(), make_chain()
    for chain, changed in ((straight, False), (turned, True)):
        for index, start in enumerate(np.arange(0.0, motion.duration, 0.25).tolist()):
            joints = simulator.joints(start, start + 0.25)
            if changed and index % 2:
                order = [3, 1, 5, 0, 2, 4]
                joints = joints._replace(
                    names=tuple(joints.names[k] for k in order), positions=joints.positions[:, order]
                )
            chain.push(joints)
            chain.push(simulator.wrenches(start, start + 0.25))
            chain.process()
    np.testing.assert_allclose(load_of(turned).values, load_of(straight).values, atol=1e-9)
    assert turned.health == straight.health


def test_partial_joint_states_from_several_publishers_are_merged() -> None:
    motion = puma_motion()
    simulator = simulate_puma(motion, 10)
    chain = make_chain()
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
    estimate = load_of(chain)
    assert np.all(np.abs(estimate.values - BAR) < 4.0 * np.sqrt(np.diag(estimate.covariance)))


@pytest.mark.parametrize("efforts", [np.full((1, 6), np.nan), np.full((1, 6), 1e300), np.zeros((1, 2))])
def test_efforts_whatever_they_are_do_not_touch_the_load(efforts: FloatArray) -> None:
    simulator = simulate_puma(puma_motion(rest=0.5), 3)
    joints, wrenches = simulator.joints(0.0, 2.0), simulator.wrenches(0.0, 2.0)
    plain, strained = make_chain(), make_chain()
    plain.push(joints)
    strained.push(joints._replace(efforts=np.repeat(efforts, len(joints.stamps), axis=0)))
    for chain in (plain, strained):
        chain.push(wrenches)
    np.testing.assert_array_equal(plain.process().residual, strained.process().residual)
    np.testing.assert_array_equal(load_of(plain).values, load_of(strained).values)
    assert plain.health == strained.health


def test_missing_joints_are_named() -> None:
    simulator = simulate_puma(puma_motion(), 11)
    chain = make_chain()
    joints = simulator.joints(0.0, 2.0)
    chain.push(joints._replace(names=joints.names[:5], positions=joints.positions[:, :5]))
    chain.push(simulator.wrenches(0.0, 2.0))
    output = chain.process()
    assert len(output.stamps) == 0
    (item,) = [one for one in chain.health if one.code == "missing_joints"]
    assert item.detail == Robot.from_urdf(PUMA).joint_names[5]


def test_wrenches_without_joint_states_are_counted_and_given_up() -> None:
    simulator = simulate_puma(puma_motion(), 12)
    chain = make_chain()
    chain.push(simulator.joints(0.0, 0.5))
    chain.push(simulator.wrenches(0.0, 5.0))
    chain.process()
    (item,) = [one for one in chain.health if one.code == "no_joint_state"]
    assert item.level == "error"
    assert "before the wrench" in item.detail


def test_angle_that_jumps_by_a_turn_changes_nothing() -> None:
    motion = puma_motion()
    simulator = simulate_puma(motion, 13)
    straight, jumped = make_chain(), make_chain()
    joints, wrenches = simulator.joints(0.0, motion.duration), simulator.wrenches(0.0, motion.duration)
    positions = joints.positions.copy()
    positions[500:, 3] += 2.0 * np.pi
    positions[700:, 5] -= 4.0 * np.pi
    for chain, block in ((straight, joints), (jumped, joints._replace(positions=positions))):
        chain.push(block)
        chain.push(wrenches)
        chain.process()
    np.testing.assert_allclose(load_of(jumped).values, load_of(straight).values, atol=1e-9)


def test_bag_loop_restarts_time_and_keeps_the_estimate() -> None:
    motion = puma_motion()
    simulator = simulate_puma(motion, 14)
    chain = make_chain()
    for _ in range(3):
        drive(chain, simulator, 0.0, motion.duration, chunk=0.1)
    estimate = load_of(chain)
    assert {"time_reset"} <= {item.code for item in chain.health}
    assert estimate.mode == "tracking"
    assert np.all(np.abs(estimate.values - BAR) < 4.0 * np.sqrt(np.diag(estimate.covariance)))


@pytest.mark.parametrize("gap", [0.2, 1.0, 5.0])
def test_gap_costs_nothing_but_the_gap(gap: float) -> None:
    motion = puma_motion(rounds=3)
    simulator = simulate_puma(motion, 15)
    chain = make_chain()
    drive(chain, simulator, 0.0, 5.0)
    drive(chain, simulator, 5.0 + gap, 5.0 + gap + 3.0)
    estimate = load_of(chain)
    assert "gap" in {item.code for item in chain.health}
    assert estimate.mode == "tracking"
    assert np.all(np.abs(estimate.values - BAR) < 4.0 * np.sqrt(np.diag(estimate.covariance)))


@pytest.mark.parametrize("scale", [0.0, 57.3])
def test_velocities_that_are_none_are_noticed_and_replaced(scale: float) -> None:
    """All zero, or degrees: both are called out, and positions are differentiated instead."""
    motion = puma_motion(rounds=3)
    simulator = simulate_puma(motion, 16, velocity_noise=0.0)
    chain = make_chain()
    for start in np.arange(0.0, motion.duration, 0.5).tolist():
        joints = simulator.joints(start, start + 0.5)
        assert joints.velocities is not None
        chain.push(joints._replace(velocities=scale * joints.velocities))
        chain.push(simulator.wrenches(start, start + 0.5))
        chain.process()
    assert "velocity_unusable" in {item.code for item in chain.health}
    chain.reset()
    for start in np.arange(2.0, 10.0, 0.5).tolist():
        joints = simulator.joints(start, start + 0.5)
        assert joints.velocities is not None
        shift = 100 * SECOND
        chain.push(joints._replace(stamps=joints.stamps + shift, velocities=scale * joints.velocities))
        wrenches = simulator.wrenches(start, start + 0.5)
        chain.push(wrenches._replace(stamps=wrenches.stamps + shift))
        chain.process()
    estimate = load_of(chain)
    assert np.all(np.abs(estimate.values - BAR) < 4.0 * np.sqrt(np.diag(estimate.covariance)))


def test_known_delay_of_the_wrench_is_taken_out() -> None:
    motion = puma_motion()
    simulator = simulate_puma(motion, 18, wrench_delay=0.01)
    chain = make_chain(wrench_delay=0.01)
    output = drive(chain, simulator, 0.0, motion.duration)
    estimate = load_of(chain)
    assert np.all(np.abs(estimate.values - BAR) < 4.0 * np.sqrt(np.diag(estimate.covariance)))
    assert set(output.stamps) <= set(simulator.wrenches(0.0, motion.duration).stamps)


def test_zero_stamps_at_the_very_start_spoil_nothing() -> None:
    motion = puma_motion()
    simulator = simulate_puma(motion, 20)
    chain = make_chain()
    joints = simulator.joints(0.0, 0.1)
    chain.push(joints._replace(stamps=0 * joints.stamps))
    drive(chain, simulator, 0.1, motion.duration)
    estimate = load_of(chain)
    assert np.all(np.abs(estimate.values - BAR) < 4.0 * np.sqrt(np.diag(estimate.covariance)))
    assert [(item.code, item.count) for item in chain.health] == [("zero_stamp", len(joints.stamps))]


def test_normal_start_is_no_trouble() -> None:
    simulator = simulate_puma(puma_motion(), 19)
    chain = make_chain()
    chain.push(simulator.wrenches(0.0, 0.2))
    chain.process()
    drive(chain, simulator, 0.2, 2.0)
    assert chain.health == ()


def test_unknown_frame_id_is_taken_with_a_warning() -> None:
    simulator = simulate_puma(puma_motion(), 17)
    chain = make_chain()
    chain.push(simulator.joints(0.0, 1.0))
    chain.push(simulator.wrenches(0.0, 1.0)._replace(frame="tool0_controller"))
    assert len(chain.process().stamps) > 150
    assert [(item.code, item.level) for item in chain.health] == [("frame_unknown", "warning")]
