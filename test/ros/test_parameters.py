"""Parameters through ROS: what is accepted, what is refused and why, and what a change does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rcl_interfaces.srv import DescribeParameters
from support.bench import Bench

from inertid_ros.core.errors import SettingError
from inertid_ros.core.settings.settings import Settings, iterate_settings
from inertid_ros.files.parameters import read_settings
from inertid_ros.files.profile_pages import format_parameter_file
from inertid_ros.files.profiles import iterate_profiles
from inertid_ros.ros.node import EstimatorNode


def test_ros_knows_every_parameter_with_range_unit_and_meaning(bench: Bench) -> None:
    bench.start("unconfigured")
    infos = list(iterate_settings())
    request = DescribeParameters.Request(names=[info.name for info in infos])
    descriptors = bench.call(DescribeParameters, "/inertid/describe_parameters", request).descriptors
    for info, descriptor in zip(infos, descriptors, strict=True):
        assert info.description in descriptor.description
        assert info.unit in descriptor.description
        assert descriptor.additional_constraints == info.describe_range()
        if info.type == "float" and info.minimum is not None:
            assert descriptor.floating_point_range[0].from_value == info.minimum
            assert descriptor.floating_point_range[0].to_value == info.maximum


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("load.filter_cutoff", 1e9, "1000"),
        ("load.filter_cutoff", 0, "1 to 1000"),
        ("load.filter_cutoff", float("nan"), "1000"),
        ("load.filter_cutoff", "fast", "1 to 1000"),
        ("load.method", "magic", "filtered, differentiated, integral"),
        ("load.wrench_sign", "", "on_load"),
        ("gravity", [0.0, 0.0], "3 finite numbers"),
        ("gravity", [0.0, 0.0, float("inf")], "3 finite numbers"),
        ("estimators", ["joints"], "one of load, links"),
        ("estimate_rate", -1.0, "50"),
        ("load.sensor_frame", 3, "str"),
    ],
)
def test_a_value_out_of_range_is_refused_with_the_range(bench: Bench, name: str, value: Any, reason: str) -> None:
    node = bench.start("unconfigured")
    before = node.get_parameter(name).value
    result = bench.set_parameter(name, value)
    assert not result.successful
    assert name in result.reason
    assert reason in result.reason
    np.testing.assert_array_equal(node.get_parameter(name).value, before)


def test_a_whole_number_is_taken_for_a_decimal_one(bench: Bench) -> None:
    node = bench.start("unconfigured")
    assert bench.set_parameter("load.filter_cutoff", 25).successful
    assert node.settings.load.filter_cutoff == 25.0
    assert type(node.settings.load.filter_cutoff) is float


@pytest.mark.parametrize(("name", "value"), [("output_reliability", "best_effort"), ("autostart", False)])
def test_what_is_fixed_can_only_be_changed_while_unconfigured(bench: Bench, name: str, value: Any) -> None:
    node = bench.start("unconfigured")
    assert bench.set_parameter(name, value).successful
    node.trigger_configure()
    result = bench.set_parameter(name, value)
    assert not result.successful
    assert "unconfigured" in result.reason


@pytest.mark.parametrize(("name", "value"), [("load.gate", 1000.0), ("load.method", "magic"), ("gravity", [1.0])])
def test_a_bad_value_at_the_start_names_parameter_and_range(bench: Bench, name: str, value: Any) -> None:
    with pytest.raises(SettingError, match=name):
        bench.start("unconfigured", **{name.replace(".", "__"): value})
    bench.estimator = None


def test_a_misspelt_parameter_is_refused_with_the_nearest_by_node_and_replay(bench: Bench, tmp_path: Path) -> None:
    with pytest.raises(SettingError, match=r"load.sensor_fram' .* such as 'load.sensor_frame'") as of_node:
        bench.start("unconfigured", load__sensor_fram="ft_sensor")
    bench.estimator = None
    path = tmp_path / "params.yaml"
    path.write_text("/**: {ros__parameters: {load: {sensor_fram: ft_sensor}}}")
    with pytest.raises(SettingError) as of_replay:
        read_settings(path)
    assert str(of_node.value) == str(of_replay.value)


def test_the_estimate_rate_changes_at_once(bench: Bench) -> None:
    bench.start(estimate_rate=0.1)
    bench.describe()
    assert bench.received["load/parameters"] == []
    assert bench.set_parameter("estimate_rate", 50.0).successful
    assert bench.spin_until(lambda: len(bench.received["load/parameters"]) >= 40), "40 take 400 s at the old rate"
    assert bench.set_parameter("estimate_rate", 0.1).successful
    bench.settle()
    count = len(bench.received["load/parameters"])
    bench.spin(0.5)
    assert len(bench.received["load/parameters"]) == count


def test_another_parameter_starts_the_identification_anew(bench: Bench) -> None:
    bench.start()
    bench.describe()
    bench.feed(4.0)
    assert bench.parameters()[0] == pytest.approx(1.8, abs=0.02)
    assert bench.set_parameter("load.method", "integral").successful
    assert bench.parameters()[0] == 0.0
    bench.feed(4.0)
    assert bench.parameters()[0] == pytest.approx(1.8, abs=0.02)


@pytest.mark.parametrize(("given", "used"), [({}, "RELIABLE"), ({"output_reliability": "best_effort"}, "BEST_EFFORT")])
def test_samples_are_answered_reliably_unless_configured_otherwise(
    bench: Bench, given: dict[str, str], used: str
) -> None:
    node = bench.start("inactive", **given)
    for topic in ("wrench_predicted", "wrench_residual"):
        (info,) = node.get_publishers_info_by_topic(f"/inertid/load/{topic}")
        assert info.qos_profile.reliability.name == used


def test_gravity_may_be_set_when_a_base_has_come_to_rest(bench: Bench) -> None:
    bench.start(gravity=[6.0, 0.0, -7.75])
    bench.describe()
    bench.feed(2.0)
    assert bench.set_parameter("gravity", [0.0, 0.0, -9.80665]).successful
    bench.feed(6.0)
    assert bench.parameters()[0] == pytest.approx(1.8, abs=0.03)


def test_the_files_for_known_robots_and_sensors_are_read_by_ros(bench: Bench, tmp_path: Path) -> None:
    for profile in (*iterate_profiles("robot"), *iterate_profiles("sensor")):
        path = tmp_path / f"{profile.names[0]}.yaml"
        path.write_text(format_parameter_file([profile], path), encoding="utf-8")
        arguments = ["--ros-args", "--params-file", str(path)]
        node = EstimatorNode(context=bench.context, cli_args=arguments, use_global_arguments=False)
        assert node.settings == Settings.from_flat(profile.parameters)
        node.destroy_node()
