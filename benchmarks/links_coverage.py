"""How often 95 % intervals of links hold the truth, on joint torques that are wrong in one way, or in all.

Recordings are made by `benchmarks/imperfect_efforts.py`, which shares nothing with the estimator: 30 s of random motion
of an arm with random links, rotors and friction, the arm and the rate drawn for each run; its URDF has links that are
off by some 20 %. Gains, tilt, places and axes of joints and, in the last row, the delay are drawn from normal
distributions of the size that the table says; all else is the same in all runs. Friction is that of a drive whose
torque changes its sign within 0.005 rad/s, in every row. Friction that gets warm is compared with its mean over the
motion.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from collections.abc import Sequence
from concurrent.futures import Executor
from functools import partial
from typing import NamedTuple

import numpy as np
from imperfect import ARMS, FloatArray, Motion
from imperfect_efforts import DrivenArm, EffortImperfections, record

from inertid_ros.core.chain import Chain, Target
from inertid_ros.core.estimation.estimate import LinksEstimate
from inertid_ros.core.robot.robot import Robot
from inertid_ros.core.settings.choices import EffortUnit
from inertid_ros.core.settings.settings import LinksSettings, Settings

MEAN, WORST = (0.92, 0.98), 0.87
"""Limits of the mean coverage, and of that of one kind of parameter."""
FIRST_SEED = 10_000
"""Recordings of the seeds below have been looked at while the estimator was made."""
_ABOUT = " ".join((__doc__ or "").split("\n\n")[1].split())
_QUANTILE = 1.959964
_SECONDS, _SPEED = 30.0, 1.0
_RATES = 125.0, 250.0, 500.0, 1000.0
_FLOOR = 1e-4
"""Smallest noise of filtered efforts [Nm] that is believed: a thirtieth of the smallest joint's covers nothing up."""
_DEFAULT_SHARE = 4
"""One in so many runs is repeated with default priors, which have no limits."""


class Condition(NamedTuple):
    """What is wrong."""

    title: str
    has: EffortImperfections


CONDITIONS = {
    "ideal": Condition("ideal", EffortImperfections()),
    "stribeck": Condition("Stribeck friction, 50 % more below 0.1 rad/s", EffortImperfections(stribeck=0.5)),
    "late": Condition("effort 4 ms late", EffortImperfections(delay=0.004)),
    "gain": Condition("torque constants 2 %", EffortImperfections(gain=0.02)),
    "heat": Condition("friction -30 % by heat", EffortImperfections(heat=0.3)),
    "tilt": Condition("gravity 0.5° off", EffortImperfections(tilt=np.deg2rad(0.5))),
    "coloured": Condition("half the noise correlated over 0.3 s", EffortImperfections(coloured=1.0)),
    "gear5": Condition("gear friction, 5 % of the torque", EffortImperfections(gear=0.05)),
    "gear10": Condition("gear friction, 10 % of the torque", EffortImperfections(gear=0.1)),
    "gear15": Condition("gear friction, 15 % of the torque", EffortImperfections(gear=0.15)),
    "place1": Condition("joints 1 mm and 1 mrad off in the URDF", EffortImperfections(places=0.001, axes=0.001)),
    "place3": Condition("joints 3 mm and 3 mrad off in the URDF", EffortImperfections(places=0.003, axes=0.003)),
    "all": Condition(
        "all together, Stribeck 30 %, heat -20 %",
        EffortImperfections(stribeck=0.3, delay=-0.004, gain=0.02, heat=0.2, tilt=np.deg2rad(0.5), coloured=1.0),
    ),
}


class Run(NamedTuple):
    """An arm, names (U,) of its parameters, their errors in standard deviations, and these over what links have."""

    arm: str
    names: tuple[str, ...]
    errors: FloatArray
    widths: FloatArray


