"""Long runs in pieces as `benchmarks/pieces.py` makes them: what is done is not done again, unless the code changed."""

from __future__ import annotations

import importlib
import math
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))

pieces: Any = importlib.import_module("pieces")
page: Any = importlib.import_module("page")
PIECES = [("first", 1), ("second", 2), ("third", 3)]


def run(record: Any, until: float = math.inf) -> list[str]:
    """Run all pieces that are not done; returns which."""
    begun = []

    def double(name: str, number: int) -> dict[str, float]:
        begun.append(name)
        return {"twice": 2.0 * number, "nothing": math.nan}

    with ThreadPoolExecutor(1) as pool:
        pieces.run_pieces(pool, 1, double, PIECES, record, until)
    return begun


def test_a_run_goes_on_where_it_was_ended(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    before = pieces.Record(path, [], 200)
    before.add(PIECES[1], {"twice": 4.0})
    after = pieces.Record(path, [], 200)
    assert run(after) == ["first", "third"]
    assert [after[piece]["twice"] for piece in PIECES] == [2.0, 4.0, 6.0]
    assert run(pieces.Record(path, [], 200)) == []


def test_what_other_options_or_other_code_gave_is_thrown_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "run.jsonl"
    monkeypatch.setattr(pieces, "ROOT", tmp_path)
    source = tmp_path / "code.py"
    source.write_text("1")
    run(pieces.Record(path, ["*.py"], 200))
    assert len(pieces.Record(path, ["*.py"], 200)) == 3
    source.write_text("2")
    assert len(pieces.Record(path, ["*.py"], 200)) == 0
    run(pieces.Record(path, ["*.py"], 200))
    assert len(pieces.Record(path, ["*.py"], 100)) == 0


def test_no_piece_is_begun_when_time_is_over(tmp_path: Path) -> None:
    record = pieces.Record(tmp_path / "run.jsonl", [])
    with pytest.raises(page.UnfinishedError, match="0 of 3 done"):
        run(record, time.monotonic())
    assert len(record) == 0


START = """
import runpy, sys
from pathlib import Path

path = sys.path[1:]
for program in sys.argv[1:]:
    own = Path(program).parents[1]
    for name, module in list(sys.modules.items()):
        if {own / "benchmarks", own / "test"} & set(Path(getattr(module, "__file__", None) or "/").parents):
            del sys.modules[name]
    sys.path[:], sys.argv = [str(own / "benchmarks"), *path], [program, "--help"]
    try:
        runpy.run_path(program, run_name="__main__")
    except SystemExit as end:
        assert not end.code
"""
"""One after the other in one process, each with its own idea of where its modules are."""


def test_programs_start_by_their_own_names() -> None:
    """As make starts them: without the places where pytest looks for modules."""
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    folder = Path(__file__).parents[1] / "benchmarks"
    programs = [str(folder / f"{name}.py") for name in ("mutation", "faults", "fuzz", "kills", "soak")]
    command = [sys.executable, "-c", START, *programs]
    helped = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert helped.returncode == 0, helped.stderr
    helps = helped.stdout.split("usage: ")[1:]
    assert ["--write" in text for text in helps] == [True] * len(programs)
