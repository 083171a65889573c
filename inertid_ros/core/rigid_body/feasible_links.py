"""Completions of the standard parameters of an arm from its base parameters: by ridge, and a feasible one near a prior.

Of the F standard parameters x (ten for each link, then friction, rotor inertias and offsets), the data determine
B combinations C x = b, the base parameters, with the information Λ = RᵀR. Everything else is a choice.

The feasible one is found by least squares over physically consistent bodies and positive numbers, with a primal-dual
interior-point method. Its unknowns u are, in this order, ten for each body, the coordinates of its pseudo-inertia S in
UNITS, then numbers that must stay positive, then free ones f. All are counted from the prior, in its own units: there
S = 1, s = 1 and f = 0. With s these numbers, and the bounds B u of links (`link_box`), what is minimised is

    ½ |A u − z|² + μ [Σ (tr S − log det S) + Σ (s − log s) + ½ Σ f²],     μ a small number

What is in brackets is least at the prior, so that directions which A does not see come out as the prior has them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from inertid_ros.core.errors import NotIdentifiedError
from inertid_ros.core.lapack import dtpmqrt, dtpqrt, dtrtrs
from inertid_ros.core.records import FloatArray, IntArray
from inertid_ros.core.rigid_body.feasibility import MARGIN, TOLERANCE, UNITS, express_units
from inertid_ros.core.rigid_body.inertial import compose, decompose, inertia_of_ball
from inertid_ros.core.rigid_body.link_box import list_slacks, widen_box

SMALL_NUMBER = 1e-3
"""Prior of a number that must be positive where the caller's is smaller [Nm s, Nm, kg m²]: that of small drives."""
_SMALLEST_MASS = 1e-3
"""Mass [kg] below which a URDF's link is a placeholder that says nothing."""
_UNKNOWN_MASS = 0.1
"""Mass [kg] that stands in for such a link's: that of a small part."""
_DENSEST = 7850.0
"""Density [kg/m³] that no link exceeds: steel. Arms are of aluminium, motors and air."""
_AT_BOUND = 1.01
"""Multiple of the least thickness up to which a link is at the bound: rounding, and nothing else."""
_FAR = 30.0
"""Where to start, in units of the prior: far inside, so that no first step meets the boundary."""
_PULL = 1e-3
"""How strongly the prior pulls on the way, as a part of the barrier: weak, for priors may be wrong by magnitudes."""
_TO_BOUNDARY = 0.98
"""Part of the way to the boundary that a step may go: interior-point methods use 0.9 to 0.995."""
_PART = 1e-5
"""Part of a large cost that may be lost: nothing that anybody notices."""
_STILL = 1.0
"""Squared length of a last step, as a part of the barrier: a longer one means that the search has not converged."""
_MAXIMUM_STEPS = 50
"""Steps after which the search stops, feasible anyway: 300 random arms took 13 to 41."""

_FLAT_UNITS = UNITS.reshape(10, 16)
"""The units row by row."""
_TRACES = np.trace(UNITS, axis1=1, axis2=2)
"""Their traces (10,): the coordinates of S = 1."""
_ONE = np.eye(4)
"""S of the prior."""


def solve_by_ridge(root: FloatArray, estimate: FloatArray, combination: FloatArray, damping: float) -> FloatArray:
    """Return the standard parameters (F,) by ridge regression.

    Atkeson, An and Hollerbach (1986), eq. 20, phi = (KᵀK + d 1)⁻¹ Kᵀ τ, with KᵀK = Cᵀ Λ C and Kᵀ τ = Cᵀ Λ b: what
    the data do not determine comes out as small as possible, and nothing makes the links physically consistent. The
    root is R (M, B), the estimate b (B,), the combination C (B, F), and the damping d much smaller than the smallest
    eigenvalue of CᵀΛC that is not zero.
    """
    left, values, axes = np.linalg.svd(root @ combination, full_matrices=False)
    return np.asarray((left.T @ (root @ estimate)) * values / (values**2 + damping) @ axes)


