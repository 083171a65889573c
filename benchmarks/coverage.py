"""How often 95 % intervals hold the truth: the command, see `load_coverage` and `links_coverage`.

    python benchmarks/coverage.py                                        prints the tables of loads
    python benchmarks/coverage.py --write docs/coverage.md               writes them, too
    python benchmarks/coverage.py links --write docs/links_coverage.md   those of links

Exits with 1 where a limit is missed.
"""

from __future__ import annotations

import sys

if __name__ == "coverage":
    # Benchmarks are on the path of tests and of each other, and numba imports the package of this name where it finds
    # one: it must find none here.
    raise ImportError("benchmarks/coverage.py is a command, not the package coverage")

import links_coverage
import load_coverage

if __name__ == "__main__":
    sys.exit(links_coverage.main(sys.argv[2:]) if sys.argv[1:2] == ["links"] else load_coverage.main())
