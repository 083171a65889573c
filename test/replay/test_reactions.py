"""`inertid reactions` on simulated bags of an arm at rest."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.bags import Message, joint_messages, text_message, wrench_messages, write_bag
from west_puma260 import L2X, MASSES, PRINTED, G, draw_poses, make_urdf

from inertid_ros.cli.main import main
from inertid_ros.core.errors import FileFormatError
from inertid_ros.core.records import FloatArray, WrenchBlock
from inertid_ros.files.parameters import read_static_file
from inertid_ros.motions.motion import Hold, MinimumJerk, Motion, Sequence
from inertid_ros.sim.sensors import SensorModel
from inertid_ros.sim.simulator import Simulator

URDF = make_urdf()
LEVEL = np.array([0.0, 0.0, -G])
SINE, COSINE = np.sin(np.radians(25.0)), np.cos(np.radians(25.0))
TILTS = (LEVEL, G * np.array([SINE, 0.0, -COSINE]), G * np.array([0.0, -SINE, -COSINE]))
OFFSET = (2.0, -1.0, 3.0, 0.1, -0.2, 0.3)


def visit(poses: FloatArray) -> Motion:
    """Rest in each pose for 1.2 s, with half a second between."""
    motions: list[Motion] = [Hold(poses[0], 1.2)]
    for start, end in pairwise(poses):
        motions += [MinimumJerk([start, end], [0.5]), Hold(end, 1.2)]
    return Sequence(motions)


def record(
    path: Path, gravity: FloatArray, seed: int, sign: float = 1.0, poses: FloatArray | None = None, **sensors: Any
) -> Path:
    """A bag of the arm on a base with a gravity in its own axes."""
    motion = visit(draw_poses(8, seed)[0] if poses is None else poses)
    model = SensorModel(joint_rate=100.0, wrench_rate=100.0, force_noise=0.1, torque_noise=0.01, **sensors)
    simulator = Simulator(URDF, "link3", motion, model, gravity=gravity, seed=seed)
    block = simulator.base_wrenches(0.0, motion.duration)
    base = WrenchBlock(block.frame, block.stamps, sign * block.wrenches)
    messages = [
        *joint_messages(simulator.joints(0.0, motion.duration)),
        *wrench_messages(base, "/base_wrench"),
    ]
    messages.sort(key=lambda message: message[2])
    return write_bag(path, [text_message(URDF, messages[0][2]), *messages])


def write_parameters(folder: Path, text: str) -> Path:
    """A parameter file of the node."""
    path = folder / "parameters.yaml"
    path.write_text(f"/**: {{ros__parameters: {{{text}}}}}")
    return path


def reactions(capsys: pytest.CaptureFixture[str], *arguments: object, code: int = 0) -> dict[str, Any]:
    capsys.readouterr()
    assert main(["reactions", *map(str, arguments), "--json"]) == code
    content: dict[str, Any] = json.loads(capsys.readouterr().out)
    return content


def values_of(content: dict[str, Any]) -> dict[str, float]:
    return {entry["name"]: entry["value"] for entry in content["parameters"]}


def check_puma(content: dict[str, Any]) -> None:
    """What West's nine parameters and the mass must be, in the frames of the URDF."""
    found = values_of(content)
    assert found["base.m"] == pytest.approx(MASSES.sum(), abs=0.02)
    wanted = dict(zip(("link3.mcx", "link3.mcy", "link2.mcx", "link2.mcy"), PRINTED[:4], strict=True))
    wanted |= {"link1.mcy": -PRINTED[4], "link1.mcx": PRINTED[5], "base.mcy": -PRINTED[6], "base.mcx": -PRINTED[7]}
    for name, value in wanted.items():
        assert found[name] == pytest.approx(value, abs=2e-3), name
    for entry in content["parameters"]:
        assert abs(entry["value"] - entry["urdf"]) < 5.0 * entry["deviation"] + 1e-6, entry["name"]


