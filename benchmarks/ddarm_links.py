"""The paper's link experiment, simulated: an arm that is the paper's estimate, a URDF that is its CAD model.

Three moves of 1.3 s, with 2 Nm of noise in the torques and 0.01 rad/s in the tachometers. Each is a recording of its
own, with half a second of standstill before and 0.2 s after. A fourth move, never used, tests what was learned.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import NamedTuple

import numpy as np
import pinocchio as pin

from inertid_ros.core.chain import Chain, Target
from inertid_ros.core.equations.model import LinkModel
from inertid_ros.core.estimation.estimate import LinksEstimate
from inertid_ros.core.records import FloatArray, Output
from inertid_ros.core.robot.robot import Robot
from inertid_ros.core.settings.choices import EffortUnit
from inertid_ros.core.settings.settings import LinksSettings, Settings
from inertid_ros.files.share import share_path
from inertid_ros.motions.motion import MinimumJerk, Motion, paper_ddarm_link_moves, with_rest
from inertid_ros.sim.arm import links_of, paper_ddarm_links, with_links
from inertid_ros.sim.sensors import paper_ddarm_link_sensors
from inertid_ros.sim.simulator import DEFAULT_START, Simulator

URDF = share_path("urdf", "ddarm.urdf").read_text()
FOURTH_MOVE = MinimumJerk(np.radians([[80.0, 289.1, 230.0], [330.0, 39.1, -10.0]]), [1.3])
"""The way of the paper's first move, with joint 1 going the other way."""
_SECOND = 1_000_000_000


class DDArmRun(NamedTuple):
    """One run.

    Attributes:
        filtered: relative rms error of the fourth move's torques, true and predicted both after the chain's filters.
        sampled: the same at every sample, as it is published.
        unavoidable: as `sampled`, with the true parameters.
        modelled: the same for the true motion instead of the measured one: of the parameters alone.
        per_joint: (3,) as `filtered`, of each joint's own rms.
        cad: as `filtered`, with the URDF's parameters.
        errors, deviations: (U,) of the base parameters.
    """

    filtered: float
    sampled: float
    unavoidable: float
    modelled: float
    per_joint: FloatArray
    cad: float
    errors: FloatArray
    deviations: FloatArray


@cache
def paper_arm() -> Robot:
    """The robot of the shipped URDF."""
    return Robot.from_urdf(URDF)


@cache
def estimated_links() -> FloatArray:
    """The paper's estimates (3, 10), the truth of these experiments."""
    return paper_ddarm_links(links_of(paper_arm()))


def run_ddarm(with_drives: bool, seed: int) -> DDArmRun:
    """Learn from the three moves in one causal pass, then predict the fourth with what was learned."""
    chain, estimate = learn(with_drives, seed)
    model = estimate.model
    truth = model.base.combination[:, model.unknowns.inertial] @ estimated_links().ravel()
    sets = estimate.values, model.prior, truth
    found, cad, best = (_predict_fourth(chain, seed, index, values) for index, values in enumerate(sets, start=3))
    return DDArmRun(
        filtered=_relate(found.rows.measured, found.rows.predicted).item(),
        sampled=_relate(found.measured, found.predicted).item(),
        unavoidable=_relate(best.measured, best.predicted).item(),
        modelled=_relate_on_true_motion(model, estimate.values),
        per_joint=np.array([_relate(found.rows.measured[:, k], found.rows.predicted[:, k]) for k in range(3)]),
        cad=_relate(cad.rows.measured, cad.rows.predicted).item(),
        errors=estimate.values - truth,
        deviations=np.sqrt(np.diag(estimate.covariance)),
    )


def learn(with_drives: bool, seed: int) -> tuple[Chain, LinksEstimate]:
    """A chain that has seen the three moves, and what it has found."""
    chain = _make_chain(with_drives)
    for index, move in enumerate(paper_ddarm_link_moves()):
        motion = with_rest(move, 0.5, 0.2)
        chain.push(simulate(motion, seed, index).joints(0.0, motion.duration))
        chain.process()
    estimate = chain.estimate()
    assert isinstance(estimate, LinksEstimate)
    return chain, estimate


def base_names(with_drives: bool) -> tuple[str, ...]:
    """The parameters that stand for the base parameters of a run."""
    model = _make_chain(with_drives).model
    assert model is not None
    return tuple(model.base.names[column] for column in model.base.columns)


def _make_chain(with_drives: bool) -> Chain:
    links = LinksSettings(
        effort_unit=EffortUnit.NEWTON_METRE,
        joints=list(paper_arm().joint_names),
        viscous=with_drives,
        coulomb=with_drives,
        rotor_inertia=with_drives,
        offset=with_drives,
    )
    return Chain(paper_arm(), Settings(links=links), Target.LINKS)


def simulate(motion: Motion, seed: int, index: int, noise: float = 2.0) -> Simulator:
    """One of a run's recordings, ten seconds after the one before."""
    sensors = replace(paper_ddarm_link_sensors(seed), effort_noise=noise)
    start = DEFAULT_START + 10 * index * _SECOND
    return Simulator(
        URDF, "ft_sensor", motion, sensors, seed=10 * seed + index, start_stamp=start, links=estimated_links()
    )


def _predict_fourth(chain: Chain, seed: int, index: int, values: FloatArray) -> Output:
    """Predict from noisy tachometers; what is compared with has no noise."""
    motion = with_rest(FOURTH_MOVE, 0.5, 0.2)
    chain.freeze(values)
    chain.push(simulate(motion, seed, index, noise=0.0).joints(0.0, motion.duration))
    output = chain.process()
    assert output is not None
    return output


def _relate_on_true_motion(model: LinkModel, values: FloatArray) -> float:
    path = FOURTH_MOVE.at(np.linspace(0.0, FOURTH_MOVE.duration, 200))
    equation = model.equation
    true = with_links(paper_arm(), estimated_links()).model
    true.gravity.linear = model.arm.model.gravity.linear
    data = true.createData()
    efforts = np.array([pin.rnea(true, data, *state) for state in zip(*path, strict=True)])
    return _relate(efforts, equation.assemble(equation.compute(*path)) @ values).item()


def _relate(measured: FloatArray, predicted: FloatArray) -> np.float64:
    return np.float64(np.linalg.norm(measured - predicted) / np.linalg.norm(measured))
