"""Whether held objects are recognised, and slips noticed, on wrist sensors that are as imperfect as real ones.

Each robot (an arm, and a sensor with gains, cross-talk, tilt, delay, drift and coloured noise of its own) first
identifies the twelve objects of `benchmarks/household.py`, each in one grip: that is its library. Then it grips
objects in random poses, and again as they were, or 5 mm and 5° away from there, in directions that are drawn. Every
recording is two seconds at rest and ten of random motion at 250 Hz, made by `benchmarks/imperfect.py`, which shares
nothing with the estimator; the estimates are those of the chain with default settings.
"""

from __future__ import annotations

import argparse
import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import sys
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import NamedTuple

import numpy as np
import pinocchio as pin
from household import OBJECTS, hold
from imperfect import SENSOR, Arm, FloatArray, Motion, draw_sensor, record
from load_coverage import MILD, make_chain
from page import run_benchmark

from inertid_ros.core.estimation.estimate import LoadEstimate
from inertid_ros.core.records import JointBlock, WrenchBlock
from inertid_ros.core.settings.settings import LoadSettings
from inertid_ros.objects.grip_check import check_grip
from inertid_ros.objects.known import KnownObject
from inertid_ros.objects.recognition import NONE, Answer, Recognition, recognise

GRIPS = 20
"""Grips of each robot."""
SLIP, TURN = 5e-3, np.radians(5.0)
"""Of what must be noticed [m, rad]."""
WRONG, ABSENT, NOTICED = 1.0, 5.0, 95.0
"""Largest share [%] of wrong answers, all others being right or `cannot tell`, the same where the object itself is not
in the library (an object is named from a probability of 95 % on), and least share of slips noticed."""
_ABOUT = " ".join((__doc__ or "").split("\n\n")[1].split())
_SIZE = """{robots} robots, {grips} grips. Made by `benchmarks/recognition.py --write`. Limits: at most {wrong:.0f} % \
of answers wrong ({absent:.0f} % where the object was taken out: from a probability of 95 % on, another one is named), \
at least {noticed:.0f} % of slips noticed."""
_LIMITS = {"wrong": WRONG, "absent": ABSENT, "noticed": NOTICED}
_SECONDS, _EARLY, _RATE = 12.0, 5.0, 250.0
_FINGERS = np.array([0.0, 0.0, 0.12])
_ARMS = "UR10", "Panda", "PUMA"


class Outcome(NamedTuple):
    """What came of one grip.

    Attributes:
        name: the object.
        early, late: the answers after three and ten seconds of motion: `right`, `cannot tell` or `wrong`.
        absent: the answer without the object in the library.
        off: (3,) error of the centre of mass over its standard deviation, where the object was recognised.
        same, slipped: what the grip check says of the grip in which it was identified, and of one 5 mm and 5° away.
    """

    name: str
    early: str
    late: str
    absent: str
    off: FloatArray | None
    same: str
    slipped: str


class Robot:
    """An arm with a sensor, and what it knows."""

    def __init__(self, seed: int) -> None:
        """Draw it, and let it identify all objects."""
        self._rng = np.random.default_rng(seed)
        self._arm, self._sensor = Arm(_ARMS[seed % len(_ARMS)]), draw_sensor(MILD, self._rng)
        self.poses = {name: self.draw_rotation() for name in OBJECTS}
        self.library = {
            name: KnownObject.from_estimate(name, self.identify(name, pose, _FINGERS)[1], _FINGERS)
            for name, pose in self.poses.items()
        }

    def draw_rotation(self) -> FloatArray:
        """Any rotation, all equally likely."""
        return np.asarray(pin.Quaternion(*_normalise(self._rng.normal(size=4))).toRotationMatrix())

    def draw_direction(self) -> FloatArray:
        """Any direction (3,)."""
        return _normalise(self._rng.normal(size=3))

    def draw_place(self) -> FloatArray:
        """Where an object's frame may be (3,) [m]."""
        return np.array([*self._rng.uniform(-0.05, 0.05, 2), self._rng.uniform(0.05, 0.15)])

    def identify(self, name: str, rotation: FloatArray, place: FloatArray) -> tuple[LoadEstimate, LoadEstimate]:
        """Hold an object in a pose and move; what is known after three and ten seconds of motion."""
        motion, phi = Motion(len(self._arm.joints), self._rng, 1.0), hold(OBJECTS[name], rotation, place)
        made = record(self._arm, motion, phi, MILD, self._rng, _SECONDS, _RATE, sensor=self._sensor)
        chain, found = make_chain(self._arm, LoadSettings()), []
        split = int(_EARLY * _RATE)
        for part in (slice(0, split), slice(split, None)):
            joints = JointBlock(self._arm.joints, made.joint_stamps, made.positions, made.velocities)
            chain.push(joints.take(part))
            chain.push(WrenchBlock(SENSOR, made.wrench_stamps, made.wrenches).take(part))
            chain.process()
            estimate = chain.estimate()
            assert isinstance(estimate, LoadEstimate)
            found.append(estimate)
        return found[0], found[1]


def run_robot(seed: int) -> list[Outcome]:
    """All grips of one robot."""
    robot, names = Robot(seed), list(OBJECTS)
    return [grip_once(robot, names[(GRIPS * seed + index) % len(names)]) for index in range(GRIPS)]


