"""What is read from a URDF, and what is refused with which words."""

from __future__ import annotations

import pytest
from support.random_robots import make_random_urdf

from inertid_ros.core.errors import RobotDescriptionError, UnknownFrameError, UnsupportedJointError
from inertid_ros.core.robot.robot import Robot


def test_only_joints_on_the_way_to_the_frame_are_kept() -> None:
    path = Robot.from_urdf(make_random_urdf(0, 5)).path_to("sensor")
    assert path.joint_names == tuple(f"joint{index}" for index in range(5))


def test_continuous_joints_have_one_coordinate() -> None:
    robot = Robot.from_urdf(make_random_urdf(1, 4, ("continuous",)))
    assert robot.model.nq == robot.model.nv == 5
    assert robot.path_to("sensor").is_angle == (True,) * 4


def test_prismatic_joints_are_no_angles() -> None:
    path = Robot.from_urdf(make_random_urdf(2, 3, ("prismatic",))).path_to("sensor")
    assert path.is_angle == (False,) * 3


def test_unknown_frame_is_refused_with_the_frames_there_are() -> None:
    with pytest.raises(
        UnknownFrameError, match="frame 'tool0' is not in the robot description; it has: base, link0"
    ) as error:
        Robot.from_urdf(make_random_urdf(3, 2)).path_to("tool0")
    assert "sensor" in error.value.known


def test_frame_that_no_joint_moves_is_refused() -> None:
    with pytest.raises(UnsupportedJointError, match="no joint moves frame 'base'"):
        Robot.from_urdf(make_random_urdf(4, 2)).path_to("base")


def test_floating_joint_on_the_way_is_refused_by_name() -> None:
    urdf = make_random_urdf(5, 2, ("revolute",)).replace(
        'name="joint0" type="revolute"', 'name="joint0" type="floating"'
    )
    with pytest.raises(UnsupportedJointError, match="joint 'joint0'"):
        Robot.from_urdf(urdf).path_to("sensor")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "not well-formed XML"),
        ("<robot", "not well-formed XML"),
        ("<sdf/>", "it is an SDF file"),
        ('<robot name="r"><link name="a"/></robot>', "no joint that moves"),
        ('<robot name="r"><joint name="j" type="revolute"/></robot>', "cannot be used"),
        ("nan", "not well-formed XML"),
    ],
)
def test_broken_descriptions_are_refused_with_a_reason(text: str, expected: str) -> None:
    with pytest.raises(RobotDescriptionError, match=expected):
        Robot.from_urdf(text)
