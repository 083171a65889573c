"""Stages of a motion, and the reasons for which it is stopped, against sines in closed form."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from inertid_ros.core.records import FloatArray
from inertid_ros.guide.supervision import LAG, LATEST, SLOW, Joints, Supervisor, plan_stages
from inertid_ros.motions.motion import JointPath, MinimumJerk, Motion
from inertid_ros.motions.multisine import JointLimits
from inertid_ros.motions.trajectory import Trajectory

NAMES = ("shoulder", "elbow")
LIMITS = JointLimits(np.full(2, -2.0), np.full(2, 2.0), np.full(2, 3.0), np.full(2, 9.0), np.full(2, np.inf))
JOINTS = Joints(NAMES, (True, False), LIMITS)


def sine() -> Trajectory:
    """q = (sin t, 0.5), with efforts."""
    times = np.linspace(0.0, 3.0, 301)
    zeros = np.zeros_like(times)
    parts = ((np.sin(times), zeros + 0.5), (np.cos(times), zeros), (-np.sin(times), zeros))
    return Trajectory(NAMES, times, JointPath(*(np.stack(part, axis=1) for part in parts)), np.ones((301, 2)))


def connect(start: FloatArray, goal: FloatArray) -> Motion:
    return MinimumJerk([start, goal], [1.5])


def test_a_motion_is_approached_made_slowly_and_then_at_its_share_of_speed() -> None:
    stages = plan_stages(np.array([0.4, 0.4]), sine(), 0.5, connect)
    assert [stage.name for stage in stages] == ["approach", "slowly", "return", "at speed"]
    for before, after in pairwise(stages):
        np.testing.assert_allclose(before.trajectory.path.positions[-1], after.trajectory.path.positions[0])
    assert stages[1].trajectory.duration == pytest.approx(3.0 / (0.5 * SLOW))
    assert stages[3].trajectory.duration == pytest.approx(6.0)
    there = plan_stages(np.array([0.0, 0.5]), sine(), 1.0, connect)
    assert [stage.name for stage in there] == ["slowly", "return", "at speed"]


def test_a_slower_trajectory_is_the_same_path_with_its_true_derivatives() -> None:
    slow = sine().slow_down(0.5)
    times = np.linspace(0.1, 5.9, 20)
    path = slow.at(times)
    np.testing.assert_allclose(path.positions[:, 0], np.sin(0.5 * times), atol=1e-9)
    np.testing.assert_allclose(path.velocities[:, 0], 0.5 * np.cos(0.5 * times), atol=1e-7)
    np.testing.assert_allclose(path.accelerations[:, 0], -0.25 * np.sin(0.5 * times), atol=1e-5)
    assert slow.efforts is None, "efforts of another speed are others"


def test_a_controller_that_is_a_little_late_is_let_go_on_and_one_that_lags_is_not() -> None:
    supervisor = Supervisor(sine(), JOINTS, 0.05)

    def look(elapsed: float, lag: float) -> str:
        return supervisor.find_reason(elapsed, np.array([np.sin(max(elapsed - lag, 0.0)), 0.5]), ())

    assert not any(look(elapsed, 0.9 * LAG) for elapsed in np.linspace(0.0, 3.0, 31))
    found = [look(elapsed, LAG + 0.2) for elapsed in np.linspace(0.0, 3.0, 31)]
    assert any(reason.startswith("tracking error: shoulder is off by 0.") for reason in found)
    error = np.array([np.sin(1.0), 0.5 + 0.06])
    assert supervisor.find_reason(1.0, error, ()) == "tracking error: elbow is off by 0.060 m, 0.05 is allowed"


def test_contact_ends_of_joints_and_a_controller_without_end_are_reasons() -> None:
    supervisor = Supervisor(sine(), JOINTS, 10.0)
    inside = np.array([0.0, 0.5])
    assert supervisor.find_reason(0.0, inside, ()) == ""
    assert supervisor.find_reason(0.0, inside, ("a hand",)) == "contact: a hand"
    assert supervisor.find_reason(0.0, np.array([0.0, -2.005]), ()) == ""
    assert supervisor.find_reason(0.0, np.array([0.0, -2.1]), ()) == "elbow is at -2.100 m, beyond its limit -2.000"
    assert supervisor.find_reason(3.0 + 0.9 * LATEST, inside, ()) == ""
    assert "not finished" in supervisor.find_reason(3.0 + 1.1 * LATEST, inside, ())
