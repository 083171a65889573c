"""Everything without a robot: simulated driver, estimator, and where installed robot_state_publisher and rviz2."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ament_index_python.packages import PackageNotFoundError, get_package_prefix, get_package_share_directory
from launch.action import Action
from launch.actions import DeclareLaunchArgument, IncludeLaunchDescription, LogInfo, OpaqueFunction
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch_ros.actions import Node

from inertid_ros.ros.launching import read_arguments
from launch import LaunchContext, LaunchDescription

ARGUMENTS = [
    DeclareLaunchArgument("robot", default_value="puma560", choices=["puma560", "ddarm"], description="Which robot."),
    DeclareLaunchArgument(
        "load", default_value="bar", choices=["bar", "aluminium_block", "gripper", ""], description="What it carries."
    ),
    DeclareLaunchArgument(
        "motion",
        default_value="paper_move",
        choices=["paper_move", "multisine", "hold"],
        description="The moves of the 1986 paper there and back, sines in all joints, or none.",
    ),
    DeclareLaunchArgument(
        "sign",
        default_value="on_sensor",
        choices=["on_load", "on_sensor"],
        description="Which wrench the simulated sensor measures; the estimator finds out by itself.",
    ),
    DeclareLaunchArgument(
        "rate", default_value="200.0", description="Joint states and wrenches per second, up to 1000 [Hz]."
    ),
    DeclareLaunchArgument("seed", default_value="0", description="Seed of the noise."),
    DeclareLaunchArgument(
        "rviz", default_value="true", choices=["true", "false"], description="Show robot, load and wrenches in rviz2."
    ),
]


def is_installed(package: str) -> bool:
    """Tell whether a ROS package is on this machine."""
    try:
        get_package_prefix(package)
    except PackageNotFoundError:
        return False
    return True


def read_number(given: Mapping[str, str], name: str, kind: type[float] | type[int]) -> float:
    """Value of an argument as a number; ValueError that names the argument if it is none."""
    try:
        return kind(given[name])
    except ValueError:
        expected = "a whole number" if kind is int else "a number"
        raise ValueError(f"argument {name}:={given[name]} is not {expected}") from None


def make_actions(context: LaunchContext) -> list[Action]:
    """Start what is there, and say what is not."""
    given = read_arguments(context, ARGUMENTS)
    share = Path(get_package_share_directory("inertid_ros"))
    rate = read_number(given, "rate", float)
    # An included launch file sees all arguments of this one, and its `robot` is another.
    arguments = {
        "robot": "",
        "params_file": str(share / "config" / f"{given['robot']}.yaml"),
        "state_file": "none",
    }
    actions: list[Action] = [
        Node(
            package="inertid_ros",
            executable="simulated_driver",
            parameters=[
                {
                    "robot": given["robot"],
                    "load": given["load"],
                    "motion": given["motion"],
                    "sign": given["sign"],
                    "joint_rate": rate,
                    "wrench_rate": rate,
                    "seed": read_number(given, "seed", int),
                }
            ],
            output="screen",
        ),
        IncludeLaunchDescription(
            PythonLaunchDescriptionSource(str(share / "launch" / "load.launch.py")),
            launch_arguments=arguments.items(),
        ),
    ]
    return actions + make_viewers(share, given["robot"], wanted=given["rviz"] == "true")


def make_viewers(share: Path, robot: str, wanted: bool) -> list[Action]:
    """Start robot_state_publisher, which rviz2 needs, and rviz2."""
    missing = [package for package in ("robot_state_publisher", "rviz2") if not is_installed(package)]
    actions: list[Action] = []
    if missing:
        actions.append(LogInfo(msg=f"not installed, so not started: {', '.join(missing)}"))
    if "robot_state_publisher" not in missing:
        # The driver publishes the description already; this one is only to turn joint states into transforms.
        actions.append(
            Node(
                package="robot_state_publisher",
                executable="robot_state_publisher",
                parameters=[{"robot_description": (share / "urdf" / f"{robot}.urdf").read_text(encoding="utf-8")}],
                remappings=[("robot_description", "~/robot_description")],
            )
        )
    if wanted and "rviz2" not in missing:
        actions.append(
            Node(package="rviz2", executable="rviz2", arguments=["-d", str(share / "rviz" / "inertid.rviz")])
        )
    return actions


def generate_launch_description() -> LaunchDescription:
    """Describe the launch."""
    return LaunchDescription([*ARGUMENTS, OpaqueFunction(function=make_actions)])
