"""The whole chain on simulated robots: what it finds, what it follows, and what it does not depend on."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from support.chain import (
    BAR,
    EXACT,
    PUMA,
    drive,
    load_of,
    make_chain,
    process,
    puma_motion,
    push_force,
    sensor_of,
    simulate_puma,
)

from inertid_ros.core.chain import Chain
from inertid_ros.core.errors import NotIdentifiedError, UnknownFrameError
from inertid_ros.core.input.segments import Segment
from inertid_ros.core.records import LOAD_EVENTS, Event, FloatArray
from inertid_ros.core.rigid_body.inertial import Tool
from inertid_ros.core.rows.rows import Rows
from inertid_ros.motions.motion import Hold, Sequence
from inertid_ros.sim.scenario import ScenarioSettings, build_simulator
from inertid_ros.sim.sensors import SensorModel
from inertid_ros.sim.simulator import Simulator


@pytest.mark.parametrize("method", ["filtered", "integral"])
def test_perfect_sensors_give_the_load_exactly(method: str) -> None:
    motion = puma_motion()
    simulator = simulate_puma(
        motion,
        encoder_resolution=0.0,
        velocity_noise=0.0,
        force_noise=0.0,
        torque_noise=0.0,
        vibration_force=0.0,
        vibration_torque=0.0,
    )
    chain = make_chain(method=method, **EXACT)
    drive(chain, simulator, 0.0, motion.duration)
    np.testing.assert_allclose(load_of(chain).values, BAR, atol=3e-6)


def test_differentiated_method_gives_mass_and_centre_of_mass() -> None:
    motion = puma_motion()
    chain = make_chain(method="differentiated")
    drive(chain, simulate_puma(motion), 0.0, motion.duration)
    parameters = load_of(chain).values
    assert parameters[0] == pytest.approx(1.8, abs=0.03)
    np.testing.assert_allclose(parameters[1:4] / parameters[0], BAR[1:4] / BAR[0], atol=2e-3)


def test_a_move_that_is_repeated_for_half_a_minute_is_not_taken_for_misfit() -> None:
    """Rest and two moves are three different blocks, of which a fit takes up nearly all: little is left to compare."""
    chain, simulator, found = make_chain(), simulate_puma(puma_motion(rounds=9)), list[float]()
    for start in range(0, 38, 2):
        drive(chain, simulator, float(start), start + 2.0)
        found.append(sensor_of(chain).variance_inflation)
    assert max(found[4:]) < 8.0, found


def test_block_size_does_not_matter() -> None:
    """Single samples, odd blocks and everything at once: the same numbers, through a load change and a contact."""
    motion = puma_motion(rounds=3)
    simulator = simulate_puma(motion, seed=3, schedule=[(5.0, BAR)], stamp_jitter=0.001)
    joints, wrenches = simulator.joints(0.0, motion.duration), simulator.wrenches(0.0, motion.duration)
    push = np.zeros_like(wrenches.wrenches)
    push[2000:2300, 1] = 20.0 * np.sin(np.arange(300) / 7.0)
    wrenches = push_force(wrenches, push)

    def run(size: int) -> tuple[Chain, FloatArray, list[str]]:
        chain = make_chain()
        residuals: list[FloatArray] = []
        events: list[str] = []
        for start in range(0, len(wrenches.stamps), size):
            part = slice(start, start + size)
            chain.push(joints.take(part))
            chain.push(wrenches.take(part))
            if (output := chain.process()) is not None:
                residuals.append(output.residual)
                events += [event.kind for event in output.events]
        return chain, np.concatenate(residuals), events

    whole, residual, events = run(10**6)
    assert "load_attached" in events
    assert "contact_began" in events
    for size in (1, 7, 1000):
        chain, other, other_events = run(size)
        assert other_events == events
        count = min(len(residual), len(other))
        assert count > 0.99 * len(residual)
        np.testing.assert_allclose(other[:count], residual[:count], atol=1e-9)
        np.testing.assert_allclose(load_of(chain).values, load_of(whole).values, atol=1e-9)
        np.testing.assert_allclose(load_of(chain).covariance, load_of(whole).covariance, rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_load_step_in_motion_is_followed_and_biases_kept(seed: int) -> None:
    """0 -> 1.8 -> 0 kg: 2 % within a second, twice, and the biases stay as well known as they were."""
    motion = puma_motion(rounds=6)
    attach = 8.0 + 0.37 * seed
    release = attach + 8.3
    simulator = simulate_puma(motion, seed, [(attach, BAR), (release, None)])
    chain = make_chain()
    drive(chain, simulator, 0.0, attach)
    before = sensor_of(chain)
    assert abs(load_of(chain).values[0]) < 0.01
    (event,) = drive(chain, simulator, attach, attach + 1.0).events
    assert event.kind == "load_attached"
    assert (event.mass_before, event.mass_after) == pytest.approx((0.0, 1.8), abs=0.05)
    assert event.confidence > 0.95
    loaded = sensor_of(chain)
    assert load_of(chain).values[0] == pytest.approx(1.8, rel=0.02)
    known = np.sqrt(np.diag(before.bias_covariance))
    assert np.all(np.abs(loaded.bias - before.bias) < 4.0 * known)
    assert np.all(np.sqrt(np.diag(loaded.bias_covariance)) < 1.5 * known)
    drive(chain, simulator, attach + 1.0, release)
    assert load_of(chain).values[0] == pytest.approx(1.8, abs=0.005)
    (event,) = drive(chain, simulator, release, release + 1.0).events
    assert event.kind == "load_released"
    assert (event.mass_before, event.mass_after) == pytest.approx((1.8, 0.0), abs=0.05)
    assert event.confidence > 0.95
    assert abs(load_of(chain).values[0]) < 0.036


def test_load_taken_at_standstill_is_noticed() -> None:
    motion = Sequence([puma_motion(rounds=2), Hold(np.radians([0.0, 0, 0, -90, 0, 0]), 4.0)])
    start = motion.duration - 4.0
    simulator = simulate_puma(motion, 1, [(start + 1.0, BAR)])
    chain = make_chain()
    output = drive(chain, simulator, 0.0, motion.duration)
    (event,) = output.events
    assert event.kind == "load_attached"
    assert (event.mass_before, event.mass_after) == pytest.approx((0.0, 1.8), abs=0.05)
    assert event.confidence == pytest.approx(0.5, abs=0.1), "at standstill it may as well have been tared"
    assert load_of(chain).values[0] == pytest.approx(1.8, rel=0.02)


def test_contact_is_reported_and_changes_nothing() -> None:
    """A push that varies in no load's way shows in the residual, and leaves the estimate as it was."""
    motion = puma_motion(rounds=4)
    simulator = simulate_puma(motion, 5)
    chain = make_chain()
    drive(chain, simulator, 0.0, 8.0)
    before = load_of(chain)
    joints, wrenches = simulator.joints(8.0, 10.0), simulator.wrenches(8.0, 10.0)
    time = np.arange(len(wrenches.stamps)) / 200.0
    force = np.zeros((len(time), 6))
    force[:, 0] = 15.0 + 10.0 * np.sin(5.0 * time)
    force[:, 4] = -2.0 * np.sin(3.0 * time)
    chain.push(joints)
    chain.push(push_force(wrenches, force))
    output = process(chain)
    (began,) = [event for event in output.events if event.kind == "contact_began"]
    assert began.confidence > 0.9
    assert began.mass_before == began.mass_after == pytest.approx(1.8, abs=0.02)
    assert load_of(chain).mode == "contact"
    pushed = force[np.searchsorted(wrenches.stamps, output.stamps[5:])]
    left = np.sqrt(np.mean((output.residual[5:] - pushed) ** 2, axis=0))
    assert np.all(left < [0.6, 0.6, 0.6, 0.05, 0.05, 0.05])
    after = drive(chain, simulator, 10.0, 12.0)
    assert "contact_ended" in [event.kind for event in after.events]
    assert load_of(chain).mode == "tracking"
    change = load_of(chain).values - before.values
    assert np.all(np.abs(change) < 3.0 * np.sqrt(np.diag(before.covariance)))


