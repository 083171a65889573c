"""Each rule by which rows are believed, tested or laid aside, by itself: against what its words say."""

from __future__ import annotations

import math

import numpy as np
import pytest

from inertid_ros.core.equations.load import LOAD, PRIOR_BIAS, PRIOR_LOAD, UNKNOWNS, attenuate
from inertid_ros.core.estimation.change import find_probability
from inertid_ros.core.estimation.change_hypotheses import ChangeHypotheses
from inertid_ros.core.estimation.estimate import Mode
from inertid_ros.core.estimation.hypothesis import HypothesisEstimator
from inertid_ros.core.estimation.information import SquareRootInformation
from inertid_ros.core.estimation.products import ProductSums
from inertid_ros.core.estimation.systematic import make_precision, nuisance_deviations
from inertid_ros.core.estimation.tracking import LAST_TIME, SINCE_CHANGE
from inertid_ros.core.records import EventKind, FloatArray
from inertid_ros.core.rows.rows import Row
from inertid_ros.core.settings.choices import SignChoice
from inertid_ros.core.settings.settings import LoadSettings

PRIOR = np.concatenate((PRIOR_LOAD, PRIOR_BIAS))
NO_ROW = np.zeros((6, UNKNOWNS + 1))


def _row(gravity: tuple[float, float, float] = (0.0, 0.0, -9.8), amplitude: float = 1.0) -> Row:
    """A row of an arm at rest."""
    signals = np.zeros(16)
    signals[12], signals[13:] = amplitude, amplitude * np.array(gravity)
    none = np.zeros(6)
    return Row(NO_ROW, signals, none, none, none, none, none, none)


def _make(has_previous: bool = True) -> ChangeHypotheses:
    main = SquareRootInformation(PRIOR)
    return ChangeHypotheses(main, main.copy() if has_previous else None, ProductSums(np.eye(55)))


def _leave(information: SquareRootInformation | None, squares: float) -> None:
    """Let it leave so much of the rows."""
    assert information is not None
    information.matrix[-1, -1] = math.sqrt(squares)


def test_a_hypothesis_fits_if_it_leaves_six_times_the_noise_and_what_sensors_misread() -> None:
    tested = _make()
    assert not tested.is_slight
    assert not tested.is_watched
    for _ in range(4):
        tested.take(NO_ROW, 2.0, 0.5, _row(), is_predicted=False)
    limit = 6.0 * 8.0 + 2.0
    for information, fits in (
        (tested.previous, tested.previous_fits),
        (tested.load, tested.load_fits),
        (tested.bias, tested.bias_fits),
    ):
        _leave(information, 0.99 * limit)
        assert fits()
        _leave(information, 1.01 * limit)
        assert not fits()
    assert tested.rows == 4
    assert not _make(has_previous=False).previous_fits()


def test_what_was_left_before_does_not_count() -> None:
    main = SquareRootInformation(PRIOR)
    _leave(main, 1000.0)
    tested = ChangeHypotheses(main, main.copy(), ProductSums(np.eye(55)))
    tested.take(NO_ROW, 1.0, 0.0, _row(), is_predicted=False)
    assert tested.previous_fits()
    assert tested.load_fits()
    assert tested.bias_fits()


def test_rows_go_to_all_hypotheses_each_of_which_has_forgotten_its_own_part() -> None:
    random = np.random.default_rng(0)
    main = SquareRootInformation(PRIOR)
    main.fold_in(random.normal(size=(40, UNKNOWNS + 1)))
    tested = ChangeHypotheses(main, main.copy(), ProductSums(np.eye(55)))
    np.testing.assert_allclose(np.diag(tested.load.covariance())[:LOAD], PRIOR_LOAD**2)
    np.testing.assert_allclose(tested.load.solve()[LOAD:], main.solve()[LOAD:])
    np.testing.assert_allclose(np.diag(tested.bias.covariance())[LOAD:], PRIOR_BIAS**2)
    np.testing.assert_allclose(tested.bias.solve()[:LOAD], main.solve()[:LOAD])
    rows = random.normal(size=(6, UNKNOWNS + 1))
    expected = [part.copy() for part in (main, tested.load, tested.bias)]
    tested.take(rows, 1.0, 0.0, _row(), is_predicted=True)
    assert tested.previous is not None
    for before, after in zip(expected, (tested.previous, tested.load, tested.bias), strict=True):
        before.fold_in(rows)
        np.testing.assert_array_equal(after.matrix, before.matrix)


