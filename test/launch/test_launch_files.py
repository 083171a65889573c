"""The launch files: every argument described, and the right nodes with the right parameters.

What needs launch_ros is skipped where there is none, as with ROS from wheels.
"""

from __future__ import annotations

import ast
import importlib.util
from pathlib import Path
from typing import Any

import pytest

from inertid_ros.core.errors import SettingError
from inertid_ros.core.settings.rules import check_links_settings
from inertid_ros.files.parameters import read_settings

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "launch").glob("*.launch.py"))
COMMON = ROOT / "inertid_ros" / "ros" / "launching.py"
needs_launch = pytest.mark.skipif(importlib.util.find_spec("launch_ros") is None, reason="launch_ros is not installed")


def declared_arguments(file: Path) -> list[tuple[str, dict[str, ast.expr]]]:
    """Name and keywords of every DeclareLaunchArgument in a file."""
    calls = [node for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.Call)]
    return [
        (ast.literal_eval(call.args[0]), {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg})
        for call in calls
        if isinstance(call.func, ast.Name) and call.func.id == "DeclareLaunchArgument"
    ]


def test_the_launch_files_are_there() -> None:
    assert [file.name for file in FILES] == ["demo.launch.py", "links.launch.py", "load.launch.py"]


def test_load_and_links_have_the_documented_arguments_and_declare_none_twice() -> None:
    common = [name for name, _ in declared_arguments(COMMON)]
    assert common == [
        "robot", "sensor", "params_file", "urdf", "state_file", "namespace", "joint_states_topic", "wrench_topic",
        "imu_topic", "robot_description_topic", "autostart", "use_sim_time", "log_level",
    ]  # fmt: skip
    own = {file.name: [name for name, _ in declared_arguments(file)] for file in FILES}
    assert own["load.launch.py"] == ["sensor_frame", "arm_file", "tool_file"]
    assert own["links.launch.py"] == ["source", "effort_unit", "load", "base_wrench_topic"]
    # The demonstration's own robots are others; see its test.
    assert set(common) & {name for names in own.values() for name in names} == {"robot"}


@pytest.mark.parametrize("file", [*FILES, COMMON], ids=lambda file: file.name)
def test_every_argument_has_a_description_and_a_default_among_its_choices(file: Path) -> None:
    arguments = declared_arguments(file)
    assert len(arguments) >= 2
    for name, keywords in arguments:
        assert len(ast.literal_eval(keywords["description"])) > 10, name
        default = ast.literal_eval(keywords["default_value"])
        if "choices" in keywords:
            assert default in ast.literal_eval(keywords["choices"]), name


def test_the_robots_and_loads_to_choose_from_are_shipped() -> None:
    choices = {
        name: ast.literal_eval(keywords["choices"])
        for name, keywords in declared_arguments(ROOT / "launch" / "demo.launch.py")
        if "choices" in keywords
    }
    for robot in choices["robot"]:
        assert (ROOT / "urdf" / f"{robot}.urdf").exists()
        assert (ROOT / "config" / f"{robot}.yaml").exists()
    shipped = {file.stem for file in (ROOT / "config" / "loads").glob("*.yaml")}
    assert set(choices["load"]) == shipped | {""}


@pytest.mark.parametrize("file", sorted((ROOT / "config").glob("[!t]*.yaml")), ids=lambda file: file.name)
def test_every_parameter_file_can_be_used(file: Path) -> None:
    settings = read_settings(file)
    if "links" in settings.estimators:
        check_links_settings(settings.links)
    assert (settings.estimators == ["links"]) == (file.stem in ("ddarm_links", "puma560_base"))


