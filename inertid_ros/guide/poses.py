"""The pose to go to next, and the joint to swing next: whatever tells most of what is not known yet.

The poses that were held are remembered by their information on load and bias together (16 x 16), for it is their
difference that separates the two. Candidates are what one or two joints reach from the present pose. They are compared
by the determinant of the information on the parameters that are still wanted, all others being unknown too (D-optimal).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, product
from typing import NamedTuple

import numpy as np

from inertid_ros.core.equations.load import LOAD, UNKNOWNS
from inertid_ros.core.records import BoolArray, FloatArray
from inertid_ros.core.robot.robot import FramePath
from inertid_ros.core.settings.settings import LoadSettings
from inertid_ros.motions.files import read_ends
from inertid_ros.motions.motion import JointPath
from inertid_ros.motions.targets import LoadInformation, WrenchNoise

HOLD = 2.0
"""Seconds for which a pose is held: what the noise of a sensor is measured from."""
SWING = np.radians(20.0)
"""Amplitude [rad] of a swing: a wrist does it at one swing per second without haste."""
SWING_FREQUENCY = 0.5
"""Swings to and fro per second: 3.4 rad/s² at that amplitude."""
SWING_TIME = 6.0
"""Seconds of a swing that are counted on."""

_TURNS = np.radians([30.0, 60.0, 90.0, 120.0])
"""By which a joint may be asked to turn [rad]: people can estimate these."""
_AS_GOOD, _AS_GOOD_SHARE = 1.0, 0.2
"""By how much the log-determinant may be lower where a pose is easier to reach: confidence regions of 1.6 times the
volume; and at most this share of what the best pose brings."""
_SWUNG = 3
"""Joints nearest to the sensor of which one is swung: a swing of the others carries the arm around at 1 m/s."""
_SWING_TURN = np.radians(60.0)
"""By which one of them may be turned before [rad], so that an axis points in another direction of the load."""
_END_MARGIN = 0.1
"""To keep from the ends of joints [rad]: nobody stops exactly."""
_ENOUGH, _ENOUGH_SHARE = 2.0, 0.5
"""The same for a pose that counts although another one was asked for: people turn joints by about as much as told."""
_DIFFERENT = np.radians(10.0)
"""At least one joint of a pose must differ by this [rad] from every one that was held."""
_OTHER = np.radians(20.0)
"""Poses closer than this [rad] to one that was held or cannot be reached are not asked for."""
_STEP = 0.02
"""Seconds between the samples from which a swing is valued."""


class Choice(NamedTuple):
    """What to do next: a pose (n,) to go to, and to hold; or a joint to swing about it, which is -1 for none."""

    target: FloatArray
    swing: int = -1


class Planner:
    """Remembers what poses and swings have told, and chooses the next ones."""

    def __init__(self, path: FramePath, gravity: FloatArray) -> None:
        """Start with nothing known, for the joints that move one sensor frame and gravity (3,) in the root frame."""
        self._model = LoadInformation(path, gravity, WrenchNoise(), LoadSettings())
        self._turning = [joint for joint, is_angle in enumerate(path.is_angle) if is_angle]
        lower, upper = read_ends(path)
        self._lower, self._upper = lower + _END_MARGIN, upper - _END_MARGIN
        self._information = self._model.prior
        self._held: list[FloatArray] = []
        self._refused: list[FloatArray] = []

    def choose(self, present: FloatArray, wanted: Sequence[bool]) -> Choice | None:
        """The pose to go to from the present one (n,), for the parameters (10,) that are wanted.

        Of those that are as good as the best it is the one with the fewest joints and the smallest turn. None if no
        joint has room to turn.
        """
        turns = [
            self._turn(joints, sizes)
            for count in (1, 2)
            for joints in combinations(self._turning, count)
            for sizes in product(np.concatenate((_TURNS, -_TURNS)), repeat=count)
        ]
        poses = np.array([present + turn for turn in turns if self._may_ask_for(present + turn)])
        if not len(poses):
            return None
        gains = self._find_gains(self._model.hold(poses, HOLD), wanted)
        best = self._prefer_easy(gains, poses - present)
        return Choice(poses[best])

    def counts(self, present: FloatArray, choice: Choice, wanted: Sequence[bool]) -> bool:
        """Whether it is worth while to hold the present pose (n,) instead of the one that was asked for."""
        if any(np.abs(present - pose).max() < _DIFFERENT for pose in self._held):
            return False
        gain, best = self._find_gains(self._model.hold(np.array([present, choice.target]), HOLD), wanted)
        return bool(gain >= best - min(_ENOUGH, _ENOUGH_SHARE * best))

    def hold(self, pose: FloatArray) -> None:
        """Remember a pose (n,) that was held."""
        self._held.append(pose)
        self._information += self._model.hold(pose[None], HOLD)[0]

    def refuse(self, choice: Choice) -> None:
        """Do not ask for a pose again, nor for others near it."""
        self._refused.append(choice.target)

    def choose_swing(self, present: FloatArray, wanted: Sequence[bool]) -> Choice | None:
        """The joint to swing to and fro, in the present pose (n,) or with a joint turned; None if none has room."""
        last = self._turning[-_SWUNG:]
        sizes = (0.0, _SWING_TURN, -_SWING_TURN)
        poses = [
            present + self._turn((joint,), (size,)) for joint in last for size in sizes if size or joint == last[0]
        ]
        listed = [(pose, joint) for pose in poses for joint in last if self._may_swing(pose, joint)]
        if not listed:
            return None
        gains = self._find_gains(np.array([self._swing(*one) for one in listed]), wanted)
        best = self._prefer_easy(gains, np.array([pose - present for pose, _ in listed]))
        return Choice(*listed[best])

    def swing(self, present: FloatArray, joint: int) -> None:
        """Remember a swing about a pose (n,)."""
        self._information += self._swing(present, joint)

    def _turn(self, joints: Sequence[int], sizes: Sequence[float]) -> FloatArray:
        turn = np.zeros(len(self._lower))
        turn[list(joints)] = sizes
        return turn

    def _prefer_easy(self, gains: FloatArray, turns: FloatArray) -> int:
        """Of what is as good as the best, the one that takes the fewest joints (n,), and the nearest to the sensor."""
        slack = min(_AS_GOOD, _AS_GOOD_SHARE * float(gains.max()))
        sizes = np.abs(turns) @ np.arange(turns.shape[1], 0, -1)
        order = np.lexsort((-gains, sizes.round(6), np.count_nonzero(turns, axis=1), gains < gains.max() - slack))
        return int(order[0])

    def _is_inside(self, low: FloatArray, high: FloatArray) -> bool:
        return bool(np.all((low >= self._lower)[self._turning]) and np.all((high <= self._upper)[self._turning]))

    def _may_ask_for(self, pose: FloatArray) -> bool:
        others = (*self._refused, *self._held)
        return self._is_inside(pose, pose) and all(np.abs(pose - other).max() >= _OTHER for other in others)

    def _may_swing(self, pose: FloatArray, joint: int) -> bool:
        around = self._turn((joint,), (SWING,))
        return self._is_inside(pose - around, pose + around)

    def _swing(self, present: FloatArray, joint: int) -> FloatArray:
        """Information (U, U) of a swing about a pose (n,)."""
        times = np.arange(0.0, SWING_TIME, _STEP)
        rate = 2.0 * np.pi * SWING_FREQUENCY
        path = JointPath(np.tile(present, (len(times), 1)), *np.zeros((2, len(times), len(present))))
        path.positions[:, joint] += SWING * np.sin(rate * times)
        path.velocities[:, joint] = SWING * rate * np.cos(rate * times)
        path.accelerations[:, joint] = -SWING * rate**2 * np.sin(rate * times)
        return np.asarray(self._model.evaluate(path, _STEP).information - self._model.prior)

    def _find_gains(self, added: FloatArray, wanted: Sequence[bool]) -> FloatArray:
        """By how much informations (N, U, U) would raise the log-determinant of that on what is wanted."""
        mask: BoolArray = np.zeros(UNKNOWNS, dtype=bool)
        mask[:LOAD] = wanted
        self._model.wanted = mask
        now = self._model.cost(self._information)
        return np.array([now - self._model.cost(self._information + one) for one in added])
