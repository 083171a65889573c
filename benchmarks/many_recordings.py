"""How much faster two workers of a cluster replay many short recordings than one, and whether they find the same.

    python benchmarks/many_recordings.py              64 recordings of ten seconds at 1 kHz, about five minutes
    python benchmarks/many_recordings.py --write      writes the section into docs/recordings.md

Recordings of the simulated PUMA, each with noise of its own, are replayed by `inertid replay`: in one process, and on
Dask clusters with one worker and with two, which have replayed something before, as those of a cluster that is there
have. What counts is the time on the clock of the whole command, from finding the bags to the common report.

Fails (1) if a file differs from that of one process in a single bit, or if two workers are less than 1.7 times as fast
as one: a machine that does other things as well, or has one processor, cannot show that.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import sys
import time
from collections.abc import Sequence
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from page import describe_run, fill_section, run_benchmark
from replay_speed import PARAMS, PLUGINS, URDF, write_bag

from inertid_ros.cli.main import main as run_command
from inertid_ros.replay.cluster import start_cluster

LIMIT = 1.7
"""Times as fast as one worker that two must be: what is done here, between them, takes a tenth of the time at most."""


def replay(bags: Sequence[Path], output: Path, *options: str) -> float:
    """Replay bags by the command; returns the seconds it took."""
    command = ["replay", *map(str, bags), "--params", str(PARAMS), "--urdf", str(URDF), "-o", str(output), *options]
    started = time.perf_counter()
    with redirect_stdout(StringIO()):
        assert run_command(command) == 0
    return time.perf_counter() - started


def replay_on_cluster(bags: Sequence[Path], output: Path, workers: int) -> float:
    """Replay bags on a cluster whose workers have loaded everything; returns the seconds it took."""
    with start_cluster(workers) as client, TemporaryDirectory(prefix="inertid_") as warm:
        address = client.scheduler.address
        replay(bags[: 4 * workers], Path(warm), "--scheduler", address)
        return replay(bags, output, "--scheduler", address)


def read_tree(directory: Path) -> dict[str, bytes]:
    """All files below a directory with their content."""
    files = (path for path in directory.rglob("*") if path.is_file())
    return {path.relative_to(directory).as_posix(): path.read_bytes() for path in files}


def measure(folder: Path, count: int, seconds: float, rounds: int) -> tuple[dict[str, float], list[str]]:
    """Median seconds by who replays, and the names of files that differ from those of one process."""
    bags = [folder / f"bag_{seed:03d}" for seed in range(count)]
    for seed, bag in enumerate(bags):
        write_bag(bag, seconds, PLUGINS["mcap"], seed)
    taken: dict[str, list[float]] = {}
    others: list[str] = []
    taken["one process"] = [replay(bags, folder / "serial", "--jobs", "1")]
    expected = read_tree(folder / "serial")
    for number in range(rounds):
        for workers, name in ((1, "one worker"), (2, "two workers")):
            output = folder / f"{workers}_{number}"
            taken.setdefault(name, []).append(replay_on_cluster(bags, output, workers))
            found = read_tree(output)
            others += [file for file in expected | found if expected.get(file) != found.get(file)]
            print(f"round {number + 1}, {name}: {taken[name][-1]:.1f} s", file=sys.stderr, flush=True)
    return {name: float(np.median(times)) for name, times in taken.items()}, sorted(set(others))


def make_page(options: argparse.Namespace) -> tuple[str, list[str]]:
    """The section, and what is missed."""
    with TemporaryDirectory(prefix="inertid_") as folder:
        times, others = measure(Path(folder), options.count, options.seconds, options.rounds)
    ratio = times["one worker"] / times["two workers"]
    missed = [f"{name} differs" for name in others]
    if ratio < LIMIT:
        missed.append(f"two workers are {ratio:.2f} times as fast as one, less than {LIMIT}")
    lines = [
        f"{options.count} recordings of {options.seconds:g} s at 1 kHz:",
        "",
        "| who replays | seconds | times as fast as one worker |",
        "| --- | ---: | ---: |",
        *(f"| {name} | {taken:.1f} | {times['one worker'] / taken:.2f} |" for name, taken in times.items()),
        "",
        f"{'All files are equal, bit for bit.' if not others else ', '.join(others) + ': not equal.'}",
        describe_run("python benchmarks/many_recordings.py --write"),
    ]
    text = "\n".join(lines)
    print(*missed, sep="\n", file=sys.stderr)
    return fill_section("recordings.md", "speed", text) if options.write else f"{text}\n", missed


def main() -> int:
    """Print the section; 1 if a limit is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=64, help="recordings (default 64)")
    parser.add_argument("--seconds", type=float, default=10.0, help="length of each (default 10)")
    parser.add_argument("--rounds", type=int, default=2, help="how often each cluster is measured (default 2)")
    return run_benchmark(parser, make_page, "recordings.md")


if __name__ == "__main__":
    sys.exit(main())
