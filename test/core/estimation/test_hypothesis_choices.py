"""What the estimator decides of rows that do not fit, and of slight changes: each branch by itself."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from inertid_ros.core.equations.load import LOAD, PRIOR_BIAS, PRIOR_LOAD, UNKNOWNS
from inertid_ros.core.estimation.change import CERTAIN, Decision, Evidence, Sameness, find_probability
from inertid_ros.core.estimation.change_hypotheses import ChangeHypotheses
from inertid_ros.core.estimation.estimate import Mode
from inertid_ros.core.estimation.hypothesis import HypothesisEstimator, _Suspicion
from inertid_ros.core.estimation.information import SquareRootInformation
from inertid_ros.core.estimation.products import PRODUCTS, RECENT, ProductSums
from inertid_ros.core.estimation.systematic import solve_jointly
from inertid_ros.core.estimation.tracking import SINCE_CHANGE
from inertid_ros.core.records import EventKind, FloatArray
from inertid_ros.core.rows.rows import Row
from inertid_ros.core.settings.choices import SignChoice
from inertid_ros.core.settings.settings import LoadSettings

SETTINGS = LoadSettings(wrench_sign=SignChoice.ON_LOAD, bias_drift_force=0.2, bias_drift_torque=0.01)
MASS = 1.5
NOTHING = Decision(False)
NO_ROW = np.zeros((6, UNKNOWNS + 1))
NOISE = 1.0
"""Squares that noise leaves of each row that is tested."""
FITS, TOO_MUCH = 5.9 * 20 * NOISE, 6.1 * 20 * NOISE
"""Squares left of twenty rows with which a hypothesis just explains them, and does not."""
CONTACT = "contact: the wrench is inconsistent with a rigid load"


def _know(mass: float = MASS, settings: LoadSettings = SETTINGS) -> HypothesisEstimator:
    """An estimator that knows a mass."""
    values, deviations = np.zeros(UNKNOWNS), np.full(UNKNOWNS, 1e-3)
    values[0] = mass
    estimator = HypothesisEstimator(settings, 6.0)
    estimator._main = SquareRootInformation.from_covariance(values, np.diag(deviations**2))
    estimator.values = estimator._main.solve()
    return estimator


def _leave(information: SquareRootInformation | None, squares: float) -> None:
    assert information is not None
    information.matrix[-1, -1] = math.sqrt(squares)


def _give_mass(information: SquareRootInformation, mass: float) -> None:
    """Let a hypothesis say that this is the mass, to a gram."""
    values = np.zeros(UNKNOWNS)
    values[0] = mass
    information.matrix[:] = SquareRootInformation.from_covariance(values, 1e-6 * np.eye(UNKNOWNS)).matrix


def _test(
    estimator: HypothesisEstimator,
    load: float = TOO_MUCH,
    bias: float = TOO_MUCH,
    turned: float = 0.0,
    rows: int = 20,
    mode: Mode = Mode.TESTING,
    load_mass: float = 2.0,
) -> ChangeHypotheses:
    """Rows that were tested: what load and bias leave of them, and by how much gravity has turned."""
    estimator._start_testing(mode)
    tested = estimator._hypotheses
    assert tested is not None
    for x in np.linspace(0.0, turned, rows).tolist():
        signals = np.zeros(16)
        signals[12], signals[13:] = 1.0, (x, 0.0, -9.8)
        tested.take(NO_ROW, NOISE, 0.0, Row(NO_ROW, signals, *[np.zeros(6)] * 6), is_predicted=False)
    _give_mass(tested.load, load_mass)
    _leave(tested.load, load)
    _leave(tested.bias, bias)
    return tested


# The first hypothesis that fits


def test_a_load_that_fits_where_no_bias_does_is_accepted_with_what_is_known_of_the_sensor() -> None:
    estimator = _know()
    estimator._sums.inflation = np.full(6, 1.7)
    tested = _test(estimator, load=FITS, turned=3.0)
    confidence = tested.find_confidence(EventKind.LOAD_CHANGED, True)
    known = solve_jointly(estimator._sums, estimator.values)
    decision = estimator._judge(tested, False)
    assert (decision.restart, decision.kind, decision.confidence) == (False, EventKind.LOAD_CHANGED, confidence)
    assert decision.masses == pytest.approx((MASS, 2.0))
    assert estimator.mode is Mode.TRACKING
    assert estimator._sums is tested.sums
    np.testing.assert_array_equal(estimator._sums.inflation, np.full(6, 1.7))
    np.testing.assert_array_equal(estimator._sums.known_inflation, np.full(6, 1.7))
    mean, precision = known.forget_load(estimator._prior)
    np.testing.assert_array_equal(estimator._sums.mean, mean)
    np.testing.assert_array_equal(estimator._sums.precision, precision)


def test_nothing_is_chosen_before_20_rows() -> None:
    estimator = _know()
    assert estimator._judge(_test(estimator, load=0.0, rows=19), False) == NOTHING
    assert estimator.mode is Mode.TESTING
    assert estimator._judge(_test(estimator, load=0.0, rows=20), False).kind is EventKind.LOAD_CHANGED


def test_a_load_of_negative_mass_is_a_contact() -> None:
    estimator = _know()
    tested = _test(estimator, load=0.0, load_mass=-2.0)
    confidence = tested.find_confidence(EventKind.CONTACT_BEGAN, False)
    decision = estimator._choose(tested)
    assert decision == (True, EventKind.CONTACT_BEGAN, CONTACT, confidence, (MASS, MASS))


@pytest.mark.parametrize(
    ("load", "is_accepted"),
    # Both of 20 as one wrench: a load of log-likelihood ratio log(0.3 / 0.7) has the probability 0.3.
    [
        (20.0 / 3.0 * (-math.log(0.3 / 0.7) - 0.1), True),
        (20.0 / 3.0 * (-math.log(0.3 / 0.7) + 0.1), False),
    ],
)
def test_where_gravity_has_not_turned_a_load_must_be_likely_beside_a_bias(load: float, is_accepted: bool) -> None:
    estimator = _know()
    tested = _test(estimator, load=load, bias=0.0)
    decision = estimator._choose(tested)
    assert decision.kind is (EventKind.LOAD_CHANGED if is_accepted else EventKind.CONTACT_BEGAN)
    if not is_accepted:
        assert not decision.restart, "the bias goes on being watched with the same rows"
        assert estimator._hypotheses is tested
        assert tested.is_watched
        assert estimator.mode is Mode.CONTACT
        assert estimator._choose(tested) == NOTHING, "it is said once"


def test_where_gravity_has_turned_and_a_bias_fits_too_it_is_watched() -> None:
    estimator = _know()
    tested = _test(estimator, load=0.0, bias=FITS, turned=2.1)
    assert estimator._choose(tested) == NOTHING
    assert tested.is_watched
    assert not tested.is_undecided
    assert estimator.mode is Mode.TESTING
    assert estimator._hypotheses is tested


@pytest.mark.parametrize(
    ("rows", "turned", "waits"),
    [(20, 1.0001, True), (20, 0.9999, False), (39, 1.9501, True), (40, 1.9999, False), (30, 1.5001, True)],
)
def test_a_bias_waits_for_gravity_to_turn_as_long_as_it_turns_fast_enough(
    rows: int, turned: float, waits: bool
) -> None:
    """By 2 m/s² in 40 rows."""
    estimator = _know()
    tested = _test(estimator, load=1e6, bias=FITS, turned=turned, rows=rows)
    decision = estimator._choose(tested)
    assert tested.is_turning is waits
    assert tested.is_undecided is waits
    assert tested.is_watched is not waits
    assert decision.kind is (None if waits else EventKind.CONTACT_BEGAN)
    assert estimator.mode is (Mode.TESTING if waits else Mode.CONTACT)


def test_what_was_undecided_once_stays_so() -> None:
    estimator = _know()
    tested = _test(estimator, bias=FITS, turned=2.1)
    tested.is_undecided = True
    estimator._choose(tested)
    assert tested.is_undecided


def test_what_nothing_explains_is_a_contact_and_is_tested_anew() -> None:
    estimator = _know()
    tested = _test(estimator, turned=2.1)
    confidence = tested.find_confidence(EventKind.CONTACT_BEGAN, True)
    decision = estimator._choose(tested)
    assert decision == (True, EventKind.CONTACT_BEGAN, CONTACT, confidence, (MASS, MASS))
    assert estimator.mode is Mode.CONTACT
    assert estimator._hypotheses is not tested
    again = _test(estimator, turned=2.1, mode=Mode.CONTACT)
    assert estimator._choose(again) == Decision(True), "it is a contact already"
    assert estimator._hypotheses is not again


def test_the_load_before_comes_first_with_its_own_sums() -> None:
    estimator = _know()
    before = _know(0.4)._main
    estimator._previous, estimator._previous_sums = before, ProductSums(estimator._prior)
    estimator._previous_sums.settled = np.full((6, PRODUCTS, PRODUCTS), 3.0)
    estimator._clock[SINCE_CHANGE] = 5.0
    tested = _test(estimator, load=0.0)
    assert tested.previous is not None
    _leave(tested.previous, FITS)
    confidence = tested.find_confidence(EventKind.LOAD_CHANGED, True)
    main, old = estimator._main, estimator._sums
    expected = estimator._previous_sums.copy()
    expected.take_over(tested.sums, np.repeat([0.04, 1e-4], 3) * 5.0)
    decision = estimator._choose(tested)
    assert (decision.restart, decision.kind, decision.confidence) == (False, EventKind.LOAD_CHANGED, confidence)
    assert decision.masses == pytest.approx((MASS, 0.4), abs=1e-6)
    assert estimator._main is tested.previous
    assert estimator._previous is main
    assert estimator._previous_sums is old
    np.testing.assert_allclose(estimator._sums.settled, expected.settled)


def test_a_load_before_that_does_not_fit_is_no_hypothesis() -> None:
    estimator = _know()
    estimator._previous, estimator._previous_sums = _know(0.4)._main, ProductSums(estimator._prior)
    tested = _test(estimator, load=0.0)
    _leave(tested.previous, TOO_MUCH)
    decision = estimator._choose(tested)
    assert decision.masses == pytest.approx((MASS, 2.0))


# After a restart


def _try(estimator: HypothesisEstimator, **given: Any) -> ChangeHypotheses:
    """Rows that are tested while what was recalled is on trial."""
    estimator._trials, estimator._previous = 2, estimator._main
    return _test(estimator, **given)


def test_what_was_recalled_is_confirmed_in_silence() -> None:
    estimator = _know()
    tested = _try(estimator)
    _leave(tested.previous, FITS)
    tested.sums.pieces = 7
    assert estimator._choose(tested) == NOTHING
    assert not estimator.is_on_trial
    assert estimator._previous is None
    assert estimator._main is tested.previous
    assert estimator._sums.pieces == 7
    assert estimator.mode is Mode.TRACKING
    assert estimator.values[0] == pytest.approx(MASS)


def test_another_bias_than_the_one_recalled_is_watched_in_silence() -> None:
    estimator = _know()
    tested = _try(estimator, bias=FITS)
    _leave(tested.previous, TOO_MUCH)
    assert estimator._choose(tested) == NOTHING
    assert tested.is_watched
    assert estimator.is_on_trial
    assert estimator.mode is Mode.TESTING


def test_what_nothing_explains_is_a_doubt_and_no_contact() -> None:
    estimator = _know()
    tested = _try(estimator)
    _leave(tested.previous, TOO_MUCH)
    assert estimator._choose(tested) == Decision(True)
    assert estimator._trials == 1
    assert estimator.mode is Mode.TESTING


# The old load explains the rows again


def test_five_rows_that_the_old_load_explains_end_a_test() -> None:
    estimator = _know()
    tested = _test(estimator, rows=3)
    tested.explained = 4
    assert estimator._judge(tested, False) == NOTHING
    tested.explained = 5
    assert estimator._judge(tested, False) == Decision(True)
    assert estimator.mode is Mode.TRACKING
    tested = _test(estimator, rows=3, mode=Mode.CONTACT)
    tested.explained = 5
    decision = estimator._judge(tested, False)
    assert (decision.kind, decision.confidence) == (EventKind.CONTACT_ENDED, 6.0 / 7.0)


def test_what_single_rows_do_not_show_does_not_end_by_them() -> None:
    estimator = _know()
    tested = _test(estimator, rows=3, mode=Mode.CONTACT)
    tested.explained, tested.is_slight = 5, True
    assert estimator._judge(tested, False) == NOTHING
    assert estimator.mode is Mode.CONTACT


def test_what_waited_for_gravity_and_ends_was_a_contact_and_no_tare() -> None:
    estimator = _know()
    tested = _test(estimator)
    tested.explained, tested.is_undecided = 5, True
    assert estimator._judge(tested, False) == (False, EventKind.CONTACT_BEGAN, CONTACT, 6.0 / 7.0, (MASS, MASS))
    assert estimator.mode is Mode.CONTACT
    assert estimator._judge(tested, False).kind is EventKind.CONTACT_ENDED
    tested = _try(estimator)
    tested.explained, tested.is_undecided = 5, True
    assert estimator._judge(tested, False) == Decision(True), "after a restart it may have been anything"
    assert not estimator.is_on_trial


# Changes that are watched piece by piece


class Weighed:
    """Says what windows show instead of weighing them, and keeps what it was asked."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.load, self.bias, self.same, self.tells = 0.0, 0.0, Sameness(1.0, 1.0), True
        self.before: FloatArray = np.empty(0)
        self.window: FloatArray = self.before
        self.oldest: FloatArray = self.before
        self.last: FloatArray = self.before
        self.accepted: list[tuple[ProductSums, Evidence]] = []
        module = "inertid_ros.core.estimation.hypothesis"
        monkeypatch.setattr(f"{module}.weigh_change", self._weigh)
        monkeypatch.setattr(f"{module}.find_sameness", self._compare)
        monkeypatch.setattr(f"{module}.tells_more_than_pose", self._tell)
        monkeypatch.setattr(HypothesisEstimator, "_accept_slight", self._accept)

    def make(self) -> Evidence:
        nothing = np.zeros(1)
        return Evidence(self.load, self.bias, nothing, nothing, nothing)

    def _weigh(self, _: ProductSums, before: FloatArray, window: FloatArray) -> Evidence:
        self.before, self.window = before, window
        return self.make()

    def _compare(self, _: ProductSums, __: Evidence, last: FloatArray) -> Sameness:
        self.last = last
        return self.same

    def _tell(self, window: FloatArray, oldest: FloatArray) -> bool:
        np.testing.assert_array_equal(window, self.window)
        self.oldest = oldest
        return self.tells

    def _accept(self, young: ProductSums, evidence: Evidence) -> Decision:
        self.accepted.append((young, evidence))
        return Decision(False, EventKind.LOAD_CHANGED)