def test_rows_that_the_old_load_explains_count_only_in_a_row() -> None:
    tested, counts = _make(), []
    for is_predicted, amplitude in ((True, 1.0), (True, 1.0), (True, 0.4), (False, 1.0), (True, 1.0)):
        tested.take(NO_ROW, 1.0, 0.0, _row(amplitude=amplitude), is_predicted)
        counts.append(tested.explained)
    assert counts == [1, 2, 2, 0, 1], "filters that have just begun tell nothing"


def test_gravity_has_turned_by_2_m_per_s2_at_any_time() -> None:
    tested = _make()
    for x, has_turned in ((0.0, False), (1.9, False), (2.1, True), (0.0, True)):
        tested.take(NO_ROW, 1.0, 0.0, _row((x, 0.0, -9.8), 0.8), is_predicted=False)
        assert tested.has_turned is has_turned


def _leave_each(load: float, bias: float, previous: float | None, has_turned: bool) -> ChangeHypotheses:
    tested = _make(previous is not None)
    for x in (0.0, 5.0 if has_turned else 0.0):
        tested.take(NO_ROW, 5.0, 0.0, _row((x, 0.0, -9.8)), is_predicted=False)
    _leave(tested.load, load)
    _leave(tested.bias, bias)
    if previous is not None:
        _leave(tested.previous, previous)
    return tested


@pytest.mark.parametrize("has_turned", [False, True])
@pytest.mark.parametrize("previous", [None, 1.0, 50.0])
def test_how_certain_it_is_follows_from_what_each_leaves(previous: float | None, has_turned: bool) -> None:
    """As if all rows, whose noise is 10 in all, were one wrench of six numbers."""
    tested = _leave_each(4.0, 7.0, previous, has_turned)
    load, bias, contact = (-3.0 * left / 10.0 for left in (4.0 if previous != 1.0 else 1.0, 7.0, 60.0))
    nothing = -math.inf
    assert tested.find_confidence(EventKind.LOAD_CHANGED, True) == pytest.approx(find_probability(load, bias, contact))
    for is_possible in (True, False):
        others = load if is_possible else nothing, bias if has_turned else nothing
        found = tested.find_confidence(EventKind.CONTACT_BEGAN, is_possible)
        assert found == pytest.approx(find_probability(contact, *others))


SETTINGS = LoadSettings(
    delay_uncertainty=0.004,
    tilt_uncertainty=0.02,
    gain_uncertainty=0.03,
    cross_talk=0.05,
    rotation_uncertainty=0.01,
    offset_uncertainty=0.004,
    bias_drift_force=0.2,
    bias_drift_torque=0.01,
    wrench_sign=SignChoice.ON_LOAD,
)


def _know(values: FloatArray, deviations: FloatArray, settings: LoadSettings = SETTINGS) -> HypothesisEstimator:
    """An estimator that knows this."""
    estimator = HypothesisEstimator(settings, 6.0)
    estimator._main = SquareRootInformation.from_covariance(values, np.diag(deviations**2))
    estimator.values = estimator._main.solve()
    return estimator


def test_settings_are_priors_of_what_is_wrong_with_the_sensor() -> None:
    estimator = HypothesisEstimator(SETTINGS, 6.0)
    nuisances = nuisance_deviations(0.004, 0.02, 0.03, 0.05)
    np.testing.assert_array_equal(estimator._prior, make_precision(np.concatenate((PRIOR, nuisances)), 0.01, 0.004))
    random = np.random.default_rng(0)
    estimator._whitened[:] = random.normal(size=(6, UNKNOWNS + 1))
    estimator._variance[:] = random.uniform(0.5, 2.0, 6)
    estimator.values = random.normal(size=UNKNOWNS)
    left = estimator._whitened @ np.append(-estimator.values, 1.0) * np.sqrt(estimator._variance)
    shares = 0.02**2 + 0.03**2 + 0.05**2 + 0.01**2
    misread = shares * (left[:3] ** 2).sum() * np.array([1.0, 1.0, 1.0, 0.01, 0.01, 0.01])
    assert estimator._find_room() == pytest.approx((misread / estimator._variance).sum())


