"""`inertid`: the nodes, the demonstrations and the offline tools, for machines with and without the `ros2` command."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Any

from inertid_ros import __version__
from inertid_ros.cli import excite, export_urdf, identifiability, plot, publish, reactions, replay, validate, weigh
from inertid_ros.cli.command import OK, add_command, run_command


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the whole command line."""
    parser = argparse.ArgumentParser(
        prog="inertid",
        description="Identify what a robot carries and the inertial parameters of its arm, live and from bags.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add_nodes(commands)
    _add_demo(commands)
    _add_params(commands)
    for module in (replay, validate, export_urdf, plot, excite, identifiability, reactions, weigh, publish):
        module.add_parser(commands)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    parser = make_parser()
    options, rest = parser.parse_known_args(arguments)
    if rest and not ("ros_arguments" in options and rest[0] == "--ros-args"):
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    options.ros_arguments = rest
    return run_command(options)


def _add_nodes(commands: Any) -> None:
    node = add_command(
        commands,
        "node",
        _run_estimator,
        "run the estimator beside a driver",
        "Run the ROS 2 node `inertid` (the same as `ros2 run inertid_ros estimator`). ROS arguments follow, such as: "
        "--ros-args --params-file my_arm.yaml -r wrench:=/ft_sensor/wrench",
    )
    driver = add_command(
        commands,
        "driver",
        _run_driver,
        "run the simulated driver",
        "Run the ROS 2 node `simulated_driver`, which stands in for a robot. ROS arguments follow.",
    )
    for parser in (node, driver):
        parser.set_defaults(ros_arguments=[])


def _add_demo(commands: Any) -> None:
    demo = add_command(
        commands,
        "demo",
        _run_demo,
        "watch a simulated PUMA identify what it picks up, or a simulated direct drive arm its own links",
        "Run simulated driver and estimator as two ROS 2 processes and watch the estimate converge. Ends by itself "
        "within a minute; the exit code is 0 if the truth is inside the stated uncertainty.",
    )
    demo.add_argument(
        "robot",
        nargs="?",
        choices=("puma560", "ddarm"),
        default="puma560",
        help="puma560 identifies a load (the default), ddarm its links",
    )


def _add_params(commands: Any) -> None:
    parameters = add_command(
        commands,
        "params",
        _print_parameters,
        "print all parameters",
        "Print every parameter of the node as a commented YAML file.",
    )
    form = parameters.add_mutually_exclusive_group()
    form.add_argument("--markdown", action="store_true", help="as a Markdown table instead")
    form.add_argument("--driver", action="store_true", help="those of the simulated driver, as a Markdown page")


def _run_estimator(options: argparse.Namespace) -> int:
    from inertid_ros.ros.main import run_estimator

    return run_estimator(options.ros_arguments)


def _run_driver(options: argparse.Namespace) -> int:
    from inertid_ros.ros.main import run_driver

    return run_driver(options.ros_arguments)


def _run_demo(options: argparse.Namespace) -> int:
    if options.robot == "ddarm":
        from inertid_ros.cli.demo.links import main as run_links_demo

        return run_links_demo()
    from inertid_ros.cli.demo.load import main as run_load_demo

    return run_load_demo()


def _print_parameters(options: argparse.Namespace) -> int:
    from inertid_ros.text.driver_docs import driver_page
    from inertid_ros.text.settings_docs import parameter_table, template_yaml

    if options.driver:
        from inertid_ros.core.settings.settings import iterate_settings
        from inertid_ros.sim.scenario import ScenarioSettings

        sys.stdout.write(driver_page(iterate_settings(ScenarioSettings)))
    else:
        sys.stdout.write(parameter_table() if options.markdown else template_yaml())
    return OK


if __name__ == "__main__":
    sys.exit(main())
