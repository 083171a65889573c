"""The procedure with a person and an estimator that are made up: what it asks for, and when it goes on."""

from __future__ import annotations

from dataclasses import replace

import pytest

from inertid_ros.core.robot.robot import Robot
from inertid_ros.guide.dialogue import ENTER, Instruction, Moment, Snapshot, Status
from inertid_ros.guide.procedure import POSES, TRAVEL, check_inputs, guide
from inertid_ros.sim.scenario import read_urdf

PATH = Robot.from_urdf(read_urdf("puma560")).path_to("ft_sensor")
FINE = {
    "joint_states": Status("info", "fine", {"rate [Hz]": "200.0"}),
    "wrench": Status("info", "fine", {"rate [Hz]": "200.0"}),
    "robot_description": Status("info", "fine"),
}
TRACKING = Status("info", "Trustworthy: all are known.", {"mode": "tracking", "wrench sign": "on_load"})
UNKNOWN, KNOWN = ("not excited yet",) * 10, ("known",) * 10


class Person:
    """Does what it is told, at ten looks a second, in front of an estimator that knows as much as it has seen."""

    def __init__(self, tool: bool | None = False) -> None:
        self.procedure = guide(tool)
        self.snapshot = Snapshot(
            100.0, dict.fromkeys(PATH.joint_names, 0.3), FINE, TRACKING, PATH, states=UNKNOWN, looks=1
        )
        self.instruction = next(self.procedure)
        self.said: list[str] = []
        self.calls: list[str] = []
        self.known_after = (POSES - 1, 2)
        self.answers: dict[str, tuple[bool, str]] = {}

    def look(self, key: str = "") -> Instruction:
        """Let a tenth of a second pass."""
        self.snapshot = replace(self.snapshot, time=self.snapshot.time + 0.1, looks=self.snapshot.looks + 1)
        answer = None
        if self.instruction.call:
            self.calls.append(self.instruction.call)
            answer = self.answers.get(self.instruction.call, (True, "done"))
            if self.instruction.call == "reset":
                self.snapshot = replace(self.snapshot, states=UNKNOWN)
        self.instruction = self.procedure.send(Moment(self.snapshot, key, answer))
        if self.instruction.text not in self.said[-1:]:
            self.said.append(self.instruction.text)
        return self.instruction

    def obey(self) -> None:
        """Turn to where the joints are wanted, or swing one about it."""
        joints = {**self.snapshot.joints, **self.instruction.targets}
        if self.instruction.swing:
            joints[self.instruction.swing] += 0.3 if round(10 * self.snapshot.time) % 2 else -0.3
        self.snapshot = replace(self.snapshot, joints=joints)

    def learn(self) -> None:
        """Know mass and centre of mass after some poses, and the inertia after some swings."""
        poses, swings = (
            len({text.split(":")[0] for text in self.said if text.startswith(word)}) for word in ("Pose", "Swing")
        )
        if swings >= self.known_after[1]:
            self.snapshot = replace(self.snapshot, states=KNOWN)
        elif poses >= self.known_after[0]:
            self.snapshot = replace(self.snapshot, states=KNOWN[:4] + UNKNOWN[4:])

    def go_on(self, until: str, looks: int = 2000) -> Instruction:
        """Answer and obey until a step comes."""
        for _ in range(looks):
            if self.instruction.step == until:
                return self.instruction
            self.obey()
            self.learn()
            self.look(next(iter(self.instruction.keys), "") if self.instruction.asks else "")
        raise AssertionError(f"no {until}: {self.said[-5:]}")


def test_a_load_is_identified_in_six_poses_and_some_swings() -> None:
    person = Person()
    end = person.go_on("done")
    assert end.success
    assert person.calls == ["reset", "save"]
    assert any(text.startswith("Pose 6 of 6: turn ") for text in person.said)
    assert not any("Pose 7" in text for text in person.said)


def test_the_tool_is_captured_before_the_load_is_attached() -> None:
    person = Person(tool=None)
    person.go_on("ask")
    assert "tool" in person.instruction.text
    person.look("t")
    assert "bare tool" in person.instruction.text
    person.look(ENTER)
    while person.instruction.text != "Attach the load. Nothing else may touch it.":
        person.go_on("pose") if person.instruction.step == "ask" else None
        person.obey()
        person.learn()
        person.look()
    person.said.clear()
    assert person.go_on("done").success
    assert person.calls == ["reset", "capture_tool", "reset", "save"]


def test_turns_are_told_from_where_the_joints_are() -> None:
    person = Person()
    person.go_on("pose")
    while person.instruction.text.startswith("Pose 1"):
        person.look()
    (joint,) = [name for name, target in person.instruction.targets.items() if abs(target - 0.3) > 0.1]
    turn = round((person.instruction.targets[joint] - 0.3) * 57.2957795, -1)
    assert person.instruction.text == f"Pose 2 of 6: turn {joint} by about {turn:+.0f}°."
    half = (person.instruction.targets[joint] + 0.3) / 2.0
    person.snapshot = replace(person.snapshot, joints={**person.snapshot.joints, joint: half})
    text = person.look().text
    assert f"{turn / 2:+.0f}°" in text or "stand still" in text


