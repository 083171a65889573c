"""`ros2 run inertid_ros estimator`."""

from __future__ import annotations

import sys

from rclpy.lifecycle import TransitionCallbackReturn

from inertid_ros.ros.estimator_node import EstimatorNode
from inertid_ros.ros.spinning import run_node


def main(arguments: list[str] | None = None) -> int:
    """Run the node until SIGINT or SIGTERM; returns 0 then, and 1 for a parameter that cannot be used.

    Args:
        arguments: the command line, with `--ros-args`; None for that of the process.
    """
    return run_node("inertid", arguments, _make_node)


def _make_node() -> EstimatorNode:
    """Make the node, active unless the parameter `autostart` says otherwise or it cannot be configured yet."""
    node = EstimatorNode()
    if node.settings.autostart and node.trigger_configure() == TransitionCallbackReturn.SUCCESS:
        node.trigger_activate()
    return node


if __name__ == "__main__":
    sys.exit(main())
