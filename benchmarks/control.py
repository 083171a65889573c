"""Feedforward and computed torque on a simulated direct drive arm, beside the paper's values (thesis, appendix A).

python benchmarks/control.py            prints the tables
python benchmarks/control.py --write    writes them into docs/control.md
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import sys
from collections.abc import Collection, Iterator

import driven_ddarm
import numpy as np
from computed_torque import ComputedTorque, Late, find_gravity
from driven_ddarm import (
    DAMPING,
    FAST,
    MOVE,
    SLOW,
    Models,
    find_frequency,
    find_paper_frequencies,
    identify,
    make_gains,
    move,
)
from page import run_section, run_seeds

from inertid_ros.control.controllers import PDController, Reference
from inertid_ros.core.records import FloatArray
from inertid_ros.sim.driven import STEP, Controller

AFTER = 0.3
"""Seconds after the move that count."""
KNOWN = {"cad": "CAD", "rigid": "identified", "full": "identified, friction too"}
LATE = {"133 Hz": 0.0, "133 Hz, half a period late": 0.5, "133 Hz, a period late": 1.0}
"""How many periods the reference of the digital controllers may be late, by the name of the case."""
PAPER = {
    "5 full dynamics, identified": "0.33, 0.84, 1.4",
    **{f"{name}: PD": "4.4, 3.5, – (sets the gains)" for name in LATE},
    **{f"{name}: {kind}, identified": "2.2, 2.0, –" for name in LATE for kind in ("feedforward", "computed torque")},
}
"""Peak errors [°] that the paper prints; others are in its figures only."""

_PD, _FULL = "3 position and velocity references", "5 full dynamics, identified"
_FORWARD, _COMPUTED = "feedforward, identified", "computed torque, identified"
FINDINGS = (
    ("gravity helps little without a velocity reference", "1 position reference", "2 the same, gravity, identified"),
    ("a velocity reference helps much", "1 position reference", _PD),
    ("gravity helps little with a velocity reference", _PD, "4 the same, gravity, identified"),
    ("full dynamics help most, joints 1 and 2", _PD, _FULL),
    ("identified parameters are better than CAD", "5 full dynamics, CAD", _FULL),
    *(
        (f"feedforward and computed torque are alike ({name})", f"{name}: {_FORWARD}", f"{name}: {_COMPUTED}")
        for name in (*LATE, "1 kHz")
    ),
    ("sampling at 133 Hz costs: to 1 kHz, with the same gains", f"133 Hz: {_FORWARD}", f"1 kHz: {_FORWARD}"),
    ("the same, each as stiff as its rate allows", f"133 Hz, stiffest: {_FORWARD}", f"1 kHz, stiffest: {_FORWARD}"),
    (
        "the same, to the analog servos from a reference half a period late",
        f"133 Hz, half a period late: {_FORWARD}",
        _FULL,
    ),
)
"""What the paper found, each with the controllers before and after what it is about."""

_ABOUT = """{arm} Errors of joints 1, 2 and 3 during the move and {after} s after it, means of {runs} runs with other \
noise in identification and move; in brackets the standard deviation of a run.

| feedback | natural frequencies [rad/s] |
| --- | --- |
{feedback}"""

Errors = dict[str, tuple[FloatArray, FloatArray]]
"""Largest and rms distance (3,) from the desired motion [°], by controller."""


Case = tuple[str, Controller, float, float]
"""What a controller is called, the controller, its rate [Hz] and its latency [s]."""


def list_controllers(models: Models) -> Iterator[Case]:
    """Walk over all controllers."""
    yield from _list_analog(models)
    for name, late in LATE.items():
        reference = Reference(Late(MOVE, late / SLOW), SLOW)
        known = {"rigid"} if late else set(KNOWN)
        yield from _list_digital(name, reference, models, find_paper_frequencies(late), known)
    yield from _list_digital("1 kHz", Reference(MOVE, FAST), models, find_paper_frequencies(), set(KNOWN))
    for name, rate in (("133 Hz, stiffest", SLOW), ("1 kHz, stiffest", FAST)):
        yield from _list_digital(name, Reference(MOVE, rate), models, np.full(3, find_frequency(rate)), {"rigid"})


def _list_analog(models: Models) -> Iterator[Case]:
    """Analog servos, whose references a processor renews at 1 kHz."""
    gains, reference, analog = make_gains(find_paper_frequencies()), Reference(MOVE, FAST), 1.0 / STEP
    path = reference.path
    gravity = find_gravity(models.rigid, path)
    yield "1 position reference", PDController(reference, gains, None, False), analog, 0.0
    yield "2 the same, gravity, identified", PDController(reference, gains, gravity, False), analog, 0.0
    yield "3 position and velocity references", PDController(reference, gains), analog, 0.0
    yield "4 the same, gravity, identified", PDController(reference, gains, gravity), analog, 0.0
    for name, model in models._asdict().items():
        yield f"5 full dynamics, {KNOWN[name]}", PDController(reference, gains, model.efforts(path)), analog, 0.0


def _list_digital(
    name: str, reference: Reference, models: Models, frequencies: FloatArray, known: Collection[str]
) -> Iterator[Case]:
    """Digital servos that take one period to compute: PD, feedforward and computed torque by some of the models."""
    rate, gains = reference.rate, make_gains(frequencies)
    yield f"{name}: PD", PDController(reference, gains), rate, 1.0 / rate
    for kind, model in models._asdict().items():
        if kind in known:
            forward = PDController(reference, gains, model.efforts(reference.path))
            yield f"{name}: feedforward, {KNOWN[kind]}", forward, rate, 1.0 / rate
            computed = ComputedTorque(reference, model, frequencies, DAMPING)
            yield f"{name}: computed torque, {KNOWN[kind]}", computed, rate, 1.0 / rate


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
        _ABOUT.format(arm=_about(), after=AFTER, runs=runs, feedback="\n".join(_list_feedback())),
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


def _list_feedback() -> Iterator[str]:
    """The natural frequencies of all that is compared."""
    shown = {f"as the paper's, {name}": find_paper_frequencies(late) for name, late in LATE.items()}
    shown |= {f"as stiff as {rate:.0f} Hz allows": np.full(3, find_frequency(rate)) for rate in (SLOW, FAST)}
    for name, frequencies in shown.items():
        yield f"| {name} | {', '.join(f'{value:.1f}' for value in frequencies)} |"


def _list_findings(peak: dict[str, FloatArray]) -> Iterator[str]:
    """What the paper found, and what is found here: parts of the peak error that are left, joint by joint."""
    yield "| finding of the paper | peak error that is left of it here, joints 1, 2, 3 |"
    yield "| --- | --- |"
    for finding, before, after in FINDINGS:
        parts = 100.0 * peak[after] / peak[before]
        yield f"| {finding} | {', '.join(f'{part:.0f} %' for part in parts)} |"


if __name__ == "__main__":
    sys.exit(run_section(make_section, "control.md", "control", runs=50, about=__doc__ or ""))
