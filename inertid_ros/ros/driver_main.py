"""Entry point of the simulated driver."""

from __future__ import annotations

import sys

from inertid_ros.ros.driver_node import SimulatedDriver
from inertid_ros.ros.spinning import run_node


def main(arguments: list[str] | None = None) -> int:
    """Run the node until it is asked to stop; return 1 if its parameters cannot be simulated.

    Args:
        arguments: the command line, with `--ros-args`; None for that of the process.
    """
    return run_node("simulated_driver", arguments, SimulatedDriver)


if __name__ == "__main__":
    sys.exit(main())
