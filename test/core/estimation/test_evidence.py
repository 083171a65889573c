"""Strengths of priors against the marginal likelihood of the data, maximised by scipy."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize

from inertid_ros.core.estimation.evidence import find_evidence
from inertid_ros.core.records import FloatArray


def test_strengths_maximise_the_marginal_likelihood() -> None:
    random = np.random.default_rng(0)
    kinds = np.repeat([0, 1, -1], [8, 12, 3])
    sizes = random.uniform(0.5, 2.0, len(kinds))
    lines = random.normal(size=(60, len(kinds)))
    values = sizes * np.array([3.0, 0.2, 1.0])[kinds] * random.normal(size=len(kinds))
    measured = lines @ values + random.normal(size=len(lines))
    found = find_evidence(lines.T @ lines, lines.T @ measured, sizes, kinds, np.ones(2))

    def surprise(logarithms: FloatArray) -> float:
        widths = sizes * np.append(np.exp(logarithms), 1.0)[kinds]
        covariance = np.eye(len(lines)) + (lines * widths**2) @ lines.T
        return float(np.linalg.slogdet(covariance)[1] + measured @ np.linalg.solve(covariance, measured))

    best = minimize(surprise, np.zeros(2), method="Nelder-Mead", options={"xatol": 1e-4, "fatol": 1e-6})
    np.testing.assert_allclose(found.strengths, np.exp(best.x), rtol=0.03)
    np.testing.assert_allclose(found.widths, sizes * np.append(found.strengths, 1.0)[kinds])
    precision = lines.T @ lines + np.diag(found.widths**-2.0)
    np.testing.assert_allclose(found.widths * found.mean, np.linalg.solve(precision, lines.T @ measured), rtol=1e-9)


def test_what_is_not_there_gets_no_width() -> None:
    random = np.random.default_rng(1)
    lines = random.normal(size=(400, 20))
    found = find_evidence(
        lines.T @ lines, lines.T @ np.full(400, 1e-6), np.ones(20), np.zeros(20, dtype=int), np.ones(1)
    )
    assert found.strengths[0] < 1e-3
