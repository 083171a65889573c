"""What was known before a restart, tested against the first data."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from support.chain import BAR, drive, load_of, make_chain, puma_motion, sensor_of, simulate_puma
from support.link_chain import estimate_of, make_link_chain, make_motion, simulate_links

from inertid_ros.core.chain import Chain
from inertid_ros.core.equations.load import LOAD, UNKNOWNS
from inertid_ros.core.errors import FileFormatError
from inertid_ros.core.estimation.change import CHANGE
from inertid_ros.core.estimation.estimate import Mode
from inertid_ros.core.estimation.hypothesis import HypothesisEstimator
from inertid_ros.core.estimation.remembered import RememberedLinks, RememberedLoad
from inertid_ros.core.records import FloatArray
from inertid_ros.core.rigid_body.inertial import compose
from inertid_ros.core.settings.settings import LoadSettings
from inertid_ros.sim.sensors import paper_puma_sensors

OTHER = compose(0.9, np.array([0.02, -0.03, 0.08]), np.diag([0.004, 0.004, 0.001]))
TARED = np.array([5.0, -3.0, 8.0, 0.3, 0.2, 0.1])
START = 11.0


@pytest.fixture(scope="module")
def memory() -> RememberedLoad:
    """Of a PUMA that has carried the bar for nine seconds."""
    chain = make_chain()
    drive(chain, simulate_puma(puma_motion(rounds=4)), 0.0, 9.0)
    prepared = chain.prepare_memory()
    assert prepared is not None
    found = prepared()
    assert isinstance(found, RememberedLoad)
    return found


def go_on(
    memory: RememberedLoad, load: FloatArray | None, age: float, seconds: float, bias: FloatArray | float = 0.0
) -> tuple[Chain, list[str]]:
    """A chain that recalls a memory and then gets data of another noise; with the events."""
    sensor = tuple((np.array(paper_puma_sensors(0).bias) + bias).tolist())
    simulator = simulate_puma(puma_motion(rounds=4), 1000, schedule=((0.0, load),), bias=sensor)
    chain = make_chain()
    assert chain.recall(memory, age)
    output = drive(chain, simulator, START, START + seconds)
    return chain, [event.kind.value for event in output.events]


@pytest.mark.parametrize("age", [4.0, 900.0])
def test_the_bias_may_have_wandered_meanwhile_by_its_drift(memory: RememberedLoad, age: float) -> None:
    estimator = HypothesisEstimator(LoadSettings(bias_drift_force=0.03, bias_drift_torque=0.002), 15.0)
    estimator.recall(memory, age)
    grown = np.diag(estimator.covariance() - memory.covariance[:UNKNOWNS, :UNKNOWNS])[LOAD:]
    np.testing.assert_allclose(grown, age * np.repeat([0.03, 0.002], 3) ** 2, rtol=1e-3)


@pytest.mark.parametrize("age", [5.0, 600.0, 86400.0])
def test_the_same_load_is_known_within_two_seconds(memory: RememberedLoad, age: float) -> None:
    chain, events = go_on(memory, BAR, age, 2.0)
    estimate = load_of(chain)
    assert events == []
    assert estimate.mode is Mode.TRACKING
    assert estimate.values[0] == pytest.approx(BAR[0], abs=0.02)
    assert estimate.deviations[0] < 0.02
    assert sensor_of(chain).noise_calibrated


@pytest.mark.parametrize("start", [3.0, 18.0], ids=["in motion", "at standstill"])
def test_nothing_is_lost_however_often_it_restarts(start: float) -> None:
    """Eight restarts in a row, the arm in motion or at rest in one pose, which tells nothing of the inertia."""
    simulator, chain = simulate_puma(puma_motion(rounds=6), 7), make_chain()
    drive(chain, simulator, 0.0, start)
    for number in range(8):
        prepared = chain.prepare_memory()
        assert prepared is not None
        chain = make_chain()
        chain.recall(prepared(), 2.0)
        output = drive(chain, simulator, start + 1.5 * number, start + 1.5 * (number + 1))
        assert not output.events
        estimate = load_of(chain)
        assert estimate.values[0] == pytest.approx(BAR[0], abs=0.02)
        assert estimate.deviations[0] < 0.02
        assert estimate.deviations[4:].max() < 2e-3


@pytest.mark.parametrize(("load", "kind"), [(None, "load_released"), (OTHER, "load_changed")])
def test_another_load_is_found_within_two_seconds_for_the_bias_is_known(
    memory: RememberedLoad, load: FloatArray | None, kind: str
) -> None:
    chain, events = go_on(memory, load, 5.0, 2.0)
    assert events == [kind]
    assert load_of(chain).values[0] == pytest.approx(0.0 if load is None else load[0], abs=0.02)


def test_a_tared_sensor_is_recognised(memory: RememberedLoad) -> None:
    chain, events = go_on(memory, BAR, 5.0, 3.0, TARED)
    assert events == ["bias_changed"]
    assert load_of(chain).values[0] == pytest.approx(BAR[0], abs=0.02)


def test_what_is_contradicted_is_forgotten_and_said_so(memory: RememberedLoad) -> None:
    chain, _ = go_on(memory, OTHER, 5.0, 5.0, TARED)
    assert [item.code for item in chain.health] == ["state_contradicted"]
    estimate = load_of(chain)
    assert estimate.values[0] == pytest.approx(OTHER[0], abs=3.0 * estimate.deviations[0] + 0.005)
    assert estimate.deviations[0] < 0.03


def test_before_it_is_confirmed_nothing_is_known(memory: RememberedLoad) -> None:
    chain = make_chain()
    chain.recall(memory, 1.0)
    estimate = load_of(chain)
    assert estimate.mode is Mode.WAITING
    assert estimate.values[0] == 0.0
    assert estimate.deviations[0] > 1.0
    assert chain.prepare_memory() is None


def test_the_older_it_is_the_less_it_counts(memory: RememberedLoad) -> None:
    """The bias wanders as a random walk: its variance grows with time; that of the load towards any other load's."""
    prior, drift = np.eye(len(memory.values)), np.repeat([4e-6, 1e-8], 3)
    old = [np.diag(memory.widen(age, drift, prior)) for age in (0.0, 10.0, 3600.0, 1e6)]
    for younger, older in pairwise(old):
        assert (older[:UNKNOWNS] > younger[:UNKNOWNS]).all()
    np.testing.assert_array_equal(old[0], np.diag(memory.covariance))
    np.testing.assert_allclose((old[3] - old[0])[LOAD:UNKNOWNS], 1e6 * drift, rtol=1e-6)
    assert np.sqrt(old[3][0]) == pytest.approx(0.3, rel=0.01), "whatever a gripper may hold"


