"""How often 95 % intervals of a load hold the truth, on wrist sensors that are wrong in one way, or in all.

Recordings are made by `benchmarks/imperfect.py`, which shares nothing with the estimator: two seconds of standstill and
ten of random motion with a random load, on an arm and at a rate that are drawn for each run; or the one move of the
DDArm in Atkeson et al. 1986. What is wrong is drawn from a normal distribution of the size that the table says, but for
the delay, which is the same in all runs.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np
from imperfect import (
    ARMS,
    SENSOR,
    Arm,
    FloatArray,
    Imperfections,
    Motion,
    QuinticMoves,
    Recording,
    random_load,
    record,
)

from inertid_ros.core.chain import Chain, Target
from inertid_ros.core.estimation.estimate import LoadEstimate, Mode
from inertid_ros.core.records import BoolArray, JointBlock, WrenchBlock
from inertid_ros.core.rigid_body.inertial import PARAMETER_NAMES
from inertid_ros.core.robot.robot import Robot
from inertid_ros.core.settings.choices import SignChoice
from inertid_ros.core.settings.settings import LoadSettings, Settings
from inertid_ros.core.tasks.wrist import WristLoadTask

MEAN = 0.92, 0.98
"""Limits of the mean coverage."""
WORST = 0.87
"""Least coverage of a single parameter."""
WIDEST = 1.3
"""Largest ratio of the widths to those of the plain solution, ideal sensors and no priors."""
_ABOUT = " ".join((__doc__ or "").split("\n\n")[1].split())
_QUANTILE = 1.959964
_SECONDS = 12.0
_RATES = 125.0, 250.0, 500.0, 1000.0
_MOVE_1986 = np.radians([[80.0, 269.1, -30.0], [330.0, 19.1, 220.0]])
_MOVE_SECONDS = 1.3

MILD = Imperfections(
    tachometer=0.005,
    jitter=2e-4,
    delay=2e-3,
    gain=0.003,
    cross_talk=0.003,
    tilt=np.radians(0.2),
    drift=0.01,
    coloured=0.5,
    correlation=0.1,
)
"""All that is mild together."""


class Condition(NamedTuple):
    """What is wrong, and whether the arm makes the move of 1986."""

    title: str
    has: Imperfections
    is_1986: bool = False


CONDITIONS = {
    "ideal": Condition("ideal", Imperfections()),
    "delay": Condition("wrench 4 ms late", Imperfections(delay=4e-3)),
    "tilt": Condition("gravity 0.5° off", Imperfections(tilt=np.radians(0.5))),
    "gain": Condition("gain 1 % per axis", Imperfections(gain=0.01)),
    "cross": Condition("cross-talk 1 %", Imperfections(cross_talk=0.01)),
    "mounting": Condition(
        "sensor turned by 0.5° and shifted by 2 mm per axis", Imperfections(rotation=np.radians(0.5), offset=2e-3)
    ),
    "colour20": Condition("half the noise correlated over 20 ms", Imperfections(coloured=0.5, correlation=0.02)),
    "colour500": Condition("half the noise correlated over 0.5 s", Imperfections(coloured=0.5, correlation=0.5)),
    **{
        f"tacho{1e3 * size:g}": Condition(f"tachometer {size:g} rad/s", Imperfections(tachometer=size))
        for size in (0.005, 0.01, 0.02)
    },
    **{
        f"1986tacho{1e3 * size:g}": Condition(
            f"DDArm, move of 1986, tachometer {size:g} rad/s", Imperfections(tachometer=size), True
        )
        for size in (0.005, 0.01, 0.02)
    },
    "drift": Condition("bias drifts by 0.02 N/√s", Imperfections(drift=0.02)),
    "jitter": Condition("stamps jitter by 0.2 ms", Imperfections(jitter=2e-4)),
    "mild": Condition("all that is mild together", MILD),
}


class Run(NamedTuple):
    """Errors (10,), accuracy (10,), that of the plain solution without nuisances (10,), the load (10,), tracking?"""

    errors: FloatArray
    deviations: FloatArray
    plain: FloatArray
    truth: FloatArray
    tracks: bool


class Outcome(NamedTuple):
    """The same of R runs."""

    errors: FloatArray
    deviations: FloatArray
    plain: FloatArray
    truth: FloatArray
    tracks: BoolArray

    @property
    def coverage(self) -> FloatArray:
        """Share of runs whose 95 % interval holds the truth (10,)."""
        return np.asarray(np.mean(np.abs(self.errors) < _QUANTILE * self.deviations, axis=0))

    @property
    def rms(self) -> float:
        """Root mean square of errors over their standard deviations."""
        return float(np.sqrt(np.mean((self.errors / self.deviations) ** 2)))

    @property
    def width(self) -> FloatArray:
        """Median standard deviations (3,), in percent of mass, size of the first moments, and of the inertias."""
        parts = (slice(0, 1), slice(1, 4), slice(4, 10))
        sizes = [np.linalg.norm(self.truth[:, part], axis=1, keepdims=True) for part in parts]
        relative = [self.deviations[:, part] / size for part, size in zip(parts, sizes, strict=True)]
        return 100.0 * np.array([np.median(one) for one in relative])

    @property
    def ratio(self) -> float:
        """Median ratio of the widths to those of the plain solution, of the parameter where it is largest."""
        return float(np.median(self.deviations / self.plain, axis=0).max())


def priors_of(has: Imperfections) -> LoadSettings:
    """Settings of somebody who knows how good the sensor is."""
    return LoadSettings(
        delay_uncertainty=abs(has.delay),
        tilt_uncertainty=has.tilt,
        gain_uncertainty=has.gain,
        cross_talk=has.cross_talk,
        rotation_uncertainty=has.rotation,
        offset_uncertainty=has.offset,
    )


def make_chain(arm: Arm, priors: LoadSettings) -> Chain:
    """The program under test."""
    load = replace(priors, sensor_frame=SENSOR, wrench_sign=SignChoice.ON_LOAD)
    return Chain(Robot.from_urdf(arm.urdf()), Settings(load=load), Target.LOAD)


def draw_recording(name: str, seed: int) -> tuple[Arm, Recording]:
    """One recording of a condition."""
    condition, rng = CONDITIONS[name], np.random.default_rng(seed)
    arm = Arm("DDArm" if condition.is_1986 else list(ARMS)[rng.integers(len(ARMS))])
    rate, phi = float(rng.choice(_RATES)), random_load(rng)
    motion: Motion | QuinticMoves = Motion(len(arm.joints), rng, 1.0)
    seconds = _SECONDS
    if condition.is_1986:
        motion, seconds = QuinticMoves(_MOVE_1986, _MOVE_SECONDS), QuinticMoves.rest + _MOVE_SECONDS
    return arm, record(arm, motion, phi, condition.has, rng, seconds, rate)


def run_once(name: str, seed: int) -> tuple[Run, Run]:
    """One recording, with priors of the size of what is wrong, and with the default ones."""
    arm, recording = draw_recording(name, seed)
    runs = []
    for priors in (priors_of(CONDITIONS[name].has), LoadSettings()):
        chain = make_chain(arm, priors)
        chain.push(JointBlock(arm.joints, recording.joint_stamps, recording.positions, recording.velocities))
        chain.push(WrenchBlock(SENSOR, recording.wrench_stamps, recording.wrenches))
        chain.process()
        estimate = chain.estimate()
        assert isinstance(estimate, LoadEstimate)
        task = chain._task  # noqa: SLF001 - what the widths are compared with is shown to nobody else
        assert isinstance(task, WristLoadTask)
        plain = np.sqrt(np.diag(task._estimator.covariance())[:10])  # noqa: SLF001
        is_tracking = estimate.mode is Mode.TRACKING
        runs.append(Run(estimate.values - recording.phi, estimate.deviations, plain, recording.phi, is_tracking))
    return runs[0], runs[1]


def gather(runs: Sequence[Run]) -> Outcome:
    """Runs as one outcome."""
    return Outcome(*(np.array(column) for column in zip(*runs, strict=True)))


def run_many(name: str, runs: int, pool: Executor) -> tuple[Outcome, Outcome]:
    """Seeds 0, 1, 2, ...; with priors of the size of what is wrong, and with the default ones."""
    pairs = list(pool.map(partial(run_once, name), range(runs), chunksize=5))
    return gather([pair[0] for pair in pairs]), gather([pair[1] for pair in pairs])


def check(name: str, outcome: Outcome) -> list[str]:
    """What is missed of the limits, in words."""
    coverage, missed = outcome.coverage, []
    if not MEAN[0] <= coverage.mean() <= MEAN[1]:
        missed.append(f"mean coverage {100 * coverage.mean():.1f} %")
    if coverage.min() < WORST:
        missed.append(f"{PARAMETER_NAMES[coverage.argmin()]} {100 * coverage.min():.1f} %")
    if name == "ideal" and outcome.ratio > WIDEST:
        missed.append(f"{outcome.ratio:.2f} times as wide as the plain solution")
    return missed


def format_table(outcomes: dict[str, Outcome]) -> str:
    """A row for each condition."""
    lines = [
        "| sensors | mean [%] | worst [%] | rms z | width of m, mc, I [%] | other than tracking at the end |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for name, outcome in outcomes.items():
        coverage = outcome.coverage
        lines.append(
            f"| {CONDITIONS[name].title} | {100 * coverage.mean():.1f} "
            f"| {100 * coverage.min():.1f} ({PARAMETER_NAMES[coverage.argmin()]}) | {outcome.rms:.2f} "
            f"| {', '.join(f'{width:.2g}' for width in outcome.width)} | {np.sum(~outcome.tracks)} |"
        )
    return "\n".join(lines)


_MEANING = """\
Coverage is the share of runs whose 95 % interval (accuracy, systematic error included) holds the truth, mean and worst
of the ten parameters; rms z is the root mean square of errors over standard deviations, 1 if they are calibrated;
widths are median standard deviations relative to the mass and to the sizes of first moments and inertias."""
_OWN = """\
## Priors of the size of what is wrong

