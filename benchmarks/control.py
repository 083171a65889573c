"""Feedforward and computed torque on a simulated direct drive arm, beside the paper's values (thesis, appendix A).

python benchmarks/control.py            prints the tables
python benchmarks/control.py --write    writes them into docs/control.md
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import sys
from collections.abc import Iterator

import driven_ddarm
import numpy as np
from driven_ddarm import DAMPING, FAST, SLOW, Models, find_frequency, identify, make_gains, move
from page import run_section, run_seeds

from inertid_ros.control.controllers import ComputedTorque, PDController, Reference, find_gravity
from inertid_ros.core.records import FloatArray
from inertid_ros.motions.motion import JointPath, Motion, paper_ddarm_link_moves
from inertid_ros.sim.driven import STEP, Controller

MOVE = paper_ddarm_link_moves()[2]
"""(80, 269.1, -30)° to (330, 19.1, 220)° in 1.3 s."""
AFTER = 0.3
"""Seconds after the move that count."""
KNOWN = {"cad": "CAD", "rigid": "identified", "full": "identified, friction too"}
PAPER = {
    "5 full dynamics, identified": "0.33, 0.84, 1.4",
    "133 Hz, late: PD": "4.4, 3.5, –",
    "133 Hz, late: feedforward, identified": "2.2, 2.0, –",
    "133 Hz, late: computed torque, identified": "2.2, 2.0, –",
}
"""Peak errors [°] that the paper prints; others are in its figures only."""

_ABOUT = """{arm} Its natural frequency is {frequency:.1f} rad/s. Errors of joints 1, 2 and 3 during the move and \
{after} s after it, means of {runs} runs with other noise in identification and move; in brackets the standard \
deviation of a run."""

Errors = dict[str, tuple[FloatArray, FloatArray]]
"""Largest and rms distance (3,) from the desired motion [°], by controller."""


class Late:
    """A motion that begins later."""

    def __init__(self, motion: Motion, delay: float) -> None:
        """Shift a motion by a delay [s]."""
        self._motion, self._delay = motion, delay
        self.duration, self.joint_count = motion.duration + delay, motion.joint_count

    def at(self, times: FloatArray) -> JointPath:
        """The motion as it was a delay before."""
        return self._motion.at(times - self._delay)


def list_controllers(models: Models) -> Iterator[tuple[str, Controller, float, float]]:
    """Walk over the controllers: name, controller, rate [Hz] and latency [s]."""
    gains = make_gains()
    # Analog servos, whose references a processor renews at 1 kHz.
    reference, analog = Reference(MOVE, FAST), 1.0 / STEP
    path = reference.path
    gravity = find_gravity(models.rigid, path)
    yield "1 position reference", PDController(reference, gains, None, False), analog, 0.0
    yield "2 the same, gravity, identified", PDController(reference, gains, gravity, False), analog, 0.0
    yield "3 position and velocity references", PDController(reference, gains), analog, 0.0
    yield "4 the same, gravity, identified", PDController(reference, gains, gravity), analog, 0.0
    for name, model in models._asdict().items():
        yield f"5 full dynamics, {KNOWN[name]}", PDController(reference, gains, model.efforts(path)), analog, 0.0
    for name, rate, late in (("133 Hz, late", SLOW, 1.0), ("133 Hz", SLOW, 0.0), ("1 kHz", FAST, 0.0)):
        reference = Reference(Late(MOVE, late / rate), rate)
        yield f"{name}: PD", PDController(reference, gains), rate, 1.0 / rate
        for known, model in models._asdict().items():
            forward = PDController(reference, gains, model.efforts(reference.path))
            yield f"{name}: feedforward, {KNOWN[known]}", forward, rate, 1.0 / rate
            computed = ComputedTorque(reference, model, find_frequency(), DAMPING)
            yield f"{name}: computed torque, {KNOWN[known]}", computed, rate, 1.0 / rate


def run_once(seed: int) -> Errors:
    """Identify the arm, then move it with all controllers."""
    errors: Errors = {}
    for name, controller, rate, latency in list_controllers(identify(seed)):
        block = move(controller, MOVE, rate, latency, 7919 + seed, MOVE.duration + AFTER, start=0)
        away = np.degrees(block.positions - MOVE.at(block.stamps * 1e-9).positions)
        errors[name] = np.abs(away).max(axis=0), np.sqrt(np.mean(np.square(away), axis=0))
    return errors


def make_section(runs: int) -> str:
    """The tables."""
    outcomes = run_seeds(run_once, runs)
    mean = {name: np.mean([outcome[name] for outcome in outcomes], axis=0) for name in outcomes[0]}
    spread = {name: np.std([outcome[name][0] for outcome in outcomes], axis=0) for name in outcomes[0]}
    lines = [
        _ABOUT.format(arm=_about(), frequency=find_frequency(), after=AFTER, runs=runs),
        "",
        "| controller | peak error [°] | rms error [°] | the paper's peak [°] |",
        "| --- | --- | --- | --- |",
    ]
    for name, (peak, rms) in mean.items():
        peaks = ", ".join(f"{value:.2f} ({run:.2f})" for value, run in zip(peak, spread[name], strict=True))
        lines.append(f"| {name} | {peaks} | {', '.join(f'{value:.2f}' for value in rms)} | {PAPER.get(name, '')} |")
    return "\n".join([*lines, "", *_list_findings({name: peak for name, (peak, _) in mean.items()})])


def _about() -> str:
    return " ".join((driven_ddarm.__doc__ or "").split())


def _list_findings(peak: dict[str, FloatArray]) -> Iterator[str]:
    """What the paper found, and what is found here: parts of the peak error that are left, joint by joint."""
    yield "| finding of the paper | peak error that is left of it here, joints 1, 2, 3 |"
    yield "| --- | --- |"
    known = "identified"
    compared = (
        ("gravity helps little without a velocity reference", "1 position reference", f"2 the same, gravity, {known}"),
        ("a velocity reference helps much", "1 position reference", "3 position and velocity references"),
        (
            "gravity helps little with a velocity reference",
            "3 position and velocity references",
            f"4 the same, gravity, {known}",
        ),
        (
            "full dynamics help most, joints 1 and 2",
            "3 position and velocity references",
            f"5 full dynamics, {known}",
        ),
        (
            "identified parameters are better than CAD",
            "5 full dynamics, CAD",
            f"5 full dynamics, {known}",
        ),
        (
            "feedforward and computed torque are alike (133 Hz)",
            f"133 Hz: feedforward, {known}",
            f"133 Hz: computed torque, {known}",
        ),
        (
            "sampling at 133 Hz costs (feedforward, to 1 kHz)",
            f"133 Hz: feedforward, {known}",
            f"1 kHz: feedforward, {known}",
        ),
        (
            "the same with the reference one period late",
            f"133 Hz, late: feedforward, {known}",
            f"1 kHz: feedforward, {known}",
        ),
    )
    for finding, before, after in compared:
        parts = 100.0 * peak[after] / peak[before]
        yield f"| {finding} | {', '.join(f'{part:.0f} %' for part in parts)} |"


if __name__ == "__main__":
    sys.exit(run_section(make_section, "control.md", "control", runs=50, about=__doc__ or ""))