def nearest_feasible_links(
    prior: FloatArray,
    estimate: FloatArray,
    root: FloatArray,
    combination: FloatArray,
    links: int,
    positive: IntArray,
    boxes: FloatArray | None = None,
) -> FloatArray:
    """Return the feasible completion (F,): the physically consistent links that explain the data best, near a prior.

        minimise (C x − b)ᵀ Λ (C x − b)   subject to   P(x_link) positive definite for every link, x_positive > 0,
                                                       second moments of every link those of a body in its box

    and of all x that do, the one with the least Σ [tr(P(prior)⁻¹ P(x)) − log det P(x)], a distance that depends neither
    on units nor on frames. The minimum is met within a chi-square of feasibility.TOLERANCE.

    Args:
        prior: (F,) the URDF's own values, ten for each link first; inconsistent links are replaced, see make_plausible.
        estimate: (B,) the base parameters b.
        root: (M, B) with RᵀR their information Λ.
        combination: (B, F) C.
        links: how many links there are.
        positive: indices of the numbers beyond the links' that must be positive; all others are free.
        boxes: (links, 2, 3) centre and half size [m] of a box that holds the link, in its frame, enlarged where the
            prior needs it; None if nothing is known of that.

    Raises:
        NotIdentifiedError: if something is not finite.
    """
    if not all(np.all(np.isfinite(item)) for item in (prior, estimate, root, combination)):
        raise NotIdentifiedError("an estimate that is not finite has no nearest links: reset the estimator")
    last = 10 * links
    plausible = [make_plausible(phi) for phi in prior[:last].reshape(links, 10)]
    units = np.array([express_units(phi)[0] for phi in plausible])
    free = np.setdiff1d(np.arange(last, len(prior)), positive)
    scales = np.maximum(prior[positive], SMALL_NUMBER)
    weighted = root @ combination
    bodies = weighted[:, :last].reshape(-1, links, 1, 10) @ units.transpose(0, 2, 1)
    matrix = np.hstack((bodies.reshape(-1, last), weighted[:, positive] * scales, weighted[:, free]))
    bounds = np.zeros((0 if boxes is None else 3 * links, len(prior)))
    for link, box in enumerate([] if boxes is None else boxes):
        rows = list_slacks(widen_box(box, plausible[link]))
        rows /= (rows @ plausible[link])[:, None]
        bounds[3 * link : 3 * link + 3, 10 * link : 10 * link + 10] = rows @ units[link].T
    found = descend(matrix, root @ estimate - weighted[:, free] @ prior[free], links, len(positive), bounds)
    result = np.empty_like(prior)
    result[:last] = (found[:last].reshape(links, 1, 10) @ units).ravel()
    result[positive] = found[last : last + len(positive)] * scales
    result[free] = found[last + len(positive) :] + prior[free]
    return result


def make_plausible(phi: FloatArray) -> FloatArray:
    """Return a link (10,) as it is given, or a physically consistent one in its place.

    Without mass it becomes a small ball of water at the origin. Otherwise mass and centre of mass are kept, and where
    it is too thin, or thinner than nothing, it is made thicker.
    """
    if phi[0] < _SMALLEST_MASS:
        return compose(_UNKNOWN_MASS, np.zeros(3), inertia_of_ball(_UNKNOWN_MASS) * np.eye(3))
    mass, com, _ = decompose(phi)
    moments, axes, thick = _find_thickness(phi)
    if (moments == thick).all():
        return phi
    spread = axes * thick @ axes.T
    return compose(mass, com, np.trace(spread) * np.eye(3) - spread)


def is_at_bound(phi: FloatArray) -> bool:
    """Whether a link (10,) is as thin as can be, which no real one is: the data ask for what is not consistent."""
    mass, com, inertia = decompose(phi)
    thinner = compose(mass, com, inertia / _AT_BOUND)
    moments, _, thick = _find_thickness(thinner)
    return bool((moments < thick).any())


