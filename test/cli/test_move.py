"""`inertid move` over a real action graph: a controller that obeys, lags, rejects, gives up, or is deaf."""

from __future__ import annotations

import argparse
import importlib.util
import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
import rclpy
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.context import Context
from rclpy.executors import MultiThreadedExecutor, SingleThreadedExecutor
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.task import Future
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from inertid_ros.cli.command import make_parser
from inertid_ros.cli.main import COMMANDS, main
from inertid_ros.cli.move import MotionStoppedError, Mover, defer_signals, plan
from inertid_ros.cli.observer import Observer
from inertid_ros.core.errors import FileFormatError
from inertid_ros.core.records import FloatArray
from inertid_ros.guide.supervision import Joints, Stage, Supervisor
from inertid_ros.motions.motion import MinimumJerk
from inertid_ros.motions.multisine import JointLimits
from inertid_ros.motions.safety import UnsafeMotionError
from inertid_ros.motions.trajectory import Trajectory, prepare_directory, sample_motion, write_trajectory
from inertid_ros.ros.runtime import make_executor, ros_session
from inertid_ros.sim.scenario import read_urdf

test_msgs = pytest.importorskip("test_msgs.action", reason="the package test_msgs, whose action stands in, is missing")

NAMES = ("shoulder", "elbow")
MOTION = sample_motion(MinimumJerk([[0.0, 0.0], [1.5, -1.0]], [2.0]), NAMES)
LIMITS = JointLimits(np.full(2, -2.0), np.full(2, 2.0), np.full(2, 3.0), np.full(2, 9.0), np.full(2, np.inf))
LOOK = 0.1
"""Seconds of the joints' time from one look to the next."""


class Controller:
    """Follows trajectories in a thread of its own, in time that the test lets pass."""

    def __init__(self, context: Context) -> None:
        self.node = rclpy.create_node("controller", context=context)
        self.joints = self.node.create_publisher(JointState, "joint_states", 10)
        self.events = self.node.create_publisher(DiagnosticArray, "inertid/events", 10)
        self.accepts, self.obeys, self.gives_up, self.lag, self.falls_silent = True, True, False, 0.0, False
        self.cancelled = False
        self.time, self.begin, self.sent = 100.0, np.inf, 0.0
        self.position: FloatArray = np.zeros(2)
        self._over, self._idle = threading.Event(), threading.Event()
        self._idle.set()
        self._server = ActionServer(
            self.node,
            test_msgs.Fibonacci,
            "follow",
            self._execute,
            callback_group=ReentrantCallbackGroup(),
            goal_callback=lambda _: GoalResponse.ACCEPT if self.accepts else GoalResponse.REJECT,
            cancel_callback=self._cancel,
        )
        self._executor = MultiThreadedExecutor(num_threads=3, context=context)
        self._executor.add_node(self.node)
        self._thread = threading.Thread(target=self._executor.spin, daemon=True)
        self._thread.start()

    def advance(self) -> None:
        """Let the joints move on; once the goal is over, time nearly stands still while its result is on its way."""
        self.time += 0.001 if self._over.is_set() else LOOK
        elapsed = self.time - self.begin - self.lag
        if np.isfinite(elapsed) and not self._over.is_set():
            self.position = MOTION.at(np.array([elapsed])).positions[0]
            if elapsed > MOTION.duration or (self.gives_up and elapsed > 1.0):
                self._over.set()
        if self.falls_silent and elapsed > 0.5:
            return
        message = JointState(name=list(NAMES), position=self.position.tolist())
        message.header.stamp.sec, message.header.stamp.nanosec = divmod(round(self.time * 1e9), 10**9)
        self.joints.publish(message)
        self.sent = self.time

    def touch(self) -> None:
        status = DiagnosticStatus(name="contact_began", message="something touches the load", level=b"\1")
        self.events.publish(DiagnosticArray(status=[status]))

    def close(self) -> None:
        self._over.set()
        self._idle.wait(10.0)
        self._executor.shutdown()
        self._thread.join()
        self._server.destroy()
        self.node.destroy_node()

    def _execute(self, goal: Any) -> Any:
        self._idle.clear()
        self._over.wait()
        self._idle.set()
        if self.cancelled:
            goal.canceled()
        elif self.gives_up:
            goal.abort()
        else:
            goal.succeed()
        return test_msgs.Fibonacci.Result()

    def _cancel(self, _: Any) -> CancelResponse:
        if not self.obeys:
            return CancelResponse.REJECT
        self.cancelled = True
        threading.Timer(0.05, self._over.set).start()  # the goal is being cancelled once this has returned
        return CancelResponse.ACCEPT


class Watched(Mover):
    """A mover that tells the controller when it has begun to watch: no answer takes long in the joints' time."""

    controller: Controller

    def _watch(self, stage: Stage, supervisor: Supervisor, result: Any) -> str:
        self.wait(lambda: abs(self.observer.listen().time - self.controller.sent) < 1e-6, "joint_states")
        self.controller.begin = self.controller.time
        return super()._watch(stage, supervisor, result)


