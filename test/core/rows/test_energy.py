"""The energy model: rows against pinocchio's energies and inverse dynamics, and the check made of them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin
import pytest
from support.chain import DDARM
from support.random_robots import make_random_urdf

from inertid_ros.core.checks.energy_balance import EnergyCheck
from inertid_ros.core.records import FloatArray
from inertid_ros.core.robot.robot import ArmModel, Robot
from inertid_ros.core.rows.energy import EnergyRows, EnergyWindows
from inertid_ros.motions.motion import Motion, paper_ddarm_link_moves
from inertid_ros.motions.multisine import JointLimits, Multisine

GRAVITY = np.array([0.5, -1.0, -9.7])
COULOMB_VELOCITY = 0.02


class Samples(NamedTuple):
    times: FloatArray
    positions: FloatArray
    velocities: FloatArray
    efforts: FloatArray

    def part(self, rows: slice) -> Samples:
        return Samples(*(item[rows] for item in self))


def make_arm(seed: int, joints: int) -> ArmModel:
    """A random arm with random bodies."""
    arm = ArmModel.of(Robot.from_urdf(make_random_urdf(seed, joints)), GRAVITY)
    rng = np.random.default_rng(seed)
    for index in range(1, arm.model.njoints):
        arm.model.inertias[index] = pin.Inertia(rng.uniform(1, 5), rng.normal(size=3), np.diag(rng.uniform(1, 1.5, 3)))
    parameters = ArmModel.of(Robot(arm.model), GRAVITY).parameters
    return ArmModel(arm.joint_names, arm.link_names, arm.is_angle, arm.effort_limits, arm.model, parameters, arm.boxes)


def make_limits(joints: int) -> JointLimits:
    one = np.ones(joints)
    return JointLimits(-1.5 * one, 1.5 * one, 4.0 * one, 30.0 * one)


def friction_of(arm: ArmModel) -> FloatArray:
    """Viscous, Coulomb, rotor inertia and offset (4, n)."""
    rng = np.random.default_rng(7)
    return rng.uniform(0.2, 1.0, (4, arm.model.nv))


def move(arm: ArmModel, motion: Motion, friction: FloatArray, rate: float = 1000.0) -> Samples:
    """A motion with the efforts of pinocchio's inverse dynamics and of friction."""
    times = np.arange(0.0, motion.duration, 1.0 / rate)
    path = motion.at(times)
    data = arm.model.createData()
    efforts = np.array([pin.rnea(arm.model, data, *sample) for sample in zip(*path, strict=True)])
    viscous, coulomb, rotor, offset = friction
    efforts += viscous * path.velocities + coulomb * np.clip(path.velocities / COULOMB_VELOCITY, -1.0, 1.0)
    efforts += rotor * path.accelerations + offset
    return Samples(times, path.positions, path.velocities, efforts)


@pytest.mark.parametrize("joints", [1, 3, 6])
def test_work_is_energy_gained_and_lost(joints: int) -> None:
    arm = make_arm(joints, joints)
    friction = friction_of(arm)
    samples = move(arm, Multisine(make_limits(arm.model.nv), 4.0, seed=joints), friction, rate=4000.0)
    windows = EnergyRows(arm, 0.2, COULOMB_VELOCITY).process(np.column_stack(samples))
    assert len(windows.rows) == 19
    truth = np.concatenate((arm.parameters, friction.ravel()))
    work = windows.rows[:, -1]
    assert np.abs(windows.rows[:, :-1] @ truth - work).max() < 1e-5 * np.abs(work).max()
    data = arm.model.createData()
    for row, positions, velocities in zip(windows.rows, windows.positions, windows.velocities, strict=True):
        start, end = (
            pin.computeKineticEnergy(arm.model, data, q, v) + pin.computePotentialEnergy(arm.model, data, q)
            for q, v in zip(positions, velocities, strict=True)
        )
        assert row[: 10 * arm.model.nv] @ arm.parameters == pytest.approx(end - start, abs=1e-9)


def test_columns_are_those_switched_on() -> None:
    arm = make_arm(2, 2)
    samples = move(arm, Multisine(make_limits(arm.model.nv), 2.0, fade=0.5), friction_of(arm))
    n = arm.model.nv
    every = EnergyRows(arm, 0.2, COULOMB_VELOCITY).process(np.column_stack(samples)).rows
    parts = np.split(every[:, :-1], 10 * n + n * np.arange(4), axis=1)
    for index, name in enumerate(("viscous", "coulomb", "rotor_inertia", "offset")):
        switches = dict.fromkeys(("viscous", "coulomb", "rotor_inertia", "offset"), False) | {name: True}
        some = EnergyRows(arm, 0.2, COULOMB_VELOCITY, **switches).process(np.column_stack(samples)).rows
        assert np.array_equal(some, np.hstack((parts[0], parts[index + 1], every[:, -1:])))


