"""Readings one by one: which repeats are a fault of the sensor, and which are just nothing to learn from."""

from __future__ import annotations

import numpy as np
import pytest

from inertid_ros.core.checks.sensor_faults import (
    DEAD,
    FROZEN,
    GOOD,
    HOLD,
    SATURATED,
    STUCK,
    SensorFaults,
    watch_reading,
)
from inertid_ros.core.diagnosis import Health
from inertid_ros.core.input.reading_faults import ReadingFaults
from inertid_ros.core.records import FloatArray
from inertid_ros.core.settings.settings import LoadSettings

DOWN = np.array([0.0, 0.0, -9.81])
NOTHING = np.zeros(10)
BAR = np.array([2.0, 0.2, -0.4, 0.6, *np.zeros(6)])
"""A load of 2 kg whose centre of mass is at (0.1, -0.2, 0.3) m."""


class Sensor:
    """Is given a reading a row, by default other noise in each."""

    def __init__(self, settings: LoadSettings | None = None) -> None:
        self.faults = SensorFaults(settings or LoadSettings(), ReadingFaults(), Health())
        self.random = np.random.default_rng(4)

    def read(self, reading: FloatArray | None = None, gravity: FloatArray = DOWN, load: FloatArray = NOTHING) -> int:
        """What a row shows."""
        taken = self.random.normal(size=6) if reading is None else reading
        return watch_reading(self.faults.watched, taken, gravity, load, self.faults.found)

    def hold(self, reading: FloatArray, rows: int, gravity: FloatArray = DOWN, load: FloatArray = NOTHING) -> list[int]:
        """What rows with the same reading show; the first of them is new."""
        return [self.read(reading, gravity, load) for _ in range(rows)]

    @property
    def channels(self) -> list[int]:
        """Those that show what was found last."""
        return [channel for channel in range(6) if self.faults.found[channel] != 0.0]


def test_noise_is_good_however_gravity_turns() -> None:
    sensor = Sensor()
    assert all(sensor.read(None, sensor.random.normal(size=3), BAR) == GOOD for _ in range(300))
    assert sensor.channels == []


@pytest.mark.parametrize(("reading", "kind"), [(np.zeros(6), DEAD), (np.arange(6.0), FROZEN)])
def test_what_repeats_although_gravity_turns_is_dead_or_frozen(reading: FloatArray, kind: int) -> None:
    """From the third repetition on, and by a turn of more than 1 m/s², whatever is carried."""
    for turn, expected in ((0.99, GOOD), (1.01, kind)):
        for axis in range(3):
            sensor, gravity = Sensor(), DOWN.copy()
            assert sensor.hold(reading, 20) == [GOOD] * 20, "at rest many a driver repeats itself"
            sensor.read()
            assert sensor.read(reading) == GOOD
            gravity[axis] += turn
            assert sensor.hold(reading, 4, gravity) == [GOOD, GOOD, expected, expected]


