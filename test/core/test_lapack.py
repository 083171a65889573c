"""LAPACK without the rest of scipy."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.linalg
from support.bags import puma_messages, write_bag

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


def list_imported(commands: str, names: tuple[str, ...]) -> str:
    """Which of some modules are imported after commands in a process of their own."""
    script = f"import sys; {commands}; print([name for name in {names} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=120)
    return done.stdout.splitlines()[-1]


def test_a_replay_imports_nothing_heavy_that_it_does_not_need() -> None:
    assert list_imported("import inertid_ros.cli.replay", HEAVY) == "[]"


def test_neither_do_its_kernels(tmp_path: Path) -> None:
    """Numba would import what it needs to compile them."""
    bag = write_bag(tmp_path / "bag", puma_messages(3.0))
    command = ["replay", str(bag), "-o", str(tmp_path / "out"), "--force"]
    commands = f"from inertid_ros.cli.main import main; main({command})"
    list_imported(commands, ())  # compiles what is not in the cache yet
    assert list_imported(commands, ("numba.np.arraymath", "numpy.f2py", "scipy.linalg")) == "[]"
    assert (tmp_path / "out" / "estimate.json").exists()
