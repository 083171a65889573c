"""Wrenches one by one: which are taken, which are outliers, and which are a step, as a contact makes it."""

from __future__ import annotations

import numpy as np
import pytest
from support.random_robots import make_random_urdf

from inertid_ros.core.diagnosis import Health
from inertid_ros.core.input.inputs import WrenchLine
from inertid_ros.core.records import FloatArray, WrenchBlock
from inertid_ros.core.robot.robot import Robot

ROBOT = Robot.from_urdf(make_random_urdf(0, 2))
MS = 1_000_000
START, STEP = 5_000_000 * MS, 4
"""The first stamp [ns], and the time from one reading to the next [ms]."""
FREE = np.repeat([1.3, 0.13], 3)
"""Changes in 4 ms that are none: 0.5 N and 0.05 Nm, and 400 of these a second."""


class Line:
    """Wrenches of a sensor, by default the same one all the time."""

    def __init__(self) -> None:
        self.health = Health()
        self.wrenches = WrenchLine(ROBOT, "sensor", "wrench", "load.sensor_frame", self.health)
        self.time = 0
        self.steady = np.array([3.0, -4.0, 12.0, 0.5, -0.2, 0.1])

    def read(self, *changes: FloatArray | float, wait: int = STEP) -> None:
        """Readings that differ from the steady one; the first comes after a wait [ms]."""
        for change in changes:
            self.time += wait
            stamps, wait = np.array([START + self.time * MS]), STEP
            self.wrenches.push_wrenches(WrenchBlock("sensor", stamps, (self.steady + change)[None]))

    @property
    def kept(self) -> list[int]:
        """Times [ms] of what was taken."""
        kept: list[int] = ((self.wrenches.stamps - START) // MS).tolist()
        return kept

    def said(self) -> list[tuple[str, int, int]]:
        """What was said, how often, and the last time [ms]."""
        return [(item.code, item.count, (item.last_stamp - START) // MS) for item in self.health.items()]


def _one(channel: int, value: float) -> FloatArray:
    return np.asarray(value * np.eye(6)[channel])


@pytest.mark.parametrize("channel", range(6))
@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_one_reading_by_itself_is_left_out_and_said(channel: int, side: float) -> None:
    for share, is_outlier in ((0.98, False), (1.02, True), (1e3, True)):
        line = Line()
        line.read(*[0.0] * 5, _one(channel, side * share * FREE[channel]))
        assert line.said() == [], "the next one may agree"
        line.read(0.0, 0.0)
        assert line.kept == [4, 8, 12, 16, 20, *([] if is_outlier else [24]), 28, 32]
        assert line.said() == ([("outlier", 1, 24)] if is_outlier else [])


def test_a_change_may_be_ten_times_the_usual_one_larger() -> None:
    """Steps of 0.5 N to and fro: on the average of the last twenty, 5 N more are allowed."""
    for change, is_outlier in ((6.1, False), (6.4, True)):
        line = Line()
        line.read(*[_one(1, 0.5 * (row % 2)) for row in range(200)], _one(1, 0.5 + change), 0.0)
        assert len(line.kept) == 202 - is_outlier, change


def test_two_readings_that_agree_are_a_step_and_both_are_taken() -> None:
    line = Line()
    line.read(*[0.0] * 5, 50.0, 50.1, 50.05)
    assert line.kept == [4, 8, 12, 16, 20, 24, 28, 32]
    np.testing.assert_allclose(line.wrenches.states[5:8] - line.steady, np.outer([50.0, 50.1, 50.05], np.ones(6)))
    assert line.said() == []


def test_the_third_reading_that_differs_is_taken_whatever_it_is() -> None:
    line = Line()
    line.read(*[0.0] * 5, 50.0, -80.0, 200.0)
    assert line.kept == [4, 8, 12, 16, 20, 28, 32]
    assert line.said() == [("outlier", 1, 24)]


def test_what_is_no_wrench_is_left_out_and_called_so() -> None:
    line = Line()
    line.read(*[0.0] * 5, 1.01e5, 1.02e5, 1.03e5, 1.04e5, 0.0, np.nan, 0.0)
    assert line.kept == [4, 8, 12, 16, 20, 40, 44, 48], "what is not finite is left out where it is paired"
    assert line.said() == [("implausible", 4, 36)]
    line.read(0.99e5, 0.0)
    assert line.said() == [("implausible", 4, 36), ("outlier", 1, 52)]


def test_after_a_pause_a_reading_may_be_any() -> None:
    for wait, is_taken in ((149, False), (151, True)):
        line = Line()
        line.read(*[0.0] * 5)
        line.read(90.0, wait=wait)
        assert (len(line.kept) == 6) is is_taken


def test_of_two_after_a_pause_that_contradict_each_other_the_first_is_forgotten() -> None:
    line = Line()
    line.read(700.0, *[0.0] * 4)
    assert line.kept == [8, 12, 16, 20], "the very first one"
    line.read(900.0, 0.0, 0.0, wait=500)
    assert line.kept == [8, 12, 16, 20, 524, 528]
    line.read(900.0, 0.0, 0.0, 400.0, 0.0, wait=500)
    assert line.kept == [8, 12, 16, 20, 524, 528, 1032, 1036, 1044], "and then one is an outlier as any other"
    assert line.said() == [("outlier", 1, 1040)]


def test_after_a_pause_nothing_agrees_with_an_outlier_before_it() -> None:
    line = Line()
    line.read(*[0.0] * 5, 100.0, 0.0)
    line.read(-50.0, 100.0, 100.0, wait=1000)
    assert line.kept == [4, 8, 12, 16, 20, 28, 1032, 1036]
