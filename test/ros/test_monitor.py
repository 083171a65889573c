"""Health issues begin, last, end and are remembered."""

from __future__ import annotations

from inertid_ros.core.diagnosis import HealthItem
from inertid_ros.ros.health import NodeHealth
from inertid_ros.ros.monitor import LINGER, SILENCE, InputMonitor, IssueTracker, merge_items


def item(count: int, last: int = 0) -> HealthItem:
    return HealthItem("wrench", "not_finite", "error", count, 0, last, "", "NaN", "look at the driver")


def test_an_issue_is_announced_once_and_its_end_once() -> None:
    watch = IssueTracker()
    _, begun, ended = watch.look([item(1)], 0.0)
    assert (len(begun), len(ended)) == (1, 0)
    issues, begun, ended = watch.look([item(5)], 1.0)
    assert issues[0].is_current
    assert (len(begun), len(ended)) == (0, 0)
    issues, begun, ended = watch.look([item(5)], 1.0 + LINGER)
    assert not issues[0].is_current
    assert (len(begun), len(ended)) == (0, 1)
    _, begun, ended = watch.look([item(5)], 10.0)
    assert (len(begun), len(ended)) == (0, 0)
    _, begun, _ = watch.look([item(6)], 11.0)
    assert len(begun) == 1


def test_an_issue_that_was_forgotten_is_new_when_it_comes_back() -> None:
    watch = IssueTracker()
    watch.look([item(1)], 0.0)
    watch.look([], 1.0)
    _, begun, _ = watch.look([item(1, last=7)], 2.0)
    assert len(begun) == 1


def test_what_lasts_goes_on_until_it_is_ended() -> None:
    clock = iter(range(100))
    health = NodeHealth(lambda: next(clock))
    health.begin("robot_description", "broken_description", "no XML")
    health.begin("robot_description", "broken_description", "no XML either")
    (first,) = health.items()
    (later,) = health.items()
    assert first.detail == "no XML either"
    assert first.count == later.count == 1
    assert later.last_stamp > first.last_stamp
    assert later.first_stamp == first.first_stamp
    health.end("robot_description", "broken_description")
    (over,) = health.items()
    assert over.last_stamp == later.last_stamp
    issues, _, _ = IssueTracker().look(health.items(), 0.0, health.over)
    assert not issues[0].is_current
    health.begin("robot_description", "broken_description")
    assert health.items()[0].count == 2


def test_what_ends_before_anybody_looked_was_nothing() -> None:
    health = NodeHealth(lambda: 0)
    health.begin("robot_description", "no_description")
    health.end("robot_description", "no_description")
    assert health.items() == ()


def test_rates_are_counted_and_silence_is_reported() -> None:
    health = NodeHealth(lambda: 0)
    watch = InputMonitor(health, 10.0)
    assert watch.look({"joint_states": 200, "wrench": 0}, 11.0) == {"joint_states": 200.0, "wrench": 0.0}
    assert health.items() == ()
    assert watch.look({"joint_states": 300, "wrench": 0}, 11.5) == {"joint_states": 200.0, "wrench": 0.0}
    watch.look({"joint_states": 300, "wrench": 0}, 10.0 + SILENCE)
    assert [(i.source, i.code) for i in health.items()] == [("wrench", "silent")]
    watch.look({"joint_states": 300, "wrench": 0}, 11.5 + SILENCE)
    assert [(i.source, i.code) for i in health.items()] == [("wrench", "silent"), ("joint_states", "silent")]


def test_a_clock_a_minute_away_is_noted_with_its_direction() -> None:
    health = NodeHealth(lambda: 0)
    watch = InputMonitor(health, 0.0)
    watch.compare_clocks("wrench", 1_000_000_000, 1_900_000_000)
    assert health.items() == ()
    watch.compare_clocks("wrench", 0, 60_000_000_000)
    assert health.items()[0].detail == "60 s behind the clock"
    watch.compare_clocks("wrench", 90_000_000_000, 60_000_000_000)
    assert health.items()[0].detail == "30 s ahead of the clock"


def test_what_two_chains_say_of_one_input_is_one_issue() -> None:
    first = HealthItem("joint_states", "gap", "warning", 3, 10, 30, "old", "m", "r")
    second = HealthItem("joint_states", "gap", "warning", 2, 20, 40, "new", "m", "r")
    other = HealthItem("wrench", "gap", "warning", 1, 5, 5, "", "m", "r")
    merged = merge_items((first, other, second))
    assert merged == (HealthItem("joint_states", "gap", "warning", 3, 10, 40, "new", "m", "r"), other)
