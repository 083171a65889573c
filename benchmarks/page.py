"""What benchmarks that make one page of the documentation share: how they end, and their command line."""

from __future__ import annotations

import argparse
import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from datetime import date
from pathlib import Path
from typing import TypeVar

Result = TypeVar("Result")


class UnfinishedError(Exception):
    """A page cannot be made yet, for there was no time for all that it shows."""


def find_commit() -> str:
    """The commit of the code that is measured, as git says it; with a plus if anything was changed since."""
    command = ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty=+"]
    described = subprocess.run(command, capture_output=True, text=True, check=False)
    return described.stdout.strip() or "unknown"


def end_with_parent() -> None:
    """Let the kernel kill this process as soon as the one that has started it is no more, however that came about."""
    death_signal = 1  # PR_SET_PDEATHSIG of Linux
    ctypes.CDLL(None).prctl(death_signal, signal.SIGKILL)


def run_benchmark(
    parser: argparse.ArgumentParser,
    make_page: Callable[[argparse.Namespace], tuple[str, Sequence[object]]],
    name: str,
    arguments: Sequence[str] | None = None,
) -> int:
    """Print a page, or write it to docs/NAME with --write.

    Returns what the shell is told: 1 if anything is missed, 2 if there was no time for all of it.

    Args:
        parser: knows all other options.
        make_page: makes the page by what they say, and tells what is missed.
        name: of the file.
        arguments: the command line; that of the process if None.
    """
    parser.add_argument("--write", action="store_true", help=f"write docs/{name} instead of printing it")
    options = parser.parse_args(arguments)
    try:
        page, missed = make_page(options)
    except UnfinishedError as error:
        print(error, file=sys.stderr)
        return 2
    if options.write:
        (Path(__file__).parents[1] / "docs" / name).write_text(page, encoding="utf-8")
    else:
        sys.stdout.write(page)
    return int(bool(missed))


def run_page(make_page: Callable[[int], str], name: str, runs: int, about: str) -> int:
    """The same for a page of so many runs, of which nothing can be missed.

    Args:
        make_page: makes it from so many runs.
        name: of the file.
        runs: unless the command line says otherwise.
        about: for --help.
    """
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--runs", type=int, default=runs)
    return run_benchmark(parser, lambda options: (make_page(options.runs), ()), name)


def run_seeds(once: Callable[[int], Result], runs: int) -> list[Result]:
    """The same experiment with seeds 0, 1, 2, ..., on all processors."""
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        outcomes = []
        for outcome in pool.map(once, range(runs)):
            outcomes.append(outcome)
            print(f"run {len(outcomes)} of {runs}", file=sys.stderr, flush=True)
    return outcomes


def run_section(make_section: Callable[[int], str], name: str, section: str, runs: int, about: str) -> int:
    """Print a section of a page, or write it to docs/NAME, in place of what is between its two marks there.

    Args:
        make_section: makes it from so many runs.
        name: of the file.
        section: of the marks, `<!-- SECTION -->` and `<!-- end of SECTION -->`.
        runs: unless the command line says otherwise.
        about: for --help.
    """

    def make_page(count: int) -> str:
        text = make_section(count)
        return fill_section(name, section, text) if "--write" in sys.argv else f"{text}\n"

    return run_page(make_page, name, runs, about)


def fill_section(name: str, section: str, text: str) -> str:
    """The page docs/NAME with a text between the two marks of a section."""
    page = (Path(__file__).parents[1] / "docs" / name).read_text(encoding="utf-8")
    begin, end = f"<!-- {section} -->\n", f"<!-- end of {section} -->\n"
    before, rest = page.split(begin)
    return f"{before}{begin}\n{text}\n\n{end}{rest.split(end)[1]}"


def describe_run(command: str) -> str:
    """By which command, when and of which commit a page was made."""
    return f"Made by `{command}` on {date.today().isoformat()}, of commit {find_commit()}."
