"""Sign, frame, handedness, tare and compensation are told from the data."""

from __future__ import annotations

import re

import numpy as np
import pytest
from support.chain import BAR, drive, load_of, make_chain, puma_motion, sensor_of, simulate_puma

from inertid_ros.core.chain import Chain
from inertid_ros.core.checks.wrench_convention import count_row
from inertid_ros.core.records import FloatArray, WrenchBlock
from inertid_ros.sim.simulator import Simulator


def _drive_changed(chain: Chain, simulator: Simulator, end: float, change: FloatArray) -> None:
    """Feed wrenches that went through a (6, 6) matrix."""
    for start in np.arange(0.0, end, 0.5).tolist():
        chain.push(simulator.joints(start, start + 0.5))
        block = simulator.wrenches(start, start + 0.5)
        chain.push(WrenchBlock(block.frame, block.stamps, block.wrenches @ change.T))
        chain.process()


def _both(rotation: FloatArray, moments: FloatArray | None = None) -> FloatArray:
    zero = np.zeros((3, 3))
    return np.block([[rotation, zero], [zero, rotation if moments is None else moments]])


@pytest.mark.parametrize("sign", ["on_load", "on_sensor"])
def test_sign_is_recognised(sign: str) -> None:
    motion = puma_motion()
    chain = make_chain(wrench_sign="auto")
    simulator = simulate_puma(motion, sign=sign)
    assert sensor_of(chain).sign is None
    output = drive(chain, simulator, 0.0, motion.duration)
    estimate = load_of(chain)
    assert sensor_of(chain).sign == sign
    assert estimate.findings == ()
    assert np.all(np.abs(estimate.values - BAR) < 4.0 * np.sqrt(np.diag(estimate.covariance)))
    measured = simulator.wrenches(motion.duration - 1.0, motion.duration).wrenches[-len(output.residual[-190:]) :]
    assert np.abs(output.predicted[-190:].mean(axis=0) - measured.mean(axis=0)).max() < 0.3


def test_sign_is_not_told_before_the_sensor_has_turned() -> None:
    chain = make_chain(wrench_sign="auto")
    drive(chain, simulate_puma(puma_motion()), 0.0, 1.9)
    assert sensor_of(chain).sign is None


def test_wrong_configured_sign_is_called_out_with_the_remedy() -> None:
    motion = puma_motion()
    chain = make_chain(wrench_sign="on_load")
    drive(chain, simulate_puma(motion, sign="on_sensor"), 0.0, motion.duration)
    (finding,) = load_of(chain).findings
    assert finding.code == "sign_contradicted"
    assert "set load.wrench_sign to on_sensor" in finding.message


@pytest.mark.parametrize(
    ("rotation", "angle", "axis"),
    [
        ([[0, -1, 0], [1, 0, 0], [0, 0, 1]], 90.0, [0.0, 0.0, 1.0]),
        ([[1, 0, 0], [0, 0, -1], [0, 1, 0]], 90.0, [1.0, 0.0, 0.0]),
        ([[0, 0, 1], [1, 0, 0], [0, 1, 0]], 120.0, [0.577, 0.577, 0.577]),
    ],
)
def test_turned_frame_is_called_out_with_the_turn(rotation: list[list[float]], angle: float, axis: list[float]) -> None:
    motion = puma_motion()
    chain = make_chain(wrench_sign="auto")
    _drive_changed(chain, simulate_puma(motion), motion.duration, _both(np.array(rotation, dtype=float)))
    (finding,) = [item for item in load_of(chain).findings if item.code == "frame_turned"]
    assert finding.level == "error"
    numbers = [float(number) for number in re.findall(r"-?[0-9]+\.?[0-9]*", finding.message)]
    np.testing.assert_allclose(numbers, [angle, *axis], atol=2.0)
    np.testing.assert_allclose(numbers[1:], axis, atol=0.03)
    assert "on_load" in finding.message


def test_mirrored_axis_is_called_out() -> None:
    motion = puma_motion()
    chain = make_chain(wrench_sign="auto")
    _drive_changed(chain, simulate_puma(motion), motion.duration, _both(np.diag([1.0, 1.0, -1.0])))
    (finding,) = [item for item in load_of(chain).findings if item.code == "frame_turned"]
    assert "mirrored" in finding.message


def test_moments_of_another_handedness_are_called_out() -> None:
    motion = puma_motion(rounds=2)
    chain = make_chain()
    _drive_changed(chain, simulate_puma(motion), motion.duration, _both(np.eye(3), np.diag([-1.0, 1.0, 1.0])))
    assert "moments_mirrored" in [item.code for item in load_of(chain).findings]


def test_compensated_wrench_is_called_out() -> None:
    motion = puma_motion()
    chain = make_chain(wrench_sign="auto")
    drive(chain, simulate_puma(motion, schedule=[]), 0.0, motion.duration)
    estimate = load_of(chain)
    assert [item.code for item in estimate.findings] == ["compensated"]
    assert sensor_of(chain).sign is None


