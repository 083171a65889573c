"""The services of the node: each does one thing to the identification and says in words what came of it."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from rclpy.node import Node
from std_srvs.srv import SetBool, Trigger

from inertid_ros.core.errors import InertidError
from inertid_ros.ros.identification import Identification
from inertid_ros.ros.runtime import log_at
from inertid_ros.ros.session import Session
from inertid_ros.ros.worker import Worker


class Services:
    """The services of the node, from configure to cleanup."""

    def __init__(self, node: Node, identification: Identification, worker: Worker) -> None:
        """Offer the services; those of the tool only where it can be subtracted. The worker writes files."""
        self._node = node
        self._worker = worker
        self._requests = 0
        self._identification = identification
        self._services = [
            node.create_service(SetBool, "~/pause", self._pause),
            self._offer("~/reset", self._reset),
            self._offer_save(),
        ]
        for session in identification.sessions:
            if session.task.has_tool:
                self._services += self._offer_tool(session)

    def _offer_tool(self, load: Session) -> list[Any]:
        return [
            self._offer("~/capture_tool", lambda: _capture_tool(load)),
            self._offer("~/clear_tool", lambda: _clear_tool(load)),
        ]

    def destroy(self) -> None:
        """Take the services down."""
        for service in self._services:
            self._node.destroy_service(service)

    def _offer(self, name: str, act: Callable[[], str]) -> Any:
        return self._node.create_service(Trigger, name, lambda _, response: self._answer(response, act))

    def _offer_save(self) -> Any:
        """Offer `~/save`, which answers when the worker has written.

        The EventsExecutor takes what a service's callback returns for its answer, and sends it at once: here that is
        the answer still to come, and sending it begins the work.
        """
        service: Any = self._node.create_service(Trigger, "~/save", lambda _, response: response)
        send = service.send_response

        def begin(response: Any, header: Any) -> None:
            self._requests += 1
            job = partial(_save, _attempt(self._identification.prepare_save))
            answer = partial(self._answer_save, response, lambda: send(response, header))
            self._worker.submit(f"save {self._requests}", job, answer)

        service.send_response = begin
        return service

    def _answer_save(self, response: Any, send: Callable[[], None], saved: str | Exception) -> None:
        self._answer(response, partial(_tell, saved))
        send()

    def _answer(self, response: Any, act: Callable[[], str]) -> Any:
        try:
            response.message, response.success = act(), True
        except InertidError as error:
            response.message, response.success = str(error), False
        except Exception as error:  # noqa: BLE001 - whatever it is, the node must live on
            self._node.get_logger().error(f"internal error:\n{''.join(traceback.format_exception(error))}")
            response.message, response.success = f"internal error, see the log: {type(error).__name__}", False
        log_at(self._node.get_logger(), "info" if response.success else "warning", response.message)
        return response

    def _pause(self, request: Any, response: Any) -> Any:
        def act() -> str:
            self._identification.pause(request.data)
            return "paused: nothing is learned, predictions go on" if request.data else "learning goes on"

        return self._answer(response, act)

    def _reset(self) -> str:
        self._identification.reset()
        return "; ".join(session.task.forgotten for session in self._identification.sessions)


def _attempt(prepare: Callable[[], Any]) -> Any:
    """What was prepared, or why it cannot be."""
    try:
        return prepare()
    except Exception as error:  # noqa: BLE001 - whoever asked waits for an answer
        return error


def _save(write: Callable[[], tuple[list[Path], list[str]]] | Exception) -> str | Exception:
    """What to say of files that are written, or why they are not."""
    if isinstance(write, Exception):
        return write
    try:
        paths, refusals = write()
    except Exception as error:  # noqa: BLE001 - whoever asked waits for an answer
        return error
    return "; ".join([f"written to {' and '.join(str(path) for path in paths)}", *refusals])


def _tell(saved: str | Exception) -> str:
    if isinstance(saved, Exception):
        raise saved
    return saved


def _capture_tool(load: Session) -> str:
    path, unknown = load.capture_tool()
    answer = f"what is carried now is the tool, written to {path}"
    if not unknown:
        return answer
    return f"{answer}; not known of it yet: {', '.join(unknown)} (turn the sensor faster, then capture it again)"


def _clear_tool(load: Session) -> str:
    load.clear_tool()
    return "no tool is subtracted any more"
