"""Frozen links against recordings of the same arm, of another one, and against the URDF."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.bags import write_bag
from support.chain import DDARM
from support.link_bags import BY_EFFORT, ddarm_messages, simulate_ddarm

from inertid_ros.cli.main import main
from inertid_ros.core.chain import Chain, Target
from inertid_ros.core.robot.robot import Robot
from inertid_ros.files.estimate import read_estimate

PARAMETERS = "inertid: {ros__parameters: {estimators: [links], links: {effort_unit: newton_metre}}}\n"


@pytest.fixture(scope="module")
def estimate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("estimate")
    bag = write_bag(folder / "bag", ddarm_messages(simulate_ddarm(1), 10.0))
    parameters = folder / "links.yaml"
    parameters.write_text(PARAMETERS)
    assert main(["replay", str(bag), "--params", str(parameters), "-o", str(folder / "out")]) == 0
    return folder / "out" / "estimate.json"


@pytest.fixture(scope="module")
def other_bag(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_bag(tmp_path_factory.mktemp("other") / "bag", ddarm_messages(simulate_ddarm(7), 6.0))


def validate(capsys: pytest.CaptureFixture[str], *arguments: object) -> dict[str, Any]:
    capsys.readouterr()
    assert main(["validate", *map(str, arguments), "--json"]) == 0
    content: dict[str, Any] = json.loads(capsys.readouterr().out)
    return content


def test_same_arm_is_predicted_to_its_noise(
    estimate: Path, other_bag: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    content = validate(capsys, estimate, other_bag)
    links = content["links"]
    assert content["load"] is None
    assert content["relative_rms"] == pytest.approx(links["relative_rms"], rel=1e-12)
    assert content["channels"] == links["channels"]
    assert links["relative_rms"] < 0.02
    assert links["urdf"]["relative_rms"] > 0.2
    assert links["relative_to_urdf"]["ratio"] == pytest.approx(links["relative_rms"] / links["urdf"]["relative_rms"])
    for name, channel in links["channels"].items():
        assert channel["relative_rms"] == pytest.approx(channel["rms"] / channel["measured_rms"])
        ratio = channel["relative_rms"] / links["urdf"]["channels"][name]["relative_rms"]
        assert links["relative_to_urdf"]["channels"][name]["ratio"] == pytest.approx(ratio)
    left, size = (
        np.sqrt(sum(entry["count"] * entry[key] ** 2 for entry in links["channels"].values()))
        for key in ("rms", "measured_rms")
    )
    assert links["relative_rms"] == pytest.approx(left / size)


def test_numbers_are_those_of_a_frozen_chain(
    estimate: Path, other_bag: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    links = validate(capsys, estimate, other_bag)["links"]
    chain = Chain(Robot.from_urdf(DDARM), BY_EFFORT, Target.LINKS)
    block = simulate_ddarm(7).joints(0.0, 6.0)
    chain.push(block.take(slice(0)))
    chain.push(block)
    chain.freeze(read_estimate(estimate).need_links().predictor)
    output = chain.process()
    assert output is not None
    for index, entry in enumerate(links["channels"].values()):
        kept = output.rows.usable[:, index]
        left = (output.rows.measured - output.rows.predicted)[kept, index]
        assert entry["count"] == len(left)
        assert entry["rms"] == pytest.approx(np.sqrt(np.mean(left**2)), rel=1e-6)
    raw = output.measured - output.predicted
    for index, entry in enumerate(links["raw"]["channels"].values()):
        assert entry["rms"] == pytest.approx(np.sqrt(np.mean(raw[:, index] ** 2)), rel=1e-6)


def test_part_of_a_bag_is_judged(estimate: Path, other_bag: Path, capsys: pytest.CaptureFixture[str]) -> None:
    whole, part = (
        validate(capsys, estimate, other_bag, *span)["links"] for span in ((), ("--start", "2", "--end", "5"))
    )
    assert part["raw"]["count"] == pytest.approx(3000, abs=5)
    assert whole["raw"]["count"] == pytest.approx(6000, abs=5)


def test_table_names_every_joint(
    estimate: Path, other_bag: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    capsys.readouterr()
    assert main(["validate", str(estimate), str(other_bag)]) == 0
    text = capsys.readouterr().out
    for word in ("joint1", "joint2", "joint3", "overall", "URDF", "not filtered", "Nothing is fitted"):
        assert word in text


def test_exported_urdf_predicts_what_was_identified(
    estimate: Path, other_bag: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its links are those identified; what is left are friction, rotors and offsets, which it cannot hold."""
    urdf = tmp_path / "identified.urdf"
    assert main(["export-urdf", str(estimate), "-o", str(urdf)]) == 0
    before = validate(capsys, estimate, other_bag)["links"]["urdf"]
    after = validate(capsys, estimate, other_bag, "--urdf", urdf)["links"]
    assert after["urdf"]["relative_rms"] < 0.75 * before["relative_rms"]
    assert after["relative_rms"] < 0.02


def test_another_arm_is_refused(
    estimate: Path, other_bag: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    urdf = tmp_path / "longer.urdf"
    urdf.write_text(DDARM.replace("0.45", "0.55"))
    assert main(["validate", str(estimate), str(other_bag), "--urdf", str(urdf)]) == 1
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert "use the URDF (--urdf)" in line


def test_an_estimate_without_anything_is_refused(
    estimate: Path, other_bag: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    content = json.loads(estimate.read_text())
    path = tmp_path / "estimate.json"
    path.write_text(json.dumps({**content, "links": None}))
    assert main(["validate", str(path), str(other_bag)]) == 1
    assert "neither a load nor links" in capsys.readouterr().err
