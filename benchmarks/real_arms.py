"""Arms of public recordings: fitted in one causal pass over one recording, tested with frozen parameters on another."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from inertid_ros.core.chain import Chain, Target
from inertid_ros.core.estimation.estimate import LinksEstimate
from inertid_ros.core.estimation.full_set import find_predictor
from inertid_ros.core.estimation.reweighted import Uncertainty
from inertid_ros.core.records import FloatArray, JointBlock, Output, join_outputs
from inertid_ros.core.robot.robot import Robot
from inertid_ros.core.settings.choices import EffortUnit
from inertid_ros.core.settings.settings import LinksSettings, Settings

RECORDINGS = Path(os.environ.get("INERTID_RECORDINGS", Path(__file__).parents[2] / "shared" / "data"))
_BLOCK = 1000


class RealArm(NamedTuple):
    """What is fitted and what is tested.

    Attributes:
        title: of the table's row.
        fitted: recordings, or a share of one from its start.
        tested: recording, or what is left of that share.
        share: part of a recording that is fitted where it is also the one that is tested, else 1.
        effort_delay: of the effort behind the positions of the same message [s].
        limit: largest relative rms of what the prediction leaves.
    """

    title: str
    fitted: tuple[str, ...]
    tested: str
    share: float
    effort_delay: float
    limit: float


ARMS = (
    RealArm("KUKA LWR4+", ("lwr4_1",), "lwr4_2", 1.0, 0.0, 0.03),
    RealArm("UR10e", ("ur10e_40sec_12harm", "ur10e_30sec_12harm"), "ur10e_14harm50sec", 1.0, 0.01, 0.06),
    RealArm("Franka Panda", ("panda_exciting",), "panda_exciting", 0.6, 0.0, 0.04),
)


class RealOutcome(NamedTuple):
    """Relative rms of what a prediction leaves of the efforts of the test.

    Attributes:
        filtered: measured and predicted both after the chain's filters.
        sampled: at every sample, as it is published.
        urdf: as `filtered`, predicted with the URDF's own parameters.
    """

    filtered: float
    sampled: float
    urdf: float


def is_here(arm: RealArm) -> bool:
    """Whether all its recordings are there."""
    return all((RECORDINGS / name).is_dir() for name in (*arm.fitted, arm.tested))


def read_joints(name: str) -> JointBlock:
    """Joint states of a recording."""
    from rosbags.highlevel import AnyReader

    stamps, states = [], []
    names: tuple[str, ...] = ()
    with AnyReader([RECORDINGS / name]) as reader:
        for connection, _, raw in reader.messages():
            if connection.topic == "/joint_states":
                message: Any = reader.deserialize(raw, connection.msgtype)
                names = tuple(message.name)
                stamps.append(message.header.stamp.sec * 1_000_000_000 + message.header.stamp.nanosec)
                states.append((message.position, message.velocity, message.effort))
    positions, velocities, efforts = (np.array(part) for part in zip(*states, strict=True))
    return JointBlock(names, np.array(stamps), positions, velocities, efforts)


def run_arm(arm: RealArm) -> RealOutcome:
    """Fit and test an arm; efforts are in newton metres in all recordings."""
    links = LinksSettings(effort_unit=EffortUnit.NEWTON_METRE, effort_delay=arm.effort_delay)
    robot = Robot.from_urdf((RECORDINGS / arm.fitted[0] / "robot.urdf").read_text())
    chain = Chain(robot, Settings(links=links), Target.LINKS)
    for name in arm.fitted:
        block = read_joints(name)
        feed(chain, block.take(slice(0, int(arm.share * len(block.stamps)))))
    estimate = chain.estimate()
    assert isinstance(estimate, LinksEstimate)
    block = read_joints(arm.tested)
    start = int(arm.share * len(block.stamps)) if arm.share < 1.0 else 0
    block = block.take(slice(start, len(block.stamps)))
    chosen = find_predictor(estimate).values
    found, given = (predict(robot, links, block, values) for values in (chosen, estimate.model.prior))
    return RealOutcome(
        relate(found.rows.measured, found.rows.predicted),
        relate(found.measured, found.predicted),
        relate(given.rows.measured, given.rows.predicted),
    )


def relate(measured: FloatArray, predicted: FloatArray) -> float:
    """rms(measured - predicted) / rms(measured) over all joints."""
    return float(np.linalg.norm(measured - predicted) / np.linalg.norm(measured))


def predict(
    robot: Robot, links: LinksSettings, block: JointBlock, values: FloatArray, uncertainty: Uncertainty | None = None
) -> Output:
    """Predictions of joint states with frozen values."""
    chain = Chain(robot, Settings(links=links), Target.LINKS)
    chain.push(block.take(slice(0, 1)))
    chain.freeze(values, uncertainty)
    return feed(chain, block.take(slice(1, len(block.stamps))))


def feed(chain: Chain, block: JointBlock) -> Output:
    """What comes out of a chain that is fed with joint states."""
    outputs = []
    for start in range(0, len(block.stamps), _BLOCK):
        chain.push(block.take(slice(start, start + _BLOCK)))
        outputs.append(chain.process())
    found = [output for output in outputs if output is not None]
    return join_outputs(found)
