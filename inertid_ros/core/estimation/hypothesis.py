"""Online least squares of a load and the sensor's bias, which tells a new load from a contact by testing hypotheses.

Unknowns are [phi (10), bias (6)] in the driver's own sign. Phi is constant until the load changes, the bias wanders
slowly. Each row is compared with what is expected of it before it is believed:

- tracking: the row fits, and is folded in.
- testing: it does not. The filters are restarted, and rows go to three change hypotheses: the load before this one (a
  gripper that has let go), another load with the same bias, and another bias with the same load. After 0.4 s the first
  that fits is accepted. Where gravity has turned enough to distinguish, and another bias fits, too, it is watched for
  seconds: what grows is neither. No load has a negative mass.
- contact: none fits. Hypotheses are tested again every 0.4 s. As soon as the old load explains the wrench again,
  tracking goes on as before: nothing was forgotten. Where another load with another bias explains it for longer than
  the old ones did, these were wrong: they were learnt while something changed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from copy import copy as copy_shallow
from typing import NamedTuple

import numpy as np

from inertid_ros.core.compiled import specialise
from inertid_ros.core.equations.load import LOAD, PRIOR_BIAS, PRIOR_LOAD, UNKNOWNS, attenuate
from inertid_ros.core.estimation.change import (
    CERTAIN,
    CONSISTENT,
    Decision,
    Evidence,
    find_probability,
    find_sameness,
    looks_the_same,
    tells_more_than_pose,
    weigh_change,
)
from inertid_ros.core.estimation.change_hypotheses import ChangeHypotheses
from inertid_ros.core.estimation.damping import UNFILTERED
from inertid_ros.core.estimation.estimate import Mode
from inertid_ros.core.estimation.information import SquareRootInformation
from inertid_ros.core.estimation.mounting import LEVER
from inertid_ros.core.estimation.products import (
    PIECES,
    PRODUCTS,
    RECENT,
    REMEMBERED,
    Added,
    ProductSums,
    lay_down_products,
)
from inertid_ros.core.estimation.remembered import RememberedLoad
from inertid_ros.core.estimation.sensor_equation import find_coefficients
from inertid_ros.core.estimation.systematic import (
    JointSolution,
    make_precision,
    nuisance_deviations,
    solve_jointly,
    update,
)
from inertid_ros.core.estimation.tracking import (
    INFLATION,
    SINCE_CHANGE,
    SINCE_WANDER,
    WANDER_EVERY,
    RowVerdict,
    Tracked,
    advance_clock,
    track_row,
)
from inertid_ros.core.records import EventKind, FloatArray
from inertid_ros.core.rows.rows import Row
from inertid_ros.core.settings.settings import LoadSettings

_TEST = 20
"""Rows (0.4 s) after which hypotheses are judged: filters have settled, and gravity may have turned."""
_TIME_SCALES = 1, 4
"""Pieces (0.5 and 2 s) in which slight changes are looked for: large ones soon, small ones as soon as noise allows."""
_STEADY = 4
"""Pieces (2 s) for which a slight change of the bias must stay the same: a slow ramp has grown by half until then."""
_SETTLED = 12
"""Pieces (6 s) of a load from which slight changes are looked for: by then it is known how residuals scatter."""
_RECOVERY = 5
"""Consecutive rows (0.1 s) that the old load must explain for a contact to have ended: pushes pass through zero."""
_PREDICTED = 1.0
"""Unknowns' worth of information that a row may bring at most for the old load to have predicted it: an estimate that
knows nothing yet fits whatever comes."""
_LIKELY = 0.3
"""Probability of a load below which it is not accepted at once if another bias explains the rows as well: where
gravity does not turn, both are equally likely."""
_TRIALS = 2
"""Tests (0.4 to 1.5 s each) after which what was known before a restart is forgotten if nothing fits: the first one may
have fallen into a contact."""
_ANEW = 200
"""Rows (4 s) that another load with another bias must explain at least to be believed: sixteen unknowns fit whatever
happens in a shorter time."""
_LIGHTEST = 0.05
"""Masses below this [kg] have no certain sign: half a newton is within the drift of many sensors."""


class _Suspicion(NamedTuple):
    """A slight change that must be confirmed.

    Attributes:
        dropped: pieces in which it was first seen: it began in one of them.
        age: pieces since then.
        evidence: what the first of these says, if there is one: what grows slowly shows against it most.
    """

    dropped: int
    age: int
    evidence: Evidence | None


def _specialise_track_row() -> Callable[..., RowVerdict]:
    line, table = np.empty(1), np.empty((1, 1))
    known = Tracked(table, line, line, line, line, line, table, table, line, line)
    return specialise(track_row, known, Row(table, *([line] * 7)), line, 0.0, True)


class HypothesisEstimator:
    """Takes one row a decision interval and keeps estimate, mode and hypotheses.

    Attributes:
        values: (16,) the present estimate.
        mode: tracking, testing or contact.
        rows: how many have been folded in.
    """

    def __init__(self, settings: LoadSettings, noise_bandwidth: float, poles: FloatArray = UNFILTERED) -> None:
        """Start with nothing known.

        Args:
            settings: of the load.
            noise_bandwidth: a row's variance for white noise of density one [Hz].
            poles: (2,) of the filters of rows [rad/s].
        """
        self._poles = poles
        self._wander = np.repeat([settings.bias_drift_force, settings.bias_drift_torque], 3)
        self._configured_sign = {"on_load": 1.0, "on_sensor": -1.0}.get(settings.wrench_sign, 0.0)
        self._limits = np.array([settings.gate, settings.contact_force, settings.contact_torque, noise_bandwidth])
        self._whitened = np.empty((6, UNKNOWNS + 1))
        self._variance, self._noise = np.empty((2, 6))
        self._products = np.zeros(PRODUCTS)
        self._track_row = _specialise_track_row()
        self._advance_clock = specialise(advance_clock, self._limits, 0.0)
        self._lay_down_products = specialise(lay_down_products, self._products, self._products, 0.0, self._products)
        nuisances = nuisance_deviations(
            settings.delay_uncertainty, settings.tilt_uncertainty, settings.gain_uncertainty, settings.cross_talk
        )
        mounting = settings.rotation_uncertainty, settings.offset_uncertainty
        misread = settings.gain_uncertainty, settings.cross_talk, settings.tilt_uncertainty, mounting[0]
        self._misread = sum(part**2 for part in misread)
        self._prior = make_precision(np.concatenate((PRIOR_LOAD, PRIOR_BIAS, nuisances)), *mounting)
        self.reset()

    def reset(self) -> None:
        """Forget everything."""
        self._main = SquareRootInformation(np.concatenate((PRIOR_LOAD, PRIOR_BIAS)))
        self.values: FloatArray = np.zeros(UNKNOWNS)
        self.mode = Mode.TRACKING
        self._state = np.array([1.0, 0.0, 0.0])
        self._pose = np.zeros(14)
        self._before = np.zeros(REMEMBERED)
        self._sums = ProductSums(self._prior, self._poles)
        self._previous_sums: ProductSums | None = None
        self._suspected: _Suspicion | None = None
        self._motion_noise = np.zeros((4, 6))
        self.rows = 0
        self._clock = np.array([math.inf, 0.0, 0.0])
        self._hypotheses: ChangeHypotheses | None = None
        self._anew: ChangeHypotheses | None = None
        self._previous: SquareRootInformation | None = None
        self._mass_sign = self._configured_sign
        self._trials = 0
        self.has_forgotten = False

    def copy(self) -> HypothesisEstimator:
        """An independent copy, but for memory that each row writes to before it is read."""
        same = copy_shallow(self)
        for name in _CHANGED_IN_PLACE:
            value = getattr(self, name)
            setattr(same, name, None if value is None else value.copy())
        return same

    def recall(self, remembered: RememberedLoad, age: float) -> None:
        """Go on from what was known so many seconds ago, if the first rows confirm it.

        They are tested against the load as it was, another load on the same sensor, and the same load with another
        bias; if they are none of these after some trials, all is forgotten and learned anew.
        """
        self.reset()
        covariance = remembered.widen(age, self._wander**2, self._prior)
        sums = self._sums
        sums.mean, sums.precision = remembered.values, remembered.find_precision(covariance, self._prior)
        sums.values = remembered.values.copy()
        sums.inflation = sums.known_inflation = np.full(6, max(remembered.inflation, 1.0))
        self._main = SquareRootInformation.from_covariance(
            remembered.values[:UNKNOWNS], covariance[:UNKNOWNS, :UNKNOWNS]
        )
        self.values = self._main.solve()
        self._previous = self._main
        self._start_testing(Mode.TESTING)
        self._trials = _TRIALS

    @property
    def is_on_trial(self) -> bool:
        """Whether what was recalled is still to be confirmed: until then nothing is known."""
        return self._trials > 0

    def take(self, time: float, row: Row, density: FloatArray) -> Decision:
        """Take one row, with the noise density (6,) per hertz at this time."""
        interval = self._advance_clock(self._clock, time)
        self._let_bias_wander()
        tested = self._hypotheses
        fits, total, leverage = self._track_row(self.tracked, row, density, interval, tested is None)
        self._lay_down_products(row.signals, self._before, interval, self._products)
        if tested is not None:
            if self.mode is Mode.CONTACT and self._learn_anew(row, total, interval):
                return self._believe_anew()
            tested.take(self._whitened, total, self._find_room(), row, fits and leverage < _PREDICTED)
            is_over = tested.sums.add(self._products, row.readings, self._variance, self._noise, interval)
            if is_over:
                tested.sums.begin_piece(self._wander**2)
            return self._judge(tested, is_over)
        if not fits:
            return self.begin_test()
        self.rows += 1
        is_over = self._sums.add(self._products, row.readings, self._variance, self._noise, interval)
        return self.end_piece() if is_over else _NOTHING

    @property
    def is_followed(self) -> bool:
        """Whether there is nothing to decide about a row that fits, until a piece is over, or the bias is to wander."""
        return self._hypotheses is None

    @property
    def tracked(self) -> Tracked:
        """What a row changes in place while the load is tracked."""
        return Tracked(
            self._main.matrix,
            self.values,
            self._clock,
            self._limits,
            self._state,
            self._pose,
            self._motion_noise,
            self._whitened,
            self._variance,
            self._noise,
        )

    @property
    def summed(self) -> tuple[Added, FloatArray, FloatArray]:
        """What its products are added to, those of the last row (P,), and what is kept of the rows before (26,)."""
        return self._sums.added, self._products, self._before

    def begin_test(self) -> Decision:
        """A row does not fit: test what it may be."""
        self._start_testing(Mode.TESTING)
        return Decision(True)

    def end_piece(self) -> Decision:
        """A piece is over: look for slight changes, and find out how residuals scatter."""
        self._sums.begin_piece(self._wander**2)
        decision = self._look_for_change()
        if self._suspected is None and (self._sums.pieces < _SETTLED or self._sums.pieces % PIECES == 0):
            update(self._sums)
        return decision

    def _find_room(self) -> float:
        """Squares, in whitened units, by which gains, cross-talk and tilt may misread what has changed."""
        change = (self._whitened[:3, -1] - self._whitened[:3, :-1] @ self.values) ** 2 * self._variance[:3]
        return float(self._misread * change.sum() * (_LEVERS / self._variance).sum())

    @property
    def variance_inflation(self) -> float:
        """Variance of the innovations over what noise explains; 1 if the model is perfect."""
        return float(self._state[INFLATION])

    @property
    def suspects_change(self) -> bool:
        """Whether load or bias seem to have changed slightly, which is not certain yet."""
        return self.mode is Mode.TRACKING and self._suspected is not None

    def covariance(self) -> FloatArray:
        """Covariance (16, 16) of the unknowns, inflated, and widened by what noise in the motion may have done.

        Noise in a regressor adds a diagonal N to the information that carries no knowledge, and pulls the estimate x
        towards zero by P N x (errors in variables). That much is added to the covariance as a square.
        """
        covariance = self._main.covariance()
        pulled = covariance.dot(attenuate(*self._motion_noise.reshape(2, 2, 6).sum(axis=0)) * self.values)
        return np.asarray(self.variance_inflation * covariance + np.outer(pulled, pulled))

    def solve(self) -> JointSolution:
        """Load, bias, and what is systematically wrong, all that is known by now."""
        return self.prepare_solution()()

    def prepare_solution(self, mass: tuple[float, float] | None = None) -> Callable[[], JointSolution]:
        """What gives the same in any thread, while rows go on being taken.

        Args:
            mass: what is believed of the mass [kg] in the driver's sign, and its standard deviation.
        """
        if self.is_on_trial:
            return lambda: solve_jointly(ProductSums(self._prior), np.zeros(UNKNOWNS))
        sums, start, noise = self._sums.condense(), self.values.copy(), self._motion_noise.copy()
        if mass is not None:
            sums.expect_mass(*mass)
        return lambda: solve_jointly(sums, start, noise)

    def _look_for_change(self) -> Decision:
        """At the end of a piece: slight changes that no single row shows, on two time scales."""
        sums = self._sums
        if self._suspected is not None:
            return self._pursue(self._suspected)
        if sums.pieces < _SETTLED:
            return _NOTHING
        coefficients, noise = find_coefficients(sums.values), sums.known_noise
        for pieces in _TIME_SCALES:
            if looks_the_same(sums, coefficients, noise, pieces):
                continue
            window = sums.window(pieces)
            if weigh_change(sums, sums.total - window, window).strongest > CERTAIN:
                self._suspected = _Suspicion(pieces, 0, None)
                break
        return _NOTHING

    def _pursue(self, suspected: _Suspicion) -> Decision:
        """A change was suspected: wait until it is certain what has changed, as long as it stays the same."""
        sums, dropped, age = self._sums, suspected.dropped, suspected.age + 1
        since = sums.window(age)
        before = sums.total - sums.window(age + dropped)
        evidence = weigh_change(sums, before, since)
        self._suspected = None
        if evidence.strongest < CERTAIN:
            return _NOTHING
        same = None if suspected.evidence is None else find_sameness(sums, suspected.evidence, sums.window(1))
        is_last = age + dropped >= RECENT - 2
        if same is not None and (same.is_contradicted or (is_last and same.is_doubtful)):
            sums.split_off(age, dropped)
            self._rebuild(sums)
            self._start_testing(Mode.CONTACT)
            assert self._hypotheses is not None
            self._hypotheses.is_slight = self._hypotheses.is_watched = True
            return self._report(True, EventKind.CONTACT_BEGAN, 1.0 - CONSISTENT)
        is_distinct = evidence.is_distinct and (evidence.load > evidence.bias or age >= _STEADY)
        if same is not None and not same.is_doubtful and (is_distinct or is_last):
            oldest = sums.window(age + dropped + 1) - sums.window(age + dropped)
            if tells_more_than_pose(since, oldest):
                return self._accept_slight(sums.split_off(age, dropped), evidence)
            if is_last:
                return _NOTHING
        self._suspected = _Suspicion(dropped, age, suspected.evidence or evidence)
        return _NOTHING

    def _accept_slight(self, young: ProductSums, evidence: Evidence) -> Decision:
        """Load or bias have changed: what came since then begins anew, what led to the suspicion is left out."""
        self._end_trial()
        if evidence.load < evidence.bias:
            self._sums.take_over(young, PRIOR_BIAS**2)
            self._rebuild(self._sums)
            self._hypotheses, self.mode = None, Mode.TRACKING
            return self._report(False, EventKind.BIAS_CHANGED, find_probability(evidence.bias, evidence.load, 0.0))
        self._rebuild(self._sums)
        known = solve_jointly(self._sums, self.values)
        young.mean, young.precision = known.forget_load(self._prior)
        young.values = evidence.changed
        confidence = find_probability(evidence.load, evidence.bias, 0.0)
        return self._accept_load(self._make_information(young), young, confidence)

    def _make_information(self, sums: ProductSums) -> SquareRootInformation:
        """What sums say of load and bias."""
        solution = solve_jointly(sums, self.values)
        return SquareRootInformation.from_covariance(
            solution.values[:UNKNOWNS], solution.covariance[:UNKNOWNS, :UNKNOWNS]
        )

    def _rebuild(self, sums: ProductSums) -> None:
        self._main = self._make_information(sums)
        self.values = self._main.solve()

    def _watch(self, tested: ChangeHypotheses) -> Decision:
        """What could be a load, a bias or a slight contact: it is over, or is one of the former if it stays the same.

        While it grows it is a contact.
        """
        suspected, self._suspected = self._suspected, None
        age, has_grown = 1, False
        if suspected is not None and suspected.evidence is not None:
            same = find_sameness(self._sums, suspected.evidence, tested.sums.window(1))
            has_grown = same.is_contradicted
            age = 1 if has_grown or same.is_doubtful else suspected.age + 1
        evidence = weigh_change(self._sums, self._sums.total, tested.sums.window(age))
        if evidence.strongest < 0.0:
            return self._recover(find_probability(0.0, evidence.load, evidence.bias))
        is_steady = age >= _STEADY or (age > 1 and (evidence.load > evidence.bias or not tested.is_slight))
        if is_steady and evidence.is_distinct and (tested.is_slight or tested.has_turned):
            return self._accept_slight(tested.sums.split_off(age, 0), evidence)
        if has_grown and self.is_on_trial:
            return self._doubt()
        self._suspected = _Suspicion(0, min(age, RECENT - 2), evidence)
        if has_grown and self.mode is Mode.TESTING:
            self.mode = Mode.CONTACT
            return self._report(False, EventKind.CONTACT_BEGAN, 1.0 - CONSISTENT)
        return _NOTHING

    def _let_bias_wander(self) -> None:
        since = self._clock.item(SINCE_WANDER)
        if since >= WANDER_EVERY:
            self._main.diffuse_last(LOAD, self._wander * math.sqrt(since))
            self._clock[SINCE_WANDER] = 0.0

    def _learn_anew(self, row: Row, total: float, interval: float) -> bool:
        """Fold a row of a contact into another load with another bias, as long as they fit; whether they are right."""
        anew = self._anew
        if anew is None:
            nothing = SquareRootInformation(np.concatenate((PRIOR_LOAD, PRIOR_BIAS)))
            anew = self._anew = ChangeHypotheses(nothing, None, ProductSums(self._prior, self._poles))
        anew.take(self._whitened, total / self.variance_inflation, 0.0, row, False)
        if anew.sums.add(self._products, row.readings, self._variance, self._noise, interval):
            anew.sums.begin_piece(self._wander**2)
        if anew.rows % _TEST != 0:
            return False
        if not anew.load_fits():
            self._anew = None
            return False
        is_longer = anew.rows > max(self.rows, _ANEW)
        return is_longer and anew.has_turned and self._is_possible(anew.load) and not self.is_on_trial

    def _believe_anew(self) -> Decision:
        """What was known is wrong: go on with what was learnt in the contact."""
        anew, before = self._anew, self.rows
        assert anew is not None
        sums = anew.sums
        sums.values[:UNKNOWNS] = anew.load.solve()
        update(sums)
        decision = self._accept_load(anew.load, sums, anew.rows / (anew.rows + before))
        self._previous, self._previous_sums, self._state = None, None, np.array([1.0, 0.0, 0.0])
        self.rows = anew.rows
        return decision

    def _start_testing(self, mode: Mode) -> None:
        if self.mode is Mode.TRACKING:
            self._anew = None
        self.mode = mode
        self._before[-1] = 0.0
        self._suspected = None
        if self._configured_sign == 0.0:
            mass = float(self.values[0])
            if abs(mass) > max(_LIGHTEST, 10.0 * math.sqrt(self.covariance()[0, 0])):
                self._mass_sign = math.copysign(1.0, mass)
        previous = None
        if self._previous is not None:
            previous = self._previous.copy()
            previous.diffuse_last(LOAD, self._wander * math.sqrt(self._clock[SINCE_CHANGE]))
        sums = ProductSums(self._prior, self._poles)
        sums.mean = self._sums.mean
        self._hypotheses = ChangeHypotheses(self._main, previous, sums)

    def _judge(self, tested: ChangeHypotheses, is_over: bool) -> Decision:
        """Whether the old load explains the rows again, or a hypothesis does; `is_over`: a piece is."""
        if tested.explained >= _RECOVERY and not tested.is_slight:
            if tested.is_undecided and self.mode is Mode.TESTING and not self.is_on_trial:
                self.mode = Mode.CONTACT  # no tare ends: it was one, and is over at the next row
                return self._report(False, EventKind.CONTACT_BEGAN, _RECOVERED)
            return self._recover(_RECOVERED)
        if tested.is_watched:
            return self._watch(tested) if is_over else _NOTHING
        return _NOTHING if tested.rows < _TEST else self._choose(tested)

    def _recover(self, confidence: float) -> Decision:
        """Go on with the old load."""
        self._end_trial()
        was_contact = self.mode is Mode.CONTACT
        self._hypotheses, self.mode = None, Mode.TRACKING
        return self._report(True, EventKind.CONTACT_ENDED, confidence) if was_contact else Decision(True)

    def _choose(self, tested: ChangeHypotheses) -> Decision:
        """Accept the first hypothesis that fits, or call it a contact."""
        if tested.previous is not None and tested.previous_fits():
            return self._go_back(tested.previous, tested)
        is_possible, is_bias = self._is_possible(tested.load), tested.bias_fits()
        if is_possible and tested.load_fits():
            confidence = tested.find_confidence(EventKind.LOAD_CHANGED, True)
            if not (is_bias and (tested.has_turned or confidence < _LIKELY)):
                known = solve_jointly(self._sums, self.values)
                tested.sums.inflation = tested.sums.known_inflation = self._sums.inflation
                tested.sums.mean, tested.sums.precision = known.forget_load(self._prior)
                return self._accept_load(tested.load, tested.sums, confidence)
        is_turning = is_bias and tested.is_turning
        tested.is_undecided |= is_turning
        tested.is_watched = is_bias and not is_turning
        if self.is_on_trial:
            return _NOTHING if is_bias else self._doubt()
        if is_bias and (tested.has_turned or is_turning):
            return _NOTHING
        began = self.mode is not Mode.CONTACT
        if is_bias:
            self.mode = Mode.CONTACT
        else:
            self._start_testing(Mode.CONTACT)
        if not began:
            return Decision(not is_bias)
        return self._report(
            not is_bias, EventKind.CONTACT_BEGAN, tested.find_confidence(EventKind.CONTACT_BEGAN, is_possible)
        )

    def _go_back(self, previous: SquareRootInformation, tested: ChangeHypotheses) -> Decision:
        """Go on with the load before, or with what was recalled."""
        if self.is_on_trial:
            self._end_trial()
            self._sums.take_over(tested.sums, np.zeros(6))
            self._track(previous)
            return _NOTHING
        assert self._previous_sums is not None
        sums = self._previous_sums.copy()
        sums.take_over(tested.sums, self._wander**2 * self._clock[SINCE_CHANGE])
        return self._accept_load(previous, sums, tested.find_confidence(EventKind.LOAD_CHANGED, True))

    def _end_trial(self) -> None:
        """What was recalled is confirmed; on trial, it was the load before."""
        if self.is_on_trial:
            self._trials, self._previous = 0, None

    def _doubt(self) -> Decision:
        """Nothing explains the first rows after a restart: try again with others, and at last forget what was."""
        self._trials -= 1
        if self._trials > 0:
            self._start_testing(Mode.TESTING)
        else:
            self.reset()
            self.has_forgotten = True
        return Decision(True)

    def _is_possible(self, candidate: SquareRootInformation) -> bool:
        """Whether a load's mass is not beyond doubt below zero: that would be a push against gravity."""
        mass = self._mass_sign * float(candidate.solve()[0])
        deviation = math.sqrt(self.variance_inflation * float(candidate.covariance()[0, 0]))
        return mass > -max(_LIGHTEST, 5.0 * deviation)

    def _accept_load(self, candidate: SquareRootInformation, sums: ProductSums, confidence: float) -> Decision:
        before, self._trials = float(self.values[0]), 0
        self._previous_sums, self._sums = self._sums, sums
        self._previous, self._clock[SINCE_CHANGE] = self._main, 0.0
        self._track(candidate)
        self._motion_noise = np.zeros((4, 6))
        return self._report(False, EventKind.LOAD_CHANGED, confidence, before)

    def _track(self, accepted: SquareRootInformation) -> None:
        self._main, self._hypotheses, self.mode = accepted, None, Mode.TRACKING
        self.values = self._main.solve()

    def _report(self, restart: bool, kind: EventKind, confidence: float, before: float | None = None) -> Decision:
        """Report what happened, with the masses before and now in the driver's sign; the same if there is no other."""
        now = float(self.values[0])
        return Decision(restart, kind, _WORDS.get(kind, ""), confidence, (now if before is None else before, now))


_LEVERS = np.repeat([1.0, LEVER**2], 3)
"""Square of what a newton that is misread does to each channel [1, m²]."""
_NOTHING = Decision(False)
_CHANGED_IN_PLACE = (
    *("_main", "_sums", "values", "_clock", "_state", "_pose", "_before", "_motion_noise"),
    *("_previous", "_hypotheses", "_anew"),
)
"""What rows change of an estimator; they replace all else."""
_RECOVERED = (_RECOVERY + 1.0) / (_RECOVERY + 2.0)
"""Probability that a contact has ended after so many rows that fit: Laplace's rule of succession."""
_WORDS = {
    EventKind.BIAS_CHANGED: "the sensor's bias has changed: it was tared, or drifts",
    EventKind.CONTACT_BEGAN: "contact: the wrench is inconsistent with a rigid load",
    EventKind.CONTACT_ENDED: "contact ended",
}
