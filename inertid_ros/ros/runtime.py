"""What every node of this package runs on: start-up, the executor's loop, a clean exit, transitions, the log."""

from __future__ import annotations

import ctypes
import gc
import inspect
import re
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import rclpy
from lifecycle_msgs.srv import ChangeState
from rclpy.clock import Clock
from rclpy.exceptions import NotInitializedException
from rclpy.executors import Executor, ExternalShutdownException, SingleThreadedExecutor
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.logging import get_logger
from rclpy.node import Node
from rclpy.task import Future

from inertid_ros.core.diagnosis import Level
from inertid_ros.core.errors import FileAccessError, InertidError
from inertid_ros.files.access import read_bounded

SHUTDOWN_ERRORS = (NotInitializedException, rclpy_implementation.RCLError, rclpy_implementation.InvalidHandle)
"""What rclpy raises, among other things, when something is used whose context was shut down."""

IDLE_PERIOD = 0.5
"""Seconds between two looks at the context; messages and signals are served at once, not at this period."""

_WHERE_IN_RCL = re.compile(r"\s*, at [^,\s]+\.c(pp)?:\d+")
_NOTHING_SAID = re.compile(r"\.? Error: error not set")

_REMEDIES = {
    "params file": "check the path, and that it is a ROS parameter file such as `inertid params` prints",
    "parameter override": (
        "write -p name:=value, in a list of numbers all of them with a decimal point ([0.0, 0.0, -9.81]), "
        "and for an empty text \"name:=''\" with both kinds of quotes"
    ),
    "remap rule": "write -r from:=to, with names that ROS allows",
}
_OTHERWISE = "after --ros-args come -p name:=value, -r from:=to, --params-file FILE, --log-level LEVEL"


class StartError(InertidError):
    """The node cannot start with this command line."""


@contextmanager
def ros_session(arguments: list[str] | None = None) -> Iterator[None]:
    """Initialise rclpy around a block and leave the block quietly when the process is asked to stop.

    SIGINT and SIGTERM shut the context down at any moment, also while a node is still being built, where rclpy
    reports them as an invalid context. Every other error passes through. Python's own KeyboardInterrupt is switched
    off meanwhile: it would be raised in whatever callback happens to run, which rclpy logs as a fatal error.
    Start other threads inside: see `_hold_signals`.

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
        _check_parameter_files(sys.argv if arguments is None else arguments)
        with _hold_signals():
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


@contextmanager
def _hold_signals() -> Iterator[None]:
    """Hold SIGINT and SIGTERM back until the block is left: those that come while rclpy takes them over would be lost.

    Threads that are started meanwhile never take them; one that was started before would.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGTERM))
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


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


def _check_parameter_files(arguments: list[str]) -> None:
    """Make sure that rclpy, which no signal interrupts while it reads them, reads regular files only."""
    for option, value in pairwise(arguments):
        if option == "--params-file":
            try:
                read_bounded(Path(value))
            except FileAccessError as error:
                raise StartError(f"{error}. To do: {_REMEDIES['params file']}") from None


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


def spin(node: Node, on_idle: Callable[[], None] | None = None, period: float = IDLE_PERIOD) -> None:
    """Serve a node until the context is shut down or the process is asked to stop, then destroy the node.

    The EventsExecutor ignores signals unless it is given a finite timeout and a fresh future each time, hence the loop.

    Args:
        node: the node, completely built: what exists now is exempted from garbage collection, whose pauses of tens of
            milliseconds would otherwise delay messages.
        on_idle: called between two passes, every
        period: of so many seconds.
    """
    executor = make_executor(node)
    executor.add_node(node)
    _prepare_log()
    gc.collect()
    gc.freeze()
    try:
        due = time.monotonic()
        while rclpy.ok():
            due = max(due + period, time.monotonic())
            executor.spin_until_future_complete(Future(), timeout_sec=max(due - time.monotonic(), 1e-3))
            if on_idle is not None:
                on_idle()
    except (KeyboardInterrupt, ExternalShutdownException):
        pass
    except BaseException:
        _keep(executor)
        raise
    finally:
        end_nodes(executor, node)


def end_nodes(executor: Executor, *nodes: Node) -> None:
    """Take nodes out of their executor, with all callbacks that the middleware has of them, and destroy them."""
    try:
        for node in nodes:
            executor.remove_node(node)
        executor.shutdown()
    except Exception:  # noqa: BLE001 - whatever it is, the process ends
        _keep(executor)
    for node in nodes:
        node.destroy_node()


def _keep(executor: Executor) -> None:
    """Keep an executor beyond the end of the interpreter.

    The EventsExecutor registers callbacks with the middleware one by one, and forgets about those that it has already
    registered if a later one fails, as it does where a signal shuts the context down meanwhile. It ends the process
    with SIGABRT if it is destroyed while one of them is left.
    """
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(executor))


def explain_start_error(text: str) -> str:
    """Return rcl's text without places in its sources, in one line, with what to do about it."""
    what = _NOTHING_SAID.sub("", _WHERE_IN_RCL.sub("", text)).removeprefix("failed to initialize rcl: ")
    remedy = next((remedy for key, remedy in _REMEDIES.items() if key in what), _OTHERWISE)
    return f"ROS arguments cannot be used: {' '.join(what.split())}. To do: {remedy}"


@contextmanager
def explain_missing_values() -> Iterator[None]:
    """Say in plain words that a parameter was given an empty list, or nothing at all, which rclpy cannot declare."""
    try:
        yield
    except ValueError as error:
        if "PARAMETER_NOT_SET" not in str(error):
            raise
        raise StartError(
            "a parameter in the command line or in a parameter file has no value, or an empty list, which ROS cannot "
            "tell from none: leave it out to get its default"
        ) from None


def refuse_wrong_transitions(node: Node) -> None:
    """Let a transition that is requested in the wrong state be refused; rclpy's own handler would end the process."""
    for service in node.services:
        if service.srv_type is ChangeState:
            service.callback = _guarded(node, service.callback)


def _guarded(node: Node, handler: Any) -> Any:
    def handle(request: Any, response: Any) -> Any:
        try:
            return handler(request, response)
        except rclpy_implementation.RCLError as error:
            wanted = request.transition.label or request.transition.id
            node.get_logger().warning(f"transition {wanted} refused: {error}")
            response.success = False
            return response

    return handle


def _prepare_log() -> None:
    """Find the module of every file, as rclpy does at the first line that is logged: messages would wait for 50 ms."""
    inspect.getmodule(inspect.currentframe())


def log_at(logger: Any, level: Level, text: str) -> None:
    """Log; rclpy demands that a line of code always logs at the same level, hence one line for each level."""
    if level == "error":
        logger.error(text)
    elif level == "warning":
        logger.warning(text)
    else:
        logger.info(text)
