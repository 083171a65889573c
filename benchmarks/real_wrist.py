"""Whether parts and repeats of real recordings of a wrist sensor agree within their intervals.

The same tool on the same sensor, moving freely and in static poses, whole and in parts: the mass and the first moments
of any two that share no data differ by so many standard deviations of their difference. Both have the same systematic
error x ~ N(0, L^-1), which other poses project differently: with C the covariance of load and nuisances, and R the
repeatability, an estimate is wrong by -C L x and noise, so that the difference has the covariance

    R1 + R2 + (C1 - C2) L (C1 - C2)^T.

Differences over sigma of the repeatability alone, which leaves out the last term, and of the accuracy, which counts
what cancels, are printed for comparison.

    python benchmarks/real_wrist.py

Exits with 1 where more than a tenth of the differences are beyond two sigma. Skips where the recordings are not there
(see `real_arms`).
"""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

import numpy as np
from real_arms import RECORDINGS

from inertid_ros.core.chain import Chain, Target
from inertid_ros.core.equations.load import LOAD, UNKNOWNS
from inertid_ros.core.estimation.estimate import LoadEstimate
from inertid_ros.core.estimation.hypothesis import HypothesisEstimator
from inertid_ros.core.records import FloatArray, JointBlock, WrenchBlock
from inertid_ros.core.rigid_body.inertial import PARAMETER_NAMES
from inertid_ros.core.robot.robot import Robot
from inertid_ros.core.settings.settings import LoadSettings, Settings
from inertid_ros.core.tasks.wrist import WristLoadTask

FREE, STATIC = "wrist_ft_free_motion", "wrist_ft_static_poses"
_FRAME = "ft_sensor"
_GRAVITY = [0.0, 0.0, -9.82085]
_COMPARED = 4
"""Mass and first moments: the motion is too slow for inertias."""
LARGEST_SHARE = 0.10


class Part(NamedTuple):
    """A share of a recording, from one fraction of its time to another."""

    name: str
    recording: str
    first: float
    last: float


PARTS = (
    Part("motion", FREE, 0.0, 1.0),
    Part("poses", STATIC, 0.0, 1.0),
    Part("motion, 1st half", FREE, 0.0, 0.5),
    Part("motion, 2nd half", FREE, 0.5, 1.0),
    Part("poses, 1st half", STATIC, 0.0, 0.5),
    Part("poses, 2nd half", STATIC, 0.5, 1.0),
    Part("poses, 1st third", STATIC, 0.0, 1.0 / 3.0),
    Part("poses, 2nd third", STATIC, 1.0 / 3.0, 2.0 / 3.0),
    Part("poses, 3rd third", STATIC, 2.0 / 3.0, 1.0),
)
PAIRS = ((0, 1), (2, 3), (4, 5), (6, 7), (7, 8), (6, 8))
"""Which share no data."""


class Recorded(NamedTuple):
    """What a recording holds, and its robot."""

    urdf: str
    joints: JointBlock
    wrenches: WrenchBlock


def is_here() -> bool:
    """Whether the recordings are there."""
    return all((RECORDINGS / name).is_dir() for name in (FREE, STATIC))


def read(name: str) -> Recorded:
    """Joint states and wrenches of a recording."""
    from rosbags.highlevel import AnyReader
    from rosbags.typesys import Stores, get_typestore

    names: tuple[str, ...] = ()
    joints, wrenches = [], []
    with AnyReader([RECORDINGS / name], default_typestore=get_typestore(Stores.ROS2_JAZZY)) as reader:
        for connection, _, raw in reader.messages():
            message: Any = reader.deserialize(raw, connection.msgtype)
            stamp = message.header.stamp.sec * 1_000_000_000 + message.header.stamp.nanosec
            if connection.topic == "/joint_states":
                names = tuple(message.name)
                joints.append((stamp, message.position))
            elif connection.topic == "/wrench":
                parts = message.wrench.force, message.wrench.torque
                wrenches.append((stamp, [value for part in parts for value in (part.x, part.y, part.z)]))
    joint_stamps, positions = (np.array(column) for column in zip(*joints, strict=True))
    wrench_stamps, values = (np.array(column) for column in zip(*wrenches, strict=True))
    urdf = (RECORDINGS / name / "robot.urdf").read_text()
    return Recorded(urdf, JointBlock(names, joint_stamps, positions, None), WrenchBlock(_FRAME, wrench_stamps, values))


