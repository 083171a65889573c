"""`inertid excite --target links`: what it writes, what it shows, and what it says when something is wrong."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from rosbags.highlevel import AnyReader

from inertid_ros.cli.main import main
from inertid_ros.core.equations.model import LinkModel
from inertid_ros.core.robot.robot import Robot
from inertid_ros.core.settings.settings import Settings
from inertid_ros.files.estimate import FORMAT, VERSION
from inertid_ros.files.parameters import list_settings
from inertid_ros.files.share import share_path

DDARM_FILE = share_path("urdf", "ddarm.urdf")
QUICK = ("--target", "links", "--candidates", "400", "--duration", "3.9")
FAST = ("--speed-scale", "1", "--tool-speed", "inf", "--joint-margin", "0")
GRIPPER = """
  <link name="finger"/>
  <joint name="finger_joint" type="prismatic">
    <parent link="link3"/><child link="finger"/><axis xyz="1 0 0"/>
    <limit lower="0" upper="0.04" velocity="0.1" effort="20"/>
    <mimic joint="joint3"/>
  </joint>
</robot>"""


@pytest.fixture(autouse=True)
def wide_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")


def write_start(file: Path, urdf: Path = DDARM_FILE, deviation: float = 1e-3, **changes: object) -> Path:
    """What a replay that identified links wrote, as far as it matters here."""
    settings = Settings.from_flat({"links.effort_unit": "newton_metre"})
    robot = Robot.from_urdf(urdf.read_text())
    model = LinkModel.from_settings(robot, settings, robot.joint_names)
    base = {
        "names": [model.base.names[column] for column in model.base.columns],
        "states": ["known"] * model.base.rank,
        "combinations": model.base.texts,
        "values": model.prior.tolist(),
        "covariance": np.diag(np.full(model.base.rank, deviation**2)).tolist(),
    }
    links = {"source": "effort", "joint_names": robot.joint_names, "parameters": {}, "joints": {}}
    links["base_parameters"] = base | changes
    content = {"format": FORMAT, "version": VERSION, "settings": list_settings(settings), "links": links}
    file.write_text(json.dumps(content | {"urdf_sha256": ""}))
    return file


def test_excite_designs_for_links_and_shows_every_base_parameter(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["excite", str(DDARM_FILE), *QUICK, *FAST, "-o", str(tmp_path / "out")]) == 0
    shown = capsys.readouterr().out
    for text in ("paper's moves", "link2.Iyz + 0.45 link3.mcz", "joint3.coulomb", "of 22 will be known", "joint1 0.23"):
        assert text in shown
    assert "joint3.offset" not in shown
    assert "would exceed the limits" not in shown
    with AnyReader([tmp_path / "out" / "trajectory"]) as reader:
        ((connection, _, data),) = list(reader.messages())
        trajectory = reader.deserialize(data, connection.msgtype)
    assert trajectory.joint_names == ["joint1", "joint2", "joint3"]  # type: ignore[attr-defined]


def test_excite_says_that_the_papers_moves_exceed_narrow_limits(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    limits = tmp_path / "limits.yaml"
    limits.write_text("joints: {joint1: {acceleration: 5.0}}")
    assert main(["excite", str(DDARM_FILE), *QUICK, "--limits", str(limits), "-o", str(tmp_path / "out")]) == 0
    assert "The paper's moves would exceed the limits" in capsys.readouterr().out


def test_excite_for_links_starts_from_an_estimate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    start = write_start(tmp_path / "estimate.json")
    assert main(["excite", str(DDARM_FILE), *QUICK, "--start", str(start), "-o", str(tmp_path / "out")]) == 0
    assert "│        0.001 │" in capsys.readouterr().out


def test_excite_for_links_from_a_base_wrench_leaves_drives_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--source", "base_wrench", "--duration", "1", "--force-noise", "0.5", "-o", str(tmp_path / "out")]
    assert main(["excite", str(DDARM_FILE), *QUICK, *arguments]) == 0
    shown = capsys.readouterr().out
    assert "joint1.viscous" not in shown
    assert "link1.m" in shown
    assert "assumed white noise [unit/sqrt(Hz)]: base.fx 0.5, base.fy 0.5, base.fz 0.5, base.nx 0.0071" in shown


def test_excite_for_links_leaves_joints_that_mimic_others_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    urdf = tmp_path / "arm.urdf"
    urdf.write_text(DDARM_FILE.read_text().replace("</robot>", GRIPPER))
    assert main(["excite", str(urdf), *QUICK, "--duration", "1", "-o", str(tmp_path / "out")]) == 0
    assert "finger_joint" not in capsys.readouterr().out
    assert main(["excite", str(urdf), *QUICK, "-o", str(tmp_path / "new"), "--joints", "joint1", "finger_joint"]) == 1
    assert "joint 'finger_joint' mimics another joint" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--joints", "elbow"], "joint 'elbow' is not in the robot description; it has: joint1, joint2, joint3"),
        (["--sensor-frame", "link3"], "'--sensor-frame' is 'link3': expected it to be left out with --target links"),
        (["--effort-noise", "0"], "'--effort-noise' is 0.0: expected a density above 0"),
        (["--effort-noise", "1", "2"], "expected one density, or 3, one for each joint"),
        (["--target", "load", "--source", "both"], "expected it to be left out with --target load"),
        (["--limits", "LIMITS"], "joint 'elbow' is not one of the joints that move: joint1, joint2, joint3"),
        (["--start", "START", "--source", "effort"], "expected it to be left out with --target links and --start"),
        (["--start", "EMPTY"], "has no links: identify them with estimators [links]"),
        (["--start", "OTHER"], "do not fit"),
        (["--start", "PUMA"], "is of an arm with joint joint4, which the robot description does not have"),
    ],
)
def test_excite_for_links_says_what_is_wrong_and_fails(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], expected: str
) -> None:
    files = {name: tmp_path / name for name in ("LIMITS", "START", "EMPTY", "OTHER", "PUMA")}
    files["LIMITS"].write_text("joints: {elbow: {lower: 0}}")
    write_start(files["START"])
    empty = {"format": FORMAT, "version": VERSION, "settings": list_settings(Settings()), "urdf_sha256": ""}
    files["EMPTY"].write_text(json.dumps(empty))
    write_start(files["OTHER"], combinations=["link1.m"])
    write_start(files["PUMA"], share_path("urdf", "puma560.urdf"))
    named = [str(files.get(argument, argument)) for argument in arguments]
    assert main(["excite", str(DDARM_FILE), *QUICK, *named, "-o", str(tmp_path / "out")]) == 1
    shown = capsys.readouterr()
    assert shown.out == ""
    (line,) = shown.err.splitlines()
    assert expected in line
    assert not (tmp_path / "out").exists()
