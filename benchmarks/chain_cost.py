"""What a sample costs in the chains of load and links, in units of pinocchio's own work on the same sample.

    python benchmarks/chain_cost.py

A PUMA with tachometers at 1 kHz, samples one at a time and in blocks of a thousand. The floor is what no program that
calls pinocchio from Python can do without: for the load `forwardKinematics` and `getFrameVelocity` on the whole robot,
for the links (36 base parameters, friction, rotors and offsets) `computeJointTorqueRegressor`. Floor and chain take
turns on short pieces of the same run, and the median of the ratios counts, so that a machine which does other things as
well, or changes its clock, slows down both alike. Fails (1) above the limits.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import gc
import sys
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pinocchio as pin

from inertid_ros.core.chain import Chain, Target
from inertid_ros.core.records import FloatArray, JointBlock, WrenchBlock
from inertid_ros.core.robot.robot import Robot
from inertid_ros.core.settings.choices import EffortUnit, SignChoice
from inertid_ros.core.settings.settings import LinksSettings, LoadSettings, Settings
from inertid_ros.files.parameters import load_from_yaml
from inertid_ros.files.share import share_path
from inertid_ros.motions.motion import Hold, Sequence, paper_puma_move
from inertid_ros.sim.arm import JointFriction
from inertid_ros.sim.sensors import SensorModel
from inertid_ros.sim.simulator import Simulator

FRAME = "ft_sensor"
RATE = 1000.0
SECONDS = 40.0


class Case(NamedTuple):
    """What is timed, how samples arrive, how many are timed in one go, and how often the floor the chain may cost."""

    what: str
    block: int
    piece: int
    samples: int
    limit: float


CASES = (
    Case("load", 1, 200, 20_000, 8.0),
    Case("load", 1000, 1000, 40_000, 1.5),
    Case("links", 1, 200, 20_000, 5.0),
    Case("links", 1000, 1000, 40_000, 2.0),
)


class Cost(NamedTuple):
    """Medians over the pieces, microseconds a sample, and the median of their ratios."""

    floor: float
    chain: float
    ratio: float


def simulate(urdf: str) -> tuple[JointBlock, WrenchBlock]:
    """The paper's move forth and back with the bar, after two seconds of rest."""
    move = paper_puma_move()
    rest = Hold(move.at(np.zeros(1)).positions[0], 2.0)
    motion = Sequence([rest] + [move, move.reversed()] * 10)
    sensors = SensorModel(
        joint_rate=RATE,
        wrench_rate=RATE,
        encoder_resolution=1e-4,
        velocity_noise=1e-3,
        force_noise=0.1,
        torque_noise=5e-3,
        effort_noise=0.5,
    )
    load = load_from_yaml(share_path("config", "loads", "bar.yaml"))
    simulator = Simulator(
        urdf, FRAME, motion, sensors, [(0.0, load)], seed=1, friction=JointFriction(2.0, 4.0, 0.5, 0.1)
    )
    return simulator.joints(0.0, SECONDS), simulator.wrenches(0.0, SECONDS)


def cut(joints: JointBlock, wrenches: WrenchBlock, size: int, count: int) -> list[tuple[JointBlock, WrenchBlock]]:
    """The first samples in blocks of one size."""
    blocks = []
    for start in range(0, count, size):
        part = slice(start, start + size)
        blocks.append((joints.take(part), wrenches.take(part)))
    return blocks


def make_load(urdf: str) -> tuple[Callable[[JointBlock, WrenchBlock], None], Callable[[FloatArray, FloatArray], None]]:
    """The load chain and its floor."""
    settings = Settings(load=LoadSettings(sensor_frame=FRAME, wrench_sign=SignChoice.ON_LOAD))
    chain = Chain(Robot.from_urdf(urdf), settings, Target.LOAD)
    model = pin.buildModelFromXML(urdf)
    data, frame = model.createData(), model.getFrameId(FRAME)

    def drive(joints: JointBlock, wrenches: WrenchBlock) -> None:
        chain.push(joints)
        chain.push(wrenches)
        chain.process()

    def floor(position: FloatArray, velocity: FloatArray) -> None:
        pin.forwardKinematics(model, data, position, velocity)
        pin.getFrameVelocity(model, data, frame, pin.LOCAL)

    return drive, floor


def make_links(urdf: str) -> tuple[Callable[[JointBlock, WrenchBlock], None], Callable[[FloatArray, FloatArray], None]]:
    """The chain of the links and its floor."""
    settings = Settings(links=LinksSettings(effort_unit=EffortUnit.NEWTON_METRE))
    chain = Chain(Robot.from_urdf(urdf), settings, Target.LINKS)
    model = pin.buildModelFromXML(urdf)
    data = model.createData()

    def drive(joints: JointBlock, _: WrenchBlock) -> None:
        chain.push(joints)
        chain.process()

    def floor(position: FloatArray, velocity: FloatArray) -> None:
        pin.computeJointTorqueRegressor(model, data, position, velocity, velocity)

    return drive, floor


def measure(urdf: str, joints: JointBlock, wrenches: WrenchBlock, case: Case) -> Cost:
    """Time floor and chain in turns on the same samples."""
    drive, floor = make_load(urdf) if case.what == "load" else make_links(urdf)
    positions, velocities = joints.positions, joints.velocities
    assert velocities is not None
    blocks = cut(joints, wrenches, case.block, case.samples)
    per_piece = case.piece // case.block
    floors, chains = [], []
    gc.collect()
    gc.freeze()
    for index in range(case.samples // case.piece):
        started = time.perf_counter()
        for sample in range(index * case.piece, (index + 1) * case.piece):
            floor(positions[sample], velocities[sample])
        between = time.perf_counter()
        for joint_block, wrench_block in blocks[index * per_piece : (index + 1) * per_piece]:
            drive(joint_block, wrench_block)
        floors.append(between - started)
        chains.append(time.perf_counter() - between)
    scale = 1e6 / case.piece
    ratio = float(np.median(np.divide(chains, floors)))
    return Cost(float(np.median(floors)) * scale, float(np.median(chains)) * scale, ratio)


def main() -> int:
    """Print the table; 1 if a limit is exceeded."""
    urdf = share_path("urdf", "puma560.urdf").read_text()
    joints, wrenches = simulate(urdf)
    exceeded = False
    print(f"{'chain':>6} {'block':>6} {'floor [us]':>11} {'chain [us]':>11} {'ratio':>7} {'limit':>6}")
    for case in CASES:
        cost = measure(urdf, joints, wrenches, case)
        exceeded |= cost.ratio > case.limit
        print(
            f"{case.what:>6} {case.block:6d} {cost.floor:11.2f} {cost.chain:11.2f} {cost.ratio:7.2f} {case.limit:6.1f}"
        )
    return int(exceeded)


if __name__ == "__main__":
    sys.exit(main())
