"""Boxes around links, from a URDF with shapes, without, and with a mesh."""

from __future__ import annotations

import numpy as np
import pytest

from inertid_ros.core.robot.robot import ArmModel, Robot

GRAVITY = np.array([0.0, 0.0, -9.81])
UPPER = '<collision><origin xyz="0 0 0.2" rpy="0 1.5707963267948966 0"/><geometry>{}</geometry></collision>'
CYLINDER = '<cylinder radius="0.06" length="0.5"/>'


def make_arm(shape: str) -> ArmModel:
    return ArmModel.of(
        Robot.from_urdf(f"""
<robot name="two">
  <link name="base"/>
  <link name="upper">
    <inertial><origin xyz="0 0.02 0.2"/><mass value="3"/>
      <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>
    {shape}
  </link>
  <link name="lower">
    <inertial><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>
  </link>
  <link name="tool"><collision><origin xyz="0 0 0.3"/><geometry><sphere radius="0.1"/></geometry></collision></link>
  <joint name="first" type="revolute"><parent link="base"/><child link="upper"/><axis xyz="0 0 1"/>
    <limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
  <joint name="second" type="revolute"><parent link="upper"/><child link="lower"/><axis xyz="0 1 0"/>
    <origin xyz="0 0 0.4"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
  <joint name="third" type="fixed"><parent link="lower"/><child link="tool"/><origin xyz="0.5 0 0"/></joint>
</robot>"""),
        GRAVITY,
    )


@pytest.mark.parametrize(
    ("shape", "low", "high"),
    [
        (UPPER.format(CYLINDER), (-0.30, -0.11, -0.05), (0.30, 0.11, 0.45)),
        (UPPER.format(CYLINDER).replace("collision", "visual"), (-0.30, -0.11, -0.05), (0.30, 0.11, 0.45)),
        (UPPER.format('<box size="0.1 0.2 0.3"/>'), (-0.20, -0.15, -0.05), (0.20, 0.15, 0.45)),
        (UPPER.format('<mesh filename="package://some/where.stl"/>'), (-0.15, -0.15, -0.15), (0.15, 0.17, 0.55)),
        (UPPER.format('<sphere radius="wrong"/>'), (-0.15, -0.15, -0.15), (0.15, 0.17, 0.55)),
        ("", (-0.15, -0.15, -0.15), (0.15, 0.17, 0.55)),
    ],
)
def test_a_box_holds_joints_shapes_and_centre_of_mass(
    shape: str, low: tuple[float, ...], high: tuple[float, ...]
) -> None:
    centre, half = make_arm(shape).boxes[0]
    np.testing.assert_allclose(centre - half, low, atol=1e-12)
    np.testing.assert_allclose(centre + half, high, atol=1e-12)


def test_what_is_fixed_to_the_last_link_and_a_gripper_have_room() -> None:
    centre, half = make_arm("").boxes[1]
    np.testing.assert_allclose(centre - half, [-0.3, -0.4, -0.3], atol=1e-12)
    np.testing.assert_allclose(centre + half, [0.9, 0.4, 0.7], atol=1e-12)
