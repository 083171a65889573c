"""Readings and joint states of several publishers: what is paired, what waits, what is given up, and what is said."""

from __future__ import annotations

import numpy as np
import pytest
from support.rows import make_equations, make_rows

from inertid_ros.core.diagnosis import Health
from inertid_ros.core.input.reading_faults import ReadingFaults
from inertid_ros.core.input.segments import Segment
from inertid_ros.core.input.synchroniser import Synchroniser
from inertid_ros.core.input.timeline import SECOND, Timeline
from inertid_ros.core.records import FloatArray, IntArray, JointBlock
from inertid_ros.core.rows.rows import Rows

NAMES = ("a", "b", "c")
RATES = np.array([0.3, -0.2, 0.1])
START = 5000 * SECOND + 400
"""Stamp of the first joint state."""
MS = SECOND // 1000
STEP = 10 * MS
READING = np.arange(1.0, 7.0)


def find_positions(stamps: IntArray | FloatArray) -> FloatArray:
    """Where the joints are, which move evenly."""
    return np.asarray(np.outer((stamps - START) * 1e-9, RATES))


class Rig:
    """A synchroniser of three joints with the wrenches of a sensor, whose filters follow."""

    def __init__(self, delay: float = 0.0) -> None:
        self.health, self.faults = Health(), ReadingFaults()
        self.readings = Timeline(6, "wrench", self.health)
        reach, is_angle = np.full((2, 3), np.inf), (False,) * 3
        self.both = Synchroniser(NAMES, is_angle, reach, 6, self.readings, delay, self.health, "wrench", self.faults)
        equation, joints = make_equations(1)["load"]
        assert joints == 3
        self.rows: Rows = make_rows(equation, joints)

    def move(self, first: int, last: int, names: tuple[str, ...] = NAMES, step: int = STEP) -> None:
        """Joint states from one stamp to another [ms after the first], both included; others stand at 99."""
        stamps = START + np.arange(first * MS, last * MS + 1, step)
        self.both.push_joints(make_block(names, stamps))

    def read(self, *stamps: float) -> None:
        """Readings at stamps [ms after the first joint state]."""
        for stamp in stamps:
            self.readings.insert(START + round(stamp * MS), READING)

    def process(self, **options: int) -> list[Segment]:
        return self.both.process(self.rows, **options)  # type: ignore[arg-type]

    def pair(self, **options: int) -> list[float]:
        """Stamps of what is paired now [ms after the first joint state], which must be in its place."""
        found = []
        for segment in self.process(**options):
            self.check(segment)
            found += ((segment.stamps - START) / MS).tolist()
        return found

    def check(self, segment: Segment) -> None:
        late = round(self.both._delay)
        np.testing.assert_allclose(segment.positions, find_positions(segment.stamps - late), atol=1e-9)
        np.testing.assert_allclose(segment.velocities, np.tile(RATES, (len(segment.stamps), 1)), atol=1e-9)
        np.testing.assert_array_equal(segment.readings, np.tile(READING, (len(segment.stamps), 1)))

    def say(self) -> dict[tuple[str, str], tuple[int, str]]:
        """How often what was said, and the last detail."""
        return {(item.source, item.code): (item.count, item.detail) for item in self.health.items()}


def make_block(names: tuple[str, ...], stamps: IntArray) -> JointBlock:
    positions, velocities = np.full((len(stamps), len(names)), 99.0), np.zeros((len(stamps), len(names)))
    for column, name in enumerate(names):
        if name in NAMES:
            joint = NAMES.index(name)
            positions[:, column], velocities[:, column] = find_positions(stamps)[:, joint], RATES[joint]
    return JointBlock(names, stamps, positions, velocities)


def test_readings_wait_for_a_joint_state_that_is_not_before_them() -> None:
    rig = Rig()
    rig.read(5, 10, 12)
    assert rig.pair() == []
    rig.move(0, 10)
    assert rig.pair() == [5.0, 10.0]
    assert rig.pair() == []
    rig.move(20, 20)
    assert rig.pair() == [12.0]
    assert rig.say() == {}


