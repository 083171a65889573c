"""Small recordings give the same numbers as when their results were stored.

They were stored when the load came to be estimated together with delay, tilt, gains and cross-talk, and velocities
to be fused with positions, the load's again when correlated noise came to count from the third second on, when filters
came to damp noise at the frequencies of the motion, when the sensor's mounting came to be estimated, and when what is
expected of the noise came to count among the degrees of freedom of its variance; before that, they were those of the
first version. Those of links were stored when evidence came to say how far friction is from its model, and anew when
friction of gears that grows with their load came to be estimated, when the senses of gears came to be judged again,
when places and axes of joints came to be uncertain, and the DDArm's when noise of velocities (its tachometers') came to
be averaged; what live predictions leave, when these came to be shrunk to the URDF.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.bags import write_bag
from support.golden import PAYLOAD, SCENARIOS, Scenario, pick, pick_weighing, summarise, write_parameters

from inertid_ros.cli.main import main

TOLERANCE = 1e-9
"""Of the largest number of its kind."""
OF_WHAT_IS_LEFT = 1e-6
"""The same for what follows from the residuals of an arm. They are 0.3 % of the signal, and the regressor was made with
a numerical derivative then, exact to 1e-9 of it: covariances differ by 8e-8."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("golden")


def replay(name: str, scenario: Scenario, folder: Path) -> Path:
    """The estimate.json of a scenario; made once."""
    output = folder / name
    if not output.exists():
        bag, parameters = record(name, scenario, folder)
        assert main(["replay", str(bag), "--params", str(parameters), "-o", str(output)]) == 0
    return output / "estimate.json"


def record(name: str, scenario: Scenario, folder: Path) -> tuple[Path, Path]:
    messages = scenario.messages()
    changed = "the simulator has changed: these are other recordings"
    np.testing.assert_allclose(summarise(messages), read(name)["messages"], rtol=1e-9, err_msg=changed)
    return write_bag(folder / f"{name}_bag", messages), write_parameters(folder / f"{name}.yaml", scenario.parameters)


def read(name: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((Path(__file__).parent / f"{name}.json").read_text())
    return content


def assert_same(found: Any, stored: Any, where: str) -> None:
    if isinstance(stored, dict):
        for name, value in stored.items():
            if name != "messages":
                assert_same(found[name], value, f"{where}.{name}")
    elif (isinstance(stored, list) and stored and isinstance(stored[0], str)) or isinstance(stored, str):
        assert found == stored, where
    else:
        # A covariance is compared in units of the standard deviations, for parameters differ by orders of magnitude.
        numbers, expected = np.array(found, dtype=float), np.array(stored, dtype=float)
        if expected.ndim == 2:
            deviations = np.sqrt(np.diag(expected))
            numbers, expected = (matrix / np.outer(deviations, deviations) for matrix in (numbers, expected))
        is_of_residuals = "links." in where and where.endswith(("covariance", "fit", "residual"))
        tolerance = OF_WHAT_IS_LEFT if is_of_residuals else TOLERANCE
        np.testing.assert_allclose(numbers, expected, rtol=0.0, atol=tolerance * np.abs(expected).max(), err_msg=where)


@pytest.mark.parametrize("name", SCENARIOS)
def test_an_estimate_is_the_stored_one(name: str, folder: Path) -> None:
    document = json.loads(replay(name, SCENARIOS[name], folder).read_text())
    assert_same(pick(document), read(name), name)


def test_a_payload_is_the_stored_one(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arm = replay("links_puma_effort", SCENARIOS["links_puma_effort"], folder)
    bag, parameters = record("payload", PAYLOAD, folder)
    capsys.readouterr()
    given = ["--arm", str(arm), "--params", str(parameters), "--frame", "ft_sensor", "--json"]
    assert main(["weigh", str(bag), *given]) == 0
    assert_same(pick_weighing(json.loads(capsys.readouterr().out)), read("payload"), "payload")
