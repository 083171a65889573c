"""One experiment with a known load: which arm carries it, how it moves, what is measured, and how the load is found."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from ddarm_links import estimated_links, learn

from inertid_ros.core.chain import Chain, Target
from inertid_ros.core.equations.model import IdentifiedArm
from inertid_ros.core.estimation.estimate import LoadEstimate
from inertid_ros.core.records import FloatArray
from inertid_ros.core.robot.robot import Robot
from inertid_ros.core.settings.choices import Method
from inertid_ros.core.settings.settings import LoadSettings, Settings
from inertid_ros.files.parameters import load_from_yaml
from inertid_ros.files.share import share_path
from inertid_ros.motions.motion import LOAD_MOVES, TEST_MOVES, Hold, Motion, with_rest
from inertid_ros.sim.sensors import SensorModel, paper_ddarm_sensors, paper_puma_sensors
from inertid_ros.sim.simulator import DEFAULT_START, Simulator

EXACT = LoadSettings(
    sensor_frame="ft_sensor",
    delay_uncertainty=0.0,
    tilt_uncertainty=0.0,
    gain_uncertainty=0.0,
    cross_talk=0.0,
    rotation_uncertainty=0.0,
    offset_uncertainty=0.0,
)
"""The simulated sensors have noise, steps and bias, but neither delay nor tilt, wrong gains, cross-talk or mounting."""
ONE_MOVE, TEST_MOTIONS, SIX_POSES = "", "test motions", "six poses"
_MOVES = {ONE_MOVE: LOAD_MOVES, TEST_MOTIONS: TEST_MOVES}
_WRISTS = ((0, 90, 0), (0, -90, 0), (90, 90, 0), (-90, 90, 0), (90, 90, 90), (90, 90, -90))
REST_POSES = np.radians([(20.0 * turn, -90.0, 180.0, *wrist) for turn, wrist in enumerate(_WRISTS)])
"""Six poses of the PUMA, in which the sensor's axes point up and down in turn; the paper does not print its own."""
REST = 5.0
"""Seconds in each of them: the paper's 1000 samples at 200 Hz."""
EFFORT_NOISE = 2.0
"""Of the direct drive arm's torques, as in its link experiments, Nm."""
_TITLES = {"puma560": "PUMA", "ddarm": "DDArm", "aluminium_block": "block", "bar": "bar"}
_APART = 10_000_000_000
"""Between the starts of two recordings, ns."""


class Case(NamedTuple):
    """What is done, measured and computed.

    Attributes:
        arm, load: of those that are shipped.
        method: of the rows.
        motion: the paper's one move with a load, its test motions, or six poses at rest; each of them is a recording of
            its own.
        differences: the direct drive arm has no tachometers, and velocities are differences of its positions at this
            rate [Hz]; 0: it has.
        is_by_efforts: found from joint torques, with the arm as identified without load from the paper's three moves
            (`ddarm_links`), instead of a wrist sensor.
    """

    arm: str
    load: str
    method: str = "filtered"
    motion: str = ONE_MOVE
    differences: float = 0.0
    is_by_efforts: bool = False

    @property
    def title(self) -> str:
        """Of a row."""
        parts = (
            f"{_TITLES[self.arm]} {_TITLES[self.load]}",
            self.motion,
            f"no tachometers, {self.differences:g} Hz" if self.differences else "",
            "by joint torques" if self.is_by_efforts else "",
        )
        return ", ".join(part for part in parts if part)

    @property
    def has_inertia(self) -> bool:
        """Whether the motion tells the moments of inertia."""
        return self.motion != SIX_POSES


def run_once(case: Case, seed: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """One simulated experiment: error (10,), standard deviation (10,) and COM error (3,)."""
    urdf = share_path("urdf", f"{case.arm}.urdf").read_text()
    truth = load_from_yaml(share_path("config", "loads", f"{case.load}.yaml"))
    chain, links = _make_chain(case, Robot.from_urdf(urdf), seed)
    for index, motion in enumerate(_make_motions(case)):
        simulator = Simulator(
            urdf,
            "ft_sensor",
            motion,
            make_sensors(case, seed),
            [(0.0, truth)],
            seed=seed + 1000 * index,
            start_stamp=DEFAULT_START + index * _APART,
            links=links,
        )
        chain.push(simulator.joints(0.0, motion.duration))
        if not case.is_by_efforts:
            chain.push(simulator.wrenches(0.0, motion.duration))
        chain.process()
    estimate = chain.estimate()
    assert isinstance(estimate, LoadEstimate)
    found = estimate.values
    return found - truth, estimate.deviations, found[1:4] / found[0] - truth[1:4] / truth[0]


def _make_chain(case: Case, robot: Robot, seed: int) -> tuple[Chain, FloatArray | None]:
    """What finds the load, and the links of the arm that carries it; None for those of the URDF."""
    settings = Settings(load=replace(EXACT, method=Method(case.method)))
    if not case.is_by_efforts:
        return Chain(robot, settings, Target.LOAD), None
    unloaded, estimate = learn(True, seed)
    joints = estimate.model.arm.joint_names
    arm = IdentifiedArm(joints, estimate.names, estimate.fitted, estimate.repeatability)
    return Chain(robot, replace(settings, links=unloaded.settings.links), Target.LOAD, arm=arm), estimated_links()


def _make_motions(case: Case) -> list[Motion]:
    if case.motion == SIX_POSES:
        return [Hold(pose, REST) for pose in REST_POSES]
    return [with_rest(move, before=2.0) for move in _MOVES[case.motion][case.arm]]


def make_sensors(case: Case, seed: int) -> SensorModel:
    """The paper's, with what the case changes of them."""
    if case.arm == "puma560":
        return paper_puma_sensors(seed)
    sensors = replace(paper_ddarm_sensors(seed), effort_noise=EFFORT_NOISE if case.is_by_efforts else None)
    return replace(sensors, velocity_noise=None, joint_rate=case.differences) if case.differences else sensors
