"""An arm that is moved by efforts: forward dynamics with friction, rotors and noisy drives, under a sampled controller.

    M(q) a + C(q, v) v + g(q) + J a + d v + c tanh(v / v_c) + o = tau

It is a motion like any other to the simulator, which measures it with the same sensors.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import pinocchio as pin

from inertid_ros.core.errors import SettingError
from inertid_ros.core.records import FloatArray
from inertid_ros.core.rigid_body.inertial import change_frame, from_pinocchio, to_pinocchio
from inertid_ros.core.robot.robot import Robot
from inertid_ros.motions.motion import JointPath
from inertid_ros.sim.arm import JointFriction, PerJoint, spread_over_joints
from inertid_ros.sim.sensors import JointSensors, NoiseStream, Samples, SensorModel

STEP = 0.0005
"""Seconds between two evaluations of the dynamics. With half of it, the errors of the paper's controllers change by
less than 0.01 degrees."""
KNEE = 0.01
"""Velocity [rad/s or m/s] at which Coulomb friction has three quarters of its value: of ball bearings, and as slow as a
step of the integration can follow on the lightest joint."""
_NOISE_STEPS = 2
"""Steps for which a random effort lasts, 1 ms, whatever the controller's rate."""


class Controller(Protocol):
    """What commands an arm."""

    def command(self, time: float, positions: FloatArray, velocities: FloatArray) -> FloatArray:
        """Efforts (n,) [Nm or N] at a time [s], by measured positions and velocities (n,)."""


@dataclass(frozen=True, slots=True, eq=False)
class Drive:
    """How an arm is driven.

    Attributes:
        pose: (n,) in which it begins, at rest.
        controller: what commands it.
        rate: of the controller's samples, Hz.
        latency: from a sample to the moment when its effort acts, s.
        effort_noise: standard deviation of what the motors add to what they are told, for all joints or for each.
        memory: seconds of the past that can be asked for.
    """

    pose: FloatArray
    controller: Controller
    rate: float = 1000.0
    latency: float = 0.0
    effort_noise: PerJoint = 0.0
    memory: float = np.inf

    def __post_init__(self) -> None:
        """Reject what cannot be simulated."""
        if not 1.0 <= self.rate <= 1.0 / STEP:
            raise SettingError("control_rate", self.rate, f"1 to {1.0 / STEP:g} Hz")


class ForwardDynamics:
    """Accelerations of an arm with friction, rotors and what it carries.

    Attributes:
        limits: (n,) of the motors' efforts, by the URDF; infinite where it gives none.
    """

    def __init__(
        self, robot: Robot, frame: str, gravity: FloatArray, friction: JointFriction, tool: FloatArray
    ) -> None:
        """Take a robot, the frame of tool and load, gravity (3,), the drives joint by joint, and the tool phi (10,)."""
        self._bare = robot.model.copy()
        self._bare.gravity.linear = gravity
        self._bare.armature = np.asarray(friction.rotor_inertia, dtype=np.float64)
        placed = self._bare.frames[self._bare.getFrameId(frame)]
        self._body, self._place = placed.parentJoint, placed.placement
        self._viscous, self._coulomb = np.asarray(friction.viscous_friction), np.asarray(friction.coulomb_friction)
        self._offset = np.asarray(friction.effort_offset)
        limits = np.array(self._bare.effortLimit)
        self.limits = np.where(limits > 0.0, limits, np.inf)
        self._tool = tool
        self.carry(np.zeros(10))

    def carry(self, phi: FloatArray) -> None:
        """Fix a load phi (10,) to the frame beside the tool, in place of the one before."""
        model = self._bare.copy()
        carried = change_frame(phi + self._tool, self._place.rotation, self._place.translation)
        model.inertias[self._body] = to_pinocchio(from_pinocchio(model.inertias[self._body]) + carried)
        self._model, self._data = model, model.createData()

    def accelerate(self, positions: FloatArray, velocities: FloatArray, efforts: FloatArray) -> FloatArray:
        """Accelerations (n,) by the motors' efforts (n,)."""
        lost = self._viscous * velocities + self._coulomb * np.tanh(velocities / KNEE) + self._offset
        return np.array(pin.aba(self._model, self._data, positions, velocities, efforts - lost))


