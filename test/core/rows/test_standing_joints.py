"""Joints that have not moved yet."""

from __future__ import annotations

import numpy as np
import pytest
from inertid_ros.core.rows.travel import Travel

from inertid_ros.core.chain import Chain, Target
from inertid_ros.core.robot.robot import Robot
from inertid_ros.core.settings.settings import Settings
from inertid_ros.files.share import share_path
from inertid_ros.motions.multisine import JointLimits, Multisine
from inertid_ros.sim.friction import JointFriction
from inertid_ros.sim.sensors import SensorModel
from inertid_ros.sim.simulator import Simulator


def test_a_joint_stands_then_may_be_moving_then_has_moved() -> None:
    travel = Travel(2)
    looked = travel.look(np.array([[0.0, 1.0], [4e-3, 1.0001], [-2e-3, 1.001], [0.0, 1.0]]))
    assert looked is not None
    stands, moved = looked
    np.testing.assert_array_equal(stands, [[True, True], [False, True], [False, False], [False, False]])
    np.testing.assert_array_equal(moved, [[False, False], [False, False], [True, False], [True, False]])
    last = travel.look(np.array([[0.0, 1.1]]))
    assert last is not None
    assert last[1].all()
    assert travel.look(np.array([[0.0, 1.0]])) is None


@pytest.mark.parametrize("block", [1, 5, 400])
def test_blocks_make_no_difference(block: int) -> None:
    random = np.random.default_rng(3)
    positions = np.cumsum(random.normal(scale=1e-3, size=(400, 3)), axis=0)
    travel = Travel(3)
    found = [travel.look(positions[start : start + block]) for start in range(0, 400, block)]
    masks = np.concatenate([np.ones((block, 3), dtype=bool) if part is None else part[1] for part in found])
    reach = np.maximum.accumulate(positions) - np.minimum.accumulate(positions)
    np.testing.assert_array_equal(masks, reach > 5e-3)


def test_noise_of_a_joint_that_never_moves_tells_nothing_of_it() -> None:
    urdf = share_path("urdf", "puma560.urdf").read_text()
    full = np.ones(6)
    motion = Multisine(JointLimits(-full, full, 2.0 * full, 8.0 * full), period=12.0, seed=1)
    sensors = SensorModel(joint_rate=200.0, encoder_resolution=1e-4, velocity_noise=5e-3, effort_noise=0.3)
    joints = Simulator(urdf, "ft_sensor", motion, sensors, [], friction=JointFriction(2.0, 3.0, 0.5)).joints(0.0, 12.0)
    assert joints.velocities is not None
    joints.positions[:, 3] = 0.2 + 1e-4 * (np.arange(len(joints.stamps)) % 2)
    joints.velocities[:, 3] = np.random.default_rng(5).normal(scale=5e-3, size=len(joints.stamps))
    chain = Chain(Robot.from_urdf(urdf), Settings.from_flat({"links.effort_unit": "newton_metre"}), Target.LINKS)
    chain.push(joints)
    chain.process()
    estimate = chain.estimate()
    assert estimate is not None
    names = [estimate.base.names[column] for column in estimate.base.columns]
    states = dict(zip(names, estimate.states, strict=True))
    of_joint = {name: state for name, state in states.items() if name.startswith("joint4.") and "offset" not in name}
    assert len(of_joint) == 3
    assert set(of_joint.values()) == {"not excited yet"}
    assert states["joint2.viscous"] == "known"
