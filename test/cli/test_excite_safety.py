"""`inertid excite` does no harm: random arms looked at by an independent program, and what it says where it cannot."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.primitive_arms import list_options, write_random_arm
from support.safety_oracle import find_violations, read_finer

from inertid_ros.cli.main import main
from inertid_ros.files.share import share_path

DDARM = share_path("urdf", "ddarm.urdf")
QUICK = ("--target", "load", "--candidates", "400", "--duration", "1")
ARMS = 100


@pytest.fixture(autouse=True)
def wide_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")


def try_arm(seed: int, folder: Path) -> bool:
    """Whether a motion was written for a random arm; an independent program finds nothing wrong with it."""
    urdf, rules = write_random_arm(folder, seed)
    command = ["excite", str(urdf), "--target", "load", "--candidates", "400", "-o", str(folder / f"{seed}")]
    if main([*command, *list_options(rules)]) != 0:
        return False
    assert find_violations(urdf, folder / f"{seed}" / "trajectory.csv", rules) == []
    return True


@pytest.mark.parametrize("seed", [1, 8])
def test_an_independent_program_finds_nothing_unsafe(seed: int, tmp_path: Path) -> None:
    """One that starts in its own pose, and one from a given pose."""
    assert try_arm(seed, tmp_path)


@pytest.mark.long
def test_an_independent_program_finds_nothing_unsafe_in_a_hundred_arms(tmp_path: Path) -> None:
    assert sum(try_arm(seed, tmp_path) for seed in range(ARMS)) > 0.9 * ARMS


def test_the_independent_program_finds_what_is_unsafe(tmp_path: Path) -> None:
    """A motion that is right by the rules it was made for is wrong by stricter ones."""
    urdf, rules = write_random_arm(tmp_path, 4)
    output = tmp_path / "out"
    options = list_options({**rules, "tool_speed": 3.0, "speed_scale": 1.0, "margin": 0.0, "self_margin": 0.0})
    command = ["excite", str(urdf), "--target", "load", "--candidates", "400", "--floor", "none", "-o", str(output)]
    assert main([*command, *options]) == 0
    strict = {**rules, "tool_speed": 0.2, "speed_scale": 0.1, "self_margin": 0.19, "floor": 2.0}
    strict["from"] = {f"joint{index}": 1.0 for index in range(6)}
    found = "; ".join(find_violations(urdf, output / "trajectory.csv", strict))
    for text in ("above the floor", "m apart", "moves at", "too fast", "does not begin where"):
        assert text in found


def test_the_motion_begins_where_the_arm_is_and_ends_at_rest(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The pose is what `ros2 topic echo --once /joint_states` prints, with a joint that is not of the arm."""
    pose = tmp_path / "pose.yaml"
    pose.write_text(
        "header:\n  frame_id: ''\nname: [joint2, joint1, joint3]\nposition: [1.6, 3.0, 1.4]\nvelocity: []\n---\n"
    )
    assert main(["excite", str(DDARM), *QUICK, "--from", str(pose), "-o", str(tmp_path / "out")]) == 0
    shown = capsys.readouterr().out
    for text in ("s of approach", "smallest distance (floor)", "smallest distance (self)", "lowest point", "of 1 m/s"):
        assert text in shown
    assert "largest speeds" in shown
    assert "largest efforts" in shown
    names, clock, positions, velocities = read_finer(tmp_path / "out" / "trajectory.csv", 1)
    assert names == ["joint1", "joint2", "joint3"]
    np.testing.assert_allclose(positions[0], [3.0, 1.6, 1.4], atol=1e-12)
    np.testing.assert_allclose(velocities[[0, -1]], 0.0, atol=1e-12)
    assert clock[-1] > 1.5


def strip_collisions(text: str) -> str:
    head, *parts = text.split("<collision>")
    return head + "".join(part.split("</collision>", 1)[1] for part in parts)


def test_what_cannot_be_checked_is_refused_until_it_is_accepted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    urdf = tmp_path / "arm.urdf"
    urdf.write_text(strip_collisions(DDARM.read_text()))
    assert main(["excite", str(urdf), *QUICK, "-o", str(tmp_path / "out")]) == 1
    said = capsys.readouterr().err
    assert (
        "cannot be checked for collisions: no collision geometry in the robot description for 'link1', 'link2'" in said
    )
    assert "--unchecked" in said
    assert not (tmp_path / "out").exists()
    options = ["--unchecked", "--floor", "none", "-o", str(tmp_path / "out")]
    assert main(["excite", str(urdf), *QUICK, *options]) == 0
    shown = capsys.readouterr().out
    assert "NOT CHECKED: no collision geometry" in shown
    assert "NOT CHECKED: the floor" in shown


