"""Completions of an estimate of base parameters to all standard parameters of the arm, and what predicts best."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from inertid_ros.core.diagnosis import Finding
from inertid_ros.core.equations.model import LinkModel
from inertid_ros.core.estimation.estimate import LinksEstimate
from inertid_ros.core.estimation.evidence import find_evidence
from inertid_ros.core.lapack import solve_triangular
from inertid_ros.core.records import FloatArray, IntArray
from inertid_ros.core.rigid_body.feasible_links import make_plausible, nearest_feasible_links, solve_by_ridge
from inertid_ros.core.rigid_body.inertial import PARAMETER_NAMES

_DAMPING = 1e-3
"""Damping of the ridge, as a part of the smallest eigenvalue that the data give: what they determine moves by less."""
_FAR = 4.0
"""Standard deviations between feasible and estimated parameters that noise hardly ever causes."""
_REACH = 0.3
"""Standard deviation of a link from the URDF's: its own mass at this distance [m], half the length of usual links. For
predictions, how many times that is found from the data."""


class Shrunk(NamedTuple):
    """Standard parameters between those of the URDF and those that the data determine.

    Attributes:
        values: (F,).
        gain: (F, U) how they follow the base parameters.
        widths: (F,) how far from the URDF they may be expected, found from the data.
    """

    values: FloatArray
    gain: FloatArray
    widths: FloatArray


class Predictor(NamedTuple):
    """Base parameters that predict best on other motions.

    Attributes:
        values: (U,).
        covariance: (U, U).
    """

    values: FloatArray
    covariance: FloatArray


def complete_links(estimate: LinksEstimate) -> FloatArray:
    """The feasible completion (F,): physically consistent links that explain the data, near the URDF's otherwise.

    The URDF's values count as measured once, each with a standard deviation of the link's own mass, at 0.3 m for first
    moments and inertias. Without that, links of a hundred kilograms would do as well where only a small part of their
    inertia shows. Links that come out thinner than any real one, where the data ask for what is not consistent, are
    made as thick as the thinnest (`make_plausible`). No link is where it could not be (`ArmModel.boxes`). Friction and
    rotor inertias are positive; offsets may be anything.
    """
    inertial, (_, sizes, kinds) = estimate.model.unknowns.inertial, list_expected(estimate.model)
    widths = np.where(kinds == 0, sizes, np.inf)
    full = _make_feasible(estimate.model, estimate.values, estimate.covariance, widths, estimate.model.arm.boxes)
    links = full[inertial].reshape(-1, len(PARAMETER_NAMES))
    full[inertial] = np.concatenate([make_plausible(phi) for phi in links])
    return full


def find_predictor(estimate: LinksEstimate) -> Predictor:
    """What predicts efforts best with nothing else known, on motions that were not seen.

    Fitted values hold what they owe to gains, delay and shape of friction, which will be the same. In directions that
    the motion has hardly shown they are shrunk to the URDF. Whether what is not physically consistent in them is noise
    or misfit that other motions have as well is not known: halfway between them and the nearest physically consistent
    links the regret is least, whichever of the two is better, and half the distance is counted as uncertainty. With
    gain G and expected deviations W from the URDF, values x_s have the covariance

        C (G (P + d dᵀ) Gᵀ + (1 - G C) W² (1 - G C)ᵀ) Cᵀ

    where P is the repeatability: misfit that would not repeat on other motions is in it. What fitted values owe to
    nuisances, d, makes good for these on the motion that was seen. On another one they have other effects, and d may
    be an error as it is.
    """
    model, combination = estimate.model, estimate.base.combination
    shrunk = shrink(model, estimate.fitted, estimate.fitted_covariance)
    feasible = _make_feasible(model, estimate.fitted, estimate.fitted_covariance, shrunk.widths)
    half = 0.5 * combination @ (feasible - shrunk.values)
    follows = combination @ shrunk.gain
    kept = (combination - follows @ combination) * shrunk.widths
    owed = follows @ (estimate.values - estimate.fitted)
    covariance = follows @ estimate.repeatability @ follows.T + kept @ kept.T
    covariance += np.outer(half, half) + np.outer(owed, owed)
    return Predictor(combination @ shrunk.values + half, covariance)


def shrink(model: LinkModel, values: FloatArray, covariance: FloatArray) -> Shrunk:
    """Shrink base parameters (U,) with a covariance (U, U) to the URDF, as far as the data ask for it.

    Standard parameters are expected at those of the URDF, friction, rotors and offsets at zero, with standard
    deviations w_g s: s the size of a link's own parameters, or 1, and w_g one strength for all links and one for each
    kind of the others, see `find_evidence`.
    """
    expected, sizes, kinds = list_expected(model)
    root = _invert_root(covariance)
    rows = root @ model.base.combination
    pull = rows.T @ (root @ (values - model.base.combination @ expected))
    found = find_evidence(rows.T @ rows, pull, sizes, kinds, np.ones(int(kinds.max(initial=0)) + 1))
    gain = (found.widths[:, None] * (found.root.T @ found.root) * found.widths) @ rows.T @ root
    return Shrunk(expected + found.widths * found.mean, gain, found.widths)


def list_expected(model: LinkModel) -> tuple[FloatArray, FloatArray, IntArray]:
    """Of the standard parameters what is expected (F,), in which sizes (F,), and of which kind (F,) they are."""
    unknowns, count = model.unknowns, len(model.unknowns.names)
    links = np.array([make_plausible(phi) for phi in model.arm.parameters.reshape(-1, len(PARAMETER_NAMES))])
    expected, sizes, kinds = np.zeros(count), np.ones(count), np.zeros(count, dtype=np.int64)
    expected[unknowns.inertial] = links.ravel()
    sizes[unknowns.inertial] = (links[:, :1] * np.array([1.0] + [_REACH] * 3 + [_REACH**2] * 6)).ravel()
    others = (unknowns.viscous, unknowns.coulomb, unknowns.rotor_inertia, unknowns.offset, unknowns.base_offset)
    for kind, part in enumerate(others):
        kinds[part] = 1 + kind
    return expected, sizes, kinds


def _make_feasible(
    model: LinkModel, values: FloatArray, covariance: FloatArray, widths: FloatArray, boxes: FloatArray | None = None
) -> FloatArray:
    """Physically consistent links and drives (F,), near values (U,) and, by widths (F,), to what is expected."""
    expected, unknowns = list_expected(model)[0], model.unknowns
    count, base, everything = len(expected), model.base.rank, np.arange(len(expected))
    prior = np.zeros(count)
    prior[unknowns.inertial] = model.arm.parameters
    drives = (unknowns.viscous, unknowns.coulomb, unknowns.rotor_inertia)
    positive = np.concatenate([everything[part] for part in drives])
    combination = np.concatenate((model.base.combination, np.eye(count)))
    root = np.zeros((base + count, base + count))
    root[:base, :base] = _invert_root(covariance)
    root[range(base, base + count), range(base, base + count)] = 1.0 / widths
    links = len(model.arm.link_names)
    return nearest_feasible_links(prior, np.concatenate((values, expected)), root, combination, links, positive, boxes)


def judge_completion(estimate: LinksEstimate, full: FloatArray) -> tuple[Finding, ...]:
    """A finding where physically consistent links (F,) are further from the estimate than noise explains."""
    difference = estimate.base.combination @ full - estimate.values
    largest = float((np.abs(difference) / estimate.deviations).max(initial=0.0))
    if largest <= _FAR:
        return ()
    message = (
        f"physically consistent links differ from the estimate by up to {largest:.0f} standard deviations: the model "
        "lacks something (friction, elasticity, delay)"
    )
    return (Finding("warning", "links_inconsistent", message),)


def complete_by_ridge(estimate: LinksEstimate) -> FloatArray:
    """The completion (F,) of the paper's eq. 20: as small as the data allow, and not always physically consistent."""
    root, combination = _invert_root(estimate.repeatability), estimate.model.base.combination
    smallest = np.linalg.svd(root @ combination, compute_uv=False)[-1]
    return solve_by_ridge(root, estimate.values, combination, _DAMPING * float(smallest) ** 2)


def _invert_root(covariance: FloatArray) -> FloatArray:
    """R (B, B) with RᵀR the inverse of a covariance, whatever the units."""
    scale = np.sqrt(np.diag(covariance))
    lower = np.linalg.cholesky(covariance / np.outer(scale, scale))
    return solve_triangular(lower, np.diag(1.0 / scale), lower=True)
