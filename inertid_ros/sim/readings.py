"""What the sensors of a simulated robot make of the truth."""

from __future__ import annotations

import numpy as np

from inertid_ros.core.records import FloatArray
from inertid_ros.sim.noise import NoiseStream, RandomWalk
from inertid_ros.sim.per_joint import spread_over_joints
from inertid_ros.sim.sampling import Samples
from inertid_ros.sim.sensors import SensorModel


class WrenchSensor:
    """Turns true wrenches into readings."""

    def __init__(self, model: SensorModel, seed: int, name: str) -> None:
        """Set up the errors of one sensor; a sensor of another name has independent ones."""
        self._model = model
        self._noise = NoiseStream(seed, f"{name} noise", 6)
        self._walk = RandomWalk(seed, f"{name} drift", 6)
        self._phases = np.pi * NoiseStream(seed, f"{name} vibration", 6, uniform=True).rows(0, 1)
        self._sigma = _per_channel(model.force_noise, model.torque_noise)
        self._step = _per_channel(model.force_drift, model.torque_drift) / np.sqrt(model.wrench_rate)
        self._amplitude = _per_channel(model.vibration_force, model.vibration_torque)

    def read(self, samples: Samples, wrenches: FloatArray) -> FloatArray:
        """Return the readings (N, 6) of true wrenches on the load (N, 6).

        reading = (+ or -) wrench + bias + random walk + vibration + white noise
        """
        model = self._model
        readings = np.array(model.bias) + (wrenches if model.sign == "on_load" else -wrenches)
        if np.any(self._sigma):
            readings += self._sigma * self._noise.rows(samples.first, samples.last)
        if np.any(self._step):
            readings += self._step * self._walk.rows(samples.first, samples.last)
        if np.any(self._amplitude):
            angle = 2.0 * np.pi * model.vibration_frequency * samples.seconds[:, None]
            readings += self._amplitude * np.sin(angle + self._phases)
        return readings


class JointSensors:
    """Turns true positions, velocities and efforts of n joints into readings."""

    def __init__(self, model: SensorModel, seed: int, joint_count: int) -> None:
        """Set up encoders and, if the model has them, tachometers and effort sensors."""
        self._model = model
        self._noise = NoiseStream(seed, "tachometer noise", joint_count)
        self._effort_noise = NoiseStream(seed, "effort noise", joint_count)
        sigma = 0.0 if model.effort_noise is None else model.effort_noise
        self._effort_sigma = spread_over_joints("effort_noise", sigma, joint_count)
        limit = spread_over_joints("effort_limit", model.effort_limit, joint_count)
        self._effort_limit = np.where(limit > 0.0, limit, np.inf)

    def read_positions(self, positions: FloatArray) -> FloatArray:
        """Return positions (N, n) rounded to the encoders' steps."""
        step = self._model.encoder_resolution
        return np.rint(positions / step) * step if step > 0.0 else positions

    def read_velocities(self, samples: Samples, velocities: FloatArray) -> FloatArray | None:
        """Return velocities (N, n) with noise, or None if there are no tachometers."""
        sigma = self._model.velocity_noise
        if sigma is None:
            return None
        return velocities + sigma * self._noise.rows(samples.first, samples.last)

    def read_efforts(self, samples: Samples, efforts: FloatArray) -> FloatArray:
        """Return efforts (N, n) with noise, cut off at the limits."""
        noise = self._effort_sigma * self._effort_noise.rows(samples.first, samples.last)
        return np.clip(efforts + noise, -self._effort_limit, self._effort_limit)


def _per_channel(force: float, torque: float) -> FloatArray:
    """Return one value for each channel of a wrench, (6,)."""
    return np.repeat([force, torque], 3)