def grip_once(robot: Robot, name: str) -> Outcome:
    """Grip one object in all ways."""
    library, known, rotation, place = [*robot.library.values()], robot.library[name], *_draw_grip(robot)
    early, late = robot.identify(name, rotation, place)
    found = recognise(late, library)
    off = None
    if found.grip is not None and found.name == name:
        com = (found.grip.pose @ np.append(known.com, 1.0))[:3]
        truth = hold(OBJECTS[name], rotation, place)
        lever = found.grip.pose[:3, :3] @ known.com
        off = (com - truth[1:4] / truth[0]) / _find_deviations(found.grip.covariance, lever)
    shift, turn = SLIP * robot.draw_direction(), TURN * robot.draw_direction()
    checks = []
    for by in (0.0, 1.0):
        slipped = robot.identify(name, pin.exp3(by * turn) @ robot.poses[name], _FINGERS + by * shift)[1]
        checks.append(str(check_grip(slipped, recognise(slipped, library), known).state))
    absent = recognise(late, [one for one in library if one.name != name])
    answers = [_judge(recognise(early, library), name), _judge(found, name), _judge(absent, NONE)]
    return Outcome(name, answers[0], answers[1], answers[2], off, *checks)


def _draw_grip(robot: Robot) -> tuple[FloatArray, FloatArray]:
    return robot.draw_rotation(), robot.draw_place()


def _normalise(vector: FloatArray) -> FloatArray:
    return np.asarray(vector / np.linalg.norm(vector))


def _find_deviations(covariance: FloatArray, lever: FloatArray) -> FloatArray:
    """Standard deviations (3,) of a point at a lever (3,) from the origin of a pose with this covariance (6, 6)."""
    slope = np.hstack((np.eye(3), -pin.skew(lever)))
    return np.asarray(np.sqrt(np.diag(slope @ covariance @ slope.T)))


def _judge(found: Recognition, truth: str) -> str:
    if found.answer in (Answer.CANNOT_TELL, Answer.NOT_KNOWN):
        return "cannot tell"
    return "right" if found.name == truth else "wrong"


def make_page(options: argparse.Namespace) -> tuple[str, list[str]]:
    """The page from so many grips, and which limits are missed."""
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        found = pool.map(run_robot, range(max(1, options.runs // GRIPS)))
        return write_page([outcome for outcomes in found for outcome in outcomes])


def write_page(outcomes: Sequence[Outcome]) -> tuple[str, list[str]]:
    """The page of these grips, and which limits are missed."""
    lines = ["# Recognition of objects and check of grips", "", _ABOUT, ""]
    lines += [_SIZE.format(robots=len(outcomes) // GRIPS, grips=len(outcomes), **_LIMITS), ""]
    lines += ["| what is held, in any grip | right [%] | cannot tell [%] | wrong [%] |", "| --- | --- | --- | --- |"]
    answers = {
        "an object of the library, after 3 s of motion": [one.early for one in outcomes],
        "an object of the library, after 10 s": [one.late for one in outcomes],
        "an object that was taken out of the library, after 10 s": [one.absent for one in outcomes],
    }
    missed = []
    for what, found in answers.items():
        shares = {word: _percent(found.count(word), len(found)) for word in ("right", "cannot tell", "wrong")}
        lines.append(f"| {what} | {' | '.join(f'{share:.1f}' for share in shares.values())} |")
        missed += [what] if shares["wrong"] > (ABSENT if "taken out" in what else WRONG) else []
    off = np.array([one.off for one in outcomes if one.off is not None])
    covered = _percent(int((np.abs(off) < 1.96).sum()), off.size)
    lines += ["", f"95 % intervals of the centre of mass of the grip hold the truth in {covered:.1f} %.", ""]
    lines += ["| grip | noticed [%] | said |", "| --- | --- | --- |"]
    checks = {
        "as it was identified (false alarms)": [one.same for one in outcomes],
        "5 mm and 5° away": [one.slipped for one in outcomes],
    }
    for what, found in checks.items():
        said = ", ".join(f"{word} {count}" for word, count in Counter(found).most_common())
        lines.append(f"| {what} | {_percent(sum(map(_is_noticed, found)), len(found)):.1f} | {said} |")
    missed += ["slips"] if _percent(sum(_is_noticed(one.slipped) for one in outcomes), len(outcomes)) < NOTICED else []
    return "\n".join([*lines, "", *_list_objects(outcomes), ""]), missed


def _list_objects(outcomes: Sequence[Outcome]) -> list[str]:
    lines = [
        "| object | mass [g] | grips | right / cannot tell / wrong | the same without it | slips noticed |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for name, parts in OBJECTS.items():
        own = [one for one in outcomes if one.name == name]
        late, absent = (
            " / ".join(str(answers.count(word)) for word in ("right", "cannot tell", "wrong"))
            for answers in ([one.late for one in own], [one.absent for one in own])
        )
        noticed = sum(_is_noticed(one.slipped) for one in own)
        mass = 1e3 * sum(part.mass for part in parts)
        lines.append(f"| {name} | {mass:.0f} | {len(own)} | {late} | {absent} | {noticed} of {len(own)} |")
    return lines


def _is_noticed(state: str) -> bool:
    return state not in ("as expected", "not known yet")


def _percent(count: int, total: int) -> float:
    return 100.0 * count / max(total, 1)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=_ABOUT)
    parser.add_argument("--runs", type=int, default=200)
    sys.exit(run_benchmark(parser, make_page, "recognition.md"))
