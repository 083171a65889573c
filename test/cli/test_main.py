"""The command `inertid`, as typed."""

from __future__ import annotations

import subprocess
import sys

import pytest

from inertid_ros import __version__
from inertid_ros.cli.main import main, parse
from inertid_ros.text.settings_docs import parameter_table, template_yaml


def test_params_prints_the_template_and_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["params"]) == 0
    assert capsys.readouterr().out == template_yaml()
    assert main(["params", "--markdown"]) == 0
    assert capsys.readouterr().out == parameter_table()


@pytest.mark.parametrize(
    "arguments", [[], ["fly"], ["node", "--urdf", "x"], ["params", "--html"], ["demo", "now"], ["params", "--ros-args"]]
)
def test_what_is_no_command_is_refused_with_the_usage(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    assert stop.value.code == 2
    assert "usage: inertid" in capsys.readouterr().err


@pytest.mark.parametrize(
    "command",
    [
        "node",
        "driver",
        "demo",
        "params",
        "replay",
        "validate",
        "export-urdf",
        "plot",
        "excite",
        "identifiability",
        "reactions",
        "weigh",
        "feedforward",
        "practise",
        "publish",
    ],
)
def test_every_command_explains_itself(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main([command, "--help"])
    assert stop.value.code == 0
    assert f"usage: inertid {command}" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["bad name", "2nd", "/", "left//inertid", "inertid/"])
def test_what_cannot_be_a_node_is_refused(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parse(["guide", "--node", name])
    assert f"'{name}' is not the name of a node" in capsys.readouterr().err
    assert parse(["guide", "--node", "/left/inertid"]).node == "/left/inertid"


def test_what_follows_ros_args_is_for_ros_alone() -> None:
    remapping = ["--ros-args", "-r", "joint_states:=/arm/joint_states"]
    options = parse(["view", *remapping])
    assert options.bag is None
    assert options.ros_arguments == remapping
    assert parse(["view", "my_bag", "--port", "81"]).ros_arguments == []


def test_the_version_is_the_packages() -> None:
    output = subprocess.run(
        [sys.executable, "-m", "inertid_ros.cli.main", "--version"], capture_output=True, text=True, check=True
    )
    assert output.stdout.strip() == f"inertid {__version__}"
