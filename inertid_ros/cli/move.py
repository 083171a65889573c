"""`inertid move`: lets a controller follow a checked motion, and stops it where something is not as it should be."""

from __future__ import annotations

import argparse
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rclpy.action import ActionClient
from rclpy.action.client import GoalStatus
from rclpy.signals import uninstall_signal_handlers

from inertid_ros.cli.command import OK, say
from inertid_ros.cli.excite import ADVICE, make_workspace
from inertid_ros.cli.guide import ask, spin
from inertid_ros.cli.keyboard import Keyboard
from inertid_ros.cli.observer import Observer
from inertid_ros.core.errors import InertidError, SettingError
from inertid_ros.core.estimation.estimate import Mode
from inertid_ros.core.records import FloatArray
from inertid_ros.core.robot.robot import ArmModel
from inertid_ros.guide.supervision import Joints, Stage, Supervisor, plan_stages
from inertid_ros.motions.approach import plan_approach
from inertid_ros.motions.files import narrow, read_limits
from inertid_ros.motions.motion import Motion
from inertid_ros.motions.safety import UnsafeMotionError
from inertid_ros.motions.trajectory import Trajectory, fill_message, read_trajectory
from inertid_ros.ros.messages import TRAJECTORY_TYPES
from inertid_ros.ros.runtime import StartError, end_nodes, make_executor, ros_session

PATIENCE = 100
"""Looks, of 0.1 s, that are waited for a robot, a controller, or its answer."""
SILENCE = 5
"""Looks without a joint state after which a motion is stopped."""


class MotionStoppedError(InertidError):
    """The motion was not begun, or not made to its end."""


def run(options: argparse.Namespace) -> int:
    """Plan, ask, and execute stage by stage; 0 if the motion was made to its end."""
    if not 0.0 < options.scale <= 1.0:
        raise SettingError("--scale", options.scale, "above 0, and 1 at most")
    if not 0.0 < options.tolerance < np.inf:
        raise SettingError("--tolerance", options.tolerance, "a distance above 0")
    motion = read_trajectory(options.motion)
    action = find_action()
    with ros_session(options.ros_arguments or []), defer_signals() as look_out, Keyboard(options.yes) as keyboard:
        observer = Observer(options.node)
        executor = make_executor(observer.node)
        executor.add_node(observer.node)
        try:

            def pass_time(keys: bool = True) -> None:
                spin(executor)
                look_out()
                if keys:
                    keyboard.read([], False)

            mover = Mover(observer, action, options.action, fill_goal, pass_time)
            planned = plan(options, motion, mover)
            listed = ", ".join(f"{stage.name} {stage.trajectory.duration:.1f} s" for stage in planned.stages)
            say(f"planned: {listed}. {ADVICE}")
            for stage in planned.stages:
                question = f"Next, the robot moves: {stage.name}, {stage.trajectory.duration:.1f} s."
                ask(question, keyboard, lambda: pass_time(keys=False))
                mover.follow(stage, planned.joints, options.tolerance)
                say(f"{stage.name}: done")
            return OK
        finally:
            end_nodes(executor, observer.node)
    raise KeyboardInterrupt  # ros_session leaves the block quietly where ROS was shut down


@contextmanager
def defer_signals() -> Iterator[Callable[[], None]]:
    """Keep SIGINT and SIGTERM from shutting ROS down: a goal has to be cancelled before.

    What is yielded raises KeyboardInterrupt if one of them came.
    """
    came: list[int] = []
    uninstall_signal_handlers()
    numbers = signal.SIGINT, signal.SIGTERM
    before = {number: signal.signal(number, lambda number, _: came.append(number)) for number in numbers}

    def look_out() -> None:
        if came:
            came.clear()
            raise KeyboardInterrupt

    try:
        yield look_out
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def find_action() -> Any:
    """The type FollowJointTrajectory of the distribution; StartError if it is not there."""
    try:
        from control_msgs.action import FollowJointTrajectory
    except ImportError:
        raise StartError(
            "control_msgs is not installed, and there are no wheels of it: run this where ROS is sourced, after "
            "`sudo apt install ros-$ROS_DISTRO-control-msgs`"
        ) from None
    return FollowJointTrajectory


def fill_goal(action: Any, trajectory: Trajectory) -> Any:
    """The goal of a FollowJointTrajectory."""
    return action.Goal(trajectory=fill_message(trajectory, TRAJECTORY_TYPES))


class Plan(NamedTuple):
    """What is going to be executed, by which joints."""

    stages: list[Stage]
    joints: Joints


