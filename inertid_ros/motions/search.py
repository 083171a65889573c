"""The search for the most informative motion, D-optimal from several random starts, and what it is compared with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter, itemgetter
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

from inertid_ros.core.errors import RobotDescriptionError
from inertid_ros.core.records import FloatArray
from inertid_ros.motions.information import MotionInformation
from inertid_ros.motions.motion import JointPath, MinimumJerk, Motion, find_ends
from inertid_ros.motions.multisine import (
    LIMIT_MARGIN,
    JointLimits,
    Multisine,
    SineWindow,
    WindowedSines,
    make_fine_grid,
    scale_to_limits,
)
from inertid_ros.motions.safety import SafetyCheck, UnsafeMotionError

HARMONICS = 5
"""Sines of each joint: five, as in Swevers et al. (1997)."""
CYCLE = 3.0
"""About how many seconds one swing lasts: in less time a joint does not get far, in more it hardly accelerates."""
FADE = 0.3
"""Share of a swing within which the motion rises at its start, and falls at its end."""
SAMPLES = 1_200_000
"""Samples whose dynamics are computed in a search, all candidates together: about half a minute for six joints."""

_DIFFERENCE = 1e-6
"""Step of numerical derivatives: their errors are of this order too, which is enough for a descent."""
_STEP, _MOST_POINTS = 0.02, 301
"""Seconds between the samples of a candidate, and how many there are at most; the final check is finer."""
_SHARPNESS = 24.0
"""Exponent of the norm that replaces the maximum: over 4 x 301 samples it exceeds it by 35 % at most."""
_ROOM = 0.02
"""The centre stays this share of the range away from both position limits."""
_DRAWN = 300
_STAGES = ((8, 0.3), (3, 0.3), (1, 0.4))
"""Random candidates; then how many of the best go on, and the share of the other candidates they have together."""
_OVERLOAD = 1e3
"""Cost of an effort of twice its limit, in units of the log-determinant: far more than motions differ by."""
_HALVINGS = 30
"""Of the interval in which the largest allowed scale is searched: to 1e-9."""
_SAFE_HALVINGS = 7
"""The same for the largest safe scale, which takes a proof each: to 1 %."""
_NEARLY_ALL = 0.9
"""A motion that is safe at this scale is taken; otherwise what is left of others is compared with it."""


class CandidateSpace:
    """Motions of one length as vectors of free numbers, all within the limits, so that a search needs no constraints.

    The first n numbers place the centre between the position limits, by logistic functions. The rest are coefficients
    of sines, of which only the proportions matter: each joint is scaled until the first of its limits is met. If
    motions are resizable, n numbers between the two say to which share of that each joint is scaled.
    """

    def __init__(self, limits: JointLimits, duration: float, resizable: bool = False) -> None:
        """Take the limits of n joints and the length of the motion [s]."""
        self._limits = limits
        self._resizable = resizable
        self.joints = len(limits.lower)
        """Number of joints."""
        self._window = make_window(duration)
        self.points = min(1 + int(np.ceil(duration / _STEP)), _MOST_POINTS)
        """Number of samples of a path."""
        self.step = duration / (self.points - 1)
        self._basis = self._window.at(np.linspace(0.0, duration, self.points))
        self._sizes = np.abs(self._basis.accelerations).max(axis=0)[:, None]
        self.dimension = self.joints * (1 + resizable + 2 * HARMONICS)

    def draw(self, random: np.random.Generator) -> FloatArray:
        """A random candidate (d,)."""
        return random.normal(size=self.dimension)

    def sample(self, candidate: FloatArray) -> JointPath:
        """The path of a candidate, every `step` seconds.

        The largest share of a limit is replaced by a norm that is smooth and somewhat above it.
        """
        center, sizes, coefficients = self._unpack(candidate)
        offsets, velocities, accelerations = (part @ coefficients for part in self._basis)
        shares = self._limits.shares(center, JointPath(center + offsets, velocities, accelerations))
        largest = (np.maximum(shares, 0.0) ** _SHARPNESS).sum(axis=(0, 1)) ** (1.0 / _SHARPNESS) / sizes
        return JointPath(center + offsets / largest, velocities / largest, accelerations / largest)

    def pull_back(self, candidate: FloatArray, slopes: JointPath) -> FloatArray:
        """How a cost changes with a candidate, (d,), from how it changes with the path that is sampled from it.

        A joint's path depends on that joint's own numbers alone, so that one of each joint is moved at a time.
        """
        path = self.sample(candidate)
        result = np.empty((self.dimension // self.joints, self.joints))
        for place in range(len(result)):
            moved = candidate.reshape(result.shape).copy()
            moved[place] += _DIFFERENCE
            changes = zip(self.sample(moved.ravel()), path, slopes, strict=True)
            result[place] = sum(((there - here) * slope).sum(axis=0) for there, here, slope in changes) / _DIFFERENCE
        return result.ravel()

    def build(self, candidate: FloatArray) -> WindowedSines:
        """The motion of a candidate, as large as the limits allow, or resized from there."""
        center, sizes, coefficients = self._unpack(candidate)
        return scale_to_limits(WindowedSines(self._window, center, coefficients), self._limits).scaled(sizes)

    def _unpack(self, candidate: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Centre (n,), shares (n,) of the largest size, and coefficients (2 K, n)."""
        numbers = candidate.reshape(-1, self.joints)
        place = _ROOM + (1.0 - 2.0 * _ROOM) * expit(numbers[0])
        center = self._limits.lower + place * (self._limits.upper - self._limits.lower)
        sizes = expit(numbers[1] + 1.0) if self._resizable else np.ones(self.joints)
        return center, sizes, numbers[1 + self._resizable :] / self._sizes


