"""What a URDF whose joints are not quite where the arm's are does to the links that are identified with it.

Where joint j of the arm sits off by a small twist k_j (three lengths, three angles; the angle about its own axis is an
error of its zero), efforts change by D k, with D the derivative of inverse dynamics. A solution that knows nothing of
this takes part of it for links: it is off by S k, with S = (A^T W A + prior)^-1 A^T W D, however long the motion is.
The twists are not estimated, for their columns would be as many as those of the links themselves: their covariance K
adds S K S^T to that of the links (consider parameters, Schmidt 1966).

D comes from pinocchio's derivatives of an arm each joint of which is preceded by a locked one of six degrees of
freedom. It is needed at some states of the motion only: S is a ratio of sums over the motion, and what is systematic
does not depend on how many rows tell it.
"""

from __future__ import annotations

import copy
import dataclasses
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pinocchio as pin

from inertid_ros.core.compiled import brief
from inertid_ros.core.equations.model import LinkModel
from inertid_ros.core.equations.nearest_links import NearestLinks
from inertid_ros.core.equations.signals import SignalMemory
from inertid_ros.core.estimation.information import SquareRootInformation
from inertid_ros.core.lapack import solve_triangular
from inertid_ros.core.records import FloatArray, IntArray
from inertid_ros.core.rigid_body.inertial import pinocchio_columns

_MOST_STATES = 64
"""States of the motion that are kept: of six joints, five times as many equations as there are base parameters. With
200, standard deviations of simulated arms differ by a few per cent."""
_STANDS, _NEAR = 0.02, 0.02
"""Velocity [rad/s or m/s] below which a joint stands, as for Coulomb friction, and distance [rad or m] below which it
stands where it stood: the same pose, however long it is held, is one state."""
_LONGEST_STEP = 0.05
"""Seconds between two rows over which velocities are differentiated: as for decision intervals of 20 ms, not a gap."""
_SMALLEST_MASS = 1e-3
"""Mass [kg] that a link has at least: pinocchio has no first moments without a mass."""


@brief
def stands_there(sample: FloatArray, state: FloatArray) -> bool:
    """Whether all joints of a sample [t, q (n,), v (n,), ...] stand where those of a state (3, n) are."""
    joints = state.shape[1]
    for joint in range(joints):
        if abs(sample[1 + joints + joint]) >= _STANDS or abs(sample[1 + joint] - state[0, joint]) >= _NEAR:
            return False
    return True


class MotionStates:
    """Joint positions, velocities and accelerations of a motion, at times that are spread evenly over its rows.

    Attributes:
        kept: [q, v, a] (3, n) each; never changed in place, so that a shallow copy is independent.
        stride: rows per state.
    """

    def __init__(self) -> None:
        """Start with none."""
        self.kept: list[FloatArray] = []
        self.stride, self._count = 2, 0
        self._before: FloatArray = np.empty(0)

    def take(self, sample: FloatArray, joints: int) -> None:
        """Take the sample [t, q (n,), v (n,), ...] of a row; two in a row make a state."""
        if self.kept and stands_there(sample, self.kept[-1]):
            return
        place = self._count % self.stride
        self._count += 1
        if place == 0:
            self._before = sample[: 1 + 2 * joints].copy()
        elif place == 1:
            before, now = self._before, sample[: 1 + 2 * joints]
            step = now[0] - before[0]
            if 0.0 < step <= _LONGEST_STEP:
                mean = 0.5 * (before + now)[1:].reshape(2, joints)
                slope = (now - before)[1 + joints :] / step
                self.kept = [*self.kept, np.vstack((mean, slope))]
                self.thin()

    def thin(self, stride: int = 0) -> None:
        """Leave every other one out while there are too many, or fewer rows per state than this."""
        while len(self.kept) > _MOST_STATES or self.stride < stride:
            self.kept, self.stride = self.kept[::2], 2 * self.stride

    def add(self, other: MotionStates) -> None:
        """Take over the states of another motion, as many as there are of the same duration here."""
        theirs = copy.copy(other)
        theirs.thin(self.stride)
        self.thin(theirs.stride)
        self.kept = self.kept + theirs.kept
        self.thin()


