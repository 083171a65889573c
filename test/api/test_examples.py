"""The examples of docs/api.md run as they are written, one after the other, and the names stay."""

from __future__ import annotations

import csv
import re
import runpy
from pathlib import Path

import numpy as np
import pytest
from support.bags import simulated_messages, write_bag
from support.chain import BAR, PUMA, puma_motion, simulate_puma

from inertid_ros import api
from inertid_ros.cli.main import main

PAGE = (Path(__file__).parents[2] / "docs" / "api.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the examples read: a bag, its samples as arrays, and the URDF."""
    folder = tmp_path_factory.mktemp("examples")
    simulator = simulate_puma(puma_motion(rounds=2))
    write_bag(folder / "my_bag", simulated_messages(simulator, 0.0, 10.0))
    joints, wrenches = simulator.joints(0.0, 10.0), simulator.wrenches(0.0, 10.0)
    assert joints.names == tuple(f"joint{number}" for number in range(1, 7))
    count = min(len(joints.stamps), len(wrenches.stamps))
    np.testing.assert_array_equal(joints.stamps[:count], wrenches.stamps[:count])
    stamps, positions, readings = joints.stamps[:count], joints.positions[:count], wrenches.wrenches[:count]
    np.savez(folder / "samples.npz", stamps=stamps, positions=positions, wrenches=readings)
    (folder / "robot.urdf").write_text(PUMA)
    return folder


def test_the_examples_run(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(folder)
    blocks = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert len(blocks) == 4
    script = folder / "examples.py"
    script.write_text("\n".join(blocks), encoding="utf-8")
    names = runpy.run_path(str(script))
    # Another way than the examples: the truth of the simulation.
    assert abs(names["load"].values[0] - BAR[0]) < 0.02
    assert names["load"].states[0] == "known"
    assert names["trouble"] == ()
    # A PUMA's rank is 36; of four terms of each drive, the rotors of joints 1 and 2 turn with their links.
    assert len(names["arm"].base.texts) == 36 + 4 * 6 - 2
    assert "known ()" in capsys.readouterr().out
    with (folder / "load.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [row["parameter"] for row in rows] == list(names["estimate"].load.names)
    assert float(rows[0]["low"]) < BAR[0] < float(rows[0]["high"])
    values = names["estimate"].load.values
    assert [float(row["value"]) for row in rows] == values.tolist()
    np.testing.assert_allclose(
        [(float(row["high"]) - float(row["low"])) / 2 for row in rows],
        1.96 * np.sqrt(np.diag(names["estimate"].load.covariance)),
    )


def test_the_command_writes_the_same_table(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = Path(__file__).parents[1] / "files" / "data"
    for name in ("load_1.yaml", "replay_links_1.json"):
        assert main(["csv", str(data / name)]) == 0
        printed = capsys.readouterr().out
        assert printed == api.format_csv(api.read_estimate(data / name))
        assert main(["csv", str(data / name), "-o", str(folder / "table.csv")]) == 0
        assert (folder / "table.csv").read_text(encoding="utf-8") == printed
        assert capsys.readouterr().out.startswith("wrote ")


def test_every_public_name_is_described() -> None:
    description = str(api.__doc__) + PAGE
    for name in api.__all__:
        assert name in ("InertidError", "Replayed") or f"`{name}" in description or f"import {name}" in description
        assert getattr(api, name).__doc__


def test_what_cannot_be_replayed_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(api.InertidError, match="nowhere"):
        api.replay([tmp_path / "nowhere"], tmp_path / "out")
    with pytest.raises(api.InertidError, match="remap"):
        api.replay([tmp_path / "nowhere"], tmp_path / "out", topics={"force": "/force"})