@pytest.fixture
def weighed(monkeypatch: pytest.MonkeyPatch) -> Weighed:
    return Weighed(monkeypatch)


def _piece(number: int) -> FloatArray:
    """Products of the piece so far back, each another number."""
    return np.full((6, PRODUCTS, PRODUCTS), 10.0**number)


def _fill(sums: ProductSums) -> None:
    """Eight pieces that are over, the newest first, and all before them."""
    sums.recent = tuple(_piece(number) for number in range(RECENT - 1))
    sums.settled = _piece(RECENT - 1)
    sums.pieces = 30


def _pick(products: FloatArray) -> str:
    """Which pieces are in a sum, the newest one last."""
    np.testing.assert_array_equal(products, products.flat[0])
    return f"{products.flat[0]:.0f}"


def test_a_suspicion_is_dropped_where_the_next_piece_does_not_confirm_it(weighed: Weighed) -> None:
    estimator = _know()
    _fill(estimator._sums)
    weighed.load = CERTAIN - 0.1
    assert estimator._pursue(_Suspicion(2, 0, None)) == NOTHING
    assert estimator._suspected is None
    assert not estimator.suspects_change


def test_a_suspicion_compares_what_came_since_with_what_was_before_it(weighed: Weighed) -> None:
    estimator = _know()
    _fill(estimator._sums)
    weighed.load, weighed.bias = CERTAIN + 10.0, 0.0
    assert estimator._pursue(_Suspicion(2, 0, None)) == NOTHING, "one piece cannot show that it stays the same"
    assert _pick(weighed.window) == "1"
    assert _pick(weighed.before) == "1111111000"
    assert estimator._suspected is not None
    assert estimator._suspected[:2] == (2, 1)
    assert estimator._suspected.evidence is not None
    first = estimator._suspected.evidence
    assert estimator.suspects_change
    weighed.tells = False
    assert estimator._pursue(estimator._suspected) == NOTHING, "it may be due to the pose"
    assert _pick(weighed.window) == "11"
    assert _pick(weighed.before) == "1111110000"
    assert _pick(weighed.last) == "1"
    assert _pick(weighed.oldest) == "10000"
    assert estimator._suspected is not None
    assert estimator._suspected[:2] == (2, 2)
    assert estimator._suspected.evidence is first
    weighed.tells = True
    assert estimator._pursue(estimator._suspected).kind is EventKind.LOAD_CHANGED
    ((young, evidence),) = weighed.accepted
    assert [_pick(piece) for piece in young.recent] == ["1", "10", "100"]
    assert _pick(estimator._sums.lower) == "1111100000"
    assert evidence.load == weighed.load