def test_tared_sensor_in_motion_is_a_new_bias_not_a_new_load() -> None:
    motion = puma_motion(rounds=5)
    simulator = simulate_puma(motion, 2)
    chain = make_chain()
    drive(chain, simulator, 0.0, 9.0)
    offset = np.array([4.0, -9.0, 6.0, 0.5, 0.3, -0.4])
    events: list[Event] = []
    for start in np.arange(9.0, 16.0, 0.5).tolist():
        chain.push(simulator.joints(start, start + 0.5))
        chain.push(push_force(simulator.wrenches(start, start + 0.5), offset))
        events += process(chain).events
    assert "bias_changed" in [event.kind for event in events]
    assert {event.kind for event in events}.isdisjoint(LOAD_EVENTS)
    assert all(event.mass_after == pytest.approx(1.8, abs=0.02) for event in events)
    np.testing.assert_allclose(load_of(chain).values[:4], BAR[:4], atol=1e-2, err_msg="its gain is known to 1 %")


@pytest.mark.long
def test_hour_of_standstill_does_no_harm() -> None:
    """Finite, positive, no drift beyond one standard deviation; and learning goes on afterwards."""
    hour = 3600.0
    move = puma_motion(rest=2.0)
    pose = np.radians([0.0, 0, 0, -90, 0, 0])
    motion = Sequence([move, Hold(pose, hour), puma_motion(rest=0.0)])
    simulator = simulate_puma(motion, 4)
    chain = make_chain()
    drive(chain, simulator, 0.0, move.duration + 60.0)
    before = load_of(chain)
    drive(chain, simulator, move.duration + 60.0, move.duration + hour, chunk=60.0)
    after = load_of(chain)
    deviations = np.sqrt(np.diag(before.covariance))
    assert np.all(np.isfinite(after.covariance))
    assert np.linalg.eigvalsh(after.covariance)[0] > 0.0
    assert np.all(np.abs(after.values - before.values) < deviations)
    assert after.mode == "tracking"
    drive(chain, simulator, move.duration + hour, motion.duration)
    final = load_of(chain)
    assert np.all(np.abs(final.values - BAR) < 4.0 * np.sqrt(np.diag(final.covariance)))
    assert final.states == ("known",) * 10


