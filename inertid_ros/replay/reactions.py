"""Static base reactions from bags: poses at rest, what they determine, and which pose to add."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from inertid_ros.bags.bag import Bag, Topics
from inertid_ros.core.equations.equation import WRENCH_NAMES
from inertid_ros.core.errors import RecordingError, SettingError
from inertid_ros.core.records import IntArray, WrenchBlock
from inertid_ros.core.robot.robot import ArmModel, Robot
from inertid_ros.core.settings.choices import BaseSign
from inertid_ros.core.settings.settings import Settings
from inertid_ros.core.static.reactions import (
    StaticModel,
    StaticPoses,
    StaticSolution,
    gravity_from_forces,
    label_directions,
    solve_static,
    suggest_pose,
)
from inertid_ros.core.static.rest_poses import RestPoseFinder, RestPoses, StaticWrench
from inertid_ros.replay.inputs import Inputs

SMALLEST_DEVIATION = np.repeat([0.01, 0.001], 3)
"""Of a mean over 0.1 s, N and Nm: less noise than that is not believed."""
_UNITS = {"m": "kg", "mc": "kg m", "f": "N", "n": "Nm"}


@dataclass(frozen=True, slots=True)
class ReactionPlan:
    """What is asked for.

    Attributes:
        settings: those of the node: links.joints, links.base_frame, links.base_wrench_sign, and gravity unless there
            is one below.
        topics: names of the inputs.
        description: text of the URDF; empty to take it from the bag.
        gravities: (3,) in the root frame, one for each bag, or one for all.
        from_force: whether the direction of gravity is that of the force.
        with_offset: whether the sensor's offset is unknown; with `from_force` it must be zero.
    """

    settings: Settings = field(default_factory=Settings)
    topics: Topics = field(default_factory=Topics)
    description: str = ""
    gravities: tuple[tuple[float, ...], ...] = ()
    from_force: bool = False
    with_offset: bool = True

    @property
    def inputs(self) -> dict[str, str]:
        """Topics that are needed, by what they are to the node."""
        return {"joint_states": self.topics.joint_states, "base_wrench": self.topics.base_wrench}


def find_reactions(paths: Sequence[Path], plan: ReactionPlan) -> tuple[dict[str, Any], StaticWrench]:
    """Find poses at rest in bags and solve for the gravity parameters: all numbers for JSON, and what the sensor read.

    InertidError if a bag or the robot description cannot be used, or no bag has a pose at rest.
    """
    if len(plan.gravities) not in (0, 1, len(paths)):
        raise SettingError("--gravity", plan.gravities, f"one for all bags, or one for each of the {len(paths)}")
    with Bag(paths[0]) as bag:
        robot = Robot.from_urdf(plan.description or bag.find_description(plan.topics.robot_description))
    notes: list[str] = []
    found: list[tuple[tuple[str, ...], RestPoses]] = []
    for path in paths:
        with Bag(path) as bag:
            bag.check(plan.inputs)
            found.append(_find_poses(bag, plan, robot))
            notes += bag.trouble
    arm = ArmModel.of(robot, np.array(plan.settings.gravity), _agree_on_joints(paths, found))
    frame = plan.settings.links.base_frame or robot.frame_names[0]
    model = StaticModel(arm, frame, plan.with_offset and not plan.from_force)
    measured = [_orient(model, poses, plan, index) for index, (_, poses) in enumerate(found)]
    counts = [len(poses.positions) for poses in measured]
    joined = StaticPoses(*(np.concatenate(parts) for parts in zip(*measured, strict=True)))
    solution = solve_static(model, joined, plan.from_force)
    rms = np.sqrt(np.mean(solution.residuals**2, axis=0))
    content = {
        "base_frame": frame,
        "poses": counts,
        "orientations": len(np.unique(label_directions(joined.gravities))),
        "orientations_for_all": 3 if model.with_offset else 2,
        "parameters": _list_parameters(solution),
        "not_identified": [solution.base.names[column] for column in solution.base.absent],
        "condition_number": solution.condition,
        "residual_rms": dict(zip(WRENCH_NAMES, rms.tolist(), strict=True)),
        "residual_in_deviations": solution.fit,
        "pose_to_add": _suggest(solution, np.repeat(np.arange(len(counts)), counts)),
        "notes": notes + _doubt_sign(solution, joined, plan),
    }
    positions, wrenches = ([getattr(poses, name) for _, poses in found] for name in ("positions", "wrenches"))
    return content, StaticWrench(arm.joint_names, np.concatenate(positions), np.concatenate(wrenches))


def _list_parameters(solution: StaticSolution) -> list[dict[str, Any]]:
    """The combinations that were identified, beside what the URDF says of them."""
    base = solution.base
    by_urdf = base.combination @ solution.model.urdf_parameters
    deviations = np.sqrt(solution.covariance.diagonal())
    columns = zip(base.columns.tolist(), base.texts, solution.values, deviations, by_urdf, strict=True)
    return [
        {
            "name": base.names[column],
            "combination": text,
            "value": float(value),
            "deviation": float(deviation),
            "urdf": float(urdf),
            "unit": _unit_of(base.names[column]),
        }
        for column, text, value, deviation, urdf in columns
    ]


def _suggest(solution: StaticSolution, bags: IntArray) -> dict[str, Any]:
    """The pose to add, with a bag in which the base has the orientation for it; `bags` (N,) is that of each pose."""
    arm = solution.model.arm
    suggestion = suggest_pose(solution, arm.model.lowerPositionLimit, arm.model.upperPositionLimit)
    nearest = np.argmin(np.linalg.norm(solution.poses.gravities - suggestion.gravity, axis=1))
    return {
        "positions": dict(zip(arm.joint_names, suggestion.position.tolist(), strict=True)),
        "base_as_in_bag": int(bags[nearest]) + 1,
        "combinations": suggestion.rank,
        "condition_number": suggestion.condition,
    }


def _find_poses(bag: Bag, plan: ReactionPlan, robot: Robot) -> tuple[tuple[str, ...], RestPoses]:
    """Joints of a bag, and the poses in which they rest."""
    names = plan.settings.links.joints or list(robot.own_joints)
    finder = RestPoseFinder(names, SMALLEST_DEVIATION)
    expected = plan.settings.links.base_frame or robot.frame_names[0]

    def take_wrenches(block: WrenchBlock) -> None:
        if block.frame != expected and block.frame in robot.frame_names:
            raise RecordingError(
                f"bag '{bag.path}': wrenches are in frame '{block.frame}', not in '{expected}': "
                f"set links.base_frame to '{block.frame}'"
            )
        finder.take_wrenches(block)

    inputs = Inputs(plan.inputs, {"joint_states": [finder.take_joints], "base_wrench": [take_wrenches]})
    for messages in bag.blocks(inputs.names):
        inputs.feed(messages)
    if not finder.joint_names:
        raise RecordingError(
            f"bag '{bag.path}': {plan.topics.joint_states} has none of the joints {', '.join(names)}: check --urdf"
        )
    return finder.joint_names, finder.find()


def _agree_on_joints(paths: Sequence[Path], found: list[tuple[tuple[str, ...], RestPoses]]) -> tuple[str, ...]:
    """The joints that all bags have."""
    joints = found[0][0]
    for path, (others, _) in zip(paths, found, strict=True):
        if others != joints:
            raise RecordingError(
                f"bag '{path}' has the joints {', '.join(others)}, bag '{paths[0]}' has {', '.join(joints)}: "
                "use bags with the same joints"
            )
    return joints


def _orient(model: StaticModel, poses: RestPoses, plan: ReactionPlan, index: int) -> StaticPoses:
    """Poses of one bag with gravity in the sensor's axes, and the wrench as that on the robot."""
    wrenches = -poses.wrenches if plan.settings.links.base_wrench_sign is BaseSign.ON_GROUND else poses.wrenches
    if plan.from_force:
        gravities = gravity_from_forces(wrenches[:, :3], float(np.linalg.norm(plan.settings.gravity)))
    else:
        given = plan.gravities or (tuple(plan.settings.gravity),)
        gravity = np.array(given[index if len(given) > 1 else 0])
        gravities = np.tile(model.to_sensor(gravity), (len(wrenches), 1))
    return StaticPoses(poses.positions, gravities, wrenches, poses.deviations)


def _doubt_sign(solution: StaticSolution, poses: StaticPoses, plan: ReactionPlan) -> list[str]:
    """A line if the wrench seems to be the one of the other side."""
    usual = solution.model.to_sensor(np.array(plan.settings.gravity))
    upside_down = plan.from_force and float(poses.gravities.mean(axis=0) @ usual) < 0.0
    deviation = float(np.sqrt(solution.covariance[0, 0]))
    if not upside_down and solution.values[0] > -3.0 * deviation:
        return []
    other = next(sign for sign in BaseSign if sign is not plan.settings.links.base_wrench_sign)
    what = "gravity points up" if upside_down else "the mass is negative"
    return [f"{what}: if the base does not hang from the ceiling, set links.base_wrench_sign to {other}"]


def _unit_of(name: str) -> str:
    kind = name.rsplit(".", 1)[1]
    return _UNITS[kind if kind == "m" else kind[:-1]]
