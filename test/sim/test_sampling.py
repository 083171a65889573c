"""Playback against the simulator asked directly."""

from __future__ import annotations

import numpy as np
import pytest

from inertid_ros.files.load import load_from_yaml
from inertid_ros.files.share import share_path
from inertid_ros.motions.motion import paper_puma_move
from inertid_ros.sim.sampling import AHEAD, Playback
from inertid_ros.sim.sensors import SensorModel
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
