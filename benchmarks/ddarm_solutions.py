"""Three solutions of the paper's rank-deficient link equations: ridge regression, a reduced set, singular values.

The same three moves, by plain least squares as in section 2.2: 600 samples, velocities and torques after a low-pass of
30 Hz without delay, accelerations as differences of the velocities, rows from pinocchio, nothing of the chain. `ridge`
adds d = 10 to the diagonal (equation 20). `reduced set` keeps the 15 columns that do not depend on those before them,
found on the commanded motion. `singular values` leaves out those of K that are zero, which of all solutions is the
shortest.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
import pinocchio as pin
from ddarm_links import FOURTH_MOVE, estimated_links, paper_arm, simulate
from scipy.signal import butter, sosfiltfilt

from inertid_ros.core.records import FloatArray, IntArray
from inertid_ros.motions.motion import paper_ddarm_link_moves, with_rest
from inertid_ros.sim.arm import with_links
from inertid_ros.sim.simulator import DEFAULT_GRAVITY

RIDGE = 10.0
"""The paper's d."""
CUTOFF = 30.0
"""Of the low-pass, Hz; the paper's for the direct drive arm's loads."""
SAMPLES = 200
"""Taken of each move: 600 of all, as many as the paper's."""
_ZERO = 1e-9
"""Singular values below this share of the largest are zero."""
_REST = 0.3
"""Seconds of standstill around a move, for the ends of the filter."""

_ABOUT = """`torques` [%]: error of the predicted torques of the fourth move along the true motion, of their rms, \
mean / largest of {runs} runs; the causal pass of the chain without drives leaves {chain} of the same (`parameters \
alone` above). `apart` [%]: mean distance of these torques from those of the reduced set. Then the rms errors of the \
combinations of table 5. Rank of K: {rank} in all runs (appendix I: 15 essential variables); smallest eigenvalue of \
KᵀK that is not zero: {least:.0f} on average (paper: 3395). The paper prints ridge regression alone and says that the \
reduced set agreed with it."""


class SolutionsRun(NamedTuple):
    """One run; of each solution, in the order of `SOLUTIONS`.

    Attributes:
        torques: (3,) relative rms error of the fourth move's torques, along the true motion.
        apart: (3,) how far these torques are from those of the reduced set, as a share of their rms.
        combinations: (3, 6) errors of the combinations of parameters in table 5.
        least: smallest eigenvalue of K^T K that is not zero.
        rank: of K.
    """

    torques: FloatArray
    apart: FloatArray
    combinations: FloatArray
    least: float
    rank: int


SOLUTIONS = {"ridge, d = 10": 30, "reduced set": 15, "singular values": 30}
"""How many unknowns each has."""


def run_solutions(seed: int) -> SolutionsRun:
    """Solve for the links of one run's recordings in three ways."""
    rows, torques = (np.concatenate(part) for part in zip(*(_measure(seed, index) for index in range(3)), strict=True))
    truth = with_links(paper_arm(), estimated_links()).model
    expected = np.concatenate([inertia.toDynamicParameters() for inertia in list(truth.inertias)[1:]])
    found = solve(rows, torques)
    path = FOURTH_MOVE.at(np.linspace(0.0, FOURTH_MOVE.duration, SAMPLES))
    test = make_rows(*path)
    true, predicted = test @ expected, found @ test.T
    values = np.linalg.eigvalsh(rows.T @ rows)
    nonzero = values > _ZERO * values[-1]
    size = np.linalg.norm(true)
    return SolutionsRun(
        np.linalg.norm(predicted - true, axis=1) / size,
        np.linalg.norm(predicted - predicted[1], axis=1) / size,
        combine(found - expected),
        float(values[nonzero][0]),
        int(nonzero.sum()),
    )


def solve(rows: FloatArray, torques: FloatArray) -> FloatArray:
    """The solutions (3, 30) of rows (M, 30) and torques (M,)."""
    normal = rows.T @ rows
    ridge = np.linalg.solve(normal + RIDGE * np.eye(len(normal)), rows.T @ torques)
    kept = _find_kept()
    reduced = np.zeros(len(normal))
    reduced[kept] = np.linalg.lstsq(rows[:, kept], torques, rcond=None)[0]
    return np.array([ridge, reduced, np.linalg.lstsq(rows, torques, rcond=_ZERO)[0]])


