"""LAPACK by scipy, and of scipy nothing else: `scipy.linalg` imports sparse matrices, f2py and unittest as well.

That takes a tenth of a second, a good part of what a short recording takes. The routines are those of
`scipy.linalg.lapack`, with the same arguments.
"""

from __future__ import annotations

import sys
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from pathlib import Path
from typing import Any

import numpy as np
import scipy

from inertid_ros.core.records import FloatArray


def _load(name: str) -> Any:
    """A module of `scipy.linalg` by itself, which is found there too if somebody imports the rest later."""
    full = f"scipy.linalg.{name}"
    if full not in sys.modules:
        spec = PathFinder.find_spec(full, [str(Path(folder) / "linalg") for folder in scipy.__path__])
        if spec is None or spec.loader is None:
            raise ImportError(f"scipy has no {full}: install scipy 1.8 or later", name=full)
        module = module_from_spec(spec)
        spec.loader.exec_module(module)
        sys.modules[full] = module
    return sys.modules[full]


_load("cython_blas")  # numba looks for it as soon as a kernel is loaded
_ROUTINES = _load("_flapack")
dposv: Any = _ROUTINES.dposv
dpotrf: Any = _ROUTINES.dpotrf
dtpmqrt: Any = _ROUTINES.dtpmqrt
dtpqrt: Any = _ROUTINES.dtpqrt
dtrtri: Any = _ROUTINES.dtrtri
dtrtrs: Any = _ROUTINES.dtrtrs


def solve_triangular(factor: FloatArray, right: FloatArray, *, lower: bool = False, turned: bool = False) -> FloatArray:
    """Solve R x = b for x (n, k) with a triangular matrix (n, n), or Rᵀ x = b; LinAlgError if it is singular."""
    found, failed = dtrtrs(factor, right, lower=lower, trans=turned)
    if failed:
        raise np.linalg.LinAlgError(f"singular matrix: diagonal number {failed} of a triangular one is zero")
    return np.asarray(found)
