"""Efforts of several publishers, each with stamps of its own, read at the same times."""

from __future__ import annotations

import numpy as np

from inertid_ros.core.diagnosis import Health
from inertid_ros.core.input.joint_stream import MAX_GAP
from inertid_ros.core.input.sample_buffer import SampleBuffer
from inertid_ros.core.input.timestamps import StampCheck
from inertid_ros.core.records import BoolArray, FloatArray, IntArray

_SILENT = 1.0


class EffortStreams:
    """One time line of efforts for each publisher, told apart by the joints it gives."""

    def __init__(self, count: int, delay: float) -> None:
        """Make room for some number of joints, n, whose efforts are late by a delay [s]."""
        self._n = count
        self._delay = delay
        self._streams: dict[tuple[int, ...], tuple[StampCheck, SampleBuffer]] = {}

    @property
    def is_empty(self) -> bool:
        """Whether there is no publisher."""
        return not self._streams

    @property
    def newest(self) -> float:
        """Time up to which the efforts of all publishers that still publish can be read [s]; -inf before the first."""
        ends = [samples.newest for _, samples in self._streams.values()]
        return min((end for end in ends if end > max(ends) - _SILENT), default=-np.inf)

    def push(self, joints: tuple[int, ...], stamps: IntArray, origin: int, readings: FloatArray) -> None:
        """Take readings (N, 2 n), efforts and marks of those not to be believed, of a publisher of some joints.

        What is wrong with the stamps has been reported for the positions of the same messages; here such samples are
        only left out.
        """
        check, samples = self._streams.get(joints) or (StampCheck("effort", Health()), SampleBuffer(2 * self._n))
        good, restart = check.check(stamps)
        if restart is not None:
            samples = SampleBuffer(2 * self._n)
        if good is not None:
            stamps, readings = stamps[good[restart:]], readings[good[restart:]]
        if len(stamps):
            samples.append((stamps - origin) * 1e-9 - self._delay, readings)
        self._streams[joints] = check, samples

    def read(self, times: FloatArray) -> tuple[FloatArray, BoolArray]:
        """Efforts (N, n) at (N,) times, and whether they are there and to be believed (N, n)."""
        efforts, usable = np.zeros((len(times), self._n)), np.zeros((len(times), self._n), dtype=bool)
        for joints, (_, samples) in self._streams.items():
            if not len(samples.times):
                continue
            within = np.clip(times, samples.times[0], samples.newest)
            readings, width = np.empty((len(times), 1 + 2 * self._n)), np.zeros(len(times))
            readings[:, 0] = within
            samples.read(np.arange(1, 1 + 2 * self._n), readings, width)
            samples.forget_before(times.item(-1))
            near = (width <= MAX_GAP) & (within == times)
            for joint in joints:
                good = near & (readings[:, 1 + self._n + joint] == 0.0)
                efforts[good, joint] = readings[good, 1 + joint]
                usable[:, joint] |= good
        return efforts, usable