def test_times_are_since_a_full_thousand_seconds_and_readings_late_by_a_delay() -> None:
    rig = Rig(delay=0.015)
    rig.move(0, 20)
    rig.read(20, 35, 36)
    (segment,) = rig.process()
    assert segment.stamps.tolist() == [START + 20 * MS, START + 35 * MS], "the third is 21 ms after the first state"
    np.testing.assert_allclose(segment.times, 400e-9 + np.array([0.005, 0.02]))
    rig.check(segment)
    assert rig.both.origin == 5000 * SECOND


def test_joints_are_found_by_name_in_any_order_among_others() -> None:
    rig = Rig()
    rig.move(0, 30, ("wheel", "c", "a", "lift", "b"))
    rig.read(5, 25)
    assert rig.pair() == [5.0, 25.0]
    rig.move(0, 30, ("wheel", "lift"))
    assert rig.say() == {}


def test_publishers_of_some_joints_each_are_read_up_to_the_slowest() -> None:
    rig = Rig()
    rig.move(0, 50, ("c", "a"))
    rig.read(5, 15, 25)
    assert rig.pair() == [], "a joint is missing"
    rig.move(0, 20, ("b",))
    assert rig.pair() == [5.0, 15.0]
    rig.move(30, 30, ("b",))
    assert rig.pair() == [25.0]


def test_a_publisher_that_fell_silent_is_left_out_where_others_have_its_joints() -> None:
    rig = Rig()
    rig.move(0, 100, ("a", "b"))
    rig.move(0, 1000)
    rig.read(50, 500)
    assert rig.pair() == [50.0], "the other may go on"
    rig.move(1010, 1099)
    assert rig.pair() == []
    rig.move(1100, 1110)
    assert rig.pair() == [500.0], "a second behind is silent"


def test_a_publisher_that_fell_silent_is_waited_for_where_others_lack_its_joints() -> None:
    rig = Rig()
    rig.move(0, 100, ("a", "b"))
    rig.move(0, 1500, ("b", "c"))
    rig.read(50, 500)
    assert rig.pair() == [50.0]
    assert rig.pair() == []


def test_joints_that_nobody_gives_are_named_after_a_second() -> None:
    rig = Rig()
    rig.move(0, 1990, ("b",))
    rig.read(0, 500, 1000)
    assert rig.pair() == []
    assert rig.say() == {}
    rig.read(1001)
    assert rig.pair() == []
    assert rig.say() == {("joint_states", "missing_joints"): (1, "a, c")}
    (item,) = rig.health.items()
    assert item.last_stamp == START + 1001 * MS


def test_readings_are_given_up_after_two_seconds() -> None:
    rig = Rig()
    rig.read(*range(0, 2001, 100))
    assert rig.pair() == []
    assert rig.say() == {}
    rig.read(2150)
    assert rig.pair() == []
    assert rig.say() == {("wrench", "no_joint_state"): (2, "no joint states at all")}
    (item,) = rig.health.items()
    assert item.last_stamp == START + 100 * MS
    assert (rig.readings.stamps[0] - START) / MS == 200.0
    assert rig.pair() == [], "once"
    assert rig.say()["wrench", "no_joint_state"][0] == 2


def test_what_has_joint_states_is_paired_and_only_what_lacks_them_is_given_up() -> None:
    rig = Rig(delay=0.02)
    rig.move(0, 130)
    rig.read(*range(50, 151, 50), 200, 1000, 2300, 2600)
    assert rig.pair() == [50.0, 100.0, 150.0]
    assert rig.say() == {("wrench", "no_joint_state"): (1, "newest joint state is 0.050 s before the wrench")}
    assert ((rig.readings.stamps - START) / MS).tolist() == [1000.0, 2300.0, 2600.0]


def test_a_reading_alone_waits_however_long() -> None:
    rig = Rig()
    rig.move(0, 100)
    rig.read(5000)
    assert rig.pair() == []
    assert rig.say() == {}


