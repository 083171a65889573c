"""How often 95 % intervals hold the truth: the command, see `load_coverage` and `links_coverage`.

    python benchmarks/coverage.py                  prints the tables of loads
    python benchmarks/coverage.py --write          writes docs/coverage.md
    python benchmarks/coverage.py links --write    docs/links_coverage.md

With --keep DIRECTORY, conditions can be run one by one, and the last command makes the page of all of them.
Exits with 1 where a limit is missed.
"""

from __future__ import annotations

import argparse
import pickle
import sys

if __name__ == "coverage":
    # Benchmarks are on the path of tests and of each other, and numba imports the package of this name where it finds
    # one: it must find none here.
    raise ImportError("benchmarks/coverage.py is a command, not the package coverage")

from collections.abc import Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from types import ModuleType
from typing import Any

import links_coverage
import load_coverage
from page import run_benchmark


def run_or_recall(benchmark: ModuleType, name: str, runs: int, pool: Executor, kept: Path | None) -> tuple[Any, Any]:
    """Both outcomes of a condition; from a file if they are kept in it, which they are from then on."""
    if kept is not None and kept.exists():
        own, default = pickle.loads(kept.read_bytes())
        return own, default
    own, default = benchmark.run_many(name, runs, pool)
    if kept is not None:
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_bytes(pickle.dumps((own, default)))
    return own, default


def main(benchmark: ModuleType, program: str | None, page: str, arguments: Sequence[str]) -> int:
    """Run all conditions, and print or write the tables; 1 if a limit is missed."""
    conditions = benchmark.CONDITIONS
    parser = argparse.ArgumentParser(prog=program, description=(benchmark.__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=200, help="seeded runs of each condition (default 200)")
    parser.add_argument("--workers", type=int, default=2, help="processes (default 2)")
    parser.add_argument("--keep", type=Path, help="keep outcomes in this directory, and take those that are there")
    parser.add_argument("conditions", nargs="*", metavar="CONDITION", help=f"of {', '.join(conditions)}; all if none")

    def make_page(options: argparse.Namespace) -> tuple[str, list[str]]:
        if unknown := set(options.conditions) - set(conditions):
            parser.error(f"unknown conditions: {', '.join(sorted(unknown))}")
        own, default, missed = {}, {}, []
        with ProcessPoolExecutor(options.workers, mp_context=get_context("spawn")) as pool:
            for name in options.conditions or conditions:
                kept = options.keep and options.keep / f"{benchmark.__name__}-{name}-{options.runs}.pickle"
                own[name], default[name] = run_or_recall(benchmark, name, options.runs, pool, kept)
                row, lines = benchmark.judge(name, own[name])
                missed += lines
                print(row, file=sys.stderr, flush=True)
        return benchmark.format_page(own, default, options.runs, missed), missed

    return run_benchmark(parser, make_page, page, arguments)


if __name__ == "__main__":
    is_of_links = sys.argv[1:2] == ["links"]
    if is_of_links:
        sys.exit(main(links_coverage, "coverage.py links", "links_coverage.md", sys.argv[2:]))
    sys.exit(main(load_coverage, None, "coverage.md", sys.argv[1:]))