def test_noisy_velocity_at_standstill_is_not_excitation() -> None:
    """Ten minutes of tachometer noise must not make an unknown inertia known."""
    simulator = simulate_puma(Hold(np.radians([0.0, 0, 0, -90, 0, 0])), velocity_noise=0.01)
    chain = make_chain()
    drive(chain, simulator, 0.0, 600.0, chunk=30.0)
    assert set(load_of(chain).states) == {"not excited yet"}


def test_static_poses_give_mass_and_centre_of_mass_without_a_mode() -> None:
    poses = np.radians(
        [
            [0, 0, 0, -90, 0, 0],
            [0, -60, 90, 30, 60, 0],
            [20, -30, 60, -60, -70, 90],
            [0, 10, 40, 90, 80, -60],
            [0, -45, 45, 0, 90, 45],
            [10, -70, 30, -30, 40, -120],
        ]
    )
    chain = make_chain()
    start = 1_700_000_000_000_000_000
    for index, pose in enumerate(poses):
        simulator = Simulator(
            PUMA,
            "ft_sensor",
            Hold(pose),
            SensorModel(force_noise=0.1, torque_noise=0.005, bias=(1.0, 2, 3, 0.1, 0.2, 0.3)),
            [(0.0, BAR)],
            seed=index,
            start_stamp=start + index * 5_000_000_000,
        )
        drive(chain, simulator, 0.0, 2.0)
    estimate = load_of(chain)
    assert estimate.states[:4] == ("known",) * 4
    assert "known" not in estimate.states[4:]
    assert estimate.values[0] == pytest.approx(1.8, abs=0.01)
    np.testing.assert_allclose(estimate.values[1:4] / estimate.values[0], BAR[1:4] / BAR[0], atol=1e-3)


def test_tool_is_subtracted_with_its_uncertainty() -> None:
    gripper = np.array([0.6, 0.003, 0.0, 0.03, 0.003, 0.0, 0.0, 0.003, 0.0, 0.001])
    motion = puma_motion(rounds=5)
    simulator = simulate_puma(motion, 6, [(10.0, BAR)], tool=gripper)
    chain = make_chain()
    with pytest.raises(NotIdentifiedError, match="more poses"):
        chain.capture_tool()
    drive(chain, simulator, 0.0, 9.9)
    tool = chain.capture_tool()
    assert tool.phi[0] == pytest.approx(0.6, abs=0.01)
    assert abs(load_of(chain).values[0]) < 1e-12
    drive(chain, simulator, 9.9, motion.duration)
    estimate = load_of(chain)
    assert np.all(np.abs(estimate.values - BAR) < 4.0 * np.sqrt(np.diag(estimate.covariance)))
    assert estimate.covariance[0, 0] > tool.covariance[0, 0]


def test_unknown_sensor_frame_lists_the_frames_there_are() -> None:
    with pytest.raises(UnknownFrameError, match="ft_sensor"):
        make_chain(sensor_frame="flange_7")


