"""Long runs in pieces: what came of each piece is kept, so that a run that was ended goes on where it was.

A line of build/NAME.jsonl is one piece: its key and its result. The first line says of which code and options they are;
those of others are thrown away.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import os
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from page import UnfinishedError, end_with_parent

sys.path.insert(0, str(Path(__file__).parents[1] / "test"))

from support.domains import claim_domain

ROOT = Path(__file__).parents[1]
PACKAGE = ("inertid_ros/**/*.py", "config/**/*.yaml", "urdf/**/*")
"""Files that all results depend on."""
_claimed = ExitStack()
"""Holds the domain of this process until it ends."""

Piece = tuple[Any, ...]


class Record:
    """Results by piece, both of what JSON knows, kept in a file as they come."""

    def __init__(self, path: Path, code: Iterable[str], *options: object) -> None:
        """Take up what is in a file if it is of the same code and options, else begin it anew.

        Args:
            path: of the file.
            code: patterns of files beside the package on which results depend.
            options: what else they depend on.
        """
        self._path = path
        self._results: dict[str, Any] = {}
        head = json.dumps([hash_files([*PACKAGE, *code]), *options])
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        if lines[:1] == [head]:
            self._results = {json.dumps(piece): result for piece, result in map(json.loads, lines[1:])}
        else:
            path.parent.mkdir(exist_ok=True)
            path.write_text(f"{head}\n", encoding="utf-8")

    def __contains__(self, piece: Piece) -> bool:
        """Whether a piece is done."""
        return json.dumps(piece) in self._results

    def __len__(self) -> int:
        """How many are."""
        return len(self._results)

    def __getitem__(self, piece: Piece) -> Any:
        """What came of a piece."""
        return self._results[json.dumps(piece)]

    def add(self, piece: Piece, result: object) -> None:
        """Keep what came of a piece."""
        with self._path.open("a", encoding="utf-8") as file:
            file.write(f"{json.dumps([piece, result])}\n")
        self._results[json.dumps(piece)] = result


def hash_files(patterns: Iterable[str]) -> str:
    """Digest of names and contents of all files that match."""
    digest = hashlib.sha256()
    for path in sorted({path for pattern in patterns for path in ROOT.glob(pattern) if path.is_file()}):
        digest.update(str(path.relative_to(ROOT)).encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def run_pieces(
    pool: Executor, processes: int, run: Callable[..., Any], pieces: Sequence[Piece], record: Record, until: float
) -> None:
    """Run all pieces that are not done; UnfinishedError if others are left at the time.monotonic() `until`.

    Args:
        pool: runs them.
        processes: how many at a time.
        run: is given the parts of a piece; returns what JSON knows.
        pieces: all of them.
        record: has those that are done, and is given the others.
        until: when no further one is begun.
    """
    left = [piece for piece in pieces if piece not in record]
    begun: dict[Future[Any], Piece] = {}
    while left or begun:
        while left and len(begun) < processes and time.monotonic() < until:
            piece = left.pop(0)
            begun[pool.submit(run, *piece)] = piece
        if not begun:
            raise UnfinishedError(f"{len(pieces) - len(left)} of {len(pieces)} done; the same command does the others")
        for future in wait(begun, return_when=FIRST_COMPLETED).done:
            piece, result = begun.pop(future), future.result()
            record.add(piece, result)
            print(f"{len(record)}: {', '.join(map(str, piece))}: {result}", file=sys.stderr, flush=True)


def add_minutes(parser: argparse.ArgumentParser) -> None:
    """The option that ends a run before it is done, to go on later: `options.until`, by time.monotonic()."""
    parser.add_argument(
        "--minutes",
        dest="until",
        type=lambda text: time.monotonic() + 60.0 * float(text),
        default=math.inf,
        help="begin nothing more after so many, and go on at the next call (default: until all is done)",
    )


def prepare_process() -> None:
    """Let a process end with this one, and give it a domain that no other has, heard on this machine alone."""
    end_with_parent()
    os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
    os.environ["ROS_DOMAIN_ID"] = str(_claimed.enter_context(claim_domain()))
