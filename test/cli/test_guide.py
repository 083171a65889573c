"""`inertid guide` in a real graph: simulated driver, estimator, and a person who jogs the arm as told."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import rclpy
from rclpy.context import Context
from rclpy.experimental import EventsExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import QoSProfile
from rclpy.task import Future
from rich.console import Console
from rosgraph_msgs.msg import Clock
from std_srvs.srv import SetBool
from support.processes import Process
from trajectory_msgs.msg import JointTrajectory

from inertid_ros.cli.command import STOPPED
from inertid_ros.cli.guide import JsonLines, Screen, lead, show_snippets
from inertid_ros.cli.observer import Observer
from inertid_ros.core.records import FloatArray
from inertid_ros.files.estimate import read_estimate, read_tool
from inertid_ros.guide.dialogue import ENTER, Instruction
from inertid_ros.guide.procedure import guide
from inertid_ros.motions.motion import MinimumJerk
from inertid_ros.motions.trajectory import fill_message, sample_motion
from inertid_ros.ros.driver_node import SimulatedDriver
from inertid_ros.ros.messages import TRAJECTORY_TYPES
from inertid_ros.ros.node import EstimatorNode
from inertid_ros.sim.scenario import read_load

STEP = 0.1
"""Seconds of simulated time between two looks."""
JOINTS = tuple(f"joint{index}" for index in range(1, 7))

DRIVES = {
    "control_rate": 400.0,
    "natural_frequency": [40.0],
    "rotor_inertia": [1.14, 4.71, 0.827, 0.2, 0.179, 0.193],
}
"""The PUMA's motors, whose inertias let its wrist hold a load."""


class Shop:
    """Driver, estimator, observer and a person in one executor; time is simulated."""

    def __init__(self, domain: int, directory: Path, **driver: Any) -> None:
        self.context = Context()
        rclpy.init(context=self.context, domain_id=domain)
        self.executor = EventsExecutor(context=self.context)
        self.person = rclpy.create_node("person", context=self.context)
        self.clock = self.person.create_publisher(Clock, "/clock", 10)
        self.jog = self.person.create_publisher(JointTrajectory, "joint_trajectory", 10)
        self.attach = self.person.create_client(SetBool, "/simulated_driver/attach")
        self.observer = Observer("inertid", rclpy.create_node("guide", context=self.context))
        common = {"use_sim_time": True}
        scenario = {"motion": "driven", "attach_at": -1.0, "sign": "on_sensor", **DRIVES, **driver}
        self.nodes: list[Node] = [self.person, self.observer.node]
        for make, parameters in (
            (SimulatedDriver, {**common, **scenario}),
            (EstimatorNode, {**common, "save_directory": str(directory)}),
        ):
            overrides = [Parameter(name, value=value) for name, value in parameters.items()]
            self.nodes.append(make(context=self.context, parameter_overrides=overrides))
        for node in self.nodes:
            self.executor.add_node(node)
        estimator = self.nodes[-1]
        assert isinstance(estimator, EstimatorNode)
        estimator.trigger_configure()
        estimator.trigger_activate()
        self.time = 1000.0
        self.free_at = 0.0
        self.pose: FloatArray = np.radians([0, 0, 0, -90, 0, 0])
        self.instruction: Instruction | None = None

    def pass_time(self) -> None:
        for _ in range(5):
            self.time += STEP / 5.0
            message = Clock()
            message.clock.sec, message.clock.nanosec = divmod(round(self.time * 1e9), 10**9)
            self.clock.publish(message)
            self.executor.spin_until_future_complete(Future(), timeout_sec=0.004)
        self.obey()

    def obey(self) -> None:
        """Jog the arm to where it is wanted, once it has arrived where it was wanted before."""
        told = self.instruction
        if told is None or self.time < self.free_at or not told.targets:
            return
        goal = np.array([told.targets[name] for name in JOINTS])
        poses, durations = [self.pose], []
        if np.abs(goal - self.pose).max() > 0.1:
            poses, durations = [self.pose, goal], [2.0]
        if told.swing:
            away = np.radians(20.0) * np.eye(6)[JOINTS.index(told.swing)]
            poses, durations = [*poses, *[goal + away, goal - away] * 4, goal], [*durations, *[0.8] * 9]
        if durations:
            motion = MinimumJerk(poses, durations)
            self.jog.publish(fill_message(sample_motion(motion, JOINTS), TRAJECTORY_TYPES))
            self.pose, self.free_at = goal, self.time + motion.duration + 0.3

    def answer(self, keys: list[str], asks: bool) -> str:
        if asks and self.instruction is not None and self.instruction.text.startswith("Attach"):
            assert self.attach.service_is_ready()
            self.attach.call_async(SetBool.Request(data=True))
            for _ in range(5):  # whoever attaches a load takes some time before saying so
                self.pass_time()
        return keys[0] if asks else ""

    def close(self) -> None:
        for node in self.nodes:
            self.executor.remove_node(node)
            node.destroy_node()
        rclpy.shutdown(context=self.context)


@pytest.fixture
def shop(
    request: pytest.FixtureRequest, ros_domain: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Shop]:
    monkeypatch.setattr("inertid_ros.ros.node.DIAGNOSTICS_PERIOD", 0.25)
    monkeypatch.setattr("inertid_ros.ros.inputs.SAMPLES", QoSProfile(depth=10_000))
    monkeypatch.setattr("inertid_ros.ros.pace.BEHIND", float("inf"))
    made = Shop(ros_domain, tmp_path, **getattr(request, "param", {}))
    yield made
    made.close()


