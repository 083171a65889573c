"""How often 95 % intervals hold the truth: the command, see `load_coverage` and `links_coverage`.

    python benchmarks/coverage.py                                        prints the tables of loads
    python benchmarks/coverage.py --write docs/coverage.md               writes them, too
    python benchmarks/coverage.py links --write docs/links_coverage.md   those of links

Exits with 1 where a limit is missed.
"""

from __future__ import annotations

import argparse
import sys

if __name__ == "coverage":
    # Benchmarks are on the path of tests and of each other, and numba imports the package of this name where it finds
    # one: it must find none here.
    raise ImportError("benchmarks/coverage.py is a command, not the package coverage")

from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from types import ModuleType

import links_coverage
import load_coverage


def main(benchmark: ModuleType, program: str | None, arguments: Sequence[str]) -> int:
    """Run all conditions, print and perhaps write the tables, fail if a limit is missed."""
    conditions = benchmark.CONDITIONS
    parser = argparse.ArgumentParser(prog=program, description=(benchmark.__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=200, help="seeded runs of each condition (default 200)")
    parser.add_argument("--workers", type=int, default=2, help="processes (default 2)")
    parser.add_argument("--write", type=Path, metavar="FILE", help="write the tables to this file, too")
    parser.add_argument("conditions", nargs="*", metavar="CONDITION", help=f"of {', '.join(conditions)}; all if none")
    options = parser.parse_args(arguments)
    if unknown := set(options.conditions) - set(conditions):
        parser.error(f"unknown conditions: {', '.join(sorted(unknown))}")
    own, default, missed = {}, {}, []
    with ProcessPoolExecutor(options.workers, mp_context=get_context("spawn")) as pool:
        for name in options.conditions or conditions:
            own[name], default[name] = benchmark.run_many(name, options.runs, pool)
            row, lines = benchmark.judge(name, own[name])
            missed += lines
            print(row, file=sys.stderr, flush=True)
    page = benchmark.format_page(own, default, options.runs, missed)
    print(page)
    if options.write:
        options.write.write_text(page, encoding="utf-8")
    return 1 if missed else 0


if __name__ == "__main__":
    is_of_links = sys.argv[1:2] == ["links"]
    found = (links_coverage, "coverage.py links", sys.argv[2:]) if is_of_links else (load_coverage, None, sys.argv[1:])
    sys.exit(main(*found))