def test_a_bias_must_stay_the_same_for_four_pieces(weighed: Weighed) -> None:
    for age, is_accepted in ((2, False), (3, True)):
        estimator = _know()
        _fill(estimator._sums)
        weighed.load, weighed.bias = 0.0, CERTAIN + 10.0
        estimator._pursue(_Suspicion(1, age, weighed.make()))
        assert bool(weighed.accepted) is is_accepted


@pytest.mark.parametrize(("age", "is_accepted"), [(4, False), (5, True)])
def test_what_is_not_distinct_is_accepted_at_last(weighed: Weighed, age: int, is_accepted: bool) -> None:
    """As long as its first piece and one before it are still kept."""
    estimator = _know()
    _fill(estimator._sums)
    weighed.load, weighed.bias = CERTAIN + 10.0, CERTAIN + 9.0
    estimator._pursue(_Suspicion(RECENT - 8, age, weighed.make()))
    assert bool(weighed.accepted) is is_accepted
    assert (estimator._suspected is None) is is_accepted


def test_at_last_a_pose_alone_is_nothing(weighed: Weighed) -> None:
    estimator = _know()
    _fill(estimator._sums)
    weighed.load, weighed.tells = CERTAIN + 10.0, False
    assert estimator._pursue(_Suspicion(RECENT - 8, 5, weighed.make())) == NOTHING
    assert estimator._suspected is None
    assert not weighed.accepted