def make_rows(positions: FloatArray, velocities: FloatArray, accelerations: FloatArray) -> FloatArray:
    """K (3 N, 30) of N states; parameters of a link in pinocchio's order."""
    model = paper_arm().model.copy()
    model.gravity.linear = np.array(DEFAULT_GRAVITY)
    data = model.createData()
    states = zip(positions, velocities, accelerations, strict=True)
    return np.concatenate([pin.computeJointTorqueRegressor(model, data, *state) for state in states])


def combine(links: FloatArray) -> FloatArray:
    """The six combinations of table 5 (..., 6) of links (..., 30) in pinocchio's order."""
    one, two, three = np.moveaxis(np.reshape(links, (*np.shape(links)[:-1], 3, 10)), -2, 0)
    lever = 0.45
    return np.stack(
        [
            three[..., 3] * lever + two[..., 8],
            three[..., 4] - three[..., 6],
            two[..., 9] + three[..., 4],
            one[..., 9] + two[..., 4] + three[..., 4] + three[..., 0] * lever**2,
            three[..., 4] + two[..., 4] - two[..., 6],
            three[..., 3] - two[..., 2],
        ],
        axis=-1,
    )


def format_solutions(runs: Sequence[SolutionsRun], chain: Sequence[float]) -> str:
    """Section of a page: the three solutions, beside what the chain's parameters leave of the same torques."""
    errors = np.sqrt(np.mean(np.square([run.combinations for run in runs]), axis=0))
    (rank,) = {run.rank for run in runs}
    least = float(np.mean([run.least for run in runs]))
    combinations = [f"SP{number}" for number in range(1, 1 + errors.shape[1])]
    lines = [
        "## Direct drive arm: ridge regression, reduced set, singular values",
        "",
        " ".join((__doc__ or "").split("\n\n")[1].split()),
        "",
        _ABOUT.format(runs=len(runs), chain=_mean_and_most(chain), rank=rank, least=least),
        "",
        f"| solution | unknowns | torques | apart | {' | '.join(combinations)} |",
        "| --- " * (4 + len(combinations)) + "|",
    ]
    for k, (name, unknowns) in enumerate(SOLUTIONS.items()):
        torques, apart = _mean_and_most([run.torques[k] for run in runs]), np.mean([run.apart[k] for run in runs])
        cells = " | ".join(f"{error:.2g}" for error in errors[k])
        lines.append(f"| {name} | {unknowns} | {torques} | {100.0 * apart:.3f} | {cells} |")
    return "\n".join(lines)


def _mean_and_most(shares: Sequence[float]) -> str:
    return f"{100.0 * np.mean(shares):.2f} / {100.0 * max(shares):.2f}"


def _measure(seed: int, index: int) -> tuple[FloatArray, FloatArray]:
    """K and torques of one of the three moves, as they come from the sensors."""
    move = paper_ddarm_link_moves()[index]
    motion = with_rest(move, _REST, _REST)
    block = simulate(motion, seed, index).joints(0.0, motion.duration)
    seconds = 1e-9 * (block.stamps - block.stamps[0])
    assert block.velocities is not None
    assert block.efforts is not None
    low_pass = butter(2, CUTOFF, fs=1.0 / seconds[1], output="sos")
    velocities, torques = (sosfiltfilt(low_pass, part, axis=0) for part in (block.velocities, block.efforts))
    accelerations = np.gradient(velocities, seconds, axis=0)
    taken = np.searchsorted(seconds, np.linspace(_REST, _REST + move.duration, SAMPLES))
    return make_rows(block.positions[taken], velocities[taken], accelerations[taken]), torques[taken].ravel()


@cache
def _find_kept() -> IntArray:
    """Columns of the reduced set: those that do not depend on the columns before them, along the commanded moves."""
    times = np.linspace(0.0, 1.3, SAMPLES)
    factor = np.linalg.qr(np.concatenate([make_rows(*move.at(times)) for move in paper_ddarm_link_moves()]), mode="r")
    sizes = np.abs(np.diag(factor))
    return np.flatnonzero(sizes > _ZERO * sizes.max())
