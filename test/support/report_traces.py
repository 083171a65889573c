"""Traces for the tests of the report, each made once."""

from __future__ import annotations

from functools import cache

import numpy as np

from inertid_ros.core.chain import Target
from inertid_ros.core.records import JointBlock
from inertid_ros.core.robot.robot import Robot
from inertid_ros.core.settings.choices import SignChoice
from inertid_ros.core.settings.settings import LoadSettings, Settings
from inertid_ros.files.provenance import Provenance
from inertid_ros.motions.motion import Hold, Repeat, Sequence, paper_puma_move, there_and_back
from inertid_ros.replay.combine import Recorded, Sum, combine
from inertid_ros.replay.inputs import Plan
from inertid_ros.replay.target_replay import TargetReplay
from inertid_ros.replay.trace import LinkTrace, LoadTrace, Traces
from support.chain import BAR, DDARM, PUMA, push_force, simulate_puma
from support.link_bags import BY_EFFORT, simulate_ddarm
from support.recordings import read_load_recording
from support.traces import record_trace

LOCAL_GRAVITY = 9.82085


def found_in(load: LoadTrace | None, links: LinkTrace | None = None) -> Sum:
    """What a replay of one recording would have found."""
    return combine([Recorded("", Traces(load, links))])


@cache
def puma_trace() -> LoadTrace:
    """A PUMA picks up the bar at 8.7 s and is pushed from 20 s on for 3.5 s, of 30 s."""
    move = paper_puma_move()
    motion = Sequence([Hold(move.at(np.zeros(1)).positions[0], 2.0), Repeat(there_and_back(move, 0.5))])
    simulator = simulate_puma(motion, 1, [(8.7, BAR)])
    wrenches = simulator.wrenches(0.0, 30.0)
    times = (wrenches.stamps - wrenches.stamps[0]) * 1e-9
    push = np.zeros((len(times), 6))
    pushed = (times > 20.0) & (times < 23.5)
    push[pushed, 0] = 12.0 + 15.0 * np.sin(2.0 * np.pi * 1.3 * (times[pushed] - 20.0))
    push[pushed, 2] = 8.0 * np.sin(2.0 * np.pi * 0.7 * (times[pushed] - 20.0))
    settings = Settings(load=LoadSettings(sensor_frame="ft_sensor", wrench_sign=SignChoice.ON_LOAD))
    return record_trace(PUMA, settings, simulator.joints(0.0, 30.0), push_force(wrenches, push))


@cache
def static_poses_trace() -> LoadTrace:
    """A real wrist sensor in 24 poses; skips where the recording is missing."""
    return _recorded("wrist_ft_static_poses")


@cache
def free_motion_trace() -> LoadTrace:
    """A real wrist sensor in slow motion; skips where the recording is missing."""
    return _recorded("wrist_ft_free_motion")


def _recorded(name: str) -> LoadTrace:
    urdf, joints, wrenches = read_load_recording(name)
    settings = Settings(gravity=[0.0, 0.0, -LOCAL_GRAVITY], load=LoadSettings(sensor_frame="ft_sensor"))
    return record_trace(urdf, settings, joints, wrenches)


def record_links(block: JointBlock) -> LinkTrace:
    """What a replay of the direct drive arm would have kept."""
    part = TargetReplay(Plan(settings=BY_EFFORT), Robot.from_urdf(DDARM), Target.LINKS)
    part.push_joints(block)
    origin = Provenance(
        urdf_sha256="1" * 64, first_stamp=int(block.stamps[0]), last_stamp=int(block.stamps[-1]), versions={}
    )
    trace = part.finish((), (), origin)
    assert isinstance(trace, LinkTrace)
    return trace


@cache
def link_trace() -> LinkTrace:
    """An arm that goes through the paper's moves."""
    return record_links(simulate_ddarm(1).joints(0.0, 12.0))
