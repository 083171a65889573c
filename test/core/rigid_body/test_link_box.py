"""Boxes that hold a link, against bodies made of points."""

from __future__ import annotations

import numpy as np

from inertid_ros.core.records import FloatArray
from inertid_ros.core.rigid_body.inertial import compose
from inertid_ros.core.rigid_body.link_box import is_at_side, list_slacks, widen_box


def add_up(masses: FloatArray, points: FloatArray) -> FloatArray:
    """The body (10,) of point masses (N,) at (N, 3)."""
    total = float(masses.sum())
    com = masses @ points / total
    away = points - com
    inertia = (masses * np.sum(away**2, axis=1)).sum() * np.eye(3) - (masses * away.T) @ away
    return compose(total, com, inertia)


def test_points_in_a_box_leave_room_and_points_outside_do_not() -> None:
    rng = np.random.default_rng(1)
    box = np.array([[0.1, -0.2, 0.05], [0.1, 0.3, 0.2]])
    masses = rng.uniform(0.1, 1.0, 20)
    inside = box[0] + box[1] * rng.uniform(-1.0, 1.0, (20, 3))
    phi = add_up(masses, inside)
    slacks = masses.sum() * box[1] ** 2 - masses @ (inside - box[0]) ** 2
    np.testing.assert_allclose(list_slacks(box) @ phi, slacks, rtol=1e-12)
    assert np.all(slacks > 0.0)
    assert not is_at_side(box, phi)
    outside = add_up(masses, inside + np.array([0.0, 0.0, 0.25]))
    assert is_at_side(box, outside)


def test_a_box_is_widened_along_the_axes_in_which_a_body_needs_it() -> None:
    box = np.array([np.zeros(3), np.full(3, 0.1)])
    phi = compose(2.0, np.array([0.3, 0.0, 0.0]), 1e-3 * np.eye(3))
    wide = widen_box(box, phi)
    np.testing.assert_allclose(wide[1, 1:], 0.1)
    assert wide[1, 0] > 0.3
    assert not is_at_side(wide, phi)
