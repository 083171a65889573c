"""The energy balance beside the torque model: windows are collected as samples come, and judged by each solution."""

from __future__ import annotations

import numpy as np

from inertid_ros.core.checks.energy_balance import EnergyCheck
from inertid_ros.core.diagnosis import Finding
from inertid_ros.core.equations.model import LinkModel
from inertid_ros.core.estimation.link_estimator import LinkSolution
from inertid_ros.core.records import BoolArray, FloatArray
from inertid_ros.core.rows.energy_rows import EnergyRows, EnergyWindows
from inertid_ros.core.settings.settings import LinksSettings

_LARGEST = 0.15
_ROWS = 250
"""So many rows (5 s) a solution must come from before it is compared with anything."""


class EnergyCrossCheck:
    """Takes samples 20 ms apart, which is enough for the work over a window, and the solutions in between."""

    def __init__(self, model: LinkModel, links: LinksSettings, interval: float) -> None:
        """Set the arm, and how far samples are apart [s]."""
        n = len(model.arm.joint_names)
        self._rows = EnergyRows(
            model.arm,
            links.energy_window,
            links.coulomb_velocity,
            viscous=links.viscous,
            coulomb=links.coulomb,
            rotor_inertia=links.rotor_inertia,
            offset=links.offset,
        )
        self._columns, self._size = model.base.columns, len(model.base.names)
        self._efforts = slice(-n, None)
        self._interval = interval
        self._check = EnergyCheck(model.arm, np.zeros(n), np.zeros(n))
        self._waiting: list[EnergyWindows] = []

    def take(
        self,
        starts_anew: bool,
        times: FloatArray,
        positions: FloatArray,
        velocities: FloatArray,
        efforts: FloatArray,
        usable: BoolArray,
    ) -> None:
        """Take samples (M,), (M, n) that follow the ones before; where an effort is missing a new window starts."""
        if starts_anew or not usable.all():
            self._rows.start_anew()
            if not usable.all():
                return
        windows = self._rows.process(times, positions, velocities, efforts)
        if len(windows.rows):
            self._waiting.append(windows)

    def judge(self, time: float, solution: LinkSolution) -> None:
        """Compare the windows that ended by a time [s] with what a solution predicts of them."""
        if not self._waiting:
            return
        windows = EnergyWindows(*(np.concatenate(parts) for parts in zip(*self._waiting, strict=True)))
        ended = windows.times[:, 1] <= time
        self._waiting = [_select(windows, ~ended)] if not ended.all() else []
        judged = _select(windows, ended)
        if not len(judged.rows) or solution.rows.max() < _ROWS:
            return
        values, covariance = np.zeros(self._size), np.zeros((self._size, self._size))
        values[self._columns] = solution.values
        covariance[np.ix_(self._columns, self._columns)] = solution.information.covariance()
        efforts = self._efforts
        self._check.effort_density = (solution.variances * solution.repeats)[efforts] * self._interval
        self._check.take(judged, values, covariance)

    def findings(self) -> tuple[Finding, ...]:
        """The disagreement in words, if there is one."""
        return self._check.findings(_LARGEST)


def _select(windows: EnergyWindows, chosen: BoolArray) -> EnergyWindows:
    return EnergyWindows(*(part[chosen] for part in windows))