def test_a_row_stands_for_the_time_since_the_last_one_within_reason() -> None:
    estimator = HypothesisEstimator(SETTINGS, 6.0)
    times = 5.0, 5.02, 5.5, 5.5, 1.0, 1.03
    expected = 0.02, 0.02, 0.15, 0.02, 0.02, 0.03
    assert [estimator._advance_clock(estimator._clock, time) for time in times] == pytest.approx(expected)


def test_the_bias_wanders_once_a_second_by_what_the_settings_say() -> None:
    estimator = _know(np.zeros(UNKNOWNS), np.full(UNKNOWNS, 1e-3))
    times = iter(np.arange(21) * 0.11)
    estimator._clock[LAST_TIME] = next(times)
    for _ in range(9):
        estimator._advance_clock(estimator._clock, next(times))
        estimator._let_bias_wander()
    np.testing.assert_allclose(np.diag(estimator._main.covariance()), 1e-6)
    for time in times:
        estimator._advance_clock(estimator._clock, time)
        estimator._let_bias_wander()
    expected = np.concatenate((np.zeros(LOAD), np.repeat([0.04, 1e-4], 3) * 20 * 0.11)) + 1e-6
    np.testing.assert_allclose(np.diag(estimator._main.covariance()), expected, rtol=1e-6)
    assert estimator._clock[SINCE_CHANGE] == pytest.approx(20 * 0.11)


def test_no_load_has_a_negative_mass_beyond_doubt() -> None:
    deviations = np.full(UNKNOWNS, 1e-3)

    def is_possible(mass: float, deviation: float, sign: SignChoice) -> bool:
        settings = LoadSettings(wrench_sign=sign)
        values, own = np.zeros(UNKNOWNS), deviations.copy()
        values[0], own[0] = mass, deviation
        return HypothesisEstimator(settings, 6.0)._is_possible(_know(values, own)._main)

    for sign, factor in ((SignChoice.ON_LOAD, 1.0), (SignChoice.ON_SENSOR, -1.0)):
        assert is_possible(factor * 1.0, 1e-3, sign)
        assert is_possible(factor * -0.049, 1e-3, sign)
        assert not is_possible(factor * -0.051, 1e-3, sign)
        assert is_possible(factor * -0.49, 0.1, sign)
        assert not is_possible(factor * -0.51, 0.1, sign)
    assert is_possible(-5.0, 1e-3, SignChoice.AUTO), "the sign is not known"


@pytest.mark.parametrize(
    ("mass", "deviation", "sign"),
    [(2.0, 0.19, 1.0), (-2.0, 0.19, -1.0), (2.0, 0.21, 0.0), (0.051, 1e-4, 1.0), (0.049, 1e-4, 0.0)],
)
def test_a_sign_that_is_not_configured_is_that_of_a_mass_beyond_doubt(
    mass: float, deviation: float, sign: float
) -> None:
    values, deviations = np.zeros(UNKNOWNS), np.full(UNKNOWNS, 1e-6)
    values[0], deviations[0] = mass, deviation
    estimator = _know(values, deviations, LoadSettings(wrench_sign=SignChoice.AUTO))
    estimator._start_testing(Mode.TESTING)
    assert estimator._mass_sign == sign
    estimator.reset()
    assert estimator._mass_sign == 0.0
    assert HypothesisEstimator(SETTINGS, 6.0)._mass_sign == 1.0


def test_while_something_is_tested_the_load_before_may_have_another_bias() -> None:
    """It has wandered since the change; what was suspected is no more."""
    estimator = _know(np.zeros(UNKNOWNS), np.full(UNKNOWNS, 1e-3))
    estimator._previous, estimator._clock[SINCE_CHANGE] = estimator._main.copy(), 4.0
    estimator._before[:] = 1.0
    estimator._start_testing(Mode.CONTACT)
    assert estimator.mode is Mode.CONTACT
    assert not estimator.suspects_change
    assert estimator._before[-1] == 0.0
    assert estimator._hypotheses is not None
    assert estimator._hypotheses.previous is not None
    expected = np.concatenate((np.zeros(LOAD), np.repeat([0.04, 1e-4], 3) * 4.0)) + 1e-6
    np.testing.assert_allclose(np.diag(estimator._hypotheses.previous.covariance()), expected, rtol=1e-6)
    np.testing.assert_allclose(np.diag(estimator._previous.covariance()), 1e-6)


