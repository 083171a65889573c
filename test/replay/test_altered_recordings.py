"""Real recordings that were altered fail the command, and nothing that is written says that they can be trusted."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from support.bags import joint_messages, wrench_messages, write_bag
from support.recordings import read_joint_recording, read_load_recording

from inertid_ros.cli.main import main
from inertid_ros.core.records import FloatArray

GRAVITY = 9.82085
"""Where these poses were recorded [m/s²], as their README says."""
TURN = pin.exp3(np.array([0.4, -1.1, 0.9]))
LOAD_SETTINGS = """
/**:
  ros__parameters:
    gravity: {gravity}
    load: {{sensor_frame: ft_sensor}}
"""
LINKS_SETTINGS = """
/**:
  ros__parameters:
    estimators: [links]
    links: {effort_unit: newton_metre}
"""


def alter(what: str, positions: FloatArray, wrenches: FloatArray) -> tuple[FloatArray, FloatArray, list[float]]:
    """Positions, wrenches and gravity with something wrong."""
    gravity = np.array([0.0, 0.0, -GRAVITY])
    if what == "mirrored axis":
        wrenches = wrenches * np.array([1.0, -1.0, 1.0, 1.0, 1.0, 1.0])
    elif what == "left-handed":
        wrenches = wrenches * np.array([1.0, 1.0, -1.0, 1.0, 1.0, -1.0])
    elif what == "degrees":
        positions = np.degrees(positions)
    elif what == "joints swapped":
        positions = np.ascontiguousarray(positions[:, [*range(positions.shape[1] - 2), -1, -2]])
    elif what == "gravity along y":
        gravity = np.array([0.0, GRAVITY, 0.0])
    elif what == "turned at random":
        wrenches = np.hstack((wrenches[:, :3] @ TURN.T, wrenches[:, 3:] @ TURN.T))
    elif what == "base tilted by 10°":
        gravity = pin.exp3(np.radians(10.0) * np.array([0.6, -0.8, 0.0])) @ gravity
    return positions, wrenches, gravity.tolist()


def replay(bag: Path, settings: str, urdf: str, folder: Path) -> int:
    """The exit code; results are in the folder `out`."""
    (folder / "parameters.yaml").write_text(settings)
    (folder / "robot.urdf").write_text(urdf)
    given: Sequence[Path | str] = ("--params", folder / "parameters.yaml", "--urdf", folder / "robot.urdf")
    return main(["replay", str(bag), *map(str, given), "-o", str(folder / "out")])


def check_refused(folder: Path, shown: str, name: str) -> None:
    """Console, file and report say the same, and none of them to trust it."""
    verdict = json.loads((folder / "out" / "estimate.json").read_text())[name]["verdict"]
    assert verdict["level"] == "error"
    assert verdict["headline"].startswith("Do not use these numbers yet: ")
    assert f"verdict on the {name}: {verdict['headline']}" in shown
    assert "rustworthy" not in shown
    assert "Trustworthy" not in (folder / "out" / "report.html").read_text()


@pytest.mark.parametrize(
    "what",
    [
        "mirrored axis",
        "left-handed",
        "degrees",
        "joints swapped",
        "gravity along y",
        "turned at random",
        "base tilted by 10°",
    ],
)
def test_altered_poses_fail_and_are_not_to_be_used(
    what: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    urdf, joints, wrenches = read_load_recording("wrist_ft_static_poses")
    positions, values, gravity = alter(what, joints.positions, wrenches.wrenches)
    messages = [*joint_messages(joints._replace(positions=positions))]
    messages += wrench_messages(wrenches._replace(wrenches=values))
    bag = write_bag(tmp_path / "bag", sorted(messages, key=lambda message: message[2]))
    assert replay(bag, LOAD_SETTINGS.format(gravity=gravity), urdf, tmp_path) == 1
    check_refused(tmp_path, capsys.readouterr().out, "load")


def test_poses_as_they_are_pass(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Written anew by the same means: it is what was altered that fails."""
    urdf, joints, wrenches = read_load_recording("wrist_ft_static_poses")
    messages = sorted([*joint_messages(joints), *wrench_messages(wrenches)], key=lambda message: message[2])
    bag = write_bag(tmp_path / "bag", messages)
    assert replay(bag, LOAD_SETTINGS.format(gravity=[0.0, 0.0, -GRAVITY]), urdf, tmp_path) == 0
    assert "error: " not in capsys.readouterr().out


@pytest.mark.parametrize("name", ["lwr4_1", "panda_exciting"])
def test_efforts_of_a_twelfth_fail_and_are_not_to_be_used(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Amperes that are declared as newton metres."""
    urdf, joints = read_joint_recording(name)
    assert joints.efforts is not None
    bag = write_bag(tmp_path / "bag", list(joint_messages(joints._replace(efforts=joints.efforts / 12.0))))
    assert replay(bag, LINKS_SETTINGS, urdf, tmp_path) == 1
    shown = capsys.readouterr().out
    check_refused(tmp_path, shown, "links")
    assert "unit" in shown
