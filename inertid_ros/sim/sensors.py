"""The sensors of a simulated robot: rates, errors, and the readings they make of the truth."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from inertid_ros.core.errors import SettingError
from inertid_ros.core.records import FloatArray
from inertid_ros.sim.friction import spread_over_joints
from inertid_ros.sim.noise import NoiseStream, RandomWalk
from inertid_ros.sim.sampling import Samples

PUMA_ENCODER_RESOLUTION = 1e-4
"""About 10 000 counts per radian of the joint, rad."""
DDARM_RESOLVER_RESOLUTION = 2.0 * math.pi / 2**16
"""16 bits per turn, rad."""


@dataclass(frozen=True, slots=True)
class SensorModel:
    """Rates and errors of joint sensors and of a wrench sensor; the defaults are perfect sensors.

    Attributes:
        joint_rate: joint samples per second, Hz.
        wrench_rate: wrench samples per second, Hz.
        encoder_resolution: step of the positions, rad or m; 0 for none.
        velocity_noise: standard deviation of the tachometers, rad/s or m/s; None for a robot without tachometers.
        effort_noise: standard deviation of each effort, Nm or N, for all joints or for each; None for a robot that
            measures none.
        effort_limit: efforts beyond are read as this much, Nm or N, for all joints or for each; 0 for none.
        effort_delay: the effort stamped t is the one that acted at t - effort_delay, s.
        force_noise: standard deviation of each force sample, N.
        torque_noise: standard deviation of each moment sample, Nm.
        bias: (6,) what the sensor reads without any load, in its own sign, N and Nm.
        force_drift: random walk of the force bias, N/sqrt(s).
        torque_drift: random walk of the moment bias, Nm/sqrt(s).
        vibration_force: amplitude of a sine in each force channel, N.
        vibration_torque: amplitude of a sine in each moment channel, Nm.
        vibration_frequency: of these sines, Hz; their phases are random.
        stamp_jitter: samples are taken irregularly, up to this much before or after their turn, s. Stamps are true.
        wrench_delay: the wrench stamped t is the one that acted at t - wrench_delay, s.
        sign: whether the sensor reads the wrench on the load or the one on itself.
    """

    joint_rate: float = 200.0
    wrench_rate: float = 200.0
    encoder_resolution: float = 0.0
    velocity_noise: float | None = None
    effort_noise: float | tuple[float, ...] | None = None
    effort_limit: float | tuple[float, ...] = (0.0,)
    effort_delay: float = 0.0
    force_noise: float = 0.0
    torque_noise: float = 0.0
    bias: tuple[float, ...] = (0.0,) * 6
    force_drift: float = 0.0
    torque_drift: float = 0.0
    vibration_force: float = 0.0
    vibration_torque: float = 0.0
    vibration_frequency: float = 30.0
    stamp_jitter: float = 0.0
    wrench_delay: float = 0.0
    sign: Literal["on_load", "on_sensor"] = "on_load"

    def __post_init__(self) -> None:
        """Reject what no sensor can be."""
        self._check_numbers()
        limit = 0.5 / max(self.joint_rate, self.wrench_rate)
        if self.stamp_jitter >= limit:
            raise SettingError("stamp_jitter", self.stamp_jitter, f"less than half a sampling period, {limit:g} s")
        if self.sign not in ("on_load", "on_sensor"):
            raise SettingError("sign", self.sign, "on_load or on_sensor")

    def _check_numbers(self) -> None:
        for name in ("joint_rate", "wrench_rate", "vibration_frequency"):
            if not 0.0 < getattr(self, name) < math.inf:
                raise SettingError(name, getattr(self, name), "a frequency above 0 Hz")
        for name in SPREADS:
            value = getattr(self, name)
            if value is not None and not np.all((np.asarray(value) >= 0.0) & np.isfinite(value)):
                raise SettingError(name, value, "a finite number of 0 or more")
        if len(self.bias) != 6 or not np.all(np.isfinite(self.bias)):
            raise SettingError("bias", self.bias, "six finite numbers")
        for name in ("wrench_delay", "effort_delay"):
            if not math.isfinite(getattr(self, name)):
                raise SettingError(name, getattr(self, name), "a finite time")


SPREADS = (
    "encoder_resolution",
    "velocity_noise",
    "effort_noise",
    "effort_limit",
    "force_noise",
    "torque_noise",
    "force_drift",
    "torque_drift",
    "vibration_force",
    "vibration_torque",
    "stamp_jitter",
)
"""The attributes of a sensor model that cannot be negative."""


def paper_puma_sensors(seed: int) -> SensorModel:
    """Sensors like those of the PUMA experiments: encoders only, all at 200 Hz, and an arm that vibrates at 30 Hz.

    The bias is drawn from the seed, up to 3 N and 0.3 Nm in each channel.
    """
    return SensorModel(
        joint_rate=200.0,
        wrench_rate=200.0,
        encoder_resolution=PUMA_ENCODER_RESOLUTION,
        force_noise=0.1,
        torque_noise=0.005,
        bias=_draw_bias(seed),
        vibration_force=0.3,
        vibration_torque=0.01,
    )


def paper_ddarm_sensors(seed: int) -> SensorModel:
    """Sensors like those of the direct drive arm: resolvers and tachometers at 1 kHz, wrench at 240 Hz.

    Wrench noise, vibration and bias as for the PUMA.
    """
    return SensorModel(
        joint_rate=1000.0,
        wrench_rate=240.0,
        encoder_resolution=DDARM_RESOLVER_RESOLUTION,
        velocity_noise=0.005,
        force_noise=0.1,
        torque_noise=0.005,
        bias=_draw_bias(seed),
        vibration_force=0.3,
        vibration_torque=0.01,
    )


def paper_ddarm_link_sensors(seed: int) -> SensorModel:
    """Sensors of the direct drive arm as for loads, but with tachometers of 0.01 rad/s noise, and efforts with 2 Nm."""
    return replace(paper_ddarm_sensors(seed), velocity_noise=0.01, effort_noise=2.0)


def _draw_bias(seed: int) -> tuple[float, ...]:
    """Return a bias of up to 3 N and 0.3 Nm."""
    shares = NoiseStream(seed, "bias", 6, uniform=True).rows(0, 1)[0]
    return tuple((np.repeat([3.0, 0.3], 3) * shares).tolist())


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
