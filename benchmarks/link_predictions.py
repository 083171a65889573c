"""Links of real arms, fitted on one recording or a part of it, that predict another: how well, and how surely.

    python benchmarks/link_predictions.py

Prints for every pair what is left of the filtered efforts [% of their rms]: by the URDF, by the values fitted, by
physically consistent links, and by what predictions are made with; that over the better of the two before, and the
share of rows within two standard deviations. Fails where it is more than a tenth worse, see LARGEST_RATIO.
Recordings are those beside the repository (see `real_arms`), all that there are of each arm.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import sys
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import numpy as np
from real_arms import RECORDINGS, feed, predict, read_joints

from inertid_ros.core.chain import Chain, Target
from inertid_ros.core.estimation.estimate import LinksEstimate
from inertid_ros.core.estimation.full_set import complete_links, find_predictor
from inertid_ros.core.estimation.reweighted import ReweightedEstimator, Uncertainty
from inertid_ros.core.records import JointBlock
from inertid_ros.core.robot.robot import Robot
from inertid_ros.core.settings.choices import EffortUnit
from inertid_ros.core.settings.settings import LinksSettings, Settings

LARGEST_RATIO = 1.1
"""What predictions may leave, over the better of fitted values and physically consistent links."""
ARMS = {"lwr4_": 0.0, "ur10e_": 0.01, "ur10_": 0.0, "panda_": 0.0}
"""What names of an arm's recordings begin with, and the delay of its efforts [s]."""
LOADED = "Load"
"""In the names of recordings of an arm that carries something."""


class Part(NamedTuple):
    """A recording from a share of its length to another."""

    recording: str
    start: float
    end: float

    @property
    def name(self) -> str:
        """For people."""
        whole = (self.start, self.end) == (0.0, 1.0)
        return self.recording if whole else f"{self.recording}, {100 * self.start:.0f} to {100 * self.end:.0f} %"


class Fitted(NamedTuple):
    """What was found from a part."""

    estimate: LinksEstimate
    estimator: ReweightedEstimator


def iterate_pairs() -> Iterator[tuple[Part, Part]]:
    """What is fitted and what is predicted: other recordings of the arm, or the other part of its only one."""
    for start in ARMS:
        names = sorted(path.name for path in RECORDINGS.glob(f"{start}*") if LOADED not in path.name)
        if len(names) == 1:
            first, second = Part(names[0], 0.0, 0.5), Part(names[0], 0.5, 1.0)
            yield from ((first, second), (second, first), (Part(names[0], 0.0, 0.25), second))
        for name in names if len(names) > 1 else []:
            for other in names:
                if other != name:
                    yield Part(name, 0.0, 1.0), Part(other, 0.0, 1.0)
                    yield Part(name, 0.0, 0.3), Part(other, 0.0, 1.0)


def set_up(part: Part) -> tuple[Robot, LinksSettings, JointBlock]:
    """Robot, settings and joint states of a part."""
    delay = next(delay for start, delay in ARMS.items() if part.recording.startswith(start))
    robot = Robot.from_urdf((RECORDINGS / part.recording / "robot.urdf").read_text())
    block = read_joints(part.recording)
    limits = [int(share * len(block.stamps)) for share in (part.start, part.end)]
    links = LinksSettings(effort_unit=EffortUnit.NEWTON_METRE, effort_delay=delay)
    return robot, links, block.take(slice(*limits))


@cache
def fit(part: Part) -> Fitted:
    """Identify the arm."""
    robot, links, block = set_up(part)
    chain = Chain(robot, Settings(links=links), Target.LINKS)
    feed(chain, block)
    estimate, estimator = chain.estimate(), chain.estimator
    assert isinstance(estimate, LinksEstimate)
    assert estimator is not None
    return Fitted(estimate, estimator)


def compare(fitted: Part, other: Part) -> tuple[list[float], float]:
    """Relative rms that URDF, fitted values, consistent links and predictor leave of another part; share in 2 sigma."""
    estimate, test = fit(fitted).estimate, fit(other)
    predictor = find_predictor(estimate)
    chosen = (
        estimate.model.prior,
        estimate.fitted,
        estimate.base.combination @ complete_links(estimate),
        predictor.values,
    )
    assert estimate.fit is not None
    assert test.estimate.fit is not None
    size = float(np.linalg.norm(test.estimate.fit.measured_rms))
    left = [float(np.linalg.norm(test.estimator.find_rms(values))) / size for values in chosen]
    uncertainty = Uncertainty(predictor.covariance, estimate.fit.noise**2)
    rows = predict(*set_up(other), predictor.values, uncertainty).rows
    inside = np.abs(rows.measured - rows.predicted) < 2.0 * rows.deviation
    return left, float(inside[rows.usable].mean())


def main() -> int:
    """Print the table; 1 if some prediction is much worse than it could be."""
    pairs = list(iterate_pairs())
    if not pairs:
        print(f"skipped: no recordings of arms in {RECORDINGS}")
        return 0
    headings = (
        "fitted on",
        "predicted",
        "URDF",
        "fitted values",
        "consistent links",
        "predictor",
        "ratio",
        "in 2 sigma",
    )
    print("| " + " | ".join(headings) + " |\n" + "| --- " * len(headings) + "|")
    ratios, shares = [], []
    for fitted, other in pairs:
        left, share = compare(fitted, other)
        ratios.append(left[3] / min(left[1:3]))
        shares.append(share)
        numbers = [f"{100 * value:.2f}" for value in left] + [f"{ratios[-1]:.2f}", f"{100 * share:.0f} %"]
        print(f"| {fitted.name} | {other.name} | {' | '.join(numbers)} |")
    print(
        f"\nlargest ratio {max(ratios):.2f}; in 2 sigma {100 * np.mean(shares):.0f} %, least {100 * min(shares):.0f} %"
    )
    return int(max(ratios) > LARGEST_RATIO)


if __name__ == "__main__":
    sys.exit(main())
