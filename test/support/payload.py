"""A PUMA without a wrist sensor: its links identified from efforts, and chains that find what it carries."""

from __future__ import annotations

import functools

import numpy as np

from inertid_ros.core.chain import Chain, Target
from inertid_ros.core.equations.model import IdentifiedArm
from inertid_ros.core.records import FloatArray, JointBlock
from inertid_ros.core.rigid_body.inertial import compose
from inertid_ros.core.robot.robot import Robot
from inertid_ros.core.settings.settings import Settings
from inertid_ros.motions.multisine import JointLimits, Multisine
from inertid_ros.sim.arm import JointFriction
from inertid_ros.sim.sensors import SensorModel
from inertid_ros.sim.simulator import Simulator
from support.chain import PUMA
from support.link_chain import estimate_of

LOAD = compose(2.0, np.array([0.02, -0.05, 0.1]), np.diag([0.02, 0.03, 0.01]))
ROBOT = Robot.from_urdf(PUMA)
PERIOD = 15.0


def settings_for(frame: str = "ft_sensor", changes: dict[str, object] | None = None) -> Settings:
    """Efforts in newton metres, and a load in a frame."""
    values: dict[str, object] = {
        "links.effort_unit": "newton_metre",
        "load.source": "effort",
        "load.sensor_frame": frame,
    }
    values |= changes or {}
    return Settings.from_flat(values)


def simulate(
    schedule: list[tuple[float, FloatArray | None]], seed: int, duration: float = PERIOD, rate: float = 200.0
) -> JointBlock:
    """Joint states of an arm with friction that takes and releases loads by a schedule."""
    full = np.ones(6)
    limits = JointLimits(-1.5 * full, 1.5 * full, 2.0 * full, 8.0 * full)
    motion = Multisine(limits, period=duration, harmonics=round(0.4 * duration), seed=seed)
    sensors = SensorModel(joint_rate=rate, encoder_resolution=1e-4, velocity_noise=2e-3, effort_noise=0.2)
    friction = JointFriction(2.0, 3.0, 0.3, 0.5)
    simulator = Simulator(PUMA, "ft_sensor", motion, sensors, schedule, seed=seed, friction=friction)
    return simulator.joints(0.0, duration)


@functools.cache
def identify_arm() -> IdentifiedArm:
    """The arm without a load."""
    chain = Chain(ROBOT, settings_for(), Target.LINKS)
    chain.push(simulate([], 1))
    chain.process()
    return take_arm(chain)


def take_arm(chain: Chain) -> IdentifiedArm:
    """What a chain has found of the arm."""
    estimate = estimate_of(chain)
    joints = estimate.model.arm.joint_names
    return IdentifiedArm(joints, estimate.names, estimate.fitted, estimate.repeatability)


def make_payload_chain(settings: Settings | None = None, arm: IdentifiedArm | None = None) -> Chain:
    """A chain for what the arm carries."""
    return Chain(ROBOT, settings or settings_for(), Target.LOAD, arm=arm or identify_arm())


def weigh(joints: JointBlock, arm: IdentifiedArm | None = None) -> Chain:
    """A chain that has seen all joint states at once."""
    chain = make_payload_chain(arm=arm)
    chain.push(joints)
    chain.process()
    return chain
