"""The one-dimensional prototype problem of the thesis (chapter 5): a mass from a force and a velocity, both with noise.

f = m dv/dt holds for the true signals; both are measured with noise, the acceleration is not measured at all. A record
is 100 s of a random motion below 0.5 Hz, sampled at 20 Hz, and periodic, so that differentiating is multiplying by jω
exactly. The mass is 1.5 kg; filters are made for 1 kg, the mass of five earlier records in which it was known.

    python benchmarks/prototype.py            prints the page
    python benchmarks/prototype.py --write    writes it to docs/prototype.md
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import sys
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from page import run_page
from scipy.linalg import eigh

from inertid_ros.core.records import FloatArray

MASS, KNOWN_MASS = 1.5, 1.0
"""To be found, and of the earlier records, for which filters are made, kg."""
DURATION, RATE = 100.0, 20.0
"""Of a record, s and Hz."""
SPEED, HIGHEST = 5.0, 0.5
"""Rms velocity of the motion and its highest frequency, m/s and Hz: five times the noise of the thesis's example."""
RECORDS = 5
"""With a known mass, from which the noise spectra are found."""
BANDS = 12
"""In which they are taken as constant; their edges rise geometrically."""
CUTOFF, WINDOW = 1.0, 2.0
"""Low-pass, at twice the highest frequency of the motion [Hz], and time over which the force is integrated [s]."""
_LEAST = 1e-3
"""Least share of what was measured in a band that is taken for noise: estimates scatter, and can be below zero."""
_WRONG = 1.05
"""A mass that is believed to be known, in units of the true one."""
_SHOWN = (0.1, 0.5, 2.0, 8.0)
"""Frequencies at which found noise spectra are shown, Hz."""
_ABOUT = """The thesis prints no numbers for this problem: it designs the filters of one example and says that finding \
spectra worked in simulation. Errors of the mass in %, mean / root mean square of {runs} runs. `white`: noise of \
variance 1 on force and velocity, as in its example (5.3). `force drifts`: the force has most noise at low \
frequencies. `velocity exact`: noise of variance 1 on the force alone, the case of least squares. With the true \
spectra no unbiased estimate has an rms below {bounds}."""
_FINDINGS = """What comes out as in the thesis: differentiating without a filter is useless, since noise of the \
acceleration is taken for motion and the mass comes out too small; with an exact velocity, optimal filter and plain \
least squares are the same; a filter made for another mass does no harm; the spectra need the true mass: if it is \
wrong by 5 %, errors double, and with an exact velocity most of these 5 % come back. What does not: least squares \
stay biased after the optimal filter, more so than after a low-pass that leaves little but the motion. The eigenvector \
of unit length takes away only a part of that bias: it needs equal noise in both columns, while the filter makes their \
weighted sum white and leaves the columns as unequal as they are. In units of the noise that the filter leaves in each \
column it has no bias left, and is as good as can be."""
_SPECTRA = """Noise spectra found from the five earlier records, mean ± standard deviation of runs at single \
frequencies, the true ones in brackets. They are good where nothing moves. Up to 0.5 Hz most of them are differences \
of much larger numbers, scatter by about their size, and are cut off at 0.1 % of what was measured, which makes their \
means too large. The mass suffers little: the filter depends on their weighted sum, in which the motion cancels."""
OMEGA = 2.0 * np.pi * np.arange(1, round(DURATION * RATE / 2.0)) / DURATION
"""Frequencies of a record, (K,) rad/s, without 0 and the highest."""


class Spectra(NamedTuple):
    """Noise spectra of force and velocity, (K,): mean square of a Fourier coefficient, 1 for a variance of 1."""

    force: FloatArray
    velocity: FloatArray


class Record(NamedTuple):
    """Fourier coefficients of measured force and velocity, (K,) complex, over the root of the number of samples."""

    force: FloatArray
    velocity: FloatArray


_WHITE = np.ones(len(OMEGA))
NOISES = {
    "white": Spectra(_WHITE, _WHITE),
    "force drifts": Spectra(0.2 + (1.2 / OMEGA) ** 2, 0.3 * _WHITE),
    "velocity exact": Spectra(_WHITE, 0.0 * _WHITE),
}
"""`white`: the thesis's example (5.3), both of variance 1."""