def test_more_poses_are_asked_for_while_the_mass_is_not_known() -> None:
    person = Person()
    person.known_after = (POSES + 1, 1)
    assert person.go_on("done").success
    assert any(text.startswith("Pose 7 of 7") for text in person.said)


def test_a_pose_counts_only_while_the_joints_stand_and_nothing_touches_the_load() -> None:
    person = Person()
    person.go_on("pose")
    touching = Status("warning", "Use with care.", {"mode": "contact"})
    person.snapshot = replace(person.snapshot, load=touching)
    for _ in range(50):
        assert person.look().text == "Pose 1 of 6: stand still, and nothing may touch the load."
    person.snapshot = replace(person.snapshot, load=TRACKING)
    for step in range(50):
        moved = {**person.snapshot.joints, "joint6": 0.3 + 0.01 * (step % 2)}
        person.snapshot = replace(person.snapshot, joints=moved)
        assert person.look().text.startswith("Pose 1")
    for _ in range(22):
        person.look()
    assert person.instruction.text.startswith("Pose 2")


def test_standstill_begins_anew_when_time_is_reset() -> None:
    person = Person()
    person.go_on("pose")
    for _ in range(15):
        person.look()
    person.snapshot = replace(person.snapshot, time=5.0)
    for _ in range(15):
        assert person.look().text.startswith("Pose 1")


def test_another_pose_can_be_asked_for_and_the_rest_skipped() -> None:
    person = Person()
    person.go_on("pose")
    while not person.instruction.text.startswith("Pose 2"):
        person.look()
    first = person.instruction.targets
    assert person.look("a").targets != first
    assert person.look("s").step == "swing"
    assert person.look("s").step == "verdict"


def test_a_joint_must_have_swung_before_another_is_asked_for() -> None:
    person = Person()
    person.known_after = (1, 99)
    person.go_on("swing")
    joint, travelled = person.instruction.swing, 0.0
    while person.instruction.text.startswith("Swing 1"):
        before = person.snapshot.joints[joint]
        person.obey()
        travelled += abs(person.snapshot.joints[joint] - before)
        person.look()
    assert travelled == pytest.approx(TRAVEL, abs=0.7)
    assert person.go_on("done").success, "an inertia that is not known does not hinder"


def test_services_that_fail_are_tried_again_or_given_up() -> None:
    person = Person()
    person.answers["save"] = (False, "no space left")
    person.go_on("verdict")
    while person.instruction.text != "save failed: no space left":
        person.look(ENTER if person.instruction.asks else "")
    person.look(ENTER)
    assert person.instruction.call == "save"
    person.look()
    end = person.look("n")
    assert (end.step, end.success, end.text) == ("done", False, "no space left")


def test_nothing_is_saved_unless_it_is_wanted_and_an_error_is_no_success() -> None:
    person = Person()
    person.go_on("verdict")
    while not person.instruction.asks:
        person.look()
    assert person.instruction.text == TRACKING.message
    assert person.look("n").success is False
    assert "save" not in person.calls
    wrong = Person()
    wrong.snapshot = replace(wrong.snapshot, load=TRACKING._replace(level="error", message="Do not use"))
    assert wrong.go_on("done").success is False


def test_checks_name_what_is_missing_and_wait_for_the_noise() -> None:
    person = Person()
    whole = person.snapshot
    early = Status("info", "fine", {"rate [Hz]": "0.0"})
    assert ("wait", "wrench: no messages yet") in check_inputs(replace(whole, inputs={**FINE, "wrench": early}))
    silent = Status("error", "no messages. To do: start the driver", {"rate [Hz]": "0.0"})
    person.snapshot = replace(whole, inputs={**FINE, "wrench": silent})
    assert any(line.startswith("ERROR wrench: 0.0 Hz, no messages") for line in person.look().details)
    assert person.instruction.text == "Something is missing or wrong."
    assert person.look(ENTER).step == "check", "nobody goes on without a wrench"
    person.snapshot = replace(whole, path=None)
    assert person.look().text == "Waiting for the first data."
    assert person.look(ENTER).step == "check", "nor without a frame"
    person.snapshot = replace(whole, inputs={name: FINE[name] for name in ("joint_states", "robot_description")})
    assert any("load.source to wrench" in line for line in person.look().details)
    person.snapshot = replace(whole, load=TRACKING._replace(values={"mode": "tracking", "noise_assumed": "..."}))
    waiting = person.look()
    assert waiting.text == "Let the robot stand still."
    assert not waiting.asks
    person.snapshot = replace(whole, inputs={**FINE, "wrench": Status("warning", "stamps repeat")})
    assert person.look().asks
    person.snapshot = whole
    assert person.look().step == "ask"


def test_checks_name_joints_that_are_not_published() -> None:
    snapshot = Snapshot(1.0, {"joint1": 0.0}, FINE, TRACKING, PATH)
    assert ("ERROR", "joints: joint2, joint3, joint4, joint5, joint6 not in joint_states") in check_inputs(snapshot)
    assert list(check_inputs(Snapshot())) == [("wait", "estimator: no diagnostics yet")]
