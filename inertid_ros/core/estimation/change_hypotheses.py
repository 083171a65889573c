"""What rows that do not fit may mean: the load before, another load, another bias, or a contact, which is none."""

from __future__ import annotations

import math
from copy import copy as copy_shallow

import numpy as np

from inertid_ros.core.equations.load import LOAD, PRIOR_BIAS, PRIOR_LOAD
from inertid_ros.core.estimation.change import find_probability
from inertid_ros.core.estimation.information import SquareRootInformation
from inertid_ros.core.estimation.products import ProductSums
from inertid_ros.core.records import EventKind, FloatArray
from inertid_ros.core.rows.rows import Row

_FIT = 6.0
"""A hypothesis explains the rows if it leaves at most so many times what their noise leaves: filtered rows are
correlated, and their squares scatter far more than those of independent ones."""
_TURN = 2.0
"""Gravity [m/s²] must change by so much in the sensor frame, 12°, before a bias differs from a load or a push."""
_UNDECIDED = 40
"""Rows (0.8 s) that another bias may wait for gravity to turn so far before it is called a contact: motions of 15 °/s
do that, and whoever waits for contacts waits for no more than twice as long."""


class ChangeHypotheses:
    """Rows since something did not fit, and what may explain them."""

    def __init__(self, main: SquareRootInformation, previous: SquareRootInformation | None, sums: ProductSums) -> None:
        """Start from what is known of the bias, of the load, and of the load before this one, if there was one."""
        self.sums = sums
        self.is_slight = self.is_watched = self.is_undecided = False
        """Whether single rows fit the old estimate all the same, whether it is watched piece by piece, and whether it
        has waited for gravity to turn."""
        self.load = main.copy()
        self.load.forget_first(LOAD, PRIOR_LOAD)
        self.bias = main.copy()
        self.bias.forget_last(LOAD, PRIOR_BIAS)
        self.previous = previous
        self._previous_before = 0.0 if previous is None else previous.squares_left
        self._load_before = self.load.squares_left
        self._bias_before = self.bias.squares_left
        self.rows = 0
        self.explained = 0
        """So many rows in a row that the old estimate explains."""
        self._expected = 0.0
        self._room = 0.0
        self._direction: FloatArray | None = None
        self._turned = 0.0

    def copy(self) -> ChangeHypotheses:
        """An independent copy."""
        same = copy_shallow(self)
        same.sums, same.load, same.bias = self.sums.copy(), self.load.copy(), self.bias.copy()
        same.previous = None if self.previous is None else self.previous.copy()
        return same

    def take(self, whitened: FloatArray, noise: float, room: float, row: Row, is_predicted: bool) -> None:
        """Fold a row, whitened (6, 17), into all hypotheses.

        Args:
            whitened: the row.
            noise: its variance in the same units.
            room: squares in the same units by which sensor and mounting may misread another load.
            row: the same row.
            is_predicted: whether the old load has predicted it.
        """
        if self.previous is not None:
            self.previous.fold_in(whitened)
        self.load.fold_in(whitened)
        self.bias.fold_in(whitened)
        self.rows += 1
        self._expected += noise
        self._room += room
        amplitude = row.signals.item(12)
        if amplitude > 0.5:
            self.explained = self.explained + 1 if is_predicted else 0
            direction = (row.signals[:3] - row.signals[13:16]) / amplitude
            if self._direction is None:
                self._direction = direction
            self._turned = max(self._turned, float(np.linalg.norm(direction - self._direction)))

    def previous_fits(self) -> bool:
        """Whether the load before explains the rows."""
        if self.previous is None:
            return False
        return self.previous.squares_left - self._previous_before <= self._limit

    def load_fits(self) -> bool:
        """Whether a rigid load explains the rows."""
        return self.load.squares_left - self._load_before <= self._limit

    def bias_fits(self) -> bool:
        """Whether another bias explains the rows."""
        return self.bias.squares_left - self._bias_before <= self._limit

    @property
    def has_turned(self) -> bool:
        """Whether gravity has turned enough to tell a bias from a load or a push."""
        return self._turned > _TURN

    @property
    def is_turning(self) -> bool:
        """Whether it has not yet, but will have soon if it goes on like that."""
        return self.rows / _UNDECIDED * _TURN <= self._turned <= _TURN

    @property
    def _limit(self) -> float:
        """Squares up to which a hypothesis explains the rows."""
        return _FIT * self._expected + self._room

    def find_confidence(self, kind: EventKind, is_possible: bool) -> float:
        """Probability of what was accepted among load, bias and contact, as if all rows were one independent wrench.

        A contact explains everything, and counts as if it left as much as is just accepted. That a load has changed is
        compared with another bias even where gravity has not turned, which leaves both as likely; that a contact has
        begun only with what is not ruled out: with a load only if that `is_possible`.
        """
        load, bias, contact = (
            -3.0 * squares / self._expected
            for squares in (
                self.load.squares_left - self._load_before,
                self.bias.squares_left - self._bias_before,
                _FIT * self._expected,
            )
        )
        if self.previous is not None:
            load = max(load, -3.0 * (self.previous.squares_left - self._previous_before) / self._expected)
        if kind is EventKind.LOAD_CHANGED:
            return find_probability(load, bias, contact)
        load = load if is_possible else -math.inf
        return find_probability(contact, load, bias if self.has_turned else -math.inf)
