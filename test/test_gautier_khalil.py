"""A few runs of the benchmark whose full table is in docs/energy_model.md."""

from __future__ import annotations

import numpy as np
import pytest
from gautier_khalil import COLUMNS, LENGTH, STEP, THEIRS, TRUTH, find_errors, make_arm, make_motion, run_many

from inertid_ros.core.rows.energy import EnergyRows

pytestmark = pytest.mark.long


def test_columns_are_those_of_the_paper() -> None:
    arm = make_arm()
    samples = make_motion(arm)
    rows = EnergyRows(arm, STEP, 1.0, viscous=False, coulomb=False, rotor_inertia=False, offset=False)
    found = rows.process(np.column_stack(samples)).rows.cumsum(axis=0)[:, COLUMNS]
    (first, second), elbow = samples.velocities[1:].T, samples.positions[1:, 1]
    both = first + second
    cosine, sine = LENGTH * both * first * np.cos(elbow), -LENGTH * both * first * np.sin(elbow)
    np.testing.assert_allclose(found, np.stack((first**2 / 2, both**2 / 2, cosine, sine), axis=1), atol=1e-12)
    assert abs(arm.parameters[[9, 10]] @ [1.0, LENGTH**2] - TRUTH[0]) < 1e-12


def test_motion_keeps_their_limits() -> None:
    samples = make_motion(make_arm())
    np.testing.assert_allclose(np.abs(samples.velocities).max(axis=0), [1.0, 2.0], rtol=1e-3)
    assert not samples.velocities[0].any()


def test_errors_are_no_worse_than_theirs() -> None:
    plain, smoothed = run_many(40)
    assert np.all(np.median(smoothed, axis=0) < THEIRS)
    assert np.all(np.median(smoothed, axis=0) < 0.5 * np.median(plain, axis=0))


def test_without_noise_only_the_integrals_err() -> None:
    arm = make_arm()
    assert np.all(find_errors(arm, make_motion(arm)) < 2e-3)
