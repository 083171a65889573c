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

_NAME = "scipy.linalg._flapack"


def _load() -> Any:
    """The module with the routines, which `scipy.linalg` finds there too if somebody imports it later."""
    if _NAME not in sys.modules:
        spec = PathFinder.find_spec(_NAME, [str(Path(folder) / "linalg") for folder in scipy.__path__])
        if spec is None or spec.loader is None:
            raise ImportError(f"scipy has no {_NAME}: install scipy 1.8 or later", name=_NAME)
        module = module_from_spec(spec)
        spec.loader.exec_module(module)
        sys.modules[_NAME] = module
    return sys.modules[_NAME]


_ROUTINES = _load()
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