def test_tared_sensor_is_called_out_and_the_estimate_is_right() -> None:
    motion = puma_motion()
    simulator = simulate_puma(motion, bias=(0.0,) * 6)
    reading = simulator.wrenches(0.0, 1.0).wrenches.mean(axis=0)
    chain = make_chain(wrench_sign="auto")
    tared = simulate_puma(motion, bias=tuple(-reading))
    drive(chain, tared, 0.0, motion.duration)
    estimate = load_of(chain)
    assert [item.code for item in estimate.findings] == ["tared"]
    assert estimate.values[0] == pytest.approx(1.8, abs=0.005)


def test_wrench_that_has_nothing_to_do_with_gravity_is_called_out() -> None:
    motion = puma_motion()
    simulator = simulate_puma(motion, schedule=[])
    chain = make_chain(contact_force=1000.0, contact_torque=100.0)
    rng = np.random.default_rng(0)
    for start in np.arange(0.0, motion.duration, 0.5).tolist():
        chain.push(simulator.joints(start, start + 0.5))
        block = simulator.wrenches(start, start + 0.5)
        wander = np.cumsum(rng.normal(size=block.wrenches.shape), axis=0)
        chain.push(WrenchBlock(block.frame, block.stamps, 5.0 * rng.normal(size=(1, 6)) + wander))
        chain.process()
    assert "frame_unclear" in [item.code for item in load_of(chain).findings]


def test_load_picked_up_later_leaves_no_finding_behind() -> None:
    """Nothing carried looks compensated; with the load on, all is well, and is said to be."""
    motion = puma_motion(rounds=4)
    simulator = simulate_puma(motion, 3, schedule=[(6.3, BAR)])
    chain = make_chain(wrench_sign="auto")
    drive(chain, simulator, 0.0, 6.0)
    assert [item.code for item in load_of(chain).findings] == ["compensated"]
    drive(chain, simulator, 6.0, 12.0)
    assert load_of(chain).findings == ()


@pytest.mark.parametrize("seed", range(3))
def test_pick_and_place_raises_no_error(seed: int) -> None:
    """A gripper that takes and puts the bar every four seconds is no reason to doubt the frame."""
    gripper = np.array([0.6, 0.003, 0.0, 0.03, 0.003, 0.0, 0.0, 0.003, 0.0, 0.001])
    motion = puma_motion(rounds=8)
    schedule = [(4.3 + 4.0 * index, BAR if index % 2 == 0 else None) for index in range(7)]
    simulator = simulate_puma(motion, seed, schedule, tool=gripper)
    chain = make_chain(wrench_sign="auto")
    for start in np.arange(0.0, motion.duration, 1.0).tolist():
        drive(chain, simulator, start, start + 1.0)
        assert [item.code for item in load_of(chain).findings if item.level == "error"] == []


def test_turned_frame_is_noticed_after_a_long_standstill() -> None:
    motion = puma_motion(rest=120.0, rounds=2)
    chain = make_chain(wrench_sign="auto")
    turn = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    _drive_changed(chain, simulate_puma(motion), motion.duration, _both(turn))
    estimate = load_of(chain)
    assert "frame_turned" in [item.code for item in estimate.findings]
    assert "known" not in estimate.states


def test_moments_of_the_wrong_sign_are_an_error_that_names_them() -> None:
    motion = puma_motion(rounds=2)
    chain = make_chain(wrench_sign="auto")
    _drive_changed(chain, simulate_puma(motion), motion.duration, _both(np.eye(3), -np.eye(3)))
    estimate = load_of(chain)
    assert any("moments" in item.message for item in estimate.findings if item.level == "error")
    assert "known" not in estimate.states


def test_rows_are_kept_if_the_pose_is_another_and_the_filters_have_settled() -> None:
    """Against numpy: acceleration, gravity and wrench over the amplitude, positions as they were before the lag."""
    random = np.random.default_rng(0)
    history, rows, counts = np.empty((16, 6)), np.empty((64, 16)), np.zeros(3, dtype=np.int64)
    times, positions, kept, last = 0.02 * np.arange(200), np.zeros((200, 2)), [], None
    for index, time in enumerate(times):
        positions[index] = positions[index - 1] + random.uniform(0.0, 0.02, 2)
        signals, readings = random.normal(size=16), random.normal(size=6)
        signals[:3] *= 0.1
        signals[13:] = 0.1 * signals[13:]
        signals[12] = random.uniform(0.8, 1.0)
        sample = np.concatenate(([time], positions[index], np.zeros(2)))
        count_row(signals, readings, sample, 0.07, history, rows, counts)
        if signals[12] < 0.9:
            continue
        seen = slice(0, index + 1)
        past = np.array([np.interp(time - 0.07, times[seen], positions[seen, joint]) for joint in range(2)])
        row = np.concatenate((signals[:3], signals[13:], readings)) / signals[12]
        felt = row[:3] - row[3:6]
        if last is None or np.abs(past - last[1]).max() >= 0.1 or np.linalg.norm(felt - last[0]) >= 1.0:
            last = felt, past
            turning = (np.linalg.norm(signals[3:6]) + signals[[6, 9, 11]].sum()) / signals[12]
            kept.append(np.concatenate((row, [turning], past)))
    assert 10 < len(kept) < 64
    assert counts.tolist() == [len(kept), 200, len(kept)]
    np.testing.assert_allclose(rows[: len(kept), :-1], np.array(kept), atol=1e-12)