@pytest.mark.parametrize(
    ("same", "age", "is_contact"),
    [
        (Sameness(0.5e-4, 1.0), 2, True),
        (Sameness(1.0, 0.01), 2, False),
        (Sameness(1.0, 0.01), 5, True),
        (Sameness(0.01, 0.5), 5, False),
    ],
)
def test_what_grows_is_a_contact_and_what_may_grow_is_at_last(
    weighed: Weighed, same: Sameness, age: int, is_contact: bool
) -> None:
    estimator = _know()
    _fill(estimator._sums)
    weighed.load, weighed.same = CERTAIN + 10.0, same
    decision = estimator._pursue(_Suspicion(RECENT - 8, age, weighed.make()))
    assert (estimator.mode is Mode.CONTACT) is is_contact
    if is_contact:
        assert (decision.restart, decision.kind, decision.message) == (True, EventKind.CONTACT_BEGAN, CONTACT)
        assert decision.confidence == 1.0 - 1e-4
        tested = estimator._hypotheses
        assert tested is not None
        assert tested.is_slight
        assert tested.is_watched
        assert not tested.is_undecided
        assert not estimator._sums.recent, "what led to it is forgotten"
        assert not estimator.suspects_change
    elif age < 5:
        assert decision == NOTHING
        assert estimator._suspected is not None
    else:
        assert weighed.accepted