def simulate(mass: float, noise: Spectra, random: np.random.Generator) -> Record:
    """Measure a random motion."""
    is_moved = 2.0 * np.pi * HIGHEST >= OMEGA
    phases = np.exp(2j * np.pi * random.random(len(OMEGA)))
    velocity = np.where(is_moved, SPEED * np.sqrt(0.5 * DURATION * RATE / is_moved.sum()) * phases, 0.0)
    parts = random.standard_normal((2, 2, len(OMEGA)))
    errors = np.sqrt(0.5 * np.array(noise)) * (parts[0] + 1j * parts[1])
    return Record(1j * OMEGA * mass * velocity + errors[0], velocity + errors[1])


def make_weights(noise: Spectra, mass: float) -> FloatArray:
    """Square of the optimal filter, 1 / (m² S_a + S_f) with S_a = ω² S_v (5.50)."""
    return np.asarray(1.0 / (mass**2 * OMEGA**2 * noise.velocity + noise.force))


def solve_least_squares(record: Record, weights: FloatArray) -> float:
    """The mass by normal equations (5.29) of data whose spectra are multiplied by weights (K,)."""
    moments = _find_moments(record, weights)
    return float(moments[0, 1] / moments[0, 0])


def solve_eigenvector(record: Record, weights: FloatArray, noise: FloatArray) -> float:
    """The mass for which v = (m, -1) makes (vᵀ Bᵀ B v) / (vᵀ C v) least, with C the noise (2,) of each column of B.

    With equal noise this is the eigenvector of BᵀB with the smallest eigenvalue (5.43), without noise of the
    acceleration least squares.
    """
    _, vectors = eigh(np.diag(noise), _find_moments(record, weights))
    return float(-vectors[0, -1] / vectors[1, -1])


def leave_noise(noise: Spectra, weights: FloatArray) -> FloatArray:
    """What a filter leaves of the noise of acceleration and force, (2,)."""
    return np.array([weights @ (OMEGA**2 * noise.velocity), weights @ noise.force])


def find_noise(records: Sequence[Record], mass: float) -> Spectra:
    """Noise spectra by redundant measurements (5.66 and 5.67), for H = jω m from velocity to force."""
    force, velocity = (np.mean(np.abs(part) ** 2, axis=0) for part in zip(*records, strict=True))
    cross = np.mean([record.force * np.conj(record.velocity) for record in records], axis=0)
    transfer = 1j * OMEGA * mass
    found = force - np.real(np.conj(transfer) * cross), velocity - np.real(cross / transfer)
    return Spectra(*(_smooth(noise, measured) for noise, measured in zip(found, (force, velocity), strict=True)))


def run_once(noise: Spectra, seed: int) -> tuple[dict[str, float], Spectra]:
    """The mass by every method, and the noise spectra that were found."""
    random = np.random.default_rng(seed)
    earlier = [simulate(KNOWN_MASS, noise, random) for _ in range(RECORDS)]
    record = simulate(MASS, noise, random)
    optimal, found = make_weights(noise, KNOWN_MASS), find_noise(earlier, KNOWN_MASS)
    masses = [
        solve_least_squares(record, _WHITE),
        solve_least_squares(record, 1.0 * (2.0 * np.pi * CUTOFF >= OMEGA)),
        solve_least_squares(record, (2.0 * np.sin(0.5 * OMEGA * WINDOW) / OMEGA) ** 2),
        solve_least_squares(record, optimal),
        solve_eigenvector(record, optimal, np.ones(2)),
        _solve_with(record, noise),
        _solve_with(record, found),
        _solve_with(record, found, iterations=5),
        _solve_with(record, find_noise(earlier, _WRONG * KNOWN_MASS)),
    ]
    return dict(zip(METHODS, masses, strict=True)), found


METHODS = {
    "velocity differentiated, least squares (5.18)": "noise is amplified at high frequencies",
    f"the same after a low-pass of {CUTOFF:g} Hz (5.20)": "which filter, least squares does not say",
    f"force integrated over {WINDOW:g} s, least squares (5.19)": "bias and drift are amplified at low frequencies",
    "optimal filter (5.50), least squares": "for noise of the force alone",
    "optimal filter, eigenvector of unit length (5.43)": "its estimator for noise on all measurements",
    "optimal filter, eigenvector in units of the noise that the filter leaves": "(not in the thesis)",
    "the same, noise spectra found (5.66, 5.67)": "seems to work well, in simulation",
    "the same, and the filter made five times for the mass found": "an approximate mass is good enough",
    f"the same once, known mass wrong by {100 * (_WRONG - 1.0):.0f} %": "the true mass must be known",
}
"""Names, and what the thesis says of them."""