def test_readings_wait_for_others_that_belong_to_them_for_a_second() -> None:
    rig = Rig()
    rig.move(0, 1500)
    rig.read(10, 20, 30)
    assert rig.pair(others=START + 20 * MS) == [10.0, 20.0]
    rig.read(500, 1040)
    assert rig.pair(others=START + 20 * MS) == [30.0]


@pytest.mark.parametrize("is_complete", [True, False])
def test_samples_are_carried_on_to_their_first_row_unless_something_is_still_added(is_complete: bool) -> None:
    rig = Rig()
    rig.move(0, 500)
    rig.read(*range(0, 490, 10))
    rig.pair()
    rig.move(510, 600)
    rig.read(*range(490, 590, 10))
    (segment,) = rig.process(is_complete=is_complete)
    assert (segment.row >= 0) is is_complete


# Gaps


def test_a_gap_of_joint_states_cuts_segments_and_leaves_out_what_is_in_it() -> None:
    rig = Rig()
    rig.move(0, 100)
    rig.move(300, 400)
    rig.read(50, 90, 150, 250, 310, 390)
    first, second = rig.process()
    assert ((first.stamps - START) / MS).tolist() == [50.0, 90.0]
    assert ((second.stamps - START) / MS).tolist() == [310.0, 390.0]
    assert first.starts_anew
    assert second.starts_anew
    for segment in (first, second):
        rig.check(segment)
    assert rig.say() == {("wrench", "gap"): (1, "2 readings inside gaps of joint_states are left out")}
    (item,) = rig.health.items()
    assert (item.first_stamp, item.last_stamp) == (START + 250 * MS, START + 250 * MS)


def test_what_is_in_a_gap_is_said_by_itself() -> None:
    rig = Rig()
    rig.move(0, 100)
    rig.read(50)
    rig.pair()
    rig.move(300, 310)
    rig.read(150, 250)
    assert rig.pair() == []
    assert rig.say() == {("wrench", "gap"): (1, "2 readings inside gaps of joint_states are left out")}
    (item,) = rig.health.items()
    assert item.last_stamp == START + 250 * MS


@pytest.mark.parametrize("size", [1, 2, 3, 7, 100])
def test_gaps_are_counted_alike_in_blocks_of_any_size(size: int) -> None:
    """Three: one of the joint states with readings inside, one without any, and one of the readings alone."""
    rig = Rig()
    rig.move(0, 100)
    rig.move(300, 400)
    rig.move(600, 1200)
    stamps = [50, 90, 150, 200, 250, 290, 310, 390, 610, 650, 900, 910]
    for first in range(0, len(stamps), size):
        rig.read(*stamps[first : first + size])
        rig.process()
    assert rig.say() == {("wrench", "gap"): (3, "4 readings inside gaps of joint_states are left out")}


def test_joint_states_that_are_always_too_slow_are_a_gap() -> None:
    rig = Rig()
    for stamp in range(0, 1001, 200):
        rig.move(stamp, stamp)
        rig.read(stamp + 50, stamp + 150)
        rig.process()
    assert rig.say() == {("wrench", "gap"): (1, "10 readings inside gaps of joint_states are left out")}


def test_a_gap_of_readings_is_one_and_the_beginning_is_none() -> None:
    rig = Rig()
    rig.move(0, 1000)
    rig.read(50, 60)
    (segment,) = rig.process()
    assert segment.starts_anew
    assert rig.say() == {}
    rig.read(200, 210)
    (segment,) = rig.process()
    assert not segment.starts_anew, "150 ms are bridged"
    assert rig.say() == {}
    rig.read(400, 410)
    (segment,) = rig.process()
    assert segment.starts_anew
    assert rig.say() == {("wrench", "gap"): (1, "")}
    rig.both.restart()
    rig.read(420)
    (segment,) = rig.process()
    assert segment.starts_anew
    assert rig.say() == {("wrench", "gap"): (1, "")}, "time was reset, and that is said elsewhere"


