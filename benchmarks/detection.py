"""What is noticed of changes, ramps, tares, contacts and cables while an arm moves with a load, and what it costs.

Recordings are made by `benchmarks/imperfect.py`, which shares nothing with the estimator: two seconds of standstill,
then random motion at 500 Hz with 2 kg on an arm that is drawn for each run; ideal sensors, or all mild imperfections at
once. Priors are the default ones. Something happens after 12 to 13 s, but for contacts and cables that are there from
the beginning; the run ends after 24 s. Estimates are asked for every 0.5 s, as they are published.

    python benchmarks/detection.py            prints the tables
    python benchmarks/detection.py --write    writes docs/detection.md

Exits with 1 where a limit is missed.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import sys
from collections.abc import Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from typing import NamedTuple

import numpy as np
import pinocchio as pin
from imperfect import (
    ARMS,
    SENSOR,
    Arm,
    Disturbance,
    FloatArray,
    Imperfections,
    Motion,
    Recording,
    random_load,
    record,
    true_wrenches,
)
from load_coverage import MILD, make_chain
from page import run_benchmark

from inertid_ros.core.estimation.estimate import LoadEstimate, Mode
from inertid_ros.core.estimation.states import ParameterState
from inertid_ros.core.records import Event, EventKind, JointBlock, WrenchBlock
from inertid_ros.core.settings.settings import LoadSettings

SENSORS = {"ideal": Imperfections(), "mild": MILD}
TITLES = {"ideal": "ideal", "mild": "all mild imperfections"}
_ABOUT = " ".join((__doc__ or "").split("\n\n")[1].split())
_MASS = 2.0
_SECONDS, _RATE = 24.0, 500.0
_ONSET = 12.0
_ALLOWED = 3.0
"""Time [s] of motion within which a slight change is to be found: what is published before cannot know of it."""
_SHARE = 0.95
"""Least share of runs in which 50 g are to be found in that time."""
_RAMP = 5.0
"""Length of a ramp [s]; its force then stays."""
_QUIET_SECONDS, _QUIET_RATE = 360.0, 200.0
_SWING, _DAMPING = 2.0 * np.pi * 1.0, 0.05
"""Frequency [rad/s] and damping ratio of what swings: a bottle that is half full."""
_MOMENT_ARM = np.array([0.0, 0.0, 0.1])
"""Where [m] forces attack, in the sensor frame."""


class Scenario(NamedTuple):
    """What happens.

    Attributes:
        kind: mass, ramp, tare, push, contact, cable or liquid.
        size: [kg], [N/s] or [N].
        title: of the table's row.
        right: what is to be reported.
        wrong: what must not be.
    """

    kind: str
    size: float
    title: str
    right: EventKind
    wrong: tuple[EventKind, ...]

    @property
    def is_early(self) -> bool:
        """Whether it is there before anything is known."""
        return self.kind in {"contact", "cable", "liquid"}

    @property
    def cause(self) -> str:
        """The cause that a finding is to name; empty for none."""
        return {"cable": "cable", "liquid": "liquid"}.get(self.kind, "")


_LOAD, _BIAS, _CONTACT = EventKind.LOAD_CHANGED, EventKind.BIAS_CHANGED, EventKind.CONTACT_BEGAN
SCENARIOS = (
    *(Scenario("mass", kg, f"+{1e3 * kg:g} g", _LOAD, (_BIAS, _CONTACT)) for kg in (0.02, 0.05, 0.1, 1.0)),
    *(Scenario("ramp", n, f"ramp {n:g} N/s for 5 s", _CONTACT, (_LOAD, _BIAS)) for n in (0.1, 0.2, 0.5)),
    *(Scenario("tare", n, f"tare {n:g} N", _BIAS, (_LOAD, _CONTACT)) for n in (0.3, 1.0)),
    Scenario("push", 5.0, "push of 5 N for 1 s", _CONTACT, (_LOAD, _BIAS)),
    Scenario("contact", 10.0, "contact of 10 N from 1 s to 7 s", _CONTACT, (_LOAD, _BIAS)),
    Scenario("cable", 3.0, "cable, 3 N by pose, always", _CONTACT, (_LOAD, _BIAS)),
    Scenario("liquid", 1.0, "1 of 2 kg swings at 1 Hz, always", _CONTACT, (_LOAD, _BIAS)),
)


class Run(NamedTuple):
    """What came out.

    Attributes:
        delay: [s] from the onset until what is right is reported; NaN if it never is.
        is_wrong: whether something is reported that must not be; of a ramp, while it grows.
        is_false: whether something is reported before the onset.
        meanwhile, end: errors of the mass [kg], the largest since the onset while tracking, and the last one.
        is_off, ends_off: whether the mass is "known" and off by more than three sigma while tracking, later than three
            seconds after the onset (at any time if it is there from the beginning), and at the end.
        ends_tracking: whether the load is tracked at the end.
        is_named: whether a finding names the cause, and no finding names the other one last.
    """

    delay: float
    is_wrong: bool
    is_false: bool
    meanwhile: float
    end: float
    is_off: bool
    ends_off: bool
    ends_tracking: bool
    is_named: bool


def make_disturbance(scenario: Scenario, arm: Arm, motion: Motion, onset: float) -> Disturbance:
    """Wrenches on top of the load's."""

    def disturb(times: FloatArray, gravity: FloatArray) -> FloatArray:
        since, size = times - onset, scenario.size
        wrenches: FloatArray = np.zeros((len(times), 6))
        if scenario.kind == "mass":
            com = np.array([0.02, 0.01, 0.1])
            inertia = size * (com @ com * np.eye(3) - np.outer(com, com) + 4e-4 * np.eye(3))
            phi = np.concatenate(([size], size * com, inertia[np.triu_indices(3)]))
            wrenches[since >= 0.0] = true_wrenches(arm, motion, times[since >= 0.0], phi, gravity)
        elif scenario.kind == "ramp":
            wrenches[:, :3] = np.outer(np.clip(since, 0.0, _RAMP) * size, [0.6, 0.0, 0.8])
        elif scenario.kind == "tare":
            wrenches[since >= 0.0] = size * np.array([1.0, 0.0, -1.0, 0.0, 0.02, 0.0])
        elif scenario.kind == "liquid":
            wrenches = _swing(size, arm, motion, times, gravity)
        else:
            wrenches = _push(scenario, arm, motion, times, since)
        return wrenches

    return disturb


