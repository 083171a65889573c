"""Trajectories as motions, as messages and as files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from inertid_ros.core.errors import FileAccessError, FileFormatError
from inertid_ros.motions.motion import MinimumJerk
from inertid_ros.motions.trajectory import prepare_directory, read_trajectory, sample_motion, write_trajectory

MOVE = MinimumJerk([[0.0, 1.0], [2.0, -1.0]], [1.3])
NAMES = ("one", "two")


def test_between_its_points_a_polynomial_of_the_fifth_order_is_met_exactly() -> None:
    trajectory = sample_motion(MOVE, NAMES)
    times = np.random.default_rng(0).uniform(-0.5, 2.0, 200)
    for found, expected in zip(trajectory.at(times), MOVE.at(times), strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-9)


def test_joints_are_arranged_with_all_that_belongs_to_them() -> None:
    plain = sample_motion(MOVE, NAMES)
    trajectory = replace(plain, efforts=plain.path.positions + 5.0)
    turned = trajectory.arrange(("two", "one"), "this test")
    assert turned.efforts is not None
    for part in (*turned.path, turned.efforts - 5.0 - turned.path.positions):
        assert part.shape == (len(plain.times), 2)
    np.testing.assert_array_equal(turned.path.positions, plain.path.positions[:, ::-1])
    np.testing.assert_array_equal(turned.efforts, turned.path.positions + 5.0)


@pytest.mark.parametrize("place", ["", "trajectory.yaml", "trajectory"])
def test_what_is_written_is_read_again(tmp_path: Path, place: str) -> None:
    plain = sample_motion(MOVE, NAMES)
    trajectory = replace(plain, efforts=plain.path.accelerations, stamp=12_000_000_345)
    prepare_directory(tmp_path)
    write_trajectory(tmp_path, trajectory)
    again = read_trajectory(tmp_path / place)
    assert again.joint_names == NAMES
    assert again.stamp == trajectory.stamp
    assert again.efforts is not None
    np.testing.assert_allclose(again.times, trajectory.times, atol=1e-9)
    np.testing.assert_array_equal(again.efforts, plain.path.accelerations)
    for found, expected in zip(again.path, trajectory.path, strict=True):
        np.testing.assert_array_equal(found, expected)
    with pytest.raises(FileAccessError, match="already exists"):
        prepare_directory(tmp_path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("points: []", "lacks 'joint_names'"),
        ("joint_names: [a]\npoints: [3]", "point 0 is not a mapping"),
        ("joint_names: [a]\npoints: [{positions: [1.0]}]", "lacks 'time_from_start'"),
        (
            "joint_names: [a]\npoints:\n"
            + "- {positions: [x], velocities: [0.0], accelerations: [0.0], time_from_start: {sec: 0, nanosec: 0}}\n"
            * 2,
            "not numbers",
        ),
        (
            "joint_names: [a]\npoints:\n"
            + "- {positions: [.nan], velocities: [0.0], accelerations: [0.0], time_from_start: {sec: 0, nanosec: 0}}\n"
            * 2,
            "expected 1 finite numbers",
        ),
    ],
)
def test_a_broken_file_is_named_with_the_point(tmp_path: Path, content: str, message: str) -> None:
    file = tmp_path / "motion.yaml"
    file.write_text(content)
    with pytest.raises(FileFormatError, match=message):
        read_trajectory(file)
