"""Recordings of a load on a wrist sensor that is as imperfect as real ones.

They are made by code that shares nothing with the package: pinocchio's own spatial algebra on arms that are built here
from Denavit-Hartenberg tables.

What is measured is true, delayed, turned, scaled, mixed, biased, drifting and noisy, as `Imperfections` says.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

FloatArray = NDArray[np.floating[Any]]

GRAVITY = 9.80665
SENSOR = "sensor"

_HALF = np.pi / 2.0
ARMS: dict[str, tuple[bool, tuple[tuple[float, float, float], ...]]] = {
    "UR10": (
        False,
        (
            (_HALF, 0.0, 0.1273),
            (0.0, -0.612, 0.0),
            (0.0, -0.5723, 0.0),
            (_HALF, 0.0, 0.163941),
            (-_HALF, 0.0, 0.1157),
            (0.0, 0.0, 0.0922),
        ),
    ),
    "Panda": (
        True,
        (
            (0.0, 0.0, 0.333),
            (-_HALF, 0.0, 0.0),
            (_HALF, 0.0, 0.316),
            (_HALF, 0.0825, 0.0),
            (-_HALF, -0.0825, 0.384),
            (_HALF, 0.0, 0.0),
            (_HALF, 0.088, 0.0),
        ),
    ),
    "PUMA": (
        True,
        (
            (0.0, 0.0, 0.0),
            (-_HALF, 0.0, 0.2435),
            (0.0, 0.4318, -0.0934),
            (_HALF, -0.0203, 0.4331),
            (-_HALF, 0.0, 0.0),
            (_HALF, 0.0, 0.0),
        ),
    ),
    "DDArm": (True, ((0.0, 0.0, 0.0), (_HALF, 0.0, 0.0), (_HALF, 0.0, 0.45))),
}
"""Whether the table is Craig's (modified), and twist [rad], length and offset [m] of each joint; public data sheets."""


def _place(twist: float, length: float, offset: float, is_modified: bool) -> pin.SE3:
    """Where a joint's successor is at zero angle: Rx Tx Tz for Craig's, Tz Tx Rx for the standard convention."""
    turn = pin.SE3(pin.utils.rotate("x", twist), np.zeros(3))
    along_x, along_z = (
        pin.SE3(np.eye(3), np.array([length, 0.0, 0.0])),
        pin.SE3(np.eye(3), np.array([0.0, 0.0, offset])),
    )
    return turn * along_x * along_z if is_modified else along_z * along_x * turn


class Arm:
    """An arm with a sensor at its end."""

    def __init__(self, name: str) -> None:
        """Build one of the ARMS."""
        is_modified, rows = ARMS[name]
        self.name = name
        self.joints = tuple(f"joint_{index + 1}" for index in range(len(rows)))
        placements = [_place(*row, is_modified) for row in rows]
        if is_modified:
            self._before, after = placements, pin.SE3(np.eye(3), np.array([0.0, 0.0, 0.1]))
        else:
            self._before, after = [pin.SE3.Identity(), *placements[:-1]], placements[-1]
        self._after = after
        self.model = pin.Model()
        parent = 0
        for joint, placement in zip(self.joints, self._before, strict=True):
            parent = self.model.addJoint(parent, pin.JointModelRZ(), placement, joint)
        self.model.addFrame(pin.Frame(SENSOR, parent, 0, after, pin.FrameType.OP_FRAME))
        self.frame = self.model.getFrameId(SENSOR)

    def urdf(self) -> str:
        """The same as URDF text, for the program under test."""
        lines = [f'<robot name="{self.name}"><link name="link_0"/>']
        for index, (joint, placement) in enumerate(zip(self.joints, self._before, strict=True)):
            lines.append(
                f'<link name="link_{index + 1}"><inertial><mass value="1"/><inertia ixx="0.01" ixy="0" ixz="0" '
                'iyy="0.01" iyz="0" izz="0.01"/></inertial></link>'
                f'<joint name="{joint}" type="revolute"><parent link="link_{index}"/><child link="link_{index + 1}"/>'
                f'{_origin(placement)}<axis xyz="0 0 1"/><limit lower="-6.3" upper="6.3" velocity="6" effort="300"/>'
                "</joint>"
            )
        lines.append(
            f'<link name="{SENSOR}"/><joint name="mount" type="fixed"><parent link="link_{len(self.joints)}"/>'
            f'<child link="{SENSOR}"/>{_origin(self._after)}</joint></robot>'
        )
        return "".join(lines)


