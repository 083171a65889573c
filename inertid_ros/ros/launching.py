"""What the launch files share: the estimator's node and the arguments that describe its place in the ROS graph.

Only launch files import this: `launch` is not there where ROS comes as wheels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from launch.actions import DeclareLaunchArgument
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

from inertid_ros.files.profiles import find_profiles
from launch import LaunchContext

_TOPIC = "_topic"
_HOME = "~/.ros"
"""Where ROS keeps what is a user's; not there yet where logs are written elsewhere."""


def declare_arguments(*own: DeclareLaunchArgument) -> list[DeclareLaunchArgument]:
    """Return the arguments of a launch file: those of every estimator, with its own in between."""
    return [
        DeclareLaunchArgument(
            "robot",
            default_value="",
            description="Robot whose driver is running, by a name that `inertid config --list` shows, such as ur.",
        ),
        DeclareLaunchArgument(
            "sensor",
            default_value="",
            description="Wrist sensor mounted on it, by a name that `inertid config --list` shows, such as ati.",
        ),
        DeclareLaunchArgument(
            "params_file",
            default_value="",
            description="YAML file with the node's parameters. Empty: defaults, and those of robot and sensor.",
        ),
        DeclareLaunchArgument(
            "urdf",
            default_value="",
            description="Path of the URDF. Empty: as in params_file, else the topic robot_description.",
        ),
        *own,
        DeclareLaunchArgument(
            "state_file",
            default_value="auto",
            description="File that keeps tool, load, biases and links over restarts. auto: in ~/.ros, named after the "
            "namespace; none: as in params_file, else none.",
        ),
        DeclareLaunchArgument(
            "namespace", default_value="", description="Namespace of the node and its relative topics."
        ),
        DeclareLaunchArgument(
            "joint_states_topic",
            default_value="",
            description="Topic of the joint states. Empty: that of robot and sensor, else joint_states.",
        ),
        DeclareLaunchArgument(
            "wrench_topic",
            default_value="",
            description="Topic of the wrist sensor's wrench, if used. Empty: that of robot and sensor, else wrench.",
        ),
        DeclareLaunchArgument(
            "imu_topic", default_value="", description="Topic of the IMU, if used (gravity_source imu). Empty: imu."
        ),
        DeclareLaunchArgument(
            "robot_description_topic",
            default_value="",
            description="Topic of the robot description. Empty: that of robot and sensor, else robot_description.",
        ),
        DeclareLaunchArgument(
            "autostart",
            default_value="true",
            choices=["true", "false"],
            description="Configure and activate immediately, rather than wait for `ros2 lifecycle set`.",
        ),
        DeclareLaunchArgument(
            "use_sim_time",
            default_value="false",
            choices=["true", "false"],
            description="Take the time from /clock: for a simulator or a bag.",
        ),
        DeclareLaunchArgument(
            "log_level",
            default_value="info",
            choices=["debug", "info", "warn", "error", "fatal"],
            description="Lowest severity that is logged.",
        ),
    ]


def read_arguments(context: LaunchContext, arguments: Sequence[DeclareLaunchArgument]) -> dict[str, str]:
    """Values of arguments, by name."""
    return {argument.name: LaunchConfiguration(argument.name).perform(context) for argument in arguments}


def make_estimator(given: Mapping[str, str], parameters: Mapping[str, str], **fixed: Any) -> Node:
    """Make the estimator's node.

    Args:
        given: values of all arguments; an argument X_topic remaps topic X, unless it is empty.
        parameters: by argument the parameter that it sets; an empty argument sets nothing.
        fixed: further parameters.

    Raises:
        SettingError: if robot or sensor are not known.
        FileNotFoundError: if params_file is not a file; launch itself would start the node with defaults instead.
    """
    profiles = find_profiles(given["robot"], given["sensor"])
    topics = {name: topic for profile in profiles for name, topic in profile.topics.items()}
    topics |= {name.removesuffix(_TOPIC): topic for name, topic in given.items() if name.endswith(_TOPIC) and topic}
    if given["params_file"] and not Path(given["params_file"]).is_file():
        raise FileNotFoundError(f"params_file '{given['params_file']}' is not a file")
    overrides = {
        **fixed,
        "autostart": given["autostart"] == "true",
        "use_sim_time": given["use_sim_time"] == "true",
        **{parameter: given[name] for name, parameter in {"urdf": "urdf", **parameters}.items() if given[name]},
    }
    if given["state_file"] == "auto":
        names = [*filter(None, given["namespace"].split("/")), "inertid_state.json"]
        overrides["state_file"] = f"{_HOME}/{'_'.join(names)}"
        with suppress(OSError):  # the node says what it cannot write
            Path(_HOME).expanduser().mkdir(exist_ok=True)
    elif given["state_file"] != "none":
        overrides["state_file"] = given["state_file"]
    logger = ".".join([*filter(None, given["namespace"].split("/")), "inertid"])
    return Node(
        package="inertid_ros",
        executable="estimator",
        name="inertid",
        namespace=given["namespace"],
        parameters=[
            *(dict(profile.parameters) for profile in profiles),
            *([given["params_file"]] if given["params_file"] else []),
            overrides,
        ],
        remappings=list(topics.items()),
        ros_arguments=["--log-level", f"{logger}:={given['log_level']}"],
        output="screen",
    )
