"""The search for the motion that tells most: D-optimal, from several random starts."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize

from inertid_ros.core.errors import RobotDescriptionError
from inertid_ros.core.records import FloatArray
from inertid_ros.motions.design.candidate import CandidateSpace
from inertid_ros.motions.design.motion_information import MotionInformation
from inertid_ros.motions.design.motion_limits import MotionLimits
from inertid_ros.motions.multisine import LIMIT_MARGIN, make_fine_grid
from inertid_ros.motions.windowed_sines import WindowedSines

SAMPLES = 1_200_000
"""Samples whose dynamics are computed in a search, all candidates together: about half a minute for six joints."""

_DRAWN = 300
_STAGES = ((8, 0.3), (3, 0.3), (1, 0.4))
"""How many of the best go on, and the share of all candidates that they then have together."""
_OVERLOAD = 1e3
_HALVINGS = 30


class _Found(NamedTuple):
    cost: float
    candidate: FloatArray


class _ExhaustedError(Exception):
    """All candidates of a descent have been valued."""


def _get_cost(found: _Found) -> float:
    return found.cost


class MotionSearch:
    """Looks for the motion of a given length that brings most information, within the limits."""

    def __init__(
        self,
        information: MotionInformation,
        limits: MotionLimits,
        duration: float,
        candidates: int | None = None,
    ) -> None:
        """Set up a search.

        Args:
            information: that motions bring.
            limits: of the joints.
            duration: of the motion, seconds.
            candidates: how many motions to value; None for as many as take about half a minute.
        """
        self._information = information
        self._limits = limits
        self._space = CandidateSpace(limits.joints, duration)
        self.candidates = SAMPLES // self._space.points if candidates is None else candidates
        self._report: Callable[[int], None] = lambda _: None

    def run(self, seed: int = 0, on_progress: Callable[[int], None] = lambda _: None) -> WindowedSines:
        """Search, and return the best motion found, which holds all limits; the same for the same seed.

        Args:
            seed: of the random starts.
            on_progress: called with the number of motions valued since the last call.

        Raises:
            RobotDescriptionError: if the motors cannot even hold the arm where the search ended.
        """
        self._report = on_progress
        random = np.random.default_rng(seed)
        found = [self._value(self._space.draw(random)) for _ in range(_DRAWN)]
        self._report(_DRAWN)
        left = self.candidates - _DRAWN
        for count, share in _STAGES:
            best = sorted(found, key=_get_cost)[:count]
            found = [self._improve(item, int(share * left / count)) for item in best]
        return self._hold_efforts(self._space.build(found[0].candidate))

    def _value(self, candidate: FloatArray) -> _Found:
        """Less the log-determinant of the information, plus a penalty where a motor is asked for too much."""
        value = self._information.evaluate(self._space.sample(candidate), self._space.step)
        penalty, _ = self._find_penalty(value.efforts)
        return _Found(self._information.cost(value.information) + penalty, candidate)

    def _value_with_slopes(self, candidate: FloatArray) -> tuple[_Found, FloatArray]:
        path = self._space.sample(candidate)
        value = self._information.evaluate(path, self._space.step)
        penalty, effort_slopes = self._find_penalty(value.efforts)
        slopes = self._information.slopes(path, self._space.step, value, effort_slopes)
        found = _Found(self._information.cost(value.information) + penalty, candidate)
        return found, self._space.pull_back(candidate, slopes)

    def _find_penalty(self, efforts: FloatArray) -> tuple[float, FloatArray]:
        """What the largest effort costs where it is too large, and how that changes with all efforts, (N, n)."""
        shares = np.abs(efforts) / self._limits.effort
        worst = np.unravel_index(np.argmax(shares), shares.shape)
        overload = max(float(shares[worst]) - LIMIT_MARGIN, 0.0)
        slopes = np.zeros(efforts.shape)
        slopes[worst] = 2.0 * _OVERLOAD * overload * np.sign(efforts[worst]) / self._limits.effort[worst[1]]
        return _OVERLOAD * overload**2, slopes

    def _improve(self, start: _Found, candidates: int) -> _Found:
        """Descend until the time of so many candidates is used up, or nothing gets better."""
        best, left = start, candidates
        price = 1 + 3 * self._space.joints

        def value_with_slopes(candidate: FloatArray) -> tuple[float, FloatArray]:
            nonlocal best, left
            if left < price:
                raise _ExhaustedError
            found, slopes = self._value_with_slopes(candidate)
            best = min(best, found, key=_get_cost)
            left -= price
            self._report(price)
            return found.cost, slopes

        try:
            minimize(value_with_slopes, start.candidate, jac=True, method="L-BFGS-B", options={"maxiter": candidates})
        except _ExhaustedError:
            pass
        self._report(left)
        return best

    def _hold_efforts(self, motion: WindowedSines) -> WindowedSines:
        """Make a motion smaller until the motors can do it."""
        if self._can_do(motion):
            return motion
        if not self._can_do(motion.scaled(0.0)):
            raise RobotDescriptionError(
                "no motion was found that the motors can do: raise the effort limits, or narrow the joint ranges to "
                "where the motors can hold the arm"
            )
        low, high = 0.0, 1.0
        for _ in range(_HALVINGS):
            middle = (low + high) / 2.0
            low, high = (middle, high) if self._can_do(motion.scaled(middle)) else (low, middle)
        return motion.scaled(low)

    def _can_do(self, motion: WindowedSines) -> bool:
        times = make_fine_grid(motion)
        efforts = self._information.evaluate(motion.at(times), float(times[1])).efforts
        return bool(np.all(np.abs(efforts) <= self._limits.effort))
