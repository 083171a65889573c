"""The loop every node of this package runs in, from start-up to a clean exit on SIGINT and SIGTERM."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import rclpy
from rclpy.exceptions import NotInitializedException
from rclpy.executors import Executor, ExternalShutdownException, SingleThreadedExecutor
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.node import Node
from rclpy.task import Future

IDLE_PERIOD = 0.5
"""Seconds between two looks at the context; messages and signals are served at once, not at this period."""


@contextmanager
def ros_session(arguments: list[str] | None = None) -> Iterator[None]:
    """Initialise rclpy around a block and leave the block quietly when the process is asked to stop.

    SIGINT and SIGTERM shut the context down at any moment, also while a node is still being built, where rclpy
    reports them as an invalid context. Every other error passes through.

    Args:
        arguments: the command line, with `--ros-args`; None for that of the process.
    """
    rclpy.init(args=arguments)
    try:
        yield
    except (KeyboardInterrupt, ExternalShutdownException):
        pass
    except (NotInitializedException, rclpy_implementation.RCLError, rclpy_implementation.InvalidHandle):
        if rclpy.ok():
            raise
    finally:
        rclpy.try_shutdown()


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
