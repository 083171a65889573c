"""`inertid weigh`: a load by efforts, on simulated bags and on a real arm."""

from __future__ import annotations

import io
import json
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rosbags.rosbag2 import Reader
from support.bags import joint_messages, text_message, write_bag
from support.recordings import recording

from inertid_ros.cli.main import main
from inertid_ros.core.records import FloatArray
from inertid_ros.core.rigid_body.inertial import compose
from inertid_ros.files.share import share_path
from inertid_ros.motions.multisine import JointLimits, Multisine
from inertid_ros.sim.arm import JointFriction
from inertid_ros.sim.sensors import SensorModel
from inertid_ros.sim.simulator import Simulator

URDF = share_path("urdf", "puma560.urdf").read_text()
LOAD = compose(1.5, np.array([0.01, -0.02, 0.08]), np.diag([0.01, 0.01, 0.005]))


def record(path: Path, load: FloatArray | None, seed: int, effort: bool = True) -> Path:
    full = np.ones(6)
    motion = Multisine(JointLimits(-1.3 * full, 1.3 * full, 2.0 * full, 8.0 * full), period=12.0, seed=seed)
    sensors = SensorModel(joint_rate=100.0, velocity_noise=2e-3, effort_noise=0.2 if effort else None)
    friction = JointFriction(2.0, 3.0, 0.3, 0.2)
    simulator = Simulator(URDF, "ft_sensor", motion, sensors, [(0.0, load)], seed=seed, friction=friction)
    messages = list(joint_messages(simulator.joints(0.0, motion.duration)))
    return write_bag(path, [text_message(URDF, messages[0][2]), *messages])


@pytest.fixture(scope="module")
def arm(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Estimate and parameters of an arm without a load."""
    folder = tmp_path_factory.mktemp("arm")
    parameters = folder / "arm.yaml"
    parameters.write_text("/**: {ros__parameters: {estimators: [links], links: {effort_unit: newton_metre}}}")
    bag = record(folder / "unloaded", None, 1)
    assert main(["replay", str(bag), "--params", str(parameters), "-o", str(folder / "result")]) == 0
    return folder / "result" / "estimate.json", parameters


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bag of the same arm with the load."""
    return record(tmp_path_factory.mktemp("load") / "loaded", LOAD, 2)


def weigh(capsys: pytest.CaptureFixture[str], *arguments: object, code: int = 0) -> tuple[str, str]:
    capsys.readouterr()
    assert main(["weigh", *map(str, arguments)]) == code
    captured = capsys.readouterr()
    return captured.out, captured.err


@pytest.fixture(scope="module")
def weighed(loaded: Path, arm: tuple[Path, Path]) -> dict[str, Any]:
    """What the command says of the load, as JSON."""
    estimate, parameters = arm
    given = ["--arm", str(estimate), "--params", str(parameters), "--frame", "ft_sensor", "--json"]
    with redirect_stdout(io.StringIO()) as text:
        assert main(["weigh", str(loaded), *given]) == 0
    content: dict[str, Any] = json.loads(text.getvalue())
    return content


def test_a_load_is_weighed(weighed: dict[str, Any]) -> None:
    content = weighed
    assert content["mass"]["value"] == pytest.approx(1.5, abs=max(0.03, 3.0 * content["mass"]["deviation"]))
    assert content["mass"]["deviation"] < 0.05
    np.testing.assert_allclose(content["com"], [0.01, -0.02, 0.08], atol=0.02)
    assert content["parameters"]["m"]["state"] == "known"


def test_what_is_printed_names_the_frame(
    loaded: Path, arm: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    estimate, parameters = arm
    printed = weigh(capsys, loaded, "--arm", estimate, "--params", parameters, "--frame", "ft_sensor")[0]
    assert "Load in frame ft_sensor" in printed
    assert "centre of mass" in printed


def test_bad_input_is_refused_in_one_line(
    tmp_path: Path, loaded: Path, arm: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    (estimate, parameters), bag = arm, loaded
    silent = record(tmp_path / "silent", LOAD, 2, effort=False)
    base = ["--params", parameters, "--frame", "ft_sensor"]
    cases: list[tuple[list[object], str]] = [
        ([bag, *base], "load.arm_file"),
        ([bag, "--arm", tmp_path / "nothing.json", *base], "cannot be read"),
        ([bag, "--arm", parameters, *base], "is not an estimate"),
        ([bag, "--arm", estimate, "--params", parameters], "load.sensor_frame"),
        ([bag, "--arm", estimate, "--params", parameters, "--frame", "hand"], "frame 'hand' is not"),
        ([silent, "--arm", estimate, *base], "no effort could be used"),
        ([tmp_path / "nowhere", "--arm", estimate, *base], "does not exist"),
    ]
    for arguments, words in cases:
        (line,) = weigh(capsys, *arguments, code=1)[1].strip().splitlines()
        assert words in line


def test_a_replay_by_effort_weighs_the_same(
    tmp_path: Path, loaded: Path, arm: tuple[Path, Path], weighed: dict[str, Any]
) -> None:
    (estimate, _), bag, expected = arm, loaded, weighed
    settings = tmp_path / "load.yaml"
    load = f"load: {{source: effort, sensor_frame: ft_sensor, arm_file: {estimate}}}"
    settings.write_text(f"/**: {{ros__parameters: {{{load}, links: {{effort_unit: newton_metre}}}}}}")
    assert main(["replay", str(bag), "--params", str(settings), "-o", str(tmp_path / "result")]) == 0
    found = json.loads((tmp_path / "result" / "estimate.json").read_text())
    assert found["load"]["parameters"] == [entry["value"] for entry in expected["parameters"].values()]
    assert found["load"]["covariance"] == expected["covariance"]
    assert (found["load"]["source"], found["load"]["method"]) == ("effort", "filtered")
    assert found["residual"]["effort"]["relative_rms"] < 0.2
    report = (tmp_path / "result" / "report.html").read_text(encoding="utf-8")
    assert "effort" in report
    assert "bias" not in report.split("</script>", 1)[1].split("Settings")[0]
    with Reader(tmp_path / "result" / "predictions.mcap") as reader:
        topics = {connection.topic for connection in reader.connections}
    assert topics == {f"/inertid/load/effort_{what}" for what in ("predicted", "residual", "deviation")}


def test_the_load_of_a_real_arm(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bags = [recording(name) for name in ("ur10e_40sec_12harm", "ur10e_30sec_12harm")]
    loaded = recording("ur10e_14harm50secLoad")
    parameters = tmp_path / "arm.yaml"
    parameters.write_text("/**: {ros__parameters: {estimators: [links], links: {effort_unit: newton_metre}}}")
    common = ["--params", str(parameters), "--urdf", str(loaded / "robot.urdf")]
    assert main(["replay", *map(str, bags), *common, "-o", str(tmp_path / "arm"), "--jobs", "1"]) == 0
    arguments = [loaded, "--arm", tmp_path / "arm" / "estimate.json", *common, "--frame", "tool0", "--json"]
    mass = json.loads(weigh(capsys, *arguments)[0])["mass"]
    assert mass["value"] == pytest.approx(2.805, rel=0.02)
    assert abs(mass["value"] - 2.805) < 2.0 * mass["deviation"]
