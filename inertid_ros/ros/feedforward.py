"""Trajectories that come in go out with the efforts they take, by what is known of the arm and of its load."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from rclpy.lifecycle import LifecycleNode
from trajectory_msgs.msg import JointTrajectory

from inertid_ros.control.feedforward import (
    Filled,
    fill_efforts,
    load_of_estimate,
    model_of_estimate,
    model_of_file,
)
from inertid_ros.control.inverse_model import CarriedLoad, InverseModel
from inertid_ros.core.errors import InertidError, NotIdentifiedError
from inertid_ros.core.estimation.estimate import LinksEstimate, LoadEstimate
from inertid_ros.core.robot.robot import Robot
from inertid_ros.core.settings.settings import Settings
from inertid_ros.files.estimate import read_estimate
from inertid_ros.motions.trajectory import Trajectory, fill_message, parse_message
from inertid_ros.ros.answers import Publishers
from inertid_ros.ros.messages import TRAJECTORY_TYPES
from inertid_ros.ros.session import Judged, Session
from inertid_ros.ros.worker import Worker


class Feedforward:
    """Answers `~/feedforward/trajectory` with `~/feedforward/efforts` and `~/feedforward/deviations`.

    Each is answered, in their order; it takes long enough to be the worker's.
    """

    def __init__(
        self,
        node: LifecycleNode,
        publishers: Publishers,
        worker: Worker,
        sessions: Sequence[Session],
        find_context: Callable[[], tuple[Settings, Robot | None]],
    ) -> None:
        """Subscribe and publish.

        Args:
            node: the node.
            publishers: of the node.
            worker: does the work.
            sessions: what is identified.
            find_context: returns the settings and the robot as they are now.
        """
        self._node = node
        self._worker = worker
        self._sessions = sessions
        self._find_context = find_context
        self._count = 0
        self._efforts = publishers.create(JointTrajectory, "~/feedforward/efforts")
        self._deviations = publishers.create(JointTrajectory, "~/feedforward/deviations")
        self._subscription = node.create_subscription(JointTrajectory, "~/feedforward/trajectory", self._take, 10)

    def destroy(self) -> None:
        """Unsubscribe."""
        self._node.destroy_subscription(self._subscription)

    def _take(self, message: JointTrajectory) -> None:
        if not self._efforts.is_activated:
            return
        self._count += 1
        settings, robot = self._find_context()
        judge = {session.task.name: session.prepare_estimate() for session in self._sessions}
        known = {name: prepared for name, prepared in judge.items() if prepared is not None}
        self._worker.submit(f"feedforward {self._count}", partial(_fill, message, settings, robot, known), self._answer)

    def _answer(self, filled: Filled | Exception) -> None:
        if isinstance(filled, InertidError):
            self._node.get_logger().error(f"the trajectory is not filled in: {filled}")
            return
        if isinstance(filled, Exception):
            raise filled
        self._efforts.publish(fill_message(filled.trajectory, TRAJECTORY_TYPES))
        self._deviations.publish(fill_message(replace(filled.trajectory, efforts=filled.deviations), TRAJECTORY_TYPES))


def _fill(
    message: JointTrajectory, settings: Settings, robot: Robot | None, known: dict[str, Callable[[], Judged]]
) -> Filled | Exception:
    """Fill in a trajectory, or return why that is impossible."""
    try:
        trajectory: Trajectory = parse_message(message, "~/feedforward/trajectory")
        found = {name: judge() for name, judge in known.items()}
        load, links = found.get("load"), found.get("links")
        carried = load_of_estimate(load) if isinstance(load, LoadEstimate) else None
        return fill_efforts(_find_model(settings, robot, links, carried), trajectory)
    except Exception as error:  # noqa: BLE001 - the node must live on
        return error


def _find_model(
    settings: Settings, robot: Robot | None, links: Judged | None, load: CarriedLoad | None
) -> InverseModel:
    if isinstance(links, LinksEstimate):
        return model_of_estimate(links, settings, load)
    if not settings.load.arm_file:
        raise NotIdentifiedError(
            "no arm is known: identify it (estimators [links]), or name the file of one (load.arm_file)"
        )
    if robot is None:
        raise NotIdentifiedError("there is no robot description yet")
    return model_of_file(read_estimate(Path(settings.load.arm_file).expanduser()), robot, load)