def _push(scenario: Scenario, arm: Arm, motion: Motion, times: FloatArray, since: FloatArray) -> FloatArray:
    """Forces in the world's axes, as the sensor feels them at the moment arm."""
    positions, _, _ = motion.at(times)
    if scenario.kind == "push":
        forces = np.outer(scenario.size * ((since >= 0.0) & (since < 1.0)), [0.8, 0.0, 0.6])
    elif scenario.kind == "contact":
        sizes = scenario.size * (1.0 + 0.3 * np.sin(np.pi * times)) * ((times >= 1.0) & (times < 7.0))
        forces = np.outer(sizes, [0.5, -0.5, np.sqrt(0.5)])
    else:
        angles = positions[:, :3] @ np.array([[1.0, 0.0, 0.5], [0.5, 1.0, 0.0], [0.0, 0.5, 1.0]])
        forces = scenario.size / np.sqrt(3.0) * np.sin(angles)
    data, felt = arm.model.createData(), np.zeros((len(times), 3))
    for index in np.flatnonzero(np.any(forces != 0.0, axis=1)):
        pin.forwardKinematics(arm.model, data, positions[index])
        pin.updateFramePlacement(arm.model, data, arm.frame)
        felt[index] = data.oMf[arm.frame].rotation.T @ forces[index]
    return np.concatenate((felt, np.cross(_MOMENT_ARM, felt)), axis=1)


