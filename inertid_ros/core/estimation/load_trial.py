"""Explanations for rows that do not fit: the load before, another load, another bias."""

from __future__ import annotations

import numpy as np

from inertid_ros.core.estimation.information import SquareRootInformation
from inertid_ros.core.records import FloatArray

LOAD = 10
PRIOR_LOAD = np.array([100.0] + [30.0] * 3 + [10.0] * 6)
"""Standard deviations [kg, kg m, kg m^2] of a load of which nothing is known."""

PRIOR_BIAS = np.array([1000.0] * 3 + [100.0] * 3)
"""Standard deviations [N, Nm] of a bias of which nothing is known."""

_FIT = 6.0
"""A candidate explains the rows if it leaves at most so many times what their noise leaves."""

_TURN = 2.0
"""Gravity [m/s^2] must change by so much in the sensor frame before a bias can be told from a load or a push."""


class LoadTrial:
    """Rows since something did not fit, and what may explain them."""

    def __init__(self, main: SquareRootInformation, previous: SquareRootInformation | None) -> None:
        """Start from what is known of the bias, of the load, and of the load before this one, if there was one."""
        self.load = main.copy()
        self.load.forget_first(LOAD, PRIOR_LOAD)
        self.bias = main.copy()
        self.bias.forget_last(LOAD, PRIOR_BIAS)
        self.previous = previous
        self._previous_before = 0.0 if previous is None else previous.squares_left
        self._load_before = self.load.squares_left
        self._bias_before = self.bias.squares_left
        self.rows = 0
        """How many rows have been taken."""
        self.explained = 0
        """So many rows in a row that the old estimate explains."""
        self._expected = 0.0
        self._direction: FloatArray | None = None
        self._turned = 0.0

    def take(self, whitened: FloatArray, noise: FloatArray, row: FloatArray, fits_main: bool) -> None:
        """Fold a row (23,), whitened (6, 17) and with its noise (6,) in the same units, into all candidates."""
        if self.previous is not None:
            self.previous.fold_in(whitened)
        self.load.fold_in(whitened)
        self.bias.fold_in(whitened)
        self.rows += 1
        self._expected += float(noise.sum())
        if row[12] > 0.5:
            self.explained = self.explained + 1 if fits_main else 0
            direction = row[:3] / row[12]
            if self._direction is None:
                self._direction = direction
            self._turned = max(self._turned, float(np.linalg.norm(direction - self._direction)))

    def previous_fits(self) -> bool:
        """Whether the load before explains the rows."""
        left = self.previous is not None and self.previous.squares_left - self._previous_before
        return left is not False and left <= _FIT * self._expected

    def load_fits(self) -> bool:
        """Whether a rigid load explains the rows."""
        return self.load.squares_left - self._load_before <= _FIT * self._expected

    def bias_fits(self) -> bool:
        """Whether another bias explains the rows, and gravity has turned enough to tell it from a load or a push."""
        return self._turned > _TURN and self.bias.squares_left - self._bias_before <= _FIT * self._expected
