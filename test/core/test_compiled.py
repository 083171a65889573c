"""Where compiled code is kept, and that everything works where it cannot be kept at all."""

from __future__ import annotations

import ast
import json
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

import pytest

from inertid_ros.core import compiled as module

CORE = Path(module.__file__).parent
KERNEL = """
from inertid_ros.core.compiled import compiled

@compiled
def add(a, b):
    return a + b
"""
SCRIPT = """
import json, os, stat, sys, tempfile
{before}
from inertid_ros.core import compiled, lapack  # without the latter, numba imports the whole of scipy.linalg
was_compiled = compiled.is_compiled()
import kernel
found = kernel.add(1.0, 2.0)
assert compiled.is_compiled() == was_compiled, "kernels may be missing as long as nobody says that they are all there"
compiled.note_compiled()
cache = compiled._CACHE
hits = sum(kernel.add.stats.cache_hits.values()) if hasattr(kernel.add, "stats") else -1
mode = None if cache is None or not cache.is_dir() else stat.S_IMODE(cache.stat().st_mode)
print(json.dumps([found, None if cache is None else str(cache), hits, was_compiled, compiled.is_compiled(), mode]))
"""
NO_TEMPORARY_FILES = "tempfile._candidate_tempdir_list = lambda: ['/dev/null/nowhere']"


class Outcome:
    """What a process with one small kernel says."""

    def __init__(self, printed: str) -> None:
        values: list[Any] = json.loads(printed)
        self.found, cache, self.hits, self.was_compiled, self.is_compiled, self.mode = values
        self.cache = None if cache is None else Path(cache)


def run(directory: Path, before: str = "", **environment: str | None) -> Outcome:
    """Call a kernel of a module that lies in a directory that numba cannot write to."""
    source = directory / "source"
    source.mkdir(exist_ok=True)
    (source / "kernel.py").write_text(KERNEL)
    (source / "__pycache__").write_text("no directory, so nothing can be written beside the module")
    values = {name: value for name, value in os.environ.items() if not name.startswith(("NUMBA", "XDG", "TMP"))}
    path = os.pathsep.join((str(source), str(CORE.parents[1])))
    values |= {"PYTHONPATH": path, "HOME": str(directory / "home"), "TMPDIR": str(directory)}
    values = {name: value for name, value in (values | environment).items() if value is not None}
    script = SCRIPT.format(before=before)
    result = subprocess.run(
        [sys.executable, "-c", script], env=values, capture_output=True, text=True, check=False, timeout=300
    )
    assert result.returncode == 0, result.stderr
    outcome = Outcome(result.stdout)
    assert outcome.found == 3.0
    return outcome


OTHER_NUMBA = "import numba; numba.__version__ = '0.61.2'"
"""Whose files are its own business."""


@pytest.mark.parametrize("before", ["", OTHER_NUMBA])
def test_code_is_kept_in_the_user_s_cache_for_the_next_start(tmp_path: Path, before: str) -> None:
    first, second = run(tmp_path, before), run(tmp_path, before)
    assert first.cache is not None
    assert first.cache.parent == tmp_path / "home" / ".cache" / "inertid_ros"
    assert first.mode == 0o700
    assert (first.hits, first.was_compiled, first.is_compiled) == (0, False, True)
    assert (second.hits, second.was_compiled) == (1, True)


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """A home and temporary files of its own, which a test may take away."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return monkeypatch


def test_a_cache_that_is_named_comes_before_home(tmp_path: Path, places: pytest.MonkeyPatch) -> None:
    places.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    found = module._find_cache()
    assert found is not None
    assert found.parent == tmp_path / "cache" / "inertid_ros"


@pytest.mark.parametrize("home", [None, "/dev/null"])
def test_without_a_home_it_is_kept_among_temporary_files(
    tmp_path: Path, places: pytest.MonkeyPatch, home: str | None
) -> None:
    if home is None:
        places.delenv("HOME")
    else:
        places.setenv("HOME", home)
    found = module._find_cache()
    assert found is not None
    assert found.parent == tmp_path / f"inertid_ros-{os.getuid()}"
    assert stat.S_IMODE(found.stat().st_mode) == 0o700


def test_a_directory_of_somebody_else_is_not_used(places: pytest.MonkeyPatch) -> None:
    assert module._find_cache() is not None
    places.setattr(os, "getuid", lambda: 123456)
    assert module._find_cache() is None


def test_without_a_place_to_write_to_it_works_all_the_same(tmp_path: Path) -> None:
    outcome = run(tmp_path, NO_TEMPORARY_FILES, HOME="/dev/null")
    assert outcome.cache is None
    assert not outcome.is_compiled


def test_place_of_numba_s_own_setting_is_respected_and_need_not_be_writable(tmp_path: Path) -> None:
    chosen = run(tmp_path, NUMBA_CACHE_DIR=str(tmp_path / "chosen"))
    assert chosen.cache == tmp_path / "chosen"
    assert chosen.is_compiled
    run(tmp_path, NO_TEMPORARY_FILES, NUMBA_CACHE_DIR="/dev/null/nowhere", HOME=None)


def test_code_from_the_cache_is_part_of_what_is_compiled_later(tmp_path: Path) -> None:
    """It is loaded without what a compiler needs of it; what is compiled with it, and then loaded, has that too."""
    run(tmp_path)
    later = """
