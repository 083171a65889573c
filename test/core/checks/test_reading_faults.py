"""Intervals of stamps in which readings are not to be believed, and what a row is told of them."""

from __future__ import annotations

import numpy as np
import pytest

from inertid_ros.core.checks.sensor_faults import SensorFaults, describe_fault
from inertid_ros.core.diagnosis import Health
from inertid_ros.core.input.reading_faults import FLIPPED, MIXED, SCALED, ReadingFaults, _find_factor
from inertid_ros.core.records import FloatArray
from inertid_ros.core.settings.settings import LoadSettings

MS = 1_000_000
USUAL, FREE = np.full(6, 0.1), np.full(6, 0.5)
BEFORE = np.array([3.0, 10.0, -15.0, 1.0, 0.5, -1.0])


def _pair(reading: FloatArray) -> FloatArray:
    return np.stack((reading, reading))


@pytest.mark.parametrize("factor", [-1.0, 1000.0, 1e-3])
def test_another_unit_or_sign_is_a_factor_of_all_channels(factor: float) -> None:
    after = _pair(factor * BEFORE)
    assert _find_factor(BEFORE, after, USUAL, FREE) == factor
    other = after.copy()
    other[1, 5] += 0.03 * abs(factor) * np.linalg.norm(BEFORE[3:]) + 10.0 * abs(factor) * 0.1 + 0.5 + 0.01
    assert _find_factor(BEFORE, other, USUAL, FREE) == 1.0, "one moment of the second reading is another"


def test_a_sign_that_hardly_shows_is_none() -> None:
    """Three times the noise, of ten usual changes and what says nothing: 2 F must be more than 4.5 N."""
    for force, factor in ((2.2, 1.0), (2.3, -1.0)):
        before = np.array([0.0, force, 0.0, 50.0, 0.0, 0.0])
        assert _find_factor(before, _pair(-before), USUAL, FREE) == factor


def test_a_thousandth_is_also_a_thousandth_of_the_noise() -> None:
    """Else it is a load that was put down; and zeros are a sensor that is dead."""
    still = _pair(1e-3 * BEFORE)
    assert _find_factor(BEFORE, still + np.array([[0.0], [0.004]]), USUAL, FREE) == 1e-3
    assert _find_factor(BEFORE, still + np.array([[0.0], [0.006]]), USUAL, FREE) == 1.0
    assert _find_factor(BEFORE, 0.0 * still, USUAL, FREE) == 1.0


def test_outliers_are_a_second_publisher_if_twelve_come_within_half_a_second() -> None:
    few, slow, many = ReadingFaults(), ReadingFaults(), ReadingFaults()
    for number in range(11):
        few.note_outlier(1000 * MS + number * MS)
    assert few.find(1010 * MS) is None
    for number in range(30):
        slow.note_outlier(1000 * MS + number * 46 * MS)
    assert slow.find(1000 * MS + 29 * 46 * MS) is None
    for number in range(12):
        many.note_outlier(1000 * MS + number * 45 * MS)
    found = many.find(1495 * MS)
    assert found is not None
    assert (found.code, found.since, found.start, found.end) == (MIXED, 1000 * MS, 1495 * MS, 1795 * MS)


def test_a_second_publisher_is_there_until_no_outlier_comes_for_a_while() -> None:
    faults = ReadingFaults()
    for number in range(40):
        faults.note_outlier(1000 * MS + number * 10 * MS)
    found = faults.find(1390 * MS)
    assert found is not None
    assert (found.start, found.end) == (1110 * MS, 1690 * MS), "one interval, which goes on"
    assert faults.find(1689 * MS) is not None
    assert faults.find(1690 * MS) is None
    for number in range(12):
        faults.note_outlier(5000 * MS + number * 10 * MS)
    found = faults.find(5110 * MS)
    assert found is not None
    assert (found.since, found.start) == (5000 * MS, 5110 * MS), "another one"


def test_outliers_of_another_time_line_are_none_of_this_one() -> None:
    faults = ReadingFaults()
    for number in range(12):
        faults.note_outlier((100 - number) * MS)
    assert faults.find(200 * MS) is None


def test_the_first_reading_of_a_step_is_no_outlier() -> None:
    faults = ReadingFaults()
    for number in range(11):
        faults.note_outlier(number * MS + MS)
    assert faults.note_step(20 * MS, BEFORE, _pair(BEFORE + 9.0), USUAL, FREE) == 1.0
    faults.note_outlier(30 * MS)
    assert faults.find(30 * MS) is None


