"""`ros2 run inertid_ros estimator`."""

from __future__ import annotations

import sys

from rclpy.logging import get_logger

from inertid_ros.core.errors import SettingError
from inertid_ros.ros.estimator_node import EstimatorNode
from inertid_ros.ros.spinning import ros_session, spin


def main(arguments: list[str] | None = None) -> int:
    """Run the node until SIGINT or SIGTERM; returns 0 then, and 1 for a parameter that cannot be used.

    Args:
        arguments: the command line, with `--ros-args`; None for that of the process.
    """
    with ros_session(arguments):
        try:
            node = EstimatorNode()
        except SettingError as error:
            get_logger("inertid").fatal(str(error))
            return 1
        if node.settings.autostart:
            node.trigger_configure()
            node.trigger_activate()
        spin(node)
    return 0


if __name__ == "__main__":
    sys.exit(main())
