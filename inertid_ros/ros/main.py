"""Entry points of the two nodes: `ros2 run inertid_ros estimator` and `ros2 run inertid_ros simulated_driver`."""

from __future__ import annotations

import sys

from rclpy.lifecycle import TransitionCallbackReturn

from inertid_ros.core.compiled import is_compiled
from inertid_ros.core.warm_up import warm_up
from inertid_ros.ros.driver_node import SimulatedDriver
from inertid_ros.ros.node import EstimatorNode
from inertid_ros.ros.runtime import run_node

SWITCH_INTERVAL = 0.0005
"""Seconds after which the worker thread must hand the interpreter over: half of what a prediction may be delayed by.
Python's default of 5 ms would delay every message that arrives while an estimate is being prepared."""


def run_estimator(arguments: list[str] | None = None) -> int:
    """Run the estimator until SIGINT or SIGTERM; returns 0 then, and 1 if a parameter cannot be used.

    Args:
        arguments: the command line, with `--ros-args`; None for that of the process.
    """
    sys.setswitchinterval(SWITCH_INTERVAL)
    return run_node("inertid", arguments, _make_estimator)


def _make_estimator() -> EstimatorNode:
    """Make the node, active unless the parameter `autostart` says otherwise or it cannot be configured yet."""
    node = EstimatorNode()
    if not is_compiled():
        node.get_logger().info("compiling for this machine, which takes half a minute and is done once")
    warm_up()
    if node.settings.autostart and node.trigger_configure() == TransitionCallbackReturn.SUCCESS:
        node.trigger_activate()
    return node


def run_driver(arguments: list[str] | None = None) -> int:
    """Run the simulated driver until SIGINT or SIGTERM; returns 0 then, and 1 if its parameters cannot be simulated.

    Args:
        arguments: the command line, with `--ros-args`; None for that of the process.
    """
    return run_node("simulated_driver", arguments, SimulatedDriver)
