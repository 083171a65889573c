"""How often 95 % intervals hold the truth: the command, see `load_coverage`.

    python benchmarks/coverage.py                            prints the tables
    python benchmarks/coverage.py --write docs/coverage.md   writes them, too

Exits with 1 where a limit is missed.
"""

from __future__ import annotations

import sys

if __name__ == "coverage":
    # Benchmarks are on the path of tests and of each other, and numba imports the package of this name where it finds
    # one: it must find none here.
    raise ImportError("benchmarks/coverage.py is a command, not the package coverage")

from load_coverage import main

if __name__ == "__main__":
    sys.exit(main())
