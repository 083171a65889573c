"""Learning by practice on a simulated direct drive arm, and on the two-joint arm of the thesis (chapter 6).

python benchmarks/practice.py            prints the tables
python benchmarks/practice.py --write    writes them into docs/control.md, and docs/images/practice.png
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from ddarm_links import URDF, estimated_links
from driven_ddarm import DRIVE_NOISE, FRICTION, identify, make_decoupled, make_gains
from page import run_section
from planar_arm import SeventhOrder, make_planar, practise, practise_planar

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

Outcome = tuple[list[Practice], Convergence]


def list_cases() -> dict[str, Callable[[int], Outcome]]:
    """What is practised, by what it is called."""
    return {
        "DDArm, identified": lambda seed: _practise_ddarm(identify(seed).rigid, seed, 4),
        "DDArm, identified with friction": lambda seed: _practise_ddarm(identify(seed).full, seed, 4),
        "DDArm, CAD": lambda seed: _practise_ddarm(identify(seed).cad, seed, 4),
        "DDArm, decoupled": lambda seed: _practise_ddarm(make_decoupled(identify(seed).rigid), seed, 6),
        "two joints, exact": lambda seed: _practise_planar(make_planar(), seed, 4),
        "two joints, decoupled": lambda seed: _practise_planar(_decouple_planar(), seed, 6),
    }


def _practise_ddarm(model: InverseModel | DecoupledModel, seed: int, trials: int) -> Outcome:
    sensors = replace(paper_ddarm_link_sensors(seed), effort_noise=0.0)
    gains = make_gains()
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
    arm = identify(seed).rigid
    return practices, find_convergence(model, arm, TABLE_6_1, gains)


def _decouple_planar() -> DecoupledModel:
    return DecoupledModel(make_planar(), np.random.default_rng(0).uniform(-np.pi, np.pi, (1000, 2)))


def _practise_planar(model: LearningModel, seed: int, trials: int) -> Outcome:
    gains = Gains.of_inertias(_decouple_planar().inertias, 2.0 * np.pi, 0.707)
    practices = practise_planar(model, PLANAR_MOVE, gains, trials, PLANAR_NOISE, seed=seed)
    return practices, find_convergence(model, make_planar(), PLANAR_MOVE, gains)


def make_section(runs: int) -> str:
    """The table, and the picture where the page is written."""
    lines = [
        _ABOUT.format(runs=runs),
        "",
        "| arm, model | trial 1 [rad/s] | 2 | 3 | 4 | 5 | 6 | last / first | last / noise | gain | verdicts |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    curves = {}
    for name, run in list_cases().items():
        outcomes = []
        for seed in range(runs):
            outcomes.append(run(seed))
            print(f"{name}: run {seed + 1} of {runs}", file=sys.stderr, flush=True)
        sizes, noise = (_norms(outcomes, kind) for kind in ("velocity_error", "noise"))
        curves[name] = sizes, noise
        lines.append(_format_row(name, outcomes, sizes, noise))
    if "--write" in sys.argv:
        draw(curves)
    return "\n".join([*lines, "", "![Velocity error of each trial](images/practice.png)"])


def _norms(outcomes: Sequence[Outcome], kind: str) -> FloatArray:
    """Norms over the joints, (runs, trials)."""
    return np.array([[np.linalg.norm(getattr(item, kind)) for item in practices] for practices, _ in outcomes])


def _format_row(name: str, outcomes: Sequence[Outcome], sizes: FloatArray, noise: FloatArray) -> str:
    means = [f"{value:.4f}" for value in sizes.mean(axis=0)]
    cells = [*means, *[""] * (6 - len(means))]
    verdicts = [judge(practices)[0] for practices, _ in outcomes]
    counted = ", ".join(f"{word} {verdicts.count(word)}" for word in dict.fromkeys(verdicts))
    last = sizes[:, -1]
    gains = np.mean([convergence.gain for _, convergence in outcomes], axis=0)
    ratios = f"{np.mean(last / sizes[:, 0]):.2f} | {np.mean(last / noise[:, 0]):.2f} | {gains[0]:.2f}, {gains[1]:.2f}"
    return f"| {name} | {' | '.join(cells)} | {ratios} | {counted} |"


def draw(curves: dict[str, tuple[FloatArray, FloatArray]]) -> None:
    """Errors over trials, with the range of the runs."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 2, figsize=(9.0, 3.6), sharey=True, layout="constrained")
    for panel, arm in zip(axes, ("DDArm", "two joints"), strict=True):
        for name, (sizes, noise) in curves.items():
            if not name.startswith(arm):
                continue
            trials = np.arange(1, sizes.shape[1] + 1)
            (line,) = panel.plot(trials, sizes.mean(axis=0), marker="o", label=name.split(", ")[1])
            panel.fill_between(trials, sizes.min(axis=0), sizes.max(axis=0), color=line.get_color(), alpha=0.2)
            floor = float(noise[:, 0].mean())
        panel.axhline(floor, color="grey", linestyle=":", label="noise of the tachometers")
        panel.set(title=arm, xlabel="trial", yscale="log")
        panel.legend(fontsize=8)
    axes[0].set_ylabel("rms velocity error [rad/s]")
    figure.savefig(PICTURE, dpi=120)


if __name__ == "__main__":
    sys.exit(run_section(make_section, "control.md", "practice", runs=50, about=__doc__ or ""))
