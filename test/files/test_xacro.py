"""Xacro files where a URDF is expected."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from inertid_ros.cli.main import main
from inertid_ros.core.errors import FileAccessError, RobotDescriptionError
from inertid_ros.core.robot.robot import Robot
from inertid_ros.files.urdf import UrdfFile

ARM = """\
<robot xmlns:xacro="http://www.ros.org/wiki/xacro" name="arm">
  <xacro:arg name="mass" default="2"/>
  <xacro:arg name="prefix" default=""/>
  <xacro:property name="length" value="${0.5 / 2}"/>
  <link name="base"/>
  <link name="$(arg prefix)link">
    <inertial>
      <origin xyz="${length} 0 0"/><mass value="$(arg mass)"/>
      <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>
    </inertial>
  </link>
  <joint name="$(arg prefix)joint" type="revolute">
    <parent link="base"/><child link="$(arg prefix)link"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="1" effort="1" velocity="1"/>
  </joint>
</robot>
"""


@pytest.fixture
def arm(tmp_path: Path) -> Path:
    pytest.importorskip("xacro")
    path = tmp_path / "my arm.urdf.xacro"
    path.write_text(ARM)
    return path


def find_mass(path: Path) -> tuple[str, float, float]:
    model = Robot.from_urdf(UrdfFile.read(path).text).model
    return model.names[1], model.inertias[1].mass, model.inertias[1].lever[0]


def test_a_xacro_file_is_expanded_with_its_arguments(arm: Path) -> None:
    assert find_mass(arm) == ("joint", 2.0, 0.25)
    assert find_mass(Path(f"{arm} mass:=3.5 prefix:=left_")) == ("left_joint", 3.5, 0.25)


def test_commands_take_it(arm: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["identifiability", f"{arm} prefix:=left_", "--json"]) == 0
    assert "left_link" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "<xacro:include filename='$(find no_such_package)/a.xacro'/>",
            r"source the workspace of the packages that it includes \(AMENT_PREFIX_PATH\)",
        ),
        (
            "<link name='$(arg model)'/>",
            "argument 'model' has no value; give its arguments behind the path: NAME:=VALUE",
        ),
        ("<link name='${1 / 0}'/>", "division by zero"),
        ("<link name='${nothing}'/>", "nothing"),
        ("<link", "not well-formed.*; correct its XML"),
    ],
)
def test_what_cannot_be_expanded_is_named(text: str, message: str, tmp_path: Path) -> None:
    pytest.importorskip("xacro")
    path = tmp_path / "bad.xacro"
    path.write_text(f'<robot xmlns:xacro="http://www.ros.org/wiki/xacro" name="a">{text}</robot>')
    with pytest.raises(RobotDescriptionError, match=f"'{path}' cannot be expanded: .*(?:{message})"):
        UrdfFile.read(path)


def test_a_missing_file_or_package_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "arm.xacro"
    with pytest.raises(FileAccessError, match=r"arm\.xacro.*No such file.*check --urdf"):
        UrdfFile.read(Path(f"{path} mass:=1"), "--urdf")
    path.write_text(ARM)
    monkeypatch.setitem(sys.modules, "xacro", None)
    with pytest.raises(FileAccessError, match="needs the package xacro: install it"):
        UrdfFile.read(path)


def test_a_urdf_in_a_directory_called_xacro_is_read_as_it_is(tmp_path: Path) -> None:
    directory = tmp_path / "a.xacro b"
    directory.mkdir()
    (directory / "arm.urdf").write_text("<robot name='a'><link name='base'/></robot>")
    assert UrdfFile.read(directory / "arm.urdf").text == "<robot name='a'><link name='base'/></robot>"
