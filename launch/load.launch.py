"""The estimator beside a driver: ros2 launch inertid_ros load.launch.py robot:=ur, or params_file:=my_arm.yaml."""

from __future__ import annotations

from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch_ros.actions import Node

from inertid_ros.ros.launching import declare_arguments, make_estimator, read_arguments
from launch import LaunchContext, LaunchDescription

ARGUMENTS = declare_arguments(
    DeclareLaunchArgument(
        "sensor_frame",
        default_value="",
        description="Frame of the URDF in which the wrench is measured. Empty: as in params_file, else its frame_id.",
    ),
    DeclareLaunchArgument(
        "arm_file",
        default_value="",
        description="Estimate of the links, for a load without a wrist sensor. Empty: as in params_file.",
    ),
    DeclareLaunchArgument(
        "tool_file",
        default_value="",
        description="Tool to subtract, as written by ~/capture_tool. Empty: as in params_file.",
    ),
)


def make_node(context: LaunchContext) -> list[Node]:
    """Start the estimator; an argument that was left empty overrides nothing."""
    given = read_arguments(context, ARGUMENTS)
    return [make_estimator(given, {name: f"load.{name}" for name in ("sensor_frame", "arm_file", "tool_file")})]


def generate_launch_description() -> LaunchDescription:
    """Describe the launch."""
    return LaunchDescription([*ARGUMENTS, OpaqueFunction(function=make_node)])
