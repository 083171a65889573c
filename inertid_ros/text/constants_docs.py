"""The table of tuning constants, written from the constants of the core and the docstrings below them.

    python -m inertid_ros.text.constants_docs > docs/constants.md

A tuning constant is a number, or a few real numbers, with a name in capitals at the top of a module. Sizes, codes and
places in packed memory are not: whole numbers in a list or a tuple, results of calls, and those named below.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from inertid_ros import core

_NOT_TUNED = {"FEATURES", "GAP", "MOTION", "RESTART", "SECOND", "_HEADER"}
"""Sizes, codes and units of time that look like tuning constants."""

_PAGE = """\
# Tuning constants

Generated from `inertid_ros/core` with `python -m inertid_ros.text.constants_docs > docs/constants.md`.

What can be set without touching the code is a [parameter](parameters.md). These numbers are not meant to be set: each
follows from physics, from numerics, or from what real sensors and arms do, and the last column says from which. A row
is taken once in a decision interval of 20 ms, so 50 rows are a second. The words are those of the
[glossary](glossary.md).

| constant | value | unit | meaning, and where the value comes from |
| --- | --- | --- | --- |
"""


class Constant(NamedTuple):
    """A tuning constant: where it is, its value as written, its unit (may be empty), and its docstring."""

    file: str
    name: str
    value: str
    unit: str
    meaning: str


def list_constants(root: Path = Path(core.__path__[0])) -> list[Constant]:
    """All tuning constants of a package, by file, in the order of the file."""
    paths = sorted(root.rglob("*.py"), key=lambda path: path.relative_to(root).as_posix())
    return [found for path in paths for found in _read_constants(path, path.relative_to(root).as_posix())]


def constants_page() -> str:
    """Return the Markdown page."""
    return _PAGE + "".join(
        f"| `{item.file}` `{item.name}` | {item.value} | {item.unit} | {item.meaning} |\n" for item in list_constants()
    )


def _read_constants(path: Path, file: str) -> Iterator[Constant]:
    body: list[ast.stmt | None] = [*ast.parse(path.read_bytes()).body, None]
    for node, following in pairwise(body):
        if not isinstance(node, ast.Assign) or not _is_tuned(node.value):
            continue
        names = [name.id for name in ast.walk(node.targets[0]) if isinstance(name, ast.Name)]
        if not all(re.fullmatch("[A-Z_]+", name) for name in names) or _NOT_TUNED.intersection(names):
            continue
        meaning = _read_docstring(following)
        units = re.findall(r"\[([^]]+)\]", meaning)
        yield Constant(file, ", ".join(names), _write_value(node.value), "; ".join(dict.fromkeys(units)), meaning)


def _is_tuned(node: ast.expr) -> bool:
    """Whether an expression is a number, or a list, tuple or array of numbers of which one is not whole."""
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "np.array":
        return _is_tuned(node.args[0])
    parts = list(ast.walk(node))
    numbers = [part.value for part in parts if isinstance(part, ast.Constant)]
    if any(isinstance(part, (ast.Call, ast.Attribute, ast.Subscript, ast.Dict)) for part in parts):
        return False
    if not numbers or not all(type(number) in (int, float) for number in numbers):
        return False
    is_list = isinstance(node, (ast.Tuple, ast.List))
    is_nested = is_list and any(isinstance(part, (ast.Tuple, ast.List)) for part in parts if part is not node)
    return not is_nested and (not is_list or any(isinstance(number, float) for number in numbers))


def _read_docstring(node: ast.stmt | None) -> str:
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
        return " ".join(node.value.value.split()).replace("|", "\\|")
    return ""


def _write_value(node: ast.expr) -> str:
    value = node.args[0] if isinstance(node, ast.Call) else node
    return ast.unparse(value).strip("()")


if __name__ == "__main__":
    print(constants_page(), end="")
