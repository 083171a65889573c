"""Rows of an equation by one of three methods, and predictions: the kernels of `advance` with their memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from inertid_ros.core.compiled import specialise
from inertid_ros.core.equations.equation import Equation
from inertid_ros.core.input.arrivals import Arrived, Message, Motion, Waiting
from inertid_ros.core.input.segments import RESUME, Segment
from inertid_ros.core.records import FloatArray
from inertid_ros.core.rows.advance import INTERVAL, carry, foresee, weigh_entries
from inertid_ros.core.rows.arrival import arrive
from inertid_ros.core.rows.making import DIFFERENTIATED, FILTERED, INTEGRAL
from inertid_ros.core.rows.memory import GAP, RESTART, make_memory
from inertid_ros.core.settings.choices import Method

_ROW_RATE = 1e9 / INTERVAL
"""Rows per second [Hz]: one in a decision interval."""
_STAND_OUT = 4.0
"""Accelerations below so many standard deviations of their noise are not believed: white noise reaches that in one row
of ten thousand."""
_DIFFERENTIATED_STAND_OUT = 2.0
"""The same for differentiated rows, whose noise would hide a slow motion otherwise."""


@dataclass(frozen=True, slots=True)
class Filters:
    """The numbers of the methods.

    Attributes:
        cutoff, smoothing: l and d of the filtered method and of all predictions [rad/s].
        differentiation: p of the differentiated method [rad/s].
        window: of the integral method [s].
    """

    cutoff: float
    smoothing: float
    differentiation: float
    window: float


class Row(NamedTuple):
    """One row of K equations for U unknowns, in memory that the next row overwrites.

    Attributes:
        equations: (K, U + 1) [A, y].
        signals: (S,) of the motion.
        readings: (K,) what was measured.
        usable: (K,) 1 where a channel has been usable for as long as the filters remember, else 0.
        motion: (4,) sizes of linear and angular accelerations that were left out as noise, and the standard deviations
            of that noise; for a load.
        standing, moved: (n,) 1 for joints that have never moved, and for those that certainly have.
        is_old: (1,) 1 where the arm has stood in this pose for so long that the row tells nothing new.
    """

    equations: FloatArray
    signals: FloatArray
    readings: FloatArray
    usable: FloatArray
    motion: FloatArray
    standing: FloatArray
    moved: FloatArray
    is_old: FloatArray


class _Traits(NamedTuple):
    """What follows from a method and its numbers: see Rows, and `Memory.gains`."""

    settling: float
    noise_bandwidth: float
    density_gain: float
    variance_gain: float
    stand_out: float
    poles: tuple[float, float]


def _find_traits(kind: int, filters: Filters) -> _Traits:
    if kind == FILTERED:
        product, total = filters.cutoff * filters.smoothing, filters.cutoff + filters.smoothing
        return _Traits(
            settling=8.0 * total / product,
            noise_bandwidth=product / (2.0 * total),
            density_gain=product**2 / (2.0 * total),
            variance_gain=0.0,
            stand_out=_STAND_OUT,
            poles=(filters.cutoff, filters.smoothing),
        )
    if kind == INTEGRAL:
        window = filters.window
        pole = np.sqrt(24.0) / window  # 1 - (window ω)² / 12, as the mean over a window
        return _Traits(window, 1.0 / window, 0.0, 2.0 / window**2, _STAND_OUT, (pole, pole))
    cutoff = filters.differentiation
    return _Traits(16.0 / cutoff, cutoff / 4.0, cutoff**3 / 4.0, 0.0, _DIFFERENTIATED_STAND_OUT, (cutoff, cutoff))


class Rows:
    """Turns the samples of segments into rows and predictions.

    Attributes:
        equation: whose rows.
        row: the newest one.
        floats, integers: all that kernels remember, see `make_memory`.
        memory: named views of what rows remember.
        own_floats, own_integers: the part of them that is not the equation's.
        carry: the kernel of `advance` that pairs readings with joint states and carries them on.
        settling: how long a wrong sample has an effect [s].
        noise_bandwidth: variance of a row for white noise of density one [Hz].
        poles: (2,) of the low-pass filter that rows and their noise have passed, or of one that is like it [rad/s].
        correlation: how many rows, one a decision interval, are worth one where the noise is white.
    """

    def __init__(self, equation: Equation, joints: int, method: Method, filters: Filters) -> None:
        """Set up a method for an equation and so many joints."""
        first, second, window = filters.cutoff, filters.smoothing, filters.window
        kind = {Method.FILTERED: FILTERED, Method.INTEGRAL: INTEGRAL}.get(method, DIFFERENTIATED)
        past = int(window * _ROW_RATE) + 4 if kind == INTEGRAL else 1
        self.equation = equation
        self.floats, self.integers, self.own_floats, self.own_integers, self.memory = make_memory(
            equation, joints, kind, past
        )
        m = self.memory
        third = first + 2.0 * second
        traits = _find_traits(kind, filters)
        m.cutoffs[:] = first, second, third, filters.differentiation
        m.gains[:] = 1.0 + third / second, traits.density_gain, traits.variance_gain, traits.stand_out
        m.spans[:] = window, traits.settling
        self.settling, self.noise_bandwidth = traits.settling, traits.noise_bandwidth
        self.poles: FloatArray = np.array(traits.poles)
        self.correlation = max(1.0, _ROW_RATE / traits.noise_bandwidth)
        self.row = Row(
            m.row, m.row_signals, m.row_readings, m.row_usable, m.row_motion, m.row_standing, m.row_moved, m.row_is_old
        )
        memory, integers, table = (self.floats, self.integers), np.empty(0, np.int64), np.empty((0, 1))
        line = readings = result = integers, table
        self.carry = specialise(carry, *memory, *line, integers, *readings, *result, table, 0)
        self._nothing = *line, integers, *readings
        own = self.own_floats, integers
        self._weigh_entries = specialise(weigh_entries, *own, self.own_floats)

    @cached_property
    def foresee(self) -> Callable[..., bool]:
        """The kernel of `advance` that predicts readings which wait; only a live chain needs it."""
        line = readings = result = np.empty(0, np.int64), np.empty((0, 1))
        joints, targets = line[1], line[0]
        return specialise(foresee, self.floats, self.integers, *line, joints, targets, *readings, *result, 0)

    @cached_property
    def arrive(self) -> Callable[..., int]:
        """The kernel of `arrival` that takes a message as it arrives; only a live chain needs it."""
        integers, table, cube = np.empty(0, np.int64), np.empty((0, 1)), np.empty((0, 1), np.int64)
        motion = Motion(integers, table, table, self.own_floats, integers, integers)
        message, waiting = Message(integers, table, table, table), Waiting(integers, table, cube, table)
        return specialise(
            arrive, self.floats, self.integers, motion, message, waiting, Arrived(integers, table, table), integers, 0
        )

    def restart(self) -> None:
        """Restart the filters at the next sample: what they remember is no longer true."""
        self.memory.clock[0] = max(self.memory.clock[0], RESTART)

    def begin(self, segment: Segment) -> int:
        """Carry a segment through up to its first row: returns its sample, N if there is none, see `advance.advance`.

        Its predictions are filled in at the same time.
        """
        if segment.row >= 0:
            return segment.row
        if segment.starts_anew:
            self.memory.clock[0] = GAP
        return self.resume(segment, -1)

    def resume(self, segment: Segment, position: int) -> int:
        """Carry on from the sample of a row to the next one."""
        stamps, samples, nothing = segment.stamps, segment.samples, self._nothing
        return self.carry(self.floats, self.integers, *nothing, stamps, samples, nothing[1], RESUME - position)

    def set_values(self, values: FloatArray) -> None:
        """Predict with these values (U,) of the unknowns from now on."""
        self._weigh_entries(self.own_floats, self.own_integers, values)

    def forget_reach(self) -> None:
        """Forget how far the joints have come."""
        self.memory.reach[0], self.memory.reach[1] = np.inf, -np.inf
