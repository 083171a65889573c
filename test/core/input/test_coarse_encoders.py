"""Links and loads by encoders with steps of 1e-3 rad, whose velocities are nothing but noise at 1 kHz."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from imperfect import SENSOR, Arm, Imperfections, Motion, random_load
from imperfect import record as record_wrenches
from imperfect_efforts import DrivenArm, EffortImperfections, record
from links_coverage import list_truth

from inertid_ros.core.chain import Chain, Target
from inertid_ros.core.diagnosis import Health
from inertid_ros.core.estimation.estimate import LinksEstimate, LoadEstimate
from inertid_ros.core.estimation.states import ParameterState
from inertid_ros.core.input.joint_stream import JointStream
from inertid_ros.core.records import FloatArray, JointBlock, WrenchBlock
from inertid_ros.core.robot.robot import Robot
from inertid_ros.core.settings.choices import EffortUnit, SignChoice
from inertid_ros.core.settings.settings import LinksSettings, LoadSettings, Settings

RATE = 1000.0
STEP = 1e-3


def find_velocities(positions: FloatArray, driver: str) -> FloatArray | None:
    """What a driver publishes (N, n): nothing, or the last differences."""
    return None if driver == "nothing" else np.diff(positions, axis=0, prepend=positions[:1]) * RATE


@pytest.mark.parametrize("driver", ["nothing", "differences"])
def test_links_called_known_are_right(driver: str) -> None:
    """Before, a fifth of the parameters called known were off by 3 to 9 standard deviations."""
    random, has = np.random.default_rng([4, 5]), EffortImperfections(encoder=STEP)
    arm = DrivenArm("PUMA", random)
    block = record(arm, Motion(len(arm.joints), random, 1.0), has, random, 20.0, RATE)
    links = LinksSettings(effort_unit=EffortUnit.NEWTON_METRE)
    chain = Chain(Robot.from_urdf(arm.urdf()), Settings(links=links), Target.LINKS)
    chain.push(block._replace(velocities=find_velocities(block.positions, driver)))
    chain.process()
    estimate = chain.estimate()
    assert isinstance(estimate, LinksEstimate)
    errors = (estimate.values - estimate.base.combination @ list_truth(arm, has, estimate)) / estimate.deviations
    known = np.array([state is ParameterState.KNOWN for state in estimate.states])
    assert known.mean() > 0.5
    assert np.abs(errors[known]).max() < 3.5
    assert estimate.findings == ()


@pytest.mark.parametrize("driver", ["nothing", "differences"])
def test_a_load_is_known_and_the_wrench_is_not_late(driver: str) -> None:
    """Before, one to four parameters were known, and the wrench was said to be late by 2 ms."""
    random, arm = np.random.default_rng(3), Arm("UR10")
    motion, phi = Motion(6, random, 1.0), random_load(random)
    made = record_wrenches(arm, motion, phi, Imperfections(encoder=STEP), random, 12.0, RATE)
    load = replace(LoadSettings(), sensor_frame=SENSOR, wrench_sign=SignChoice.ON_LOAD)
    chain = Chain(Robot.from_urdf(arm.urdf()), Settings(load=load), Target.LOAD)
    velocities = find_velocities(made.positions, driver)
    chain.push(JointBlock(arm.joints, made.joint_stamps, made.positions, velocities))
    chain.push(WrenchBlock(SENSOR, made.wrench_stamps, made.wrenches))
    chain.process()
    estimate = chain.estimate()
    assert isinstance(estimate, LoadEstimate)
    assert estimate.findings == ()
    assert estimate.states.count(ParameterState.KNOWN) >= 9
    assert np.abs((estimate.values - phi) / estimate.deviations).max() < 3.0


def test_differences_of_coarse_steps_are_no_outliers() -> None:
    health = Health()
    stream = JointStream((0,), (False,), np.full((2, 1), np.inf), 1, 0, health)
    stamps = 1_000_000_000 + 1_000_000 * np.arange(400)
    positions = np.round(0.02 * np.arange(400) / RATE / STEP)[:, None] * STEP
    velocities = np.diff(positions, axis=0, prepend=positions[:1]) * RATE
    assert velocities.max() > 0.9
    stream.push_states(np.array([0]), stamps, positions, velocities)
    assert len(stream.stamps) == len(stamps)