BOX = "keep_out: {cell: {box: [3, 3, 3]}}"
BALL = "keep_out: {ball: {sphere: 0.1, center: [-0.06, 0.45, 0.6]}}"


@pytest.mark.parametrize(
    ("arguments", "content", "expected"),
    [
        (["--floor", "low"], "", "'--floor' is 'low': expected mount, none or a height in m"),
        (["--floor", "none", "1"], "", "expected none alone"),
        (["--speed-scale", "1.5"], "", "'--speed-scale' is 1.5: expected above 0, and 1 at most"),
        (["--tool-speed", "0"], "", "'--tool-speed' is 0.0: expected a speed above 0"),
        (["--margin", "-1"], "", "'--margin' is -1.0: expected 0 or more"),
        (["--floor", "2.0"], "", "in every pose these overlap, or are closer than the margin: "),
        (["--from", "joint1=1"], "", "expected positions of all joints that move; it lacks joint2, joint3"),
        (["--from", "joint1=1,joint2=x,joint3=0"], "", "'joint2' has entries that are not numbers"),
        (["--from", "joint1=3,joint2=1.5,joint3=1.4,elbow=1"], "", "joint 'elbow' is not in the robot description"),
        (
            ["--from", "joint1=3,joint2=1.6,joint3=1.4", "--workspace", "FILE"],
            BALL,
            "in the pose of --from 'link2' and",
        ),
        (["--from", "nowhere.yaml"], "", "'nowhere.yaml' cannot be read"),
        (["--workspace", "FILE"], BOX, "in every pose these overlap, or are closer than the margin: 'ft_sensor'"),
        (["--workspace", "FILE"], "boxes: {}", "'boxes' is none of keep_out, tool, ignore_pairs"),
        (["--workspace", "FILE"], "keep_out: {a: {box: [1, 2]}}", "'box' has the shape (2,), expected 3 numbers"),
        (["--workspace", "FILE"], "keep_out: {a: {size: 1}}", "'size' is none of box, cylinder, sphere, center, rpy"),
        (["--workspace", "FILE"], "keep_out: {a: {center: [0, 0, 0]}}", "needs one of box, cylinder, sphere"),
        (["--workspace", "FILE"], "keep_out: {a: {sphere: -1}}", "'sphere' is [-1.0], not lengths above 0"),
        (
            ["--workspace", "FILE"],
            "tool: {a: {sphere: 1, frame: nose}}",
            "frame 'nose' is not in the robot description",
        ),
        (["--workspace", "FILE"], "ignore_pairs: [[link1]]", "['link1'] is not a list of two names"),
        (["--workspace", "FILE"], "ignore_pairs: [[link1, nose]]", "nothing is called 'nose'; there are: base_link"),
    ],
)
def test_excite_says_what_is_wrong_and_what_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], content: str, expected: str
) -> None:
    file = tmp_path / "workspace.yaml"
    file.write_text(content)
    words = [str(file) if word == "FILE" else word for word in arguments]
    assert main(["excite", str(DDARM), *QUICK, *words, "-o", str(tmp_path / "out")]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert expected in line
    assert not (tmp_path / "out").exists()


@pytest.mark.long
def test_no_safe_motion_names_what_is_in_the_way(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Four walls, of which the arm is in one wherever it turns."""
    file = tmp_path / "workspace.yaml"
    places = {"east": (0.65, 0.0), "west": (-0.65, 0.0), "north": (0.0, 0.65), "south": (0.0, -0.65)}
    sizes = {"east": (0.6, 2.0), "west": (0.6, 2.0), "north": (2.0, 0.6), "south": (2.0, 0.6)}
    walls = [
        f"{name}: {{box: [{sizes[name][0]}, {sizes[name][1]}, 4], center: [{x}, {y}, 0]}}"
        for name, (x, y) in places.items()
    ]
    file.write_text("keep_out: {" + ", ".join(walls) + "}")
    assert main(["excite", str(DDARM), *QUICK, "--workspace", str(file), "-o", str(tmp_path / "out")]) == 1
    said = capsys.readouterr().err
    assert "no safe motion was found; in the way of the best one: " in said
    assert any(f"'{name}'" in said for name in places)
    assert "(--limits)" in said
