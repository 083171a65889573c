"""Numbers that someone chose say where they come from."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

CORE = Path(__file__).parents[2] / "inertid_ros" / "core"
CONSTANT = re.compile(r"_?[A-Z][A-Z0-9_]*")


def find_names(node: ast.stmt) -> list[str]:
    """Names of constants that a statement assigns numbers to; places and counters made by range() are not chosen."""
    if isinstance(node, ast.Assign):
        targets, value = node.targets, node.value
    elif isinstance(node, ast.AnnAssign) and node.value is not None:
        targets, value = [node.target], node.value
    else:
        return []
    names = [part.id for target in targets for part in ast.walk(target) if isinstance(part, ast.Name)]
    parts = list(ast.walk(value))
    is_number = any(isinstance(part, ast.Constant) and type(part.value) in (int, float) for part in parts)
    is_text = any(isinstance(part, ast.Constant) and isinstance(part.value, str) for part in parts)
    is_range = any(isinstance(part, ast.Name) and part.id == "range" for part in parts)
    chosen = is_number and not is_text and not is_range
    return [name for name in names if CONSTANT.fullmatch(name)] if chosen else []


def is_docstring(node: ast.stmt | None) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


@pytest.mark.parametrize("path", sorted(CORE.rglob("*.py")), ids=lambda path: str(path.relative_to(CORE)))
def test_every_number_has_a_reason(path: Path) -> None:
    body = ast.parse(path.read_text(encoding="utf-8")).body
    following = [*body[1:], None]
    silent = [
        name
        for node, after in zip(body, following, strict=True)
        for name in find_names(node)
        if not is_docstring(after)
    ]
    assert silent == []


def test_the_numbers_are_found() -> None:
    """What this test looks for is there at all: a hundred constants and more."""
    bodies = [ast.parse(path.read_text(encoding="utf-8")).body for path in CORE.rglob("*.py")]
    assert sum(len(find_names(node)) for body in bodies for node in body) > 100
