"""The page on the simulated driver against its settings and the running node."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import rclpy
from rclpy.parameter import Parameter

from inertid_ros.cli.main import main
from inertid_ros.core.errors import SettingError
from inertid_ros.core.settings.settings import iterate_settings
from inertid_ros.ros.driver_node import SimulatedDriver
from inertid_ros.sim.scenario import ScenarioSettings
from inertid_ros.text.settings_docs import driver_page

PAGE = (Path(__file__).parents[2] / "docs" / "simulated_driver.md").read_text(encoding="utf-8")


def test_the_committed_page_is_the_generated_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert driver_page(iterate_settings(ScenarioSettings)) == PAGE
    assert main(["params", "--driver"]) == 0
    assert capsys.readouterr().out == PAGE


def test_the_page_explains_every_parameter() -> None:
    for info in iterate_settings(ScenarioSettings):
        (row,) = [line for line in PAGE.splitlines() if line.startswith(f"| `{info.name}` |")]
        assert info.description in row


def _name_type(kind: type) -> str:
    """Package and name of a message or service type."""
    return f"{kind.__module__.split('.')[0]}/{kind.__name__}"


def test_topics_and_services_are_the_driver_s(ros_domain: int) -> None:
    rclpy.init(args=[], domain_id=ros_domain)
    driver = SimulatedDriver(parameter_overrides=[Parameter("motion", value="driven")])
    try:
        taken = {subscription.topic_name: _name_type(subscription.msg_type) for subscription in driver.subscriptions}
        published = {publisher.topic_name: _name_type(publisher.msg_type) for publisher in driver.publishers}
        services = {service.srv_name: _name_type(service.srv_type) for service in driver.services}
    finally:
        driver.destroy_node()
        rclpy.shutdown()
    rows = re.findall(r"^\| `([^`]+)` \| (\w+_(?:msgs|srvs))/(\w+) \|", PAGE, re.MULTILINE)
    assert len(rows) == 5
    inputs = re.findall(r"^\| `([^`]+)` \(in\) \| (\S+) \|", PAGE, re.MULTILINE)
    assert len(inputs) == 2
    assert all(taken[f"/{name}"] == kind for name, kind in inputs)
    for name, package, kind in rows:
        if name.startswith("~/"):
            (there,) = [text for path, text in services.items() if path.rsplit("/", 1)[-1] == name.removeprefix("~/")]
            assert there == f"{package}/{kind}"
        else:
            assert published[f"/{name}"] == f"{package}/{kind}"


def test_a_misspelt_parameter_is_refused_and_the_right_one_named(ros_domain: int) -> None:
    rclpy.init(args=["--ros-args", "-p", "motoin:=hold", "-p", "use_sim_time:=true"], domain_id=ros_domain)
    try:
        with pytest.raises(SettingError, match=r"'motoin' is 'hold'.*such as 'motion'"):
            SimulatedDriver()
    finally:
        rclpy.shutdown()