def test_readings_that_are_not_finite_are_left_out_and_counted() -> None:
    rig = Rig()
    rig.move(0, 100)
    rig.read(10)
    for stamp in (20, 30):
        rig.readings.insert(START + stamp * MS, np.array([0.0, 0.0, np.nan, 0.0, 0.0, 0.0]))
    rig.read(40)
    assert rig.pair() == [10.0, 40.0]
    assert rig.say() == {("wrench", "not_finite"): (2, "")}
    (item,) = rig.health.items()
    assert item.last_stamp == START + 30 * MS


# What publishers send


@pytest.mark.parametrize(
    ("positions", "velocities", "detail"),
    [(2, None, "3 names, 2 positions, no velocities"), (3, 4, "3 names, 3 positions, 4 velocities")],
)
@pytest.mark.parametrize("count", [1, 3])
def test_blocks_of_the_wrong_length_are_left_out(
    positions: int, velocities: int | None, detail: str, count: int
) -> None:
    rig = Rig()
    stamps = START + STEP * np.arange(count)
    rates = None if velocities is None else np.zeros((count, velocities))
    rig.both.push_joints(JointBlock(NAMES, stamps, np.zeros((count, positions)), rates))
    assert rig.say() == {("joint_states", "wrong_length"): (1, detail)}
    assert rig.both.origin is None
    (item,) = rig.health.items()
    assert item.last_stamp == stamps[-1]


def test_a_joint_twice_in_a_message_is_named_and_the_first_one_counts() -> None:
    rig = Rig()
    stamps = START + STEP * np.arange(4)
    block = make_block(("a", "b", "c", "b", "x", "x"), stamps)
    block.positions[:, 3] = 50.0
    rig.both.push_joints(block)
    rig.read(5, 15)
    assert rig.pair() == [5.0, 15.0]
    assert rig.say() == {("joint_states", "repeated_joint"): (4, "b")}
    (item,) = rig.health.items()
    assert item.last_stamp == stamps[-1]


def test_joint_states_without_stamps_are_counted_until_there_is_one() -> None:
    rig = Rig()
    rig.both.push_joints(make_block(NAMES, np.zeros(3, dtype=np.int64)))
    assert rig.say() == {("joint_states", "zero_stamp"): (3, "")}
    rig.both.push_joints(make_block(NAMES, np.array([0, 1999 * SECOND])))
    assert rig.both.origin == 1000 * SECOND
    assert rig.say()["joint_states", "zero_stamp"][0] == 4


def test_nothing_comes_of_nothing() -> None:
    rig = Rig()
    assert rig.process() == []
    rig.both.push_joints(make_block(NAMES, np.empty(0, dtype=np.int64)))
    assert rig.both.origin is None
    rig.both.push_joints(make_block(("x",), np.array([START])))
    assert rig.both.origin is None, "none of these joints matters"
    assert rig.say() == {}


def test_new_names_in_every_message_cost_bounded_memory_and_nothing_else() -> None:
    rig = Rig()
    rig.read(5, 505, 995)
    for number in range(100):
        rig.move(10 * number, 10 * number, (*NAMES, f"x{number}"))
    rig.move(1000, 1000)
    assert len(rig.both._publishers) <= 21
    assert len(rig.both._streams) == 1
    assert rig.pair() == [5.0, 505.0, 995.0]


def test_publishers_of_the_same_joints_share_a_time_line() -> None:
    rig = Rig()
    for first in range(0, 100, 20):
        rig.move(first, first, ("a", "b", "c"))
        rig.move(first + 10, first + 10, ("c", "b", "a"))
    rig.read(5, 45, 85)
    assert rig.pair() == [5.0, 45.0, 85.0]
    assert rig.say() == {}