As somebody sets them who has the sensor's data sheet: `load.delay_uncertainty`, `load.tilt_uncertainty`,
`load.gain_uncertainty`, `load.cross_talk`, `load.rotation_uncertainty` and `load.offset_uncertainty`; zero for what is
right."""


def format_page(own: dict[str, Outcome], default: dict[str, Outcome], runs: int, missed: list[str]) -> str:
    """The page of the documentation."""
    about = f"Made by `python benchmarks/coverage.py --write`, {runs} runs per condition. {_ABOUT}"
    parts = ["# Coverage: how often intervals hold the truth", about, _MEANING, _OWN, format_table(own)]
    if "ideal" in own:
        ratio = f"{own['ideal'].ratio:.2f} times as wide as those of the plain solution (16 unknowns, no nuisances)"
        parts.append(f"With ideal sensors and no priors, intervals are {ratio}, where that ratio is largest.")
    parts += ["## Default priors\n\nAs somebody gets them who sets nothing.", format_table(default)]
    limits = f"mean {100 * MEAN[0]:.0f} to {100 * MEAN[1]:.0f} %, no parameter below {100 * WORST:.0f} %"
    parts.append(f"## Limits\n\nWith the first priors: {limits}, widths with ideal sensors at most {WIDEST} times.")
    parts.append("\n".join(f"- Missed: {line}." for line in missed) if missed else "All are met.")
    return "\n\n".join(parts) + "\n"


def judge(name: str, outcome: Outcome) -> tuple[str, list[str]]:
    """The row of a condition, and what it misses of the limits."""
    missed = [f"{CONDITIONS[name].title}: {line}" for line in check(name, outcome)]
    return format_table({name: outcome}).splitlines()[-1], missed
