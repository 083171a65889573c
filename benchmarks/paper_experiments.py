"""The load experiments of Atkeson, An and Hollerbach (1986), simulated many times with known truth.

Two seconds of standstill, then the paper's one move, with encoder steps, tachometer and wrench noise, bias and 30 Hz
vibration (`inertid_ros/sim/sensors.py`), but neither delay nor tilt, wrong gains or cross-talk: their uncertainties are
set to zero. The estimate is the online one at the end of the move.

    python benchmarks/paper_experiments.py            prints the tables
    python benchmarks/paper_experiments.py --write    writes them to docs/paper_experiments.md
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from inertid_ros.core.chain import Chain, Target
from inertid_ros.core.records import FloatArray
from inertid_ros.core.rigid_body.inertial import PARAMETER_NAMES
from inertid_ros.core.robot.robot import Robot
from inertid_ros.core.settings.choices import Method
from inertid_ros.core.settings.settings import LoadSettings, Settings
from inertid_ros.files.parameters import load_from_yaml
from inertid_ros.files.share import share_path
from inertid_ros.motions.motion import paper_ddarm_load_move, paper_puma_move, with_rest
from inertid_ros.sim.sensors import paper_ddarm_sensors, paper_puma_sensors
from inertid_ros.sim.simulator import Simulator

METHODS = ("filtered", "integral", "differentiated")
EXPERIMENTS = (("puma560", "aluminium_block"), ("puma560", "bar"), ("ddarm", "bar"))
_ABOUT = " ".join((__doc__ or "").split("\n\n")[1].split())
TITLES = {"puma560": "PUMA", "ddarm": "DDArm", "aluminium_block": "block", "bar": "bar"}
EXACT = LoadSettings(delay_uncertainty=0.0, tilt_uncertainty=0.0, gain_uncertainty=0.0, cross_talk=0.0)
"""The simulated sensors have noise, steps and bias, but neither delay nor tilt, wrong gains or cross-talk."""
LIMITS = {"puma560": 7e-4, "ddarm": 0.5e-4}
"""Largest rms error of the bar's inertias, kg m^2."""


class Outcome(NamedTuple):
    """Errors (R, 10), standard deviations (R, 10) and COM errors (R, 3) of R runs."""

    errors: FloatArray
    deviations: FloatArray
    com_errors: FloatArray

    @property
    def rms(self) -> FloatArray:
        """Root mean square error of each parameter, (10,)."""
        return np.asarray(np.sqrt(np.mean(self.errors**2, axis=0)))

    @property
    def com_rms(self) -> FloatArray:
        """Root mean square error of the centre of mass, (3,) m."""
        return np.asarray(np.sqrt(np.mean(self.com_errors**2, axis=0)))

    @property
    def lost(self) -> int:
        """In how many runs the mass is wrong by more than a tenth of a kilogram."""
        return int(np.sum(np.abs(self.errors[:, 0]) > 0.1))

    @property
    def coverage(self) -> FloatArray:
        """Share of runs whose 95 % interval holds the truth, (10,)."""
        return np.asarray(np.mean(np.abs(self.errors) < 1.96 * self.deviations, axis=0))


