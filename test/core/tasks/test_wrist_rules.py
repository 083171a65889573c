"""Each rule of the task of a wrist sensor by itself: faults, what is kept for them, the tool, and what is expected."""

from __future__ import annotations

import numpy as np
import pytest
from support.chain import PUMA

from inertid_ros.core.checks.sensor_faults import Fault
from inertid_ros.core.diagnosis import Health
from inertid_ros.core.equations.load import FEATURES, UNKNOWNS
from inertid_ros.core.errors import FileFormatError
from inertid_ros.core.estimation.change import Decision
from inertid_ros.core.estimation.estimate import Mode, Sign
from inertid_ros.core.estimation.remembered import RememberedLinks, RememberedLoad
from inertid_ros.core.records import EventKind, FloatArray
from inertid_ros.core.rigid_body.inertial import ExpectedLoad, Tool
from inertid_ros.core.robot.robot import Robot
from inertid_ros.core.rows.rows import Row
from inertid_ros.core.settings.settings import Settings
from inertid_ros.core.tasks.wrist import WristLoadTask

SECOND = 1_000_000_000
FORCE, TORQUE = 0.5, 2.0
"""Limits of a contact, the other way round than usual, so that none stands in for the other."""
KNOWN = np.linspace(1.0, 2.0, UNKNOWNS)
TOOL_PHI = np.concatenate(([0.5], np.zeros(9)))


def make_task(**load: object) -> WristLoadTask:
    values = {"sensor_frame": "ft_sensor", "wrench_sign": "on_load", "contact_force": FORCE, "contact_torque": TORQUE}
    settings = Settings.from_flat({f"load.{name}": value for name, value in {**values, **load}.items()})
    return WristLoadTask(Robot.from_urdf(PUMA), settings, "ft_sensor", Health())


def make_row(left: FloatArray, filled: float = 1.0, known: FloatArray = KNOWN) -> Row:
    """A row of which what is known leaves so much."""
    equations = np.random.default_rng(0).normal(size=(6, UNKNOWNS + 1))
    readings = equations[:, :-1] @ known + left
    signals = np.zeros(16)
    signals[FEATURES - 1] = filled
    return Row(equations, signals, readings, np.ones(6), np.zeros(4), np.zeros(6), np.zeros(6), np.zeros(1))


