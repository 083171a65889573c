"""The load of a robot without a wrist sensor, from the efforts in bags and an arm that was identified before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rosbags.typesys import Stores, get_typestore

from inertid_ros.bags.bag import Bag
from inertid_ros.bags.topics import TYPES
from inertid_ros.core.errors import RecordingError, SettingError
from inertid_ros.core.load_chain import LoadEstimate
from inertid_ros.core.payload_chain import PayloadChain
from inertid_ros.core.rigid_body.description import describe_body
from inertid_ros.core.rigid_body.inertial import PARAMETER_NAMES
from inertid_ros.core.robot.robot import Robot
from inertid_ros.core.rows.row_fit import RowFit
from inertid_ros.files.arm import read_arm
from inertid_ros.messages.decode import joint_decoder
from inertid_ros.replay.plan import Plan, Progress
from inertid_ros.replay.replay import find_description


@dataclass(frozen=True, slots=True)
class Weighing:
    """What came of it.

    Attributes:
        estimate: the load.
        joints: of the arm.
        fit: how much of each joint's effort arm and load together explain.
        notes: what was wrong, a line each.
    """

    estimate: LoadEstimate
    joints: tuple[str, ...]
    fit: RowFit
    notes: tuple[str, ...]

    def list_all(self) -> dict[str, Any]:
        """All numbers, for JSON."""
        estimate = self.estimate
        body = describe_body(estimate.parameters, estimate.covariance)
        deviations = np.sqrt(np.diag(estimate.covariance))
        residuals = self.fit.residual_rms
        return {
            "frame": estimate.sensor_frame,
            "mass": {"value": body.mass, "deviation": body.mass_std},
            "com": None if body.com is None else np.asarray(body.com).tolist(),
            "parameters": {
                name: {"value": float(value), "deviation": float(deviation), "state": state}
                for name, value, deviation, state in zip(
                    PARAMETER_NAMES, estimate.parameters, deviations, estimate.states, strict=True
                )
            },
            "covariance": estimate.covariance.tolist(),
            "feasible": dict(zip(PARAMETER_NAMES, estimate.feasible.tolist(), strict=True)),
            "residual_rms": dict(zip(self.joints, residuals.tolist(), strict=True)),
            "rows": int(estimate.rows),
            "notes": list(self.notes),
        }


def weigh(paths: Sequence[Path], plan: Plan, progress: Progress) -> Weighing:
    """Identify the load that is carried in all of the bags.

    Raises:
        InertidError: if a file cannot be used, settings do not fit together, or no effort could be used.
    """
    settings = plan.settings
    if not settings.load.arm_file:
        raise SettingError("load.arm_file", "", "the file of an identified arm (--arm)")
    arm = read_arm(Path(settings.load.arm_file).expanduser())
    with Bag(paths[0]) as bag:
        bag.check({"joint_states": plan.topics.joint_states})
        robot = Robot.from_urdf(plan.description or find_description(bag, plan.topics))
    chain = PayloadChain(robot, settings, arm)
    joints = chain.model.arm.joint_names
    fit = RowFit(len(joints))
    notes: list[str] = []
    for path in paths:
        with Bag(path) as bag:
            bag.check({"joint_states": plan.topics.joint_states})
            _carry(bag, plan, chain, fit, progress)
            notes += bag.trouble
    estimate = chain.estimate()
    if estimate.rows == 0:
        reasons = "; ".join(f"{item.message}: {item.remedy}" for item in chain.health if item.level == "error")
        raise RecordingError(f"no effort in {', '.join(map(str, paths))} could be used: {reasons or 'nothing moves'}")
    mass, deviation = estimate.parameters[0], float(np.sqrt(estimate.covariance[0, 0]))
    if mass + 2.0 * deviation < 0.0:
        notes.append(
            f"the mass is {mass:.3f} kg, less than nothing: the arm in '{settings.load.arm_file}' carried more than "
            "this one does, or it was not known well enough"
        )
    notes += [f"{item.source}: {item.message} ({item.count} times)" for item in chain.health if item.level == "error"]
    return Weighing(estimate, joints, fit, tuple(notes))


def _carry(bag: Bag, plan: Plan, chain: PayloadChain, fit: RowFit, progress: Progress) -> None:
    store = get_typestore(Stores.ROS2_JAZZY)
    decoder = joint_decoder(lambda data: store.deserialize_cdr(data, TYPES["joint_states"]))
    part = slice(-len(fit.rows), None)
    for block in bag.blocks((plan.topics.joint_states,), plan.block_size, plan.start, plan.end):
        decoder.add_all([data for _, _, data in block])
        for joints in decoder.take():
            chain.push_joints(joints)
        output = chain.process()
        if output is not None:
            rows = zip(
                output.row_measured[:, part], output.row_predicted[:, part], output.row_usable[:, part], strict=True
            )
            for measured, predicted, usable in rows:
                fit.take(measured, predicted, usable)
        progress(len(block))