def _origin(placement: pin.SE3) -> str:
    xyz = " ".join(f"{value:.17g}" for value in placement.translation)
    rpy = " ".join(f"{value:.17g}" for value in pin.rpy.matrixToRpy(placement.rotation))
    return f'<origin xyz="{xyz}" rpy="{rpy}"/>'


@dataclass(frozen=True)
class Imperfections:
    """Standard deviations of what is wrong, unless said otherwise.

    Attributes:
        encoder: resolution [rad].
        tachometer: white noise of the velocities [rad/s]; None if velocities are not measured.
        jitter: of the joint states' stamps [s].
        delay: of the wrench [s], as it is; negative: drawn with this standard deviation.
        tilt: of gravity [rad], about each horizontal axis.
        gain: of each axis.
        cross_talk: of each axis from each other one; between force and torque by 0.1 m.
        rotation, offset: of the sensor against its frame in the URDF, about and along each axis [rad, m]; the load is
            meant in either of both.
        drift: random walk of the bias [N/sqrt(s), Nm/sqrt(s) * 20].
        coloured: share of the noise's standard deviation that is correlated, over
        correlation: [s].
        force, torque: white noise [N, Nm].
    """

    encoder: float = 1e-5
    tachometer: float | None = None
    jitter: float = 0.0
    delay: float = 0.0
    tilt: float = 0.0
    gain: float = 0.0
    cross_talk: float = 0.0
    rotation: float = 0.0
    offset: float = 0.0
    drift: float = 0.0
    coloured: float = 0.0
    correlation: float = 0.0
    force: float = 0.1
    torque: float = 5e-3