def _watched(estimator: HypothesisEstimator, **given: Any) -> ChangeHypotheses:
    tested = _test(estimator, **given)
    _fill(tested.sums)
    estimator._sums.settled = _piece(12)
    tested.is_watched = True
    return tested


def test_what_is_watched_is_judged_at_the_end_of_a_piece(weighed: Weighed) -> None:
    estimator = _know()
    tested = _watched(estimator)
    weighed.load = -0.1
    weighed.bias = -2.0
    assert estimator._judge(tested, False) == NOTHING
    assert weighed.window.size == 0
    assert estimator._judge(tested, True) == Decision(True), "neither has changed"
    assert estimator.mode is Mode.TRACKING
    assert _pick(weighed.window) == "1"
    assert _pick(weighed.before) == _pick(_piece(12))
    tested = _watched(estimator, mode=Mode.CONTACT)
    decision = estimator._watch(tested)
    assert decision.kind is EventKind.CONTACT_ENDED
    assert decision.confidence == find_probability(0.0, -0.1, -2.0)


def test_what_is_watched_and_stays_the_same_is_accepted_once_it_is_distinct(weighed: Weighed) -> None:
    estimator = _know()
    tested = _watched(estimator, turned=2.1)
    weighed.load, weighed.bias = 8.0, 2.0
    assert estimator._watch(tested) == NOTHING, "one piece cannot show that it stays the same"
    assert estimator._suspected is not None
    assert estimator._suspected[:2] == (0, 1)
    assert not weighed.accepted
    weighed.bias = 4.0
    assert estimator._watch(tested) == NOTHING, "5 is the difference that counts"
    assert _pick(weighed.window) == "11"
    assert _pick(weighed.last) == "1"
    assert estimator._suspected[:2] == (0, 2)
    weighed.bias = 2.0
    assert estimator._watch(tested).kind is EventKind.LOAD_CHANGED
    ((young, _),) = weighed.accepted
    assert [_pick(piece) for piece in young.recent] == ["1", "10", "100"]