def test_paused_chain_predicts_and_does_not_learn() -> None:
    motion = puma_motion(rounds=2)
    simulator = simulate_puma(motion, 7)
    chain = make_chain()
    drive(chain, simulator, 0.0, 6.0)
    before = load_of(chain)
    chain.pause(True)
    output = drive(chain, simulator, 6.0, 8.0)
    assert load_of(chain).mode == "paused"
    np.testing.assert_array_equal(load_of(chain).values, before.values)
    assert np.abs(output.residual).mean() < 1.0
    chain.pause(False)
    chain.reset()
    assert load_of(chain).mode == "waiting"
    assert set(load_of(chain).states) == {"not excited yet"}


def test_load_that_comes_back_is_known_again_at_once() -> None:
    """Bar, bar and something, bar: the inertia need not be learned again."""
    motion = puma_motion(rounds=5)
    something = BAR + np.array([0.5, 0.01, 0.0, 0.05, 0.01, 0.0, 0.0, 0.01, 0.0, 0.001])
    simulator = simulate_puma(motion, 21, [(0.0, BAR), (10.2, something), (14.2, BAR)])
    chain = make_chain()
    drive(chain, simulator, 0.0, 10.0)
    before = load_of(chain)
    drive(chain, simulator, 10.0, 15.2)
    after = load_of(chain)
    assert after.states == ("known",) * 10
    deviations = np.sqrt(np.diag(after.covariance))
    assert np.all(deviations < 1.2 * np.sqrt(np.diag(before.covariance)))
    assert np.all(np.abs(after.values - BAR) < 4.0 * deviations)


@pytest.mark.parametrize("force", [30.0, 12.0, -12.0])
def test_vertical_push_at_standstill_costs_nothing(force: float) -> None:
    """Up or down it may look like another load; when it is over, all is as it was. No load weighs less than nothing."""
    motion = Sequence([puma_motion(rounds=2), Hold(np.radians([0.0, 0, 0, -90, 0, 0]), 10.0)])
    still = motion.duration - 10.0
    simulator = simulate_puma(motion, 22)
    chain = make_chain(wrench_sign="auto")
    drive(chain, simulator, 0.0, still + 1.0)
    before = load_of(chain)
    wrenches = simulator.wrenches(still + 1.0, still + 4.0)
    reading = wrenches.wrenches.mean(axis=0) - sensor_of(chain).bias
    chain.push(simulator.joints(still + 1.0, still + 4.0))
    push = np.concatenate((-force * reading[:3] / np.linalg.norm(reading[:3]), np.zeros(3)))
    chain.push(push_force(wrenches, push))
    chain.process()
    assert sensor_of(chain).sign == "on_load"
    assert load_of(chain).values[0] > -0.05
    drive(chain, simulator, still + 4.0, still + 7.0)
    after = load_of(chain)
    assert sensor_of(chain).sign == "on_load"
    assert after.states == before.states == ("known",) * 10
    assert np.all(np.abs(after.values - before.values) < 2.0 * np.sqrt(np.diag(before.covariance)))


def test_tool_is_not_captured_while_paused_or_in_contact() -> None:
    motion = puma_motion(rounds=2)
    chain = make_chain()
    drive(chain, simulate_puma(motion, 23), 0.0, 6.0)
    chain.pause(True)
    with pytest.raises(NotIdentifiedError, match="paused"):
        chain.capture_tool()


def test_known_delay_of_the_wrench_is_taken_out() -> None:
    motion = puma_motion()
    simulator = simulate_puma(motion, 18, wrench_delay=0.01)
    chain = make_chain(wrench_delay=0.01)
    output = drive(chain, simulator, 0.0, motion.duration)
    estimate = load_of(chain)
    assert np.all(np.abs(estimate.values - BAR) < 4.0 * estimate.deviations)
    assert set(output.stamps) <= set(simulator.wrenches(0.0, motion.duration).stamps)


