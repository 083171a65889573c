"""Frozen parameters against another recording."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.bags import (
    joint_messages,
    puma_messages,
    simulated_messages,
    text_message,
    wrench_messages,
    write_bag,
)
from support.chain import BAR, PUMA, puma_motion, push_force, simulate_puma

from inertid_ros.cli.main import main
from inertid_ros.core.rigid_body.inertial import change_frame, compose
from inertid_ros.files.estimate import read_estimate
from inertid_ros.files.share import share_path
from inertid_ros.files.urdf_inertials import find_urdf_load
from inertid_ros.replay.inputs import Plan
from inertid_ros.replay.validate import prepare


@pytest.fixture(autouse=True)
def wide_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")


@pytest.fixture(scope="module")
def estimate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("estimate")
    bag = write_bag(folder / "bag", puma_messages(12.0))
    parameters = str(share_path("config", "puma560.yaml"))
    assert main(["replay", str(bag), "--params", parameters, "-o", str(folder / "out")]) == 0
    return folder / "out"


def validate(capsys: pytest.CaptureFixture[str], *arguments: object) -> dict[str, Any]:
    capsys.readouterr()
    assert main(["validate", *map(str, arguments), "--json"]) == 0
    content = json.loads(capsys.readouterr().out)
    load: dict[str, Any] = content["load"]
    assert content["links"] is None
    assert content["notes"] == []
    assert content["relative_rms"] == pytest.approx(load["relative_rms"], rel=1e-12)
    assert content["channels"] == load["channels"]
    return load


def test_same_load_is_predicted_to_its_noise(
    estimate: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    simulator = simulate_puma(puma_motion(rounds=4), seed=7)
    bag = write_bag(tmp_path / "bag", simulated_messages(simulator, 0.0, 8.0))
    content = validate(capsys, estimate, bag)
    assert content["relative_rms"] < 0.1
    assert content["relative_rms"] < content["own_bias"]["relative_rms"]
    assert all(abs(channel["mean"]) < 1e-9 for channel in content["channels"].values())
    assert set(content["channels"]) == {"fx", "fy", "fz", "nx", "ny", "nz"}
    for channel in content["channels"].values():
        assert channel["relative_rms"] == pytest.approx(channel["rms"] / channel["measured_rms"])
    force = [content["channels"][name] for name in ("fx", "fy", "fz")]
    left, total = (np.sqrt(sum(entry[key] ** 2 for entry in force)) for key in ("rms", "measured_rms"))
    assert content["force"]["relative_rms"] == pytest.approx(left / total)


def test_gaps_are_said_as_a_replay_says_them(
    estimate: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    simulator, pieces = simulate_puma(puma_motion(rounds=4), seed=7), ((0.0, 3.0), (3.3, 5.0), (5.5, 8.0))
    bag = write_bag(tmp_path / "bag", [item for piece in pieces for item in simulated_messages(simulator, *piece)])
    parameters = str(share_path("config", "puma560.yaml"))
    expected = "restarted (2 readings inside gaps of joint_states are left out; 2 times): look for lost messages"
    for command in (
        ["validate", str(estimate), str(bag)],
        ["replay", str(bag), "--params", parameters, "-o", str(tmp_path / "out")],
        ["replay", str(bag), "--params", parameters, "--validate", str(estimate.parent / "bag"), "-o", str(tmp_path)],
    ):
        capsys.readouterr()
        assert main(command) == 0
        assert (
            capsys.readouterr().out.count(f"note: wrench: no sample for more than 0.15 s; filters were {expected}") == 1
        )
    assert len(validate(capsys, estimate, bag)["channels"]) == 6


def test_another_load_is_not(estimate: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    same, other = (
        write_bag(
            tmp_path / name,
            simulated_messages(simulate_puma(puma_motion(rounds=4), 7, schedule=((0.0, scale * BAR),)), 0.0, 6.0),
        )
        for name, scale in (("same", 1.0), ("other", 2.0))
    )
    left, wrong = validate(capsys, estimate, same), validate(capsys, estimate, other)
    assert wrong["force"]["relative_rms"] == pytest.approx(0.5, abs=0.1)
    assert left["force"]["relative_rms"] < 0.2 * wrong["force"]["relative_rms"]


def test_tared_sensor_shows_with_the_bias_of_the_estimate_only(
    estimate: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Both are relative to the same wrench: that of the second recording less its own bias."""
    simulator = simulate_puma(puma_motion(rounds=4), seed=7)
    offset = np.array([0.0, 30.0, 0.0, 0.0, 0.0, 0.0])
    wrenches = push_force(simulator.wrenches(0.0, 6.0), offset)
    messages = [text_message(PUMA, 0), *joint_messages(simulator.joints(0.0, 6.0)), *wrench_messages(wrenches)]
    tared = write_bag(tmp_path / "tared", sorted(messages, key=lambda message: message[2]))
    plain = write_bag(tmp_path / "plain", simulated_messages(simulator, 0.0, 6.0))
    before, after = validate(capsys, estimate, plain), validate(capsys, estimate, tared)
    assert (after["bias"], after["own_bias"]["bias"]) == ("refitted", "of the estimate")
    assert after["relative_rms"] == pytest.approx(before["relative_rms"], rel=1e-6)
    own, was = (content["own_bias"]["channels"]["fy"] for content in (after, before))
    assert own["measured_rms"] == after["channels"]["fy"]["measured_rms"]
    assert own["mean"] == pytest.approx(was["mean"] + 30.0)
    assert own["relative_rms"] == pytest.approx(30.0 / own["measured_rms"], rel=0.05)


