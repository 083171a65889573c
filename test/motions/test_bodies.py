"""Collision geometry: where meshes are found, what is said where they are not, hulls and meshes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from inertid_ros.core.errors import RobotDescriptionError
from inertid_ros.core.robot.robot import Robot
from inertid_ros.motions.bodies import Geometry
from inertid_ros.motions.files import read_limits
from inertid_ros.motions.safety import UnsafeMotionError
from inertid_ros.motions.workspace import Workspace

BOX = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
FACES = [(0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1), (2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4)]
FACES += [(1, 5, 7), (1, 7, 3)]


def write_stl(file: Path, *boxes: tuple[tuple[float, float, float], tuple[float, float, float]]) -> None:
    """Write a mesh made of boxes, each with its centre and its size."""
    lines = ["solid mesh"]
    for center, size in boxes:
        corners = BOX * size + center
        for face in FACES:
            vertices = "".join(f"vertex {x} {y} {z}\n" for x, y, z in corners[list(face)])
            lines.append(f"facet normal 0 0 0\nouter loop\n{vertices}endloop\nendfacet")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("\n".join([*lines, "endsolid mesh"]))


def make_urdf(first: str, last: str) -> str:
    """Three links; the last one slides along x at a height of 0.3 m, by a turn about z that is in between."""
    limit = '<limit lower="-1" upper="1" velocity="1" effort="10"/>'
    return (
        f'<robot name="arm"><link name="base"><collision><geometry>{first}</geometry></collision></link>'
        '<link name="turn"/>'
        f'<link name="slide"><collision><geometry>{last}</geometry></collision></link>'
        f'<joint name="a" type="revolute"><parent link="base"/><child link="turn"/><axis xyz="0 0 1"/>{limit}</joint>'
        '<joint name="b" type="prismatic"><parent link="turn"/><child link="slide"/><axis xyz="1 0 0"/>'
        f"{limit}</joint></robot>"
    )


def read(text: str, folder: Path, *packages: Path) -> Geometry:
    return Geometry.of_urdf(text, Robot.from_urdf(text).model, folder / "arm.urdf", packages)


def find_distance(text: str, folder: Path, position: float) -> float | None:
    """Distance of the only pair, if it is less than 2 m, with the last link at a position."""
    robot = Robot.from_urdf(text)
    path = robot.path_to("slide")
    workspace = Workspace(floors=(), self_margin=0.0)
    check, _ = workspace.make_check(
        robot, (folder / "arm.urdf", text), path.joint_names, np.array([0, 0, -9.81]), read_limits(path)
    )
    found = check.find_pose_violation(np.array([0.0, position]))
    return None if found is None else found.distance


@pytest.mark.parametrize("place", ["packages", "sourced", "above", "checkout", "relative", "file"])
def test_meshes_are_found(place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folders = {"packages": "dir/my_arm", "sourced": "install/share/my_arm", "above": "my_arm", "checkout": "other_name"}
    mesh = tmp_path / folders.get(place, "urdf") / "meshes" / "a.stl"
    write_stl(mesh, ((0.0, 0.0, 0.0), (0.1, 0.2, 0.3)))
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path / "install"))
    uri = {"relative": "meshes/a.stl", "file": f"file://{mesh}"}.get(place, "package://my_arm/meshes/a.stl")
    urdf = tmp_path / "other_name" / "urdf" if place == "checkout" else tmp_path / "urdf"
    text = make_urdf('<box size="1 1 1"/>', f'<mesh filename="{uri}" scale="2 1 1"/>')
    found = read(text, urdf, *([tmp_path / "dir"] if place == "packages" else []))
    assert found.missing == ()
    assert np.ptp(found.bodies[1].points, axis=0) == pytest.approx([0.2, 0.2, 0.3], abs=1e-6)


def test_a_mesh_that_is_not_there_is_named_and_the_motion_is_refused(tmp_path: Path) -> None:
    text = make_urdf('<box size="1 1 1"/>', '<mesh filename="package://my_arm/a.stl"/>')
    (missing,) = read(text, tmp_path).missing
    assert "mesh 'package://my_arm/a.stl' of link 'slide' is not found: name the directory that contains" in missing
    with pytest.raises(UnsafeMotionError, match=r"cannot be checked .*my_arm.*--unchecked"):
        find_distance(text, tmp_path, 0.0)
    (tmp_path / "b.stl").write_text("no mesh")
    (missing,) = read(make_urdf('<box size="1 1 1"/>', '<mesh filename="b.stl"/>'), tmp_path).missing
    assert "cannot be read from" in missing or "has no volume" in missing


def test_links_are_kept_apart_by_meshes_and_not_by_their_hulls(tmp_path: Path) -> None:
    """A small box moves inside a U, whose hull it is in, and then through one of its walls."""
    write_stl(
        tmp_path / "u.stl",
        ((0.0, 0.0, -0.2), (0.8, 0.2, 0.05)),
        ((-0.4, 0.0, 0.0), (0.05, 0.2, 0.4)),
        ((0.4, 0.0, 0.0), (0.05, 0.2, 0.4)),
    )
    text = make_urdf('<mesh filename="u.stl"/>', '<box size="0.1 0.1 0.1"/>')
    assert find_distance(text, tmp_path, 0.0) is None
    assert find_distance(text, tmp_path, 0.31) is None
    distance = find_distance(text, tmp_path, 0.37)
    assert distance is not None
    assert distance <= 0.0
    assert find_distance(text, tmp_path, 0.9) is None


@pytest.mark.parametrize(
    ("shape", "size"),
    [
        ('<box size="0.2 0.4 0.6"/>', (0.2, 0.4, 0.6)),
        ('<cylinder radius="0.1" length="0.6"/>', (0.2, 0.2, 0.6)),
        ('<sphere radius="0.3"/>', (0.6, 0.6, 0.6)),
        ('<capsule radius="0.1" length="0.6"/>', (0.2, 0.2, 0.8)),
    ],
)
def test_primitives_have_their_size(shape: str, size: tuple[float, ...], tmp_path: Path) -> None:
    body = read(make_urdf('<box size="1 1 1"/>', shape), tmp_path).bodies[1]
    assert np.ptp(body.points, axis=0) + 2.0 * body.radius == pytest.approx(size, rel=0.01)
    assert np.all(np.linalg.norm(body.points - body.center, axis=1) + body.radius <= body.reach + 1e-12)


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ("<cone/>", "is a <cone>: only box"),
        ('<box size="1 x 1"/>', "cannot be used: <box"),
        ('<sphere length="1"/>', "cannot be used: <sphere"),
        ("", "is empty"),
    ],
)
def test_geometry_that_cannot_be_used_is_named(shape: str, message: str, tmp_path: Path) -> None:
    text = make_urdf('<box size="1 1 1"/>', '<box size="1 1 1"/>')
    model = Robot.from_urdf(text).model
    broken = make_urdf('<box size="1 1 1"/>', shape)
    with pytest.raises(RobotDescriptionError, match=f"collision geometry of link 'slide' {message}"):
        Geometry.of_urdf(broken, model, tmp_path / "arm.urdf")


def test_links_with_a_mass_and_no_geometry_are_bare(tmp_path: Path) -> None:
    text = make_urdf('<box size="1 1 1"/>', '<box size="1 1 1"/>')
    assert read(text, tmp_path).bare == ()
    inertial = '<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
    heavy = text.replace('<link name="turn"/>', f'<link name="turn">{inertial}</link>')
    assert read(heavy, tmp_path).bare == ("turn",)
    with pytest.raises(UnsafeMotionError, match="no collision geometry in the robot description for 'turn'"):
        find_distance(heavy, tmp_path, 0.0)
