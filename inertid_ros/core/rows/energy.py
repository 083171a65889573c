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

from inertid_ros.core.compiled import brief, compiled, copy_numbers, specialise
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


_TIME_ROUNDING = 1e-9
"""Time [s] by which a window may be too short: stamps are nanoseconds."""


class Work(NamedTuple):
    """What efforts have done since the beginning of a window, see `add_work`."""

    state: FloatArray
    window: float
    coulomb_velocity: float


@brief
def add_work(samples: FloatArray, begin: int, state: FloatArray, window: float, coulomb_velocity: float) -> int:
    """Integrate samples, from one of them on, up to the one that ends a window; returns that, N if there is none.

    Args:
        samples: (N, 1 + 3 n or more) time [s], positions, velocities, efforts.
        begin: the first one to take.
        state: whether a window has begun, its first sample and the last one, each as far as the efforts, and integrals
            (4, n) of effort, velocity, its smoothed sign and 1 over the positions.
        window: its length [s].
        coulomb_velocity: below which the sign fades.
    """
    n = (len(state) - 3) // 10
    width = 1 + 3 * n
    start, last, sums = state[1 : 1 + width], state[1 + width : 1 + 2 * width], state[1 + 2 * width :]
    for k in range(begin, len(samples)):
        sample = samples[k, :width]
        if state[0] == 0.0:
            begin_window(sample, state)
            copy_numbers(sample, last)
            continue
        for joint in range(n):
            v, v_last = sample[1 + n + joint], last[1 + n + joint]
            half = 0.5 * (sample[1 + joint] - last[1 + joint])
            sign = min(max(v / coulomb_velocity, -1.0), 1.0) + min(max(v_last / coulomb_velocity, -1.0), 1.0)
            sums[joint] += half * (sample[1 + 2 * n + joint] + last[1 + 2 * n + joint])
            sums[n + joint] += half * (v + v_last)
            sums[2 * n + joint] += half * sign
            sums[3 * n + joint] += 2.0 * half
        copy_numbers(sample, last)
        if sample[0] >= start[0] + window - _TIME_ROUNDING:
            return k
    return len(samples)


@brief
def begin_window(sample: FloatArray, state: FloatArray) -> None:
    """Begin a window with a sample (1 + 3 n,)."""
    width = len(sample)
    state[0] = 1.0
    copy_numbers(sample, state[1:])
    state[1 + 2 * width :] = 0.0


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
        self._is_on = np.array([viscous, coulomb, rotor_inertia, offset])
        joints = self._joints = arm.model.nv
        self.work = Work(np.zeros(1 + 2 * (1 + 3 * joints) + 4 * joints), window, coulomb_velocity)
        shapes = (2,), (joints * (10 + int(self._is_on.sum())) + 1,), (joints,), (2, joints), (2, joints)
        self._last_energy = -np.inf, np.zeros(10 * joints)
        """Time at which the last window ended, and its energy: the next one begins with it, unless there is a gap."""
        self._no_windows = EnergyWindows(*(np.empty((0, *shape)) for shape in shapes))

    def restart(self) -> None:
        """Forget the window that has begun: there was a gap."""
        self.work.state[0] = 0.0

    def process(self, samples: FloatArray) -> EnergyWindows:
        """Take samples, in blocks of any size, and return the windows that end with them.

        Args:
            samples: (N, 1 + 3 n or more) increasing times [s], positions [rad or m] without jumps by a turn, velocities
                and efforts.
        """
        ended = []
        end = add_work(samples, 0, *self.work)
        while end < len(samples):
            ended.append(self._end_window(samples[end]))
            end = add_work(samples, end + 1, *self.work)
        if not ended:
            return self._no_windows
        return EnergyWindows(*(np.array(parts) for parts in zip(*ended, strict=True)))

    def _end_window(self, end: FloatArray) -> tuple[FloatArray, ...]:
        """One of each field of EnergyWindows, for a window that ends with a sample; the next one begins with it."""
        state, n = self.work.state, self._joints
        width = 1 + 3 * n
        start, sums = state[1 : 1 + width], state[1 + 2 * width :].reshape(4, -1)
        times = np.array([start[0], end[0]])
        positions = np.array([start[1 : 1 + n], end[1 : 1 + n]])
        velocities = np.array([start[1 + n : 1 + 2 * n], end[1 + n : 1 + 2 * n]])
        rotors = 0.5 * (velocities[1] ** 2 - velocities[0] ** 2)
        others = np.array((sums[1], sums[2], rotors, sums[3]))[self._is_on].ravel()
        last_time, before = self._last_energy
        if last_time != start[0]:
            before = self._energy(positions[0], velocities[0])
        after = self._energy(positions[1], velocities[1])
        self._last_energy = float(end[0]), after
        row = np.concatenate((after - before, others, sums[0].sum(keepdims=True)))
        squares = sums[1].copy()
        begin_window(end[:width], state)
        return times, row, squares, positions, velocities

    def end_window(self, end: FloatArray) -> EnergyWindows:
        """The window that has ended with a sample, where its work was added up elsewhere."""
        return EnergyWindows(*(part[None] for part in self._end_window(end)))

    def _energy(self, position: FloatArray, velocity: FloatArray) -> FloatArray:
        """Energy (10 n,) of unit parameters."""
        kinetic = pin.computeKineticEnergyRegressor(self._model, self._data, position, velocity)
        potential = pin.computePotentialEnergyRegressor(self._model, self._data, position)
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
        windows = self._energy.process(segment.samples)
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


