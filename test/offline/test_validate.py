"""Frozen parameters against another recording."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.bags import puma_messages, simulated_messages, write_bag
from support.chain import BAR, PUMA, puma_motion, simulate_puma

from inertid_ros.cli.main import main
from inertid_ros.core.inertial import change_frame, compose
from inertid_ros.offline.urdf_load import find_urdf_load
from inertid_ros.share import share_path


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
    content: dict[str, Any] = json.loads(capsys.readouterr().out)
    return content


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


def test_table_is_printed(estimate: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bag = write_bag(tmp_path / "bag", puma_messages(3.0))
    assert main(["validate", str(estimate / "estimate.json"), str(bag)]) == 0
    printed = capsys.readouterr().out
    assert "overall" in printed
    assert "%" in printed


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