def _swing(mass: float, arm: Arm, motion: Motion, times: FloatArray, gravity: FloatArray) -> FloatArray:
    """What a mass on a spring, at the moment arm, adds to the wrench of one that is fixed there."""
    data, wrenches = arm.model.createData(), np.zeros((len(times), 6))
    place: FloatArray = np.zeros(3)
    speed: FloatArray = np.zeros(3)
    at = pin.SE3(np.eye(3), _MOMENT_ARM)
    last = times[0]
    for index, (q, v, a) in enumerate(zip(*motion.at(times), strict=True)):
        pin.forwardKinematics(arm.model, data, q, v, a)
        pin.updateFramePlacement(arm.model, data, arm.frame)
        classical = pin.getFrameClassicalAcceleration(arm.model, data, arm.frame, pin.LOCAL)
        turning = pin.getFrameVelocity(arm.model, data, arm.frame, pin.LOCAL).angular
        needed = classical.linear + np.cross(classical.angular, at.translation)
        needed += np.cross(turning, np.cross(turning, at.translation)) - data.oMf[arm.frame].rotation.T @ gravity
        if index == 0:
            place = -needed / _SWING**2
        step, last = times[index] - last, times[index]
        spring = -(_SWING**2) * place - 2.0 * _DAMPING * _SWING * speed
        speed += step * (spring - needed)
        place += step * speed
        force = mass * (spring - needed)
        wrenches[index] = np.concatenate((force, np.cross(_MOMENT_ARM, force)))
    return wrenches


class Published(NamedTuple):
    """An estimate at a time [s] since the start."""

    time: float
    estimate: LoadEstimate


def identify(arm: Arm, recording: Recording, interval: float) -> tuple[list[Published], list[tuple[float, Event]]]:
    """Let the program under test read a recording and ask it for estimates at intervals [s]; events with their time."""
    chain, start = make_chain(arm, LoadSettings()), recording.joint_stamps[0]
    published, events = [], []
    ends = np.arange(interval, (recording.wrench_stamps[-1] - start) * 1e-9 + interval, interval)
    stamps = recording.joint_stamps, recording.wrench_stamps
    cuts = [np.concatenate(([0], np.searchsorted(one, start + (1e9 * ends).astype(np.int64)))) for one in stamps]
    joints = JointBlock(arm.joints, recording.joint_stamps, recording.positions, recording.velocities)
    wrenches = WrenchBlock(SENSOR, recording.wrench_stamps, recording.wrenches)
    for index, time in enumerate(ends):
        chain.push(joints.take(slice(*cuts[0][index : index + 2])))
        chain.push(wrenches.take(slice(*cuts[1][index : index + 2])))
        output = chain.process()
        events += [((event.stamp - start) * 1e-9, event) for event in (output.events if output else ())]
        estimate = chain.estimate()
        if isinstance(estimate, LoadEstimate):
            published.append(Published(float(time), estimate))
    return published, events


def run_once(sensors: str, scenario: Scenario, seed: int) -> Run:
    """One recording in which something happens."""
    rng = np.random.default_rng(seed)
    arm = Arm(list(ARMS)[rng.integers(len(ARMS))])
    motion, phi = Motion(len(arm.joints), rng, 1.0), random_load(rng)
    phi *= _MASS / phi[0]
    onset = 0.0 if scenario.is_early else _ONSET + rng.uniform(0.0, 1.0)
    disturb = make_disturbance(scenario, arm, motion, onset)
    published, events = identify(
        arm, record(arm, motion, phi, SENSORS[sensors], rng, _SECONDS, _RATE, disturb), interval=0.5
    )
    return judge(scenario, onset, published, events)