@compiled
def add_fit(sums: FloatArray, k: int, measured: float, predicted: float, usable: float) -> None:
    """Add one channel of a row to sums (4, K) of weights, squares of what is measured and of what is left, and rows."""
    for kind, value in enumerate((1.0, measured**2, (measured - predicted) ** 2)):
        sums[kind, k] = (1.0 - 1.0 / _MEMORY) * sums[kind, k] + (value if usable != 0.0 else 0.0)
    sums[3, k] += usable


@brief
def fit_record(record: FloatArray, sums: FloatArray) -> None:
    """Add a row (3, K): what is measured, what is predicted, and whether that is usable."""
    for k in range(sums.shape[1]):
        add_fit(sums, k, record[0, k], record[1, k], record[2, k])


@brief
def fit_row(row: FloatArray, values: FloatArray, first: int, usable: FloatArray, sums: FloatArray) -> None:
    """Add a row [A, y] (K, U + 1): values (U,) from `first` on are biases, which are no part of what is measured."""
    unknowns = len(values)
    for k in range(len(row)):
        measured, predicted = row[k, unknowns], 0.0
        for u in range(first):
            predicted += row[k, u] * values[u]
        for u in range(first, unknowns):
            measured -= row[k, u] * values[u]
        add_fit(sums, k, measured, predicted, usable[k])


class RowFit:
    """Mean squares of what is measured and of what is left of it, over the last half minute or so of rows.

    Attributes:
        sums: (4, K) see `add_fit`.
    """

    def __init__(self, channels: int) -> None:
        """Start with no rows."""
        self.sums = sums = np.zeros((4, channels))
        self._fit_record = specialise(fit_record, sums, sums)
        self._fit_row = specialise(fit_row, sums, sums[0], 0, sums[0], sums)

    def take(self, record: FloatArray) -> None:
        """Take a row as it was recorded, see `fit_record`."""
        self._fit_record(record, self.sums)

    def take_row(self, row: FloatArray, values: FloatArray, first: int, usable: FloatArray) -> None:
        """Take a row [A, y] that values explain, see `fit_row`."""
        self._fit_row(row, values, first, usable, self.sums)

    @property
    def rows(self) -> IntArray:
        """How many rows there were, (K,)."""
        return np.asarray(self.sums[3], dtype=np.int64)

    @property
    def measured_rms(self) -> FloatArray:
        """Of what was measured, (K,)."""
        return np.asarray(np.sqrt(self.sums[1] / np.maximum(self.sums[0], 1.0)))

    @property
    def residual_rms(self) -> FloatArray:
        """Of what is left of it, (K,)."""
        return np.asarray(np.sqrt(self.sums[2] / np.maximum(self.sums[0], 1.0)))
