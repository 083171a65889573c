"""Link identification, simulated many times with known truth, and on recordings of real arms where they are.

python benchmarks/link_experiments.py            prints the tables
python benchmarks/link_experiments.py --write    writes them to docs/link_experiments.md
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypeVar

import ddarm_links
import numpy as np
import puma_links
from ddarm_links import DDArmRun, base_names, run_ddarm
from ddarm_solutions import SolutionsRun, format_solutions, run_solutions
from puma_links import CASES, PumaCase, PumaRun, run_puma
from real_arms import ARMS, RealArm, RealOutcome, is_here, run_arm

from inertid_ros.core.records import FloatArray
from inertid_ros.core.settings.choices import Source

Result = TypeVar("Result")
PREDICTED = 0.01
"""Largest relative rms error of the fourth move's torques after the chain's filters, in every run."""
LEAST_COVERED = 0.88
"""Least share of runs whose 95 % interval holds the truth: 95 % less three standard deviations of 100 runs."""
_ERRORS = """Error of the predicted torques of the fourth move, in % of their rms over all joints: mean / \
largest of {runs} runs. `filtered`: noise-free torques against those predicted from the noisy joint states, both \
after the filters of the chain. `each joint`: mean of that, in % of the joint's own rms. `published`: noise-free \
torques against the predictions at every sample, for which accelerations are taken from the tachometers as they \
come; with the true parameters this leaves as much. `parameters alone`: along the true motion."""
_COVERAGE = """Share of runs whose 95 % interval holds the truth [%], and the rms error of each base parameter \
(named by the parameter that stands for it) beside the rms of its standard deviations. Intervals of joint 1 are too \
wide: what it leaves is mostly noise of the tachometer times 15 kg m², which, being a derivative, averages out \
faster than the white noise it is taken for."""
_FRICTION = """Means of {runs} runs, in brackets the standard deviation of a run. `parameters`: rms error of the \
links' base parameters that a base sensor sees, in units of the standard deviations that the first run from the base \
wrench gives them. `links` [%]: error of what the links alone need of the efforts of the other motion, of their rms. \
`efforts` [%]: the same of the whole efforts, with friction. `friction` [%]: error of the viscous and Coulomb friction \
of all joints. `covered` [%]: base parameters whose 95 % interval holds the truth."""
_REAL = """One causal pass over the recordings that are fitted, then frozen and tested on another: error of the \
predicted efforts in % of their rms over all joints, after the filters of the chain, as published at every sample, \
and, after the filters, that of the URDF alone."""
_SOURCES = {"base_wrench": "base wrench", "effort": "efforts", "both": "both"}


class Outcomes(NamedTuple):
    """Runs of all experiments; those of the direct drive arm by whether drives were among the unknowns."""

    ddarm: dict[bool, list[DDArmRun]]
    solutions: list[SolutionsRun]
    puma: dict[PumaCase, list[PumaRun]]
    real: dict[RealArm, RealOutcome]


def run_many(once: Callable[[int], Result], runs: int, workers: int = 1) -> list[Result]:
    """The same experiment with seeds 0, 1, 2, ..."""
    if workers == 1:
        return [once(seed) for seed in range(runs)]
    with ProcessPoolExecutor(workers) as pool:
        return list(pool.map(once, range(runs)))


def coverage(runs: Sequence[DDArmRun]) -> FloatArray:
    """Share of runs whose 95 % interval holds the truth, (U,)."""
    return np.asarray(np.mean([np.abs(run.errors) < 1.96 * run.deviations for run in runs], axis=0))