def _find_thickness(phi: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Second moments (3,) of a body (10,) about its centre of mass, their axes (3, 3), and plausible moments (3,).

    Of all bodies of a mass m that are nowhere denser than ρ, the solid ellipsoid has the least product of second
    moments s: with semi-axes a² = 5 s / m its volume 4/3 π a b c is m / ρ. Where the product is less, the smallest
    moments are raised to a common value, so that a rod stays a rod, as thin as one of steel can be.
    """
    mass, com, inertia = decompose(phi)
    moments, axes = np.linalg.eigh(0.5 * np.trace(inertia) * np.eye(3) - inertia)
    least = 100.0 * MARGIN * float(np.abs(moments).sum() + mass * com @ com)
    product = (mass / 5.0) ** 3 * (3.0 * mass / (4.0 * np.pi * _DENSEST)) ** 2
    thick = np.maximum(moments, least)
    for raised in (1, 2, 3):
        level = (product / float(np.prod(thick[raised:]))) ** (1.0 / raised)
        if raised == len(thick) or level <= thick[raised]:
            break
    return moments, axes, np.maximum(thick, level if np.prod(thick) < product else 0.0)


def descend(matrix: FloatArray, wanted: FloatArray, bodies: int, positive: int, bounds: FloatArray) -> FloatArray:
    """Return the best unknowns u (F,) for A (M, F), z (M,) and B (K, F). Every iterate is feasible: stop at any time.

    Positive numbers and bounds are the diagonals of more matrices S, padded with constants. With Z the multipliers of
    the constraints the conditions are S Z = μ 1 and a gradient of zero. Newton's steps on both follow μ down to its
    final value, each but the last ones corrected for the product of the changes that a first try neglects (Mehrotra).
    On the way the pull to the prior is weaker than the barrier, so that nothing sticks to a prior that is wrong by
    orders of magnitude.
    """
    system = _System.of(matrix, wanted, bodies, np.vstack((np.eye(len(bounds.T))[10 * bodies :][:positive], bounds)))
    unknowns = np.zeros(matrix.shape[1])
    unknowns[: 10 * bodies] = np.tile(_FAR * _TRACES, bodies)
    unknowns[10 * bodies : 10 * bodies + positive] = _FAR
    degree = 4 * system.count
    cost, moved = system.cost(unknowns), np.inf
    mean = max(cost, _FAR * TOLERANCE) / (2.0 * degree)
    pair = np.multiply.outer((_FAR, mean / _FAR), np.tile(_ONE, (system.count, 1, 1)))  # S and Z
    for _ in range(_MAXIMUM_STEPS):
        final = max(TOLERANCE, _PART * cost) / (2.0 * degree)
        if moved < _STILL * final:
            break
        try:
            newton = _Newton.of(system, unknowns, pair, max(final, _PULL * mean))
            change, scaled = newton.solve(final, np.zeros((4, 4)))
            step = newton.find_length(scaled)
            if mean > 2.0 * final:
                tried = step * scaled
                centre = max(final, mean * min(1.0, newton.multiply(tried) / (degree * mean)) ** 2)
                change, scaled = newton.solve(centre, tried[0] @ tried[1])
                step = newton.find_length(scaled)
        except np.linalg.LinAlgError:  # rounding, after many steps
            break
        scaled *= step
        unknowns = unknowns + step * change
        pair = pair + newton.unscale(scaled)
        mean, moved = newton.multiply(scaled) / degree, float(np.vdot(scaled, scaled)) / step**2
        cost = system.cost(unknowns)
    return unknowns


@dataclass(frozen=True, slots=True)
class _System:
    """What is minimised, in coordinates that make AᵀA diagonal, with axes (F, F) as columns.

    Roots (F,) are the singular values of A, zero in directions that it does not see, `wanted` (F,) is z in the same
    coordinates, `numbers` (p, F) gives what must stay positive, and `diagonal` (p,) tells where among the entries of
    all S that is. The last `free` unknowns are not among it.
    """

    roots: FloatArray
    wanted: FloatArray
    axes: FloatArray
    bodies: int
    numbers: FloatArray
    diagonal: IntArray
    free: int

    @classmethod
    def of(cls, matrix: FloatArray, wanted: FloatArray, bodies: int, numbers: FloatArray) -> _System:
        """Turn the coordinates."""
        left, values, axes = np.linalg.svd(matrix)
        unseen = np.zeros(len(axes) - len(values))
        seen = left[:, : len(values)].T @ wanted
        order = np.arange(len(numbers))
        diagonal = (bodies + order // 4) * 16 + order % 4 * 5
        free = int(np.count_nonzero(~numbers[:, 10 * bodies :].any(axis=0)))
        return cls(np.append(values, unseen), np.append(seen, unseen), axes.T.copy(), bodies, numbers, diagonal, free)

    @property
    def count(self) -> int:
        """How many matrices S there are."""
        return self.bodies + -(-len(self.diagonal) // 4)

    def cost(self, unknowns: FloatArray) -> float:
        """|A u − z|², less what of z no unknowns explain."""
        residual = self.roots * (unknowns @ self.axes) - self.wanted
        return float(residual @ residual)

    def assemble(self, change: FloatArray) -> FloatArray:
        """The change (count, 4, 4) of all S for a change (F,) of the unknowns."""
        last = 10 * self.bodies
        result = np.zeros((self.count, 16))
        result[: self.bodies] = change[:last].reshape(self.bodies, 10) @ _FLAT_UNITS
        result.ravel()[self.diagonal] = self.numbers @ change
        return result.reshape(-1, 4, 4)

    def project(self, matrices: FloatArray, free: FloatArray) -> FloatArray:
        """Coordinates of (count, 4, 4) matrices: of the bodies in UNITS, the diagonals, then those of free unknowns."""
        bodies = matrices[: self.bodies].reshape(self.bodies, 16) @ _FLAT_UNITS.T
        return np.concatenate((bodies.ravel(), matrices.ravel()[self.diagonal], free))


@dataclass(frozen=True, slots=True)
class _Newton:
    """Newton's equations at one point, scaled after Nesterov and Todd: G⁻¹ S G⁻ᵀ = Gᵀ Z G = D, diagonal.

    So they are least squares, |A u|² + |G⁻¹ U G⁻ᵀ|², and are solved without forming squares: condition numbers of the
    information up to about 1e16 do no harm. `inverse` is G⁻¹ and `back` is G, (count, 4, 4); `pull` is how strongly the
    prior pulls; `factors` are what dtpqrt makes of the root of the curvature.
    """

    system: _System
    unknowns: FloatArray
    inverse: FloatArray
    back: FloatArray
    diagonal: FloatArray
    pull: float
    factors: tuple[FloatArray, FloatArray, FloatArray]

    @classmethod
    def of(cls, system: _System, unknowns: FloatArray, pair: FloatArray, pull: float) -> _Newton:
        """Set the equations up for S and Z (2, count, 4, 4)."""
        n, axes = system.bodies, system.axes
        roots = np.linalg.cholesky(pair)
        left, diagonal, _ = np.linalg.svd(roots[1].transpose(0, 2, 1) @ roots[0])
        inverse = (roots[1] @ left / np.sqrt(diagonal)[:, None, :]).transpose(0, 2, 1)
        numbers = pair[:, n:].diagonal(axis1=2, axis2=3)
        diagonal[n:] = np.sqrt(numbers[0] * numbers[1])  # in their own order, which that of singular values is not
        inverse[n:] = (numbers[1] / numbers[0])[:, :, None] ** 0.25 * _ONE
        products = inverse[:n, :, None, :, None] * inverse[:n, None, :, None, :]
        blocks = _FLAT_UNITS @ products.reshape(n, 16, 16) @ _FLAT_UNITS.T
        last = 10 * n + len(system.diagonal)
        weights = (inverse**2).reshape(-1)[system.diagonal]
        turned = np.empty((last + system.free, len(axes)))
        np.matmul(blocks, axes[: 10 * n].reshape(n, 10, -1), out=turned[: 10 * n].reshape(n, 10, -1))
        np.multiply(weights[:, None], system.numbers @ axes, out=turned[10 * n : last])
        np.multiply(np.sqrt(pull), axes[len(axes) - system.free :], out=turned[last:])
        block = min(16, len(axes))
        top = np.diag(system.roots).T  # in the order of LAPACK
        factor, reflectors, sizes, _ = dtpqrt(0, block, top, turned, overwrite_a=1)
        return cls(system, unknowns, inverse, np.linalg.inv(inverse), diagonal, pull, (factor, reflectors, sizes))

    def solve(self, centre: float, missed: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Changes (F,) of the unknowns and (2, count, 4, 4) of scaled S and Z, for S Z = μ 1 less what was missed."""
        system, d = self.system, self.diagonal
        goal = (centre / d)[:, :, None] * _ONE - _symmetrise(missed) * 2.0 / (d[:, :, None] + d[:, None, :])
        free = np.sqrt(self.pull) * self.unknowns[len(self.unknowns) - system.free :]
        residual = system.roots * (self.unknowns @ system.axes) - system.wanted
        slack = system.project(self.pull * self.back.transpose(0, 2, 1) @ self.back - goal, free)
        factor, reflectors, sizes = self.factors
        turned = dtpmqrt(0, reflectors, sizes, residual[:, None], slack[:, None], trans="T")[0]
        change = -(system.axes @ dtrtrs(factor, turned[:, 0])[0])
        scaled = self.inverse @ system.assemble(change) @ self.inverse.transpose(0, 2, 1)
        return change, _symmetrise(np.array([scaled, goal - d[:, :, None] * _ONE - scaled]))

    def multiply(self, scaled: FloatArray) -> float:
        """Inner product of S and Z after scaled changes."""
        reached = self.diagonal[:, :, None] * _ONE + scaled
        return float(np.vdot(reached[0], reached[1]))

    def find_length(self, scaled: FloatArray) -> float:
        """Part of the scaled changes that can be gone; LinAlgError if they are not finite."""
        shrink = 1.0 / np.sqrt(self.diagonal)
        fastest = -float(np.linalg.eigvalsh(shrink[:, :, None] * scaled * shrink[:, None, :]).min())
        if not np.isfinite(fastest):
            raise np.linalg.LinAlgError
        return 1.0 if fastest < _TO_BOUNDARY else _TO_BOUNDARY / fastest

    def unscale(self, scaled: FloatArray) -> FloatArray:
        """The changes of S and Z (2, count, 4, 4)."""
        primal = self.back @ scaled[0] @ self.back.transpose(0, 2, 1)
        dual = self.inverse.transpose(0, 2, 1) @ scaled[1] @ self.inverse
        return _symmetrise(np.array([primal, dual]))


def _symmetrise(matrices: FloatArray) -> FloatArray:
    return np.asarray(0.5 * (matrices + matrices.swapaxes(-1, -2)))
