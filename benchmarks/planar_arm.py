"""The two-joint planar arm of the thesis (6.5), whose dimensions are not printed: two rods of 4 kg and 0.5 m each.

It moves in a horizontal plane; m l² is 1 kg m². It has no friction, and its motors do what they are told.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from trials import RATE, practise

from inertid_ros.control.controllers import Gains
from inertid_ros.control.inverse_model import Inverse, InverseModel
from inertid_ros.control.practice import LearningModel, Practice
from inertid_ros.core.equations.model import LinkModel
from inertid_ros.core.records import FloatArray
from inertid_ros.core.robot.robot import Robot
from inertid_ros.core.settings.settings import Settings
from inertid_ros.motions.motion import JointPath, Motion
from inertid_ros.sim.sensors import SensorModel

_ROD = """<inertial><origin xyz="0.25 0 0"/><mass value="4"/>
<inertia ixx="0.001" ixy="0" ixz="0" iyy="0.083333333" iyz="0" izz="0.083333333"/></inertial>"""
_LIMIT = '<axis xyz="0 0 1"/><limit lower="-7" upper="7" effort="0" velocity="20"/>'
PLANAR = f"""<robot name="planar"><link name="base"/>
<joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/>{_LIMIT}</joint>
<link name="upper">{_ROD}</link>
<joint name="elbow" type="revolute"><parent link="upper"/><child link="fore"/><origin xyz="0.5 0 0"/>{_LIMIT}</joint>
<link name="fore">{_ROD}</link></robot>"""


class SeventhOrder:
    """From rest to rest without acceleration and jerk at the ends, as the thesis moves this arm."""

    def __init__(self, start: ArrayLike, end: ArrayLike, duration: float) -> None:
        """Take two poses (n,) [rad] and the time between them [s]."""
        self._start, self._end = np.array(start, dtype=float), np.array(end, dtype=float)
        self.duration, self.joint_count = duration, len(self._start)

    def at(self, times: FloatArray) -> JointPath:
        """Evaluate the polynomial and its derivatives."""
        rise = np.polynomial.Polynomial([0.0, 0.0, 0.0, 0.0, 35.0, -84.0, 70.0, -20.0])
        s, way = np.clip(times / self.duration, 0.0, 1.0)[:, None], self._end - self._start
        speed, curve = rise.deriv()(s) / self.duration, rise.deriv(2)(s) / self.duration**2
        return JointPath(self._start + way * rise(s), way * speed, way * curve)


def make_planar() -> InverseModel:
    """The exact model of the arm, without drives."""
    robot = Robot.from_urdf(PLANAR)
    without = {f"links.{name}": False for name in ("viscous", "coulomb", "rotor_inertia", "offset")}
    model = LinkModel.from_settings(robot, Settings.from_flat(without), robot.joint_names)
    return InverseModel(model, model.prior)


def practise_planar(
    model: LearningModel,
    motion: Motion,
    gains: Gains,
    trials: int,
    noise: float = 0.0,
    first: Inverse | None = None,
    seed: int = 0,
) -> list[Practice]:
    """Trials with a model, the first of them with the command of another one if that is given."""
    sensors = SensorModel(joint_rate=RATE, velocity_noise=noise, effort_noise=0.0)
    return practise(PLANAR, "fore", sensors, model, motion, gains, trials, first, seed)