def test_urdf_with_half_the_load_is_worse_than_the_estimate(
    estimate: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    center = " ".join(map(str, BAR[1:4] / BAR[0]))
    half = f"""<link name="load"><inertial><mass value="{0.5 * BAR[0]}"/><origin xyz="{center}"/>
    <inertia ixx="0" iyy="0" izz="0" ixy="0" ixz="0" iyz="0"/></inertial></link><joint name="grip" type="fixed">
    <parent link="ft_sensor"/><child link="load"/></joint></robot>"""
    urdf = tmp_path / "robot.urdf"
    urdf.write_text(PUMA.replace("</robot>", half))
    bag = write_bag(tmp_path / "bag", puma_messages(6.0, seed=7))
    content = validate(capsys, estimate, bag, "--urdf", urdf)
    forces = simulate_puma(puma_motion(rounds=4), seed=7).wrenches(0.0, 6.0).wrenches[:, :3]
    left = [content["urdf"]["channels"][name]["rms"] for name in ("fx", "fy", "fz")]
    np.testing.assert_allclose(left, 0.5 * forces.std(axis=0), rtol=0.03)
    ratio = content["relative_to_urdf"]
    assert ratio["ratio"] == pytest.approx(content["relative_rms"] / content["urdf"]["relative_rms"])
    fx, by_urdf = (part["channels"]["fx"]["rms"] for part in (content, content["urdf"]))
    assert ratio["channels"]["fx"]["ratio"] == pytest.approx(fx / by_urdf)
    assert ratio["force"]["ratio"] < 0.1
    assert main(["validate", str(estimate), str(bag), "--urdf", str(urdf)]) == 0
    assert "over the URDF's" in capsys.readouterr().out


def test_table_says_what_is_fitted(estimate: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bag = write_bag(tmp_path / "bag", puma_messages(3.0))
    content = validate(capsys, estimate, bag)
    assert content["urdf"] is None
    assert content["relative_to_urdf"] is None
    assert main(["validate", str(estimate / "estimate.json"), str(bag)]) == 0
    printed = capsys.readouterr().out
    for text in (
        "overall",
        "bias refitted",
        "relative rms, bias of the estimate",
        "a constant in each channel is fitted",
        "nothing to compare",
    ):
        assert text in printed
    assert f"{100 * content['relative_rms']:.2f} %" in printed


def test_replay_validates_by_the_same_numbers_and_judges_by_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    learnt = write_bag(tmp_path / "learnt", puma_messages(12.0))
    same, other = (
        write_bag(
            tmp_path / name,
            simulated_messages(simulate_puma(puma_motion(rounds=4), 7, schedule=((0.0, scale * BAR),)), 0.0, 6.0),
        )
        for name, scale in (("same", 1.0), ("other", 3.0))
    )
    replay = ["replay", str(learnt), "--params", str(share_path("config", "puma560.yaml")), "-o"]
    codes = [main([*replay, str(tmp_path / f"by_{bag.name}"), "--validate", str(bag)]) for bag in (same, other)]
    printed = capsys.readouterr()
    good, bad = (json.loads((tmp_path / f"by_{name}" / "estimate.json").read_text()) for name in ("same", "other"))
    assert validate(capsys, tmp_path / "by_same", same) == good["validation"]["load"]
    assert good["validation"]["bags"] == [str(same)]
    assert good["load"]["verdict"]["level"] == "info"
    assert codes == [0, 1]
    (reason,) = (reason for reason in bad["load"]["verdict"]["reasons"] if reason["code"] == "held_out")
    assert reason["level"] == "error"
    assert reason["message"] in printed.err
    assert bad["load"]["verdict"]["headline"] == f"Do not use these numbers yet: {reason['message']}."
    for name, document in (("same", good), ("other", bad)):
        page = (tmp_path / f"by_{name}" / "report.html").read_text(encoding="utf-8")
        assert f"<h2>{document['load']['verdict']['headline']}</h2>" in page
        assert '<section id="validation">' in page
        left = document["validation"]["load"]["channels"]["fx"]["relative_rms"]
        assert f"{100.0 * left:.1f} %" in page


def test_what_was_learnt_from_is_not_held_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bag = write_bag(tmp_path / "bag", puma_messages(1.0))
    assert main(["replay", str(bag), "-o", str(tmp_path / "out"), "--validate", str(tmp_path / "." / "bag")]) == 1
    assert "another recording than those that are replayed" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_held_out_bag_that_cannot_be_used_is_named_and_the_rest_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bag = write_bag(tmp_path / "bag", puma_messages(3.0))
    parameters = str(share_path("config", "puma560.yaml"))
    out = tmp_path / "out"
    more = ["--validate", str(tmp_path / "no"), "--self-contained"]
    assert main(["replay", str(bag), "--params", parameters, "-o", str(out), *more]) == 1
    assert "not validated: " in capsys.readouterr().err
    document = json.loads((out / "estimate.json").read_text())
    assert document["validation"] is None
    assert "not validated: " in document["notes"][0]
    assert {path.name for path in out.iterdir()} == {"estimate.json", "predictions.mcap", "report.html"}
    assert (out / "report.html").stat().st_size > 4_000_000, "plotly.js is inside"


def test_progress_covers_all_passes(estimate: Path, tmp_path: Path) -> None:
    bag = write_bag(tmp_path / "bag", puma_messages(3.0))
    comparison = prepare(read_estimate(estimate), [bag], Plan())
    counted: list[int] = []
    comparison.run(counted.append)
    assert sum(counted) == comparison.messages == 2 * 2 * 600


def test_bags_and_robots_that_cannot_be_used_are_named(
    estimate: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    without = write_bag(tmp_path / "without", puma_messages(1.0)[1:])
    broken = tmp_path / "broken.urdf"
    broken.write_text("<robot")
    for arguments, expected in (
        ([tmp_path / "nowhere"], "does not exist"),
        ([without], "--urdf"),
        ([without, "--urdf", broken], "XML"),
    ):
        capsys.readouterr()
        assert main(["validate", str(estimate), *map(str, arguments)]) == 1
        (line,) = capsys.readouterr().err.strip().splitlines()
        assert expected in line


def test_what_is_no_estimate_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for text in ("", "{}", "[]", '{"format": "inertid_ros replay", "version": 99}'):
        (tmp_path / "estimate.json").write_text(text)
        assert main(["validate", str(tmp_path), str(tmp_path)]) == 1
        assert len(capsys.readouterr().err.splitlines()) == 1
    assert main(["validate", str(tmp_path / "missing.json"), str(tmp_path)]) == 1


def test_urdf_says_what_hangs_on_the_sensor() -> None:
    text = """<robot name="r"><link name="ft"/><link name="grip"><inertial><mass value="2"/>
    <origin xyz="0 0 0.1" rpy="0 0 0"/><inertia ixx="1" iyy="2" izz="3" ixy="0" ixz="0" iyz="0"/></inertial></link>
    <joint name="j" type="fixed"><parent link="ft"/><child link="grip"/>
    <origin xyz="0.3 0 0" rpy="0 0 1.5707963267948966"/></joint></robot>"""
    turn = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    body = compose(2.0, np.array([0.0, 0.0, 0.1]), np.diag([1.0, 2.0, 3.0]))
    found = find_urdf_load(text, "ft")
    assert found is not None
    np.testing.assert_allclose(found, change_frame(body, turn, np.array([0.3, 0.0, 0.0])), atol=1e-12)
    assert find_urdf_load(PUMA, "ft_sensor") is None
