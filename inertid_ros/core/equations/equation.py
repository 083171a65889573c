"""One equation for everything that is identified: y = d/dt (P x) + R x, sparse, with P and R functions of q and v."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from inertid_ros.core.equations.signals import MOMENTA, SIGNALS, SignalMemory, compute_whole_signals
from inertid_ros.core.records import FloatArray, IntArray

WRENCH_NAMES = ("fx", "fy", "fz", "nx", "ny", "nz")
WRENCH_UNITS = ("N",) * 3 + ("Nm",) * 3
"""Components of a wrench: force [N], moment [Nm]."""
NO_DRIVES: IntArray = np.empty((0, 0), dtype=np.int64)
"""No joint has unknowns of its own."""


@dataclass(frozen=True, slots=True)
class Equation:
    """Signals of the motion, and the entries that make K equations for U unknowns of them.

    Attributes:
        channels: names of the K channels, what is measured.
        unknowns: names of the U unknowns.
        memory: what the kernels compute S signals from, of which the first M have a momentum.
        entry_signals, entry_channels, entry_unknowns, entry_factors: (E,) an entry adds factor times a signal to the
            regressor at (channel, unknown).
        drives: (n, D) for each joint the unknowns of its friction and its rotor, -1 where there are fewer; (0, 0) where
            efforts are not used.
        monitors_motion: whether the first six momenta are a twist whose noise is measured on the way; where it is, they
            are corrected for what Tustin's rule misses of the derivative.
    """

    channels: tuple[str, ...]
    unknowns: tuple[str, ...]
    memory: SignalMemory
    entry_signals: IntArray
    entry_channels: IntArray
    entry_unknowns: IntArray
    entry_factors: FloatArray
    drives: IntArray
    monitors_motion: bool = False

    @property
    def momenta(self) -> int:
        """M, how many signals have a momentum."""
        return int(self.memory.integers[MOMENTA])

    @property
    def signals(self) -> int:
        """S, how many signals there are."""
        return int(self.memory.integers[SIGNALS])

    @property
    def used(self) -> tuple[IntArray, ...]:
        """For each channel the unknowns that can be in it."""
        channels = range(len(self.channels))
        return tuple(np.unique(self.entry_unknowns[self.entry_channels == channel]) for channel in channels)

    def assemble(self, signals: FloatArray) -> FloatArray:
        """Regressors (..., K, U) of signals (..., S)."""
        count, size = len(self.channels), len(self.unknowns)
        places = self.entry_channels * size + self.entry_unknowns
        order = np.argsort(places, kind="stable")
        taken, firsts = np.unique(places[order], return_index=True)
        regressors = np.zeros((*signals.shape[:-1], count * size))
        entries = signals[..., self.entry_signals[order]] * self.entry_factors[order]
        regressors[..., taken] = np.add.reduceat(entries, firsts, axis=-1)
        return regressors.reshape(*signals.shape[:-1], count, size)

    def compute(self, positions: FloatArray, velocities: FloatArray, accelerations: FloatArray) -> FloatArray:
        """All of d/dt P + R (N, S) at (N, n) joint positions, velocities and accelerations."""
        result = np.zeros((len(positions), self.signals))
        q, v, a = (np.ascontiguousarray(part, dtype=np.float64) for part in (positions, velocities, accelerations))
        compute_whole_signals(*self.memory, q, v, a, result)
        return result