class Found(NamedTuple):
    """The estimate of a part, and the covariance (10, 39) of its load with the nuisances."""

    estimate: LoadEstimate
    across: FloatArray


_SETTINGS = LoadSettings(sensor_frame=_FRAME)
_PRECISION = HypothesisEstimator(_SETTINGS, 1.0)._prior[UNKNOWNS:, UNKNOWNS:]  # noqa: SLF001 - L, as it is set


def identify(recorded: Recorded, part: Part) -> Found:
    """What a part of a recording says of the load."""
    start, end = recorded.joints.stamps[[0, -1]]
    limits = start + np.array([part.first, part.last]) * (end - start)
    chain = Chain(Robot.from_urdf(recorded.urdf), Settings(load=_SETTINGS, gravity=_GRAVITY), Target.LOAD)
    for block in (recorded.joints, recorded.wrenches):
        chain.push(block.take(slice(*np.searchsorted(block.stamps, limits))))
    chain.process()
    estimate = chain.estimate()
    assert isinstance(estimate, LoadEstimate)
    task = chain._task  # noqa: SLF001 - covariances with the nuisances are published nowhere
    assert isinstance(task, WristLoadTask)
    joint = task._estimator.solve()  # noqa: SLF001
    sign = 1.0 if estimate.sensor is None or estimate.sensor.sign is None else estimate.sensor.sign.factor
    return Found(estimate, sign * joint.covariance[:LOAD, UNKNOWNS:])


def compare(one: Found, other: Found) -> FloatArray:
    """Differences (3, 4) in standard deviations: of the difference, of the repeatability, and of the accuracy."""
    first, second = one.estimate, other.estimate
    repeatable = np.diag(first.repeatability + second.repeatability)
    apart = one.across - other.across
    systematic = np.sum((apart @ _PRECISION) * apart, axis=1)
    accurate = np.diag(first.covariance + second.covariance)
    variances = np.array([repeatable + systematic, repeatable, accurate])[:, :_COMPARED]
    return np.asarray((first.values - second.values)[:_COMPARED] / np.sqrt(variances))


def main() -> int:
    """Print what all parts say and how they differ; fail if too many do."""
    if not is_here():
        print(f"skipped: no recordings {FREE}, {STATIC} in {RECORDINGS}")
        return 0
    recorded = {name: read(name) for name in (FREE, STATIC)}
    parts = [identify(recorded[part.recording], part) for part in PARTS]
    names = PARAMETER_NAMES[:_COMPARED]
    print("| part | mode | " + " | ".join(f"{name} ± accuracy (repeatability) [g, g m]" for name in names) + " |")
    print("| --- " * (2 + _COMPARED) + "|")
    for part, (found, _) in zip(PARTS, parts, strict=True):
        columns = zip(found.values, found.deviations, found.repeatable_deviations, found.states, strict=True)
        cells = [f"{1e3 * v:.2f} ± {1e3 * a:.2f} ({1e3 * r:.2f}) {s.value}" for v, a, r, s in columns][:_COMPARED]
        print(f"| {part.name} | {found.mode} | {' | '.join(cells)} |")
    print("\n| difference [sigma (of the repeatability, of the accuracy)] | " + " | ".join(names) + " |")
    print("| --- " * (1 + _COMPARED) + "|")
    differences = np.array([compare(parts[first], parts[second]) for first, second in PAIRS])
    for (first, second), found in zip(PAIRS, differences, strict=True):
        cells = [f"{own:.1f} ({noise:.1f}, {all_:.1f})" for own, noise, all_ in found.T]
        print(f"| {PARTS[first].name} − {PARTS[second].name} | {' | '.join(cells)} |")
    own, noise, all_ = (f"{100 * share:.0f} %" for share in np.mean(np.abs(differences) > 2.0, axis=(0, 2)))
    print(f"\nbeyond 2 sigma: {own} (of the repeatability {noise}, of the accuracy {all_})")
    return int(np.mean(np.abs(differences[:, 0]) > 2.0) > LARGEST_SHARE)


if __name__ == "__main__":
    sys.exit(main())
