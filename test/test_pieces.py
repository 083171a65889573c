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


@pytest.mark.parametrize("name", ["faults", "fuzz", "kills", "mutation", "soak"])
def test_a_program_starts_by_its_own_name(name: str) -> None:
    """As make starts it: without the places where pytest looks for modules."""
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    program = Path(__file__).parents[1] / "benchmarks" / f"{name}.py"
    command = [sys.executable, str(program), "--help"]
    helped = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert helped.returncode == 0, helped.stderr
    assert "--write" in helped.stdout