def load_launch_file(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(name.replace(".", "_"), ROOT / "launch" / name)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def make_context(module: Any, **given: str) -> Any:
    from launch import LaunchContext

    context = LaunchContext()
    for argument in module.ARGUMENTS:
        default = "".join(part.perform(context) for part in argument.default_value)
        context.launch_configurations[argument.name] = given.get(argument.name, default)
    return context


@needs_launch
def test_an_empty_argument_overrides_nothing_and_a_given_one_does(tmp_path: Path) -> None:
    from launch_ros.utilities import evaluate_parameters

    module = load_launch_file("load.launch.py")
    context = make_context(module, namespace="left/arm")
    (node,) = module.make_node(context)
    (overrides,) = evaluate_parameters(context, node._Node__parameters)
    state_file = "~/.ros/left_arm_inertid_state.json"
    assert overrides == {"autostart": True, "use_sim_time": False, "state_file": state_file}
    path = tmp_path / "my arm.yaml"
    given = {"sensor_frame": "tool0", "use_sim_time": "true", "state_file": "none", "params_file": str(path)}
    context = make_context(module, **given)
    with pytest.raises(FileNotFoundError, match="is not a file"):
        module.make_node(context)
    path.write_text("{}")
    (node,) = module.make_node(context)
    file, overrides = evaluate_parameters(context, node._Node__parameters)
    assert str(file) == str(path)
    assert overrides == {"autostart": True, "use_sim_time": True, "load.sensor_frame": "tool0"}


@needs_launch
def test_the_directory_of_the_state_file_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    module = load_launch_file("load.launch.py")
    module.make_node(make_context(module, state_file="none"))
    assert not any(tmp_path.iterdir())
    module.make_node(make_context(module))
    module.make_node(make_context(module))
    assert (tmp_path / ".ros").is_dir()
    monkeypatch.setenv("HOME", "/dev/null")
    module.make_node(make_context(module))


def list_remappings(node: Any, context: Any) -> dict[str, str]:
    """What a node's topics are remapped to."""

    def read(parts: Any) -> str:
        return "".join(part.perform(context) for part in parts)

    return {read(name): read(topic) for name, topic in node._Node__remappings or ()}


@needs_launch
def test_a_robot_and_a_sensor_by_name_are_enough_and_what_is_given_takes_precedence() -> None:
    from launch_ros.utilities import evaluate_parameters

    module = load_launch_file("load.launch.py")
    context = make_context(module, robot="franka")
    (node,) = module.make_node(context)
    robot, _ = evaluate_parameters(context, node._Node__parameters)
    assert robot["load.source"] == "effort"
    assert list_remappings(node, context) == {"joint_states": "/franka/joint_states"}
    context = make_context(module, robot="franka", sensor="ft300", sensor_frame="ft", wrench_topic="/ft")
    (node,) = module.make_node(context)
    _, sensor, overrides = evaluate_parameters(context, node._Node__parameters)
    assert sensor["load.source"] == "wrench"
    assert overrides["load.sensor_frame"] == "ft"
    assert list_remappings(node, context) == {"joint_states": "/franka/joint_states", "wrench": "/ft"}
    with pytest.raises(SettingError, match="expected one of franka"):
        module.make_node(make_context(module, robot="ur99"))


@needs_launch
def test_the_launch_of_the_links_asks_for_links_only() -> None:
    from launch_ros.utilities import evaluate_parameters

    module = load_launch_file("links.launch.py")
    context = make_context(module)
    (node,) = module.make_node(context)
    (overrides,) = evaluate_parameters(context, node._Node__parameters)
    assert {name: list(value) if name == "estimators" else value for name, value in overrides.items()} == {
        "estimators": ["links"],
        "autostart": True,
        "use_sim_time": False,
        "state_file": "~/.ros/inertid_state.json",
    }
    context = make_context(module, source="both", effort_unit="newton_metre", load="true")
    (node,) = module.make_node(context)
    (overrides,) = evaluate_parameters(context, node._Node__parameters)
    assert (overrides["links.source"], overrides["links.effort_unit"]) == ("both", "newton_metre")
    assert list(overrides["estimators"]) == ["load", "links"]


@needs_launch
def test_the_demonstration_says_what_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    module = load_launch_file("demo.launch.py")
    monkeypatch.setattr(module, "is_installed", lambda package: package != "rviz2")
    actions = module.make_viewers(ROOT, "puma560", wanted=True)
    assert [type(action).__name__ for action in actions] == ["LogInfo", "Node"]
    monkeypatch.setattr(module, "is_installed", bool)
    assert [type(action).__name__ for action in module.make_viewers(ROOT, "puma560", wanted=True)] == ["Node", "Node"]
    assert [type(action).__name__ for action in module.make_viewers(ROOT, "puma560", wanted=False)] == ["Node"]


@needs_launch
def test_the_demonstration_s_robot_is_no_vendor_s(monkeypatch: pytest.MonkeyPatch) -> None:
    module = load_launch_file("demo.launch.py")
    monkeypatch.setattr(module, "get_package_share_directory", lambda _: str(ROOT))
    monkeypatch.setattr(module, "is_installed", lambda _: False)
    _, estimator, _ = module.make_actions(make_context(module))
    assert dict(estimator.launch_arguments) == {
        "robot": "",
        "params_file": str(ROOT / "config" / "puma560.yaml"),
        "state_file": "none",
    }


@needs_launch
@pytest.mark.parametrize(("name", "value"), [("rate", "fast"), ("seed", "1.5")])
def test_the_demonstration_names_the_argument_that_is_no_number(
    name: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = load_launch_file("demo.launch.py")
    monkeypatch.setattr(module, "get_package_share_directory", lambda _: str(ROOT))
    context = make_context(module, **{name: value})
    with pytest.raises(ValueError, match=f"argument {name}:={value} is not a"):
        module.make_actions(context)