class DrivenArm:
    """The motion of an arm under its controller, computed as far as it is asked for."""

    duration = np.inf

    def __init__(
        self,
        drive: Drive,
        dynamics: ForwardDynamics,
        sensors: SensorModel,
        find_load: Callable[[float], FloatArray],
        seed: int,
    ) -> None:
        """Start at rest; the controller reads the joints with these sensors.

        Args:
            drive: how the arm is driven.
            dynamics: of the arm.
            sensors: of its joints.
            find_load: returns phi (10,) of the load at a time [s], the same object while it is the same.
            seed: of what the motors add.
        """
        self.joint_count = len(drive.pose)
        self._dynamics = dynamics
        self._find_load = find_load
        self._drive = drive
        self._sensors = JointSensors(sensors, seed, self.joint_count)
        self._has_tachometer = sensors.velocity_noise is not None
        self._noise = NoiseStream(seed, "drive noise", self.joint_count)
        self._noise_deviation = spread_over_joints("drive_noise", drive.effort_noise, self.joint_count)
        self._positions: FloatArray = np.array(drive.pose, dtype=np.float64)
        self._read: FloatArray = self._sensors.read_positions(self._positions)
        self._velocities: FloatArray = np.zeros(self.joint_count)
        self._accelerations: FloatArray = np.zeros(self.joint_count)
        self._count = self._sampled = 0
        self._first = 0
        self._waiting: deque[tuple[int, FloatArray]] = deque()
        self._command: FloatArray = np.zeros(self.joint_count)
        self._added: FloatArray = np.zeros(self.joint_count)
        self._path: list[tuple[FloatArray, ...]] = []
        self._load: FloatArray | None = None

    def advance(self, time: float) -> None:
        """Compute the motion up to a time [s]."""
        while self._count <= _find_step(time):
            self._take_step()
        if np.isfinite(self._drive.memory):
            surplus = len(self._path) - int(self._drive.memory / STEP)
            if surplus > 0:
                del self._path[:surplus]
                self._first += surplus

    def at(self, times: FloatArray) -> JointPath:
        """Positions, velocities and accelerations; before time 0 those of the start."""
        path, late = self._take(times, 3)
        positions, velocities, accelerations = path
        moved = positions + late * velocities + 0.5 * late**2 * accelerations
        return JointPath(moved, velocities + late * accelerations, accelerations)

    def efforts(self, times: FloatArray) -> FloatArray:
        """What the motors were told (N, n), within their limits: what a driver can measure of them."""
        return self._take(times, 4)[0][3]

    def _take(self, times: FloatArray, parts: int) -> tuple[list[FloatArray], FloatArray]:
        """The last steps before times, and how long before [s]."""
        if len(times) == 0:
            return [np.empty((0, self.joint_count))] * parts, np.empty((0, 1))
        self.advance(max(float(times.max()), 0.0))
        steps = np.array([_find_step(time) for time in times.tolist()])
        chosen = [self._path[k - self._first] for k in np.maximum(steps, self._first).tolist()]
        found = [np.array([row[part] for row in chosen]) for part in range(parts)]
        return found, np.maximum(times - steps * STEP, 0.0)[:, None]

    def _take_step(self) -> None:
        """One step with constant acceleration, that of the state halfway: exact to the second order."""
        time = self._count * STEP
        load = self._find_load(time)
        if load is not self._load:
            self._load = load
            self._dynamics.carry(load)
        if time * self._drive.rate >= self._sampled - 1e-6:
            self._sample(time)
        while self._waiting and self._waiting[0][0] <= self._count:
            limits = self._dynamics.limits
            self._command = np.clip(self._waiting.popleft()[1], -limits, limits)
        if self._count % _NOISE_STEPS == 0:
            slot = self._count // _NOISE_STEPS
            self._added = self._noise_deviation * self._noise.rows(slot, slot + 1)[0]
        q, v, half = self._positions, self._velocities, 0.5 * STEP
        a = self._dynamics.accelerate(q + half * v, v + half * self._accelerations, self._command + self._added)
        self._path.append((q, v, a, self._command))
        self._positions, self._velocities, self._accelerations = q + STEP * (v + half * a), v + STEP * a, a
        self._count += 1

    def _sample(self, time: float) -> None:
        """Let the controller look at the joints as they were when its sample was due, and command."""
        number = self._sampled
        due = number / self._drive.rate
        late = time - due
        positions = self._sensors.read_positions(self._positions - late * self._velocities)
        samples = Samples(number, number + 1, np.array([round(due * 1e9)]))
        read = self._sensors.read_velocities(samples, (self._velocities - late * self._accelerations)[None])
        velocities = (positions - self._read) * self._drive.rate if read is None else read[0]
        self._read = positions
        command = self._drive.controller.command(due, positions, velocities)
        self._waiting.append((self._count + round(self._drive.latency / STEP), np.array(command, dtype=np.float64)))
        self._sampled += 1


def _find_step(time: float) -> int:
    """Number of the last step that begins before a time [s] or then; 0 before the first."""
    return max(int(time / STEP + 1e-6), 0)
