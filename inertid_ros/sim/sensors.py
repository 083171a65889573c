"""The sensors of a simulated robot: rates, errors, and the readings they make of the truth."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from inertid_ros.core.errors import SettingError
from inertid_ros.core.records import BoolArray, FloatArray
from inertid_ros.sim.arm import spread_over_joints
from inertid_ros.sim.sampling import NoiseStream, RandomWalk, Samples

PUMA_ENCODER_RESOLUTION = 1e-4
"""About 10 000 counts per radian of the joint, rad."""
DDARM_RESOLVER_RESOLUTION = 2.0 * math.pi / 2**16
"""16 bits per turn, rad."""


@dataclass(frozen=True, slots=True)
class SensorModel:
    """Rates and errors of joint sensors and of a wrench sensor; the defaults are perfect sensors.

    Names, units and meanings are those of the simulated driver's parameters (`ScenarioSettings`), but for these:

    Attributes:
        velocity_noise: None for a robot without tachometers.
        effort_noise: for all joints or for each; None for a robot that measures no efforts.
        effort_limit: for all joints or for each.
        bias: (6,) in the sensor's own sign.
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
        for names, is_good, expected in _CHECKS:
            for name in names:
                value = getattr(self, name)
                if value is not None and not (np.all(np.isfinite(value)) and np.all(is_good(np.asarray(value)))):
                    raise SettingError(name, value, expected)
        limit = 0.5 / max(self.joint_rate, self.wrench_rate)
        if self.stamp_jitter >= limit:
            raise SettingError("stamp_jitter", self.stamp_jitter, f"less than half a sampling period, {limit:g} s")
        if self.sign not in ("on_load", "on_sensor"):
            raise SettingError("sign", self.sign, "on_load or on_sensor")


_SPREADS = (
    "encoder_resolution", "velocity_noise", "effort_noise", "effort_limit", "force_noise", "torque_noise",
    "force_drift", "torque_drift", "vibration_force", "vibration_torque", "stamp_jitter",
)  # fmt: skip
_CHECKS: tuple[tuple[tuple[str, ...], Callable[[FloatArray], BoolArray | bool], str], ...] = (
    (("joint_rate", "wrench_rate", "vibration_frequency"), lambda value: value > 0.0, "a frequency above 0 Hz"),
    (_SPREADS, lambda value: value >= 0.0, "a finite number of 0 or more"),
    (("bias",), lambda value: value.shape == (6,), "six finite numbers"),
    (("wrench_delay", "effort_delay"), lambda _: True, "a finite time"),
)
"""Attributes, what has to hold of each finite number besides, and what is expected of it in words."""


def paper_puma_sensors(seed: int) -> SensorModel:
    """Sensors like those of the PUMA experiments: encoders only, all at 200 Hz, and an arm that vibrates at 30 Hz.

    The bias is drawn from the seed, up to 3 N and 0.3 Nm in each channel.
    """
    shares = NoiseStream(seed, "bias", 6, uniform=True).rows(0, 1)[0]
    return SensorModel(
        encoder_resolution=PUMA_ENCODER_RESOLUTION,
        force_noise=0.1,
        torque_noise=0.005,
        bias=tuple((_per_channel(3.0, 0.3) * shares).tolist()),
        vibration_force=0.3,
        vibration_torque=0.01,
    )


def paper_ddarm_sensors(seed: int) -> SensorModel:
    """Sensors like those of the direct drive arm: resolvers and tachometers at 1 kHz, wrench at 240 Hz.

    Wrench noise, vibration and bias as for the PUMA.
    """
    return replace(
        paper_puma_sensors(seed),
        joint_rate=1000.0,
        wrench_rate=240.0,
        encoder_resolution=DDARM_RESOLVER_RESOLUTION,
        velocity_noise=0.005,
    )


def paper_ddarm_link_sensors(seed: int) -> SensorModel:
    """Sensors of the direct drive arm as for loads, but with tachometers of 0.01 rad/s noise, and efforts with 2 Nm."""
    return replace(paper_ddarm_sensors(seed), velocity_noise=0.01, effort_noise=2.0)


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