def _solve_with(record: Record, noise: Spectra, iterations: int = 1) -> float:
    mass = KNOWN_MASS
    for _ in range(iterations):
        weights = make_weights(noise, mass)
        mass = solve_eigenvector(record, weights, leave_noise(noise, weights))
    return mass


def _find_moments(record: Record, weights: FloatArray) -> FloatArray:
    """BᵀB (2, 2) of acceleration and force."""
    columns = np.array([1j * OMEGA * record.velocity, record.force])
    return np.asarray(np.real((weights * columns) @ np.conj(columns.T)))


def _smooth(noise: FloatArray, measured: FloatArray) -> FloatArray:
    """Means in bands, none below a share of what was measured there."""
    means = np.empty(len(noise))
    edges = [0, *np.unique(np.geomspace(4, len(noise), BANDS).astype(int))]
    for band in map(slice, edges[:-1], edges[1:]):
        means[band] = max(np.mean(noise[band]), _LEAST * np.mean(measured[band]))
    return means


def find_bound(noise: Spectra) -> float:
    """Least standard deviation of the mass: that of weighted least squares with the true motion (small noise)."""
    exact = simulate(MASS, Spectra(0.0 * _WHITE, 0.0 * _WHITE), np.random.default_rng(0))
    return float(1.0 / np.sqrt(2.0 * make_weights(noise, MASS) @ np.abs(OMEGA * exact.velocity) ** 2))


def make_page(runs: int) -> str:
    """Errors of all methods, and of the noise spectra, over so many runs of each kind of noise."""
    outcomes = {name: [run_once(noise, seed) for seed in range(runs)] for name, noise in NOISES.items()}
    lines = [
        "# The prototype problem of chapter 5",
        "",
        f"Made by `python benchmarks/prototype.py --write`. {_describe()}",
        "",
        _ABOUT.format(
            runs=runs, bounds=", ".join(f"{_percent(find_bound(noise))} ({name})" for name, noise in NOISES.items())
        ),
        "",
        f"| method | what the thesis says | {' | '.join(NOISES)} |",
        "| --- " * (2 + len(NOISES)) + "|",
    ]
    for method, said in METHODS.items():
        errors = [np.array([masses[method] for masses, _ in many]) - MASS for many in outcomes.values()]
        cells = [f"{_percent(error.mean(), '+')} / {_percent(np.sqrt(np.mean(error**2)))}" for error in errors]
        lines.append(f"| {method} | {said} | {' | '.join(cells)} |")
    return "\n".join([*lines, "", _FINDINGS, "", *_format_spectra(outcomes), ""])


def _format_spectra(outcomes: dict[str, list[tuple[dict[str, float], Spectra]]]) -> list[str]:
    """Found noise spectra at some frequencies, mean and standard deviation of runs, with the true ones in brackets."""
    places = [int(np.searchsorted(OMEGA, 2.0 * np.pi * hertz)) for hertz in _SHOWN]
    lines = [
        _SPECTRA,
        "",
        f"| noise | signal | {' | '.join(f'{hertz:g} Hz' for hertz in _SHOWN)} |",
        "| --- " * (2 + len(places)) + "|",
    ]
    for name, noise in NOISES.items():
        for signal in Spectra._fields:
            found = np.array([getattr(spectra, signal)[places] for _, spectra in outcomes[name]])
            true = getattr(noise, signal)[places]
            cells = [
                f"{mean:.2g} ± {deviation:.2g} ({exact:.2g})"
                for mean, deviation, exact in zip(found.mean(axis=0), found.std(axis=0), true, strict=True)
            ]
            lines.append(f"| {name} | {signal} | {' | '.join(cells)} |")
    return lines


def _percent(error: float, sign: str = "") -> str:
    return f"{100.0 * error / MASS:{sign}.2f}"


def _describe() -> str:
    return " ".join((__doc__ or "").split("\n\n")[1].split())


if __name__ == "__main__":
    sys.exit(run_page(make_page, "prototype.md", 1000, (__doc__ or "").splitlines()[0]))