def run(shop: Shop, skip: str = "", tool: bool = False) -> Instruction:
    """Be led to the end, as JSON; the other poses and the swings are skipped from an instruction on."""
    lines = JsonLines()

    def show(instruction: Instruction, view: Any) -> None:
        shop.instruction = instruction
        lines(instruction, view)

    def answer(keys: list[str], asks: bool) -> str:
        told = shop.instruction
        is_over = told is not None and skip and (told.step == "swing" or told.text.startswith(skip))
        return "s" if is_over else shop.answer(keys, asks)

    return lead(guide(tool), shop.observer, answer, show, shop.pass_time)


def test_what_is_known_after_some_poses_is_saved(
    shop: Shop, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    end = run(shop, skip="Pose 4")
    assert end.success, end
    show_snippets(shop.observer, as_json=True)
    said = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {"check", "ask", "pose", "swing", "call", "verdict", "done", "paste"} == {one["step"] for one in said}
    assert any(one["text"].startswith("Pose 2 of 6: turn joint") for one in said[:-1])
    assert said[-2]["parameters"]["m"]["state"] == "known"
    load = read_estimate(tmp_path / "inertid_load.yaml").need_load()
    assert load.values[0] == pytest.approx(1.8, abs=0.1)


@pytest.mark.long
@pytest.mark.parametrize("shop", [{"tool": "gripper"}], indirect=True)
def test_the_tool_is_not_part_of_the_load(shop: Shop, tmp_path: Path) -> None:
    assert run(shop, skip="Pose 4", tool=True).success
    gripper, bar = read_load("gripper"), read_load("bar")
    assert gripper is not None
    assert bar is not None
    assert read_tool(tmp_path / "inertid_tool.yaml").phi[0] == pytest.approx(gripper[0], abs=0.05)
    load = read_estimate(tmp_path / "inertid_load.yaml").need_load()
    assert load.values[0] == pytest.approx(bar[0], abs=0.1)


@pytest.mark.long
def test_a_person_who_does_as_told_knows_the_load(
    shop: Shop, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    end = run(shop)
    assert end.success, end
    assert str(tmp_path) in end.text
    show_snippets(shop.observer, as_json=False)
    assert "set_target_payload(1." in capsys.readouterr().out
    truth, load = read_load("bar"), read_estimate(tmp_path / "inertid_load.yaml").need_load()
    assert truth is not None
    assert np.all(np.abs(load.values - truth) <= 4.0 * np.sqrt(np.diag(load.covariance)))
    assert set(load.states) == {"known"}


def test_plain_lines_are_written_once(capsys: pytest.CaptureFixture[str]) -> None:
    from inertid_ros.cli.demo.view import Snapshot

    screen, view = Screen(), Snapshot((), np.zeros(10))
    told = Instruction("check", "Something is missing.", ("ERROR wrench: no messages, 0.0 Hz",), {ENTER: "go on"})
    for _ in range(3):
        screen(told, view)
    screen(
        Instruction("check", "Something is missing.", ("ERROR wrench: no messages, 0.1 Hz",), {ENTER: "go on"}), view
    )
    written = capsys.readouterr().out.splitlines()
    assert written == ["Something is missing.", "  ERROR wrench: no messages, 0.0 Hz", "  [enter] go on"]


def test_an_estimator_is_started_where_there_is_none_and_ends_with_the_guide(ros_domain: int, tmp_path: Path) -> None:
    """Without a driver the guide says what is missing, and waits for it."""
    del ros_domain
    command = [sys.executable, "-m", "inertid_ros.cli.main", "guide", "--json"]
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with Process(command, **pipes, cwd=tmp_path) as process:
        assert process.stdout is not None
        said = json.loads(process.stdout.readline())
        assert said["step"] == "check"
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == STOPPED
    assert errors.splitlines()[0] == "no estimator is running: one is started here"
    assert errors.splitlines()[-1] == "inertid guide: stopped"


def test_a_terminal_shows_what_is_known_in_colour_and_is_given_back(monkeypatch: pytest.MonkeyPatch) -> None:
    from inertid_ros.cli.demo.view import Snapshot

    written = io.StringIO()
    monkeypatch.setattr(
        "inertid_ros.cli.guide.Console",
        lambda **options: Console(file=written, force_terminal=True, width=90, **options),
    )
    screen = Screen()
    states = ("known", "uncertain", *["not excited yet"] * 8)
    known = Snapshot((), np.arange(10.0), states=states, values=np.ones(10), covariance=1e-4 * np.eye(10))
    screen(Instruction("pose", "Turn joint4.", ("by 30 deg",), {"s": "skip"}), known)
    shown = written.getvalue()
    screen(Instruction("pose", "Turn joint4.", ("by 30 deg",), {"s": "skip"}), known)
    assert written.getvalue() == shown, "not drawn again for nothing"
    screen.close()
    for text in ("Turn joint4.", "by 30 deg", "[s] skip", "[q] quit", "not excited yet", "Ixx"):
        assert text in shown


def test_a_guide_that_still_compiles_ends_at_once(ros_domain: int, tmp_path: Path) -> None:
    """Once rclpy has taken signals over, Ctrl-C would wait for the compiler."""
    del ros_domain
    command = [sys.executable, "-m", "inertid_ros.cli.main", "guide"]
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    with Process(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment) as process:
        assert process.stderr is not None
        assert any("compiling" in line for line in process.stderr)
        process.send_signal(signal.SIGINT)
        assert process.wait(20.0) == STOPPED