class Rig:
    """A mover and a controller in one graph."""

    def __init__(self, domain: int) -> None:
        self.context = Context()
        rclpy.init(context=self.context, domain_id=domain)
        self.controller = Controller(self.context)
        self.observer = Observer("inertid", rclpy.create_node("move", context=self.context))
        self.executor = SingleThreadedExecutor(context=self.context)
        self.executor.add_node(self.observer.node)
        self.goals: list[Trajectory] = []
        self.mover = Watched(self.observer, test_msgs.Fibonacci, "follow", self.make_goal, self.pass_time)
        self.mover.controller = self.controller

    def make_goal(self, action: Any, trajectory: Trajectory) -> Any:
        self.goals.append(trajectory)
        return action.Goal(order=len(self.goals))

    def pass_time(self) -> None:
        """Let a joint state come, if one is sent, and serve everything else that waits."""
        self.controller.advance()
        for _ in range(10):
            self.executor.spin_once(timeout_sec=0.01)
            if abs(self.observer.listen().time - self.controller.sent) < 1e-6:
                break

    def follow(self, limits: JointLimits = LIMITS) -> None:
        self.mover.wait(lambda: self.mover.look(NAMES) is not None, "joint_states")
        self.mover.follow(Stage("slowly", MOTION), Joints(NAMES, (True, False), limits), 0.15)

    def close(self) -> None:
        self.controller.close()
        self.executor.remove_node(self.observer.node)
        self.observer.node.destroy_node()
        rclpy.shutdown(context=self.context)


@pytest.fixture
def rig(ros_domain: int, monkeypatch: pytest.MonkeyPatch) -> Iterator[Rig]:
    monkeypatch.setattr("inertid_ros.cli.move.PATIENCE", 1000)
    made = Rig(ros_domain)
    yield made
    made.close()


def test_a_motion_is_followed_to_its_end_although_the_controller_is_a_little_late(rig: Rig) -> None:
    rig.controller.lag = 0.15
    rig.follow()
    assert rig.goals == [MOTION]
    np.testing.assert_allclose(rig.controller.position, [1.5, -1.0], atol=1e-6)
    assert not rig.controller.cancelled


def test_a_rejected_motion_does_not_begin(rig: Rig) -> None:
    rig.controller.accepts = False
    with pytest.raises(MotionStoppedError, match="slowly: the controller rejected the trajectory"):
        rig.follow()


def test_a_motion_that_begins_elsewhere_is_not_sent(rig: Rig) -> None:
    rig.controller.position = np.array([0.3, 0.0])
    with pytest.raises(MotionStoppedError, match=r"shoulder is off by 0\.\d+ rad, 0.15 is allowed; nothing was sent"):
        rig.follow()
    assert not rig.goals


def test_a_controller_that_lags_is_stopped(rig: Rig) -> None:
    rig.controller.lag = 1.0
    with pytest.raises(MotionStoppedError, match=r"tracking error: shoulder is off by 0\.\d+ rad, .*; it was stopped"):
        rig.follow()
    assert rig.controller.cancelled
    assert rig.controller.position[0] < 0.5


def test_contact_stops_the_motion(rig: Rig) -> None:
    advance = rig.controller.advance

    def touch_halfway() -> None:
        advance()
        if rig.controller.time - rig.controller.begin > 0.9:
            rig.controller.touch()

    rig.controller.advance = touch_halfway  # type: ignore[method-assign]
    with pytest.raises(MotionStoppedError, match="contact: something touches the load; it was stopped"):
        rig.follow()
    assert rig.controller.cancelled


def test_the_end_of_a_joint_stops_the_motion(rig: Rig) -> None:
    narrow = JointLimits(np.full(2, -2.0), np.full(2, 1.0), LIMITS.velocity, LIMITS.acceleration, LIMITS.effort)
    with pytest.raises(MotionStoppedError, match=r"shoulder is at 1\.\d+ rad, beyond its limit 1\.000; it was stopped"):
        rig.follow(narrow)


def test_ctrl_c_cancels_the_goal_before_ros_ends(rig: Rig, capfd: pytest.CaptureFixture[str]) -> None:
    """Signals come to the process as from a terminal; rclpy's own handlers would shut its context down."""
    with ros_session([]), defer_signals() as look_out:
        pass_time, executor = rig.mover.pass_time, make_executor(rig.observer.node)

        def interrupt() -> None:
            pass_time()
            if 0.8 < rig.controller.time - rig.controller.begin < 0.95:
                os.kill(os.getpid(), signal.SIGINT)
            executor.spin_until_future_complete(Future(), timeout_sec=0.001)
            look_out()

        rig.mover.pass_time = interrupt
        with pytest.raises(KeyboardInterrupt):
            rig.follow()
        assert rclpy.ok()
    assert rig.controller.cancelled
    assert "it was stopped" in capfd.readouterr().err


def test_silence_stops_the_motion(rig: Rig) -> None:
    rig.controller.falls_silent = True
    with pytest.raises(MotionStoppedError, match="joint_states have stopped; it was stopped"):
        rig.follow()