import kernel
from inertid_ros.core.compiled import compiled

@compiled
def add_twice(a, b):
    return kernel.add(kernel.add(a, b), b)
"""
    (tmp_path / "source" / "later.py").write_text(later)
    for hits in (0, 1):
        calls = f"""
import kernel, later
assert kernel.add(1.0, 2.0) == 3.0 and kernel.add.stats.cache_hits.total() == 1
assert later.add_twice(1.0, 2.0) == 5.0 and later.add_twice.stats.cache_hits.total() == {hits}
"""
        run(tmp_path, calls)


def test_pure_python_needs_no_compilation(tmp_path: Path) -> None:
    outcome = run(tmp_path, NUMBA_DISABLE_JIT="1")
    assert outcome.hits == -1
    assert outcome.was_compiled


def test_every_copy_of_the_kernels_has_code_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Numba knows sources by place and time: for others, nothing is compiled yet."""
    names = [module._hash_sources()]
    for part in ("bags", "core", "messages", "replay"):
        shutil.copytree(CORE.parent / part, tmp_path / part)
    monkeypatch.setattr(module, "__file__", str(tmp_path / "core" / "compiled.py"))
    names.append(module._hash_sources())
    os.utime(tmp_path / "core" / module._KERNELS[0], (1, 1))
    names.append(module._hash_sources())
    assert len(set(names)) == 3


def test_all_that_kernels_are_made_of_names_their_version() -> None:
    """Files with kernels, and those whose numbers they use: numba does not notice when these change."""
    paths = [path for part in ("bags", "core", "messages", "replay") for path in (CORE.parent / part).rglob("*.py")]
    trees = {os.path.relpath(path, CORE): ast.parse(path.read_text(encoding="utf-8")).body for path in paths}
    needed = set()
    for path, body in trees.items():
        kernels = [node for node in body if isinstance(node, ast.FunctionDef) and _is_kernel(node)]
        names = {part.id for kernel in kernels for part in ast.walk(kernel) if isinstance(part, ast.Name)}
        needed |= {path} if kernels else set()
        for node in body:
            source = (node.module or "") if isinstance(node, ast.ImportFrom) else ""
            if isinstance(node, ast.ImportFrom) and source.startswith("inertid_ros.core."):
                used = {alias.name for alias in node.names} & names - {"FloatArray", "IntArray"}
                needed |= {source.removeprefix("inertid_ros.core.").replace(".", "/") + ".py"} if used else set()
    assert needed - {"compiled.py"} == set(module._KERNELS)


def test_a_brief_kernel_holds_the_interpreter() -> None:
    """Another thread that waits for it does not come in between, unless it would be switched to anyway."""

    def add_up(count: int) -> float:
        total = 0.0
        for index in range(count):
            total += 1.0 / (1.0 + index)
        return total

    def come_in() -> None:
        begins.wait()
        ran.append(True)

    kernel = module.brief(add_up)
    kernel(1)
    ran: list[bool] = []
    begins = threading.Event()
    before = sys.getswitchinterval()
    sys.setswitchinterval(60.0)
    other = threading.Thread(target=come_in)
    try:
        other.start()
        begins.set()
        kernel(30_000_000)
        came_in_between = bool(ran)
    finally:
        sys.setswitchinterval(before)
    other.join()
    assert not came_in_between


def _is_kernel(function: ast.FunctionDef) -> bool:
    """Whether it is decorated by one of the kinds of kernels, also as `allocating(...)` or `inlined`."""
    parts = [part for item in function.decorator_list for part in ast.walk(item)]
    return any(isinstance(part, ast.Name) and part.id in {"brief", "compiled", "inlined"} for part in parts)
