"""Strengths of priors against the marginal likelihood of the data, maximised by scipy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from inertid_ros.core.estimation.evidence import find_evidence
from inertid_ros.core.records import FloatArray


@pytest.mark.parametrize("believed", [0.0, 5.0])
def test_strengths_maximise_the_marginal_likelihood(believed: float) -> None:
    """With sizes that are believed, that times an inverse gamma prior of the squared strengths."""
    random = np.random.default_rng(0)
    kinds = np.repeat([0, 1, -1], [8, 12, 3])
    sizes = random.uniform(0.5, 2.0, len(kinds))
    lines = random.normal(size=(60, len(kinds)))
    values = sizes * np.array([3.0, 0.2, 1.0])[kinds] * random.normal(size=len(kinds))
    measured = lines @ values + random.normal(size=len(lines))
    found = find_evidence(lines.T @ lines, lines.T @ measured, sizes, kinds, np.ones(2), believed)

    def surprise(logarithms: FloatArray) -> float:
        widths = sizes * np.append(np.exp(logarithms), 1.0)[kinds]
        covariance = np.eye(len(lines)) + (lines * widths**2) @ lines.T
        unlikely = np.linalg.slogdet(covariance)[1] + measured @ np.linalg.solve(covariance, measured)
        return float(unlikely + believed * np.sum(2.0 * logarithms + np.exp(-2.0 * logarithms)))

    best = minimize(surprise, np.zeros(2), method="Nelder-Mead", options={"xatol": 1e-4, "fatol": 1e-6})
    np.testing.assert_allclose(found.strengths, np.exp(best.x), rtol=0.03)
    np.testing.assert_allclose(found.widths, sizes * np.append(found.strengths, 1.0)[kinds])
    precision = lines.T @ lines + np.diag(found.widths**-2.0)
    np.testing.assert_allclose(found.widths * found.mean, np.linalg.solve(precision, lines.T @ measured), rtol=1e-9)
    spread = found.root * found.widths
    np.testing.assert_allclose(spread.T @ spread, np.linalg.inv(precision), rtol=1e-9, atol=1e-12)


def test_a_step_tells_what_follows_from_the_strengths_before() -> None:
    random = np.random.default_rng(2)
    lines, kinds = random.normal(size=(30, 10)), np.repeat([0, 1], 5)
    values = np.array([1.5, 0.3])[kinds] * random.normal(size=10)
    information, pull = lines.T @ lines, lines.T @ (lines @ values + 0.1 * random.normal(size=30))
    strengths = np.array([0.5, 2.0])
    found = find_evidence(information, pull, np.ones(10), kinds, strengths, steps=1)
    np.testing.assert_array_equal(found.widths, strengths[kinds])
    for _ in range(200):
        strengths = find_evidence(information, pull, np.ones(10), kinds, strengths, steps=1).strengths
    settled = find_evidence(information, pull, np.ones(10), kinds, np.ones(2)).strengths
    np.testing.assert_allclose(strengths, settled, rtol=0.1)


def test_what_is_not_there_gets_no_width() -> None:
    random = np.random.default_rng(1)
    lines = random.normal(size=(400, 20))
    found = find_evidence(
        lines.T @ lines, lines.T @ np.full(400, 1e-6), np.ones(20), np.zeros(20, dtype=int), np.ones(1)
    )
    assert found.strengths[0] < 1e-3


def test_what_no_data_tell_of_stays_as_wide_as_is_believed() -> None:
    nothing = np.zeros((6, 6))
    found = find_evidence(nothing, np.zeros(6), np.ones(6), np.zeros(6, dtype=int), np.array([0.1]), believed=1.0)
    np.testing.assert_allclose(found.strengths, 1.0, rtol=0.01)