@pytest.mark.parametrize(("is_slight", "pieces"), [(True, 4), (False, 2)])
def test_a_slight_contact_is_a_bias_once_it_has_stayed_the_same_for_2_s(
    weighed: Weighed, is_slight: bool, pieces: int
) -> None:
    """As a slight change that was no contact: what grows slowly does not show in less."""
    estimator = _know()
    tested = _watched(estimator, turned=2.1, mode=Mode.CONTACT)
    tested.is_slight = is_slight
    weighed.load, weighed.bias = 2.0, 20.0
    for _ in range(pieces - 1):
        assert estimator._watch(tested) == NOTHING
        assert not weighed.accepted
    assert estimator._watch(tested).kind is not None
    assert len(weighed.accepted) == 1


@pytest.mark.parametrize(("turned", "is_slight", "is_accepted"), [(1.0, False, False), (1.0, True, True)])
def test_what_single_rows_show_waits_for_gravity_to_turn(
    weighed: Weighed, turned: float, is_slight: bool, is_accepted: bool
) -> None:
    estimator = _know()
    tested = _watched(estimator, turned=turned)
    tested.is_slight = is_slight
    weighed.load = 20.0
    estimator._suspected = _Suspicion(0, 1, weighed.make())
    estimator._watch(tested)
    assert bool(weighed.accepted) is is_accepted


@pytest.mark.parametrize(("same", "is_contact"), [(Sameness(0.5e-4, 1.0), True), (Sameness(1.0, 0.01), False)])
def test_what_is_watched_and_grows_is_a_contact(weighed: Weighed, same: Sameness, is_contact: bool) -> None:
    estimator = _know()
    tested = _watched(estimator, turned=2.1)
    weighed.load, weighed.same = 20.0, same
    estimator._suspected = _Suspicion(0, 3, weighed.make())
    decision = estimator._watch(tested)
    assert _pick(weighed.window) == "1", "it begins anew"
    assert estimator._suspected[:2] == (0, 1)
    assert not weighed.accepted
    assert decision == ((False, EventKind.CONTACT_BEGAN, CONTACT, 1.0 - 1e-4, (MASS, MASS)) if is_contact else NOTHING)
    assert estimator.mode is (Mode.CONTACT if is_contact else Mode.TESTING)
    if is_contact:
        assert estimator._watch(tested) == NOTHING, "it is said once"


def test_what_grows_after_a_restart_is_a_doubt(weighed: Weighed) -> None:
    estimator = _know()
    estimator._trials = 2
    tested = _watched(estimator, turned=2.1)
    weighed.load, weighed.same = 20.0, Sameness(0.0, 0.0)
    estimator._suspected = _Suspicion(0, 3, weighed.make())
    assert estimator._watch(tested) == Decision(True)
    assert estimator._trials == 1
    assert estimator._suspected is None


def test_what_is_watched_for_long_is_as_old_as_pieces_are_kept(weighed: Weighed) -> None:
    estimator = _know()
    tested = _watched(estimator)
    weighed.load = 20.0
    estimator._suspected = _Suspicion(0, RECENT - 2, weighed.make())
    estimator._watch(tested)
    assert estimator._suspected is not None
    assert estimator._suspected.age == RECENT - 2


# A slight change that is accepted


def _draw(seed: int) -> FloatArray:
    """Lower triangles of some data."""
    rows = np.random.default_rng(seed).normal(size=(6, 200, PRODUCTS))
    return np.asarray(np.einsum("cni,cnj->cij", rows, rows))


@pytest.mark.parametrize("trials", [0, 2])
def test_a_slight_change_of_the_bias_goes_on_with_the_same_load(trials: int) -> None:
    estimator = _know()
    estimator._sums.settled, estimator._sums.weight = _draw(1), np.ones(6)
    estimator._trials, estimator._previous = trials, estimator._main.copy()
    young = ProductSums(estimator._prior)
    young.recent, young.pieces, young.weight = (_draw(2),), 1, np.ones(6)
    expected = estimator._sums.copy()
    expected.take_over(young, PRIOR_BIAS**2)
    _test(estimator, mode=Mode.CONTACT)
    nothing = np.zeros(1)
    decision = estimator._accept_slight(young, Evidence(10.0, 17.0, nothing, nothing, nothing))
    assert (decision.restart, decision.kind) == (False, EventKind.BIAS_CHANGED)
    assert decision.message == "the sensor's bias has changed: it was tared, or drifts"
    assert decision.confidence == find_probability(17.0, 10.0, 0.0)
    assert estimator.mode is Mode.TRACKING
    assert estimator._hypotheses is None
    assert not estimator.is_on_trial
    assert (estimator._previous is None) is (trials > 0), "what was recalled is no load before"
    np.testing.assert_allclose(estimator._sums.settled, expected.settled)
    solution = solve_jointly(expected, estimator.values)
    np.testing.assert_allclose(estimator.values, solution.values[:UNKNOWNS], rtol=1e-6, atol=1e-9)