def test_a_unit_that_changes_back_is_the_right_one_again() -> None:
    faults = ReadingFaults()
    assert faults.note_step(100, BEFORE, _pair(1e3 * BEFORE), USUAL, FREE) == 1e3
    assert faults.find(150) == (SCALED, 100, 100, 2**63 - 1)
    assert faults.note_step(200, 1e3 * BEFORE, _pair(BEFORE), 1e3 * USUAL, FREE) == 1e-3
    assert faults.find(250) is None
    assert faults.note_step(300, BEFORE, _pair(-BEFORE), USUAL, FREE) == -1.0
    assert faults.find(350) == (FLIPPED, 300, 300, 2**63 - 1)
    assert faults.note_step(400, -BEFORE, _pair(-1e3 * BEFORE), USUAL, FREE) == 1e3
    assert faults.find(450) == (SCALED, 400, 400, 2**63 - 1), "what was last"
    faults.believe()
    assert faults.note_step(500, -1e3 * BEFORE, _pair(1e3 * BEFORE), 1e3 * USUAL, FREE) == -1.0
    assert faults.find(550) == (FLIPPED, 500, 500, 2**63 - 1)
    assert faults.note_step(600, 1e3 * BEFORE, _pair(-1e3 * BEFORE), 1e3 * USUAL, FREE) == -1.0
    assert faults.find(650) is None, "what was believed"


def test_faults_at_rows_are_reported_with_their_code() -> None:
    readings, health = ReadingFaults(), Health()
    faults = SensorFaults(LoadSettings(), readings, health)
    load, gravity = np.zeros(10), np.array([0.0, 0.0, -9.8])
    assert faults.take(50 * MS, BEFORE, gravity, load) is None
    readings.note_velocities(10 * MS, 60 * MS, MS)
    assert faults.take(61 * MS, BEFORE, gravity, load) == ("", 10 * MS)
    assert health.items() == (), "that of the joint states is reported there"
    readings.note_step(100 * MS, BEFORE, _pair(-BEFORE), USUAL, FREE)
    assert faults.take(120 * MS, -BEFORE, gravity, load) == (FLIPPED, 100 * MS)
    (item,) = health.items()
    assert (item.source, item.code, item.last_stamp) == ("wrench", FLIPPED, 120 * MS)
    faults.believe()
    assert faults.take(140 * MS, BEFORE, gravity, load) is None
    assert describe_fault(FLIPPED).level == "error"
    assert describe_fault(FLIPPED).code == FLIPPED


def _turn_by(seconds: float) -> FloatArray:
    return 9.8 * np.array([np.sin(seconds), 0.0, -np.cos(seconds)])


def test_a_stuck_axis_is_named_since_it_has_been_stuck() -> None:
    """Gravity turns by a radian a second about y, and x repeats itself from the row at 1.2 s on."""
    health, random = Health(), np.random.default_rng(0)
    faults = SensorFaults(LoadSettings(), ReadingFaults(), health)
    load = np.concatenate(([2.0], np.zeros(9)))
    found = []
    for row in range(80):
        gravity = _turn_by(0.02 * row)
        reading = np.concatenate((-2.0 * gravity, np.zeros(3))) + 0.01 * random.normal(size=6)
        reading[0] = -12.0 if row >= 60 else reading[0] + (20.0 if row < 10 else -20.0 if row < 20 else 0.0)
        fault = faults.take(row * 20 * MS + MS, reading, gravity, load)
        found += [] if fault is None else [(row, *fault)]
    held, stuck = [one for one in found if not one[1]], [one for one in found if one[1]]
    last_good = 59 * 20 * MS + MS
    assert [row for row, *_ in held] == list(range(65, stuck[0][0])), "it only repeats itself, as yet"
    assert {one[1:] for one in stuck} == {("axis_stuck", last_good)}
    assert stuck[-1][0] == 79
    (item,) = health.items()
    assert (item.code, item.detail) == ("axis_stuck", "fx")


def test_the_ends_of_the_range_are_those_of_the_settings() -> None:
    health = Health()
    faults = SensorFaults(LoadSettings(force_limit=100.0, torque_limit=5.0), ReadingFaults(), health)
    gravity, load = _turn_by(0.0), np.zeros(10)
    assert faults.take(MS, np.array([99.0, -99.0, 0.0, 4.9, 0.0, 0.0]), gravity, load) is None
    fault = faults.take(21 * MS, np.array([0.0, -99.95, 0.0, 0.0, 4.999, 0.0]), gravity, load)
    assert fault is not None
    assert fault.code == "sensor_saturated"
    (item,) = health.items()
    assert item.detail == "fy, ny"
