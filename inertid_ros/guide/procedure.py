"""The procedure that leads a person through identifying a payload: checks, poses, swings, tool, load, verdict, file.

It is a generator without ROS and without a clock: it is sent moments, that is what the estimator says by now, the key
that was pressed and what came of a service, and yields what to do next. Seconds are those of the joint states' stamps.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence

import numpy as np

from inertid_ros.core.records import FloatArray
from inertid_ros.guide.dialogue import ENTER, Instruction, Moment, Snapshot
from inertid_ros.guide.poses import HOLD, SWING, Choice, Planner

POSES, MOST_POSES = 6, 10
"""Poses that are held: as many as tell a turned, mirrored or mis-scaled sensor from a load; and more of them as long as
mass or centre of mass are not known."""
MOST_SWINGS = 5
"""Swings after which the inertia stays as it is: three suffice if they are brisk."""
STILL = 0.003
"""Rad or m by which a joint that stands still may seem to move: noise of encoders, and controllers that hunt."""
TRAVEL = 5.0
"""Rad that a joint must have swung: seven times to and fro by 20°."""


_SOURCES = ("joint_states", "wrench", "robot_description")
_STATIC = slice(0, 4)
"""Mass and first moments, which poses at rest tell."""
_ROUND = 10.0
"""Degrees to which turns are rounded."""


Procedure = Generator[Instruction, Moment, None]
Step = Generator[Instruction, Moment, Moment]


def guide(tool: bool | None = None) -> Procedure:
    """Lead through the procedure; `tool` tells whether a bare tool is identified first, None asks."""
    moment = yield from _check()
    if tool is None:
        keys = {ENTER: "no, only the load", "t": "yes, identify the bare tool first"}
        moment = yield from _ask("Is there a tool whose mass is not part of the load?", keys)
        tool = moment.key == "t"
    if tool:
        moment = yield from _identify("Mount the bare tool, without any load. Nothing else may touch it.")
        moment = yield from _call("capture_tool")
    moment = yield from _identify("Attach the load. Nothing else may touch it.")
    verdict = moment.snapshot.load
    assert verdict is not None  # the checks have seen it, and it does not vanish
    moment = yield from _ask(verdict.message, {ENTER: "save", "n": "end without saving"}, "verdict")
    if moment.key == "n":
        yield Instruction("done", "Nothing was saved.", success=False)
        return
    moment = yield from _call("save")
    assert moment.answer is not None
    yield Instruction("done", moment.answer[1], success=moment.answer[0] and verdict.level != "error")


# Checks


def _check() -> Step:
    """Wait until everything is there and nothing is wrong, or the person goes on in spite of warnings."""
    moment = yield Instruction("check", "Looking for the estimator.")
    while True:
        checks = list(check_inputs(moment.snapshot))
        details = tuple(f"{word:<5} {text}" for word, text in checks)
        words = {word for word, _ in checks}
        if words == {"ok"}:
            return moment
        if "ERROR" in words or moment.snapshot.path is None:
            text = "Something is missing or wrong." if "ERROR" in words else "Waiting for the first data."
            moment = yield Instruction("check", text, details)
            continue
        waits = "wait" in words
        text = "Let the robot stand still." if waits else "There are warnings."
        moment = yield Instruction("check", text, details, {ENTER: "continue anyway"}, asks=not waits)
        if moment.key == ENTER:
            return moment


def check_inputs(snapshot: Snapshot) -> Iterator[tuple[str, str]]:
    """What is ok, waited for, a warning or an ERROR, and what about it."""
    words = {"info": "ok", "warning": "warn", "error": "ERROR"}
    load = snapshot.load
    if load is None:
        yield "wait", "estimator: no diagnostics yet"
        return
    for source in _SOURCES:
        status = snapshot.inputs.get(source)
        if status is None:
            yield "ERROR", f"{source}: the estimator does not use it. Set estimators to [load], load.source to wrench"
            continue
        rate = status.values.get("rate [Hz]")
        if rate == "0.0" and status.level == "info":
            yield "wait", f"{source}: no messages yet"
            continue
        yield words[status.level], f"{source}: {f'{rate} Hz, ' if rate else ''}{status.message}"
    if snapshot.path is None:
        yield "wait", "sensor frame: not known before the first wrench and a robot description"
        return
    missing = [name for name in snapshot.path.joint_names if name not in snapshot.joints]
    if missing:
        yield "ERROR", f"joints: {', '.join(missing)} not in joint_states"
    else:
        yield "ok", f"sensor frame: {snapshot.path.frame}, moved by {', '.join(snapshot.path.joint_names)}"
    if "noise_assumed" in load.values or not load.values:
        yield "wait", "sensor noise: is measured while the robot stands still for 2 s"
    else:
        yield "ok", f"sensor noise: fx {load.values.get('noise fx', 'measured')}"
    sign = load.values.get("wrench sign", "not known yet")
    yield "ok", f"wrench sign: {sign}{', the poses will show it' if sign == 'not known yet' else ''}"


# Questions and services


def _ask(text: str, keys: Mapping[str, str], step: str = "ask") -> Step:
    moment = yield Instruction(step, text, keys=keys, asks=True)
    while moment.key not in keys:
        moment = yield Instruction(step, text, keys=keys, asks=True)
    return moment


def _call(service: str) -> Step:
    """Call a service until it did what was asked, or the person gives up."""
    while True:
        moment = yield Instruction("call", f"Calling {service}.", call=service)
        while moment.answer is None:
            moment = yield Instruction("call", f"Waiting for {service}.")
        if moment.answer[0]:
            return moment
        failure = moment.answer
        moment = yield from _ask(f"{service} failed: {failure[1]}", {"n": "continue without", ENTER: "try again"})
        if moment.key == "n":
            return moment._replace(answer=failure)


# Poses and swings


def _identify(preparation: str) -> Step:
    """Forget what was known, hold poses, swing joints; ends with what is known then."""
    moment = yield from _ask(preparation, {ENTER: "done"})
    moment = yield from _call("reset")
    path = moment.snapshot.path
    assert path is not None  # the checks have seen it
    planner, watch = Planner(path, moment.snapshot.gravity), Watch(path.joint_names)
    moment = yield from _hold_poses(planner, watch, moment)
    moment = yield from _swing_joints(planner, watch, moment)
    looks = moment.snapshot.looks
    while moment.snapshot.looks < looks + 2:
        moment = yield Instruction("verdict", "Stand still for the verdict.")
    return moment


class Watch:
    """Where the joints are, for how long they have stood still, and how far each has travelled."""

    def __init__(self, joint_names: Sequence[str]) -> None:
        """Watch joints; nothing is known of them yet."""
        self.joint_names = tuple(joint_names)
        self.travel = np.zeros(len(joint_names))
        self._time = self._since = -np.inf
        self.positions: FloatArray = np.full(len(joint_names), np.inf)
        self._rest: FloatArray = self.positions

    def look(self, snapshot: Snapshot) -> None:
        """Take the positions of a snapshot; if time was reset, standstill begins anew."""
        if any(name not in snapshot.joints for name in self.joint_names):
            return
        positions = np.array([snapshot.joints[name] for name in self.joint_names])
        if np.isfinite(self.positions).all():
            self.travel += np.abs(positions - self.positions)
        if snapshot.time < self._time or np.abs(positions - self._rest).max() > STILL or not snapshot.is_free:
            self._rest, self._since = positions, snapshot.time
        self.positions, self._time = positions, snapshot.time

    @property
    def still(self) -> float:
        """Seconds of standstill without contact."""
        return self._time - self._since if np.isfinite(self._since) else 0.0

    def tell_turns(self, choice: Choice) -> str:
        """Say which joints have to turn by about how much; empty for none."""
        turns = np.degrees(choice.target - self.positions)
        rounded = _ROUND * np.round(turns / _ROUND)
        parts = [f"{self.joint_names[i]} by about {rounded[i]:+.0f}°" for i in np.flatnonzero(rounded)]
        return f"turn {' and '.join(parts)}" if parts else ""

    def name(self, pose: FloatArray) -> dict[str, float]:
        """A pose (n,) by the names of the joints."""
        return dict(zip(self.joint_names, pose.tolist(), strict=True))


def _hold_poses(planner: Planner, watch: Watch, moment: Moment) -> Step:
    watch.look(moment.snapshot)
    number = 1
    choice: Choice | None = Choice(watch.positions)
    while choice is not None:
        wanted = _list_missing(moment.snapshot, _STATIC)
        is_there = planner.counts(watch.positions, choice, wanted)
        if is_there and watch.still >= HOLD:
            planner.hold(watch.positions)
            is_known = not any(moment.snapshot.unknown(_STATIC))
            if number >= MOST_POSES or (number >= POSES and is_known):
                break
            number += 1
            choice = planner.choose(watch.positions, wanted)
            continue
        what = "stand still" if is_there else watch.tell_turns(choice) or "go on turning"
        touched = "" if moment.snapshot.is_free else ", and nothing may touch the load"
        moment = yield Instruction(
            "pose",
            f"Pose {number} of {max(number, POSES)}: {what}{touched}.",
            _describe(moment.snapshot),
            ({"a": "another pose, this one is out of reach"} if number > 1 else {}) | {"s": "skip the other poses"},
            targets=watch.name(choice.target),
        )
        watch.look(moment.snapshot)
        if moment.key == "s":
            break
        if moment.key == "a" and number > 1:
            planner.refuse(choice)
            choice = planner.choose(watch.positions, wanted)
    return moment


def _swing_joints(planner: Planner, watch: Watch, moment: Moment) -> Step:
    for number in range(1, MOST_SWINGS + 1):
        choice = planner.choose_swing(watch.positions, _list_missing(moment.snapshot, slice(0, 10)))
        if choice is None:
            break
        watch.travel[:] = 0.0
        name = watch.joint_names[choice.swing]
        turn = watch.tell_turns(choice)
        text = f"swing {name} to and fro by about {np.degrees(SWING):.0f}°, one swing a second or as fast as is safe"
        while any(moment.snapshot.unknown(slice(0, 10))) and watch.travel[choice.swing] < TRAVEL:
            moment = yield Instruction(
                "swing",
                f"Swing {number}: {turn + ', then ' if turn else ''}{text}.",
                _describe(moment.snapshot),
                {"s": "skip, the inertia stays as it is"},
                targets=watch.name(choice.target),
                swing=name,
            )
            watch.look(moment.snapshot)
            if moment.key == "s":
                return moment
        if not any(moment.snapshot.unknown(slice(0, 10))):
            break
        planner.swing(watch.positions, choice.swing)
    return moment


def _list_missing(snapshot: Snapshot, part: slice) -> list[bool]:
    """Parameters (10,) of a part that are not known, or all of them where all are: then all get better."""
    unknown = snapshot.unknown(part)
    return unknown if any(unknown) else [i in range(10)[part] for i in range(10)]


def _describe(snapshot: Snapshot) -> tuple[str, ...]:
    """What is wrong with the input, and the verdict by now."""
    wrong = [f"{name}: {status.message}" for name, status in snapshot.inputs.items() if status.level == "error"]
    return (*wrong, *([] if snapshot.load is None else [snapshot.load.message]))