def run_all(runs: int, workers: int) -> Outcomes:
    """Run everything."""
    ddarm, puma = {}, {}
    for with_drives in (True, False):
        print(f"DDArm, {'with' if with_drives else 'without'} drives ...", file=sys.stderr, flush=True)
        ddarm[with_drives] = run_many(partial(run_ddarm, with_drives), runs, workers)
    print("DDArm, plain least squares ...", file=sys.stderr, flush=True)
    solutions = run_many(run_solutions, runs, workers)
    for case in CASES:
        print(f"PUMA, {case} ...", file=sys.stderr, flush=True)
        puma[case] = run_many(partial(run_puma, case), max(1, runs // 10), workers)
    return Outcomes(ddarm, solutions, puma, {arm: run_arm(arm) for arm in ARMS if is_here(arm)})


def format_ddarm(outcomes: dict[bool, list[DDArmRun]]) -> str:
    """Errors of the predicted torques of the fourth move."""
    lines = [
        "## Direct drive arm: the paper's three moves",
        "",
        _about(ddarm_links.__doc__),
        "",
        _ERRORS.format(runs=len(outcomes[True])),
        "",
        "| unknowns | filtered | each joint | published | same, true parameters | parameters alone | CAD | worse by |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for with_drives, runs in outcomes.items():
        filtered = [run.filtered for run in runs]
        cad = [run.cad for run in runs]
        joints = ", ".join(_percent(value) for value in np.mean([run.per_joint for run in runs], axis=0))
        unknowns = "links, friction, rotors, offsets" if with_drives else "links"
        lines.append(
            f"| {unknowns} | {_mean_and_most(filtered)} | {joints} "
            f"| {_mean_and_most([run.sampled for run in runs])} | {_mean_and_most([run.unavoidable for run in runs])} "
            f"| {_mean_and_most([run.modelled for run in runs])} "
            f"| {_mean_and_most(cad)} | {np.mean(cad) / np.mean(filtered):.0f} |"
        )
    return "\n".join(lines)


def format_coverage(outcomes: dict[bool, list[DDArmRun]]) -> str:
    """How often the 95 % intervals of the base parameters hold the truth."""
    lines = [
        _COVERAGE,
        "",
        "| base parameter | covered | error | deviation | covered, links only | error | deviation |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    cells = {with_drives: _cover_cells(with_drives, runs) for with_drives, runs in outcomes.items()}
    lines += [f"| {name} | {cell} | {cells[False].get(name, ' | | ')} |" for name, cell in cells[True].items()]
    return "\n".join(lines)


def _cover_cells(with_drives: bool, runs: Sequence[DDArmRun]) -> dict[str, str]:
    errors = np.sqrt(np.mean(np.square([run.errors for run in runs]), axis=0))
    deviations = np.sqrt(np.mean(np.square([run.deviations for run in runs]), axis=0))
    return {
        name: f"{100 * share:.0f} | {error:.2g} | {deviation:.2g}"
        for name, share, error, deviation in zip(
            base_names(with_drives), coverage(runs), errors, deviations, strict=True
        )
    }


def format_puma(outcomes: dict[PumaCase, list[PumaRun]]) -> str:
    """Errors with and without friction, from efforts, base wrench and both."""
    lines = [
        "## PUMA with strong friction, on a base sensor",
        "",
        _about(puma_links.__doc__),
        "",
        _FRICTION.format(runs=len(next(iter(outcomes.values())))),
        "",
        "| learned from | friction | friction in the model | parameters | links | efforts | friction | covered |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for case, runs in outcomes.items():
        columns = "not needed" if case.source is Source.BASE_WRENCH else "yes" if case.has_columns else "no"
        values = np.array(runs)
        parameters = "" if case.source is Source.EFFORT else f"{values[:, 0].mean():.2f} ({values[:, 0].std():.2f})"
        links = f"{_percent(values[:, 1].mean())} ({_percent(values[:, 1].std())})"
        others = " | ".join("" if np.isnan(value) else _percent(value) for value in values[:, 2:].mean(axis=0))
        friction = "strong" if case.has_friction else "none"
        lines.append(f"| {_SOURCES[case.source]} | {friction} | {columns} | {parameters} | {links} | {others} |")
    return "\n".join([*lines, "", format_fusion(outcomes[CASES[1]], outcomes[CASES[3]], outcomes[CASES[5]])])


def format_fusion(base: Sequence[PumaRun], effort: Sequence[PumaRun], both: Sequence[PumaRun]) -> str:
    """What both sources gain over each alone, run by run."""
    gains = {
        "`parameters` against the base wrench": [b.parameters - a.parameters for a, b in zip(base, both, strict=True)],
        "`links` [%] against the base wrench": [100 * (b.links - a.links) for a, b in zip(base, both, strict=True)],
        "`efforts` [%] against the efforts": [100 * (b.efforts - a.efforts) for a, b in zip(effort, both, strict=True)],
        "`friction` [%] against the efforts": [
            100 * (b.friction - a.friction) for a, b in zip(effort, both, strict=True)
        ],
    }
    texts = [
        f"{name} {np.mean(gain):+.3f} ± {np.std(gain) / max(len(gain) - 1, 1) ** 0.5:.3f} "
        f"({sum(value < 0.0 for value in gain)} of {len(gain)} runs better)"
        for name, gain in gains.items()
    ]
    return f"Both less each alone, run by run, with the standard error of the mean: {'; '.join(texts)}."


def format_real(outcomes: dict[RealArm, RealOutcome]) -> str:
    """Errors of real arms."""
    lines = [
        "## Real arms",
        "",
        _REAL,
        "",
        "| arm | fitted | tested | filtered | published | URDF, filtered |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for arm, outcome in outcomes.items():
        fitted, tested = ", ".join(arm.fitted), arm.tested
        if arm.share < 1.0:
            fitted, tested = f"{fitted}, first {arm.share:.0%}", f"{tested}, the rest"
        lines.append(f"| {arm.title} | {fitted} | {tested} | {' | '.join(_percent(value) for value in outcome)} |")
    return "\n".join(lines)


def check(outcomes: Outcomes) -> list[str]:
    """What was missed."""
    missed = []
    for with_drives, runs in outcomes.ddarm.items():
        worst = max(run.filtered for run in runs)
        if worst > PREDICTED:
            missed.append(f"DDArm: torques of the fourth move predicted to {_percent(worst)} %")
        for name, share in zip(base_names(with_drives), coverage(runs), strict=True):
            if share < LEAST_COVERED:
                missed.append(f"DDArm: {name} covered {100 * share:.0f} %")
    missed += _check_puma(outcomes.puma)
    for arm, outcome in outcomes.real.items():
        if outcome.filtered > arm.limit:
            missed.append(f"{arm.title}: {_percent(outcome.filtered)} %")
    return missed


def _check_puma(outcomes: dict[PumaCase, list[PumaRun]]) -> list[str]:
    missed = []
    smooth, rough, _, effort, blind, both = (PumaRun(*np.mean(outcomes[case], axis=0)) for case in CASES)
    if not abs(rough.links - smooth.links) < 0.1 * smooth.links:
        missed.append(f"PUMA: friction spoils the base wrench, {_percent(smooth.links)}, {_percent(rough.links)} %")
    if not (both.links < effort.links and both.efforts < effort.efforts):
        missed.append("PUMA: efforts and base wrench together are worse than the efforts alone")
    if not (both.links < 1.25 * rough.links and both.parameters < 1.25 * rough.parameters):
        missed.append("PUMA: efforts and base wrench together are worse than the base wrench alone")
    if not effort.links < 0.5 * blind.links:
        missed.append("PUMA: friction in the model is of no use")
    return missed


def _about(docstring: str | None) -> str:
    """All but the title line of a module's description, on one line."""
    return " ".join((docstring or "").split("\n\n")[1].split())


def _percent(value: float) -> str:
    return f"{100 * value:.2f}" if value < 0.0995 else f"{100 * value:.0f}"


def _mean_and_most(values: Sequence[float]) -> str:
    return f"{_percent(float(np.mean(values)))} / {_percent(max(values))}"


def main() -> int:
    """Run all experiments, print or write the tables, fail if something was missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--runs", type=int, default=100, help="seeded runs of the DDArm, ten times those of the PUMA (default 100)"
    )
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="processes (default: all cores)")
    parser.add_argument("--write", action="store_true", help="write docs/link_experiments.md")
    options = parser.parse_args()
    outcomes = run_all(options.runs, options.workers)
    parts = [
        "# Link identification, simulated and on real arms",
        "Made by `python benchmarks/link_experiments.py --write`.",
        format_ddarm(outcomes.ddarm),
        format_coverage(outcomes.ddarm),
        format_solutions(outcomes.solutions, [run.modelled for run in outcomes.ddarm[False]]),
        format_puma(outcomes.puma),
    ]
    text = "\n\n".join([*parts, format_real(outcomes.real)] if outcomes.real else parts)
    print(text)
    if options.write:
        (Path(__file__).parents[1] / "docs" / "link_experiments.md").write_text(text + "\n")
    missed = check(outcomes)
    print("\n".join(f"MISSED {line}" for line in missed) or "all limits met", file=sys.stderr)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