def watch(task: WristLoadTask, monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """What is noted when the present unit and sign are believed."""
    believed: list[bool] = []
    monkeypatch.setattr(task._faults, "believe", lambda: believed.append(True))
    return believed


def learn(task: WristLoadTask, values: FloatArray = KNOWN) -> None:
    task._estimator.values = values.copy()


# Faults of the sensor


@pytest.mark.parametrize(
    ("left", "fits"),
    [
        (np.array([0.4, 0.0, 0.0, 0.0, 0.0, 0.0]), True),
        (np.array([0.0, 0.0, -0.6, 0.0, 0.0, 0.0]), False),
        (np.array([0.0, -0.4, 0.0, 1.9, 0.0, -1.9]), True),
        (np.array([0.0, 0.0, 0.0, 2.1, 0.0, 0.0]), False),
        (np.array([0.0, 0.0, 0.0, 0.0, 0.0, -2.1]), False),
    ],
)
def test_unit_and_sign_are_believed_again_after_15_rows_that_fit(
    monkeypatch: pytest.MonkeyPatch, left: FloatArray, fits: bool
) -> None:
    task = make_task()
    learn(task)
    believed = watch(task, monkeypatch)
    for _ in range(14):
        task._wait_for_sensor(Fault("wrench_scaled", 0), make_row(left))
    assert not believed
    task._wait_for_sensor(Fault("wrench_scaled", 0), make_row(left))
    assert bool(believed) is fits


def test_rows_that_fit_count_only_in_a_row_and_with_filters_that_are_filled(monkeypatch: pytest.MonkeyPatch) -> None:
    task = make_task()
    learn(task)
    believed = watch(task, monkeypatch)
    nothing, fault = np.zeros(6), Fault("wrench_scaled", 0)
    for other in (make_row(np.full(6, 9.0)), make_row(nothing, filled=0.89)):
        for _ in range(14):
            task._wait_for_sensor(fault, make_row(nothing, filled=0.91))
        task._wait_for_sensor(fault, other)
    assert not believed


def keep(task: WristLoadTask, stamps: list[float]) -> None:
    """What was known at some stamps [s]: each another mass."""
    for stamp in stamps:
        learn(task, np.full(UNKNOWNS, stamp))
        task._keep(round(stamp * SECOND))


@pytest.mark.parametrize(
    ("since", "mass", "left"),
    [(3.9, 3.5, [2.5, 3.0]), (3.5, 3.5, [2.5, 3.0]), (2.7, 2.5, []), (2.4, 9.0, [2.5]), (9.0, 4.0, [2.5, 3.0, 3.5])],
)
def test_a_fault_takes_back_what_was_learnt_since_it_began(since: float, mass: float, left: list[float]) -> None:
    """As far as it was kept; of a fault that began before that, what is known now stays."""
    task = make_task()
    keep(task, [2.5, 3.0, 3.5, 4.0])
    learn(task, np.full(UNKNOWNS, 9.0))
    decision = task._wait_for_sensor(Fault("sensor_dead", round(since * SECOND)), make_row(np.zeros(6)))
    assert decision == Decision(False)
    assert task._estimator.values[0] == mass
    assert [kept.stamp / SECOND for kept in task._kept] == left
    later = task._estimator.values.copy()
    task._wait_for_sensor(Fault("sensor_dead", 0), make_row(np.zeros(6)))
    np.testing.assert_array_equal(task._estimator.values, later)
    assert task._wait_for_sensor(None, make_row(np.zeros(6))) == Decision(True), "filters are restarted when it is over"
    assert task._fault is None


def test_what_was_taken_back_is_predicted_with_and_the_sign_is_that_of_then() -> None:
    task = make_task(wrench_sign="auto")
    keep(task, [1.0])
    task._sign.learn(-2.0, 1e-6)
    learn(task, np.full(UNKNOWNS, 9.0))
    predicted = []

    def note(values: FloatArray) -> None:
        predicted.append(values.copy())

    task.rows.set_values = note  # type: ignore[method-assign]
    task._wait_for_sensor(Fault("sensor_dead", 2 * SECOND), make_row(np.zeros(6)))
    assert task._sign.sign is None
    ((first, *_),) = predicted
    assert first == 1.0


def test_a_copy_is_kept_twice_a_second_and_of_the_last_four() -> None:
    task = make_task()
    keep(task, [1.0, 1.2, 1.499, 1.5, 1.7, 2.0, 2.5])
    assert [kept.stamp / SECOND for kept in task._kept] == [1.0, 1.5, 2.0, 2.5]
    assert [kept.estimator.values[0] for kept in task._kept] == [1.0, 1.5, 2.0, 2.5]
    keep(task, [3.0])
    assert [kept.stamp / SECOND for kept in task._kept] == [1.5, 2.0, 2.5, 3.0]
    keep(task, [0.5])
    assert task._kept[-1].stamp == SECOND // 2, "time was reset"


# Tool and expectations


@pytest.mark.parametrize(
    ("sign", "masses"),
    [(Sign.ON_LOAD, (0.7, 2.0)), (Sign.ON_SENSOR, (-0.7, -2.0)), (None, (-0.7, -2.0)), (None, (0.7, 2.0))],
)
def test_masses_of_events_are_in_kilograms_less_the_tool(sign: Sign | None, masses: tuple[float, float]) -> None:
    task = make_task(wrench_sign="auto")
    task._sign.sign = sign
    change = Decision(False, EventKind.LOAD_CHANGED, "", 0.9, masses)
    assert task._subtract_tool(change).masses == pytest.approx((0.7, 2.0))
    task.tool = Tool(TOOL_PHI, np.eye(10), "ft_sensor")
    decision = task._subtract_tool(change)
    assert decision.masses == pytest.approx((0.2, 1.5))
    assert decision.message == "the load has changed: 0.200 kg before, 1.500 kg now"


def test_a_push_in_the_other_sign_has_a_negative_mass() -> None:
    task = make_task()
    change = Decision(False, EventKind.CONTACT_BEGAN, "", 0.9, (-0.7, 0.0))
    assert task._subtract_tool(change).masses == pytest.approx((-0.7 * task._sign.sign.factor, 0.0))  # type: ignore[union-attr]


def test_a_mass_is_expected_once_something_was_attached_and_the_sign_is_known() -> None:
    task = make_task(wrench_sign="auto")
    assert task._expect(1.0, None) is None
    task.expected = ExpectedLoad("cup", 0.4, 0.03)
    assert task._expect(1.0, None) is None
    task._is_attached = True
    assert task._expect(1.0, None) is None
    task._sign.sign = Sign.ON_SENSOR
    assert task._expect(-1.0, None) == pytest.approx((-0.4, 0.03))
    tool = Tool(TOOL_PHI, 0.0016 * np.eye(10), "ft_sensor")
    assert task._expect(-1.0, tool) == pytest.approx((-0.9, 0.05))
    task.expected = None
    assert task._expect(-1.0, tool) is None


@pytest.mark.parametrize(
    ("masses", "is_attached"), [((0.5, 2.0), True), ((2.0, 0.5), False), ((-0.5, -2.0), True), ((1.0, 1.0), False)]
)
def test_what_is_heavier_than_before_was_attached(masses: tuple[float, float], is_attached: bool) -> None:
    task = make_task()
    task._is_attached = not is_attached
    task._note_fit(make_row(np.zeros(6)), Decision(False, EventKind.LOAD_CHANGED, "", 0.9, masses))
    assert task._is_attached is is_attached


def test_other_events_say_nothing_of_what_is_attached_and_fit() -> None:
    task = make_task()
    task._is_attached = True
    task._note_fit(make_row(np.zeros(6)), Decision(False))
    fit = task._fit
    task._note_fit(make_row(np.zeros(6)), Decision(False, EventKind.BIAS_CHANGED, "", 0.9, (2.0, 1.0)))
    assert task._is_attached
    assert task._fit is fit
    assert fit.rows.tolist() == [2] * 6
    task._note_fit(make_row(np.zeros(6)), Decision(False, EventKind.LOAD_CHANGED, "", 0.9, (2.0, 1.0)))
    assert task._fit.rows.tolist() == [1] * 6


def test_rows_in_contact_are_counted_and_do_not_count_as_fitting() -> None:
    task = make_task()
    for mode in (Mode.TRACKING, Mode.TESTING, Mode.CONTACT, Mode.CONTACT):
        task._estimator.mode = mode
        task._note_fit(make_row(np.zeros(6)), Decision(False))
    assert (task._rows_taken, task._rows_in_contact) == (4, 2)
    assert task._fit.rows.tolist() == [1] * 6


# After a restart


def remember(**given: object) -> RememberedLoad:
    values = {
        "frame": "ft_sensor",
        "sign": Sign.ON_SENSOR,
        "values": np.concatenate((KNOWN, np.zeros(39))),
        "covariance": 1e-6 * np.eye(55),
        "inflation": 1.0,
        "noise_density": np.full(6, 0.125),
        "noise_calibrated": True,
    }
    return RememberedLoad(**{**values, **given})


def test_what_is_recalled_has_sign_and_noise() -> None:
    task = make_task(wrench_sign="auto")
    task.recall(remember(), 0.0)
    assert task._sign.sign is Sign.ON_SENSOR
    np.testing.assert_allclose(np.sqrt(task._noise[:6]), 0.125)
    np.testing.assert_allclose(task._estimator.values, KNOWN)
    assert task._estimator.is_on_trial
    assert task.prepare_memory() is None


def test_a_sign_that_is_configured_and_noise_that_was_not_measured_are_not_recalled() -> None:
    task = make_task()
    noise = task._noise[:6].copy()
    task.recall(remember(noise_calibrated=False), 0.0)
    assert task._sign.sign is Sign.ON_LOAD
    np.testing.assert_array_equal(task._noise[:6], noise)


def test_what_is_of_another_sensor_is_refused() -> None:
    task = make_task()
    nothing = np.zeros(1)
    for other in (remember(frame="elsewhere"), RememberedLinks((), (), nothing, nothing, nothing)):
        with pytest.raises(FileFormatError, match="not of a sensor in frame 'ft_sensor'"):
            task.recall(other, 0.0)


def test_what_the_first_data_contradict_is_forgotten_and_said() -> None:
    task = make_task(wrench_sign="auto")
    task.recall(remember(), 0.0)
    task._estimator.has_forgotten = True
    task._begin_anew(5)
    assert task._sign.sign is None
    assert not task._estimator.has_forgotten
    ((source, code, stamp),) = [(item.source, item.code, item.last_stamp) for item in task._health.items()]
    assert (source, code, stamp) == ("state", "state_contradicted", 5)
