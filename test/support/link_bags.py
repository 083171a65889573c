"""Bags of a simulated direct drive arm whose links are not those of its URDF."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from inertid_ros.core.records import FloatArray
from inertid_ros.core.robot.robot import Robot
from inertid_ros.core.settings.choices import EffortUnit, Source
from inertid_ros.core.settings.settings import LinksSettings, Settings
from inertid_ros.motions.motion import Motion, Repeat, paper_ddarm_link_moves, round_trip
from inertid_ros.sim.arm import JointFriction, links_of
from inertid_ros.sim.sensors import paper_ddarm_link_sensors
from inertid_ros.sim.simulator import DEFAULT_START, Simulator
from support.bags import Message, joint_messages, text_message, wrench_messages
from support.chain import DDARM

HEAVIER = 1.3
"""So many times what the URDF says: of all parameters of all links."""
FRICTION = JointFriction(
    np.array([2.0, 1.5, 1.0]), np.array([3.0, 2.0, 1.0]), np.array([0.4, 0.3, 0.2]), np.array([1.0, -2.0, 0.5])
)
BY_EFFORT = Settings(estimators=["links"], links=LinksSettings(effort_unit=EffortUnit.NEWTON_METRE))
BY_BASE = Settings(estimators=["links"], links=LinksSettings(source=Source.BASE_WRENCH))
BY_BOTH = Settings(estimators=["links"], links=LinksSettings(source=Source.BOTH, effort_unit=EffortUnit.NEWTON_METRE))


def true_links() -> FloatArray:
    """Parameters (3, 10) of the links that the bags are made with."""
    return HEAVIER * links_of(Robot.from_urdf(DDARM))


def simulate_ddarm(
    seed: int = 0, motion: Motion | None = None, start: float = 0.0, effort_noise: float = 0.2
) -> Simulator:
    """An arm that goes through the paper's three moves, with friction; `start` is added to all stamps [s]."""
    sensors = replace(paper_ddarm_link_sensors(seed), effort_noise=effort_noise)
    return Simulator(
        DDARM,
        "ft_sensor",
        Repeat(round_trip(paper_ddarm_link_moves())) if motion is None else motion,
        sensors,
        seed=seed,
        start_stamp=DEFAULT_START + round(start * 1e9),
        friction=FRICTION,
        links=true_links(),
    )


def ddarm_messages(
    simulator: Simulator, seconds: float, base: bool = False, wrist: bool = False, description: str = DDARM
) -> list[Message]:
    """A simulation as it would be recorded, in the order of recording."""
    messages = list(joint_messages(simulator.joints(0.0, seconds)))
    if base:
        messages += wrench_messages(simulator.base_wrenches(0.0, seconds), "/base_wrench")
    if wrist:
        messages += wrench_messages(simulator.wrenches(0.0, seconds))
    messages.sort(key=lambda message: message[2])
    return ([text_message(description, messages[0][2])] if description else []) + messages
