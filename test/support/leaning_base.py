"""A PUMA on a base that slides, turns and leans, with an IMU on it: these are joints that its URDF lacks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from inertid_ros.core.chain import Chain, Target
from inertid_ros.core.records import (
    FloatArray,
    ImuBlock,
    IntArray,
    JointBlock,
    Output,
    SampleBlock,
    WrenchBlock,
    join_outputs,
)
from inertid_ros.core.robot.robot import Robot
from inertid_ros.core.settings.settings import Settings
from inertid_ros.motions.motion import JointPath, Motion
from inertid_ros.sim.arm import ArmDynamics
from inertid_ros.sim.sensors import paper_puma_sensors
from inertid_ros.sim.simulator import DEFAULT_GRAVITY, DEFAULT_START, Simulator
from support.chain import BAR, PUMA, puma_motion

_IMU = """<link name="imu_link"/><joint name="imu_mount" type="fixed"><parent link="base_link"/><child link="imu_link"/>
<origin xyz="0.1 -0.05 -0.02" rpy="0.4 -0.3 1.2"/></joint></robot>"""
URDF = PUMA.replace("</robot>", _IMU)
"""What the chain knows."""


def _joint(name: str, kind: str, parent: str, child: str, axis: str) -> str:
    limit = '<limit lower="-10" upper="10" velocity="10" effort="1"/>'
    ends = f'<parent link="{parent}"/><child link="{child}"/><axis xyz="{axis}"/>'
    return f'<link name="{parent}"/><joint name="{name}" type="{kind}">{ends}{limit}</joint>'


GROUND = URDF.replace(
    "</robot>",
    _joint("slide", "prismatic", "ground", "sledge", "1 0 0")
    + _joint("yaw", "revolute", "sledge", "turntable", "0 0 1")
    + _joint("pitch", "revolute", "turntable", "cradle", "0 1 0")
    + _joint("roll", "revolute", "cradle", "base_link", "1 0 0")
    + "</robot>",
)
"""The whole: ground, and between it and the base four joints."""
MOVES = ("slide", "yaw", "pitch", "roll")


@dataclass
class Swing:
    """One of these joints: it stays where it is, then makes a smooth round trip of an amplitude, again and again."""

    amplitude: float = 0.0
    period: float = 20.0
    start: float = 0.0
    end: float = np.inf
    rest: float = 0.0

    def at(self, times: FloatArray) -> FloatArray:
        """Position, velocity and acceleration (3, N)."""
        moving = (times >= self.start) & (times < self.end)
        rate = 2.0 * np.pi / self.period
        angle = rate * np.where(moving, times - self.start, 0.0)
        a = 0.5 * self.amplitude
        return np.stack(
            (self.rest + a * (1.0 - np.cos(angle)), a * rate * np.sin(angle), a * rate**2 * np.cos(angle) * moving)
        )


class OnBase:
    """A motion of the arm, and those of its base."""

    def __init__(self, arm: Motion, names: tuple[str, ...], swings: dict[str, Swing]) -> None:
        """Take the motion of the arm, and all joints in the order of the model."""
        self._arm, self._names, self._swings = arm, names, swings
        self.duration, self.joint_count = arm.duration, len(names)

    def at(self, times: FloatArray) -> JointPath:
        """All joints."""
        own = iter(np.stack(self._arm.at(times)).transpose(2, 0, 1))
        parts = [self._swings[name].at(times) if name in MOVES else next(own) for name in self._names]
        return JointPath(*np.stack(parts, axis=-1))


@dataclass
class LeaningBase:
    """The simulation.

    Attributes:
        swings: how the base moves.
        rounds: how often the arm goes to and fro.
        gyro_offset: of the angular velocities [rad/s].
        noise: whether sensors have any; IMU 0.05 m/s² and 0.003 rad/s at 200 Hz, those of the arm as in the paper.
    """

    swings: dict[str, Swing]
    rounds: int = 4
    gyro_offset: float = 0.0
    noise: bool = True
    frame: str = "imu_link"
    covariances: tuple[float, float] = (0.0, 0.0)
    _imu: tuple[FloatArray, FloatArray] = field(init=False)

    def __post_init__(self) -> None:
        """Simulate the IMU, whose samples come in between those of the wrench."""
        robot = Robot.from_urdf(GROUND)
        swings = {name: self.swings.get(name, Swing()) for name in MOVES}
        self.motion = OnBase(puma_motion(rounds=self.rounds), robot.joint_names, swings)
        sensors = paper_puma_sensors(0) if self.noise else None
        self._simulator = Simulator(GROUND, "ft_sensor", self.motion, sensors, [(0.0, BAR)])
        self.times = np.arange(0.0025, self.motion.duration, 0.005)
        moved = ArmDynamics(robot, "imu_link", np.array(DEFAULT_GRAVITY)).move_sensor(self.motion.at(self.times))
        noise = self.noise * np.random.default_rng(1).standard_normal((2, len(self.times), 3))
        self._imu = moved.proper_acceleration + 0.05 * noise[0], moved.angular_velocity + 0.003 * noise[1]

    def joints(self) -> JointBlock:
        """Joint states of the arm alone."""
        names, stamps, positions, velocities, _ = self._simulator.joints(0.0, self.motion.duration)
        own = [index for index, name in enumerate(names) if name not in MOVES]
        velocities = None if velocities is None else np.ascontiguousarray(velocities[:, own])
        own_names = tuple(names[index] for index in own)
        return JointBlock(own_names, stamps, np.ascontiguousarray(positions[:, own]), velocities)

    def wrenches(self) -> WrenchBlock:
        """Wrenches."""
        return self._simulator.wrenches(0.0, self.motion.duration)

    def imu(self) -> ImuBlock:
        """What the IMU shows."""
        accelerations, rates = self._imu
        stamps = DEFAULT_START + np.round(1e9 * self.times).astype(np.int64)
        covariances = np.tile(self.covariances, (len(stamps), 1))
        return ImuBlock(self.frame, stamps, accelerations, rates + self.gyro_offset, covariances)


def make_chain(**settings: object) -> Chain:
    """A chain that takes gravity from the IMU, unless told otherwise."""
    values = {"gravity_source": "imu", "load.sensor_frame": "ft_sensor", "load.wrench_sign": "on_load", **settings}
    return Chain(Robot.from_urdf(URDF), Settings.from_flat(values), Target.LOAD)


def iterate_parts(block: SampleBlock, edges: IntArray) -> Iterator[slice]:
    """The samples between stamps."""
    places = np.searchsorted(block.stamps, edges)
    return (slice(a, b) for a, b in pairwise(places.tolist()))


def drive(chain: Chain, base: LeaningBase, chunk: float = 0.5, imu: ImuBlock | None = None) -> Output:
    """Feed all of it in chunks of some seconds; all that came out."""
    blocks: tuple[SampleBlock, ...] = (base.joints(), imu or base.imu(), base.wrenches())
    edges = DEFAULT_START + np.round(1e9 * np.arange(0.0, base.motion.duration + chunk, chunk)).astype(np.int64)
    outputs = []
    for parts in zip(*(iterate_parts(block, edges) for block in blocks), strict=True):
        for block, part in zip(blocks, parts, strict=True):
            if part.start < part.stop:
                chain.push(block.take(part))
        outputs.append(chain.process())
    return join_outputs([output for output in outputs if output is not None])