def run_once(name: str, seed: int, with_default: bool = True) -> list[Run]:
    """One recording, with priors of the size of what is wrong, and perhaps with the default ones as well."""
    has, rng = CONDITIONS[name].has, np.random.default_rng([seed, 9])
    arm = DrivenArm(list(ARMS)[seed % len(ARMS)], rng)
    rate = float(rng.choice(_RATES))
    block = record(arm, Motion(len(arm.joints), rng, _SPEED), has, rng, _SECONDS, rate)
    off = np.repeat([has.places, has.axes], 3) * rng.normal(size=(len(arm.joints), 6))
    unit = EffortUnit.NEWTON_METRE
    own = LinksSettings(
        effort_unit=unit,
        delay_uncertainty=abs(has.delay),
        gain_uncertainty=has.gain,
        tilt_uncertainty=has.tilt,
        place_uncertainty=has.places,
        axis_uncertainty=has.axes,
        noise_floor_effort=_FLOOR,
    )
    runs = []
    for links in (own, LinksSettings(effort_unit=unit))[: 1 + with_default]:
        chain = Chain(Robot.from_urdf(arm.urdf(off)), Settings(links=links), Target.LINKS)
        chain.push(block)
        chain.process()
        estimate = chain.estimate()
        assert isinstance(estimate, LinksEstimate)
        truth = estimate.base.combination @ list_truth(arm, has, estimate)
        errors = (estimate.values - truth) / estimate.deviations
        runs.append(Run(arm.name, estimate.names, errors, estimate.deviations / estimate.model.own_sizes))
    return runs


def list_truth(arm: DrivenArm, has: EffortImperfections, estimate: LinksEstimate) -> FloatArray:
    """Standard parameters (F,), friction as the mean over the motion."""
    unknowns = estimate.model.unknowns
    moving = np.linspace(Motion.rest, _SECONDS, 1000) / _SECONDS
    warm = float(np.mean(1.0 - has.heat * (1.0 - np.exp(-2.0 * moving)) / (1.0 - np.exp(-2.0))))
    true = np.zeros(len(unknowns.names))
    true[unknowns.inertial], true[unknowns.rotor_inertia], true[unknowns.offset] = arm.phi(), arm.rotor, arm.offset
    true[unknowns.viscous], true[unknowns.coulomb] = warm * arm.viscous, warm * arm.coulomb
    return true


class Outcome:
    """Runs of one condition.

    Attributes:
        coverage: share of all parameters whose interval holds the truth.
        kinds: the same of each kind of parameter (mcx, ..., offset), of all links and joints.
        arms: both of each arm alone.
        rms: root mean square of errors over standard deviations.
        width: median standard deviation over what a link of its own mass and size has [%].
    """

    def __init__(self, runs: Sequence[Run]) -> None:
        """Gather."""
        names = sorted({run.arm for run in runs})
        self.arms = {name: Outcome([run for run in runs if run.arm == name]) for name in names if len(names) > 1}
        errors = np.concatenate([run.errors for run in runs])
        kinds = np.array([name.rpartition(".")[2] for run in runs for name in run.names])
        inside = np.abs(errors) < _QUANTILE
        self.coverage = float(inside.mean())
        self.kinds = {str(kind): float(inside[kinds == kind].mean()) for kind in np.unique(kinds)}
        self.rms = float(np.sqrt(np.mean(errors**2)))
        self.width = 100.0 * float(np.median(np.concatenate([run.widths for run in runs])))

    @property
    def worst(self) -> str:
        """The kind of parameter that is covered least."""
        return min(self.kinds, key=lambda kind: self.kinds[kind])


def run_many(name: str, runs: int, pool: Executor) -> tuple[Outcome, Outcome]:
    """Seeds from FIRST_SEED on; with priors of the size of what is wrong, and the first of them with default ones."""
    seeds = range(FIRST_SEED, FIRST_SEED + runs)
    both = [index < runs / _DEFAULT_SHARE for index in range(runs)]
    found = list(pool.map(partial(run_once, name), seeds, both, chunksize=5))
    return Outcome([one[0] for one in found]), Outcome([one[1] for one in found if len(one) > 1])


