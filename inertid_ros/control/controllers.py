"""PD control with feedforward (An, Atkeson, Griffiths and Hollerbach 1987; thesis, appendix A), sampled.

    n = n_ff + K_v (v_d - v) + K_p (q_d - q)    (4)

n_ff is nothing, gravity or all of the dynamics, of the desired motion. Without a velocity reference v_d is zero.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from inertid_ros.core.errors import SettingError
from inertid_ros.core.records import FloatArray
from inertid_ros.motions.motion import Hold, Motion
from inertid_ros.motions.trajectory import Trajectory

RATE = 1000.0
"""Samples per second of the trajectory that a driver follows."""
TIMEOUT = 0.1
"""Seconds for which an effort is obeyed without another: ten messages of a slow controller."""
FAR = 0.1
"""Largest step [rad or m] between the pose held and the begin of a trajectory: what feedback takes without a jerk that
exceeds the drives' limits."""


@dataclass(frozen=True, slots=True, eq=False)
class Gains:
    """Of the feedback, one for each joint: K_p (n,) [Nm/rad or N/m] and K_v (n,) [Nm s/rad or N s/m]."""

    position: FloatArray
    velocity: FloatArray

    @classmethod
    def of_inertias(cls, inertias: FloatArray, frequency: FloatArray | float, damping: float) -> Gains:
        """Gains that give inertias (n,) a natural frequency [rad/s] and a damping ratio."""
        return cls(inertias * np.square(frequency), 2.0 * damping * inertias * frequency)


class Reference:
    """A desired motion as a controller has it: sampled, and held for a period."""

    def __init__(self, motion: Motion, rate: float) -> None:
        """Sample a motion of finite duration, at a rate [Hz]."""
        self.rate = rate
        self.path = motion.at(np.arange(1 + int(np.ceil(motion.duration * rate))) / rate)

    def index(self, time: float) -> int:
        """Which sample holds at a time [s]; the last one for ever."""
        return min(max(int(time * self.rate + 1e-6), 0), len(self.path.positions) - 1)


class PDController:
    """PD control of each joint by itself, with efforts that are fed forward."""

    def __init__(
        self,
        reference: Reference,
        gains: Gains,
        feedforward: FloatArray | None = None,
        has_velocity_reference: bool = True,
    ) -> None:
        """Take the efforts (N, n) that belong to the samples of the reference; none if there are none."""
        self._reference = reference
        self._gains = gains
        path = reference.path
        self._feedforward = np.zeros_like(path.positions) if feedforward is None else feedforward
        self._velocities = path.velocities if has_velocity_reference else np.zeros_like(path.velocities)

    def command(self, time: float, positions: FloatArray, velocities: FloatArray) -> FloatArray:
        """Efforts (n,) at a time [s], by measured positions and velocities (n,)."""
        k, gains = self._reference.index(time), self._gains
        feedback = gains.velocity * (self._velocities[k] - velocities)
        feedback += gains.position * (self._reference.path.positions[k] - positions)
        return np.asarray(self._feedforward[k] + feedback)


class Follower:
    """The controller of a robot's driver: holds its pose, follows trajectories as they come, and obeys raw efforts."""

    def __init__(self, pose: FloatArray, gains: Gains, efforts: FloatArray) -> None:
        """Hold a pose (n,), with efforts (n,) fed forward, such as those against gravity."""
        self._gains = gains
        self._begin = 0.0
        self._hold(pose, efforts)
        self._next: tuple[float, PDController, Reference, FloatArray] | None = None
        self._raw: tuple[float, FloatArray] | None = None

    def _hold(self, pose: FloatArray, efforts: FloatArray) -> None:
        self._reference = Reference(Hold(pose, 0.0), RATE)
        self._efforts = efforts[None]
        self._controller = PDController(self._reference, self._gains, self._efforts)

    def follow(self, trajectory: Trajectory, begin: float) -> None:
        """Follow a trajectory from a time on [s], with its efforts fed forward; in its last pose these are held.

        Raises:
            SettingError: if it does not begin where the arm is meant to be.
        """
        now = self._reference.index(begin - self._begin)
        pose, start = self._reference.path.positions[now], trajectory.path.positions[0]
        if np.abs(start - pose).max() > FAR:
            raise SettingError("trajectory", start.round(3).tolist(), f"one that begins in {pose.round(3).tolist()}")
        reference = Reference(trajectory, RATE)
        times = np.arange(len(reference.path.positions)) / RATE
        efforts = np.broadcast_to(self._efforts[now], reference.path.positions.shape)
        if trajectory.efforts is not None:
            efforts = np.column_stack([np.interp(times, trajectory.times, column) for column in trajectory.efforts.T])
        self._raw = None
        self._next = (begin, PDController(reference, self._gains, efforts), reference, efforts)

    def push(self, efforts: FloatArray, time: float) -> None:
        """Obey efforts (n,), in place of any trajectory; without another for 0.1 s, hold the pose reached."""
        self._raw, self._next = (time, np.array(efforts, dtype=np.float64)), None

    def command(self, time: float, positions: FloatArray, velocities: FloatArray) -> FloatArray:
        """Efforts (n,) at a time [s], by measured positions and velocities (n,)."""
        if self._raw is not None:
            if time - self._raw[0] <= TIMEOUT:
                return self._raw[1]
            self._hold(positions, self._raw[1])
            self._raw = None
        if self._next is not None and time >= self._next[0]:
            self._begin, self._controller, self._reference, self._efforts = self._next
            self._next = None
        return self._controller.command(time - self._begin, positions, velocities)
