"""Ways to where a motion begins: straight where that is possible, around obstacles, or none."""

from __future__ import annotations

import numpy as np

from inertid_ros.core.records import FloatArray
from inertid_ros.motions.approach import plan_approach
from inertid_ros.motions.motion import MinimumJerk, Motion
from inertid_ros.motions.multisine import JointLimits

LIMITS = JointLimits(*(np.full(2, value) for value in (-2.0, 2.0, 1.0, 2.0)))
START, GOAL = np.array([-1.5, 0.0]), np.array([1.5, 0.0])


def sample(motion: Motion) -> FloatArray:
    return motion.at(np.linspace(0.0, motion.duration, 501)).positions


def plan(wall: float, slowest: float = np.inf) -> MinimumJerk | None:
    """Around a wall between both poses, which leaves a gap above a height."""
    return plan_approach(
        START,
        GOAL,
        LIMITS,
        is_allowed=lambda line: not np.any((np.abs(sample(line)[:, 0]) < 0.2) & (sample(line)[:, 1] < wall)),
        is_slow=lambda line: float(np.abs(np.diff(sample(line), axis=0)).max()) * 500 / line.duration < slowest,
    )


def test_way_is_straight_from_rest_to_rest_within_half_of_the_limits() -> None:
    way = plan(wall=-5.0)
    assert way is not None
    path = way.at(np.linspace(0.0, way.duration, 501))
    np.testing.assert_allclose(path.positions[[0, -1]], [START, GOAL], atol=1e-12)
    np.testing.assert_allclose(path.velocities[[0, -1]], 0.0, atol=1e-12)
    assert np.all(path.positions[:, 1] == 0.0)
    assert 0.4 < np.abs(path.velocities).max() <= 0.5 + 1e-9
    assert np.abs(path.accelerations).max() <= 1.0 + 1e-9


def test_way_is_slower_where_it_has_to_be() -> None:
    usual, slow = plan(wall=-5.0), plan(wall=-5.0, slowest=0.2)
    assert usual is not None
    assert slow is not None
    assert slow.duration > 2.0 * usual.duration


def test_way_leads_around_an_obstacle() -> None:
    way = plan(wall=1.0)
    assert way is not None
    positions = sample(way)
    np.testing.assert_allclose(positions[[0, -1]], [START, GOAL], atol=1e-12)
    assert positions[np.abs(positions[:, 0]) < 0.2, 1].min() >= 1.0
    assert np.abs(way.at(np.linspace(0.0, way.duration, 501)).velocities).max() <= 0.5 + 1e-9


def test_no_way_is_none() -> None:
    assert plan(wall=5.0) is None
