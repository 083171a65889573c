"""The simulator as a whole: the same numbers however it is asked, and every option does what it says."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from inertid_ros.core.errors import RobotDescriptionError, SettingError, UnknownFrameError
from inertid_ros.core.records import FloatArray, WrenchBlock
from inertid_ros.core.robot.robot import Robot
from inertid_ros.files.parameters import load_from_yaml
from inertid_ros.motions.motion import Hold, Repeat, paper_ddarm_load_move, paper_puma_move, there_and_back, with_rest
from inertid_ros.sim.arm import ArmDynamics, load_wrench
from inertid_ros.sim.sensors import SensorModel, paper_ddarm_sensors, paper_puma_sensors
from inertid_ros.sim.simulator import LoadSchedule, Simulator

LOADS = Path(__file__).parents[2] / "config" / "loads"
BAR, GRIPPER = load_from_yaml(LOADS / "bar.yaml"), load_from_yaml(LOADS / "gripper.yaml")
ROUGH = replace(
    paper_ddarm_sensors(4), stamp_jitter=4e-4, force_drift=0.1, torque_drift=0.01, wrench_delay=0.003, sign="on_sensor"
)


def measure(simulator: Simulator, ends: FloatArray) -> dict[str, FloatArray]:
    """Everything a simulator measures in the stretches between ends, put together."""
    joints, wrenches, base = [], [], []
    for start, end in pairwise(ends):
        joints.append(simulator.joints(start, end))
        wrenches.append(simulator.wrenches(start, end))
        base.append(simulator.base_wrenches(start, end))
    return {
        "joint stamps": np.concatenate([block.stamps for block in joints]),
        "positions": np.concatenate([block.positions for block in joints]),
        "velocities": np.concatenate([block.velocities for block in joints if block.velocities is not None]),
        "wrench stamps": np.concatenate([block.stamps for block in wrenches]),
        "wrenches": np.concatenate([block.wrenches for block in wrenches]),
        "base wrenches": np.concatenate([block.wrenches for block in base]),
    }


def make_rough(urdf: str, seed: int = 4) -> Simulator:
    """A direct drive arm that rests, moves and rests, takes a load and drops it, with every error there is."""
    motion = Repeat(there_and_back(paper_ddarm_load_move(), 0.6))
    return Simulator(urdf, "ft_sensor", motion, ROUGH, [(0.5, BAR), (2.2, None)], seed=seed, tool=GRIPPER)


@pytest.mark.parametrize("stretches", [2, 37, 400])
def test_numbers_do_not_depend_on_the_stretches(ddarm_urdf: str, stretches: int) -> None:
    ends = np.concatenate([[0.0], np.sort(np.random.default_rng(0).uniform(0.0, 3.5, stretches - 1)), [3.5]])
    whole = measure(make_rough(ddarm_urdf), np.array([0.0, 3.5]))
    parts = measure(make_rough(ddarm_urdf), ends)
    for name, values in whole.items():
        np.testing.assert_array_equal(parts[name], values, err_msg=name)


def test_numbers_depend_on_the_seed_and_on_nothing_else(ddarm_urdf: str) -> None:
    ends = np.array([0.0, 1.0])
    first, again, other = (measure(make_rough(ddarm_urdf, seed), ends) for seed in (4, 4, 5))
    for name, values in first.items():
        np.testing.assert_array_equal(again[name], values)
    assert np.mean(first["wrenches"][:200] != other["wrenches"][:200]) == 1.0
    assert np.mean(first["joint stamps"][:900] != other["joint stamps"][:900]) > 0.99


def test_perfect_sensors_measure_the_truth(puma_urdf: str) -> None:
    motion = with_rest(paper_puma_move(), 0.5, 0.5)
    simulator = Simulator(puma_urdf, "ft_sensor", motion, SensorModel(velocity_noise=0.0), [(0.0, BAR)], start_stamp=7)
    joints, wrenches = simulator.joints(0.0, 3.0), simulator.wrenches(0.0, 3.0)
    path = motion.at((joints.stamps - 7) / 1e9)
    assert joints.names == ("joint1", "joint2", "joint3", "joint4", "joint5", "joint6")
    np.testing.assert_array_equal(joints.stamps, 7 + 5_000_000 * np.arange(600))
    np.testing.assert_array_equal(joints.positions, path.positions)
    assert joints.velocities is not None
    np.testing.assert_array_equal(joints.velocities, path.velocities)
    assert wrenches.frame == "ft_sensor"
    arm = ArmDynamics(Robot.from_urdf(puma_urdf), "ft_sensor", np.array([0.0, 0.0, -9.80665]))
    np.testing.assert_allclose(wrenches.wrenches, load_wrench(arm.move_sensor(path), BAR), atol=1e-12)


def test_standing_still_reads_the_same_as_sample_by_sample(puma_urdf: str) -> None:
    """Standstill is computed once for many samples: one sample at a time must give the same."""
    simulator = Simulator(puma_urdf, "ft_sensor", with_rest(paper_puma_move(), 0.3, 0.3), load_schedule=[(0.1, BAR)])
    whole = simulator.wrenches(0.0, 2.6)
    for i in (0, 19, 20, 60, 61, 300, 460, 519):
        single = simulator.wrenches(i * 0.005, (i + 1) * 0.005)
        np.testing.assert_array_equal(single.wrenches[0], whole.wrenches[i])


def test_noise_of_the_paper_is_on_top_of_the_truth(puma_urdf: str) -> None:
    motion = with_rest(paper_puma_move(), 2.0)
    sensors = paper_puma_sensors(3)
    noisy = Simulator(puma_urdf, "ft_sensor", motion, sensors, [(0.0, BAR)], seed=3)
    clean = Simulator(puma_urdf, "ft_sensor", motion, SensorModel(), [(0.0, BAR)])
    error = noisy.wrenches(0.0, 4.0).wrenches - clean.wrenches(0.0, 4.0).wrenches
    np.testing.assert_allclose(error.mean(0), sensors.bias, atol=0.02)
    expected = np.sqrt(np.repeat([0.1**2 + 0.3**2 / 2, 0.005**2 + 0.01**2 / 2], 3))
    np.testing.assert_allclose(error.std(0), expected, rtol=0.1)
    rounding = noisy.joints(0.0, 4.0).positions - clean.joints(0.0, 4.0).positions
    assert 0.4e-4 < np.abs(rounding).max() <= 0.5001e-4
    assert noisy.joints(0.0, 4.0).velocities is None


def test_delay_shifts_the_wrench_against_its_stamp(puma_urdf: str) -> None:
    motion = with_rest(paper_puma_move(), 0.0, 1.0)
    prompt, late = (
        Simulator(puma_urdf, "ft_sensor", motion, SensorModel(wrench_delay=delay), [(-1.0, BAR)])
        for delay in (0.0, 0.02)
    )
    np.testing.assert_allclose(late.wrenches(0.02, 2.0).wrenches, prompt.wrenches(0.0, 1.98).wrenches, atol=1e-9)
    np.testing.assert_array_equal(late.joints(0.0, 1.0).positions, prompt.joints(0.0, 1.0).positions)


def test_sign_turns_both_wrenches_round(puma_urdf: str) -> None:
    def blocks(simulator: Simulator) -> tuple[WrenchBlock, WrenchBlock]:
        return simulator.wrenches(0.0, 1.0), simulator.base_wrenches(0.0, 1.0)

    on_load, on_sensor = (
        blocks(Simulator(puma_urdf, "ft_sensor", paper_puma_move(), SensorModel(sign=sign), [(0.0, BAR)]))
        for sign in ("on_load", "on_sensor")
    )
    for one, other in zip(on_load, on_sensor, strict=True):
        np.testing.assert_array_equal(one.wrenches, -other.wrenches)
    assert on_load[1].frame == "base_link"
    assert np.all(on_load[1].wrenches[:, 2] > 200.0)


def test_load_attached_at_run_time_is_the_same_as_one_planned(puma_urdf: str) -> None:
    planned = Simulator(
        puma_urdf, "ft_sensor", paper_puma_move(), load_schedule=[(0.5, BAR), (1.2, None)], tool=GRIPPER
    )
    spontaneous = Simulator(puma_urdf, "ft_sensor", paper_puma_move(), tool=GRIPPER)
    spontaneous.wrenches(0.0, 0.4)
    spontaneous.attach(BAR, 0.5)
    spontaneous.wrenches(0.4, 0.8)
    spontaneous.release(1.2)
    for read in (Simulator.wrenches, Simulator.base_wrenches):
        np.testing.assert_array_equal(read(spontaneous, 0.0, 2.0).wrenches, read(planned, 0.0, 2.0).wrenches)


def test_tool_and_load_add_up(puma_urdf: str) -> None:
    both, load, tool = (
        Simulator(puma_urdf, "ft_sensor", paper_puma_move(), load_schedule=[(0.0, phi)], tool=held)
        for phi, held in ((BAR, GRIPPER), (BAR, None), (None, GRIPPER))
    )
    total = load.wrenches(0.0, 2.0).wrenches + tool.wrenches(0.0, 2.0).wrenches
    np.testing.assert_allclose(both.wrenches(0.0, 2.0).wrenches, total, atol=1e-12)


def test_no_time_gives_empty_blocks(puma_urdf: str) -> None:
    simulator = Simulator(puma_urdf, "ft_sensor", Hold(np.zeros(6)), SensorModel(velocity_noise=0.1), [(0.0, BAR)])
    joints = simulator.joints(1.0, 1.0)
    assert joints.velocities is not None
    assert joints.positions.shape == joints.velocities.shape == (0, 6)
    for block in (simulator.wrenches(0.501, 0.502), simulator.base_wrenches(1.0, 1.0)):
        assert block.stamps.shape == (0,)
        assert block.wrenches.shape == (0, 6)


def test_what_cannot_be_simulated_is_rejected(puma_urdf: str) -> None:
    with pytest.raises(SettingError, match="joint1, joint2"):
        Simulator(puma_urdf, "ft_sensor", Hold(np.zeros(5)))
    with pytest.raises(UnknownFrameError, match="'hand'"):
        Simulator(puma_urdf, "hand", Hold(np.zeros(6)))
    with pytest.raises(RobotDescriptionError):
        Simulator("no xml", "ft_sensor", Hold(np.zeros(6)))


FIRST, SECOND = np.arange(1.0, 11.0), np.arange(2.0, 12.0)


def load_at(schedule: LoadSchedule, time: float) -> FloatArray:
    return next(load for _, load in schedule.parts(np.array([time])))


def test_load_changes_at_its_times() -> None:
    schedule = LoadSchedule([(4.0, None), (1.0, FIRST)])
    for time, load in ((-1.0, 0 * FIRST), (0.99, 0 * FIRST), (1.0, FIRST), (3.99, FIRST), (4.0, 0 * FIRST)):
        np.testing.assert_array_equal(load_at(schedule, time), load)


def test_load_can_be_changed_later_on() -> None:
    schedule = LoadSchedule([(1.0, FIRST), (8.0, None)])
    schedule.change(5.0, SECOND)
    schedule.change(8.0, FIRST)
    np.testing.assert_array_equal(load_at(schedule, 4.0), FIRST)
    np.testing.assert_array_equal(load_at(schedule, 5.0), SECOND)
    np.testing.assert_array_equal(load_at(schedule, 8.0), FIRST)


def test_parts_cover_all_times_once() -> None:
    times = np.linspace(0.0, 10.0, 101)
    schedule = LoadSchedule([(2.0, FIRST), (5.0, SECOND), (7.0, None)])
    covered = np.zeros(101, dtype=int)
    for rows, load in schedule.parts(times):
        covered[rows] += 1
        for time in times[rows]:
            np.testing.assert_array_equal(load_at(schedule, time), load)
    np.testing.assert_array_equal(covered, 1)
    assert list(schedule.parts(np.empty(0))) == []