def plan(options: argparse.Namespace, motion: Trajectory, mover: Mover) -> Plan:
    """The stages from where the robot is, all of them within limits and proved to be safe."""
    observer = mover.observer
    mover.wait(lambda: observer.robot is not None, "robot_description")
    robot = observer.robot
    assert robot is not None
    gravity = np.array(options.gravity)
    arm = ArmModel.of(robot, gravity, motion.joint_names)
    motion = motion.arrange(arm.joint_names, "the robot")
    limits = read_limits(arm, options.limits)
    motion.slow_down(options.scale).check(limits)
    mover.wait(lambda: mover.look(arm.joint_names) is not None, f"joint_states of {', '.join(arm.joint_names)}")
    present = mover.look(arm.joint_names)
    assert present is not None
    joints = Joints(arm.joint_names, arm.is_angle, limits)
    beyond = joints.find_beyond(present)
    if beyond:
        raise MotionStoppedError(f"{beyond}: jog the arm back into its range first, or correct the limits of the URDF")
    say("planning: the motion and the way to its beginning are checked for collisions")
    rest = {name: value for name, value in observer.listen().joints.items() if name not in arm.joint_names}
    workspace = make_workspace(options, rest)
    source = Path("robot_description"), observer.description
    safety, _ = workspace.make_check(robot, source, arm.joint_names, gravity, limits)
    safety.verify(motion.slow_down(options.scale))  # before a way is looked for to what is not safe anyway
    close = safety.find_pose_violation(present)
    if close is not None:
        raise UnsafeMotionError(
            f"where the arm is now, '{close.first}' and '{close.second}' are {close.distance:.3f} m apart, less than "
            "the margin: jog it away from there, or reduce the margin"
        )
    slow = narrow(limits, arm.is_angle, 0.0, options.scale)

    def approach(start: FloatArray, goal: FloatArray) -> Motion:
        way = plan_approach(start, goal, slow, lambda line: safety.find_violation(line) is None, safety.holds_speed)
        if way is None:
            raise UnsafeMotionError(
                "no safe way was found to where the motion begins: jog the arm nearer to that pose, "
                f"{', '.join(joints.write(joint, value) for joint, value in enumerate(goal))}"
            )
        return way

    stages = plan_stages(present, motion, options.scale, approach)
    for stage in stages:
        safety.verify(stage.trajectory)
    return Plan(stages, joints)


class Mover:
    """Sends goals of an action to a controller, and watches the joints meanwhile.

    Attributes:
        observer: what is heard.
        pass_time: serves the nodes until the next look.
    """

    def __init__(
        self,
        observer: Observer,
        action: Any,
        name: str,
        make_goal: Callable[[Any, Trajectory], Any],
        pass_time: Callable[[], None],
    ) -> None:
        """Take the type and the name of the action, and what makes a goal of a trajectory."""
        self.observer, self.pass_time = observer, pass_time
        self._action, self._name, self._make_goal = action, name, make_goal
        self._client = ActionClient(observer.node, action, name)

    def look(self, joint_names: tuple[str, ...]) -> FloatArray | None:
        """Positions (n,) of joints; None while one of them was not heard of."""
        joints = self.observer.listen().joints
        return None if any(name not in joints for name in joint_names) else np.array([joints[n] for n in joint_names])

    def wait(self, condition: Callable[[], bool], what: str) -> None:
        """Wait for something; MotionStoppedError if it does not come."""
        for _ in range(PATIENCE):
            if condition():
                return
            self.pass_time()
        raise MotionStoppedError(f"no {what} within {PATIENCE / 10:g} s: start the driver, or remap with --ros-args -r")

    def follow(self, stage: Stage, joints: Joints, tolerance: float) -> None:
        """Let the controller follow a trajectory to its end; MotionStoppedError says why it did not."""
        self.wait(self._client.server_is_ready, f"controller at the action {self._name}")
        self.observer.contacts.clear()
        supervisor, present = Supervisor(stage.trajectory, joints, tolerance), self.look(joints.names)
        reason = "joints are missing" if present is None else supervisor.find_reason(0.0, present, ())
        if reason:
            raise MotionStoppedError(f"{stage.name}: {reason}; nothing was sent; run the command again")
        sent = self._client.send_goal_async(self._make_goal(self._action, stage.trajectory))
        try:
            self.wait(sent.done, f"answer from {self._name}")
        except BaseException:  # the goal may still be accepted
            sent.add_done_callback(lambda answer: answer.result().cancel_goal_async())
            for _ in range(SILENCE):
                self.pass_time()
            raise
        goal = sent.result()
        if not goal.accepted:
            raise MotionStoppedError(f"{stage.name}: the controller rejected the trajectory; its log says why")
        result = goal.get_result_async()
        try:
            reason = self._watch(stage, supervisor, result)
        except BaseException:
            say(f"{stage.name}: {self._cancel(goal, result)}")
            raise
        if reason:
            raise MotionStoppedError(f"{stage.name}: {reason}; {self._cancel(goal, result)}")
        answer = result.result()
        if answer.status != GoalStatus.STATUS_SUCCEEDED or getattr(answer.result, "error_code", 0):
            words = getattr(answer.result, "error_string", "") or f"goal status {answer.status}"
            raise MotionStoppedError(f"{stage.name}: the controller gave up: {words}")

    def _watch(self, stage: Stage, supervisor: Supervisor, result: Any) -> str:
        """Look until the controller has finished, or there is a reason to stop it."""
        begin = stamp = self.observer.listen().time
        silent = 0
        while not result.done():
            self.pass_time()
            snapshot = self.observer.listen()
            silent = silent + 1 if snapshot.time == stamp else 0
            stamp = snapshot.time
            if silent >= SILENCE:
                return "joint_states have stopped"
            contacts = list(self.observer.contacts)
            if snapshot.load is not None and snapshot.load.values.get("mode") == Mode.CONTACT:
                contacts.append(snapshot.load.message)
            positions = self.look(stage.trajectory.joint_names)
            assert positions is not None  # joints that were heard of are not forgotten
            reason = supervisor.find_reason(stamp - begin, positions, contacts)
            if reason and not result.done():
                return reason
        return ""

    def _cancel(self, goal: Any, result: Any) -> str:
        """Cancel a goal, and say whether the controller has ended it; nobody is too impatient to hear that."""
        goal.cancel_goal_async()
        for _ in range(PATIENCE // 5):
            if result.done():
                break
            with suppress(KeyboardInterrupt):
                self.pass_time()
        return "it was stopped" if result.done() else "IT MAY STILL MOVE, the controller is silent"
