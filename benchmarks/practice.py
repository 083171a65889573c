"""Learning by practice on a simulated direct drive arm, and on the two-joint arm of the thesis (chapter 6).

python benchmarks/practice.py            prints the tables
python benchmarks/practice.py --write    writes them into docs/control.md, and docs/images/practice.png
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from ddarm_links import URDF, estimated_links
from driven_ddarm import (
    DRIVE_NOISE,
    FRICTION,
    Models,
    find_paper_frequencies,
    identify,
    make_decoupled,
    make_gains,
)
from page import run_section, run_seeds
from planar_arm import SeventhOrder, make_planar, practise_planar
from trials import practise

from inertid_ros.control.controllers import Gains
from inertid_ros.control.convergence import Convergence, find_convergence
from inertid_ros.control.inverse_model import DecoupledModel, InverseModel
from inertid_ros.control.practice import LearningModel, Practice, judge
from inertid_ros.core.records import FloatArray
from inertid_ros.motions.motion import MinimumJerk
from inertid_ros.sim.sensors import paper_ddarm_link_sensors

TABLE_6_1 = MinimumJerk([[0.5, 5.0, 4.0], [4.5, 1.0, -0.5]], [1.5])
"""The trajectory of table 6.1 [rad, s]."""
PLANAR_MOVE = SeventhOrder([0.0, 1.5], [1.0, -1.5], 1.0)
"""Of the two-joint arm; the thesis prints none."""
PLANAR_NOISE = 0.01
"""Of its tachometers [rad/s]."""
_ABOUT = """Errors are norms over the joints of the rms velocity error as measured, means of {runs} runs. The first \
trial is fed forward by the model (eq. 6.1), every other one by what the one before taught. `noise` is what the \
tachometers alone leave. `gain` is the largest one of A (6.28), median and 95 %; below 1, errors shrink in each trial. \
`verdicts` counts what the tool says after the last trial."""
PICTURE = Path(__file__).parents[1] / "docs" / "images" / "practice.png"


class Outcome(NamedTuple):
    """One run of one case.

    Attributes:
        sizes, noise: (trials,) norms over the joints of the velocity error, and of what noise explains of it.
        verdict: what the tool says after the last trial.
        gain: largest gain of A, median and 95 %.
    """

    sizes: FloatArray
    noise: FloatArray
    verdict: str
    gain: tuple[float, float]


def run_once(seed: int) -> dict[str, Outcome]:
    """Everything that is practised, by what it is called."""
    known = identify(seed)
    return {
        "DDArm, identified": _practise_ddarm(known.rigid, known, seed, 4),
        "DDArm, identified with friction": _practise_ddarm(known.full, known, seed, 4),
        "DDArm, CAD": _practise_ddarm(known.cad, known, seed, 4),
        "DDArm, decoupled": _practise_ddarm(make_decoupled(known.rigid), known, seed, 6),
        "two joints, exact": _practise_planar(make_planar(), seed, 4),
        "two joints, decoupled": _practise_planar(_decouple_planar(), seed, 6),
    }


def _practise_ddarm(model: InverseModel | DecoupledModel, known: Models, seed: int, trials: int) -> Outcome:
    sensors = replace(paper_ddarm_link_sensors(seed), effort_noise=0.0)
    gains = make_gains(find_paper_frequencies())
    practices = practise(
        URDF,
        "ft_sensor",
        sensors,
        model,
        TABLE_6_1,
        gains,
        trials,
        seed=seed,
        drive_noise=DRIVE_NOISE,
        links=estimated_links(),
        friction=FRICTION,
    )
    return _summarise(practices, find_convergence(model, known.rigid, TABLE_6_1, gains))


def _summarise(practices: list[Practice], convergence: Convergence) -> Outcome:
    sizes, noise = (
        np.array([np.linalg.norm(getattr(practice, kind)) for practice in practices])
        for kind in ("velocity_error", "noise")
    )
    return Outcome(sizes, noise, judge(practices)[0], convergence.gain)


def _decouple_planar() -> DecoupledModel:
    return DecoupledModel(make_planar(), np.random.default_rng(0).uniform(-np.pi, np.pi, (1000, 2)))


def _practise_planar(model: LearningModel, seed: int, trials: int) -> Outcome:
    gains = Gains.of_inertias(_decouple_planar().inertias, 2.0 * np.pi, 0.707)
    practices = practise_planar(model, PLANAR_MOVE, gains, trials, PLANAR_NOISE, seed=seed)
    return _summarise(practices, find_convergence(model, make_planar(), PLANAR_MOVE, gains))


def make_section(runs: int) -> str:
    """The table, and the picture where the page is written."""
    lines = [
        _ABOUT.format(runs=runs),
        "",
        "| arm, model | trial 1 [rad/s] | 2 | 3 | 4 | 5 | 6 | last / first | last / noise | gain | verdicts |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    everything = run_seeds(run_once, runs)
    cases = {name: [one[name] for one in everything] for name in everything[0]}
    lines += [_format_row(name, outcomes) for name, outcomes in cases.items()]
    if "--write" in sys.argv:
        draw(cases)
    return "\n".join([*lines, "", "![Velocity error of each trial](images/practice.png)"])


def _format_row(name: str, outcomes: Sequence[Outcome]) -> str:
    sizes = np.array([outcome.sizes for outcome in outcomes])
    means = [f"{value:.4f}" for value in sizes.mean(axis=0)]
    cells = [*means, *[""] * (6 - len(means))]
    verdicts = [outcome.verdict for outcome in outcomes]
    counted = ", ".join(f"{word} {verdicts.count(word)}" for word in dict.fromkeys(verdicts))
    last, floor = sizes[:, -1], np.array([outcome.noise[0] for outcome in outcomes])
    gain, most = np.mean([outcome.gain for outcome in outcomes], axis=0)
    ratios = f"{np.mean(last / sizes[:, 0]):.2f} | {np.mean(last / floor):.2f} | {gain:.2f}, {most:.2f}"
    return f"| {name} | {' | '.join(cells)} | {ratios} | {counted} |"


def draw(cases: dict[str, list[Outcome]]) -> None:
    """Errors over trials, with the range of the runs."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 2, figsize=(9.0, 3.6), sharey=True, layout="constrained")
    for panel, arm in zip(axes, ("DDArm", "two joints"), strict=True):
        for name, outcomes in cases.items():
            if not name.startswith(arm):
                continue
            sizes = np.array([outcome.sizes for outcome in outcomes])
            trials = np.arange(1, sizes.shape[1] + 1)
            (line,) = panel.plot(trials, sizes.mean(axis=0), marker="o", label=name.split(", ")[1])
            panel.fill_between(trials, sizes.min(axis=0), sizes.max(axis=0), color=line.get_color(), alpha=0.2)
            floor = float(np.mean([outcome.noise[0] for outcome in outcomes]))
        panel.axhline(floor, color="grey", linestyle=":", label="noise of the tachometers")
        panel.set(title=arm, xlabel="trial", yscale="log")
        panel.legend(fontsize=8)
    axes[0].set_ylabel("rms velocity error [rad/s]")
    figure.savefig(PICTURE, dpi=120)


if __name__ == "__main__":
    sys.exit(run_section(make_section, "control.md", "practice", runs=50, about=__doc__ or ""))
