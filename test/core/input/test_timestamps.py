"""Which stamps are believed."""

from __future__ import annotations

import numpy as np

from inertid_ros.core.diagnosis import Health
from inertid_ros.core.input.timestamps import SECOND, StampCheck

START = 1_700_000_000 * SECOND
STEP = 5_000_000


def _feed(check: StampCheck, stamps: list[int], size: int) -> tuple[list[int], bool]:
    """The stamps that were accepted, and whether time started anew, in blocks of some size."""
    accepted, restarted = [], False
    for start in range(0, len(stamps), size):
        block = np.array(stamps[start : start + size])
        if size == 1 and check.precedes(int(block[0])):
            check.accept(int(block[0]))
            accepted += block.tolist()
            continue
        good, restart = check.check(block)
        kept = block if good is None else block[good]
        restarted |= restart is not None
        accepted += kept.tolist()
    return accepted, restarted


def _both_ways(stamps: list[int]) -> tuple[list[int], bool, dict[str, int]]:
    """The same result must come whatever the block size."""
    results = []
    for size in (1, 3, len(stamps)):
        health = Health()
        accepted, restarted = _feed(StampCheck("wrench", health), stamps, size)
        results.append((accepted, restarted, {item.code: item.count for item in health.items()}))
    assert results[0] == results[1] == results[2]
    return results[0]


def test_regular_and_jittered_stamps_are_all_taken() -> None:
    rng = np.random.default_rng(0)
    stamps = (START + np.cumsum(rng.integers(1, 10_000_000, 50))).tolist()
    assert _both_ways(stamps) == (stamps, False, {})


def test_zero_stamps_are_never_taken() -> None:
    accepted, _, counts = _both_ways([0] * 5 + [START, START + STEP])
    assert accepted == [START, START + STEP]
    assert counts == {"zero_stamp": 5}


def test_frozen_stamp_is_taken_once() -> None:
    accepted, _, counts = _both_ways([START] * 6 + [START + STEP])
    assert accepted == [START, START + STEP]
    assert counts == {"duplicate_stamp": 5}


def test_single_step_back_is_left_out_and_nothing_else() -> None:
    stamps = [START + k * STEP for k in (0, 1, 2, 1, 3, 4)]
    accepted, restarted, counts = _both_ways(stamps)
    assert accepted == [START + k * STEP for k in (0, 1, 2, 3, 4)]
    assert not restarted
    assert counts == {"backward_stamp": 1}


def test_single_stamp_in_the_future_is_left_out_and_nothing_else() -> None:
    stamps = [START, START + STEP, START + 3600 * SECOND, START + 2 * STEP, START + 3 * STEP]
    accepted, restarted, counts = _both_ways(stamps)
    assert accepted == [START, START + STEP, START + 2 * STEP, START + 3 * STEP]
    assert not restarted
    assert counts == {"jumping_stamp": 1}


def test_bag_loop_starts_time_anew_after_three_agree() -> None:
    first = [START + k * STEP for k in range(10)]
    accepted, restarted, counts = _both_ways(first + first)
    assert restarted
    assert accepted == first + first[2:]
    assert counts == {"backward_stamp": 2, "time_reset": 1}


def test_long_pause_is_no_new_time() -> None:
    stamps = [START + k * STEP for k in range(5)] + [START + 60 * SECOND + k * STEP for k in range(5)]
    accepted, restarted, counts = _both_ways(stamps)
    assert not restarted
    assert accepted == stamps[:5] + stamps[7:]
    assert counts == {"jumping_stamp": 2}
