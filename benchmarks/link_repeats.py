"""Whether independent recordings of a real arm, and halves of one, agree on its links within their intervals.

    python benchmarks/link_repeats.py            prints the tables
    python benchmarks/link_repeats.py --write    writes docs/link_repeats.md

The base parameters of any two that share no data differ by so many standard deviations: of both accuracies added up,
as somebody compares them who reads two files, and of both repeatabilities, which leave out what is systematically wrong
with the arm's efforts. Exits with 1 where more differ by two of the accuracy than they may, see ALL and EACH.
Recordings are those beside the repository (see `real_arms`), all that there are of each arm.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import sys
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import numpy as np
from link_predictions import ARMS, LOADED, Part, fit
from real_arms import RECORDINGS

from inertid_ros.core.estimation.states import ParameterState
from inertid_ros.core.records import FloatArray

ALL, EACH = 0.07, 0.10
"""Largest share of differences beyond two standard deviations: of all arms together, and of each."""
_PAGE = Path(__file__).parents[1] / "docs" / "link_repeats.md"


class Difference(NamedTuple):
    """Two parts of which neither has data of the other.

    Attributes:
        parts: the two.
        is_inertial: (U,) which parameters are of links; the others are of drives and sensors.
        accurate: (U,) differences in standard deviations of the accuracies, and
        repeatable: (U,) of the repeatabilities.
        widths: (2 U,) standard deviations (accuracy) over what a link or joint of its own size has.
        known: (2 U,) which parameters are known.
    """

    parts: tuple[Part, Part]
    is_inertial: FloatArray
    accurate: FloatArray
    repeatable: FloatArray
    widths: FloatArray
    known: FloatArray


def list_pairs(start: str) -> list[tuple[Part, Part]]:
    """Recordings of an arm, whose names begin like this, two by two, and the halves of each."""
    names = sorted(path.name for path in RECORDINGS.glob(f"{start}*"))
    whole = [Part(name, 0.0, 1.0) for name in names if LOADED not in name]
    return [*combinations(whole, 2), *((Part(name, 0.0, 0.5), Part(name, 0.5, 1.0)) for name in names)]


def compare(parts: tuple[Part, Part]) -> Difference:
    """Identify both and compare."""
    one, other = (fit(part).estimate for part in parts)
    apart, model = one.values - other.values, one.model
    return Difference(
        parts,
        model.base.columns < model.unknowns.inertial.stop,
        apart / np.sqrt(np.diag(one.covariance + other.covariance)),
        apart / np.sqrt(np.diag(one.repeatability + other.repeatability)),
        np.concatenate([estimate.deviations / model.own_sizes for estimate in (one, other)]),
        np.array([state is ParameterState.KNOWN for estimate in (one, other) for state in estimate.states]),
    )


def find_share(differences: Sequence[Difference]) -> float:
    """Share of all parameters that differ by more than two standard deviations of the accuracy."""
    return float(np.mean(np.abs(np.concatenate([one.accurate for one in differences])) > 2.0))


def format_row(name: str, differences: Sequence[Difference]) -> str:
    """A row of the table."""
    accurate, repeatable = (
        np.abs(np.concatenate([getattr(one, kind) for one in differences])) for kind in ("accurate", "repeatable")
    )
    inertial = np.concatenate([one.is_inertial for one in differences])
    shares = [np.mean(part > 2.0) for part in (accurate, accurate[inertial], accurate[~inertial], repeatable)]
    width = 100.0 * float(np.median(np.concatenate([one.widths for one in differences])))
    known = np.concatenate([one.known for one in differences])
    numbers = [str(len(accurate)), *(f"{100 * share:.1f}" for share in shares), f"{accurate.max():.1f}"]
    return f"| {name} | {' | '.join(numbers)} | {width:.2g} | {100 * known.mean():.0f} |"


def format_page(arms: dict[str, list[Difference]], missed: Sequence[str]) -> str:
    """The page of the documentation."""
    together = [one for differences in arms.values() for one in differences]
    rows = [format_row(name, differences) for name, differences in arms.items()]
    pairs = [format_row(f"{one.parts[0].name} − {one.parts[1].name}", [one]) for one in together]
    head = "parameters | beyond 2 sigma [%] | of links [%] | of drives [%] | repeatability [%] | largest [sigma] |"
    lines = f" {head} width [%] | known [%] |\n{'| --- ' * 9}|"
    limits = f"at most {100 * EACH:.0f} % of each arm and {100 * ALL:.0f} % of all together"
    parts = [
        "# Recordings of real arms: whether they agree",
        _ABOUT,
        "\n".join([f"| arm |{lines}", *rows, format_row("all", together)]),
        "\n".join([f"| parts |{lines}", *pairs]),
        f"Limits: {limits}. " + (f"Missed: {'; '.join(missed)}." if missed else "Both are met."),
    ]
    return "\n\n".join(parts) + "\n"


_ABOUT = """\
Made by `python benchmarks/link_repeats.py --write` from public recordings. Base parameters of recordings of one arm,
and of halves of one recording, that share no data: the share of those that differ by more than two standard deviations
of their accuracies (5 % by chance, fewer as systematic errors that both have cancel), that of the links and that of the
drives among them, the share beyond two of their repeatabilities, and the largest difference. Widths are median standard
deviations (accuracy) relative to what a link of its own mass and size has of a parameter, or a joint of what it
carries; known is the share of parameters that are called so. Default settings; efforts of the UR10e are 10 ms late."""


def main(arguments: Sequence[str]) -> int:
    """Print or write the tables; fail if too many differ."""
    arms = {start.strip("_"): [compare(pair) for pair in list_pairs(start)] for start in ARMS}
    arms = {name: differences for name, differences in arms.items() if differences}
    if not arms:
        print(f"skipped: no recordings of arms in {RECORDINGS}")
        return 0
    shares = {name: find_share(differences) for name, differences in arms.items()}
    missed = [f"{name} {100 * share:.1f} %" for name, share in shares.items() if share > EACH]
    if (share := find_share([one for differences in arms.values() for one in differences])) > ALL:
        missed.append(f"all {100 * share:.1f} %")
    page = format_page(arms, missed)
    print(page)
    if "--write" in arguments:
        _PAGE.write_text(page, encoding="utf-8")
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