def test_a_slight_change_of_the_load_begins_anew_with_what_is_known_of_the_sensor() -> None:
    estimator = _know()
    estimator._sums.settled, estimator._sums.weight = _draw(1), np.ones(6)
    young, changed = ProductSums(estimator._prior), np.linspace(1.0, 2.0, 55)
    young.recent, young.pieces, young.weight = (_draw(2),), 1, np.ones(6)
    old = estimator._sums
    known = solve_jointly(old, estimator.values)
    nothing = np.zeros(1)
    decision = estimator._accept_slight(young, Evidence(17.0, 10.0, changed, nothing, nothing))
    assert (decision.restart, decision.kind) == (False, EventKind.LOAD_CHANGED)
    assert decision.confidence == find_probability(17.0, 10.0, 0.0)
    assert estimator._sums is young
    assert estimator._previous_sums is old
    mean, precision = known.forget_load(estimator._prior)
    np.testing.assert_allclose(young.mean, mean, atol=1e-8)
    np.testing.assert_allclose(young.precision, precision, rtol=1e-5, atol=1e-5)
    assert young.values is changed
    assert decision.masses == pytest.approx((known.values[0], estimator.values[0]))


# When slight changes are looked for


@pytest.mark.parametrize(("pieces", "is_suspected"), [(11, False), (12, True)])
def test_slight_changes_are_looked_for_once_residuals_are_known(
    weighed: Weighed, monkeypatch: pytest.MonkeyPatch, pieces: int, is_suspected: bool
) -> None:
    estimator = _know()
    _fill(estimator._sums)
    estimator._sums.pieces = pieces
    looked: list[int] = []

    def look(_: ProductSums, __: FloatArray, ___: FloatArray, count: int) -> bool:
        looked.append(count)
        return count == 1

    monkeypatch.setattr("inertid_ros.core.estimation.hypothesis.looks_the_same", look)
    weighed.load = CERTAIN + 0.1
    assert estimator._look_for_change() == NOTHING
    assert looked == ([1, 4] if is_suspected else [])
    assert estimator._suspected == (_Suspicion(4, 0, None) if is_suspected else None)
    if is_suspected:
        assert _pick(weighed.window) == "1111"
        assert _pick(weighed.before) == "1111110000"
        weighed.load = 0.0
        estimator._look_for_change()
        assert estimator._suspected is None, "it was pursued"
        weighed.load = CERTAIN - 0.1
        estimator._look_for_change()
        assert estimator._suspected is None


def test_the_shorter_time_scale_comes_first(weighed: Weighed, monkeypatch: pytest.MonkeyPatch) -> None:
    estimator = _know()
    _fill(estimator._sums)
    monkeypatch.setattr("inertid_ros.core.estimation.hypothesis.looks_the_same", lambda *_: False)
    weighed.load = CERTAIN + 0.1
    estimator._look_for_change()
    assert estimator._suspected == _Suspicion(1, 0, None)
    assert _pick(weighed.window) == "1"


# What the outside is told


def test_nothing_is_known_while_what_was_recalled_is_on_trial() -> None:
    estimator = _know()
    estimator._sums.settled, estimator._sums.weight = _draw(1), np.ones(6)
    estimator._trials = 1
    on_trial = estimator.solve()
    np.testing.assert_allclose(np.sqrt(np.diag(on_trial.covariance))[:LOAD], PRIOR_LOAD)
    estimator._trials = 0
    assert np.all(np.sqrt(np.diag(estimator.solve().covariance))[:LOAD] < 0.5 * PRIOR_LOAD)


def test_what_is_believed_of_the_mass_is_in_the_solution_alone() -> None:
    estimator = _know()
    estimator._sums.settled = 1e-9 * _draw(1)
    free = estimator.solve()
    believed = estimator.prepare_solution((3.0, 1e-6))()
    assert believed.values[0] == pytest.approx(3.0, abs=1e-4)
    np.testing.assert_array_equal(estimator.solve().values, free.values)