def check(outcome: Outcome) -> list[str]:
    """What is missed of the limits, in words."""
    missed = []
    if not MEAN[0] <= outcome.coverage <= MEAN[1]:
        missed.append(f"mean coverage {100 * outcome.coverage:.1f} %")
    if outcome.kinds[outcome.worst] < WORST:
        missed.append(f"{outcome.worst} {100 * outcome.kinds[outcome.worst]:.1f} %")
    return missed


def format_row(name: str, outcome: Outcome) -> str:
    """A row of the table."""
    worst = f"{100 * outcome.kinds[outcome.worst]:.1f} ({outcome.worst})"
    numbers = f"{100 * outcome.coverage:.1f} | {worst} | {outcome.rms:.2f} | {outcome.width:.2g}"
    return f"| {CONDITIONS[name].title} | {numbers} |"


def format_arms(outcomes: dict[str, Outcome]) -> str:
    """A table of the arms one by one."""
    names = list(dict.fromkeys(arm for outcome in outcomes.values() for arm in outcome.arms))
    lines = ["| efforts | " + " | ".join(names) + " |", "| --- " * (1 + len(names)) + "|"]
    for name, outcome in outcomes.items():
        own = [outcome.arms[arm] for arm in names]
        cells = [f"{100 * one.coverage:.1f}, {100 * one.kinds[one.worst]:.0f} ({one.worst})" for one in own]
        lines.append(f"| {CONDITIONS[name].title} | {' | '.join(cells)} |")
    return "\n".join(lines)


def format_page(own: dict[str, Outcome], default: dict[str, Outcome], runs: int, missed: Sequence[str]) -> str:
    """The page of the documentation."""
    head = "| efforts | mean [%] | worst [%] | rms z | width [%] |\n| --- | --- | --- | --- | --- |"
    tables = ["\n".join([head, *(format_row(*item) for item in part.items())]) for part in (own, default)]
    about = f"Made by `python benchmarks/coverage.py links --write`, {runs} runs per condition."
    limits = f"mean {100 * MEAN[0]:.0f} to {100 * MEAN[1]:.0f} %, no kind of parameter below {100 * WORST:.0f} %"
    parts = [
        "# Coverage of links: how often their intervals hold the truth",
        f"{about} {_ABOUT}",
        _MEANING,
        _OWN,
        tables[0],
        _BY_ARM,
        format_arms(own),
        f"## Default priors\n\nAs somebody gets them who sets nothing; the first {-(-runs // _DEFAULT_SHARE)} runs.",
        tables[1],
        f"## Limits\n\nWith the first priors: {limits}.",
        "\n".join(f"- Missed: {line}." for line in missed) if missed else "All are met.",
    ]
    return "\n\n".join(parts) + "\n"


_MEANING = """\
Coverage is the share of parameters whose 95 % interval (accuracy, systematic error included) holds the truth: of all,
and of that kind of parameter, of all links and joints of all arms, where it is least. rms z is the root mean square of
errors over standard deviations, 1 if they are calibrated; widths are median standard deviations relative to what a link
of its own mass and size has of a parameter, or a joint of what it carries."""
_BY_ARM = """\
The arms one by one, mean and worst kind of parameter of each [%]. An arm has a quarter of the runs, and one to seven
parameters of a kind, so that the worst of ten kinds is some per cent below the others by chance."""
_OWN = """\
## Priors of the size of what is wrong

As somebody sets them who knows the drives: `links.delay_uncertainty`, `links.gain_uncertainty`,
`links.tilt_uncertainty`, `links.place_uncertainty` and `links.axis_uncertainty`, zero for what is right; and
`links.noise_floor_effort` of 0.0001 Nm, far below the noise of all joints."""


def judge(name: str, outcome: Outcome) -> tuple[str, list[str]]:
    """The row of a condition, and what it misses of the limits."""
    return format_row(name, outcome), [f"{CONDITIONS[name].title}: {line}" for line in check(outcome)]
