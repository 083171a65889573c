"""The command line of benchmarks that make one page of the documentation."""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path


def find_commit() -> str:
    """The commit of the code that is measured, as git says it; with a plus if anything was changed since."""
    command = ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty=+"]
    described = subprocess.run(command, capture_output=True, text=True, check=False)
    return described.stdout.strip() or "unknown"


def run_page(make_page: Callable[[int], str], name: str, runs: int, about: str) -> int:
    """Print a page, or write it to docs/NAME.

    Args:
        make_page: makes it from so many runs.
        name: of the file.
        runs: unless the command line says otherwise.
        about: for --help.
    """
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--runs", type=int, default=runs)
    parser.add_argument("--write", action="store_true", help=f"write docs/{name}")
    options = parser.parse_args()
    page = make_page(options.runs)
    if options.write:
        (Path(__file__).parents[1] / "docs" / name).write_text(page, encoding="utf-8")
    else:
        sys.stdout.write(page)
    return 0
