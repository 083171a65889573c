"""Which load is on the sensor when."""

from __future__ import annotations

import numpy as np
import pytest

from inertid_ros.core.errors import SettingError
from inertid_ros.sim.simulator import LoadSchedule

FIRST, SECOND = np.arange(1.0, 11.0), np.arange(2.0, 12.0)


def test_load_changes_at_its_times() -> None:
    schedule = LoadSchedule([(4.0, None), (1.0, FIRST)])
    for time, load in ((-1.0, 0 * FIRST), (0.99, 0 * FIRST), (1.0, FIRST), (3.99, FIRST), (4.0, 0 * FIRST)):
        np.testing.assert_array_equal(schedule.load_at(time), load)


def test_load_can_be_changed_later_on() -> None:
    schedule = LoadSchedule([(1.0, FIRST), (8.0, None)])
    schedule.change(5.0, SECOND)
    schedule.change(8.0, FIRST)
    np.testing.assert_array_equal(schedule.load_at(4.0), FIRST)
    np.testing.assert_array_equal(schedule.load_at(5.0), SECOND)
    np.testing.assert_array_equal(schedule.load_at(8.0), FIRST)


def test_parts_cover_all_times_once() -> None:
    times = np.linspace(0.0, 10.0, 101)
    schedule = LoadSchedule([(2.0, FIRST), (5.0, SECOND), (7.0, None)])
    covered = np.zeros(101, dtype=int)
    for rows, load in schedule.parts(times):
        covered[rows] += 1
        for time in times[rows]:
            np.testing.assert_array_equal(schedule.load_at(time), load)
    np.testing.assert_array_equal(covered, 1)
    assert list(schedule.parts(np.empty(0))) == []


def test_what_is_no_load_is_rejected() -> None:
    with pytest.raises(SettingError, match="ten finite"):
        LoadSchedule([(0.0, np.ones(9))])
    with pytest.raises(SettingError, match="ten finite"):
        LoadSchedule([(0.0, np.full(10, np.nan))])
    with pytest.raises(SettingError, match="finite time"):
        LoadSchedule([(float("inf"), FIRST)])
