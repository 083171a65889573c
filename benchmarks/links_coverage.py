"""Coverage of the 95 % intervals of links on imperfect joint torques: `python benchmarks/links_coverage.py [runs]`.

Priors of what is systematically wrong are those that the imperfections are drawn with. Friction that gets warm is
compared with its mean over the run.
"""

from __future__ import annotations

import sys

import numpy as np
from imperfect import Motion
from imperfect_efforts import CONDITIONS, DrivenArm, EffortImperfections, record

from inertid_ros.core.chain import Chain, Target
from inertid_ros.core.estimation.estimate import LinksEstimate
from inertid_ros.core.records import FloatArray
from inertid_ros.core.robot.robot import Robot
from inertid_ros.core.settings.settings import Settings

_SECONDS, _RATE, _SPEED = 30.0, 250.0, 1.0
_NAMES = ("UR10", "Panda", "PUMA")


def run_once(has: EffortImperfections, seed: int) -> tuple[FloatArray, LinksEstimate]:
    """Errors (U,) in standard deviations, and the estimate."""
    rng = np.random.default_rng([seed, 9])
    arm = DrivenArm(_NAMES[seed % len(_NAMES)], rng)
    block = record(arm, Motion(len(arm.joints), rng, _SPEED), has, rng, _SECONDS, _RATE)
    priors = {"delay_uncertainty": abs(has.delay), "gain_uncertainty": has.gain, "tilt_uncertainty": has.tilt}
    links = {"effort_unit": "newton_metre", **priors}
    settings = Settings.from_flat({f"links.{name}": value for name, value in links.items()})
    chain = Chain(Robot.from_urdf(arm.urdf()), settings, Target.LINKS)
    chain.push(block)
    chain.process()
    estimate = chain.estimate()
    assert isinstance(estimate, LinksEstimate)
    unknowns = estimate.model.unknowns
    moving = np.linspace(Motion.rest, _SECONDS, 1000) / _SECONDS
    warm = float(np.mean(1.0 - has.heat * (1.0 - np.exp(-2.0 * moving)) / (1.0 - np.exp(-2.0))))
    true = np.zeros(len(unknowns.names))
    true[unknowns.inertial], true[unknowns.rotor_inertia], true[unknowns.offset] = arm.phi(), arm.rotor, arm.offset
    true[unknowns.viscous], true[unknowns.coulomb] = warm * arm.viscous, warm * arm.coulomb
    return (estimate.values - estimate.base.combination @ true) / estimate.deviations, estimate


def main() -> None:
    """Print a table."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 30
    print("condition | links [%] | drives [%]")
    for name, has in CONDITIONS.items():
        links: list[FloatArray] = []
        drives: list[FloatArray] = []
        for seed in range(runs):
            errors, estimate = run_once(has, seed)
            inertial = estimate.base.columns < estimate.model.unknowns.inertial.stop
            links.append(np.abs(errors[inertial]) < 1.96)
            drives.append(np.abs(errors[~inertial]) < 1.96)
        covered = [100.0 * float(np.mean(np.concatenate(part))) for part in (links, drives)]
        print(f"{name} | {covered[0]:.1f} | {covered[1]:.1f}", flush=True)


if __name__ == "__main__":
    main()
