"""Are the measured velocities velocities? Told by comparing their integral with the change of the positions."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from inertid_ros.core.diagnosis import Health
from inertid_ros.core.input.sample_buffer import SampleBuffer

_CHUNK = 100
_MOVED = 0.01
_JUDGED = 0.1
_TOLERANCE = 0.4


class VelocityCheck:
    """Compares in chunks of 100 samples; once velocities contradict the positions they are not trusted any more."""

    def __init__(self, joints: int, health: Health) -> None:
        """Start trusting."""
        self.trusted = True
        self._health = health
        self._seen = 0
        self._product = np.zeros(joints)
        self._power = np.zeros(joints)

    def split(self, count: int) -> Iterator[slice]:
        """Cut a block where a chunk ends, so that results do not depend on how samples arrive."""
        start = 0
        while start < count:
            stop = min(count, start + _CHUNK - self._seen)
            self._seen = (self._seen + stop - start) % _CHUNK
            yield slice(start, stop)
            start = stop

    def count_one(self, samples: SampleBuffer, origin: int) -> None:
        """Count a single sample just appended."""
        self._seen += 1
        if self._seen == _CHUNK:
            self._seen = 0
            self.count(samples, origin)

    def count(self, samples: SampleBuffer, origin: int) -> None:
        """Look at the last chunk if one has just ended."""
        if self._seen:
            return
        times, states = samples.times[-_CHUNK:], samples.states[-_CHUNK:]
        if len(times) < 3:
            return
        joints = len(self._power)
        steps = (times[1:] - times[:-1])[:, None]
        velocities = states[:, joints:]
        integral = (0.5 * steps * (velocities[1:] + velocities[:-1])).sum(axis=0)
        change = states[-1, :joints] - states[0, :joints]
        change[np.abs(change) < _MOVED] = 0.0
        self._product += change * integral
        self._power += change * change
        judged = self._power > _JUDGED**2
        slope = np.divide(self._product, self._power, out=np.ones(joints), where=judged)
        wrong = judged & (np.abs(slope - 1.0) > _TOLERANCE)
        if wrong.any():
            self.trusted = False
            slopes = [f"joint {joint}: {slope[joint]:.2f}" for joint in np.flatnonzero(wrong)]
            detail = ", ".join(slopes) + " times the change of position"
            self._health.report("joint_states", "velocity_unusable", int(times[-1] * 1e9) + origin, detail)
