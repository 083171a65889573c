"""The loop every node of this package runs in, from start-up to a clean exit on SIGINT and SIGTERM."""

from __future__ import annotations

import gc
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import rclpy
from rclpy.clock import Clock
from rclpy.exceptions import NotInitializedException
from rclpy.executors import Executor, ExternalShutdownException, SingleThreadedExecutor
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.logging import get_logger
from rclpy.node import Node
from rclpy.task import Future

from inertid_ros.core.errors import InertidError
from inertid_ros.ros.start_error import StartError, explain_start_error

SHUTDOWN_ERRORS = (NotInitializedException, rclpy_implementation.RCLError, rclpy_implementation.InvalidHandle)
"""What rclpy raises, among other things, when something is used whose context was shut down."""

IDLE_PERIOD = 0.5
"""Seconds between two looks at the context; messages and signals are served at once, not at this period."""


@contextmanager
def ros_session(arguments: list[str] | None = None) -> Iterator[None]:
    """Initialise rclpy around a block and leave the block quietly when the process is asked to stop.

    SIGINT and SIGTERM shut the context down at any moment, also while a node is still being built, where rclpy
    reports them as an invalid context. Every other error passes through. Python's own KeyboardInterrupt is switched
    off meanwhile: it would be raised in whatever callback happens to run, which rclpy logs as a fatal error.

    Args:
        arguments: the command line, with `--ros-args`; None for that of the process.

    Raises:
        StartError: if the command line or a parameter file cannot be used.
        KeyboardInterrupt: on SIGINT before rclpy has taken over.
    """
    is_initialised = False

    def on_interrupt(*_: object) -> None:
        """Leave SIGINT to rclpy, whose own handler runs besides, as soon as there is one."""
        if not is_initialised:
            raise KeyboardInterrupt

    python_handler = signal.signal(signal.SIGINT, on_interrupt)
    try:
        _initialise(arguments)
        is_initialised = True
        try:
            yield
        except ExternalShutdownException:
            pass
        except SHUTDOWN_ERRORS:
            if rclpy.ok():
                raise
    finally:
        rclpy.try_shutdown()
        signal.signal(signal.SIGINT, python_handler)


def run_node(name: str, arguments: list[str] | None, make_node: Callable[[], Node]) -> int:
    """Make a node and serve it until SIGINT or SIGTERM.

    Args:
        name: of the node, for the log.
        arguments: the command line, with `--ros-args`; None for that of the process.
        make_node: makes the node once rclpy is initialised.

    Returns:
        the exit code: 0, or 1 if the command line or a parameter cannot be used.
    """
    try:
        with ros_session(arguments):
            spin(make_node())
    except InertidError as error:
        get_logger(name).fatal(str(error))
        return 1
    except KeyboardInterrupt:
        pass
    # The terminal and launch both send SIGINT: the second one must not kill a process that is ending.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    return 0


def create_quiet_timer(node: Node, period: float, callback: Callable[[], None], clock: Clock | None = None) -> Any:
    """Call back every `period` seconds of a clock, by default the node's.

    A callback that fails because a signal has just shut the context down is left quietly: the process ends anyway.
    """

    def run() -> None:
        try:
            callback()
        except SHUTDOWN_ERRORS:
            if node.context.ok():
                raise

    return node.create_timer(period, run, clock=clock)


def _initialise(arguments: list[str] | None) -> None:
    try:
        rclpy.init(args=arguments)
    except (rclpy_implementation.RCLError, rclpy_implementation.UnknownROSArgsError) as error:
        raise StartError(explain_start_error(str(error))) from None


def make_executor(node: Node) -> Executor:
    """Build the fastest executor this rclpy has, and say so if that is the slow one."""
    try:
        from rclpy.experimental import EventsExecutor
    except ImportError:
        node.get_logger().warning(
            "this rclpy has no EventsExecutor (Jazzy has it since rclpy 7.1.4): "
            "falling back to SingleThreadedExecutor, which needs about twice the CPU time a message"
        )
        return SingleThreadedExecutor()
    return EventsExecutor()


def spin(node: Node, on_idle: Callable[[], None] | None = None) -> None:
    """Serve a node until the context is shut down or the process is asked to stop, then destroy the node.

    The EventsExecutor ignores signals unless it is given a finite timeout and a fresh future each time, hence the loop.

    Args:
        node: the node, completely built: what exists now is exempted from garbage collection, whose pauses of tens of
            milliseconds would otherwise delay messages.
        on_idle: called between two passes, every IDLE_PERIOD.
    """
    executor = make_executor(node)
    executor.add_node(node)
    gc.collect()
    gc.freeze()
    try:
        while rclpy.ok():
            executor.spin_until_future_complete(Future(), timeout_sec=IDLE_PERIOD)
            if on_idle is not None:
                on_idle()
    except (KeyboardInterrupt, ExternalShutdownException):
        pass
    finally:
        executor.remove_node(node)
        node.destroy_node()