def test_a_load_is_another_one_the_likelier_the_longer_ago(memory: RememberedLoad) -> None:
    """The part that has changed grows as 1 - exp(-t / h): two thirds after an hour."""
    prior, drift = np.eye(len(memory.values)), np.zeros(6)
    grown = np.diag(memory.widen(3600.0, drift, prior)) - np.diag(memory.covariance)
    np.testing.assert_allclose(grown[:LOAD], CHANGE[:LOAD] ** 2 * (1.0 - np.exp(-1.0)), rtol=1e-9)
    np.testing.assert_allclose(grown[LOAD:UNKNOWNS], 0.0, atol=1e-15)


def test_what_was_fixed_and_is_free_now_is_as_uncertain_as_the_settings_say(memory: RememberedLoad) -> None:
    kept = memory.covariance.copy()
    kept[[20, 30]], kept[:, [20, 30]] = 0.0, 0.0
    fixed = replace(memory, covariance=kept)
    prior = np.diag(np.full(len(memory.values), 4.0))
    prior[30, 30] = np.inf
    widened = fixed.widen(0.0, np.zeros(6), prior)
    assert widened[20, 20] == 0.25
    assert widened[30, 30] == 0.0
    np.testing.assert_array_equal(np.delete(widened, 20, 0), np.delete(kept, 20, 0))
    precision = fixed.find_precision(widened, prior)
    free = np.delete(np.arange(len(prior)), 30)
    part = np.ix_(free, free)
    scale = np.sqrt(np.diag(widened)[free])
    product = precision[part] @ widened[part] * scale / scale[:, None]
    np.testing.assert_allclose(product, np.eye(len(free)), atol=1e-3)
    assert precision[30, 30] == np.inf
    assert not precision[30, free].any()


def test_links_are_half_as_certain_after_an_hour() -> None:
    covariance = np.array([[4.0, 1.0], [1.0, 9.0]])
    links = RememberedLinks(("a",), ("m", "f"), np.array([1.0, -2.0]), covariance, np.ones(1))
    for age, factor in ((0.0, 1.0), (3600.0, 2.0)):
        known = links.make_prior(age)
        np.testing.assert_allclose(known.solve(), links.values)
        np.testing.assert_allclose(known.covariance(), factor * covariance)


def test_that_of_another_frame_is_refused(memory: RememberedLoad) -> None:
    with pytest.raises(FileFormatError, match="not of a sensor in frame 'link6'"):
        make_chain(sensor_frame="link6").recall(memory, 1.0)


def test_links_are_known_at_once_and_forgotten_if_the_arm_is_another() -> None:
    simulator = simulate_links(make_motion(duration=12.0), seed=1)
    first = make_link_chain()
    drive(first, simulator, 0.0, 8.0)
    prepared = first.prepare_memory()
    assert prepared is not None
    memory = prepared()
    assert isinstance(memory, RememberedLinks)
    again = make_link_chain()
    drive(again, simulator, 8.0, 8.02)
    assert again.recall(memory, 10.0)
    drive(again, simulator, 8.02, 11.0)
    estimate = estimate_of(again)
    assert np.abs((estimate.values - memory.values) / np.sqrt(np.diag(memory.covariance))).max() < 3.0
    assert "state_contradicted" not in [item.code for item in again.health]
    wrong = RememberedLinks(memory.joint_names, memory.names, 3.0 * memory.values, memory.covariance, memory.residuals)
    other = make_link_chain()
    drive(other, simulator, 8.0, 8.02)
    assert other.recall(wrong, 10.0)
    drive(other, simulator, 8.02, 11.0)
    assert "state_contradicted" in [item.code for item in other.health]
    with pytest.raises(FileFormatError, match="not of these links"):
        make_link_chain(coulomb=False, joints=["joint1", "joint2", "joint3"]).recall(memory, 1.0)
