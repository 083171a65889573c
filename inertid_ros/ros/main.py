"""Entry points of the two nodes: `ros2 run inertid_ros estimator` and `ros2 run inertid_ros simulated_driver`."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING

from inertid_ros.core.errors import MissingRosError

if TYPE_CHECKING:
    from inertid_ros.ros.node import EstimatorNode

SWITCH_INTERVAL = 0.00005
"""Seconds after which the worker thread must hand the interpreter over: a message waits for it several times, and all
that may delay a prediction by 1 ms at most. Python's default is 5 ms."""


def run_estimator(arguments: list[str] | None = None) -> int:
    """Run the estimator until SIGINT or SIGTERM; returns 0 then, and 1 if a parameter cannot be used.

    Args:
        arguments: the command line, with `--ros-args`; None for that of the process.
    """
    sys.setswitchinterval(SWITCH_INTERVAL)
    if _lacks_ros():
        return 1
    with _ending_at_once():
        from inertid_ros.ros.runtime import run_node

        prepare_kernels()
    return run_node("inertid", arguments, make_estimator)


def run_driver(arguments: list[str] | None = None) -> int:
    """Run the simulated driver until SIGINT or SIGTERM; returns 0 then, and 1 if its parameters cannot be simulated.

    Args:
        arguments: the command line, with `--ros-args`; None for that of the process.
    """
    if _lacks_ros():
        return 1
    with _ending_at_once():
        from inertid_ros.ros.driver_node import SimulatedDriver
        from inertid_ros.ros.runtime import run_node
    return run_node("simulated_driver", arguments, SimulatedDriver)


def check_ros() -> None:
    """Make sure that rclpy, a middleware and the messages are there; MissingRosError if not."""
    for name in ("rclpy", "diagnostic_msgs", "geometry_msgs", "sensor_msgs", "std_srvs", "visualization_msgs"):
        try:
            found = find_spec(name)
        except ValueError:  # what tests have put in the place of a module
            found = None
        if found is None:
            raise MissingRosError(name)


def _lacks_ros() -> bool:
    """Say what is missing, if anything."""
    try:
        check_ros()
    except MissingRosError as error:
        print(error, file=sys.stderr)
        return True
    return False


@contextmanager
def _ending_at_once(code: int = 0) -> Iterator[None]:
    """Let SIGINT end the process at once, with an exit code, while it imports and compiles and there is no node yet.

    KeyboardInterrupt would not do: out of the import of a compiled module it comes as an ImportError, and out of a
    compilation as whatever LLVM makes of it.
    """
    python_handler = signal.signal(signal.SIGINT, lambda *_: os._exit(code))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, python_handler)


def compile_kernels(code: int) -> None:
    """Compile the kernels unless they are in the cache; SIGINT ends the process meanwhile, with an exit code.

    For commands that load them in a ROS session, where signals are rclpy's: Ctrl-C would wait for the compiler.
    """
    from inertid_ros.core.compiled import is_compiled

    if not is_compiled():
        with _ending_at_once(code):
            prepare_kernels()


def prepare_kernels() -> None:
    """Compile or load the kernels, before there is a node that others would wait for in vain."""
    from geometry_msgs.msg import WrenchStamped
    from rclpy.logging import get_logger
    from rclpy.serialization import serialize_message

    from inertid_ros.core.compiled import is_compiled, note_compiled
    from inertid_ros.core.warm_up import warm_up
    from inertid_ros.ros.inputs import wrench_decoder

    started, was_compiled = time.monotonic(), is_compiled()
    if not was_compiled:
        get_logger("inertid").info("compiling for this machine, which takes about a minute and is done once")
    warm_up()
    wrench_decoder().decode(serialize_message(WrenchStamped()))
    if not was_compiled:
        note_compiled()
        get_logger("inertid").info(f"compiled in {time.monotonic() - started:.0f} s")


def make_estimator() -> EstimatorNode:
    """Make the node, active unless the parameter `autostart` says otherwise or it cannot be configured yet."""
    from rclpy.lifecycle import TransitionCallbackReturn

    from inertid_ros.ros.node import EstimatorNode

    node = EstimatorNode()
    if node.settings.autostart and node.trigger_configure() == TransitionCallbackReturn.SUCCESS:
        node.trigger_activate()
    return node