def test_what_was_prepared_does_not_change_with_rows_that_come_later() -> None:
    estimator = _know()
    estimator._sums.present = _draw(1)
    prepared, expected = estimator.prepare_solution(), estimator.solve()
    estimator._sums.present += _draw(2)
    estimator.values[:] = 7.0
    estimator._motion_noise[:] = 1.0
    np.testing.assert_array_equal(prepared().values, expected.values)
    np.testing.assert_array_equal(prepared().covariance, expected.covariance)


# Row by row


class Tracked:
    """Says whether rows fit instead of comparing them."""

    def __init__(self, estimator: HypothesisEstimator, monkeypatch: pytest.MonkeyPatch) -> None:
        self.fits, self.leverage, self.is_tracking = True, 0.0, False
        self.updated: list[int] = []
        self._estimator, self._time = estimator, 0.0
        monkeypatch.setattr(estimator, "_track_row", self._track)
        monkeypatch.setattr(estimator, "_lay_down_products", lambda *_: None)
        module = "inertid_ros.core.estimation.hypothesis"
        monkeypatch.setattr(f"{module}.update", lambda sums: self.updated.append(sums.pieces))
        monkeypatch.setattr(f"{module}.looks_the_same", lambda *_: True)
        estimator._variance[:] = estimator._noise[:] = 1.0
        estimator._whitened[:] = 0.0

    def _track(self, *given: Any) -> tuple[bool, float, float]:
        self.is_tracking = given[-1]
        return self.fits, NOISE, self.leverage

    def take(self, rows: int = 1) -> Decision:
        """Take so many rows, 0.02 s each."""
        signals = np.zeros(16)
        signals[12] = 1.0
        row = Row(NO_ROW, signals, *[np.zeros(6)] * 6)
        for _ in range(rows):
            self._time += 0.02
            decision = self._estimator.take(self._time, row, np.ones(6))
        return decision


def test_rows_that_fit_are_counted_and_make_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    estimator = _know()
    tracked = Tracked(estimator, monkeypatch)
    assert tracked.take(24) == NOTHING
    assert (estimator.rows, estimator._sums.pieces) == (24, 0)
    assert tracked.is_tracking
    assert tracked.take(2) == NOTHING
    assert (estimator.rows, estimator._sums.pieces) == (26, 1)
    tracked.take(25 * 30)
    assert tracked.updated == [*range(1, 12), 12, 16, 20, 24, 28], "often at first, then now and then"


def test_nothing_is_updated_while_a_change_is_suspected(monkeypatch: pytest.MonkeyPatch) -> None:
    estimator = _know()
    tracked = Tracked(estimator, monkeypatch)
    monkeypatch.setattr(estimator, "_look_for_change", lambda: Decision(False, EventKind.BIAS_CHANGED))
    estimator._suspected = _Suspicion(1, 0, None)
    kinds = [tracked.take().kind for _ in range(25)]
    assert kinds == [None] * 24 + [EventKind.BIAS_CHANGED]
    assert tracked.updated == []
    estimator._suspected = None
    tracked.take(25)
    assert tracked.updated == [2]


def test_a_row_that_does_not_fit_begins_a_test_and_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    estimator = _know()
    tracked = Tracked(estimator, monkeypatch)
    tracked.take(3)
    tracked.fits = False
    assert tracked.take() == Decision(True)
    assert (estimator.rows, estimator.mode) == (3, Mode.TESTING)
    tested = estimator._hypotheses
    assert tested is not None
    assert tested.rows == 0
    assert tracked.take() == NOTHING
    assert not tracked.is_tracking
    assert (estimator.rows, tested.rows, tested.explained) == (3, 1, 0)
    tracked.fits, tracked.leverage = True, 1.1
    tracked.take()
    assert tested.explained == 0, "an estimate that knows nothing yet fits whatever comes"
    tracked.leverage = 0.9
    tracked.take()
    assert tested.explained == 1


def test_rows_that_are_tested_make_pieces_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    estimator = _know()
    tracked = Tracked(estimator, monkeypatch)
    over: list[bool] = []

    def judge(_: ChangeHypotheses, is_over: bool) -> Decision:
        over.append(is_over)
        return NOTHING

    monkeypatch.setattr(estimator, "_judge", judge)
    tracked.fits = False
    tracked.take(1 + 50)
    assert estimator._hypotheses is not None
    assert estimator._hypotheses.sums.pieces == 2
    assert estimator._sums.pieces == 0
    assert sum(over) == 2
    assert over[24]
