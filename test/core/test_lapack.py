"""LAPACK without the rest of scipy."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
import scipy.linalg

from inertid_ros.core import lapack

HEAVY = ("asyncio", "matplotlib", "numpy.f2py", "plotly", "rich", "scipy.linalg", "scipy.special", "unittest")


@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("turned", [False, True])
def test_triangular_systems_are_solved(lower: bool, turned: bool) -> None:
    random = np.random.default_rng(0)
    factor, right = random.normal(size=(20, 20)) + 10.0 * np.eye(20), random.normal(size=(20, 3))
    triangle = np.tril(factor) if lower else np.triu(factor)
    found = lapack.solve_triangular(factor, right, lower=lower, turned=turned)
    np.testing.assert_allclose(found, np.linalg.solve(triangle.T if turned else triangle, right), rtol=1e-12)


def test_a_singular_system_is_refused() -> None:
    with pytest.raises(np.linalg.LinAlgError, match="number 2"):
        lapack.solve_triangular(np.diag([1.0, 0.0, 1.0]), np.ones((3, 1)))


def test_scipy_has_the_same_routines() -> None:
    assert scipy.linalg.lapack.dpotrf is lapack.dpotrf


def test_a_replay_imports_nothing_heavy_that_it_does_not_need() -> None:
    """Nor does numba when it loads a kernel."""
    script = f"""
import sys
import inertid_ros.cli.replay
import numba.np.arraymath
print([name for name in {HEAVY} if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=120)
    assert done.stdout.strip() == "[]"
