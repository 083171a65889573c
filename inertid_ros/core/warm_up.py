"""Compiles the kernels, or loads them from the cache, before the first sample comes."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np

from inertid_ros.core.chain import Chain, Target
from inertid_ros.core.checks.gravity_hypotheses import divide
from inertid_ros.core.diagnosis import Health
from inertid_ros.core.estimation.change import looks_the_same, weigh_change
from inertid_ros.core.estimation.products import PRODUCTS, ProductSums
from inertid_ros.core.estimation.sensor_equation import NUISANCES, find_coefficients
from inertid_ros.core.estimation.systematic import update
from inertid_ros.core.input.base_tilt import BaseTilt
from inertid_ros.core.records import ImuBlock, JointBlock, WrenchBlock
from inertid_ros.core.robot.robot import Robot
from inertid_ros.core.settings.choices import EffortUnit, Method, Source
from inertid_ros.core.settings.settings import LinksSettings, LoadSettings, Settings

_SAMPLES = 300
"""Samples that are carried through each chain: 3 s, enough for standstill, rows and decisions."""
_PERIOD = 10_000_000
"""Time [ns] between them."""
_PIECES = 6
"""Pieces of a load after which the scatter of its scores is found."""

_INERTIAL = '<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
_LIMIT = '<limit lower="-3" upper="3" velocity="3" effort="100"/>'
_ARM = f"""
<robot name="arm"><link name="base"/><link name="first">{_INERTIAL}</link><link name="second">{_INERTIAL}</link>
<joint name="one" type="revolute"><parent link="base"/><child link="first"/><axis xyz="0 0 1"/>{_LIMIT}</joint>
<joint name="two" type="revolute"><parent link="first"/><child link="second"/><axis xyz="0 1 0"/>{_LIMIT}</joint>
</robot>
"""


@cache
def warm_up() -> None:
    """Carry some samples of a small arm through a chain of each target, one by one; does nothing the second time.

    Compiled code does not depend on the robot, so this is all that has to be compiled for any other one.
    """
    robot = Robot.from_urdf(_ARM)
    links = LinksSettings(effort_unit=EffortUnit.NEWTON_METRE)
    settings = Settings(load=LoadSettings(sensor_frame="second"), links=links)
    both = replace(settings, links=replace(links, source=Source.BOTH))
    energy = replace(settings, links=replace(links, method=Method.ENERGY))
    chains = [
        Chain(robot, settings, Target.LOAD),
        Chain(robot, settings, Target.LINKS),
        Chain(robot, both, Target.LINKS),
        Chain(robot, energy, Target.LINKS),
    ]
    angles = np.maximum(0.0, np.arange(_SAMPLES) - 0.8 * _SAMPLES) * 0.02
    for index, angle in enumerate(angles.tolist(), start=1):
        stamps = np.array([index * _PERIOD])
        state = np.array([[np.sin(angle), np.cos(angle)]])
        blocks = (
            JointBlock(("one", "two"), stamps, state, state[:, ::-1].copy(), state),
            WrenchBlock("second", stamps + _PERIOD // 2, np.ones((1, 6))),
            WrenchBlock("base", stamps + _PERIOD // 2, np.ones((1, 6))),
        )
        for chain in chains:
            for block in blocks[:2] if chain.target is Target.LOAD else blocks[::2]:
                chain.take(block)
                chain.answer()
    for chain in chains:
        chain.estimate()
    BaseTilt(robot, np.array(settings.gravity), Health()).take(
        ImuBlock("base", np.array([_PERIOD]), np.array([[0.0, 0.0, 9.8]]), np.zeros((1, 3)), np.zeros((1, 2)))
    )
    sums = ProductSums(np.eye(NUISANCES))
    for _ in range(_PIECES):
        sums.add(np.ones(PRODUCTS), np.ones(6), np.ones(6), np.ones(6), 1.0)
        sums.begin_piece(np.ones(6))
        update(sums)
    looks_the_same(sums, find_coefficients(sums.values), sums.known_noise, 1)
    weigh_change(sums, sums.total, sums.window(1))
    divide(np.eye(3), np.eye(3), np.ones(3))
