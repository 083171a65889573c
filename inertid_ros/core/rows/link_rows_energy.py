"""Rows of the energy balance over a window that slides: one equation a row, for the whole arm."""

from __future__ import annotations

from collections import deque

import numpy as np

from inertid_ros.core.equations.model import LinkModel
from inertid_ros.core.input.synchroniser import Stretch
from inertid_ros.core.records import FloatArray, IntArray
from inertid_ros.core.rows.energy_rows import EnergyRows
from inertid_ros.core.rows.link_rows_differentiated import DifferentiatedLinkRows
from inertid_ros.core.settings.settings import LinksSettings

_STEP = 0.02
"""Windows of this length [s] are added up to the one that slides."""


class EnergyLinkRows:
    """The energy model (Gautier and Khalil) of the arm's base parameters; predictions are made with accelerations."""

    def __init__(self, model: LinkModel, links: LinksSettings) -> None:
        """Set the window and what is unknown."""
        self._energy = EnergyRows(
            model.arm,
            _STEP,
            links.coulomb_velocity,
            viscous=links.viscous,
            coulomb=links.coulomb,
            rotor_inertia=links.rotor_inertia,
            offset=links.offset,
        )
        self._taken = np.append(model.base.columns, len(model.base.names))
        self._window = links.energy_window
        self._predictions = DifferentiatedLinkRows(model.columns, links.differentiation_cutoff)
        self._past: deque[tuple[float, FloatArray]] = deque()
        self._is_new = True
        self.judged: FloatArray = np.empty((0, *model.columns.row_shape))
        self.settling = links.energy_window
        self.repeats = max(1.0, links.energy_window / _STEP)
        self.drives: list[IntArray] = []
        self.used: list[IntArray] = [np.arange(len(model.base.columns))]

    def start_anew(self) -> None:
        """Forget the past at the next sample."""
        self._is_new = True
        self._predictions.start_anew()

    def process(self, stretch: Stretch, readings: FloatArray, picked: list[int]) -> FloatArray:
        """Take samples without a gap and their efforts (N, n); returns rows [A, work] (picked, 1, U + 1)."""
        self.judged = self._predictions.process(stretch, readings, picked)
        if stretch.starts_anew or self._is_new:
            self._energy.start_anew()
            self._past.clear()
            self._past.append((stretch.times.item(0), np.zeros(len(self._taken))))
            self._is_new = False
        windows = self._energy.process(stretch.times, stretch.positions, stretch.velocities, readings)
        rows = np.zeros((len(picked), 1, len(self._taken)))
        ended = 0
        for place, position in enumerate(picked):
            time = stretch.times.item(position)
            while ended < len(windows.rows) and windows.times[ended, 1] <= time:
                self._append(windows.times.item(ended, 1), windows.rows[ended])
                ended += 1
            rows[place, 0] = self._past[-1][1] - self._past[0][1]
        for index in range(ended, len(windows.rows)):
            self._append(windows.times.item(index, 1), windows.rows[index])
        return rows

    def _append(self, time: float, row: FloatArray) -> None:
        """Add a short window to the sum of all, and forget what is earlier than the long one."""
        self._past.append((time, self._past[-1][1] + row[self._taken]))
        while len(self._past) > 2 and self._past[1][0] <= time - self._window:
            self._past.popleft()

    def set_values(self, values: FloatArray) -> None:
        """Predict with these values (U,) of the unknowns from now on."""
        self._predictions.set_values(values)

    def predict(self, start: int, stop: int) -> FloatArray:
        """Efforts (stop - start, n) of some samples of the last stretch."""
        return self._predictions.predict(start, stop)
