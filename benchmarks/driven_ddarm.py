"""The direct drive arm of the thesis, driven by efforts: its links are the paper's estimate, its URDF the CAD model.

What the thesis does not print is set by a rule and never fitted to what is tested. Motors: Coulomb friction of 1 % of
the peak torque, viscous friction of 0.1 % per rad/s, and 0.2 % of random torque; joint 3, whose motor and bearing are
said to dominate its light link, has as much Coulomb friction as the link itself takes in the move (rms), 10 Nm.
Sensors: resolvers of 16 bits and tachometers with 0.01 rad/s of noise. Feedback: critically damped, and as stiff in
joints 1 and 2 as the paper's, which follows from the errors of its digital PD controller; in joint 3, of which no such
error is printed but that its gains were high, as stiff as a controller at 133 Hz can be that takes one period to
compute, with a phase margin of 45°.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import NamedTuple

import numpy as np
from ddarm_links import URDF, estimated_links, paper_arm
from scipy.optimize import brentq

from inertid_ros.control.controllers import Gains, PDController, Reference
from inertid_ros.control.feedforward import model_of_estimate
from inertid_ros.control.inverse_model import DecoupledModel, InverseModel
from inertid_ros.core.chain import Chain, Target
from inertid_ros.core.equations.model import LinkModel
from inertid_ros.core.estimation.estimate import LinksEstimate
from inertid_ros.core.records import FloatArray, JointBlock
from inertid_ros.core.settings.settings import Settings
from inertid_ros.motions.motion import Motion, find_ends, paper_ddarm_link_moves, with_rest
from inertid_ros.sim.arm import JointFriction
from inertid_ros.sim.driven import Controller, Drive
from inertid_ros.sim.sensors import SensorModel, paper_ddarm_link_sensors
from inertid_ros.sim.simulator import DEFAULT_START, Simulator

MOVE = paper_ddarm_link_moves()[2]
"""(80, 269.1, -30)° to (330, 19.1, 220)° in 1.3 s."""
SLOW, FAST = 133.0, 1000.0
"""Rates of the digital controllers [Hz]."""
MARGIN = np.radians(45.0)
"""Phase margin of feedback that is as stiff as its rate allows."""
DAMPING = 1.0
PAPER_FREQUENCIES = {0.0: (13.2, 21.1), 0.5: (15.3, 26.5), 1.0: (18.9, 39.8)}
"""Natural frequencies [rad/s] of joints 1 and 2 with which PD control at 133 Hz has the peak errors that the paper
prints, 4.4° and 3.5°, by how many periods its reference is late, which the paper does not say."""
LIMITS = np.array([660.0, 230.0, 230.0])
"""Peak torques of the motors [Nm]."""
FRICTION = JointFriction(viscous_friction=0.001 * LIMITS, coulomb_friction=np.array([6.6, 2.3, 10.0]))
DRIVE_NOISE = 0.002 * LIMITS


class Models(NamedTuple):
    """What controllers know: the CAD model, and what the live chain identified without and with friction."""

    cad: InverseModel
    rigid: InverseModel
    full: InverseModel


@cache
def find_frequency(rate: float) -> float:
    """Stiffest feedback at a rate [Hz], as a natural frequency [rad/s]: L = (ω² + 2 ζ ω s) / s² exp(-1.5 s T)."""

    def miss(frequency: float) -> float:
        root = 2.0 * DAMPING**2 + np.sqrt(4.0 * DAMPING**4 + 1.0)
        crossover = frequency * np.sqrt(root)
        lead = np.arctan2(2.0 * DAMPING * crossover, frequency)
        return float(lead - 1.5 / rate * crossover - MARGIN)

    return float(brentq(miss, 1.0, rate))


def find_paper_frequencies(late: float = 0.0) -> FloatArray:
    """Natural frequencies (3,) [rad/s] of the paper's feedback, if its reference is late by so many periods."""
    return np.array([*PAPER_FREQUENCIES[late], find_frequency(SLOW)])


def make_gains(frequencies: FloatArray | float) -> Gains:
    """Of feedback with natural frequencies [rad/s], by the arm's mean inertias in the move: adjusted on the arm."""
    path = MOVE.at(np.linspace(0.0, MOVE.duration, 100))
    inertias = np.diagonal(_make_true().inertia(path.positions), axis1=1, axis2=2).mean(axis=0)
    return Gains.of_inertias(inertias, frequencies, DAMPING)


def make_settings(with_drives: bool) -> Settings:
    """Settings of the chain, whose unknowns are the links, and what their drives add or not."""
    drives = {f"links.{name}": with_drives for name in ("viscous", "coulomb", "rotor_inertia", "offset")}
    return Settings.from_flat({"links.effort_unit": "newton_metre", **drives})


@cache
def make_cad() -> InverseModel:
    """The model of the URDF."""
    model = LinkModel.from_settings(paper_arm(), make_settings(False), paper_arm().joint_names)
    return InverseModel(model, model.prior)


@cache
def _make_true() -> InverseModel:
    """The arm itself, without friction."""
    model = make_cad().model
    return InverseModel(model, model.base.combination[:, model.unknowns.inertial] @ estimated_links().ravel())


def make_decoupled(model: InverseModel) -> DecoupledModel:
    """The decoupled model of section 6.5."""
    return DecoupledModel(model, np.random.default_rng(0).uniform(-np.pi, np.pi, (1000, 3)))


def move(
    controller: Controller,
    motion: Motion,
    rate: float,
    latency: float,
    seed: int,
    duration: float,
    sensors: SensorModel | None = None,
    start: int = DEFAULT_START,
) -> JointBlock:
    """What is measured of the arm under a controller, from the begin of a motion on."""
    drive = Drive(np.asarray(find_ends(motion)[0]), controller, rate, latency, DRIVE_NOISE)
    known = paper_ddarm_link_sensors(seed) if sensors is None else sensors
    simulator = Simulator(
        URDF, "ft_sensor", drive, known, seed=seed, start_stamp=start, friction=FRICTION, links=estimated_links()
    )
    return simulator.joints(0.0, duration)


def identify(seed: int) -> Models:
    """Identify the arm by the live chain, from the paper's three moves under PD control with a velocity reference."""
    blocks, gains = [], make_gains(find_paper_frequencies())
    for number, motion in enumerate(paper_ddarm_link_moves()):
        whole = with_rest(motion, 0.5, 0.2)
        controller = PDController(Reference(whole, FAST), gains)
        start = DEFAULT_START + 10_000_000_000 * number
        blocks.append(move(controller, whole, FAST, 0.0, 100 * seed + number, whole.duration, start=start))
    found = []
    for with_drives in (False, True):
        settings = make_settings(with_drives)
        links = replace(settings.links, joints=list(paper_arm().joint_names))
        settings = replace(settings, links=links)
        chain = Chain(paper_arm(), settings, Target.LINKS)
        for block in blocks:
            chain.push(block)
            chain.process()
        estimate = chain.estimate()
        assert isinstance(estimate, LinksEstimate)
        found.append(model_of_estimate(estimate, settings))
    return Models(make_cad(), *found)
