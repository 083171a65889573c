"""Recordings of an arm's joint torques that are as imperfect as real ones, made by pinocchio alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from imperfect import ARMS, GRAVITY, FloatArray, Motion, _origin, _place
from scipy.signal import lfilter

from inertid_ros.core.records import JointBlock

MASSES = {
    "UR10": (7.8, 12.9, 3.9, 2.0, 2.0, 0.4),
    "Panda": (4.9, 3.2, 3.2, 3.6, 3.2, 1.7, 1.4),
    "PUMA": (13.0, 17.4, 5.0, 1.2, 0.6, 0.3),
    "DDArm": (67.0, 53.0, 19.7),
}
"""Masses of the links [kg]."""
LEVERS = {
    "UR10": (50.0, 50.0, 30.0, 12.0, 10.0, 8.0),
    "Panda": (30.0, 40.0, 30.0, 30.0, 8.0, 8.0, 5.0),
    "PUMA": (40.0, 60.0, 30.0, 8.0, 6.0, 4.0),
    "DDArm": (120.0, 120.0, 60.0),
}
"""Torques that the joints are made for [Nm]: friction and noise are parts of them."""
SPRING_AT = 0.4
"""Position of the second joint [rad] in which its spring has no torque."""


@dataclass(frozen=True)
class EffortImperfections:
    """Standard deviations of what is wrong, unless said otherwise.

    Attributes:
        encoder: resolution [rad].
        tachometer: white noise of the velocities [rad/s].
        delay: of the efforts [s], as it is; negative: drawn with this standard deviation.
        tilt: of gravity [rad], about each horizontal axis.
        gain: of each joint.
        stribeck: part of Coulomb friction that comes on top at low velocity, as it is.
        knee: velocity [rad/s] at which friction changes its sign.
        heat: part of the friction that is lost over the run, as it is.
        gear: part of the torque between gear and link that the gear takes as friction, as it is.
        spring: torque of a balance spring at the second joint, as a part of its lever, as it is.
        low_pass: cutoff of a filter in the driver of the efforts [Hz]; 0 for none.
        step: to multiples of which the driver rounds efforts [Nm], as it is; 0 if it does not.
        places: of the joints in the URDF [m], along each axis, and
        axes: of their axes and zeros there [rad], about each.
        coloured: share of the noise's standard deviation that is correlated, over
        correlation: [s].
        noise: white, as a part of the levers, at 250 Hz.
    """

    encoder: float = 1e-5
    tachometer: float = 1e-3
    delay: float = 0.0
    tilt: float = 0.0
    gain: float = 0.0
    stribeck: float = 0.0
    knee: float = 0.005
    heat: float = 0.0
    gear: float = 0.0
    spring: float = 0.0
    low_pass: float = 0.0
    step: float = 0.0
    places: float = 0.0
    axes: float = 0.0
    coloured: float = 0.0
    correlation: float = 0.3
    noise: float = 0.005


class DrivenArm:
    """An arm with links, rotors and friction, drawn at random around plausible ones."""

    def __init__(self, name: str, rng: np.random.Generator) -> None:
        """Draw one of the ARMS."""
        is_modified, rows = ARMS[name]
        self.name, n = name, len(rows)
        self.joints = tuple(f"joint_{index + 1}" for index in range(n))
        placements = [_place(*row, is_modified) for row in rows]
        self._before = placements if is_modified else [pin.SE3.Identity(), *placements[:-1]]
        after = [*self._before[1:], pin.SE3(np.eye(3), np.array([0.0, 0.0, 0.1]))]
        self.inertias = [
            _random_link(mass, place.translation, rng) for mass, place in zip(MASSES[name], after, strict=True)
        ]
        self.guesses = [
            _random_link(mass * rng.uniform(0.8, 1.2), place.translation, rng)
            for mass, place in zip(MASSES[name], after, strict=True)
        ]
        self.levers = np.array(LEVERS[name])
        self.rotor = 0.006 * self.levers * rng.uniform(0.5, 1.5, n)
        self.viscous = 0.03 * self.levers * rng.uniform(0.5, 1.5, n)
        self.coulomb = 0.06 * self.levers * rng.uniform(0.5, 1.5, n)
        self.offset = 0.01 * self.levers * rng.normal(size=n)
        self.model = pin.Model()
        parent = 0
        for joint, placement, inertia in zip(self.joints, self._before, self.inertias, strict=True):
            parent = self.model.addJoint(parent, pin.JointModelRZ(), placement, joint)
            self.model.appendBodyToJoint(parent, inertia, pin.SE3.Identity())

    def urdf(self, off: FloatArray | None = None) -> str:
        """Its kinematics as URDF text, joints off by (n, 6) [m, rad], with links that are off by some 20 %."""
        shifts = np.zeros((len(self.joints), 6)) if off is None else off
        places = [
            pin.SE3(place.rotation @ pin.exp3(shift[3:]), place.translation + shift[:3])
            for place, shift in zip(self._before, shifts, strict=True)
        ]
        lines = [f'<robot name="{self.name}"><link name="link_0"/>']
        for index, (joint, placement, body) in enumerate(zip(self.joints, places, self.guesses, strict=True)):
            com = " ".join(f"{value:.17g}" for value in body.lever)
            i = body.inertia
            lines.append(
                f'<link name="link_{index + 1}"><inertial><origin xyz="{com}" rpy="0 0 0"/>'
                f'<mass value="{body.mass}"/><inertia ixx="{i[0, 0]}" ixy="{i[0, 1]}" '
                f'ixz="{i[0, 2]}" iyy="{i[1, 1]}" iyz="{i[1, 2]}" izz="{i[2, 2]}"/></inertial></link>'
                f'<joint name="{joint}" type="revolute"><parent link="link_{index}"/><child link="link_{index + 1}"/>'
                f'{_origin(placement)}<axis xyz="0 0 1"/>'
                '<limit lower="-6.3" upper="6.3" velocity="6" effort="300"/></joint>'
            )
        return "".join([*lines, "</robot>"])

    def phi(self) -> FloatArray:
        """(10 n,) [m, mc, I about the origin, Ixx Ixy Ixz Iyy Iyz Izz] of all links."""
        parts = []
        for body in self.inertias:
            c = body.lever
            about = body.inertia + body.mass * (c @ c * np.eye(3) - np.outer(c, c))
            parts.append(np.concatenate(([body.mass], body.mass * c, about[np.triu_indices(3)])))
        return np.concatenate(parts)


def _random_link(mass: float, to_next: FloatArray, rng: np.random.Generator) -> pin.Inertia:
    """A box between this joint and the next one."""
    length = float(np.linalg.norm(to_next))
    com = to_next * rng.uniform(0.3, 0.7) + rng.uniform(-0.04, 0.04, 3)
    along = np.abs(to_next) / max(length, 1e-9)
    sides = rng.uniform(0.08, 0.16, 3) * (mass / 5.0) ** (1 / 3) + along * length * 0.8
    moments = (
        mass
        / 12.0
        * np.array([sides[1] ** 2 + sides[2] ** 2, sides[0] ** 2 + sides[2] ** 2, sides[0] ** 2 + sides[1] ** 2])
    )
    turn = pin.exp3(0.2 * rng.normal(size=3))
    return pin.Inertia(mass, com, turn @ np.diag(moments) @ turn.T)


def record(
    arm: DrivenArm, motion: Motion, has: EffortImperfections, rng: np.random.Generator, seconds: float, rate: float
) -> JointBlock:
    """What the arm publishes while it moves."""
    times = np.arange(0.0, seconds, 1.0 / rate)
    q, v, _ = motion.at(times)
    delay = has.delay if has.delay >= 0.0 else float(-has.delay * rng.normal())
    tilt = has.tilt * rng.normal(size=2)
    model = arm.model.copy()
    model.gravity.linear = pin.exp3(np.array([*tilt, 0.0])) @ np.array([0.0, 0.0, -GRAVITY])
    data = model.createData()
    then = times - delay
    efforts = np.array([pin.rnea(model, data, *state) for state in zip(*motion.at(then), strict=True)])
    _, vd, ad = motion.at(then)
    warm = 1.0 - has.heat * (1.0 - np.exp(-2.0 * times / seconds)) / (1.0 - np.exp(-2.0))
    changes_sign = np.tanh(vd / has.knee)
    shape = changes_sign * (1.0 + has.stribeck * np.exp(-((vd / 0.1) ** 2)))
    efforts[:, 1] -= has.spring * arm.levers[1] * np.sin(motion.at(then)[0][:, 1] - SPRING_AT)
    efforts += has.gear * np.abs(efforts) * changes_sign
    efforts += arm.rotor * ad + warm[:, None] * (arm.viscous * vd + arm.coulomb * shape) + arm.offset
    efforts *= 1.0 + has.gain * rng.normal(size=len(arm.joints))
    scale = has.noise * arm.levers * np.sqrt(rate / 250.0)
    efforts += scale * rng.normal(size=q.shape)
    if has.coloured:
        decay = np.exp(-1.0 / (rate * has.correlation))
        slow = lfilter([np.sqrt(1 - decay**2)], [1.0, -decay], rng.normal(size=q.shape), axis=0)
        efforts += has.coloured * scale * slow
    if has.low_pass:
        decay = np.exp(-2.0 * np.pi * has.low_pass / rate)
        efforts = lfilter([1.0 - decay], [1.0, -decay], efforts, axis=0, zi=decay * efforts[:1])[0]
    if has.step:
        efforts = np.round(efforts / has.step) * has.step
    q = np.round(q / has.encoder) * has.encoder
    velocities = v + has.tachometer * rng.normal(size=v.shape)
    stamps = 1_700_000_000_000_000_000 + np.round(times * 1e9).astype(np.int64)
    return JointBlock(arm.joints, stamps, q, velocities, efforts)