@pytest.mark.parametrize("size", [1, 7, 333])
def test_block_size_does_not_matter(size: int) -> None:
    arm = make_arm(4, 3)
    samples = move(arm, Multisine(make_limits(arm.model.nv), 2.0, fade=0.5), friction_of(arm))
    whole = EnergyRows(arm, 0.13, COULOMB_VELOCITY).process(np.column_stack(samples))
    rows = EnergyRows(arm, 0.13, COULOMB_VELOCITY)
    blocks = [
        rows.process(np.column_stack(samples.part(slice(i, i + size)))) for i in range(0, len(samples.times), size)
    ]
    for together, apart in zip(whole, zip(*blocks, strict=True), strict=True):
        np.testing.assert_allclose(np.concatenate(apart), together, rtol=0.0, atol=1e-11)


def test_window_across_a_gap_is_left_out() -> None:
    arm = make_arm(4, 3)
    samples = move(arm, Multisine(make_limits(arm.model.nv), 2.0, fade=0.5), friction_of(arm))
    rows = EnergyRows(arm, 0.13, COULOMB_VELOCITY)
    rows.process(np.column_stack(samples.part(slice(0, 700))))
    rows.restart()
    after = rows.process(np.column_stack(samples.part(slice(1000, 2000))))
    assert after.times[0, 0] == pytest.approx(1.0)
    assert after.times[0, 1] == pytest.approx(1.13)


def rank_of(arm: ArmModel, motions: tuple[Motion, ...]) -> int:
    """Rank of the energy model's inertial columns."""
    stacked = []
    for motion in motions:
        rows = EnergyRows(arm, 0.01, 0.02, viscous=False, coulomb=False, rotor_inertia=False, offset=False)
        stacked.append(rows.process(np.column_stack(move(arm, motion, np.zeros((4, arm.model.nv))))).rows[:, :-1])
    values = np.linalg.svd(np.concatenate(stacked), compute_uv=False)
    return int(np.sum(values > 1e-9 * values[0]))


def test_proportional_velocities_cost_one_parameter() -> None:
    arm = ArmModel.of(Robot.from_urdf(DDARM), np.array([0.0, 0.0, -9.80665]))
    assert rank_of(arm, paper_ddarm_link_moves()[:1]) < 14
    assert rank_of(arm, paper_ddarm_link_moves()) == 14
    assert rank_of(arm, (Multisine(make_limits(3), 5.0, seed=1),)) == 15


class Trial(NamedTuple):
    arm: ArmModel
    windows: EnergyWindows
    truth: FloatArray
    check: EnergyCheck


def make_trial(
    seed: int,
    scale: float = 1.0,
    delay: int = 0,
    with_friction: bool = True,
    order: tuple[int, ...] = (0, 1, 2),
) -> Trial:
    """A DDArm with friction on a multisine, with torque noise of 0.05 Nm at 1 kHz."""
    arm = ArmModel.of(Robot.from_urdf(DDARM), np.array([0.0, 0.0, -9.80665]))
    friction = 4.0 * friction_of(arm)
    samples = move(arm, Multisine(make_limits(3), 10.0, seed=seed), friction)
    rng = np.random.default_rng(seed)
    efforts = scale * np.roll(samples.efforts, delay, axis=0)[:, order]
    efforts += rng.normal(scale=0.05, size=samples.efforts.shape)
    rows = EnergyRows(arm, 0.2, COULOMB_VELOCITY)
    windows = rows.process(np.column_stack((samples.times, samples.positions, samples.velocities, efforts)))
    truth = np.concatenate((arm.parameters, friction.ravel()))
    if not with_friction:
        truth[30:36] = 0.0
    check = EnergyCheck(np.full(3, 0.05**2 / 1000.0))
    return Trial(arm, windows, truth, check)


def test_balance_closes_to_what_is_expected() -> None:
    ratios = []
    for seed in range(5):
        trial = make_trial(seed)
        trial.check.take(trial.windows, trial.truth, np.zeros((len(trial.truth),) * 2))
        balance = trial.check.balance()
        ratios.append(balance.disagreement / balance.expected)
        assert not trial.check.findings()
    assert np.mean(ratios) == pytest.approx(1.0, abs=0.15)


def test_uncertain_parameters_are_expected_to_disagree() -> None:
    trial = make_trial(0)
    rng = np.random.default_rng(0)
    deviation = 0.2 * np.abs(trial.truth)
    wrong = trial.truth + rng.normal(size=len(trial.truth)) * deviation
    trial.check.take(trial.windows, wrong, np.diag(deviation))
    assert not trial.check.findings()
    certain = make_trial(0)
    certain.check.take(certain.windows, wrong, np.zeros((len(wrong),) * 2))
    assert certain.check.findings()


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ({"scale": 1.2}, "torque constants"),
        ({"with_friction": False}, "friction"),
        ({"delay": 20}, "effort_delay"),
        ({"order": (1, 0, 2)}, "same joint"),
    ],
)
def test_faults_are_distinguished(fault: dict[str, Any], words: str) -> None:
    trial = make_trial(1, **fault)
    trial.check.take(trial.windows, trial.truth, np.zeros((len(trial.truth),) * 2))
    (finding,) = trial.check.findings()
    assert finding.code == "energy_disagrees"
    assert words in finding.message


def test_few_windows_are_no_evidence() -> None:
    trial = make_trial(1, scale=2.0)
    few = EnergyWindows(*(item[:9] for item in trial.windows))
    trial.check.take(few, trial.truth, np.zeros((len(trial.truth),) * 2))
    assert not trial.check.findings()
