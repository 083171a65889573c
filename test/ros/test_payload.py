"""A load without a wrist sensor in a real graph: an identified arm, efforts in, the load out."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from rclpy.lifecycle import TransitionCallbackReturn
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger
from support.bench import Bench

from inertid_ros.core.chain import Chain, Target
from inertid_ros.core.estimation.estimate import LinksEstimate
from inertid_ros.core.robot.robot import Robot
from inertid_ros.core.settings.settings import Settings
from inertid_ros.files.estimate import read_estimate
from inertid_ros.ros.saving import LINKS_FILE, Usage, save_links
from inertid_ros.sim.scenario import ScenarioSettings, build_simulator, read_load, read_urdf

SCENARIO: dict[str, Any] = {"robot": "ddarm", "motion": "paper_link_moves", "tachometer": True, "effort": True}
RIGID = {"links.viscous": False, "links.coulomb": False, "links.rotor_inertia": False, "links.offset": False}


@pytest.fixture(scope="module")
def arm_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The DDArm without a load, as ~/save writes it."""
    settings = Settings.from_flat({"links.effort_unit": "newton_metre", **RIGID})
    chain = Chain(Robot.from_urdf(read_urdf("ddarm")), settings, Target.LINKS)
    chain.push(build_simulator(ScenarioSettings(**SCENARIO, load="none")).joints(0.0, 20.0))
    chain.process()
    estimate = chain.estimate()
    assert isinstance(estimate, LinksEstimate)
    path = tmp_path_factory.mktemp("arm") / LINKS_FILE
    save_links(replace(settings, save_directory=str(path.parent)), "", estimate, Usage())
    return path


def start(bench: Bench, arm: Path | str, state: str = "active", **settings: Any) -> Any:
    given: dict[str, Any] = {
        "load.source": "effort",
        "load.arm_file": str(arm),
        "load.sensor_frame": "ft_sensor",
        "links.effort_unit": "newton_metre",
        **RIGID,
        **settings,
    }
    return bench.start(state, estimators=["load"], **{name.replace(".", "__"): value for name, value in given.items()})


def test_a_load_is_weighed_by_efforts(bench: Bench, arm_file: Path, tmp_path: Path) -> None:
    bench.simulate(**SCENARIO, load="bar")
    node = start(bench, arm_file, save_directory=str(tmp_path), **{"links.method": "differentiated"})
    assert "/wrench" not in {subscription.topic_name for subscription in node.subscriptions}
    types = {publisher.topic_name: publisher.msg_type for publisher in node.publishers}
    assert types["/inertid/load/effort_predicted"] is JointState
    assert "/inertid/load/wrench_predicted" not in types
    bench.describe(read_urdf("ddarm"))
    bench.feed(14.0)
    bench.received["load/parameters"].clear()
    assert bench.spin_until(lambda: bool(bench.received["load/parameters"]))
    found = np.array(bench.newest("load/parameters").data)[:10]
    truth = read_load("bar")
    assert truth is not None
    deviation = np.sqrt(np.array(bench.newest("load/covariance").data).reshape(10, 10)[0, 0])
    assert abs(found[0] - truth[0]) < max(4.0 * deviation, 0.02 * truth[0])
    assert deviation < 0.5
    bench.assert_all_finite()
    assert bench.call(Trigger, "inertid/save", Trigger.Request()).success
    assert read_estimate(tmp_path / "inertid_load.yaml").need_load().sensor is None
    content = yaml.safe_load((tmp_path / "inertid_load.yaml").read_text())
    assert content["load"]["method"] == "differentiated", "that of links.method, which made the rows"
    assert not [name for name in content["load"] if "bias" in name or "noise" in name or "sign" in name]
    assert not [name for name in content["recordings"][0] if "wrench" in name]
    assert bench.call(Trigger, "inertid/reset", Trigger.Request()).success


def test_diagnostics_speak_of_no_wrist_sensor(bench: Bench, arm_file: Path) -> None:
    bench.simulate(**SCENARIO, load="bar")
    start(bench, arm_file)
    bench.describe(read_urdf("ddarm"))
    bench.feed(3.0)
    bench.spin(1.5)
    status = bench.status("load")
    assert "no sample was used for" in status.message
    texts = [status.message, *(f"{item.key} {item.value}" for item in status.values)]
    for word in ("bias", "noise", "sign", "wrench", "standstill"):
        assert not [text for text in texts if word in text], word


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("links.effort_unit", "", "links.effort_unit"),
        ("links.torque_constants", [1.0], "links.torque_constants"),
        ("links.method", "energy", "load.source effort"),
        ("load.sensor_frame", "", "load.sensor_frame"),
    ],
)
def test_parameters_of_the_links_are_checked_where_only_a_payload_uses_them(
    bench: Bench, arm_file: Path, name: str, value: Any, reason: str
) -> None:
    node = start(bench, arm_file)
    before = node.get_parameter(name).value
    result = bench.set_parameter(name, value)
    assert not result.successful
    assert reason in result.reason
    assert node.get_parameter(name).value == before


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"load.arm_file": ""}, "load.arm_file"),
        ({"load.arm_file": "nowhere.yaml"}, "cannot be read"),
        ({"links.effort_unit": ""}, "links.effort_unit"),
    ],
)
def test_what_does_not_fit_is_refused_with_a_reason(
    bench: Bench, arm_file: Path, changes: dict[str, Any], words: str, capfd: pytest.CaptureFixture[str]
) -> None:
    node = start(bench, arm_file, "unconfigured", **changes)
    assert node.trigger_configure() == TransitionCallbackReturn.FAILURE
    assert words in capfd.readouterr().err
