"""The services of the node: each does one thing to the identification and says in words what came of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rclpy.node import Node
from std_srvs.srv import SetBool, Trigger

from inertid_ros.core.errors import InertidError
from inertid_ros.ros.identification import Identification
from inertid_ros.ros.runtime import log_at
from inertid_ros.ros.session import Session


class Services:
    """The services of the node, from configure to cleanup."""

    def __init__(self, node: Node, identification: Identification) -> None:
        """Offer the services; those of the tool only where it can be subtracted."""
        self._node = node
        self._identification = identification
        self._services = [
            node.create_service(SetBool, "~/pause", self._pause),
            self._offer("~/reset", self._reset),
            self._offer("~/save", self._save),
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

    def _answer(self, response: Any, act: Callable[[], str]) -> Any:
        try:
            response.message, response.success = act(), True
        except InertidError as error:
            response.message, response.success = str(error), False
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

    def _save(self) -> str:
        paths, refusals = self._identification.save()
        return "; ".join([f"written to {' and '.join(str(path) for path in paths)}", *refusals])


def _capture_tool(load: Session) -> str:
    path, unknown = load.capture_tool()
    answer = f"what is carried now is the tool, written to {path}"
    if not unknown:
        return answer
    return f"{answer}; not known of it yet: {', '.join(unknown)} (turn the sensor faster, then capture it again)"


def _clear_tool(load: Session) -> str:
    load.clear_tool()
    return "no tool is subtracted any more"