def judge(
    scenario: Scenario, onset: float, published: Sequence[Published], events: Sequence[tuple[float, Event]]
) -> Run:
    """What these say of a run."""
    truth = _MASS + (scenario.size if scenario.kind == "mass" else 0.0)
    right = [time - onset for time, event in events if time >= onset and event.kind is scenario.right]
    until = onset + (_RAMP if scenario.kind == "ramp" else _SECONDS)
    is_wrong = any(onset <= time < until and event.kind in scenario.wrong for time, event in events)
    since = [one for one in published if one.time > onset and one.estimate.mode is Mode.TRACKING]
    allowed = onset if scenario.is_early else onset + _ALLOWED
    last = published[-1].estimate
    named = [found.message for one in published for found in one.estimate.findings if found.code == "not_rigid"]
    return Run(
        delay=min(right, default=np.nan),
        is_wrong=is_wrong,
        is_false=any(time < onset for time, _ in events),
        meanwhile=max((abs(one.estimate.values[0] - truth) for one in since if is_known(one.estimate)), default=0.0),
        end=float(last.values[0] - truth),
        is_off=any(is_off(one.estimate, truth) for one in since if one.time > allowed),
        ends_off=last.mode is Mode.TRACKING and is_off(last, truth),
        ends_tracking=last.mode is Mode.TRACKING,
        is_named=bool(named) and scenario.cause in named[-1],
    )


def is_known(estimate: LoadEstimate) -> bool:
    """Whether the mass is said to be known."""
    return estimate.states[0] is ParameterState.KNOWN


def is_off(estimate: LoadEstimate, mass: float) -> bool:
    """Whether the mass is said to be known, and is not."""
    return is_known(estimate) and bool(abs(estimate.values[0] - mass) > 3.0 * estimate.deviations[0])


def run_quietly(sensors: str, seed: int) -> list[str]:
    """Kinds of events in some minutes of motion in which nothing happens."""
    rng = np.random.default_rng(seed)
    arm = Arm(list(ARMS)[rng.integers(len(ARMS))])
    motion, phi = Motion(len(arm.joints), rng, 1.0), random_load(rng)
    recording = record(arm, motion, phi, SENSORS[sensors], rng, _QUIET_SECONDS, _QUIET_RATE)
    _, events = identify(arm, recording, interval=60.0)
    return [str(event.kind) for _, event in events]


def format_row(scenario: Scenario, runs: Sequence[Run]) -> str:
    """A row of the table."""
    delay = np.array([run.delay for run in runs])
    delays = f"{np.nanmedian(delay):.1f} / {np.nanmax(delay):.1f}" if np.any(np.isfinite(delay)) else "–"
    shares = [np.isfinite(delay), delay <= _ALLOWED]
    shares += [
        np.array(one) for one in zip(*((r.is_wrong, r.is_false, r.is_off, r.ends_off) for r in runs), strict=True)
    ]
    found, soon, wrong, false, off, ends_off = (f"{100.0 * share.mean():.0f}" for share in shares)
    meanwhile = 1e3 * np.median([run.meanwhile for run in runs])
    end = 1e3 * np.sqrt(np.mean([run.end**2 for run in runs]))
    tracking = 100.0 * np.mean([run.ends_tracking for run in runs])
    named = f"{100.0 * np.mean([run.is_named for run in runs]):.0f}" if scenario.cause else "–"
    return (
        f"| {scenario.title} | {found} | {soon} | {delays} | {wrong} | {false} | {meanwhile:.0f} | {end:.0f} "
        f"| {off} | {ends_off} | {tracking:.0f} | {named} |"
    )


