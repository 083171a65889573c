"""Designs motions for random arms in random surroundings, and has an independent program look for anything unsafe.

    python benchmarks/safe_motions.py --write docs/safe_motions.md

Arms are chains of three to six joints made of primitives (`test/support/primitive_arms.py`), each with its own
obstacles, tool, margins, speeds, seed and duration; half of them start from a given pose. The program
(`test/support/safety_oracle.py`) shares nothing with the package: it reads the URDF and the written CSV, and looks at
five times as many moments as are written.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import sys
import tempfile
from datetime import datetime, timezone
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1] / "test"))

from support.primitive_arms import list_options, write_random_arm
from support.safety_oracle import count_moments, find_violations

from inertid_ros.cli.main import main as run_command

ARMS, CANDIDATES, FINER = 100, 400, 5

_LIMITS = """\
Distances are measured from points on the surfaces, up to some centimetres apart: a distance may be found too large,
never too small. Arms are made of primitives; meshes are tested in `test/motions/test_bodies.py`."""


class Outcome(NamedTuple):
    """What became of one arm."""

    seed: int
    refused: str
    violations: tuple[str, ...]
    moments: int


def try_arm(seed: int, folder: Path) -> Outcome:
    """Design a motion for one arm, and look at it."""
    urdf, rules = write_random_arm(folder, seed)
    output = folder / f"motion{seed}"
    command = ["excite", str(urdf), "--target", "load", "--candidates", str(CANDIDATES), "-o", str(output)]
    complaint = io.StringIO()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(complaint):
        code = run_command([*command, *list_options(rules)])
    if code != 0:
        return Outcome(seed, complaint.getvalue().strip().removeprefix("inertid excite: ").split(". ")[0], (), 0)
    trajectory = output / "trajectory.csv"
    return Outcome(seed, "", tuple(find_violations(urdf, trajectory, rules, FINER)), count_moments(trajectory, FINER))


def make_page(outcomes: list[Outcome], date: str) -> str:
    """The page of the documentation."""
    designed = [item for item in outcomes if not item.refused]
    unsafe = [item for item in designed if item.violations]
    about = (
        f"Made by `python benchmarks/safe_motions.py --write docs/safe_motions.md`, {date}. {len(outcomes)} random "
        "arms of three to six joints made of boxes, cylinders and spheres, each with random obstacles, margins, speed "
        "limits, seed and duration, half of them with a given pose to start from. An independent program, with "
        f"kinematics and distances of its own, looked at {FINER} times as many moments as the files have: floor, "
        "obstacles, self-collision, speed of points, ranges and speeds of joints, the first pose, rest at both ends."
    )
    moments = sum(item.moments for item in designed)
    lines = [
        "# Safe motions",
        "",
        about,
        "",
        "| arms | motions written | refused, with the reason | moments looked at | motions with a violation |",
        "| --- | --- | --- | --- | --- |",
        f"| {len(outcomes)} | {len(designed)} | {len(outcomes) - len(designed)} | {moments:,} | {len(unsafe)} |",
        "",
    ]
    lines += [_LIMITS, ""]
    lines += [f"- arm {item.seed} was refused: {item.refused}" for item in outcomes if item.refused]
    lines += [f"- arm {item.seed} is unsafe: {'; '.join(item.violations)}" for item in unsafe]
    return "\n".join(lines).rstrip() + "\n"


def main() -> int:
    """Try all arms; 0 if nothing unsafe was found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--arms", type=int, default=ARMS, help=f"how many (default {ARMS})")
    parser.add_argument("--first", type=int, default=0, help="seed of the first one (default 0)")
    parser.add_argument("--write", type=Path, help="write the page of the documentation")
    options = parser.parse_args()
    outcomes = []
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(options.first, options.first + options.arms):
            outcomes.append(try_arm(seed, Path(folder)))
            print(outcomes[-1], flush=True)
    page = make_page(outcomes, f"{datetime.now(timezone.utc):%Y-%m-%d}")
    if options.write is not None:
        options.write.write_text(page, encoding="utf-8")
    print(page)
    return int(any(item.violations for item in outcomes))


if __name__ == "__main__":
    sys.exit(main())