def make_window(duration: float) -> SineWindow:
    """The sines for a motion of some length [s]: the slowest takes two swings, since the window closes the motion."""
    swing = duration / max(1, round(duration / CYCLE))
    return SineWindow(2.0 * swing, HARMONICS, duration, FADE * swing)


class _Found(NamedTuple):
    cost: float
    candidate: FloatArray


class _ExhaustedError(Exception):
    """All candidates of a descent have been evaluated."""


class MotionSearch:
    """Searches for the most informative motion of a given length within the limits."""

    def __init__(
        self,
        information: MotionInformation,
        limits: JointLimits,
        duration: float,
        candidates: int | None = None,
        safety: SafetyCheck | None = None,
    ) -> None:
        """Set up for a duration [s], and so many candidates; None for as many as take about half a minute.

        Without a check of safety the joints' limits are all that is held.
        """
        self._information = information
        self._safety = safety
        self._effort_limits = np.broadcast_to(limits.effort, len(limits.lower))
        self._space = CandidateSpace(limits, duration, resizable=safety is not None)
        self.candidates = SAMPLES // self._space.points if candidates is None else candidates
        self._report: Callable[[int], None] = lambda _: None

    def run(self, seed: int = 0, on_progress: Callable[[int], None] = lambda _: None) -> WindowedSines:
        """Search, and return the best motion found, which holds all limits; the same for the same seed.

        `on_progress` is told how many motions were evaluated since the last call. RobotDescriptionError if the motors
        cannot even hold the arm still where the search ended, UnsafeMotionError if all motions found are unsafe.
        """
        self._report = on_progress
        random = np.random.default_rng(seed)
        found = [self._evaluate(self._space.draw(random))[0] for _ in range(_DRAWN)]
        self._report(_DRAWN)
        left = self.candidates - _DRAWN
        kept: list[_Found] = []
        for count, share in _STAGES:
            best = sorted(found, key=attrgetter("cost"))[:count]
            found = [self._improve(item, int(share * left / count)) for item in best]
            kept = sorted(found, key=attrgetter("cost")) + kept
        if self._safety is None:
            return self._hold_efforts(self._space.build(found[0].candidate))
        return self._choose_safe(self._safety, kept)

    def _evaluate(self, candidate: FloatArray) -> tuple[_Found, Callable[[], FloatArray]]:
        """Minus the log-determinant of the information plus a penalty for efforts, and what finds its gradient (d,)."""
        space, information = self._space, self._information
        path = space.sample(candidate)
        value = information.evaluate(path, space.step)
        penalty, effort_slopes = self._find_penalty(value.efforts)
        harm, harm_slopes = (0.0, None) if self._safety is None else self._safety.penalise(path)
        found = _Found(information.cost(value.information) + penalty + harm, candidate)

        def find_slopes() -> FloatArray:
            slopes = information.slopes(path, space.step, value, effort_slopes)
            if harm_slopes is not None:
                slopes = JointPath(*(own + other for own, other in zip(slopes, harm_slopes, strict=True)))
            return space.pull_back(candidate, slopes)

        return found, find_slopes

    def _find_penalty(self, efforts: FloatArray) -> tuple[float, FloatArray]:
        """Penalty of the largest effort beyond its limit, and its gradient with respect to all efforts, (N, n)."""
        shares = np.abs(efforts) / self._effort_limits
        worst = np.unravel_index(np.argmax(shares), shares.shape)
        overload = max(float(shares[worst]) - LIMIT_MARGIN, 0.0)
        slopes = np.zeros(efforts.shape)
        slopes[worst] = 2.0 * _OVERLOAD * overload * np.sign(efforts[worst]) / self._effort_limits[worst[1]]
        return _OVERLOAD * overload**2, slopes

    def _improve(self, start: _Found, candidates: int) -> _Found:
        """Descend until the budget of candidates is used up, or nothing improves."""
        best, left = start, candidates
        price = 1 + 3 * self._space.joints

        def evaluate_with_slopes(candidate: FloatArray) -> tuple[float, FloatArray]:
            nonlocal best, left
            if left < price:
                raise _ExhaustedError
            found, find_slopes = self._evaluate(candidate)
            best = min(best, found, key=attrgetter("cost"))
            left -= price
            self._report(price)
            return found.cost, find_slopes()

        try:
            limit = {"maxiter": candidates}
            minimize(evaluate_with_slopes, start.candidate, jac=True, method="L-BFGS-B", options=limit)
        except _ExhaustedError:
            pass
        self._report(left)
        return best

    def _hold_efforts(self, motion: WindowedSines) -> WindowedSines:
        """Scale a motion down until it holds the effort limits."""
        if self._can_do(motion):
            return motion
        if not self._can_do(motion.scaled(0.0)):
            raise RobotDescriptionError(
                "no motion was found that the motors can do: raise the effort limits, or narrow the joint ranges to "
                "where the motors can hold the arm"
            )
        return motion.scaled(_find_largest(lambda scale: self._can_do(motion.scaled(scale)), _HALVINGS))

    def _choose_safe(self, safety: SafetyCheck, kept: Sequence[_Found]) -> WindowedSines:
        """The best of the motions found, each scaled down until it is safe; the first that need not be by much."""
        choices: list[tuple[float, WindowedSines]] = []
        for item in kept:
            motion = self._hold_efforts(self._space.build(item.candidate))
            if safety.find_pose_violation(motion.center) is not None:
                continue
            scale = _find_safe_scale(safety, motion)
            motion = motion.scaled(scale)
            if scale > _NEARLY_ALL:
                return motion
            if scale > 0.0:
                path = motion.at(np.linspace(0.0, motion.duration, self._space.points))
                choices.append(
                    (self._information.cost(self._information.evaluate(path, self._space.step).information), motion)
                )
        if choices:
            return min(choices, key=itemgetter(0))[1]
        obstacles = safety.list_obstacles(self._space.sample(kept[0].candidate).positions)
        named = sorted({f"'{found.first}' and '{found.second}'" for found in obstacles})
        raise UnsafeMotionError(
            f"no safe motion was found; in the way of the best one: {'; '.join(named) or 'the speed limit'}. Narrow "
            "the joint ranges to where the arm is free (--limits), reduce the margin, move what is in the way, or "
            "compare more motions (--candidates)"
        )

    def _can_do(self, motion: WindowedSines) -> bool:
        times = make_fine_grid(motion)
        _, efforts = self._information.move(motion.at(times))
        return bool(np.all(np.abs(efforts) <= self._effort_limits))


