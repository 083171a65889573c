"""Small mistakes as `benchmarks/mutation.py` makes them: each another one, said as what and where it is."""

from __future__ import annotations

import ast
import importlib
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))

mutation: Any = importlib.import_module("mutation")


def test_no_mutant_is_there_twice_and_none_is_the_file_itself() -> None:
    path = f"{mutation.CORE}/estimation/remembered.py"
    original = ast.unparse(ast.parse((mutation.ROOT / path).read_text()))
    numbers = [number for other, number in mutation.list_mutants() if other == path]
    texts = {ast.unparse(mutation.make_mutant(path, number).tree) for number in numbers}
    assert len(texts) == len(numbers) > 20
    assert original not in texts


def test_a_mutant_differs_in_the_line_that_is_said() -> None:
    path = f"{mutation.CORE}/estimation/states.py"
    before = ast.parse((mutation.ROOT / path).read_text())
    for number in range(10):
        mutant = mutation.make_mutant(path, number)
        changed = [
            old.lineno
            for old, new in zip(before.body, mutant.tree.body, strict=True)
            if ast.unparse(old) != ast.unparse(new)
        ]
        assert len(changed) == 1
        assert changed[0] <= mutant.line


def test_every_reason_belongs_to_a_mutant() -> None:
    for path, change in mutation.REASONS:
        assert change in mutation.list_descriptions(f"{mutation.CORE}/{path}")


def test_the_interval_of_a_share_is_the_one_of_wilson() -> None:
    """Against the closed form for none of n: from 0 to z² / (n + z²)."""
    low, high = mutation.find_interval(0, 10)
    assert abs(low) < 1e-12
    assert abs(high - 1.96**2 / (10 + 1.96**2)) < 1e-12
