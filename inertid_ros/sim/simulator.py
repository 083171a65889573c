"""A robot that moves, carries and measures: blocks of samples for any span of time, reproducible by a seed."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import ArrayLike

from inertid_ros.core.errors import SettingError
from inertid_ros.core.records import FloatArray, IntArray, JointBlock, WrenchBlock
from inertid_ros.core.robot.robot import Robot
from inertid_ros.motions.motion import JointPath, Motion
from inertid_ros.sim.arm import ArmDynamics, JointFriction, load_wrench, move_wrench_to_root, with_links
from inertid_ros.sim.driven import Drive, DrivenArm, ForwardDynamics
from inertid_ros.sim.sensors import JointSensors, NoiseStream, SampleClock, Samples, SensorModel, WrenchSensor

DEFAULT_START = 1_700_000_000_000_000_000
DEFAULT_GRAVITY = (0.0, 0.0, -9.80665)
NO_LOAD = np.zeros(10)
NO_LOAD.setflags(write=False)


class LoadSchedule:
    """Changes of the load in the order of time; before the first there is none."""

    def __init__(self, changes: Iterable[tuple[float, FloatArray | None]] = ()) -> None:
        """Take pairs of time [s] and load, phi (10,) in the sensor frame or None to release."""
        self._changes: list[tuple[float, FloatArray]] = []
        for time, load in changes:
            self.change(time, load)

    def change(self, time: float, load: FloatArray | None) -> None:
        """Replace the load from a time on, until the next change; at equal times the last call counts."""
        phi = NO_LOAD if load is None else np.array(load, dtype=np.float64)
        insort(self._changes, (float(time), phi), key=lambda change: change[0])

    def find(self, time: float) -> FloatArray:
        """The load phi (10,) at a time, the same object until it changes."""
        place = bisect_right(self._changes, time, key=lambda change: change[0])
        return self._changes[place - 1][1] if place else NO_LOAD

    def parts(self, times: FloatArray) -> Iterator[tuple[slice, FloatArray]]:
        """Yield for each load that is there at any of the rising times (N,) which of them these are, and phi (10,)."""
        bounds = np.searchsorted(times, [time for time, _ in self._changes])
        loads = [NO_LOAD, *(load for _, load in self._changes)]
        for first, last, load in zip([0, *bounds], [*bounds, len(times)], loads, strict=True):
            if first < last:
                yield slice(int(first), int(last)), load


class Simulator:
    """An arm that follows a motion exactly or is driven, with a load at its wrist sensor, and joint and base sensors.

    Times are seconds since the start. Every sample has its own random numbers, so it does not matter in which spans
    samples are asked for. The base sensor has the errors of the wrist sensor's model, drawn independently, and takes
    its samples at the same instants.

    Attributes:
        drive: what drives the arm; None for one that follows a motion.
    """

    def __init__(
        self,
        robot_urdf: str,
        sensor_frame: str,
        motion: Motion | Drive,
        sensors: SensorModel | None = None,
        load_schedule: Iterable[tuple[float, FloatArray | None]] = (),
        gravity: ArrayLike = DEFAULT_GRAVITY,
        seed: int = 0,
        start_stamp: int = DEFAULT_START,
        tool: FloatArray | None = None,
        friction: JointFriction | None = None,
        links: FloatArray | None = None,
    ) -> None:
        """Set up a simulation.

        Args:
            robot_urdf: text of the URDF.
            sensor_frame: frame of the URDF in which loads are given and wrenches measured.
            motion: of all joints of the URDF in its order, or what drives them.
            sensors: rates and errors; None for perfect sensors at 200 Hz.
            load_schedule: times [s] at which the load becomes phi (10,) in the sensor frame, or None.
            gravity: (3,) in the root frame, m/s^2.
            seed: of all random numbers, 0 or more.
            start_stamp: stamp of time 0, ns.
            tool: phi (10,) in the sensor frame of what is always there; None for nothing.
            friction: of the joints' drives; None for ideal ones.
            links: phi (n, 10) of the moving links in the frames of the joints; None for those of the URDF.
        """
        robot = Robot.from_urdf(robot_urdf)
        if links is not None:
            robot = with_links(robot, links)
        gravity = np.asarray(gravity, dtype=np.float64)
        self._arm = ArmDynamics(robot, sensor_frame, gravity)
        count = len(motion.pose) if isinstance(motion, Drive) else motion.joint_count
        if count != len(robot.joint_names):
            raise SettingError("motion", count, f"a motion of the joints {', '.join(robot.joint_names)}")
        model = SensorModel() if sensors is None else sensors
        self._frames = {"wrist": sensor_frame, "base": robot.frame_names[0]}
        self._start = start_stamp
        self._delay = model.wrench_delay
        self._effort_delay = None if model.effort_noise is None else model.effort_delay
        self._friction = (friction or JointFriction()).for_joints(count)
        self._tool = NO_LOAD if tool is None else np.array(tool, dtype=np.float64)
        self._schedule = LoadSchedule(load_schedule)
        self.drive = motion if isinstance(motion, Drive) else None
        if isinstance(motion, Drive):
            dynamics = ForwardDynamics(robot, sensor_frame, gravity, self._friction, self._tool)
            self._motion: Motion | DrivenArm = DrivenArm(motion, dynamics, model, self._schedule.find, seed)
        else:
            self._motion = motion
        self._joint_clock, self._wrench_clock = (
            SampleClock(rate, model.stamp_jitter, NoiseStream(seed, f"{name} clock", 1, uniform=True))
            for name, rate in (("joint", model.joint_rate), ("wrench", model.wrench_rate))
        )
        self._joint_sensors = JointSensors(model, seed, len(robot.joint_names))
        self._wrench_sensors = {place: WrenchSensor(model, seed, place) for place in self._frames}

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the joints, in the order of positions and velocities."""
        return self._arm.joint_names

    def attach(self, load: FloatArray, time: float) -> None:
        """Hang a load, phi (10,) in the sensor frame, on the sensor from a time on."""
        self._schedule.change(time, load)

    def release(self, time: float) -> None:
        """Take the load away from a time on."""
        self._schedule.change(time, None)

    def joints(self, start: float, end: float) -> JointBlock:
        """Measure the joints at all samples with start <= time < end."""
        samples = self._joint_clock.between(start, end)
        path = self._motion.at(samples.seconds)
        return JointBlock(
            self.joint_names,
            self._start + samples.instants,
            self._joint_sensors.read_positions(path.positions),
            self._joint_sensors.read_velocities(samples, path.velocities),
            self._measure_efforts(samples),
        )

    def wrenches(self, start: float, end: float) -> WrenchBlock:
        """Measure the wrench at the wrist at all samples with start <= time < end."""
        return self._measure("wrist", start, end)

    def base_wrenches(self, start: float, end: float) -> WrenchBlock:
        """Measure the wrench at the base, that of the whole arm and what it carries, in the root frame.

        Like that at the wrist it is the wrench on what is held, or its negative, according to the sensors' sign: the
        rate of change of momentum of all links, root link, tool and load minus their weights. Friction and rotors of
        the joints have no part in it.
        """
        return self._measure("base", start, end)

    def _measure_efforts(self, samples: Samples) -> FloatArray | None:
        """Measure what the motors do, (N, n), or None if the robot does not."""
        if self._effort_delay is None:
            return None
        times = samples.seconds - self._effort_delay
        if isinstance(self._motion, DrivenArm):
            return self._joint_sensors.read_efforts(samples, self._motion.efforts(times))
        path = self._motion.at(times)
        efforts = np.empty(path.positions.shape)
        for rows, load in self._schedule.parts(times):
            part, repeats = _drop_standstill(JointPath(*(values[rows] for values in path)))
            held = load_wrench(self._arm.move_sensor(part), load + self._tool)
            efforts[rows] = (self._arm.drive(part, held) + self._friction.efforts(part))[repeats]
        return self._joint_sensors.read_efforts(samples, efforts)

    def _measure(self, place: str, start: float, end: float) -> WrenchBlock:
        """Measure at one place."""
        samples = self._wrench_clock.between(start, end)
        times = samples.seconds - self._delay
        path, repeats = _drop_standstill(self._motion.at(times))
        motion = self._arm.move_sensor(path).take(repeats)
        wrenches: FloatArray = np.empty((len(times), 6))
        for rows, load in self._schedule.parts(times):
            wrenches[rows] = load_wrench(motion.take(rows), load + self._tool)
        if place == "base":
            wrenches = move_wrench_to_root(motion, wrenches) + self._arm.react_at_base(path)[repeats]
        readings = self._wrench_sensors[place].read(samples, wrenches)
        return WrenchBlock(self._frames[place], self._start + samples.instants, readings)


def _drop_standstill(path: JointPath) -> tuple[JointPath, IntArray]:
    """Leave out times at which everything is as it was at the time before; return the rest and how to repeat it."""
    new = np.ones(len(path.positions), dtype=bool)
    new[1:] = np.any([np.any(np.diff(part, axis=0) != 0.0, axis=1) for part in path], axis=0)
    return JointPath(*(part[new] for part in path)), np.cumsum(new) - 1
