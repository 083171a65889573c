"""The page of a running estimator: what is heard of it, and what is asked of it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import rclpy
from geometry_msgs.msg import InertiaStamped, WrenchStamped
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import JointState

from inertid_ros.cli.command import say
from inertid_ros.cli.guide import Guided
from inertid_ros.cli.observer import Call, Observer
from inertid_ros.core.equations.equation import WRENCH_NAMES, WRENCH_UNITS
from inertid_ros.core.estimation.estimate import Mode
from inertid_ros.core.estimation.states import ParameterState
from inertid_ros.core.records import FloatArray
from inertid_ros.core.rigid_body.description import RigidBodyEstimate, describe_body
from inertid_ros.core.rigid_body.inertial import PARAMETER_NAMES, UPPER_TRIANGLE, compose
from inertid_ros.guide.dialogue import Snapshot, Status
from inertid_ros.guide.procedure import guide
from inertid_ros.ros.inputs import wrench_decoder
from inertid_ros.ros.runtime import ros_session, spin
from inertid_ros.text.numbers import PARAMETER_UNITS
from inertid_ros.view.instant import Instant, Parameters, Signals, Verdict
from inertid_ros.view.page import END, GUIDE, KEY, PAUSE, RESUME, SERVICES, TEXTS, Page
from inertid_ros.view.server import locate, serve
from inertid_ros.view.shapes import list_parts
from inertid_ros.view.tracks import WINDOW, Track, Tracks

RATE = 30
"""Pictures per second."""
_CURVES, _GUIDE = 3, 3
"""Pictures between two points of a curve, and two looks of the guide."""
_JOINTS, _WRENCHES = 20, 3
"""Newest messages that are kept until the next picture: of joints as many as leave room for a second publisher that is
slower, of wrenches those among which a residual and its prediction are found."""
PATIENCE = 5.0
"""Seconds of silence after which the estimator counts as gone: it says something every second."""


def watch(port: int, estimator: str, arguments: list[str]) -> None:
    """Show an estimator, and do what is asked of it, until the process is asked to stop.

    Raises:
        ViewError: if the page cannot be served.
    """
    with ros_session(arguments), serve(port, "inertid") as server:
        listener = ViewListener(estimator)
        viewer = Viewer(Page(server), listener)
        say(f"open {locate(port)} in a browser; Ctrl-C ends")
        try:
            spin(listener.node, viewer.show, 1.0 / RATE)
        finally:
            listener.close()


class Newest:
    """The newest messages of a topic, as bytes, taken when they are asked for.

    Those of which nobody asks are dropped by the middleware: at 1 kHz, callbacks cost more than the pictures.
    """

    def __init__(self, node: Node, kind: Any, topic: str, count: int) -> None:
        """Subscribe by a node that no executor serves, and keep so many messages."""
        quality = QoSProfile(depth=count, reliability=ReliabilityPolicy.BEST_EFFORT)
        self._subscription = node.create_subscription(kind, topic, _leave, quality, raw=True)

    def take(self) -> list[bytes]:
        """Messages that have come since the last time, the newest last."""
        taken, subscription = [], self._subscription
        with subscription.handle:
            while (found := subscription.handle.take_message(subscription.msg_type, True)) is not None:
                taken.append(found[0])
        return taken


def _leave(_: bytes) -> None:
    """Do nothing: messages are taken."""


class ViewListener(Observer):
    """Hears wrenches and the load besides."""

    def __init__(self, estimator: str, node: Any = None) -> None:
        """Subscribe."""
        node = rclpy.create_node("view") if node is None else node
        self._samples = rclpy.create_node(
            f"{node.get_name()}_samples",
            context=node.context,
            namespace=node.get_namespace(),
            enable_rosout=False,
            start_parameter_services=False,
        )
        super().__init__(estimator, node)
        self._wrench_decoder = wrench_decoder()
        self._predicted_data, self._residual_data = (
            Newest(self._samples, WrenchStamped, f"{estimator}/load/wrench_{name}", _WRENCHES)
            for name in ("predicted", "residual")
        )
        self.node.create_subscription(InertiaStamped, f"{estimator}/load/inertia", self._on_inertia, 10)
        self._inertia: Any = None
        self._signals: Signals | None = None
        self._first: float | None = None
        self._described: tuple[Any, ...] = (None, None, None)
        self._body: RigidBodyEstimate | None = None

    def _subscribe_joints(self) -> None:
        self._joint_data = Newest(self._samples, JointState, "joint_states", _JOINTS)

    def close(self) -> None:
        """Destroy the node of the samples; the other one is whose it was."""
        self._samples.destroy_node()

    def look(self, describe: bool = True) -> Instant:
        """What is heard by now; the load is described anew only if asked, which costs as much as some pictures."""
        for data in self._joint_data.take():
            self._on_joints(data)
        snapshot = self.listen()
        self._take_wrenches()
        if self._first is None or snapshot.time < self._first:
            self._first = snapshot.time if snapshot.time > 0.0 else None
        known = self._inertia, self.latest.values, self.latest.covariance
        if describe and any(new is not old for new, old in zip(known, self._described, strict=True)):
            self._described, self._body = known, self._find_body()
        return Instant(
            time=snapshot.time - (self._first or 0.0),
            joints=snapshot.joints,
            frame=self._frame,
            signals=self._signals,
            parameters=self._list_parameters(),
            body=self._body,
            inertia_known=self._body is not None and self._inertia.ixx > 0.0,
            mode="" if snapshot.load is None else snapshot.load.values.get("mode", ""),
            verdicts=judge(snapshot, self.links),
        )

    def _on_inertia(self, message: Any) -> None:
        self._inertia = message.inertia

    def _take_wrenches(self) -> None:
        """Keep the newest residual with the prediction of the same stamp, and their sum, which was measured.

        All others are never decoded: they come far more often than pictures. Of each sample, the estimator publishes
        the prediction first, so that it has come where the residual has.
        """
        residuals, predictions = self._residual_data.take(), self._predicted_data.take()
        if not residuals:
            return
        stamp, residual = self._decode(residuals[-1])
        for data in reversed(predictions):
            other, predicted = self._decode(data)
            if other == stamp:
                self._signals = Signals(WRENCH_NAMES, WRENCH_UNITS, predicted + residual, predicted)
            if other <= stamp:
                break

    def _decode(self, data: bytes) -> tuple[int, FloatArray]:
        """Stamp [ns] and wrench (6,); the former is -1 where it cannot be read."""
        block = self._wrench_decoder.decode(data)
        return (-1, np.zeros(6)) if block is None else (int(block.stamps[-1]), block.wrenches[-1].copy())

    def _list_parameters(self) -> Parameters | None:
        latest = self.latest
        if len(latest.states) != len(PARAMETER_NAMES) or not latest.covariance.size:
            return None
        deviations = np.sqrt(np.diag(latest.covariance))
        return Parameters(PARAMETER_NAMES, PARAMETER_UNITS, latest.values, deviations, latest.states)

    def _find_body(self) -> RigidBodyEstimate | None:
        """The load that is published, as long as it is known: nothing is published while it is not."""
        latest, inertia = self.latest, self._inertia
        is_known = latest.covariance.size and all(state == ParameterState.KNOWN for state in latest.states[:4])
        if inertia is None or not is_known or not inertia.m > 0.0:
            return None
        moments = np.zeros((3, 3))
        moments[UPPER_TRIANGLE] = [inertia.ixx, inertia.ixy, inertia.ixz, inertia.iyy, inertia.iyz, inertia.izz]
        moments += np.triu(moments, 1).T
        com = np.array([inertia.com.x, inertia.com.y, inertia.com.z])
        return describe_body(compose(inertia.m, com, moments), latest.covariance)


def judge(snapshot: Snapshot, links: Status | None) -> dict[str, Verdict]:
    """What the diagnostics say of what is identified, and of the inputs."""
    verdicts = {}
    if snapshot.load is not None:
        verdicts["load"] = Verdict(snapshot.load.level, snapshot.load.message, _list_findings(snapshot.load))
    if links is not None:
        numbers = [f"{name}: {value}" for name, value in links.values.items() if name != "mode"]
        verdicts["links"] = Verdict(links.level, links.message, tuple(numbers))
    for name, status in snapshot.inputs.items():
        rate = status.values.get("rate [Hz]")
        verdicts[name] = Verdict(status.level, f"{f'{rate} Hz, ' if rate else ''}{status.message}")
    return verdicts


def _list_findings(status: Status) -> tuple[str, ...]:
    """Reasons and findings, which are in front of the numbers."""
    names = list(status.values)
    count = names.index("mode") if "mode" in names else 0
    return tuple(dict.fromkeys(status.values[name] for name in names[:count]))


class Viewer:
    """Brings what is heard to the page, and what is clicked there to the estimator."""

    def __init__(self, page: Page, listener: ViewListener) -> None:
        """Begin with an empty page."""
        self._page, self._listener = page, listener
        self._tracks = Tracks(Track(WINDOW), Track(WINDOW))
        self._count = 0
        self._description = ""
        self._call: Call | None = None
        self._asked = self._heard = time.monotonic()
        self._looks = 0
        self._guided: Guided | None = None

    def show(self) -> None:
        """Look once, and show it."""
        self._count += 1
        listener, page = self._listener, self._page
        tells = self._count % TEXTS == 0
        instant = self._doubt(listener.look(tells))
        if listener.robot is not None and listener.description != self._description:
            self._description = listener.description
            shape = list_parts(self._description, listener.robot, Path(listener.parameters.get("urdf") or "robot.urdf"))
            say(*shape.missing)
            page.show_robot(listener.robot, shape)
        if self._count % _CURVES == 0:
            self._tracks.append(instant)
        self._act()
        if page.is_watched:
            page.move(instant)
            if tells:
                page.offer(RESUME if instant.mode == Mode.PAUSED else PAUSE)
                page.tell(instant, self._tracks)

    def _doubt(self, instant: Instant) -> Instant:
        """The same, or where nothing has been heard of the estimator for a while, that alone."""
        now, looks = time.monotonic(), self._listener.looks
        if looks != self._looks:
            self._looks, self._heard = looks, now
        silence = now - self._heard
        if not looks or silence < PATIENCE:
            return instant
        said = Verdict("error", f"Nothing has been heard of the estimator for {silence:.0f} s.")
        return Instant(instant.time, instant.joints, verdicts={"load": said})

    def _act(self) -> None:
        """Do what was clicked."""
        key = ""
        for action in self._page.take_actions():
            if action in SERVICES:
                self._ask(SERVICES[action])
            elif action in (PAUSE, RESUME):
                self._ask("pause", action == PAUSE)
            elif action == GUIDE:
                self._guided = Guided(guide(), self._listener)
            elif action == END:
                self._guided = None
                self._page.instruct(None)
            elif action.startswith(KEY):
                key = action.removeprefix(KEY)
        self._wait()
        if self._guided is not None and (key or self._count % _GUIDE == 0):
            self._guided.go_on(key)
            self._page.instruct(self._guided.instruction)
            if self._guided.instruction.success is not None:
                self._guided = None

    def _ask(self, service: str, data: bool | None = None) -> None:
        self._page.answer(f"Asking for {service} …")
        self._call, self._asked = self._listener.call(service, data), time.monotonic()

    def _wait(self) -> None:
        """Say what came of a service that was asked for."""
        if self._call is None:
            return
        answer = self._call.take_answer()
        if answer is None and time.monotonic() - self._asked > PATIENCE:
            answer = False, "There is no answer: is the estimator running, and active?"
        if answer is not None:
            self._page.answer(answer[1], "info" if answer[0] else "error")
            self._call = None
