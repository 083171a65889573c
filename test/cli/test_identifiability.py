"""The command `inertid identifiability`, as typed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.random_robots import make_chain

from inertid_ros.cli.main import main
from inertid_ros.files.share import share_path

DDARM, PUMA = (str(share_path("urdf", name)) for name in ("ddarm.urdf", "puma560.urdf"))
TWO_JOINTS = make_chain(
    [("revolute", (0.0, 0.0, 0.1), (0.0, 0.0, 0.0)), ("revolute", (0.3, 0.0, 0.0), (1.5708, 0.0, 0.0))]
)


def test_ddarm_is_shown_as_in_the_paper(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["identifiability", DDARM]) == 0
    lines = [" ".join(line.replace("│", " ").split()) for line in capsys.readouterr().out.splitlines()]
    assert lines[:5] == [
        "From the efforts of the joints, of 30 parameters of 3 links:",
        "9 ● identifiable alone",
        "10 ○ identifiable in combinations only, 6 of them",
        "11 · not identifiable",
        "15 base parameters in all (9 + 6), by QR and by SVD",
    ]
    assert "joint1 link1 · · · · · · · · · ○" in lines
    assert "joint2 link2 · ● ○ · ○ ● ● ○ ○ ○" in lines
    assert "joint3 link3 ○ ● ● ○ ○ ● ● ○ ● ●" in lines
    assert "1 link1.Izz + link2.Ixx + 0.2025 link3.m + link3.Ixx 12.8163 kg m²" in lines
    assert "2 link2.mcy - link3.mcz 3.0813 kg m" in lines


@pytest.mark.parametrize(("source", "rank"), [("effort", 36), ("base_wrench", 41), ("both", 41)])
def test_json_has_all_of_it(source: str, rank: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["identifiability", PUMA, "--source", source, "--json"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert (content["source"], content["rank"], len(content["base_parameters"])) == (source, rank, rank)
    assert sum(len(content[group]) for group in ("alone", "combined", "not_at_all")) == 60
    by_text = {entry["combination"]: entry for entry in content["base_parameters"]}
    entry = by_text["link5.mcy - link6.mcz"]
    assert entry["coefficients"] == {"link5.mcy": 1.0, "link6.mcz": -1.0}
    assert entry["urdf_value"] == pytest.approx(-0.09 * 0.032)


def test_joints_that_are_left_out_are_fixed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["identifiability", DDARM, "--joints", "joint2", "--json"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert content["joints"] == ["joint2"]
    assert content["alone"] == ["link2.mcx", "link2.mcy", "link2.Izz"]


def test_gravity_along_the_joint_hides_the_centre_of_mass(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["identifiability", DDARM, "--joints", "joint2", "--gravity", "0", "9.8", "0", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["alone"] == ["link2.Izz"]


BAD = {
    "not XML": ("nonsense <", "not well-formed XML"),
    "empty": ("", "not well-formed XML"),
    "another document": ("<sdf/>", "it is an SDF file"),
    "no joints": ('<robot name="x"><link name="a"/></robot>', "no joint that moves"),
    "no links": ('<robot name="x"/>', ""),
    "floating": (TWO_JOINTS.replace('"joint2" type="revolute"', '"joint2" type="floating"'), "joint 'joint2' is a"),
    "planar": (TWO_JOINTS.replace('"joint2" type="revolute"', '"joint2" type="planar"'), "joint 'joint2' is a"),
    "unknown type": (TWO_JOINTS.replace('"joint2" type="revolute"', '"joint2" type="wobbly"'), "cannot be used"),
    "missing parent": (TWO_JOINTS.replace('parent link="link1"', 'parent link="link9"'), "cannot be used"),
    "no number": (TWO_JOINTS.replace('xyz="0.3 0.0 0.0"', 'xyz="a b c"'), ""),
    "no finite number": (TWO_JOINTS.replace('xyz="0.3 0.0 0.0"', 'xyz="nan 0 0"'), ""),
}


def check_one_line(capsys: pytest.CaptureFixture[str], expected: str) -> None:
    output = capsys.readouterr()
    assert output.out == ""
    (line,) = output.err.splitlines()
    assert line.startswith("inertid identifiability: ")
    assert expected in line


@pytest.mark.parametrize("kind", BAD)
def test_a_bad_urdf_is_refused_in_one_line(kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text, expected = BAD[kind]
    path = tmp_path / "robot.urdf"
    path.write_text(text, encoding="utf-8")
    assert main(["identifiability", str(path)]) == 1
    check_one_line(capsys, expected)


def test_what_cannot_be_read_is_refused_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    binary = tmp_path / "robot.stl"
    binary.write_bytes(b"\x00\xff\xfe")
    for path, expected in (
        (tmp_path / "missing.urdf", "No such file"),
        (tmp_path, "Is a directory"),
        (binary, "is not text"),
    ):
        assert main(["identifiability", str(path)]) == 1
        check_one_line(capsys, expected)


def test_unusable_joints_and_gravity_are_refused_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["identifiability", DDARM, "--joints", "elbow"]) == 1
    check_one_line(capsys, "joint 'elbow' is not in the robot description; it has: joint1, joint2, joint3")
    assert main(["identifiability", DDARM, "--gravity", "0", "nan", "0"]) == 1
    check_one_line(capsys, "--gravity")


def _rows_of_page(heading: str) -> list[list[str]]:
    page = (Path(__file__).parents[2] / "docs" / "identifiability.md").read_text(encoding="utf-8")
    table = page.split(f"\n| {heading} |", 1)[1].split("\n\n", 1)[0]
    return [[cell.strip().strip("`") for cell in line.strip("|").split("|")] for line in table.splitlines()[2:]]


def test_the_page_shows_what_the_command_prints(capsys: pytest.CaptureFixture[str]) -> None:
    main(["identifiability", DDARM])
    printed = [" ".join(line.replace("│", " ").split()) for line in capsys.readouterr().out.splitlines()]
    rows = _rows_of_page("combination")
    assert len(rows) == 6
    for number, row in enumerate(rows, start=1):
        assert f"{number} {row[0]} {row[1]}" in printed


def test_the_page_has_the_counts_of_the_shipped_arms(capsys: pytest.CaptureFixture[str]) -> None:
    for robot, source, *counts in _rows_of_page("arm"):
        main(["identifiability", str(share_path("urdf", robot)), "--source", source, "--json"])
        content = json.loads(capsys.readouterr().out)
        alone, combined, absent = (len(content[group]) for group in ("alone", "combined", "not_at_all"))
        together = f"{combined} in {content['rank'] - alone}"
        assert counts == [str(alone + combined + absent), str(alone), together, str(absent), str(content["rank"])]
