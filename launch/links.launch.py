"""Beside a driver: ros2 launch inertid_ros links.launch.py effort_unit:=newton_metre."""

from __future__ import annotations

from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

from launch import LaunchContext, LaunchDescription

ARGUMENTS = [
    DeclareLaunchArgument(
        "params_file", default_value="", description="YAML with the node's parameters. Empty: defaults."
    ),
    DeclareLaunchArgument(
        "urdf",
        default_value="",
        description="Path of the URDF. Empty: as in params_file, else the topic robot_description.",
    ),
    DeclareLaunchArgument(
        "source",
        default_value="",
        choices=["", "effort", "base_wrench", "both"],
        description="What is measured. Empty: as in params_file, else effort.",
    ),
    DeclareLaunchArgument(
        "effort_unit",
        default_value="",
        choices=["", "newton_metre", "ampere"],
        description="Unit of effort in joint_states; must be given here or in params_file if effort is used.",
    ),
    DeclareLaunchArgument(
        "load",
        default_value="false",
        choices=["true", "false"],
        description="Identify the load on a wrist sensor as well.",
    ),
    DeclareLaunchArgument("namespace", default_value="", description="Namespace of the node and its relative topics."),
    DeclareLaunchArgument("joint_states_topic", default_value="joint_states", description="Topic of the joint states."),
    DeclareLaunchArgument(
        "base_wrench_topic", default_value="base_wrench", description="Topic of the wrench under the base, if used."
    ),
    DeclareLaunchArgument("wrench_topic", default_value="wrench", description="Topic of the wrist sensor, if used."),
    DeclareLaunchArgument(
        "robot_description_topic", default_value="robot_description", description="Topic of the robot description."
    ),
    DeclareLaunchArgument(
        "autostart",
        default_value="true",
        choices=["true", "false"],
        description="Configure and activate at once, rather than wait for `ros2 lifecycle set`.",
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
        description="Least severity that is logged.",
    ),
]


def make_node(context: LaunchContext) -> list[Node]:
    """Start the estimator; an argument that was left empty overrides nothing."""
    given = {argument.name: LaunchConfiguration(argument.name).perform(context) for argument in ARGUMENTS}
    overrides = {
        "estimators": ["load", "links"] if given["load"] == "true" else ["links"],
        "autostart": given["autostart"] == "true",
        "use_sim_time": given["use_sim_time"] == "true",
    }
    for argument, parameter in (("urdf", "urdf"), ("source", "links.source"), ("effort_unit", "links.effort_unit")):
        if given[argument]:
            overrides[parameter] = given[argument]
    logger = ".".join([*filter(None, given["namespace"].split("/")), "inertid"])
    topics = ("joint_states", "wrench", "base_wrench", "robot_description")
    return [
        Node(
            package="inertid_ros",
            executable="estimator",
            name="inertid",
            namespace=given["namespace"],
            parameters=[*([given["params_file"]] if given["params_file"] else []), overrides],
            remappings=[(topic, given[f"{topic}_topic"]) for topic in topics],
            ros_arguments=["--log-level", f"{logger}:={given['log_level']}"],
            output="screen",
        )
    ]


def generate_launch_description() -> LaunchDescription:
    """Describe the launch."""
    return LaunchDescription([*ARGUMENTS, OpaqueFunction(function=make_node)])
