"""What a new user meets first: no ROS, an old result in the way, fingers that mimic each other."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from inertid_ros.cli.main import main
from inertid_ros.files.share import share_path
from inertid_ros.ros.main import check_ros

ROOT = Path(__file__).parents[2]
MIMIC = """
  <link name="finger"><inertial><mass value="0.1"/><inertia ixx="1e-4" iyy="1e-4" izz="1e-4"
    ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="finger_joint" type="revolute"><parent link="link3"/><child link="finger"/><axis xyz="0 0 1"/>
    <limit lower="-1" upper="1" velocity="1" effort="1"/><mimic joint="joint3"/></joint>
</robot>"""


@pytest.mark.parametrize("command", [["node"], ["driver"], ["demo"], ["demo", "ddarm"], ["publish", "bag"]])
def test_without_ros_the_commands_say_what_to_install(command: list[str]) -> None:
    program = (
        f"import sys; sys.modules['rclpy'] = None\nfrom inertid_ros.cli.main import main\nsys.exit(main({command}))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert "no module rclpy" in line
    assert "pip install 'inertid_ros[jazzy]'" in line


def test_with_ros_nothing_is_missing() -> None:
    check_ros()


def test_a_replay_overwrites_nothing_unless_forced(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "estimate.json").write_text("precious")
    assert main(["replay", "bag", "-o", str(tmp_path)]) == 1
    assert "--force" in capsys.readouterr().err
    assert main(["replay", "bag", "-o", str(tmp_path), "--force"]) == 1
    assert "'bag' does not exist" in capsys.readouterr().err
    assert (tmp_path / "estimate.json").read_text() == "precious"


def test_a_joint_that_mimics_another_is_left_out_without_being_asked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = share_path("urdf", "ddarm.urdf").read_text().replace("</robot>", MIMIC)
    (tmp_path / "arm.urdf").write_text(text)
    assert main(["identifiability", str(tmp_path / "arm.urdf")]) == 0
    assert "of 30 parameters of 3 links" in capsys.readouterr().out


def test_the_readme_says_how_the_commands_are_found_after_colcon() -> None:
    text = (ROOT / "README.md").read_text()
    assert "alias inertid='ros2 run inertid_ros inertid'" in text
    assert "pip install --user rosbags" in text
