"""What a robot looks like, against closed forms of volumes and pinocchio's own kinematics."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from support.chain import PUMA

from inertid_ros.core.records import FloatArray, IntArray
from inertid_ros.core.robot.robot import Robot
from inertid_ros.view.shapes import Kinematics, Shape, find_bounds, list_parts, triangulate

coal = pin.coal
NOWHERE = Path("robot.urdf")
LINK = (
    '<link name="arm"><inertial><mass value="2"/><inertia ixx=".1" iyy=".2" izz=".15" ixy="0" ixz="0" iyz="0"/>'
    "</inertial>{}</link>"
)
ROBOT = (
    '<robot name="r"><material name="red"><color rgba="1 0 0 1"/></material><link name="base"/>'
    '<joint name="j" type="revolute"><parent link="base"/><child link="arm"/><origin xyz="0 0 1"/><axis xyz="0 0 1"/>'
    f'<limit lower="-3" upper="3" velocity="1" effort="1"/></joint>{LINK}</robot>'
)
TETRAHEDRON = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])


def measure(points: FloatArray, faces: IntArray) -> float:
    """The volume inside triangles, by the divergence theorem: positive if all of them face outwards."""
    return float(np.linalg.det(points[faces]).sum() / 6.0)


@pytest.mark.parametrize(
    ("shape", "volume"),
    [
        (coal.Box(1.0, 2.0, 3.0), 6.0),
        (coal.Sphere(0.5), 4.0 / 3.0 * math.pi * 0.125),
        (coal.Cylinder(0.5, 2.0), math.pi * 0.25 * 2.0),
        (coal.Capsule(0.5, 2.0), math.pi * 0.25 * 2.0 + 4.0 / 3.0 * math.pi * 0.125),
    ],
)
def test_triangles_enclose_the_volume(shape: Any, volume: float) -> None:
    points, faces = triangulate(shape)
    assert measure(points, faces) == pytest.approx(volume, rel=0.04)
    assert measure(points, faces) <= volume * (1.0 + 1e-9)


def write_obj(path: Path) -> None:
    corners = "".join(f"v {x} {y} {z}\n" for x, y, z in TETRAHEDRON.tolist())
    path.write_text(corners + "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")


def test_a_mesh_is_shown_with_scale_place_and_colour(tmp_path: Path) -> None:
    write_obj(tmp_path / "arm.obj")
    seen = (
        '<visual><origin xyz="0 0 .5"/><geometry><mesh filename="arm.obj" scale="2 2 2"/></geometry>'
        '<material name="red"/></visual><collision><geometry><sphere radius="1"/></geometry></collision>'
    )
    text = ROBOT.format(seen)
    parts, missing = list_parts(text, Robot.from_urdf(text), tmp_path / "robot.urdf")
    (part,) = parts
    assert not missing
    assert measure(part.points, part.faces) == pytest.approx(8.0 / 6.0)
    assert (part.joint, part.colour) == (1, (255, 0, 0))
    np.testing.assert_allclose(part.placement.translation, [0.0, 0.0, 0.5])
    low, high = find_bounds(Shape(parts, missing), Kinematics(Robot.from_urdf(text)).joints)
    np.testing.assert_allclose([low, high], [[0.0, 0.0, 1.5], [2.0, 2.0, 3.5]])


def test_what_cannot_be_seen_is_shown_by_its_collision_geometry_and_named() -> None:
    text = ROBOT.format(
        '<visual><geometry><mesh filename="package://gone/arm.stl"/></geometry></visual>'
        '<collision><geometry><sphere radius="1"/></geometry></collision>'
    )
    (part,), (sentence,) = list_parts(text, Robot.from_urdf(text), NOWHERE)
    assert measure(part.points, part.faces) == pytest.approx(4.0 / 3.0 * math.pi, rel=0.04)
    assert "package://gone/arm.stl" in sentence


def test_where_there_is_no_geometry_the_inertia_is_shown() -> None:
    text = ROBOT.format("")
    (part,), missing = list_parts(text, Robot.from_urdf(text), NOWHERE)
    assert not missing
    squares = np.abs(part.points).max(axis=0) ** 2
    moments = 2.0 / 5.0 * (squares.sum() - squares)
    np.testing.assert_allclose(sorted(moments), [0.1, 0.15, 0.2], rtol=0.03)


def test_joints_and_frames_are_where_pinocchio_has_them() -> None:
    robot = Robot.from_urdf(PUMA)
    kinematics = Kinematics(robot)
    positions = np.linspace(-1.0, 1.0, 6)
    kinematics.move({"unknown": 3.0, **dict(zip(robot.joint_names, positions.tolist(), strict=True))})
    data = robot.model.createData()
    pin.framesForwardKinematics(robot.model, data, positions)
    found = kinematics.find("ft_sensor")
    assert found is not None
    np.testing.assert_allclose(found.homogeneous, data.oMf[robot.model.getFrameId("ft_sensor")].homogeneous, atol=1e-12)
    np.testing.assert_allclose(kinematics.joints[4].homogeneous, data.oMi[4].homogeneous, atol=1e-12)
    assert kinematics.find("nowhere") is None