def test_noise_of_the_motion_widens_the_covariance_by_what_it_pulls() -> None:
    random = np.random.default_rng(1)
    values, deviations = random.normal(size=UNKNOWNS), random.uniform(0.1, 1.0, UNKNOWNS)
    estimator = _know(values, deviations)
    estimator._motion_noise[:] = random.uniform(size=(4, 6))
    estimator._state[0] = 3.0
    linear, angular = (
        estimator._motion_noise[0] + estimator._motion_noise[2],
        estimator._motion_noise[1] + estimator._motion_noise[3],
    )
    pulled = deviations**2 * attenuate(linear, angular) * values
    expected = 3.0 * np.diag(deviations**2) + np.outer(pulled, pulled)
    assert estimator.variance_inflation == 3.0
    np.testing.assert_allclose(estimator.covariance(), expected, rtol=1e-9, atol=1e-12)


def test_what_nothing_confirms_is_tried_twice_and_then_forgotten() -> None:
    estimator = _know(np.ones(UNKNOWNS), np.full(UNKNOWNS, 1e-3))
    estimator._trials = 2
    estimator._start_testing(Mode.TESTING)
    first = estimator._hypotheses
    assert estimator._doubt() == (True, None, "", 0.0, (0.0, 0.0))
    assert (estimator.is_on_trial, estimator.has_forgotten) == (True, False)
    assert estimator._hypotheses is not first
    assert estimator.values[0] == 1.0
    assert estimator._doubt().restart
    assert (estimator.is_on_trial, estimator.has_forgotten) == (False, True)
    assert not estimator.values.any()
    assert estimator.mode is Mode.TRACKING
    estimator.reset()
    assert not estimator.has_forgotten


def test_a_contact_that_ends_is_said_to_and_a_test_that_ends_is_not() -> None:
    estimator = _know(np.ones(UNKNOWNS), np.full(UNKNOWNS, 1e-3))
    estimator._start_testing(Mode.CONTACT)
    decision = estimator._recover(0.8)
    assert (decision.restart, decision.kind, decision.message) == (True, EventKind.CONTACT_ENDED, "contact ended")
    assert decision.confidence == 0.8
    assert decision.masses == (1.0, 1.0)
    assert estimator._hypotheses is None
    assert estimator.mode is Mode.TRACKING
    estimator._start_testing(Mode.TESTING)
    assert estimator._recover(0.8) == (True, None, "", 0.0, (0.0, 0.0))
    assert estimator.mode is Mode.TRACKING


def test_a_load_that_is_accepted_leaves_the_one_before_to_go_back_to() -> None:
    estimator = _know(np.ones(UNKNOWNS), np.full(UNKNOWNS, 1e-3))
    other = SquareRootInformation.from_covariance(np.full(UNKNOWNS, 2.0), np.eye(UNKNOWNS))
    main, old_sums, sums = estimator._main, estimator._sums, ProductSums(estimator._prior)
    estimator._trials, estimator._clock[SINCE_CHANGE] = 1, 7.0
    estimator._motion_noise[:] = 1.0
    estimator._start_testing(Mode.CONTACT)
    decision = estimator._accept_load(other, sums, 0.7)
    assert (decision.restart, decision.kind, decision.confidence) == (False, EventKind.LOAD_CHANGED, 0.7)
    assert decision.masses == pytest.approx((1.0, 2.0))
    assert estimator._previous is main
    assert estimator._previous_sums is old_sums
    assert estimator._sums is sums
    assert estimator._clock[SINCE_CHANGE] == 0.0
    assert not estimator._motion_noise.any()
    assert not estimator.is_on_trial
    assert estimator.mode is Mode.TRACKING
    np.testing.assert_allclose(estimator.values, 2.0)
