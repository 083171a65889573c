"""The estimator beside a driver: ros2 launch inertid_ros load.launch.py params_file:=my_arm.yaml."""

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
        "sensor_frame",
        default_value="",
        description="Frame of the URDF the wrench is in. Empty: as in params_file, else the wrench's frame_id.",
    ),
    DeclareLaunchArgument(
        "tool_file",
        default_value="",
        description="Tool to subtract, as written by ~/capture_tool. Empty: as in params_file.",
    ),
    DeclareLaunchArgument("namespace", default_value="", description="Namespace of the node and its relative topics."),
    DeclareLaunchArgument("joint_states_topic", default_value="joint_states", description="Topic of the joint states."),
    DeclareLaunchArgument("wrench_topic", default_value="wrench", description="Topic of the wrist sensor's wrench."),
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
    overrides = {"autostart": given["autostart"] == "true", "use_sim_time": given["use_sim_time"] == "true"}
    for argument, parameter in (
        ("urdf", "urdf"),
        ("sensor_frame", "load.sensor_frame"),
        ("tool_file", "load.tool_file"),
    ):
        if given[argument]:
            overrides[parameter] = given[argument]
    logger = ".".join([*filter(None, given["namespace"].split("/")), "inertid"])
    return [
        Node(
            package="inertid_ros",
            executable="estimator",
            name="inertid",
            namespace=given["namespace"],
            parameters=[*([given["params_file"]] if given["params_file"] else []), overrides],
            remappings=[(topic, given[f"{topic}_topic"]) for topic in ("joint_states", "wrench", "robot_description")],
            ros_arguments=["--log-level", f"{logger}:={given['log_level']}"],
            output="screen",
        )
    ]


def generate_launch_description() -> LaunchDescription:
    """Describe the launch."""
    return LaunchDescription([*ARGUMENTS, OpaqueFunction(function=make_node)])
