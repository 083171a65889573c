"""Trajectories in, trajectories with efforts out, in a real graph: by identified links, or by the file of an arm."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from support.bench import Bench
from trajectory_msgs.msg import JointTrajectory

from inertid_ros.core.chain import Chain, Target
from inertid_ros.core.estimation.estimate import LinksEstimate
from inertid_ros.core.records import FloatArray
from inertid_ros.core.robot.robot import Robot
from inertid_ros.core.settings.settings import Settings
from inertid_ros.motions.motion import MinimumJerk
from inertid_ros.motions.trajectory import Trajectory, fill_message, parse_message, sample_motion
from inertid_ros.ros.messages import TRAJECTORY_TYPES
from inertid_ros.ros.saving import LINKS_FILE, Usage, save_links
from inertid_ros.sim.scenario import ScenarioSettings, build_simulator, read_load, read_urdf

SCENARIO: dict[str, Any] = {"robot": "ddarm", "motion": "paper_link_moves", "tachometer": True, "effort": True}
RIGID = {"links.viscous": False, "links.coulomb": False, "links.rotor_inertia": False, "links.offset": False}
ROBOT = Robot.from_urdf(read_urdf("ddarm"))
MOTION = sample_motion(MinimumJerk([[0.5, 5.0, 4.0], [4.5, 1.0, -0.5]], [1.5]), ROBOT.joint_names)


class Asker:
    """Sends trajectories and keeps the answers."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self.efforts: list[JointTrajectory] = []
        self.deviations: list[JointTrajectory] = []
        probe = bench.probe
        self._publisher = probe.create_publisher(JointTrajectory, "/inertid/feedforward/trajectory", 10)
        probe.create_subscription(JointTrajectory, "/inertid/feedforward/efforts", self.efforts.append, 10)
        probe.create_subscription(JointTrajectory, "/inertid/feedforward/deviations", self.deviations.append, 10)

    def send(self, trajectory: Trajectory) -> None:
        assert self._bench.spin_until(lambda: self._publisher.get_subscription_count() > 0)
        self._publisher.publish(fill_message(trajectory, TRAJECTORY_TYPES))

    def ask(self, trajectory: Trajectory) -> tuple[FloatArray, FloatArray]:
        """Efforts and deviations that come back."""
        self.send(trajectory)
        assert self._bench.spin_until(lambda: bool(self.efforts and self.deviations))
        found = [parse_message(kept.pop(), "answer").efforts for kept in (self.efforts, self.deviations)]
        assert found[0] is not None
        assert found[1] is not None
        return found[0], found[1]


def true_efforts(load: FloatArray | None = None) -> FloatArray:
    """What the arm of the URDF needs, by pinocchio."""
    model = ROBOT.model.copy()
    model.gravity.linear = np.array([0.0, 0.0, -9.80665])
    if load is not None:
        frame = model.frames[model.getFrameId("ft_sensor")]
        mass, com = load[0], load[1:4] / load[0]
        inertia = load[[[4, 5, 6], [5, 7, 8], [6, 8, 9]]] - mass * (com @ com * np.eye(3) - np.outer(com, com))
        model.appendBodyToJoint(frame.parentJoint, pin.Inertia(mass, com, inertia), frame.placement)
    data = model.createData()
    return np.array([pin.rnea(model, data, *state) for state in zip(*MOTION.path, strict=True)])


def start(bench: Bench, estimators: list[str], **settings: Any) -> None:
    given = {"links.effort_unit": "newton_metre", **RIGID, **settings}
    bench.start(estimators=estimators, **{name.replace(".", "__"): value for name, value in given.items()})
    bench.describe(read_urdf("ddarm"))


def test_identified_links_fill_in_efforts_and_what_is_wrong_is_said(
    bench: Bench, capfd: pytest.CaptureFixture[str]
) -> None:
    bench.simulate(**SCENARIO, load="none")
    start(bench, ["links"])
    asker = Asker(bench)
    errors: list[str] = []

    def says(words: str) -> Callable[[], bool]:
        def look() -> bool:
            errors.append(capfd.readouterr().err)
            return words in "".join(errors)

        return look

    bench.feed(0.5)
    asker.send(MOTION)
    assert bench.spin_until(says("is not filled in"))  # nothing moves yet
    bench.feed(14.0)
    wrong = replace(MOTION, joint_names=("joint1", "joint2", "wrist"))
    asker.send(wrong)
    assert bench.spin_until(says("lacks joint3"))
    far = replace(MOTION, path=MOTION.path._replace(positions=MOTION.path.positions + 9.0))
    asker.send(far)
    assert bench.spin_until(says("goes beyond a limit"))
    assert not asker.efforts
    efforts, deviations = asker.ask(MOTION)
    truth = true_efforts()
    assert np.sqrt(np.mean((efforts - truth) ** 2)) < 0.02 * np.sqrt(np.mean(truth**2))
    assert np.mean(np.abs(efforts - truth) < 2.0 * deviations) > 0.95
    assert np.all(deviations < 0.2 * np.abs(truth).max(axis=0))


def test_the_file_of_an_arm_and_the_load_that_is_weighed_are_used(bench: Bench, tmp_path: Path) -> None:
    settings = Settings.from_flat({"links.effort_unit": "newton_metre", **RIGID})
    chain = Chain(ROBOT, settings, Target.LINKS)
    chain.push(build_simulator(ScenarioSettings(**SCENARIO, load="none")).joints(0.0, 20.0))
    chain.process()
    estimate = chain.estimate()
    assert isinstance(estimate, LinksEstimate)
    save_links(replace(settings, save_directory=str(tmp_path)), read_urdf("ddarm"), estimate, Usage())
    bench.simulate(**SCENARIO, load="bar")
    arm = {"load.source": "effort", "load.arm_file": str(tmp_path / LINKS_FILE), "load.sensor_frame": "ft_sensor"}
    start(bench, ["load"], **arm)
    asker = Asker(bench)
    bench.feed(14.0)
    efforts, deviations = asker.ask(MOTION)
    truth = true_efforts(read_load("bar"))
    without = np.sqrt(np.mean((true_efforts() - truth) ** 2))
    assert np.sqrt(np.mean((efforts - truth) ** 2)) < 0.2 * without
    assert np.mean(np.abs(efforts - truth) < 2.0 * deviations) > 0.9