class Motion:
    """Rest for two seconds, then sums of sines that set in smoothly."""

    rest = 2.0
    rise = 1.0

    def __init__(self, joints: int, rng: np.random.Generator, speed: float) -> None:
        """Draw three frequencies, amplitudes and phases for each joint, with about this peak velocity [rad/s]."""
        self._middle = rng.uniform(-1.2, 1.2, joints)
        self._rates = 2.0 * np.pi * rng.uniform(0.1, 0.6, (3, joints))
        self._amplitudes = speed / self._rates * rng.uniform(0.3, 1.0, (3, joints)) / 2.0
        self._phases = rng.uniform(0.0, 2.0 * np.pi, (3, joints))

    def at(self, times: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Positions, velocities and accelerations (N, n)."""
        u = np.clip((times - self.rest) / self.rise, 0.0, 1.0)[:, None]
        w = u**3 * (10.0 - 15.0 * u + 6.0 * u**2)
        dw = 30.0 * u**2 * (1.0 - u) ** 2 / self.rise
        ddw = 60.0 * u * (1.0 - u) * (1.0 - 2.0 * u) / self.rise**2
        q, v, a = (np.zeros((len(times), len(self._middle))) for _ in range(3))
        for rate, amplitude, phase in zip(self._rates, self._amplitudes, self._phases, strict=True):
            angle = rate * times[:, None] + phase
            q += amplitude * np.sin(angle)
            v += amplitude * rate * np.cos(angle)
            a -= amplitude * rate**2 * np.sin(angle)
        return self._middle + w * q, dw * q + w * v, ddw * q + 2.0 * dw * v + w * a


class QuinticMoves:
    """Rest for two seconds, then fifth-order moves between poses, as Atkeson et al. 1986 made them."""

    rest = 2.0

    def __init__(self, poses: FloatArray, duration: float, hold: float = 0.0) -> None:
        """Go from pose to pose (P, n) [rad] in so much time [s] each, and stay there for so long [s]."""
        self._poses, self._duration, self._hold = poses, duration, hold

    def at(self, times: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Positions, velocities and accelerations (N, n)."""
        moves, period = len(self._poses) - 1, self._duration + self._hold
        passed = np.clip((times - self.rest) / period, 0.0, moves - 1e-12)
        index = passed.astype(int)
        u = np.minimum((passed - index) * period / self._duration, 1.0)[:, None]
        stands = (times < self.rest) | (times >= self.rest + moves * period)
        step = self._poses[index + 1] - self._poses[index]
        q = self._poses[index] + step * (u**3 * (10.0 - 15.0 * u + 6.0 * u**2))
        v = step * (30.0 * u**2 * (1.0 - u) ** 2) / self._duration
        a = step * (60.0 * u * (1.0 - u) * (1.0 - 2.0 * u)) / self._duration**2
        v[stands] = a[stands] = 0.0
        return q, v, a


def random_load(rng: np.random.Generator) -> FloatArray:
    """[m, mc, I about the origin] of a box of 0.5 to 4 kg in a gripper's reach."""
    mass = rng.uniform(0.5, 4.0)
    com = np.array([*rng.uniform(-0.05, 0.05, 2), rng.uniform(0.03, 0.15)])
    sides = rng.uniform(0.05, 0.3, 3)
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    moments = (
        mass
        / 12.0
        * np.array([sides[1] ** 2 + sides[2] ** 2, sides[0] ** 2 + sides[2] ** 2, sides[0] ** 2 + sides[1] ** 2])
    )
    inertia = turn @ np.diag(moments) @ turn.T + mass * (com @ com * np.eye(3) - np.outer(com, com))
    return np.concatenate(([mass], mass * com, inertia[np.triu_indices(3)]))


def _make_body(phi: FloatArray) -> pin.Inertia:
    mass, com = phi[0], phi[1:4] / phi[0]
    inertia = np.zeros((3, 3))
    inertia[np.triu_indices(3)] = phi[4:]
    inertia = inertia + np.triu(inertia, 1).T - mass * (com @ com * np.eye(3) - np.outer(com, com))
    return pin.Inertia(mass, com, inertia)


def express(phi: FloatArray, frame: pin.SE3) -> FloatArray:
    """The same load in another frame."""
    body = frame.actInv(_make_body(phi))
    com = body.lever
    inertia = body.inertia + body.mass * (com @ com * np.eye(3) - np.outer(com, com))
    return np.concatenate(([body.mass], body.mass * com, inertia[np.triu_indices(3)]))


def true_wrenches(
    arm: Arm, motion: Motion | QuinticMoves, times: FloatArray, phi: FloatArray, gravity: FloatArray
) -> FloatArray:
    """The wrench that the sensor exerts on the load, (N, 6) in its frame: what the last joint transmits, by RNEA.

    The arm itself weighs nothing.
    """
    model, frame = arm.model.copy(), arm.model.frames[arm.frame]
    model.appendBodyToJoint(frame.parentJoint, _make_body(phi), frame.placement)
    model.gravity.linear = gravity
    data, wrenches = model.createData(), np.empty((len(times), 6))
    force = data.f[frame.parentJoint]
    for index, (q, v, a) in enumerate(zip(*motion.at(times), strict=True)):
        pin.rnea(model, data, q, v, a)
        wrenches[index] = force.vector
    return np.asarray(wrenches @ frame.placement.toActionMatrix())


@dataclass(frozen=True)
class Sensor:
    """What is wrong with a sensor, and stays so: delay [s], tilt (2,) [rad], gains, cross-talk and mounting (6, 6).

    Attributes:
        frame: in which the load is meant, in that of the URDF.
    """

    delay: float
    tilt: FloatArray
    mixing: FloatArray
    frame: pin.SE3 = field(default_factory=pin.SE3.Identity)


def draw_sensor(has: Imperfections, rng: np.random.Generator) -> Sensor:
    """One of the sensors that are as imperfect as that."""
    delay = has.delay if has.delay >= 0.0 else float(-has.delay * rng.normal())
    tilt = has.tilt * rng.normal(size=2)
    lever = np.repeat([1.0, 0.1], 3)
    mixing = has.cross_talk * rng.normal(size=(6, 6)) * np.outer(lever, 1.0 / lever)
    np.fill_diagonal(mixing, has.gain * rng.normal(size=6))
    if not has.rotation and not has.offset:
        return Sensor(delay, tilt, mixing)
    mount = pin.SE3(pin.exp3(has.rotation * rng.normal(size=3)), has.offset * rng.normal(size=3))
    mixing = (np.eye(6) + mixing) @ mount.toActionMatrix().T - np.eye(6)
    return Sensor(delay, tilt, mixing, mount if rng.integers(2) else pin.SE3.Identity())


Disturbance = Callable[[FloatArray, FloatArray], FloatArray]
"""Wrenches (N, 6) that come on top, from times (N,) [s] and gravity (3,)."""


@dataclass(frozen=True)
class Recording:
    """What the sensors published: stamps [ns], and the truth."""

    joint_stamps: NDArray[np.int64]
    positions: FloatArray
    velocities: FloatArray | None
    wrench_stamps: NDArray[np.int64]
    wrenches: FloatArray
    phi: FloatArray


def record(
    arm: Arm,
    motion: Motion | QuinticMoves,
    phi: FloatArray,
    imperfections: Imperfections,
    rng: np.random.Generator,
    seconds: float,
    rate: float,
    disturb: Disturbance | None = None,
    sensor: Sensor | None = None,
) -> Recording:
    """Sensors at one rate [Hz], not in phase; what disturbs is measured as wrongly as the load. None: any sensor."""
    has = imperfections
    joint_times = np.arange(0.0, seconds, 1.0 / rate)
    wrench_times = np.arange(0.3 / rate, seconds, 1.0 / rate)
    q, v, _ = motion.at(joint_times)
    q = np.round(q / has.encoder) * has.encoder if has.encoder else q
    velocities = None if has.tachometer is None else v + has.tachometer * rng.normal(size=v.shape)
    sensor = sensor or draw_sensor(has, rng)
    delay, tilt = sensor.delay, sensor.tilt
    gravity = pin.exp3(np.array([tilt[0], tilt[1], 0.0])) @ np.array([0.0, 0.0, -GRAVITY])
    wrenches = true_wrenches(arm, motion, wrench_times - delay, phi, gravity)
    if disturb is not None:
        wrenches += disturb(wrench_times - delay, gravity)
    wrenches = wrenches @ (np.eye(6) + sensor.mixing).T
    scale = np.repeat([has.force, has.torque], 3)
    wrenches += scale * rng.normal(size=wrenches.shape)
    if has.coloured:
        decay = np.exp(-1.0 / (rate * has.correlation))
        steps = np.sqrt(1.0 - decay**2) * rng.normal(size=wrenches.shape)
        slow = np.empty_like(steps)
        state = rng.normal(size=6)
        for index, step in enumerate(steps):
            state = decay * state + step
            slow[index] = state
        wrenches += has.coloured * scale * slow
    walk = np.cumsum(rng.normal(size=wrenches.shape), axis=0) / np.sqrt(rate)
    wrenches += has.drift * walk * np.repeat([1.0, 0.05], 3)
    wrenches += np.concatenate((rng.uniform(-5.0, 5.0, 3), rng.uniform(-0.3, 0.3, 3)))
    start = 1_700_000_000_000_000_000
    jittered = joint_times + has.jitter * rng.uniform(-1.0, 1.0, len(joint_times))
    return Recording(
        start + np.round(jittered * 1e9).astype(np.int64),
        q,
        velocities,
        start + np.round(wrench_times * 1e9).astype(np.int64),
        wrenches,
        express(phi, sensor.frame),
    )
