"""The table of tuning constants against the code of the core."""

from __future__ import annotations

from pathlib import Path

from inertid_ros.text.constants_docs import Constant, constants_page, list_constants

ROOT = Path(__file__).parents[2]

MODULE = '''
import numpy as np

_CUTOFF = 2.5
"""Cutoff [rad/s]: what gears
pass on."""
LOW, HIGH = 0.25, 4.0
"""Limits."""
_SILENT = 3
KINDS = FIRST, SECOND = 0, 1
PLACES = range(4)
PRIOR = np.array([1.0] * 3)
"""Deviations [kg] | all."""
ORDER = np.array([0, 2, 1])
TABLE = ((1.0, 2.0), (3.0, 4.0))
NAME = "name"
count = 7.0
'''


def test_the_committed_table_is_the_generated_one() -> None:
    assert (ROOT / "docs" / "constants.md").read_text(encoding="utf-8") == constants_page()


def test_every_constant_says_what_it_does() -> None:
    silent = [f"{item.file} {item.name}" for item in list_constants() if not item.meaning]
    assert not silent


def test_numbers_are_listed_and_places_in_memory_are_not(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "module.py").write_text(MODULE, encoding="utf-8")
    assert list_constants(tmp_path) == [
        Constant("inner/module.py", "_CUTOFF", "2.5", "rad/s", "Cutoff [rad/s]: what gears pass on."),
        Constant("inner/module.py", "LOW, HIGH", "0.25, 4.0", "", "Limits."),
        Constant("inner/module.py", "_SILENT", "3", "", ""),
        Constant("inner/module.py", "PRIOR", "[1.0] * 3", "kg", "Deviations [kg] \\| all."),
    ]
