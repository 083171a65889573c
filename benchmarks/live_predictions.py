"""What live predictions of efforts leave while an arm is being identified, against those of what fits best so far.

    python benchmarks/live_predictions.py

Two chains read each recording at the same time. One identifies the arm and predicts each row with what it has shrunk to
the URDF by then; the other learns nothing and predicts the same row with the values that fit all rows before, which the
first one has found by then. Printed are both in percent of the rms of the filtered efforts: in the first five seconds,
afterwards, and of the whole, then the share of rows that are within two standard deviations of the live predictions.
Recordings are those beside the repository (see `real_arms`), and simulated ones of `imperfect_efforts`, whose URDF has
links that are off by some 20 %. Fails where the whole is more than a tenth worse.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import sys
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from imperfect import ARMS, Motion
from imperfect_efforts import DrivenArm, record
from link_predictions import ARMS as REAL_ARMS
from link_predictions import LOADED, Part, set_up
from links_coverage import CONDITIONS
from real_arms import RECORDINGS, relate

from inertid_ros.core.chain import Chain, Target
from inertid_ros.core.records import FloatArray, JointBlock, RowOutput, join_outputs
from inertid_ros.core.robot.robot import Robot
from inertid_ros.core.settings.choices import EffortUnit
from inertid_ros.core.settings.settings import LinksSettings, Settings

LARGEST_RATIO = 1.1
"""What live predictions may leave of a recording, over what those of fitted values leave."""
_EARLY = 5.0
"""Time [s] in which usual motions have not shown all links yet."""
_SECONDS, _RATE = 30.0, 250.0


class Case(NamedTuple):
    """What is recorded."""

    name: str
    robot: Robot
    links: LinksSettings
    block: JointBlock


def iterate_cases() -> Iterator[Case]:
    """Recordings of real arms without a load, then simulated ones."""
    for start in REAL_ARMS:
        for path in sorted(RECORDINGS.glob(f"{start}*")):
            if LOADED not in path.name:
                yield Case(path.name, *set_up(Part(path.name, 0.0, 1.0)))
    links = LinksSettings(effort_unit=EffortUnit.NEWTON_METRE)
    for seed, name in enumerate(ARMS):
        for condition in ("ideal", "all"):
            rng = np.random.default_rng([seed, 11])
            arm = DrivenArm(name, rng)
            motion = Motion(len(arm.joints), rng, 1.0)
            block = record(arm, motion, CONDITIONS[condition].has, rng, _SECONDS, _RATE)
            yield Case(f"{name}, simulated, {condition}", Robot.from_urdf(arm.urdf()), links, block)


def predict(case: Case) -> tuple[RowOutput, FloatArray]:
    """Rows with live predictions, and what fitted values predict of the same."""
    live, fitted = (Chain(case.robot, Settings(links=case.links), Target.LINKS) for _ in range(2))
    outputs, others = [], []
    for index in range(len(case.block.stamps)):  # one by one, so that the second chain has values as soon as the first
        sample = case.block.take(slice(index, index + 1))
        for chain in (live, fitted):
            chain.push(sample)
        assert live.estimator is not None
        fitted.freeze(live.estimator.values)
        outputs += [output for output in (live.process(),) if output is not None]
        others += [output for output in (fitted.process(),) if output is not None]
    return join_outputs(outputs).rows, join_outputs(others).rows.predicted


def compare(case: Case) -> tuple[list[float], float]:
    """Relative rms of both in the first seconds, afterwards and of the whole; share in 2 sigma."""
    rows, fitted = predict(case)
    measured, live, plain = (np.where(rows.usable, values, 0.0) for values in (rows.measured, rows.predicted, fitted))
    is_early = rows.stamps < rows.stamps[0] + round(_EARLY * 1e9)
    left = []
    for chosen in (is_early, ~is_early, np.ones_like(is_early)):
        left += [relate(measured[chosen], values[chosen]) for values in (plain, live)]
    inside = np.abs(rows.measured - rows.predicted) < 2.0 * rows.deviation
    return left, float(inside[rows.usable].mean())


def main() -> int:
    """Print the table; 1 if something is much worse than by fitted values."""
    parts = ("first 5 s", "afterwards", "whole")
    headings = ("recording", *(f"{part}: {what}" for part in parts for what in ("fitted", "live")), "in 2 sigma")
    print("| " + " | ".join(headings) + " |\n" + "| --- " * len(headings) + "|")
    ratios, shares = [], []
    for case in iterate_cases():
        left, share = compare(case)
        ratios.append(left[5] / left[4])
        shares.append(share)
        numbers = " | ".join(f"{100 * value:.2f}" for value in left)
        print(f"| {case.name} | {numbers} | {100 * share:.0f} % |", flush=True)
    print(f"\nlargest ratio {max(ratios):.2f}; in 2 sigma {100 * np.mean(shares):.0f} %")
    return int(max(ratios) > LARGEST_RATIO)


if __name__ == "__main__":
    sys.exit(main())
