"""The sensors of a simulated robot: when they take samples, their errors, and the readings they make of the truth.

Random numbers go by index: row k of a stream is the same however and in whatever order the rows are asked for.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Generic, Literal, NamedTuple, TypeVar

import numpy as np

from inertid_ros.core.errors import SettingError
from inertid_ros.core.records import FloatArray, IntArray, JointBlock, WrenchBlock
from inertid_ros.sim.arm import spread_over_joints

BLOCK = 1024
"""Rows that are drawn at once, from a generator seeded by seed, stream and number of the block."""
NANOSECONDS = 1e9
AHEAD = 0.1
"""Seconds that are computed ahead: sample by sample the simulation would cost many times as much."""
PUMA_ENCODER_RESOLUTION = 1e-4
"""About 10 000 counts per radian of the joint, rad."""
DDARM_RESOLVER_RESOLUTION = 2.0 * math.pi / 2**16
"""16 bits per turn, rad."""


class NoiseStream:
    """Endless table of independent random rows: standard normal, or uniform from -1 to 1."""

    def __init__(self, seed: int, name: str, width: int, uniform: bool = False) -> None:
        """Set up a stream; streams of other names or seeds are independent of it."""
        self._key = (seed, zlib.crc32(name.encode()))
        self._width = width
        self._uniform = uniform
        self._latest: tuple[int, FloatArray] = (-1, np.empty((0, width)))

    def rows(self, first: int, last: int) -> FloatArray:
        """Return rows first to last - 1, (last - first, width)."""
        if last <= first:
            return np.empty((0, self._width))
        start = first // BLOCK
        blocks = [self.block(number) for number in range(start, (last - 1) // BLOCK + 1)]
        table = blocks[0] if len(blocks) == 1 else np.concatenate(blocks)
        return table[first - start * BLOCK : last - start * BLOCK]

    def block(self, number: int) -> FloatArray:
        """Return rows number * BLOCK and the following, (BLOCK, width)."""
        if self._latest[0] != number:
            random = np.random.default_rng([*self._key, number])
            shape = (BLOCK, self._width)
            table: FloatArray = random.uniform(-1.0, 1.0, shape) if self._uniform else random.standard_normal(shape)
            self._latest = (number, table)
        return self._latest[1]


class RandomWalk(NoiseStream):
    """Endless table of running sums of standard normal rows, starting after one step."""

    def __init__(self, seed: int, name: str, width: int) -> None:
        """Set up a walk; walks of other names or seeds are independent of it."""
        super().__init__(seed, name, width)
        self._starts = [np.zeros(width)]

    def block(self, number: int) -> FloatArray:
        """Return rows number * BLOCK and the following, (BLOCK, width)."""
        while len(self._starts) <= number:
            self._starts.append(self.block(len(self._starts) - 1)[-1])
        return self._starts[number] + np.cumsum(super().block(number), axis=0)


class Samples(NamedTuple):
    """Consecutive samples of one sensor: number of the first, of the one after the last, and instants [ns] (N,)."""

    first: int
    last: int
    instants: IntArray

    @property
    def seconds(self) -> FloatArray:
        """Instants in seconds, (N,)."""
        return self.instants / NANOSECONDS


class SampleClock:
    """Sample k is taken at k / rate + jitter (1 + u_k), with u_k uniform from -1 to 1.

    Jitter is below half a period, so the order of samples never changes.
    """

    def __init__(self, rate: float, jitter: float, noise: NoiseStream) -> None:
        """Take the rate [Hz], the jitter [s] and a uniform stream of width 1."""
        self._rate = rate
        self._jitter = jitter
        self._noise = noise

    def between(self, start: float, end: float) -> Samples:
        """Find the samples with start <= instant < end, both in seconds and not negative."""
        low, high = round(start * NANOSECONDS), round(end * NANOSECONDS)
        first = max(0, int((start - 2.0 * self._jitter) * self._rate) - 1)
        last = max(first, int(end * self._rate) + 2)
        seconds = np.arange(first, last) / self._rate
        if self._jitter > 0.0:
            seconds = seconds + self._jitter * (1.0 + self._noise.rows(first, last)[:, 0])
        instants = np.rint(seconds * NANOSECONDS).astype(np.int64)
        begin, stop = np.searchsorted(instants, [low, max(low, high)])
        return Samples(first + int(begin), first + int(stop), instants[begin:stop])


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
        """Reject what the ranges of the parameters do not."""
        for name, value in (("effort_noise", self.effort_noise), ("effort_limit", self.effort_limit)):
            if value is not None and not (np.all(np.isfinite(value)) and np.all(np.asarray(value) >= 0.0)):
                raise SettingError(name, value, "a finite number of 0 or more")
        limit = 0.5 / max(self.joint_rate, self.wrench_rate)
        if self.stamp_jitter >= limit:
            raise SettingError("stamp_jitter", self.stamp_jitter, f"less than half a sampling period, {limit:g} s")


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


Block = TypeVar("Block", JointBlock, WrenchBlock)


class Playback(Generic[Block]):
    """Gives each sample of one sensor once, when its time has come.

    Times are seconds since the start of the simulation, whose stamps must count from 0.
    """

    def __init__(self, read: Callable[[float, float], Block], ahead: float = AHEAD) -> None:
        """Take one of a simulator's methods, such as `simulator.wrenches`, and how far ahead to compute [s]."""
        self._seconds_ahead = ahead
        self._read: Callable[[float, float], Block] = read
        self._given = 0.0
        self._computed = 0.0
        self._ahead: Block = read(0.0, 0.0)

    def advance(self, time: float) -> Block:
        """Return the samples since the last call and before a time."""
        if time > self._computed:
            self._computed = time + self._seconds_ahead
            self._ahead = self._read(self._given, self._computed)
        limits = np.rint(np.array([self._given, time]) * NANOSECONDS).astype(np.int64)
        first, last = np.searchsorted(self._ahead.stamps, limits)
        self._given = time
        return self._ahead.take(slice(int(first), int(last)))

    def skip_to(self, time: float) -> None:
        """Leave out the samples before a time, or go back to it."""
        self._given = time
        self.recompute()

    def recompute(self) -> None:
        """Forget what was computed ahead, since the simulation has changed."""
        self._computed = self._given
