"""Rows of the energy model of Gautier and Khalil (1988): over a window, work put in = energy gained + energy lost.

    sum_i int tau_i dq_i  =  H(t2) - H(t1) + sum_i int (viscous_i v_i + coulomb_i s(v_i) + offset_i) dq_i

with H the kinetic and potential energy of the links and of the rotors (1/2 rotor_inertia_i v_i^2), and s(v) the sign of
v, smoothed as clip(v / coulomb_velocity, -1, 1). Everything is linear in the unknowns and needs no acceleration.
Integrals are taken over the positions: their noise does not add up over a window as that of velocities does.
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

import numpy as np
import pinocchio as pin

from inertid_ros.core.equations.model import LinkModel
from inertid_ros.core.input.segments import Segment
from inertid_ros.core.records import FloatArray, IntArray
from inertid_ros.core.rigid_body.inertial import pinocchio_columns
from inertid_ros.core.robot.robot import ArmModel
from inertid_ros.core.settings.settings import LinksSettings


class EnergyWindows(NamedTuple):
    """Windows that have ended.

    Attributes:
        times: (R, 2) start and end [s].
        rows: (R, F + 1) the F unknowns' columns, then the work put in [J].
        squares: (R, n) int v_i^2 dt.
        positions: (R, 2, n) at start and end.
        velocities: (R, 2, n) at start and end.
    """

    times: FloatArray
    rows: FloatArray
    squares: FloatArray
    positions: FloatArray
    velocities: FloatArray


class _Sample(NamedTuple):
    """What is kept of one sample: time, position (n,), velocity (n,), and forces (4, n) of unit coefficients."""

    time: float
    position: FloatArray
    velocity: FloatArray
    forces: FloatArray


_Ended = tuple[_Sample, _Sample, FloatArray]
_TIME_ROUNDING = 1e-9
"""Time [s] by which a window may be too short: stamps are nanoseconds."""


class EnergyRows:
    """Turns samples into rows, one a window; each window begins with the sample that ended the one before.

    Columns: ten of each link, then for those that are switched on viscous friction, Coulomb friction, rotor inertia
    and torque offset of each joint.
    """

    def __init__(
        self,
        arm: ArmModel,
        window: float,
        coulomb_velocity: float,
        *,
        viscous: bool = True,
        coulomb: bool = True,
        rotor_inertia: bool = True,
        offset: bool = True,
    ) -> None:
        """Set the shortest window [s], and the speed [rad/s or m/s] below which Coulomb friction fades."""
        self._model = arm.model
        self._data = arm.model.createData()
        self._order = pinocchio_columns(arm.model.nv)
        self._window = window
        self._coulomb_velocity = coulomb_velocity
        self._is_on = np.array([viscous, coulomb, rotor_inertia, offset])
        self._columns = arm.model.nv * (10 + int(self._is_on.sum()))
        self._start: _Sample | None = None
        self._last: _Sample | None = None
        self._sums: FloatArray = np.zeros((4, arm.model.nv))

    def restart(self) -> None:
        """Forget the window that has begun: there was a gap."""
        self._start = self._last = None

    def process(
        self, times: FloatArray, positions: FloatArray, velocities: FloatArray, efforts: FloatArray
    ) -> EnergyWindows:
        """Take samples, in blocks of any size, and return the windows that end with them.

        Args:
            times: (N,) seconds, increasing.
            positions: (N, n) rad or m, without jumps by a turn.
            velocities: (N, n) rad/s or m/s.
            efforts: (N, n) Nm or N.
        """
        ended = self._find_windows(times, positions, velocities, efforts)
        count, joints = len(ended), self._model.nv
        ends = [(start, end) for start, end, _ in ended]
        return EnergyWindows(
            times=np.array([[item.time for item in pair] for pair in ends]).reshape(count, 2),
            rows=np.array([self._make_row(*window) for window in ended]).reshape(count, self._columns + 1),
            squares=np.array([sums[1] for _, _, sums in ended]).reshape(count, joints),
            positions=np.array([[item.position for item in pair] for pair in ends]).reshape(count, 2, joints),
            velocities=np.array([[item.velocity for item in pair] for pair in ends]).reshape(count, 2, joints),
        )

    def _find_windows(
        self, times: FloatArray, positions: FloatArray, velocities: FloatArray, efforts: FloatArray
    ) -> list[_Ended]:
        """Start, end and integrals (4, n) of the windows that end in a block."""
        signs = np.clip(velocities / self._coulomb_velocity, -1.0, 1.0)
        forces = np.stack((efforts, velocities, signs, np.ones_like(efforts)), axis=1)
        samples = [_Sample(*sample) for sample in zip(times.tolist(), positions, velocities, forces, strict=True)]
        if not samples:
            return []
        if self._start is None or self._last is None:
            self._start = self._last = samples[0]
            self._sums = np.zeros_like(self._sums)
        before = np.concatenate((self._last.position[None], positions[:-1]))
        forces_before = np.concatenate((self._last.forces[None], forces[:-1]))
        areas = 0.5 * (forces + forces_before) * (positions - before)[:, None]
        ended, begin = [], 0
        while True:
            end = int(np.searchsorted(times, self._start.time + self._window - _TIME_ROUNDING))
            self._sums = self._sums + areas[begin : end + 1].sum(axis=0)
            if end == len(samples):
                break
            ended.append((self._start, samples[end], self._sums))
            self._start, self._sums, begin = samples[end], np.zeros_like(self._sums), end + 1
        self._last = samples[-1]
        return ended

    def _make_row(self, start: _Sample, end: _Sample, sums: FloatArray) -> FloatArray:
        """One row (F + 1,)."""
        rotors = 0.5 * (end.velocity**2 - start.velocity**2)
        others = np.stack((sums[1], sums[2], rotors, sums[3]))[self._is_on].ravel()
        return np.concatenate((self._energy(end) - self._energy(start), others, [sums[0].sum()]))

    def _energy(self, sample: _Sample) -> FloatArray:
        """Energy (10 n,) of unit parameters."""
        kinetic = pin.computeKineticEnergyRegressor(self._model, self._data, sample.position, sample.velocity)
        potential = pin.computePotentialEnergyRegressor(self._model, self._data, sample.position)
        return np.asarray((kinetic + potential)[self._order])


_STEP = 0.02
"""Windows of this length [s], a decision interval, are added up to the one that slides."""


class EnergyRowSource:
    """Rows of the energy balance over a window that slides: one equation a row, for the whole arm.

    Attributes:
        correlation: how many rows are worth one where the noise is white.
    """

    def __init__(self, model: LinkModel, links: LinksSettings) -> None:
        """Set the window and what is unknown."""
        self._energy = make_energy_rows(model, links, _STEP)
        self._taken = np.append(model.base.columns, len(model.base.names))
        self._window = links.energy_window
        self._past: deque[tuple[float, FloatArray]] = deque()
        self._ended: deque[tuple[float, FloatArray]] = deque()
        self.correlation = max(1.0, links.energy_window / _STEP)

    def begin(self, segment: Segment) -> None:
        """Find the windows that end in a segment with efforts."""
        if segment.starts_anew or not self._past:
            self._energy.restart()
            self._ended.clear()
            self._past = deque([(segment.times.item(0), np.zeros(len(self._taken)))])
        windows = self._energy.process(segment.times, segment.positions, segment.velocities, segment.readings)
        self._ended.extend(zip(windows.times[:, 1].tolist(), windows.rows[:, self._taken], strict=True))

    def row_at(self, time: float) -> FloatArray:
        """The row [A, work] (1, U + 1) of the window that ends by a time [s]."""
        while self._ended and self._ended[0][0] <= time:
            end, row = self._ended.popleft()
            self._past.append((end, self._past[-1][1] + row))
            while len(self._past) > 2 and self._past[1][0] <= end - self._window:
                self._past.popleft()
        return np.asarray((self._past[-1][1] - self._past[0][1])[None])


def make_energy_rows(model: LinkModel, links: LinksSettings, window: float) -> EnergyRows:
    """Rows of an arm over windows of a length [s], with the unknowns that the settings switch on."""
    return EnergyRows(
        model.arm,
        window,
        links.coulomb_velocity,
        viscous=links.viscous,
        coulomb=links.coulomb,
        rotor_inertia=links.rotor_inertia,
        offset=links.offset,
    )


_MEMORY = 1500.0
"""Rows (half a minute) over which the fit is averaged: a motion repeats sooner."""


class RowFit:
    """Mean squares of what is measured and of what is left of it, over the last half minute or so of rows."""

    def __init__(self, channels: int) -> None:
        """Start with no rows."""
        self._sums = np.zeros((3, channels))
        self.rows: IntArray = np.zeros(channels, dtype=np.int64)
        """How many rows there were, (K,)."""

    def take(self, measured: FloatArray, predicted: FloatArray, usable: FloatArray) -> None:
        """Take a row, (K,) each."""
        self._sums *= 1.0 - 1.0 / _MEMORY
        self._sums += usable * np.array([np.ones_like(measured), measured**2, (measured - predicted) ** 2])
        self.rows += usable.astype(np.int64)

    @property
    def measured_rms(self) -> FloatArray:
        """Of what was measured, (K,)."""
        return np.asarray(np.sqrt(self._sums[1] / np.maximum(self._sums[0], 1.0)))

    @property
    def residual_rms(self) -> FloatArray:
        """Of what is left of it, (K,)."""
        return np.asarray(np.sqrt(self._sums[2] / np.maximum(self._sums[0], 1.0)))
