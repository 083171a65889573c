"""The estimator of the links beside a driver: ros2 launch inertid_ros links.launch.py effort_unit:=newton_metre."""

from __future__ import annotations

from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch_ros.actions import Node

from inertid_ros.ros.launching import declare_arguments, make_estimator, read_arguments
from launch import LaunchContext, LaunchDescription

ARGUMENTS = declare_arguments(
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
    DeclareLaunchArgument(
        "base_wrench_topic",
        default_value="",
        description="Topic of the wrench under the base, if used. Empty: base_wrench.",
    ),
)


def make_node(context: LaunchContext) -> list[Node]:
    """Start the estimator; an argument that was left empty overrides nothing."""
    given = read_arguments(context, ARGUMENTS)
    estimators = ["load", "links"] if given["load"] == "true" else ["links"]
    parameters = {"source": "links.source", "effort_unit": "links.effort_unit"}
    return [make_estimator(given, parameters, estimators=estimators)]


def generate_launch_description() -> LaunchDescription:
    """Describe the launch."""
    return LaunchDescription([*ARGUMENTS, OpaqueFunction(function=make_node)])
