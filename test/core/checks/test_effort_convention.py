"""What efforts seem to be, on a simulated PUMA whose efforts are made into something else."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from inertid_ros.core.checks.effort_convention import EffortCheck
from inertid_ros.core.records import FloatArray
from inertid_ros.core.robot.robot import ArmModel, Robot
from inertid_ros.files.share import share_path

LEVELS = {
    "effort_without_gravity": "warning",
    "effort_sign": "error",
    "effort_unit": "error",
    "joints_in_degrees": "error",
}
GRAVITY = np.array([0.0, 0.0, -9.80665])


def make_efforts() -> tuple[ArmModel, FloatArray, FloatArray, FloatArray]:
    """An arm, and positions, efforts with friction and rotors of a heavier arm than the URDF's, and gravity's part."""
    robot = Robot.from_urdf(share_path("urdf", "puma560.urdf").read_text())
    arm = ArmModel.of(robot, GRAVITY)
    data = arm.model.createData()
    random = np.random.default_rng(4)
    positions = random.uniform(-1.5, 1.5, (300, 6))
    velocities, accelerations = random.uniform(-0.5, 0.5, (2, 300, 6))
    torques = np.array(
        [pin.rnea(arm.model, data, *state) for state in zip(positions, velocities, accelerations, strict=True)]
    )
    gravity = np.array([pin.computeGeneralizedGravity(arm.model, data, position).copy() for position in positions])
    return arm, positions, 1.2 * torques + 4.0 * np.sign(velocities) + accelerations, gravity


def find(arm: ArmModel, positions: FloatArray, efforts: FloatArray) -> list[str]:
    check = EffortCheck(arm)
    for position, effort in zip(positions, efforts, strict=True):
        check.take(position, check.find_gravity(position), effort, np.zeros(6))
    return [finding.code for finding in check.findings() if finding.level == LEVELS[finding.code]]


def test_measured_torques_are_taken_for_what_they_are() -> None:
    arm, positions, efforts, _ = make_efforts()
    assert find(arm, positions, efforts) == []


def test_torques_without_gravity_are_called_out() -> None:
    arm, positions, efforts, gravity = make_efforts()
    assert find(arm, positions, efforts - 1.2 * gravity) == ["effort_without_gravity"]


def test_torques_of_the_other_sign_are_called_out() -> None:
    arm, positions, efforts, _ = make_efforts()
    assert find(arm, positions, -efforts) == ["effort_sign"]


@pytest.mark.parametrize(
    "constants", [np.full(6, 0.1), np.array([0.07, 0.09, 0.11, 0.06, 0.1, 0.08]), np.full(6, 10.0)]
)
def test_currents_are_called_out(constants: FloatArray) -> None:
    arm, positions, efforts, _ = make_efforts()
    assert find(arm, positions, efforts * constants) == ["effort_unit"]


@pytest.mark.parametrize("factor", [0.5, 2.0])
def test_a_urdf_whose_masses_are_wrong_by_half_is_no_wrong_unit(factor: float) -> None:
    arm, positions, efforts, _ = make_efforts()
    assert find(arm, positions, factor * efforts) == []


def test_degrees_are_called_out_by_name() -> None:
    """Not as torques without gravity, which is what they look like where the pose is taken as radians."""
    arm, positions, efforts, _ = make_efforts()
    assert find(arm, np.degrees(positions), efforts) == ["joints_in_degrees"]
    assert find(arm, positions + 4.0 * np.pi, efforts) == []


def test_an_arm_that_gravity_does_not_load_is_not_judged() -> None:
    arm, positions, efforts, _ = make_efforts()
    assert find(arm, np.broadcast_to(positions[0], positions.shape), efforts) == []


def test_what_is_not_usable_does_not_count() -> None:
    arm, positions, efforts, _ = make_efforts()
    check = EffortCheck(arm)
    for position, effort in zip(positions, efforts, strict=True):
        check.take(position, check.find_gravity(position), effort, np.zeros(6))
        check.take(position, check.find_gravity(position), -100.0 * effort, np.ones(6))
    assert check.findings() == ()
