"""The direction of the imports is the architecture: this holds it."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from inertid_ros.text.architecture_picture import read_imports

ROOT = Path(__file__).parents[1]
PACKAGE = "inertid_ros"

# What each part may import of the package itself. "" is the package's own __init__, which holds the version.
LAYERS = {
    "core": {"core"},
    "": set(),
    "text": {"core", "text"},
    "objects": {"core", "objects", "text"},
    "files": {"", "core", "files", "objects", "text"},
    "messages": {"core", "messages"},
    "bags": {"bags", "core", "files", "messages"},
    "motions": {"bags", "core", "files", "motions"},
    "control": {"control", "core", "files", "motions"},
    "guide": {"core", "guide", "motions"},
    "sim": {"control", "core", "files", "motions", "sim"},
    "replay": {"bags", "core", "files", "messages", "objects", "replay", "report", "text"},
    "report": {"", "control", "core", "files", "replay", "report", "text"},
    "view": {"core", "guide", "motions", "replay", "text", "view"},
    "api": {"bags", "core", "files", "replay"},
    "ros": {"control", "core", "files", "messages", "motions", "objects", "ros", "sim", "text"},
    "cli": {
        "",
        "bags",
        "cli",
        "control",
        "core",
        "files",
        "guide",
        "motions",
        "objects",
        "replay",
        "report",
        "ros",
        "sim",
        "text",
        "view",
    },
}
# The parts that know no ROS, and the libraries they may use.
LIBRARIES = {
    "core": {"numba", "numpy", "scipy", "pinocchio"},
    "text": {"numpy"},
    "objects": {"numpy", "scipy"},
    "files": {"ament_index_python", "numpy", "pinocchio", "rosbags", "xacro", "yaml"},
    "messages": {"numpy"},
    "bags": {"numpy", "rosbags", "yaml"} | {"backports", "compression", "lz4"},  # with which rosbags unpacks
    "motions": {"numpy", "scipy", "pinocchio", "rosbags", "yaml"},
    "control": {"numpy", "scipy"},
    "guide": {"numpy"},
    "sim": {"numpy", "scipy", "pinocchio", "yaml"},
    "replay": {"dask", "distributed", "numpy", "scipy", "pinocchio", "rosbags"},
    "report": {"numpy", "matplotlib"},
    "view": {"numpy", "pinocchio", "viser", "websockets"},
    "api": set(),
}
# The parts that may take the clock and other processes: to show how long it still takes, and to work in parallel.
MAY_WAIT = {"bags", "files", "replay", "report"}
# Elsewhere time comes from the stamps and findings leave as values: no clock, no logger, no thread, no process.
BANNED = {"asyncio", "datetime", "logging", "multiprocessing", "socket", "subprocess", "threading", "time"}


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in sorted((ROOT / PACKAGE).rglob("*.py"))}


def layer_of(module: str) -> str:
    """The part a module belongs to: the package below inertid_ros, or "" for a module right inside it."""
    below = module.split(".")[1:]
    return below[0] if below and (ROOT / PACKAGE / below[0]).is_dir() else ""


@cache
def list_imports(path: Path) -> tuple[str, ...]:
    """The modules a file imports, wherever in the file; `from package import module` gives the module."""
    return tuple(_iterate_imports(path))


def _iterate_imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name} imports relatively in line {node.lineno}"
            assert node.module is not None
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield inner if inner in MODULES else node.module


def iterate_repository_texts() -> Iterator[tuple[Path, str]]:
    """Walk over all text files of the repository that are not hidden, built or fetched."""
    skipped = {"build", "install", "log", "dist"}
    tops = [path for path in ROOT.iterdir() if path.name == ".ci" or not path.name.startswith(".")]
    tops = [path for path in tops if path.name not in skipped and path.suffix != ".egg-info"]
    for path in (path for top in tops for path in (top.rglob("*") if top.is_dir() else [top])):
        if path.is_file() and path.suffix != ".pyc":
            try:
                yield path, path.read_text(encoding="utf-8")
            except UnicodeDecodeError:
                continue


def test_all_parts_are_known() -> None:
    assert {layer_of(module) for module in MODULES} <= set(LAYERS)


@pytest.mark.parametrize("module", MODULES)
def test_module_imports_only_from_its_own_part_and_those_below(module: str) -> None:
    own = [name for name in list_imports(MODULES[module]) if name.split(".")[0] == PACKAGE]
    upward = [name for name in own if layer_of(name) not in LAYERS[layer_of(module)]]
    assert not upward, f"{module} may not import {upward}"


@pytest.mark.parametrize("module", [module for module in MODULES if layer_of(module) in LIBRARIES])
def test_what_knows_no_ros_uses_its_own_libraries_alone(module: str) -> None:
    roots = {name.split(".")[0] for name in list_imports(MODULES[module])}
    foreign = roots - LIBRARIES[layer_of(module)] - set(sys.stdlib_module_names) - {PACKAGE}
    assert not foreign, f"{module} may not import {sorted(foreign)}"
    if layer_of(module) not in MAY_WAIT:
        assert not roots & BANNED, f"{module} may not import {sorted(roots & BANNED)}"


def test_the_picture_shows_what_is_allowed() -> None:
    """It reads the imports in a way of its own."""
    graph = read_imports()
    assert set(graph) == set(LAYERS) - {""}
    for part, used in graph.items():
        own = {
            layer_of(name)
            for module in MODULES
            if layer_of(module) == part
            for name in list_imports(MODULES[module])
            if name.split(".")[0] == PACKAGE
        }
        assert used == own - {part, ""}
        assert used <= LAYERS[part]


def test_no_module_imports_itself_through_others() -> None:
    graph = {
        module: {name for name in list_imports(path) if name in MODULES and name != module}
        for module, path in MODULES.items()
    }
    order = list(TopologicalSorter(graph).static_order())  # raises CycleError, which names the modules of a cycle
    assert set(order) == set(MODULES)


def test_cycles_would_be_found() -> None:
    with pytest.raises(ValueError, match="cycle"):
        TopologicalSorter({"a": {"b"}, "b": {"c"}, "c": {"a"}}).prepare()


def test_no_file_names_a_path_of_one_machine() -> None:
    machine_path = re.compile(r"(?<![\w.~$}/-])/(?:home|root|Users|work|tmp|mnt)/\w")
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path, text in iterate_repository_texts()
        for number, line in enumerate(text.splitlines(), start=1)
        if machine_path.search(line)
    ]
    assert not found, "\n".join(found)