def test_tool_stays_when_a_new_one_cannot_be_captured() -> None:
    """Paused, in contact, and while what is carried is not known."""
    motion = puma_motion(rounds=3)
    simulator, chain = simulate_puma(motion, 23), make_chain()
    drive(chain, simulator, 0.0, 6.0)
    tool = chain.capture_tool()
    before = load_of(chain)
    assert chain.tool is tool
    chain.pause(True)
    with pytest.raises(NotIdentifiedError, match="paused"):
        chain.capture_tool()
    chain.pause(False)
    wrenches = simulator.wrenches(6.0, 7.0)
    push = np.zeros((len(wrenches.stamps), 6))
    push[:, 0] = 30.0 * np.sin(9.0 * np.arange(len(push)) / 200.0) + 30.0
    chain.push(simulator.joints(6.0, 7.0))
    chain.push(push_force(wrenches, push))
    chain.process()
    with pytest.raises(NotIdentifiedError, match="contact"):
        chain.capture_tool()
    assert chain.tool is tool
    assert load_of(chain).tool is tool
    np.testing.assert_allclose(load_of(chain).values, before.values, atol=0.05)
    chain.reset()
    with pytest.raises(NotIdentifiedError, match="more poses"):
        chain.capture_tool()
    assert chain.tool is tool


def run_in_contact(monkeypatch: pytest.MonkeyPatch, seconds: float) -> tuple[int, int, int]:
    """One block in permanent contact: samples, samples carried through the filters, and peak memory [bytes]."""
    motion = Sequence([puma_motion(rounds=1), Hold(np.radians([0.0, 0, 0, -90, 0, 0]), 200.0)])
    simulator, chain = simulate_puma(motion, 1), make_chain()
    drive(chain, simulator, 0.0, 6.0)
    wrenches = simulator.wrenches(6.0, 6.0 + seconds)
    times = np.arange(len(wrenches.stamps)) / 200.0
    push = np.zeros((len(times), 6))
    push[:, 0], push[:, 4] = 40.0 * np.sin(13.0 * times) + 40.0, 3.0 * np.sin(7.0 * times)
    chain.push(simulator.joints(6.0, 6.0 + seconds))
    chain.push(push_force(wrenches, push))
    carried = 0
    begin, resume = Rows.begin, Rows.resume

    def count_first(rows: Rows, segment: Segment) -> int:
        nonlocal carried
        if segment.row >= 0:  # it was carried on when it was paired
            carried += min(segment.row, len(segment.stamps) - 1) + 1
        return begin(rows, segment)

    def count(rows: Rows, segment: Segment, position: int) -> int:
        nonlocal carried
        stop = resume(rows, segment, position)
        carried += min(stop, len(segment.stamps) - 1) - position
        return stop

    with monkeypatch.context() as patched:
        patched.setattr(Rows, "begin", count_first)
        patched.setattr(Rows, "resume", count)
        tracemalloc.start()
        output = process(chain)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert load_of(chain).mode == "contact"
    assert [event.kind for event in output.events] == ["contact_began"]
    return len(output.stamps), carried, peak


KEPT = 10_000_000
"""Bytes, at most, of what is kept to go back to when the sensor turns out to be damaged: four copies of all sums."""


def test_block_in_permanent_contact_takes_memory_and_work_by_its_length(monkeypatch: pytest.MonkeyPatch) -> None:
    """Filters are restarted every 0.4 s; every sample goes through them once, whatever the length of the block."""
    short, long = run_in_contact(monkeypatch, 25.0), run_in_contact(monkeypatch, 100.0)
    for samples, carried, peak in (short, long):
        assert carried == samples
        assert peak < 2000 * samples + KEPT
    assert long[2] < 4.5 * short[2]


@pytest.mark.parametrize("pause", [0.05, 0.1])
def test_robot_that_is_elsewhere_after_a_short_pause_with_another_load_spoils_nothing(pause: float) -> None:
    """A driver that was restarted: accelerations across the pause are none, and must not hide the change."""
    begin, end = 2.0, 16.0
    first, second = (
        build_simulator(ScenarioSettings(rest=1.0, pause=0.1, load=load, tool=tool))
        for load, tool in (("gripper", "none"), ("bar", "gripper"))
    )
    chain = make_chain()
    drive(chain, first, begin, end)
    before, offset = load_of(chain), round((end + pause) * 1e9)
    joints, wrenches = second.joints(0.0, 8.0), second.wrenches(0.0, 8.0)
    chain.push(joints._replace(stamps=joints.stamps + offset))
    chain.push(wrenches._replace(stamps=wrenches.stamps + offset))
    (event,) = process(chain).events
    assert event.mass_before == pytest.approx(before.values[0], abs=before.repeatable_deviations[0])
    chain.tool = Tool(before.values, before.covariance, before.frame)
    after = load_of(chain)
    assert after.values[0] == pytest.approx(BAR[0], abs=after.repeatable_deviations[0])
