"""What is read from a URDF, and what is refused with which words."""

from __future__ import annotations

import numpy as np
import pytest
from support.random_robots import make_long_urdf, make_random_urdf

from inertid_ros.core.errors import RobotDescriptionError, UnknownFrameError, UnsupportedJointError
from inertid_ros.core.robot.robot import ArmModel, Robot


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


def test_reach_follows_from_limits_where_they_are_limits() -> None:
    limit = '<limit lower="{}" upper="{}" velocity="{}" effort="1"/>'

    def find(kind: str, *numbers: float) -> list[float]:
        joint = f'<joint name="j" type="{kind}"><parent link="a"/><child link="b"/>{limit.format(*numbers)}</joint>'
        robot = Robot.from_urdf(f'<robot name="r"><link name="a"/><link name="b"/>{joint}</robot>')
        assert ArmModel.of(robot, np.zeros(3)).reach.tolist() == robot.path_to("b").reach.tolist()
        return [float(number) for number in robot.path_to("b").reach[:, 0]]

    assert find("revolute", -1.0, 3.0, 4.0) == pytest.approx([3.0 * 57.29578 + 2.0 * np.pi, 400.0])
    assert find("prismatic", 0.0, 0.5, 2.0) == pytest.approx([2.0, 20.0])
    assert find("revolute", -1.0, 1.0, 0.01)[1] == 100.0
    assert find("revolute", 0.0, 0.0, 0.0) == [np.inf, np.inf]
    assert find("continuous", 0.0, 0.0, 0.0)[0] > 1e9


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


def test_more_joints_than_the_memory_is_made_for_are_refused_only_where_they_matter() -> None:
    """Pinocchio would reserve the cube of their number: 3000 joints end the process, whoever has described them."""
    chain, beside = (Robot.from_urdf(make_long_urdf(3000, is_chain)) for is_chain in (True, False))
    with pytest.raises(UnsupportedJointError, match="3000 joints, more than 150, on the way to 'link3000'"):
        chain.path_to("link3000")
    assert len(chain.path_to("link150").joint_names) == 150
    for robot in (chain, beside):
        with pytest.raises(UnsupportedJointError, match=r"3000 joints, more than 150, .* name those .* links.joints"):
            ArmModel.of(robot, np.zeros(3))
    assert beside.path_to("link3000").joint_names == ("joint3000",)
    assert ArmModel.of(beside, np.zeros(3), ["joint7"]).joint_names == ("joint7",)
