"""A transition that is asked for in the wrong state must be refused, not end the process.

rclpy's own handler of ~/change_state lets the error out of the executor's loop.
"""

from __future__ import annotations

from typing import Any

from lifecycle_msgs.srv import ChangeState
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.node import Node


def refuse_wrong_transitions(node: Node) -> None:
    """Wrap the handler of a lifecycle node's change_state service."""
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
