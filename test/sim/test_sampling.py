"""Random numbers by index, the clock of samples, and playback against the simulator asked directly."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from inertid_ros.files.parameters import load_from_yaml
from inertid_ros.files.share import share_path
from inertid_ros.motions.motion import paper_puma_move
from inertid_ros.sim.sensors import AHEAD, BLOCK, NoiseStream, Playback, RandomWalk, SampleClock, SensorModel
from inertid_ros.sim.simulator import Simulator

SENSORS = SensorModel(
    joint_rate=333.0, wrench_rate=500.0, velocity_noise=0.1, effort_noise=1.0, force_noise=0.1, stamp_jitter=5e-4
)


@pytest.fixture
def simulator(puma_urdf: str) -> Simulator:
    return Simulator(puma_urdf, "ft_sensor", paper_puma_move(), SENSORS, start_stamp=0)


def test_every_sample_comes_once_and_in_its_time(simulator: Simulator) -> None:
    joints, wrenches = Playback(simulator.joints), Playback(simulator.wrenches)
    times = np.cumsum(np.random.default_rng(0).uniform(0.0, 0.03, 100))
    joint_parts = [joints.advance(time) for time in times]
    wrench_parts = [wrenches.advance(time) for time in times]
    for time, part in zip(times, wrench_parts, strict=True):
        assert np.all(part.stamps < time * 1e9)
    whole = simulator.joints(0.0, times[-1])
    assert whole.velocities is not None
    np.testing.assert_array_equal(np.concatenate([part.stamps for part in joint_parts]), whole.stamps)
    np.testing.assert_array_equal(np.concatenate([part.positions for part in joint_parts]), whole.positions)
    velocities = [part.velocities for part in joint_parts if part.velocities is not None]
    np.testing.assert_array_equal(np.concatenate(velocities), whole.velocities)
    efforts = [part.efforts for part in joint_parts if part.efforts is not None]
    np.testing.assert_array_equal(np.concatenate(efforts), whole.efforts)
    expected = simulator.wrenches(0.0, times[-1])
    np.testing.assert_array_equal(np.concatenate([part.wrenches for part in wrench_parts]), expected.wrenches)


def test_no_tachometer_stays_no_tachometer(puma_urdf: str) -> None:
    stream = Playback(Simulator(puma_urdf, "ft_sensor", paper_puma_move(), start_stamp=0).joints)
    assert stream.advance(0.1).velocities is None


def test_a_change_of_load_is_seen_from_the_next_sample_on(simulator: Simulator) -> None:
    bar = load_from_yaml(share_path("config", "loads", "bar.yaml"))
    stream = Playback(simulator.wrenches)
    before = stream.advance(0.3)
    simulator.attach(bar, 0.3)
    stream.recompute()
    after = stream.advance(0.3 + AHEAD / 2)
    assert np.linalg.norm(before.wrenches[-1, :3]) < 1.0
    assert np.linalg.norm(after.wrenches[0, :3]) > 15.0


def test_skipping_leaves_out_and_goes_back(simulator: Simulator) -> None:
    stream = Playback(simulator.wrenches)
    stream.advance(0.3)
    stream.skip_to(1.0)
    np.testing.assert_array_equal(stream.advance(1.2).stamps, simulator.wrenches(1.0, 1.2).stamps)
    stream.skip_to(0.0)
    np.testing.assert_array_equal(stream.advance(0.2).stamps, simulator.wrenches(0.0, 0.2).stamps)


@pytest.mark.parametrize("kind", [NoiseStream, RandomWalk])
def test_rows_do_not_depend_on_how_they_are_asked_for(kind: type[NoiseStream] | type[RandomWalk]) -> None:
    total = 3 * BLOCK + 17
    whole = kind(5, "x", 2).rows(0, total)
    assert whole.shape == (total, 2)
    scattered = kind(5, "x", 2)
    for first, last in [(2000, 3000), (0, 1), (1023, 1025), (500, 500), (3080, total), (1024, 2048), (10, 3000)]:
        np.testing.assert_array_equal(scattered.rows(first, last), whole[first:last])


def test_walk_is_the_running_sum_of_independent_steps() -> None:
    steps = np.diff(RandomWalk(2, "walk", 3).rows(0, 20000), axis=0)
    assert np.abs(steps.mean(0)).max() < 4.0 / np.sqrt(20000)
    np.testing.assert_allclose(steps.std(0), 1.0, atol=0.03)
    np.testing.assert_allclose(RandomWalk(2, "walk", 3).rows(0, 1), NoiseStream(2, "walk", 3).rows(0, 1))


def test_streams_are_standard_white_and_independent() -> None:
    normal = NoiseStream(1, "a", 2).rows(0, 20000)
    other_name, other_seed = NoiseStream(1, "b", 2).rows(0, 20000), NoiseStream(2, "a", 2).rows(0, 20000)
    columns = np.hstack([normal, other_name, other_seed, np.roll(normal, 1, axis=0), np.roll(normal, BLOCK, axis=0)])
    np.testing.assert_allclose(np.corrcoef(columns.T), np.eye(10), atol=0.035)
    np.testing.assert_allclose(columns.std(0), 1.0, atol=0.03)
    np.testing.assert_allclose(columns.mean(0), 0.0, atol=0.03)


def test_uniform_stream_covers_its_interval() -> None:
    rows = NoiseStream(1, "a", 1, uniform=True).rows(0, 20000)
    assert -1.0 <= rows.min() < -0.999
    assert 0.999 < rows.max() <= 1.0
    assert rows.var() == pytest.approx(1.0 / 3.0, rel=0.03)


def test_clock_without_jitter_ticks_evenly() -> None:
    clock = SampleClock(200.0, 0.0, NoiseStream(0, "clock", 1, uniform=True))
    samples = clock.between(1.0, 1.02)
    assert samples.instants.tolist() == [1_000_000_000, 1_005_000_000, 1_010_000_000, 1_015_000_000]
    assert (samples.first, samples.last) == (200, 204)
    np.testing.assert_allclose(samples.seconds, [1.0, 1.005, 1.01, 1.015])


def test_clock_with_jitter_keeps_order_bounds_and_number() -> None:
    clock = SampleClock(200.0, 0.002, NoiseStream(0, "clock", 1, uniform=True))
    samples = clock.between(0.0, 100.0)
    lateness = samples.instants * 1e-9 - np.arange(samples.first, samples.last) / 200.0
    assert samples.first == 0
    assert abs(samples.last - 20000) <= 1
    assert np.all(np.diff(samples.instants) > 0)
    assert 0.0 <= lateness.min() < 1e-5
    assert 0.00399 < lateness.max() <= 0.004
    assert lateness.std() == pytest.approx(0.002 / np.sqrt(3.0), rel=0.02)


def test_clock_gives_every_sample_once_whatever_the_stretches() -> None:
    clock = SampleClock(240.0, 0.002, NoiseStream(3, "clock", 1, uniform=True))
    ends = np.sort(np.random.default_rng(0).uniform(0.0, 20.0, 3000))
    parts = [clock.between(a, b) for a, b in zip([0.0, *ends], [*ends, 20.0], strict=True)]
    whole = clock.between(0.0, 20.0)
    np.testing.assert_array_equal(np.concatenate([part.instants for part in parts]), whole.instants)
    assert all(before.last == after.first for before, after in pairwise(parts))


def test_clock_gives_nothing_for_no_time() -> None:
    clock = SampleClock(240.0, 0.0, NoiseStream(3, "clock", 1, uniform=True))
    assert len(clock.between(1.0, 1.0).instants) == 0
    assert len(clock.between(2.0, 1.0).instants) == 0
