"""A damaged wrist sensor is named, nothing is learnt from it, and the load is right again soon after."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from support.chain import BAR, PUMA, drive, load_of, make_chain, puma_motion, push_force, simulate_puma

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
from inertid_ros.core.estimation.states import ParameterState
from inertid_ros.core.input.reading_faults import FLIPPED, MIXED, SCALED, ReadingFaults
from inertid_ros.core.records import LOAD_EVENTS, FloatArray, WrenchBlock
from inertid_ros.core.settings.settings import LoadSettings

SECOND = 1_000_000_000
Spoil = Callable[[WrenchBlock], WrenchBlock]


def _hold(axes: slice) -> Spoil:
    held: list[FloatArray] = []

    def spoil(block: WrenchBlock) -> WrenchBlock:
        held.append(block.wrenches[0])
        values = block.wrenches.copy()
        values[:, axes] = held[0][axes]
        return block._replace(wrenches=values)

    return spoil


def _scale(factor: float) -> Spoil:
    return lambda block: block._replace(wrenches=factor * block.wrenches)


def _mix(block: WrenchBlock) -> WrenchBlock:
    """A second publisher of zeros, half a step later."""
    stamps = np.stack((block.stamps, block.stamps + 2_000_000), axis=1).ravel()
    values = np.stack((block.wrenches, 0.0 * block.wrenches), axis=1).reshape(-1, 6)
    return WrenchBlock(block.frame, stamps, values)


@pytest.mark.parametrize(
    ("spoil", "code"),
    [
        (_scale(0.0), "sensor_dead"),
        (_hold(slice(0, 6)), "sensor_frozen"),
        (_hold(slice(1, 2)), "axis_stuck"),
        (_scale(1000.0), "wrench_scaled"),
        (_scale(1e-3), "wrench_scaled"),
        (_scale(-1.0), "wrench_flipped"),
        (_mix, "wrench_mixed"),
    ],
    ids=["zeros", "frozen", "stuck", "millinewtons", "kilonewtons", "flipped", "mixed"],
)
@pytest.mark.parametrize("begins", [1.4, 5.2], ids=["converging", "converged"])
def test_damaged_sensor_is_named_and_nothing_is_learnt(spoil: Spoil, code: str, begins: float) -> None:
    simulator, chain = simulate_puma(puma_motion(rest=1.0, rounds=3), 1), make_chain()
    drive(chain, simulator, 0.0, begins, 0.2)
    begun = simulator.joints(begins, begins + 0.1).stamps.item(0)
    for start in np.arange(begins, begins + 2.0, 0.1).tolist():
        chain.push(simulator.joints(start, start + 0.1))
        chain.push(spoil(simulator.wrenches(start, start + 0.1)))
        output = chain.process()
        assert output is None or all(event.kind not in LOAD_EVENTS for event in output.events)
    named = {item.code: item for item in chain.health}
    if code == "axis_stuck" and code not in named:
        code = "sensor_saturated"  # of a reading that is the largest so far it is the same
    assert named[code].first_stamp < begun + SECOND
    estimate = load_of(chain)
    assert ParameterState.KNOWN not in estimate.states
    assert {finding.code for finding in estimate.findings} & set(named)
    drive(chain, simulator, begins + 2.0, begins + 4.0, 0.1)
    estimate = load_of(chain)
    assert abs(estimate.values[0] - BAR[0]) < max(0.03, 3.0 * estimate.deviations[0])
    assert estimate.mode == "tracking"
    assert not {finding.code for finding in estimate.findings} & set(named)


def test_clipped_wrench_never_gives_a_wrong_load() -> None:
    """From the first reading on, and later in the range that the parameter file gives."""
    for limit in (0.0, 10.0):
        simulator, chain = simulate_puma(puma_motion(rest=1.0, rounds=2), 2), make_chain(PUMA, force_limit=limit)
        for start in np.arange(0.0, 8.0, 0.1).tolist():
            block = simulator.wrenches(start, start + 0.1)
            chain.push(simulator.joints(start, start + 0.1))
            chain.push(block._replace(wrenches=np.clip(block.wrenches, -10.0, 10.0)))
            chain.process()
            estimate = load_of(chain)
            if estimate.states[0] is ParameterState.KNOWN:
                assert abs(estimate.values[0] - BAR[0]) < 5.0 * estimate.deviations[0], start
        assert {"sensor_saturated", "axis_stuck"} & {item.code for item in chain.health}


def test_readings_repeated_at_rest_are_no_fault() -> None:
    """A driver that repeats one reading per pose: each pose is held for two seconds, and then left at once."""
    health = Health()
    faults = SensorFaults(LoadSettings(), ReadingFaults(), health)
    random, load = np.random.default_rng(0), np.concatenate(([2.0], 0.1 * np.ones(3), np.zeros(6)))
    for pose in range(10):
        gravity = random.normal(size=3)
        gravity *= 9.8 / np.linalg.norm(gravity)
        reading = np.concatenate((-load[0] * gravity, -np.cross(load[1:4], gravity)))
        for row in range(100):
            assert faults.take((100 * pose + row + 1) * SECOND // 50, reading, gravity, load) is None
    assert health.items() == ()


def _watch(readings: FloatArray, turn: float, mass: float = 2.0) -> int:
    """What the last of (N, 6) readings shows while gravity turns about y by so much in all."""
    watched = np.zeros((11, 6))
    watched[0], watched[7], watched[8], watched[9], watched[10] = np.nan, np.inf, -np.inf, -np.inf, np.inf
    load, found, result = np.concatenate(([mass], np.zeros(9))), np.zeros(6), GOOD
    for reading, angle in zip(readings, np.linspace(0.0, turn, len(readings)), strict=True):
        gravity = 9.8 * np.array([np.sin(angle), 0.0, -np.cos(angle)])
        result = watch_reading(watched, reading, gravity, load, found)
    return result


def test_what_is_seen_of_repeated_readings() -> None:
    noise = np.random.default_rng(1).normal(size=(100, 6))
    noise[:10, 0] += 5.0
    frozen, zeros, stuck, clipped = (noise.copy() for _ in range(4))
    frozen[60:], zeros[60:], stuck[60:, 0] = noise[60], 0.0, noise[60, 0]
    clipped[60:, 0] = 9.0
    assert _watch(noise, 1.0) == GOOD
    assert _watch(frozen, 0.0) == HOLD
    assert _watch(frozen, 1.0) == FROZEN
    assert _watch(zeros, 0.0) == DEAD
    assert _watch(stuck, 1.0) == STUCK
    assert _watch(stuck, 1.0, mass=0.01) == HOLD, "nothing is carried that could show"
    assert _watch(clipped, 1.0) == SATURATED


def test_contacts_and_other_loads_are_no_faults_of_the_sensor() -> None:
    simulator, chain = simulate_puma(puma_motion(rest=1.0, rounds=2), 3), make_chain()
    for start in np.arange(0.0, 9.0, 0.1).tolist():
        force = np.array([20.0, -10.0, 15.0, 1.0, 0.0, -1.0]) if 4.0 <= start < 5.0 else np.zeros(6)
        chain.push(simulator.joints(start, start + 0.1))
        chain.push(push_force(simulator.wrenches(start, start + 0.1), force))
        chain.process()
    assert {item.code for item in chain.health} <= {"outlier"}
    assert sum(item.count for item in chain.health) <= 4
    assert load_of(chain).values[0] == pytest.approx(BAR[0], abs=0.03)


def test_faults_hold_for_an_interval_of_stamps() -> None:
    faults = ReadingFaults()

    def find(stamp: int) -> tuple[str, int] | None:
        found = faults.find(stamp)
        return None if found is None else (found.code, found.since)

    usual, free = np.full(6, 0.1), np.full(6, 0.5)
    before = np.array([3.0, 10.0, -15.0, 1.0, 0.5, -1.0])
    assert faults.note_step(100, before, np.stack((-before, -before)), usual, free) == -1.0
    assert find(99) is None
    assert find(100) == (FLIPPED, 100)
    assert faults.note_step(200, -before, np.stack((before, before)), usual, free) == -1.0
    assert find(199) == (FLIPPED, 100)
    assert find(200) is None
    assert faults.note_step(300, before, np.stack((before + 9.0, before + 9.0)), usual, free) == 1.0, "a contact"
    assert faults.note_step(400, before, 1000.0 * np.stack((before, before)), usual, free) == 1000.0
    assert find(400) == (SCALED, 400)
    faults.believe()
    assert find(500) is None
    released = np.stack((np.full(6, 0.05), np.full(6, -0.05)))
    assert faults.note_step(600, before, released, usual, free) == 1.0, "a load that is put down leaves noise"
    for number in range(20):
        faults.note_outlier(SECOND + number * 10_000_000)
    assert find(SECOND + 190_000_000) == (MIXED, SECOND)
    assert find(2 * SECOND) is None
    faults.note_velocities(3 * SECOND, 4 * SECOND, 1000)
    assert find(4 * SECOND - 1) is None
    assert find(4 * SECOND) == ("", 3 * SECOND)
    assert find(4 * SECOND + 3000) is None
    faults.note_velocities(5 * SECOND, 6 * SECOND, 1000)
    assert find(6 * SECOND + 9000) == ("", 5 * SECOND), "no row was made meanwhile"
    assert find(6 * SECOND + 9001) is None