def run_once(arm: str, load: str, method: str, seed: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """One simulated experiment: error (10,), standard deviation (10,) and COM error (3,)."""
    urdf = share_path("urdf", f"{arm}.urdf").read_text()
    truth = load_from_yaml(share_path("config", "loads", f"{load}.yaml"))
    is_puma = arm == "puma560"
    motion = with_rest(paper_puma_move() if is_puma else paper_ddarm_load_move(), before=2.0)
    sensors = paper_puma_sensors(seed) if is_puma else paper_ddarm_sensors(seed)
    simulator = Simulator(urdf, "ft_sensor", motion, sensors, [(0.0, truth)], seed=seed)
    settings = Settings(load=replace(EXACT, sensor_frame="ft_sensor", method=Method(method)))
    chain = Chain(Robot.from_urdf(urdf), settings, Target.LOAD)
    chain.push(simulator.joints(0.0, motion.duration))
    chain.push(simulator.wrenches(0.0, motion.duration))
    chain.process()
    estimate = chain.estimate()
    assert estimate is not None
    found = estimate.values
    com_error = found[1:4] / found[0] - truth[1:4] / truth[0]
    return found - truth, estimate.deviations, com_error


def run_many(arm: str, load: str, method: str, runs: int, workers: int = 1) -> Outcome:
    """Many experiments with seeds 0, 1, 2, ..."""
    once = partial(run_once, arm, load, method)
    if workers == 1:
        results = [once(seed) for seed in range(runs)]
    else:
        with ProcessPoolExecutor(workers) as pool:
            results = list(pool.map(once, range(runs), chunksize=10))
    return Outcome(*(np.array(column) for column in zip(*results, strict=True)))


def format_errors(outcomes: dict[tuple[str, str, str], Outcome], runs: int) -> str:
    """Mass, COM and inertia errors of all methods beside the paper's."""
    lost: list[str] = []
    lines = [
        f"Root mean square errors over {runs} runs; inertias are the worst of the six.",
        "",
        "| experiment | method | mass [g] | COM [mm] | Ixx [1e-4 kg m²] | inertias [1e-4 kg m²] |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for (arm, load, method), outcome in outcomes.items():
        lines.append(
            f"| {TITLES[arm]} {TITLES[load]} | {method} | {1e3 * outcome.rms[0]:.2f} "
            f"| {1e3 * outcome.com_rms.max():.3f} | {1e4 * outcome.rms[4]:.2f} | {1e4 * outcome.rms[4:].max():.2f} |"
        )
    for (arm, load, method), outcome in outcomes.items():
        if outcome.lost:
            lost.append(f"{outcome.lost} of {runs} with {TITLES[arm]} {TITLES[load]}, {method}")
    lines += [
        "| PUMA block, paper's table 1 | static, six poses | 3 to 7 | 1 | | |",
        "| PUMA block, paper's table 1 | differentiated | 22 to 39 | 2 | | |",
        "| PUMA bar, paper's table 2 | differentiated | | | 52 | 66 |",
        "| DDArm bar, paper's table 2 | differentiated | | | 14 | 14 |",
    ]
    if lost:
        lines += ["", f"Runs whose mass is wrong by more than 0.1 kg, and which spoil their row: {'; '.join(lost)}."]
    return "\n".join(lines)


def format_coverage(outcomes: dict[tuple[str, str, str], Outcome]) -> str:
    """How often the 95 % interval of the default method holds the truth."""
    lines = [
        "Share of runs whose 95 % interval holds the truth [%], filtered method.",
        "",
        "| experiment | " + " | ".join(PARAMETER_NAMES) + " |",
        "| --- " * (len(PARAMETER_NAMES) + 1) + "|",
    ]
    for (arm, load, method), outcome in outcomes.items():
        if method == "filtered":
            shares = " | ".join(f"{100 * share:.0f}" for share in outcome.coverage)
            lines.append(f"| {TITLES[arm]} {TITLES[load]} | {shares} |")
    return "\n".join(lines)


def check(outcomes: dict[tuple[str, str, str], Outcome]) -> list[str]:
    """What the filtered method misses of its limits."""
    missed = []
    for (arm, load, method), outcome in outcomes.items():
        if method != "filtered":
            continue
        name = f"{TITLES[arm]} {TITLES[load]}"
        if outcome.rms[0] > 1.5e-3:
            missed.append(f"{name}: mass {1e3 * outcome.rms[0]:.2f} g")
        if outcome.com_rms.max() > 0.15e-3:
            missed.append(f"{name}: COM {1e3 * outcome.com_rms.max():.3f} mm")
        worst = outcome.rms[4] if arm == "puma560" else outcome.rms[4:].max()
        if load == "bar" and worst > LIMITS[arm]:
            missed.append(f"{name}: inertia {1e4 * worst:.2f}e-4 kg m²")
        outside = (outcome.coverage < 0.90) | (outcome.coverage > 0.99)
        missed += [
            f"{name}: {PARAMETER_NAMES[k]} covered {100 * outcome.coverage[k]:.0f} %" for k in np.flatnonzero(outside)
        ]
    return missed


def main() -> int:
    """Run all experiments, print or write the tables, fail if a limit is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=400, help="seeded runs of each experiment (default 400)")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="processes (default: all cores)")
    parser.add_argument("--write", action="store_true", help="write docs/paper_experiments.md")
    options = parser.parse_args()
    outcomes = {}
    for arm, load in EXPERIMENTS:
        for method in METHODS:
            print(f"{TITLES[arm]} {TITLES[load]}, {method} ...", file=sys.stderr, flush=True)
            outcomes[arm, load, method] = run_many(arm, load, method, options.runs, options.workers)
    text = "\n\n".join(
        (
            "# The paper's load experiments, simulated",
            f"Made by `python benchmarks/paper_experiments.py --write`. {_ABOUT}",
            format_errors(outcomes, options.runs),
            format_coverage(outcomes),
        )
    )
    print(text)
    if options.write:
        (Path(__file__).parents[1] / "docs" / "paper_experiments.md").write_text(text + "\n")
    missed = check(outcomes)
    print(
        "\n".join(["", *(f"MISSED {line}" for line in missed)] if missed else ["", "all limits met"]), file=sys.stderr
    )
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