def test_where_time_is_reset_what_waits_is_forgotten() -> None:
    rig = Rig()
    rig.move(5000, 5100)
    rig.move(5000, 5100, ("a",))
    rig.read(5050, 5150)
    assert rig.pair() == [5050.0]
    rig.move(0, 50)
    assert len(rig.readings.stamps) == 0
    assert list(rig.both._streams) == [(0, 1, 2)], "publishers of the time before are gone"
    rig.read(30, 45)
    (segment,) = rig.process()
    rig.check(segment)
    assert segment.starts_anew
    rig.move(60, 100)
    rig.read(75)
    assert rig.pair() == [75.0]


def test_where_time_is_reset_for_some_joints_the_others_are_kept() -> None:
    rig = Rig()
    rig.move(5000, 5100, ("a", "b"))
    rig.move(5000, 5100, ("c",))
    rig.move(0, 50, ("a", "b"))
    assert len(rig.both._streams) == 2
    rig.move(0, 50, ("c",))
    rig.read(30, 40)
    assert rig.pair() == [30.0, 40.0]


def test_wrong_velocities_are_noted_at_the_readings_that_belong_to_them() -> None:
    rig = Rig(delay=0.015)
    rig.both._distrust(START, START + SECOND, STEP)
    found = rig.faults.find(START + SECOND + 15 * MS)
    assert found is not None
    assert found.since == START + 15 * MS
    assert found.start == START + SECOND + 15 * MS
    assert rig.faults.find(START + SECOND + 15 * MS + 3 * STEP) is None


# What cannot wait


def foresee(rig: Rig, after: float = -1.0) -> list[float]:
    """Stamps of what is foreseen [ms after the first joint state]."""
    waiting = rig.readings.stamps.copy()
    segment = rig.both.foresee(rig.rows, START + round(after * MS))
    np.testing.assert_array_equal(rig.readings.stamps, waiting)
    if segment is None:
        return []
    assert not segment.starts_anew
    rig.check(segment)
    return [float(stamp) / MS for stamp in segment.stamps - START]


def test_what_waits_is_foreseen_by_the_velocity_for_a_period() -> None:
    rig = Rig(delay=0.002)
    assert foresee(rig) == []
    rig.move(0, 200)
    rig.read(*range(10, 191, 10))
    rig.pair()
    assert foresee(rig) == [], "nothing waits"
    rig.read(203, 208, 212)
    assert foresee(rig) == [203.0, 208.0, 212.0]
    assert foresee(rig, after=203) == [208.0, 212.0]
    assert foresee(rig, after=204) == [208.0, 212.0]
    assert foresee(rig, after=212) == []
    rig.rows.set_values(np.concatenate((np.zeros(10), READING)))
    segment = rig.both.foresee(rig.rows, START)
    assert segment is not None
    np.testing.assert_allclose(segment.predicted, np.tile(READING, (3, 1)))


def test_a_joint_goes_on_for_no_longer_than_a_period() -> None:
    rig = Rig()
    rig.move(0, 200)
    rig.read(*range(10, 191, 10))
    rig.pair()
    rig.read(205, 290)
    segment = rig.both.foresee(rig.rows, START)
    assert segment is not None
    np.testing.assert_allclose(segment.positions, find_positions(START + MS * np.array([205, 210])), atol=1e-9)


@pytest.mark.parametrize(("stamp", "is_foreseen"), [(349.0, True), (351.0, False)])
def test_nothing_is_foreseen_after_a_gap(stamp: float, is_foreseen: bool) -> None:
    rig = Rig()
    rig.move(0, 200)
    rig.read(*range(10, 191, 10))
    rig.pair()
    rig.read(stamp)
    assert (rig.both.foresee(rig.rows, START) is not None) is is_foreseen


def test_nothing_is_foreseen_without_two_states_of_each_joint() -> None:
    rig = Rig()
    rig.move(0, 200, ("a", "b"))
    rig.read(205)
    assert rig.both.foresee(rig.rows, START) is None
    rig.move(200, 200, ("c",))
    assert rig.both.foresee(rig.rows, START) is None
    rig.move(210, 210, ("c",))
    assert foresee(rig) == [205.0]
