"""Compilation of the kernels, the plain loops that every sample goes through, by numba.

Compiled code is cached in a directory of its own for each version of the kernels: numba itself would not notice that a
function called from another file has changed. The directory is in the user's cache, or, where there is none that can be
written to, among the temporary files; without either the kernels are compiled at every start. NUMBA_CACHE_DIR, where it
is set, and NUMBA_DISABLE_JIT=1, which runs the same loops in pure Python, are respected.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Protocol, TypeVar, cast

from numba import __version__ as numba_version
from numba import config as numba_config
from numba import njit
from numba import typeof as numba_typeof

from inertid_ros.core.records import FloatArray

config: Any = numba_config
typeof: Any = numba_typeof
Function = TypeVar("Function", bound=Callable[..., Any])

_KNOWN_NUMBA = "0.68."
"""The version whose cache `kernel_cache` can read; any other one reads its own, which takes a second longer."""
_KERNELS = (
    "checks/effort_convention.py",
    "checks/effort_faults.py",
    "checks/gravity_hypotheses.py",
    "checks/sensor_faults.py",
    "checks/wrench_convention.py",
    "equations/load.py",
    "equations/signals.py",
    "estimation/channels.py",
    "estimation/cholesky.py",
    "estimation/damping.py",
    "estimation/folding.py",
    "estimation/kinematic_errors.py",
    "estimation/products.py",
    "estimation/sensor_equation.py",
    "estimation/systematic.py",
    "estimation/tracking.py",
    "input/arrivals.py",
    "input/base_tilt.py",
    "input/joint_clock.py",
    "input/joint_samples.py",
    "input/joint_stream.py",
    "input/reading_samples.py",
    "input/segments.py",
    "input/smoothing.py",
    "input/timeline.py",
    "robot/tree.py",
    "rows/advance.py",
    "rows/arrival.py",
    "rows/energy.py",
    "rows/making.py",
    "rows/memory.py",
    "rows/rounding.py",
    "rows/rows.py",
    "rows/standstill.py",
    "rows/tilt.py",
    "tasks/arm_rows.py",
    "tasks/following.py",
    "../bags/sqlite_pages.py",
    "../messages/cdr_layout.py",
    "../replay/recorder.py",
    "../replay/residuals.py",
)
"""The files that hold kernels, relative to this one."""


def _mark() -> Path | None:
    """The file that says that all kernels are in the cache, which may be that of several versions."""
    return None if _CACHE is None else _CACHE / f"complete-{_hash_sources()}"


def _hash_sources() -> str:
    """What identifies the kernels: the text of all their files, and their place and time, by which numba knows them."""
    here = Path(__file__).parent
    digest = hashlib.sha256(str(here).encode())
    for name in _KERNELS:
        digest.update(str((here / name).stat().st_mtime_ns).encode() + (here / name).read_bytes())
    return digest.hexdigest()[:16]


def _find_cache() -> Path | None:
    """A directory for compiled code that this user can write to and nobody else can; None if there is none."""
    own = os.environ.get("XDG_CACHE_HOME") or (str(Path.home() / ".cache") if os.environ.get("HOME") else "")
    user = os.getuid() if hasattr(os, "getuid") else 0
    candidates = [Path(own) / "inertid_ros"] if own else []
    try:
        candidates.append(Path(tempfile.gettempdir()) / f"inertid_ros-{user}")
    except FileNotFoundError:  # a read-only system
        pass
    for candidate in candidates:
        try:
            candidate.mkdir(mode=0o700, parents=True, exist_ok=True)
            if candidate.stat().st_uid != user or not os.access(candidate, os.W_OK):
                continue
            path = candidate / _hash_sources()
            path.mkdir(mode=0o700, exist_ok=True)
        except OSError:
            continue
        return path
    return None


def _set_cache() -> Path | None:
    if config.CACHE_DIR:
        return Path(config.CACHE_DIR)
    path = _find_cache()
    if path is not None:
        config.CACHE_DIR = str(path)
    return path


_CACHE = _set_cache()


def is_compiled() -> bool:
    """Whether compiled kernels are all there already; where they are not, the first samples wait for a minute."""
    return bool(config.DISABLE_JIT) or ((mark := _mark()) is not None and mark.exists())


def note_compiled() -> None:
    """Note that all kernels are in the cache: compilation that was interrupted goes on where it was."""
    mark = _mark()
    if mark is not None and not config.DISABLE_JIT:
        with suppress(OSError):  # the next start says once more that it compiles
            mark.touch()


def compiled(function: Function, *, allocates: bool = False) -> Function:
    """Compile a function at its first call, and keep the result where that is possible. It releases the GIL."""
    return _compile(function, nogil=True, _nrt=allocates)


def brief(function: Function, *, allocates: bool = False) -> Function:
    """Compile a function that takes microseconds, and holds the GIL.

    What is done for every message must not let go of it between two kernels: a worker thread that waits for it would
    take it, and hand it back only after the interpreter's switch interval.
    """
    return _compile(function, nogil=False, _nrt=allocates)


def inlined(function: Function) -> Function:
    """Compile a small function into every kernel that calls it: to call it would cost more than what it does."""
    return _compile(function, nogil=True, _nrt=False, forceinline=True)


class Decorator(Protocol):
    """Compiles a function."""

    def __call__(self, function: Function, /) -> Function:
        """The compiled one."""


def allocating(kind: Callable[..., Any]) -> Decorator:
    """Either of the first two kinds, of a kernel that makes arrays.

    The others do without numba's runtime: it counts references, at every slice of an array, by atomic operations that
    cost more than the work of small kernels does.
    """
    return cast(Decorator, partial(kind, allocates=True))


def _do_nothing() -> None:
    """Do without extensions of numba: kernels take arrays and numbers, and looking for extensions takes a while."""


def _compile(function: Function, **options: Any) -> Function:
    """Compile; a division by zero gives infinity, which needs no check before each one."""
    options["error_model"] = "numpy"
    if not numba_version.startswith(_KNOWN_NUMBA):
        try:
            return cast(Function, njit(cache=_CACHE is not None, **options)(function))
        except RuntimeError:  # numba finds no place for this file's code in the cache after all
            return cast(Function, njit(**options)(function))
    kernel: Any = njit(**options)(function)
    if _CACHE is not None and not config.DISABLE_JIT:
        from inertid_ros.core.kernel_cache import KernelCache

        kernel._cache = KernelCache(function)  # noqa: SLF001 - as `enable_caching` of the kernel does
        kernel._compilation_chain_init_hook = _do_nothing  # noqa: SLF001
    return cast(Function, kernel)


def specialise(kernel: Function, *examples: object) -> Function:
    """A kernel for arguments of exactly the types that these examples have.

    It does not look at them again, which is half of what a call costs: only for arrays that this package has made.
    """
    if config.DISABLE_JIT:
        return kernel
    dispatcher: Any = kernel
    return cast(Function, dispatcher.compile(tuple(typeof(example) for example in examples)))


@inlined
def copy_numbers(source: FloatArray, target: FloatArray) -> None:
    """Copy all of an array (N,) to the beginning of another; a slice assignment would allocate, lest they overlap."""
    for index in range(len(source)):
        target[index] = source[index]