def _find_largest(is_possible: Callable[[float], bool], halvings: int) -> float:
    """The largest scale below 1 that is possible, if all smaller ones are; 0 if none is."""
    low, high = 0.0, 1.0
    for _ in range(halvings):
        middle = (low + high) / 2.0
        low, high = (middle, high) if is_possible(middle) else (low, middle)
    return low


def _find_safe_scale(safety: SafetyCheck, motion: WindowedSines) -> float:
    """The largest scale at which a motion is safe, or nearly so; 0 if there is none."""
    if safety.is_safe(motion):
        return 1.0
    return _find_largest(lambda scale: safety.is_safe(motion.scaled(scale)), _SAFE_HALVINGS)


class Reference(NamedTuple):
    """What a designed motion is compared with: motions, each from rest to rest, and what they are called."""

    name: str
    motions: tuple[Motion, ...]


def make_reference(moves: Sequence[MinimumJerk], limits: JointLimits, duration: float) -> Reference:
    """As many of the paper's moves as fit into the duration [s]; a random multisine in the limits if they do not.

    A single move goes forth and back. Of several each begins where it begins in the paper; what leads from one to the
    next is left out.
    """
    legs = int(duration / moves[0].duration + 1e-9) if moves else 0
    if not moves or legs < len(moves) or moves[0].joint_count != len(limits.lower):
        return Reference("random sines", (Multisine(limits, duration, HARMONICS, fade=FADE * duration),))
    ends = [find_ends(move) for move in moves]
    if len(moves) == 1:
        waypoints = ends[0][np.arange(legs + 1) % 2]
        return Reference("paper's move", (MinimumJerk(waypoints, np.full(legs, duration / legs)),))
    taken = (ends[leg % len(moves)] for leg in range(legs))
    return Reference("paper's moves", tuple(MinimumJerk(pair, [duration / legs]) for pair in taken))
