"""Poses at rest in a recording: where no joint moved for a while, and the mean wrench there.

Samples are summed over bins of 0.1 s as they come. A pose is a run of bins in which every joint stayed where it was;
its first bins are left out, since the structure still swings, and its last, in which a joint may have started.

Liu et al. (eq. 21 to 24) drive the arm along the path of the motion once more, and stop it on the way. What the base
sensor reads there is subtracted from what it reads in motion. Only the wrench of the motion is left, and neither
gravity nor the sensor's offset, nor its drift since, is in the equations any more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from inertid_ros.core.errors import RobotDescriptionError
from inertid_ros.core.records import BoolArray, FloatArray, IntArray, JointBlock, WrenchBlock

BIN = 100_000_000
"""Length of a bin [ns]: longer than the periods of structural vibration."""
SETTLING = 3
"""Bins (0.3 s) left out after a motion: the structure still swings."""
SHORTEST = 5
"""Fewest bins (0.5 s) that make a pose: their scatter is its uncertainty."""
STILL = 2e-3
"""A joint that stays within this [rad or m] stands still: encoders and brakes move less."""
FAR = 0.05
"""Farther than this [rad or m] from the path of poses the base wrench at rest is not known: gravity changes by 5 %."""


class RestPoses(NamedTuple):
    """N poses: the time in their middle [ns], the mean of each joint that was in a message, and the mean wrench (N, 6).

    Deviations are the standard deviations of the mean wrenches, from the scatter of all bins in all poses.
    """

    times: IntArray
    positions: FloatArray
    wrenches: FloatArray
    deviations: FloatArray


class RestPoseFinder:
    """Sums samples up by bin, and finds the poses in the end."""

    def __init__(self, joint_names: Sequence[str], smallest_deviation: FloatArray) -> None:
        """Set the joints that must stand still, and the smallest deviations (6,) of a bin's mean believed.

        Joints that are in no message are left out.
        """
        self._names = tuple(joint_names)
        self._places = {name: index for index, name in enumerate(joint_names)}
        self._smallest = smallest_deviation
        self._joints: dict[int, FloatArray] = {}
        self._wrenches: dict[int, FloatArray] = {}
        self._seen: set[str] = set()

    @property
    def joint_names(self) -> tuple[str, ...]:
        """The n of the joints that were in a message."""
        return tuple(name for name in self._names if name in self._seen)

    def take_joints(self, block: JointBlock) -> None:
        """Take joint samples of one publisher; those that are not finite or have no stamp are left out."""
        self._seen.update(block.names)
        places = [self._places[name] for name in block.names if name in self._places]
        columns = [index for index, name in enumerate(block.names) if name in self._places]
        values = block.positions[:, columns]
        good = np.all(np.isfinite(values), axis=1) & (block.stamps > 0)
        for index, part in _split(block.stamps[good], values[good]):
            sums = self._joints.setdefault(index, _nothing(len(self._places)))
            sums[0, places] += len(part)
            sums[1, places] += part.sum(axis=0)
            sums[2, places] = np.minimum(sums[2, places], part.min(axis=0))
            sums[3, places] = np.maximum(sums[3, places], part.max(axis=0))

    def take_wrenches(self, block: WrenchBlock) -> None:
        """Take wrenches; those that are not finite or have no stamp are left out."""
        good = np.all(np.isfinite(block.wrenches), axis=1) & (block.stamps > 0)
        for index, part in _split(block.stamps[good], block.wrenches[good]):
            sums = self._wrenches.setdefault(index, np.zeros(7))
            sums[0] += len(part)
            sums[1:] += part.sum(axis=0)

    def find(self) -> RestPoses:
        """All poses of what was taken."""
        runs = [run[SETTLING:-1] for run in self._find_runs() if len(run) >= SETTLING + SHORTEST + 1]
        joints = [np.array([self._joints[index] for index in run]) for run in runs]
        means = [np.array([self._wrenches[index][1:] / self._wrenches[index][0] for index in run]) for run in runs]
        scatter = self._pool(means)
        count, columns = len(runs), [self._places[name] for name in self.joint_names]
        positions = [item[:, 1, columns].sum(axis=0) / item[:, 0, columns].sum(axis=0) for item in joints]
        return RestPoses(
            times=np.array([(run[0] + run[-1] + 1) * BIN // 2 for run in runs], dtype=np.int64),
            positions=np.array(positions).reshape(count, len(columns)),
            wrenches=np.array([item.mean(axis=0) for item in means]).reshape(count, 6),
            deviations=np.array([scatter / np.sqrt(len(item)) for item in means]).reshape(count, 6),
        )

    def _find_runs(self) -> list[list[int]]:
        """Consecutive bins in which all joints were measured, and all stayed where they were."""
        runs: list[list[int]] = []
        columns = [self._places[name] for name in self.joint_names]
        low = high = np.zeros(len(columns))
        for index in sorted(self._joints.keys() & self._wrenches.keys()):
            sums = self._joints[index][:, columns]
            if not np.all(sums[0]):
                continue
            next_low, next_high = np.minimum(low, sums[2]), np.maximum(high, sums[3])
            if runs and runs[-1][-1] == index - 1 and np.all(next_high - next_low < STILL):
                runs[-1].append(index)
                low, high = next_low, next_high
            else:
                runs.append([index])
                low, high = sums[2], sums[3]
        return runs

    def _pool(self, means: list[FloatArray]) -> FloatArray:
        """Standard deviation (6,) of the mean wrench of one bin."""
        squares = np.sum([((item - item.mean(axis=0)) ** 2).sum(axis=0) for item in means], axis=0)
        freedom = sum(len(item) - 1 for item in means)
        return np.asarray(np.maximum(np.sqrt(squares / max(freedom, 1)), self._smallest))


def _nothing(width: int) -> FloatArray:
    """Count, sum, smallest and largest (4, width) of no sample."""
    return np.repeat([[0.0], [0.0], [np.inf], [-np.inf]], width, axis=1)


def _split(stamps: IntArray, values: FloatArray) -> list[tuple[int, FloatArray]]:
    """Samples by bin."""
    bins = stamps // BIN
    cuts = np.flatnonzero(np.diff(bins)) + 1
    starts = [0, *cuts.tolist()] if len(bins) else []
    return [(int(bins[start]), part) for start, part in zip(starts, np.split(values, cuts), strict=False)]


@dataclass(frozen=True, slots=True)
class StaticWrench:
    """Wrenches (M, 6), as the driver publishes them, at poses (M, n) in the order of a path, else interpolated."""

    joint_names: tuple[str, ...]
    positions: FloatArray
    wrenches: FloatArray

    def in_order(self, joint_names: tuple[str, ...]) -> StaticWrench:
        """The same for joints in another order; RobotDescriptionError if a joint is missing."""
        missing = [name for name in joint_names if name not in self.joint_names]
        if missing:
            raise RobotDescriptionError(
                f"the poses of links.static_file lack {', '.join(missing)}: record them again with all joints"
            )
        order = [self.joint_names.index(name) for name in joint_names]
        return StaticWrench(joint_names, self.positions[:, order], self.wrenches)

    def read(self, positions: FloatArray) -> tuple[FloatArray, BoolArray]:
        """Wrenches (N, 6) at (N, n) positions, and whether these are near enough to the path (N,)."""
        starts, ways = self.positions[:-1], np.diff(self.positions, axis=0)
        lengths = np.maximum(np.square(ways).sum(axis=1), 1e-12)
        offsets = positions[:, None] - starts
        fractions = np.clip((offsets * ways).sum(axis=2) / lengths, 0.0, 1.0)
        distances = np.abs(offsets - fractions[..., None] * ways).max(axis=2)
        nearest = distances.argmin(axis=1)
        each = np.arange(len(positions))
        share = fractions[each, nearest][:, None]
        wrenches = (1.0 - share) * self.wrenches[nearest] + share * self.wrenches[nearest + 1]
        return wrenches, distances[each, nearest] <= FAR
