"""Entry point of the simulated driver."""

from __future__ import annotations

import sys

from rclpy.logging import get_logger

from inertid_ros.core.errors import InertidError
from inertid_ros.ros.driver_node import SimulatedDriver
from inertid_ros.ros.spinning import ros_session, spin


def main(arguments: list[str] | None = None) -> int:
    """Run the node until it is asked to stop; return 1 if its parameters cannot be simulated.

    Args:
        arguments: the command line, with `--ros-args`; None for that of the process.
    """
    with ros_session(arguments):
        try:
            node = SimulatedDriver()
        except InertidError as error:
            get_logger("simulated_driver").fatal(str(error))
            return 1
        spin(node)
    return 0


if __name__ == "__main__":
    sys.exit(main())
