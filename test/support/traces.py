"""Traces of simulated and recorded runs, made without a bag."""

from __future__ import annotations

from inertid_ros.core.chain import Target
from inertid_ros.core.records import JointBlock, WrenchBlock
from inertid_ros.core.robot.robot import Robot
from inertid_ros.core.settings.settings import Settings
from inertid_ros.files.provenance import InputFile, Provenance
from inertid_ros.replay.inputs import Plan, TopicWatch
from inertid_ros.replay.target_replay import TargetReplay
from inertid_ros.replay.trace import LoadTrace


def record_trace(urdf: str, settings: Settings, joints: JointBlock, wrenches: WrenchBlock) -> LoadTrace:
    """Replay samples and keep what a report needs."""
    part = TargetReplay(Plan(settings=settings), Robot.from_urdf(urdf), Target.LOAD)
    watches = [(TopicWatch("/joint_states"), joints.stamps), (TopicWatch("/wrench"), wrenches.stamps)]
    for watch, stamps in watches:
        watch.take(stamps, stamps + 1_000_000)
    part.push_joints(joints)
    part.push_wrenches(wrenches)
    origin = Provenance(
        inputs=(InputFile("recording/recording_0.mcap", "0" * 64),),
        urdf_sha256="1" * 64,
        settings_sha256="",
        versions={"inertid_ros": "0.1.0"},
        first_stamp=int(joints.stamps[0]),
        last_stamp=part.stamps[1],
    )
    trace = part.finish(tuple(watch.summarise() for watch, _ in watches), (), origin)
    assert isinstance(trace, LoadTrace)
    return trace