_HEAD = """\
| what | found [%] | within 3 s [%] | delay median / largest [s] | wrong events [%] | events before [%] \
| mass off meanwhile [g] | at the end [g] | z > 3 [%] | z > 3 at the end [%] | tracking at the end [%] \
| not rigid, cause named [%] |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"""
_MEANING = """\
Found: a change of load, a change of bias (tare) or a contact (ramp, push, contact, cable) is reported. Wrong events: \
another kind is; of a ramp, while it grows. Mass off meanwhile: the largest error since the onset that is published as \
“known” while tracking, median of runs; at the end: root mean square of all runs. z > 3: runs in which a mass is \
published as “known” while tracking and is off by more than three standard deviations, later than 3 s after the onset \
(at any time where it is there from the beginning). Not rigid: a finding says so, and the last one names the cause."""


def check(sensors: str, scenario: Scenario, runs: Sequence[Run]) -> list[str]:
    """What is missed of the limits, in words."""
    share = np.mean([one.delay <= _ALLOWED for one in runs])
    if scenario.kind != "mass" or scenario.size < 0.05 or share >= _SHARE:
        return []
    return [f"{TITLES[sensors]}: {scenario.title} found within 3 s in {100 * share:.0f} % of runs"]


def make_tables(names: Sequence[str], runs: int, hours: float, pool: Executor) -> tuple[list[str], list[str]]:
    """Parts of the page, and what is missed."""
    parts, missed, alarms = [], [], []
    for sensors in names:
        rows = []
        for scenario in SCENARIOS:
            outcome = list(pool.map(partial(run_once, sensors, scenario), range(runs), chunksize=2))
            rows.append(format_row(scenario, outcome))
            missed += check(sensors, scenario, outcome)
            print(sensors, rows[-1], file=sys.stderr, flush=True)
        parts.append("\n".join((f"## Sensors: {TITLES[sensors]}\n", _HEAD, *rows)))
        count = int(np.ceil(hours * 3600.0 / _QUIET_SECONDS))
        kinds = [kind for one in pool.map(partial(run_quietly, sensors), range(1000, 1000 + count)) for kind in one]
        alarms.append(format_alarms(sensors, kinds, count))
        missed += [alarms[-1].removeprefix("- ")] if kinds else []
    return [*parts, "## False alarms\n\n" + "\n".join(alarms)], missed


def format_alarms(sensors: str, kinds: Sequence[str], runs: int) -> str:
    """A line on motion in which nothing happens."""
    hours = runs * _QUIET_SECONDS / 3600.0
    which = ", ".join(f"{kinds.count(kind)} {kind}" for kind in sorted(set(kinds)))
    return f"- {TITLES[sensors]}: {len(kinds)} events in {hours:.1f} h of motion{': ' if which else ''}{which}"


def main() -> int:
    """Run all scenarios, and print or write the tables; 1 if a limit is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=40, help="seeded runs of each scenario (default 40)")
    parser.add_argument("--hours", type=float, default=10.0, help="of motion without any change (default 10)")
    parser.add_argument("--workers", type=int, default=2, help="processes (default 2)")
    parser.add_argument("--sensors", choices=list(SENSORS), action="append", help="all if not given")

    def make_page(options: argparse.Namespace) -> tuple[str, list[str]]:
        with ProcessPoolExecutor(options.workers, mp_context=get_context("spawn")) as pool:
            parts, missed = make_tables(options.sensors or list(SENSORS), options.runs, options.hours, pool)
        return format_page(parts, missed, options.runs), missed

    return run_benchmark(parser, make_page, "detection.md")


def format_page(parts: Sequence[str], missed: Sequence[str], runs: int) -> str:
    """The page of the documentation."""
    about = f"Made by `python benchmarks/detection.py --write`, {runs} runs per row. {_ABOUT}"
    limits = f"50 g and more found within 3 s in {100 * _SHARE:.0f} % of runs, no event where nothing happens."
    verdict = "\n".join(f"- Missed: {line}." for line in missed) if missed else "All are met."
    title = "# Detection: changes, contacts, ramps, tares, cables"
    return "\n\n".join([title, about, _MEANING, *parts, f"## Limits\n\n{limits}", verdict]) + "\n"


if __name__ == "__main__":
    sys.exit(main())