def test_what_a_coarse_sensor_does_not_resolve_need_not_show() -> None:
    """Readings in steps of 0.5 N and 0.05 Nm, some of them twice: a change of ten steps must show, not one of two."""
    steps = np.repeat([0.5, 0.05], 3)
    for turn, expected in ((1.2, GOOD), (3.0, STUCK)):
        sensor, gravity = Sensor(), DOWN.copy()
        for row in range(60):
            sensor.read(steps * (row // 2 % 5), load=BAR)
        sensor.read(2.0 * steps, load=BAR)
        gravity[0] += turn
        shown = []
        for row in range(8):
            reading = steps * (row % 5)
            reading[0] = 2.0 * steps[0]
            shown.append(sensor.read(reading, gravity, BAR))
        assert shown[-1] == expected, turn


def test_one_channel_that_still_changes_shows_that_the_sensor_is_alive() -> None:
    for alive in range(6):
        sensor, reading = Sensor(), np.zeros(6)
        sensor.read(reading)
        for row in range(10):
            reading[alive] = 1.0 + row
            assert sensor.read(reading, DOWN + 5.0) == GOOD


@pytest.mark.parametrize(("reading", "kind"), [(np.zeros(6), DEAD), (np.arange(6.0), HOLD)])
def test_a_sensor_that_was_noisy_is_not_learnt_from_while_it_repeats_itself(reading: FloatArray, kind: int) -> None:
    """Once 50 rows have changed, and from the fifth repetition on."""
    for changed, expected in ((48, GOOD), (49, kind)):
        sensor = Sensor()
        for _ in range(changed):
            sensor.read()
        assert sensor.hold(reading, 8) == [GOOD] * 5 + [expected] * 3
        assert sensor.read() == GOOD


def test_one_channel_that_was_noisy_and_repeats_is_enough() -> None:
    sensor = Sensor()
    for _ in range(60):
        sensor.read()
    shown = []
    for _ in range(7):
        reading = sensor.random.normal(size=6)
        reading[4] = 0.25
        shown.append(sensor.read(reading))
    assert shown == [GOOD] * 5 + [HOLD] * 2


def test_a_driver_that_often_repeats_itself_is_learnt_from() -> None:
    """Where readings usually change, there is at most one repeat for five changes."""
    for changes, kind in ((1, GOOD), (4, GOOD), (5, HOLD), (9, HOLD)):
        sensor = Sensor()
        for _ in range(100):
            for _ in range(changes - 1):
                sensor.read()
            sensor.hold(sensor.random.normal(size=6), 2)
        assert sensor.hold(np.ones(6), 8)[-1] == kind, changes


def test_a_long_pause_does_not_make_a_noisy_sensor_one_that_repeats_itself() -> None:
    sensor = Sensor()
    for _ in range(60):
        sensor.read()
    for _ in range(3):
        assert sensor.hold(np.ones(6), 40)[-1] == HOLD
        sensor.read()


def _find_turns(channel: int) -> tuple[FloatArray, FloatArray]:
    """Changes of gravity by which the load shows in a channel by a little less, and by a little more, than it must."""
    slope = np.vstack((2.0 * np.eye(3), np.cross(BAR[1:4], np.eye(3)).T))[channel]
    turn = slope / (slope @ slope) * (1.0 if channel < 3 else 0.1)
    return 0.99 * turn, 1.01 * turn


@pytest.mark.parametrize("channel", range(6))
@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_a_channel_in_which_the_load_must_show_is_stuck_if_it_does_not(channel: int, side: float) -> None:
    """2 kg and their moments, as numpy's cross product has them; readings were smaller and larger before."""
    for turn, kind in zip(_find_turns(channel), (GOOD, STUCK), strict=True):
        sensor = Sensor()
        sensor.read(np.full(6, -3.0))
        sensor.read(np.full(6, 3.0))
        shown = []
        for row in range(5):
            reading = sensor.random.uniform(-1.0, 1.0, 6)
            reading[channel] = 0.5
            shown.append(sensor.read(reading, DOWN if row == 0 else DOWN + side * turn, BAR))
        assert shown == [GOOD] * 3 + [kind] * 2
        assert sensor.channels == ([] if kind == GOOD else [channel])


def test_a_channel_that_never_changed_is_stuck() -> None:
    sensor = Sensor()
    for row in range(5):
        reading = sensor.random.normal(size=6)
        reading[1] = 0.0
        kind = sensor.read(reading, DOWN + np.array([0.0, 2.0 * row, 0.0]), BAR)
    assert (kind, sensor.channels) == (STUCK, [1])


@pytest.mark.parametrize("channel", range(6))
@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_the_largest_reading_that_does_not_change_is_the_end_of_the_range(channel: int, side: float) -> None:
    """It is known from then on, to a thousandth, until a reading is beyond it."""
    sensor, turn = Sensor(), 3.0 * _find_turns(channel)[1]
    sensor.read(np.full(6, -side))

    def read(value: float, gravity: FloatArray) -> int:
        reading = sensor.random.uniform(-1.0, 1.0, 6)
        reading[channel] = side * value
        return sensor.read(reading, gravity, BAR)

    assert [read(20.0, DOWN)] + [read(20.0, DOWN + turn) for _ in range(3)] == [GOOD] * 3 + [SATURATED]
    assert sensor.channels == [channel]
    assert [read(value, DOWN) for value in (3.0, 19.97, 19.99, -20.0, 20.01)] == [
        GOOD,
        GOOD,
        SATURATED,
        GOOD,
        SATURATED,
    ]
    assert [read(value, DOWN) for value in (20.1, 20.0)] == [GOOD, GOOD], "it goes on beyond"


@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_the_range_of_the_parameter_file_is_known_from_the_start(side: float) -> None:
    for channel in range(6):
        sensor, limit = Sensor(LoadSettings(force_limit=50.0, torque_limit=5.0)), 50.0 if channel < 3 else 5.0
        for part, kind in ((0.5, GOOD), (0.998, GOOD), (0.9995, SATURATED), (1.0, SATURATED), (-0.5, GOOD)):
            reading = sensor.random.normal(size=6)
            reading[channel] = side * part * limit
            assert sensor.read(reading) == kind
            assert sensor.channels == ([] if kind == GOOD else [channel])
