"""Many recordings: information adds up, and processes change nothing."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.linalg import sqrtm
from support.bags import puma_messages, write_bag
from support.chain import BAR

from inertid_ros.cli.main import main
from inertid_ros.core.settings.choices import SignChoice
from inertid_ros.core.settings.settings import LoadSettings, Settings
from inertid_ros.replay.inputs import Plan
from inertid_ros.replay.recordings import Outcome, find_recordings, replay_recordings

PLAN = Plan(settings=Settings(load=LoadSettings(sensor_frame="ft_sensor", wrench_sign=SignChoice.ON_LOAD)))


@pytest.fixture(scope="module")
def bags(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("bags")
    return [write_bag(folder / f"bag_{seed}", puma_messages(5.0, seed)) for seed in range(3)]


def replay(bags: list[Path], output: Path, processes: int) -> Outcome:
    counted: list[int] = []
    recordings = find_recordings(bags, PLAN)
    outcome = replay_recordings(recordings, PLAN, output, counted.append, processes)
    assert sum(counted) == sum(recording.messages for recording in recordings)
    return outcome


def test_processes_change_nothing_and_a_damaged_bag_is_skipped_and_reported(
    bags: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = tmp_path / "broken.mcap"
    broken.write_bytes(b"\x89MCAP0\r\nnothing")
    parameters = tmp_path / "parameters.yaml"
    parameters.write_text("/**: {ros__parameters: {load: {sensor_frame: ft_sensor, wrench_sign: on_load}}}")
    order = [bags[0], broken, bags[1]]
    arguments = ["--params", str(parameters), "-o", str(tmp_path / "two"), "--jobs", "2"]
    assert main(["replay", *map(str, order), *arguments]) == 1
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert "left out" in line
    assert "broken.mcap" in line
    document = json.loads((tmp_path / "two" / "estimate.json").read_text())
    expected = replay(bags[:2], tmp_path / "one", 1).document["load"]
    for name in ("parameters", "covariance"):
        np.testing.assert_allclose(document["load"][name], expected[name], rtol=1e-9, atol=0.0)
    directories = [part["directory"] for part in document["recordings"]]
    assert directories == ["001_bag_0", "003_bag_1"]
    for directory in directories:
        for file in ("estimate.json", "predictions.mcap", "report.html"):
            assert (tmp_path / "two" / directory / file).is_file()


def test_information_matrices_add_up(bags: list[Path], tmp_path: Path) -> None:
    outcome = replay(bags, tmp_path, 1)
    loads = [recorded.traces.load.estimate for recorded in outcome.recordings if recorded.traces.load is not None]
    total = outcome.found.load
    assert total is not None
    combined = total.estimate
    information = [np.linalg.inv(estimate.repeatability) for estimate in loads]
    vector = sum(matrix @ estimate.values for matrix, estimate in zip(information, loads, strict=True))
    scale = np.sqrt(np.diag(combined.covariance))
    expected = np.linalg.inv(sum(information))
    units = np.sqrt(np.diag(expected))
    shift = np.zeros((10, 10))
    for matrix, estimate in zip(information, loads, strict=True):
        systematic = (estimate.covariance - estimate.repeatability) / np.outer(units, units)
        shift += expected @ matrix @ (units[:, None] * sqrtm(systematic).real)
    systematic = shift @ shift.T
    for found, right in ((combined.repeatability, expected), (combined.covariance, expected + systematic)):
        np.testing.assert_allclose(found / np.outer(scale, scale), right / np.outer(scale, scale), atol=1e-5)
    np.testing.assert_allclose(combined.values / scale, expected @ vector / scale, atol=1e-4)
    assert combined.findings == ()
    assert np.all(np.abs(combined.values - BAR) <= 5.0 * scale)
    assert combined.repeatability[0, 0] < min(estimate.repeatability[0, 0] for estimate in loads)
    assert combined.covariance[0, 0] > 0.5 * systematic[0, 0], "what is systematic does not average out"
