"""The notebook in examples runs from top to bottom, and finds the load."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import matplotlib as mpl
import pytest
from support.chain import BAR

NOTEBOOK = Path(__file__).parents[2] / "examples" / "identify_a_load.ipynb"
CELLS = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]


def test_the_cells_run_one_after_the_other(capsys: pytest.CaptureFixture[str]) -> None:
    mpl.use("agg")
    names: dict[str, Any] = {}
    for number, cell in enumerate(cell for cell in CELLS if cell["cell_type"] == "code"):
        exec(compile("".join(cell["source"]), f"cell {number}", "exec"), names)
    assert [event.kind for event in names["events"]] == ["load_attached"]
    assert abs(names["load"].values[0] - BAR[0]) < 0.01
    printed = capsys.readouterr().out
    assert "m      1.80" in printed
    assert printed.endswith("health: []\n")


def test_it_is_committed_without_outputs() -> None:
    assert all(not cell["outputs"] and cell["execution_count"] is None for cell in CELLS if cell["cell_type"] == "code")
