"""A driven arm behind the topics of the simulated driver: it follows trajectories, obeys efforts, refuses the rest."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
import rclpy
from support.stage import SECOND, Stage, stamp_of

from inertid_ros.core.robot.robot import Robot
from inertid_ros.motions.motion import MinimumJerk
from inertid_ros.motions.trajectory import sample_motion
from inertid_ros.sim.scenario import read_urdf

NAMES = ("joint1", "joint2", "joint3")
MOTION = MinimumJerk([[1.0, 2.0, 0.5], [1.3, 1.8, 0.9]], [0.5])


@pytest.fixture
def stage(ros_domain: int) -> Iterator[Stage]:
    """A direct drive arm with perfect sensors, in the pose where the trajectories of these tests begin."""
    rclpy.init(args=[], domain_id=ros_domain)
    made = Stage(
        robot="ddarm",
        load="none",
        pose=[1.0, 2.0, 0.5],
        tachometer=True,
        velocity_noise=0.0,
        encoder_resolution=0.0,
        effort=True,
        effort_noise=[0.0],
    )
    yield made
    made.close()
    rclpy.shutdown()


def test_a_trajectory_is_followed_with_its_efforts_fed_forward(stage: Stage) -> None:
    plain, model = sample_motion(MOTION, NAMES), Robot.from_urdf(read_urdf("ddarm")).model
    model.gravity.linear = np.array([0.0, 0.0, -9.80665])
    data = model.createData()
    efforts = np.array([pin.rnea(model, data, *state) for state in zip(*plain.path, strict=True)])
    filled = replace(plain, efforts=efforts).arrange(NAMES[::-1], "this test")  # in another order than the arm's
    begin = stage.now + SECOND // 2
    stage.perform(filled)
    times = (np.array([stamp_of(message) for message in stage.joints]) - begin) * 1e-9
    positions = np.array([message.position for message in stage.joints])
    assert times[-1] > 0.6
    assert np.abs(positions - MOTION.at(times).positions).max() < 0.003


def test_efforts_are_obeyed_until_they_cease(stage: Stage) -> None:
    stage.push([30.0, 0.0, 0.0])
    stage.run(0.1)
    assert list(stage.joints[-1].effort) == [30.0, 0.0, 0.0]
    assert stage.joints[-1].velocity[0] > 0.05
    stage.run(1.0)
    assert abs(stage.joints[-1].velocity[0]) < 0.01, "held again"
    assert abs(stage.joints[-1].position[0] - 1.0) > 0.005


def test_what_cannot_be_done_is_refused_with_a_reason(stage: Stage, capfd: pytest.CaptureFixture[str]) -> None:
    stage.push([1.0, 2.0])
    stage.push([1.0, 2.0, float("nan")])
    stage.send(sample_motion(MinimumJerk([[2.0] * 3, [1.0] * 3], [1.0]), NAMES))
    stage.send(sample_motion(MinimumJerk([[2.0], [1.0]], [1.0]), ("elbow",)))
    stage.send(replace(sample_motion(MOTION, NAMES), stamp=SECOND))
    stage.run(0.3)
    errors = capfd.readouterr().err
    assert "effort_commands has [1.0, 2.0], expected 3 finite numbers" in errors
    assert "effort_commands has [1.0, 2.0, nan]" in errors
    assert "begins in [1.0, 2.0, 0.5]" in errors
    assert "lacks joint1, joint2, joint3" in errors
    assert "a time that is not over" in errors
    np.testing.assert_allclose(stage.joints[-1].position, [1.0, 2.0, 0.5], atol=1e-3)
