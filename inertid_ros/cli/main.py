"""`inertid`: the nodes, the demonstration and the parameters, for machines with and without the `ros2` command."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from inertid_ros import __version__
from inertid_ros.cli import excite, export_urdf, identifiability, plot, publish, reactions, replay, validate, weigh


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the whole command line."""
    parser = argparse.ArgumentParser(
        prog="inertid",
        description="Identify what a robot carries and what its arm is made of, live and from bags.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    node = commands.add_parser(
        "node",
        help="run the estimator beside a driver",
        description="Run the ROS 2 node `inertid` (the same as `ros2 run inertid_ros estimator`). "
        "ROS arguments follow, such as: --ros-args --params-file my_arm.yaml -r wrench:=/ft_sensor/wrench",
        allow_abbrev=False,
    )
    driver = commands.add_parser(
        "driver",
        help="run the simulated driver",
        description="Run the ROS 2 node `simulated_driver`, which stands in for a robot. ROS arguments follow.",
        allow_abbrev=False,
    )
    for subparser in (node, driver):
        subparser.set_defaults(takes_ros_arguments=True)
    demo = commands.add_parser(
        "demo",
        help="watch a simulated PUMA weigh what it picks up, or a simulated direct drive arm find out its own links",
        description="Run simulated driver and estimator as two ROS 2 processes and watch the estimate converge. "
        "Ends by itself within a minute; the exit code is 0 if the truth is inside the stated uncertainty.",
        allow_abbrev=False,
    )
    demo.add_argument(
        "robot",
        nargs="?",
        choices=("puma560", "ddarm"),
        default="puma560",
        help="puma560 identifies a load (the default), ddarm its links",
    )
    parameters = commands.add_parser(
        "params", help="print all parameters", description="Print every parameter of the node as a commented YAML file."
    )
    form = parameters.add_mutually_exclusive_group()
    form.add_argument("--markdown", action="store_true", help="as a Markdown table instead")
    form.add_argument("--driver", action="store_true", help="those of the simulated driver, as a Markdown page")
    replay.add_parser(commands)
    validate.add_parser(commands)
    export_urdf.add_parser(commands)
    plot.add_parser(commands)
    excite.add_parser(commands)
    identifiability.add_parser(commands)
    reactions.add_parser(commands)
    weigh.add_parser(commands)
    publish.add_parser(commands)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    parser = make_parser()
    options, rest = parser.parse_known_args(arguments)
    if rest and not (getattr(options, "takes_ros_arguments", False) and rest[0] == "--ros-args"):
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    if "run" in options:
        return int(options.run(options))
    if options.command == "params":
        return _print_parameters(options.markdown, options.driver)
    try:
        return _run_demo(options.robot) if options.command == "demo" else _run_node(options.command, rest)
    except KeyboardInterrupt:  # while the libraries are still being loaded
        return 130


def _run_node(command: str, rest: list[str]) -> int:
    if command == "node":
        from inertid_ros.ros.main import run_estimator

        return run_estimator(rest)
    from inertid_ros.ros.main import run_driver

    return run_driver(rest)


def _run_demo(robot: str) -> int:
    if robot == "ddarm":
        from inertid_ros.cli.links_demo import main as run_links_demo

        return run_links_demo()
    from inertid_ros.cli.demo import main as run_load_demo

    return run_load_demo()


def _print_parameters(markdown: bool, driver: bool) -> int:
    from inertid_ros.text.driver_docs import driver_page
    from inertid_ros.text.settings_docs import parameter_table, template_yaml

    sys.stdout.write(driver_page() if driver else parameter_table() if markdown else template_yaml())
    return 0


if __name__ == "__main__":
    sys.exit(main())
