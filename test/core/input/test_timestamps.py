"""Which stamps are believed."""

from __future__ import annotations

import numpy as np

from inertid_ros.core.diagnosis import Health
from inertid_ros.core.input.timeline import SECOND, Timeline

START = 1_700_000_000 * SECOND
STEP = 5_000_000


def _feed(stamps: list[int], size: int, health: Health) -> tuple[list[int], bool]:
    """The stamps that were accepted, and whether time started anew, in blocks of some size."""
    line, channels, scales = Timeline(1, "wrench", health), np.zeros((3, 1), dtype=np.int64), np.ones((7, 1))
    accepted, restarted = [], False
    for start in range(0, len(stamps), size):
        block = np.array(stamps[start : start + size])
        restarted |= line.push(channels, scales, block, np.zeros((len(block), 1)))
        accepted += line.stamps.tolist()
        line.clear()
    return accepted, restarted


def _both_ways(stamps: list[int]) -> tuple[list[int], bool, dict[str, int]]:
    """The same result must come whatever the block size, but for what is forgotten where time is reset."""
    results = []
    for size in (1, 3, len(stamps)):
        health = Health()
        accepted, restarted = _feed(stamps, size, health)
        results.append((accepted, restarted, {item.code: item.count for item in health.items()}))
    for accepted, *others in results[1:]:
        assert others == [*results[0][1:]]
        assert accepted == results[0][0][-len(accepted) :]
        assert accepted == results[0][0] or others[0]
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