@pytest.fixture(scope="module")
def bags(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("bags")
    return [record(folder / f"tilt{index}", gravity, index) for index, gravity in enumerate(TILTS)]


def given(*tilts: FloatArray) -> list[object]:
    """The options that say how the base is tilted."""
    return [part for tilt in tilts for part in ("--gravity", *(f"{value:.6f}" for value in tilt))]


def test_two_orientations_from_the_force_give_nine_parameters(
    bags: list[Path], capsys: pytest.CaptureFixture[str]
) -> None:
    content = reactions(capsys, *bags[:2], "--gravity-from-force")
    assert content["poses"] == [8, 8]
    assert len(content["parameters"]) == 10
    texts = {entry["name"]: entry["combination"] for entry in content["parameters"]}
    assert texts["link2.mcx"] == f"link2.mcx + {L2X:.4g} link3.m"
    check_puma(content)
    assert content["condition_number"] < 10.8
    assert content["pose_to_add"]["condition_number"] < content["condition_number"]
    assert 0.5 < content["residual_in_deviations"] < 3.0


def test_orientations_that_are_given_do_as_well(bags: list[Path], capsys: pytest.CaptureFixture[str]) -> None:
    check_puma(reactions(capsys, *bags[:2], "--no-offset", *given(*TILTS[:2])))


def test_offset_of_the_sensor_is_found_with_three_orientations(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = [record(tmp_path / f"{i}", tilt, i, bias=OFFSET) for i, tilt in enumerate(TILTS)]
    content = reactions(capsys, *paths, *given(*TILTS))
    check = {f"sensor.{name}": value for name, value in zip(("fx", "fy", "fz", "nx", "ny", "nz"), OFFSET, strict=True)}
    found = values_of(content)
    for name, value in check.items():
        assert found[name] == pytest.approx(value, abs=0.2 if name[-2] == "f" else 0.02)
    assert found["base.m"] == pytest.approx(MASSES.sum(), abs=0.05)


def test_one_orientation_says_what_it_cannot_tell_apart(bags: list[Path], capsys: pytest.CaptureFixture[str]) -> None:
    content = reactions(capsys, bags[0])
    mass = content["parameters"][0]["combination"]
    assert mass == "base.m + link1.m + link2.m + link3.m + 0.102 sensor.fz"
    assert "base.mcz" in content["not_identified"]
    assert main(["reactions", str(bags[0])]) == 0
    assert "orientations of the base: 1 of the 3 that identify all that gravity can" in capsys.readouterr().out


def test_wrench_on_the_ground_is_called_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = [record(tmp_path / f"{i}", tilt, i, sign=-1.0) for i, tilt in enumerate(TILTS[:2])]
    for options in (["--gravity-from-force"], ["--no-offset", *given(*TILTS[:2])]):
        wrong = reactions(capsys, *paths, *options, code=1)
        assert "links.base_wrench_sign to on_ground" in wrong["notes"][0]
        parameters = write_parameters(tmp_path, "links: {base_wrench_sign: on_ground}")
        check_puma(reactions(capsys, *paths, *options, "--params", parameters))


def test_pose_to_add_moves_the_joint_that_did_not(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    poses = draw_poses(8, 0)[0]
    poses[:, 2] = 0.5
    paths = [record(tmp_path / f"{i}", tilt, i, poses=poses) for i, tilt in enumerate(TILTS[:2])]
    content = reactions(capsys, *paths, "--gravity-from-force")
    assert len(content["parameters"]) == 8
    assert content["pose_to_add"]["combinations"] == 10
    assert abs(content["pose_to_add"]["positions"]["joint3"] - 0.5) > 0.1
    assert main(["reactions", *map(str, paths), "--gravity-from-force"]) == 0
    assert "identifies 2 more" in capsys.readouterr().out


def test_table_is_printed(bags: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    parameters = write_parameters(tmp_path, f"gravity: [0.0, 0.0, {-G}]")
    assert main(["reactions", str(bags[0]), "--params", str(parameters), "--no-offset"]) == 0
    printed = capsys.readouterr().out
    assert "link3.mcx" in printed
    assert "condition number" in printed
    assert "pose to add: joint1" in printed
    assert "not identifiable from poses at rest" in printed


def test_bad_input_is_refused_in_one_line(bags: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    short = write_bag(tmp_path / "short", list(joint_only(LEVEL)))
    other = tmp_path / "other.urdf"
    other.write_text(URDF.replace("joint1", "shoulder").replace("joint2", "elbow").replace("joint3", "wrist"))
    cases: list[tuple[list[object], str]] = [
        ([tmp_path / "nothing"], "does not exist"),
        ([short], "has no topic /base_wrench"),
        ([bags[0], "--urdf", other], "none of the joints"),
        (
            [bags[0], "--params", write_parameters(tmp_path, "links: {base_frame: link1}")],
            "set links.base_frame to 'base'",
        ),
        ([*bags, *given(LEVEL, LEVEL)], "one for each of the 3"),
        ([bags[0], "--remap", "base_wrench:=/joint_states"], "use --remap base_wrench:=/base_wrench"),
        ([bags[0], "--remap", "wrist:=/w"], "base_wrench:=/TOPIC"),
    ]
    for arguments, words in cases:
        assert main(["reactions", *map(str, arguments)]) == 1, words
        lines = capsys.readouterr().err.splitlines()
        assert len(lines) == 1
        assert words in lines[0]


def test_poses_are_written_for_a_base_sensor_with_an_offset(
    bags: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "poses.yaml"
    content = reactions(capsys, bags[0], "--poses", path)
    static = read_static_file(path)
    assert static.joint_names == ("joint1", "joint2", "joint3")
    assert static.positions.shape == (content["poses"][0], 3)
    expected = draw_poses(8, 0)[0]
    np.testing.assert_allclose(static.positions, expected, atol=2e-3)
    assert main(["reactions", str(bags[0]), "--poses", str(tmp_path / "nowhere" / "poses.yaml")]) == 1
    assert "cannot be written" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("joints: [a]\npositions: [[1.0]]\nwrenches: [[1, 2, 3, 4, 5, 6]]", "at least two poses"),
        ("joints: [a]\npositions: [[1.0], [2.0]]\nwrenches: [[1, 2, 3], [4, 5, 6]]", "expected 2 x 6 numbers"),
        ("positions: []", "lacks 'joints'"),
    ],
)
def test_files_without_poses_are_refused(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "poses.yaml"
    path.write_text(text)
    with pytest.raises(FileFormatError, match=words):
        read_static_file(path)


def joint_only(gravity: FloatArray) -> Iterator[Message]:
    """Joint states without wrenches."""
    simulator = Simulator(URDF, "link3", Hold(np.zeros(3)), gravity=gravity)
    yield text_message(URDF, 1)
    yield from joint_messages(simulator.joints(0.0, 1.0))


def test_one_pose_is_enough_for_a_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bag = record(tmp_path / "one", LEVEL, 0, poses=draw_poses(1, 0)[0])
    content = reactions(capsys, bag, "--gravity-from-force")
    assert [entry["name"] for entry in content["parameters"]] == ["base.m", "base.mcx", "base.mcy"]
    assert content["pose_to_add"]["combinations"] > 3


def test_a_bag_without_rest_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    motion = MinimumJerk(draw_poses(4, 0)[0], [0.5, 0.5, 0.5])
    simulator = Simulator(URDF, "link3", motion)
    messages = [
        text_message(URDF, 1),
        *joint_messages(simulator.joints(0.0, 1.4)),
        *wrench_messages(simulator.base_wrenches(0.0, 1.4), "/base_wrench"),
    ]
    bag = write_bag(tmp_path / "moving", messages)
    assert main(["reactions", str(bag)]) == 1
    assert "standing still" in capsys.readouterr().err