class KinematicErrors:
    """How far errors of the kinematic model carry into the links of an arm."""

    def __init__(self, model: LinkModel, place: float, axis: float, tilt: float, gain: float) -> None:
        """Set up for an arm.

        Args:
            model: the arm.
            place: standard deviation of the places of joints [m] along each axis, and
            axis: of their axes and zeros [rad], about each; and of what is estimated beside the links,
            tilt: that of the base [rad], and
            gain: that of each channel.
        """
        self._model, self._priors = model, (place, axis, tilt, gain)

    @cached_property
    def _loose(self) -> LooseArm:
        return LooseArm(self._model)

    def find_covariance(
        self,
        states: MotionStates,
        values: FloatArray,
        root: FloatArray,
        prior: SquareRootInformation,
        information: FloatArray,
    ) -> FloatArray:
        """What unknown kinematics add to the covariance (U, U).

        Args:
            states: of the motion.
            values: (U,) base parameters, and
            root: (U, U) of their covariance.
            prior: of the base parameters.
            information: (K,) rows of each channel over the variance of one.
        """
        count, (place, axis, tilt, gain) = len(values), self._priors
        if not states.kept:
            return np.zeros((count, count))
        regressors, tilts, places = self._loose.differentiate(np.array(states.kept), values, root)
        gains = (regressors @ values)[:, :, None] * np.eye(len(information))
        sizes = np.tile(np.repeat([place, axis], 3), places.shape[-1] // 6)
        columns = np.concatenate((regressors, gain * gains, tilt * tilts, sizes * places), axis=-1)
        rows = columns * np.sqrt(information / len(states.kept))[:, None]
        own = count + gains.shape[-1] + tilts.shape[-1]
        known = np.eye(own, rows.shape[-1])  # of gains and tilts, whose columns are in units of their deviations
        known[:count, :count] = prior.factor
        factor = np.asarray(np.linalg.qr(np.concatenate((rows.reshape(-1, rows.shape[-1]), known)), mode="r"))
        carried = solve_triangular(factor[:own, :own], factor[:own, own:])[:count]
        return np.asarray(carried @ carried.T)


class Derivatives(NamedTuple):
    """At N states.

    Attributes:
        regressors: (N, K, U) of the base parameters.
        tilts: (N, K, 3) how what is measured changes with rotations of the base, and
        places: (N, K, 6 n) with the twists of the places of all joints.
    """

    regressors: FloatArray
    tilts: FloatArray
    places: FloatArray


class LooseArm:
    """An arm whose base and joints could be anywhere, each by a locked joint of six degrees of freedom before it."""

    def __init__(self, model: LinkModel) -> None:
        """Take an arm apart."""
        rigid, loose = model.arm.model, pin.Model()
        loose.gravity = rigid.gravity
        bodies, places = [loose.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "base")], []
        for index in range(1, rigid.njoints):
            name, where = rigid.names[index], rigid.jointPlacements[index]
            places.append(loose.addJoint(bodies[rigid.parents[index]], pin.JointModelFreeFlyer(), where, f"{name}*"))
            bodies.append(loose.addJoint(places[-1], rigid.joints[index], pin.SE3.Identity(), name))
        self._loose, self._bodies = loose, bodies[1:]
        self._positions = np.array([loose.joints[body].idx_q for body in bodies[1:]])
        self._velocities = np.array([loose.joints[body].idx_v for body in bodies[1:]])
        self._places: IntArray = np.concatenate([loose.joints[place].idx_v + np.arange(6) for place in places])
        self._measures = self._list_measures(model)
        self._nearest = NearestLinks(model)
        self._equation = model.equation

    def _list_measures(self, model: LinkModel) -> FloatArray:
        """What is measured (K, N) of all N efforts of the loose arm: its base's are the wrench under it."""
        everything = np.eye(self._loose.nv)
        parts = []
        if model.source.has_base_wrench:
            parts.append(model.base_pose.toActionMatrix().T @ everything[:6])
        if model.source.has_efforts:
            parts.append(everything[self._velocities])
        return np.concatenate(parts)

    def differentiate(self, states: FloatArray, values: FloatArray, root: FloatArray) -> Derivatives:
        """Derivatives at states [q, v, a] (N, 3, n), with links of these base parameters, see `NearestLinks`."""
        # Several threads may ask at a time: each has a model, its data and an equation's memory of its own.
        loose, columns = pin.Model(self._loose), pinocchio_columns(len(self._bodies))
        floats, integers = self._equation.memory
        equation = dataclasses.replace(self._equation, memory=SignalMemory(floats.copy(), integers))
        links = self._nearest.complete(values, root)[columns].reshape(-1, 10)
        for body, link in zip(self._bodies, links, strict=True):
            link[0] = max(link[0], _SMALLEST_MASS)
            loose.inertias[body] = pin.Inertia.FromDynamicParameters(link)
        derivatives = np.empty((len(states), len(self._measures), loose.nv))
        data, q, (v, a) = loose.createData(), pin.neutral(loose), np.zeros((2, loose.nv))
        for found, state in zip(derivatives, states, strict=True):
            q[self._positions], v[self._velocities], a[self._velocities] = state
            pin.computeRNEADerivatives(loose, data, q, v, a)
            found[:] = self._measures @ data.dtau_dq
        regressors = equation.assemble(equation.compute(*states.swapaxes(0, 1)))
        return Derivatives(regressors, derivatives[:, :, 3:6], derivatives[:, :, self._places])
