"""The same loops in pure Python: a reader can step through them, and they give the same numbers."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from support.short_runs import CASES, run_case

from inertid_ros.core.records import FloatArray

TEST = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def interpreted(tmp_path_factory: pytest.TempPathFactory) -> dict[str, FloatArray]:
    """Results of a process in which nothing is compiled."""
    path = tmp_path_factory.mktemp("pure") / "results.pickle"
    paths = os.pathsep.join((str(TEST), str(TEST.parent), os.environ.get("PYTHONPATH", "")))
    result = subprocess.run(
        [sys.executable, "-m", "support.short_runs", str(path)],
        env=os.environ | {"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert result.returncode == 0, result.stderr
    results: dict[str, FloatArray] = pickle.loads(path.read_bytes())
    return results


@pytest.mark.parametrize("name", CASES)
def test_pure_python_gives_the_same_numbers(name: str, interpreted: dict[str, FloatArray]) -> None:
    assert interpreted["is_pure"]
    deviations = np.sqrt(np.diag(interpreted[f"{name}.covariance"]))
    for key, found in run_case(name).items():
        expected = interpreted[f"{name}.{key}"]
        assert found.shape == expected.shape
        if key == "covariance":
            scale = np.outer(deviations, deviations)
        elif key == "values":
            scale = np.abs(expected) + deviations
        else:
            scale = np.abs(expected).max(axis=0, initial=0.0) + 0.0 * expected
        np.testing.assert_array_less(np.abs(found - expected), 1e-12 * scale + 1e-300, err_msg=f"{name}.{key}")