def test_a_controller_that_gives_up_is_named(rig: Rig) -> None:
    rig.controller.gives_up = True
    with pytest.raises(MotionStoppedError, match="the controller gave up: goal status 6"):
        rig.follow()


@pytest.mark.long
def test_a_controller_that_cannot_be_stopped_is_an_alarm(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    rig.controller.obeys, rig.controller.lag = False, 1.0
    advance = rig.controller.advance

    def stand_after_a_while() -> None:
        rig.controller.begin = np.inf if rig.controller.position[0] > 0.1 else rig.controller.begin
        advance()

    rig.controller.advance = stand_after_a_while  # type: ignore[method-assign]
    rig.mover.wait(lambda: rig.mover.look(NAMES) is not None, "joint_states")
    rig.mover.wait(rig.mover._client.server_is_ready, "controller")
    monkeypatch.setattr("inertid_ros.cli.move.PATIENCE", 100)
    with pytest.raises(MotionStoppedError, match="IT MAY STILL MOVE"):
        rig.follow()


@pytest.fixture
def puma(rig: Rig) -> Mover:
    """A mover that hears a PUMA at rest."""
    latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    rig.controller.node.create_publisher(String, "robot_description", latched).publish(
        String(data=read_urdf("puma560"))
    )

    rig.controller.position = np.array(HOME)

    def advance() -> None:
        rig.controller.time = rig.controller.sent = rig.controller.time + LOOK
        message = JointState(name=list(PUMA), position=rig.controller.position.tolist())
        message.header.stamp.sec = round(rig.controller.time)
        rig.controller.joints.publish(message)

    rig.controller.advance = advance  # type: ignore[method-assign]
    return rig.mover


PUMA = tuple(f"joint{index}" for index in range(1, 7))
HOME = [0.0, -1.5, 1.5, 0.0, 0.5, 0.0]
COLLIDING = [*HOME[:4], 1.7, 0.0]
"""The flange folded onto the forearm."""


def options(*arguments: str) -> argparse.Namespace:
    return make_parser(COMMANDS).parse_args(["move", "motion", *arguments])


def test_all_stages_are_planned_within_limits_before_anything_moves(puma: Mover, tmp_path: Path) -> None:
    goal = [0.4, -1.2, 1.3, 0.5, 0.0, 0.0]
    motion = sample_motion(MinimumJerk([[0.1, *HOME[1:]], goal], [1.5]), PUMA)
    stages, joints = plan(options("--scale", "0.5"), motion, puma)
    assert [stage.name for stage in stages] == ["approach", "slowly", "return", "at speed"]
    np.testing.assert_allclose(stages[0].trajectory.path.positions[0], HOME)
    for stage in stages:
        stage.trajectory.check(joints.limits)
    with pytest.raises(FileFormatError, match=r"velocity of joint\d is"):
        plan(options("--scale", "1.0"), motion.slow_down(30.0), puma)
    model = pin.buildModelFromXML(read_urdf("puma560"))
    data = model.createData()
    pin.framesForwardKinematics(model, data, np.array(goal))
    center = data.oMf[model.getFrameId("ft_sensor")].translation.tolist()
    workspace = tmp_path / "workspace.yaml"
    workspace.write_text(f"keep_out: {{post: {{sphere: 0.05, center: {center}}}}}", encoding="utf-8")
    with pytest.raises(UnsafeMotionError, match="'post'"):
        plan(options("--workspace", str(workspace)), motion, puma)


def test_a_pose_from_which_no_way_can_lead_is_named_at_once(
    rig: Rig, puma: Mover, monkeypatch: pytest.MonkeyPatch
) -> None:
    def search(*_: object) -> None:
        raise AssertionError("a way was looked for")

    monkeypatch.setattr("inertid_ros.cli.move.plan_approach", search)
    motion = sample_motion(MinimumJerk([[0.1, *HOME[1:]], [0.4, -1.2, 1.3, 0.5, 0.0, 0.0]], [1.5]), PUMA)
    rig.controller.position = np.array([*HOME[:4], 2.2, 0.0])
    with pytest.raises(MotionStoppedError, match=r"joint5 is at 2\.200 rad, beyond its limit 1\.745: jog the arm back"):
        plan(options("--scale", "0.5"), motion, puma)
    rig.controller.position = np.array(COLLIDING)
    puma.wait(lambda: puma.observer.listen().joints.get("joint5") == COLLIDING[4], "joint_states")
    with pytest.raises(UnsafeMotionError, match=r"where the arm is now, 'link\d' and 'link\d' are .* m apart"):
        plan(options("--scale", "0.5"), motion, puma)


@pytest.mark.skipif(importlib.util.find_spec("control_msgs") is not None, reason="control_msgs is installed")
def test_without_control_msgs_it_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    prepare_directory(tmp_path)
    write_trajectory(tmp_path, MOTION)
    assert main(["move", str(tmp_path)]) == 1
    assert "control_msgs is not installed" in capsys.readouterr().err
    assert main(["move", str(tmp_path), "--scale", "1.5"]) == 1
    assert "--scale" in capsys.readouterr().err
