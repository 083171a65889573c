"""A recording that can be looked at anywhere: joints, signals and estimates of a replay, in bounded memory."""

from __future__ import annotations

import numpy as np

from inertid_ros.core.estimation.estimate import LinksEstimate, LoadEstimate
from inertid_ros.core.input.inputs import rename_joints
from inertid_ros.core.records import FloatArray, IntArray, JointBlock, Output
from inertid_ros.core.robot.robot import Robot
from inertid_ros.replay.recorder import MomentKeeper
from inertid_ros.replay.replay import Replay
from inertid_ros.replay.trace import Trace
from inertid_ros.view.instant import Instant, Signals, list_parameters, show_estimate
from inertid_ros.view.tracks import Track, Tracks

SPACING = 33_333_333
"""Nanoseconds between two pictures: 30 a second."""
PICTURES = 20_000
"""That are kept at most: eleven minutes at that rate, and longer recordings at a lower one."""
ESTIMATES = 1000
"""That are kept at most: one every 0.1 s of the first 100 s, and of longer recordings fewer."""


class Film:
    """Watches a replay, and shows any moment of it afterwards."""

    def __init__(self, robot: Robot) -> None:
        """Begin with nothing of a robot."""
        self._robot_joints = robot.joint_names
        self._recent: dict[tuple[str, ...], tuple[IntArray, FloatArray]] = {}
        self._pictures = MomentKeeper[FloatArray](SPACING, PICTURES)
        self._estimates = MomentKeeper[LoadEstimate | LinksEstimate](SPACING, ESTIMATES)

    @classmethod
    def watch(cls, replay: Replay) -> Film:
        """Watch a replay that is about to begin."""
        film = cls(replay.robot)
        replay.show_to(film)
        return film

    def take_joints(self, block: JointBlock) -> None:
        """Keep joint states for the samples that follow, and the last of those before."""
        if block.positions.shape[1] != len(block.names) or not len(block.stamps):
            return
        stamps, positions = self._recent.get(block.names, (block.stamps[:0], block.positions[:0]))
        joined = np.concatenate((stamps[-1:], block.stamps)), np.concatenate((positions[-1:], block.positions))
        self._recent[block.names] = joined

    def take_output(self, times: FloatArray, output: Output) -> None:
        """Keep a picture wherever one is due."""
        for index, time in enumerate(times.tolist()):
            if self._pictures.is_due(time):
                measured = np.where(output.usable[index], output.measured[index], np.nan)
                joints = self._find_joints(int(output.stamps[index]))
                self._pictures.keep(time, np.concatenate((joints, measured, output.predicted[index])))

    def take_estimate(self, time: float, estimate: LoadEstimate | LinksEstimate) -> None:
        """Keep what is known after the samples up to a time."""
        self._estimates.keep(time, estimate)

    def _find_joints(self, stamp: int) -> FloatArray:
        """Positions (n,) at a stamp, of those joints that were heard of; zero for others."""
        found: dict[str, float] = {}
        for names, (stamps, positions) in self._recent.items():
            nearest = min(int(np.searchsorted(stamps, stamp)), len(stamps) - 1)
            own = rename_joints(names, self._robot_joints)
            found |= dict(zip(own, positions[nearest].tolist(), strict=True))
        return np.array([found.get(name, 0.0) for name in self._robot_joints])

    def develop(self, trace: Trace) -> Screening:
        """What was filmed, once the replay is over; the trace is that of what was watched."""
        return Screening(self._robot_joints, trace, self._pictures, self._estimates)


class Screening:
    """Shows any moment of a film.

    Attributes:
        duration: seconds.
        tracks: curves of all of it.
    """

    def __init__(
        self,
        joint_names: tuple[str, ...],
        trace: Trace,
        pictures: MomentKeeper[FloatArray],
        estimates: MomentKeeper[LoadEstimate | LinksEstimate],
    ) -> None:
        """Take pictures and estimates, at least one of each."""
        self._joint_names, self._channels, self._units = joint_names, trace.channels, trace.units
        self._times, self._rows = pictures.list_all()
        self._estimate_times, self._estimates = estimates.list_all()
        self.duration = max(float(self._times[-1]), float(self._estimate_times[-1]))
        known = [list_parameters(estimate) for estimate in self._estimates]
        curves = [np.concatenate((one.shown, one.deviations)) for one in known]
        skipped = len(joint_names)
        self.tracks = Tracks(
            Track.of(self._estimate_times, curves), Track.of(self._times, [row[skipped:] for row in self._rows])
        )

    def look(self, time: float) -> Instant:
        """What was known at a time [s]."""
        joints, signals = np.split(self._rows[_find(self._times, time)], [len(self._joint_names)])
        measured, predicted = np.split(signals, 2)
        return show_estimate(
            self._estimates[_find(self._estimate_times, time)],
            time,
            dict(zip(self._joint_names, joints.tolist(), strict=True)),
            Signals(self._channels, self._units, measured, predicted),
        )


def _find(times: FloatArray, time: float) -> int:
    """The last one that is not later, or the first."""
    return max(int(np.searchsorted(times, time, side="right")) - 1, 0)
