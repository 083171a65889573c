"""Traces of simulated and recorded runs, made without a bag."""

from __future__ import annotations

import numpy as np
from inertid_ros.replay.trace_builder import TraceBuilder

from inertid_ros.bags.statistics import TopicWatch
from inertid_ros.core.load_chain import LoadChain
from inertid_ros.core.records import JointBlock, WrenchBlock
from inertid_ros.replay.trace import InputFile, LoadTrace, Origin

STEP = 100_000_000


def record_trace(chain: LoadChain, joints: JointBlock, wrenches: WrenchBlock) -> LoadTrace:
    """Drive a chain over samples, a tenth of a second at a time, and keep what a report needs."""
    builder = TraceBuilder()
    watches = [(TopicWatch("/joint_states"), joints.stamps), (TopicWatch("/wrench"), wrenches.stamps)]
    for watch, stamps in watches:
        watch.take(stamps, stamps + 1_000_000)
    origin = int(min(joints.stamps[0], wrenches.stamps[0]))
    for start in range(origin, int(wrenches.stamps[-1]) + STEP, STEP):
        some = slice(*np.searchsorted(joints.stamps, [start, start + STEP]).tolist())
        chain.push_joints(joints.take(some))
        some = slice(*np.searchsorted(wrenches.stamps, [start, start + STEP]).tolist())
        chain.push_wrenches(wrenches.take(some))
        output = chain.process()
        if len(output.stamps):
            builder.take(output, origin)
            builder.convergence.take(builder.axis.now, chain.estimate())
    return finish_trace(chain, builder, joints, tuple(watch for watch, _ in watches))


def finish_trace(
    chain: LoadChain, builder: TraceBuilder, joints: JointBlock, watches: tuple[TopicWatch, ...]
) -> LoadTrace:
    """Put a trace together."""
    estimate = chain.estimate()
    return LoadTrace(
        duration=builder.axis.now,
        sensor_frame=chain.sensor_frame,
        joint_names=joints.names,
        convergence=builder.convergence.finish(),
        wrenches=builder.finish_wrenches(),
        events=tuple(builder.events),
        statistics=builder.sums.finish(estimate.bias),
        spectrum=builder.spectrum.finish(),
        histogram=builder.histogram.finish(),
        topics=tuple(watch.summarise() for watch in watches),
        health=chain.health,
        notes=(),
        estimate=estimate,
        tool=chain.tool,
        settings=chain.settings,
        origin=Origin(
            inputs=(InputFile("recording/recording_0.mcap", "0" * 64),),
            urdf_sha256="1" * 64,
            settings_sha256="",
            versions={"inertid_ros": "0.1.0"},
            first_stamp=int(joints.stamps[0]),
            last_stamp=estimate.stamp,
        ),
    )
