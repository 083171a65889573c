"""The full set of an arm: ridge against the dense formula, the nearest links against scipy and their own definition."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from scipy.optimize import least_squares, minimize
from support.random_robots import make_random_urdf

from inertid_ros.core.errors import NotIdentifiedError
from inertid_ros.core.records import FloatArray
from inertid_ros.core.rigid_body.feasibility import TOLERANCE
from inertid_ros.core.rigid_body.feasible_links import (
    is_at_bound,
    make_plausible,
    nearest_feasible_links,
    solve_by_ridge,
)
from inertid_ros.core.rigid_body.inertial import (
    compose,
    decompose,
    from_pinocchio,
    from_pseudo_inertia,
    is_feasible,
    pseudo_inertia,
)
from inertid_ros.core.rigid_body.link_box import is_at_side, widen_box
from inertid_ros.core.robot.robot import ArmModel, Robot

URDFS = Path(__file__).parents[3] / "urdf"
GRAVITY = np.array([0.0, 0.0, -9.81])
PAPER_FROM_PINOCCHIO = np.array([0, 1, 2, 3, 4, 5, 7, 6, 8, 9])


def make_body(generator: np.random.Generator) -> FloatArray:
    """An ellipsoid of the size of a link."""
    ellipsoid = pin.Inertia.FromEllipsoid(10.0 ** generator.uniform(-1.0, 1.3), *generator.uniform(0.02, 0.3, 3))
    place = pin.SE3(pin.exp3(generator.normal(0.0, 1.0, 3)), generator.normal(0.0, 0.12, 3))
    return from_pinocchio(place.act(ellipsoid))


def make_regressor(arm: ArmModel, generator: np.random.Generator, speeds: FloatArray, friction: bool) -> FloatArray:
    """Joint torques at 150 random states by all parameters: links, then viscous, Coulomb, rotor inertia and offset."""
    n = len(arm.joint_names)
    columns = (10 * np.arange(n)[:, None] + PAPER_FROM_PINOCCHIO).ravel()
    data, rows = arm.model.createData(), []
    for _ in range(150):
        q, v, a = generator.uniform(-2.0, 2.0, n), speeds * generator.normal(size=n), speeds * generator.normal(size=n)
        row = pin.computeJointTorqueRegressor(arm.model, data, q, v, 3.0 * a)[:, columns]
        more = [np.diag(v), np.diag(np.sign(v)), np.diag(3.0 * a), np.eye(n)] if friction else []
        rows.append(np.hstack([row, *more]))
    return np.concatenate(rows)


@dataclass(frozen=True, slots=True)
class Problem:
    """An arm whose links are to be found: the arguments of nearest_feasible_links, and the truth."""

    prior: FloatArray
    estimate: FloatArray
    root: FloatArray
    combination: FloatArray
    links: int
    truth: FloatArray
    regressor: FloatArray
    torques: FloatArray

    @property
    def positive(self) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        """Viscous and Coulomb friction and rotor inertia, where there are any."""
        return np.arange(10 * self.links, 10 * self.links + 3 * (len(self.prior) - 10 * self.links) // 4)

    def solve(self, boxes: FloatArray | None = None) -> FloatArray:
        """Find the links."""
        return nearest_feasible_links(
            self.prior, self.estimate, self.root, self.combination, self.links, self.positive, boxes
        )

    def chi_square(self, full: FloatArray) -> float:
        """How far a full set is from the estimate."""
        return float(np.sum((self.root @ (self.combination @ full - self.estimate)) ** 2))

    def check(self, full: FloatArray) -> None:
        """Every link must be a possible body."""
        assert all(is_feasible(phi) for phi in full[: 10 * self.links].reshape(-1, 10))
        assert np.all(full[self.positive] > 0.0)


def make_problem(
    urdf: str, seed: int, noise: float, friction: bool = True, weakest: float = 1.0, same: bool = False
) -> Problem:
    """Identify an arm with the URDF's kinematics and random links (or the URDF's own), torque noise in Nm.

    Joint speeds are between `weakest` and 1 rad/s.
    """
    generator = np.random.default_rng(seed)
    arm = ArmModel.of(Robot.from_urdf(urdf), GRAVITY)
    n = len(arm.joint_names)
    more = 4 * n if friction else 0
    speeds = 10.0 ** generator.uniform(np.log10(weakest), 0.0, n)
    regressor = make_regressor(arm, generator, speeds, friction)
    _, values, axes = np.linalg.svd(make_regressor(arm, generator, np.ones(n), friction))
    combination = axes[: np.count_nonzero(values > 1e-9 * values[0])]
    bodies = arm.parameters if same else np.concatenate([make_body(generator) for _ in range(n)])
    truth = np.concatenate((bodies, generator.uniform(0.0, 2.0, more)))
    torques = regressor @ truth + noise * generator.normal(size=len(regressor))
    rows = regressor @ combination.T
    estimate = np.linalg.lstsq(rows, torques, rcond=None)[0]
    prior = np.concatenate((arm.parameters, np.zeros(more)))
    root = np.asarray(np.linalg.qr(rows / noise, mode="r"))
    return Problem(prior, estimate, root, combination, n, truth, regressor, torques)


def test_ridge_is_the_dense_formula_of_the_paper() -> None:
    problem = make_problem((URDFS / "ddarm.urdf").read_text(), seed=1, noise=2.0, friction=False)
    matrix = problem.regressor / 2.0
    smallest = np.linalg.svd(problem.root @ problem.combination)[1].min() ** 2
    for damping in (1e-6 * smallest, 1e-3 * smallest, 10.0 * smallest):
        found = solve_by_ridge(problem.root, problem.estimate, problem.combination, damping)
        dense = np.linalg.solve(matrix.T @ matrix + damping * np.eye(30), matrix.T @ (problem.torques / 2.0))
        np.testing.assert_allclose(found, dense, rtol=1e-5, atol=1e-5 * np.abs(dense).max())


def test_ridge_leaves_zero_what_no_torque_depends_on() -> None:
    problem = make_problem((URDFS / "ddarm.urdf").read_text(), seed=1, noise=2.0, friction=False)
    found = solve_by_ridge(problem.root, problem.estimate, problem.combination, damping=1e-3)
    np.testing.assert_allclose(found[:9], 0.0, atol=1e-9)  # link 1 turns about its z axis only
    assert abs(found[9]) > 0.1


@pytest.mark.parametrize("seed", range(4))
def test_chi_square_is_that_of_least_squares_over_cholesky_factors(seed: int) -> None:
    problem = make_problem(make_random_urdf(seed, 1), seed, noise=30.0, friction=False)
    result = problem.solve()
    problem.check(result)
    lower = np.tril_indices(4)

    def residual(factors: FloatArray) -> FloatArray:
        triangles = np.zeros((problem.links, 4, 4))
        triangles[:, lower[0], lower[1]] = factors.reshape(-1, 10)
        full = np.concatenate([from_pseudo_inertia(triangle @ triangle.T) for triangle in triangles])
        return np.asarray(problem.root @ (problem.combination @ full - problem.estimate))

    starts = [
        np.concatenate([np.linalg.cholesky(pseudo_inertia(phi))[lower] for phi in full.reshape(-1, 10)])
        for full in (problem.truth, result)
    ]
    oracle = min(2.0 * least_squares(residual, start, xtol=1e-9, ftol=1e-9, max_nfev=300).cost for start in starts)
    assert problem.chi_square(result) < oracle + 2.0 * TOLERANCE * max(1.0, oracle)


@pytest.mark.parametrize("seed", range(2))
def test_of_all_that_explain_the_data_it_is_the_nearest_to_the_prior(seed: int) -> None:
    """Scipy minimises the divergence to the prior inside C x = b, from the truth on."""
    problem = make_problem(make_random_urdf(seed, 2), seed, noise=1e-3, friction=False)
    result = problem.solve()
    assert problem.chi_square(result) < 1e-2
    inverse = [np.linalg.inv(pseudo_inertia(phi)) for phi in problem.prior.reshape(-1, 10)]
    start = problem.truth - problem.combination.T @ (problem.combination @ problem.truth - problem.estimate)
    hidden = np.linalg.svd(problem.combination)[2][len(problem.combination) :]

    def divergence(full: FloatArray) -> float:
        total = 0.0
        for phi, weight in zip(full.reshape(-1, 10), inverse, strict=True):
            sign, logarithm = np.linalg.slogdet(pseudo_inertia(phi))
            if sign <= 0.0 or not is_feasible(phi):
                return float("inf")
            total += float(np.trace(weight @ pseudo_inertia(phi)) - logarithm)
        return total

    found = minimize(
        lambda y: divergence(start + y @ hidden),
        np.zeros(len(hidden)),
        method="Nelder-Mead",
        options={"maxiter": 20000, "maxfev": 20000, "adaptive": True},
    )
    assert divergence(result) < found.fun + 1e-2
    assert divergence(result) < divergence(problem.truth)


@pytest.mark.parametrize("name", ["ddarm.urdf", "puma560.urdf"])
@pytest.mark.parametrize("seed", range(3))
def test_precise_data_are_met_exactly(name: str, seed: int) -> None:
    problem = make_problem((URDFS / name).read_text(), seed, noise=1e-3)
    result = problem.solve()
    problem.check(result)
    assert problem.chi_square(result) < 1e-2
    np.testing.assert_allclose(problem.regressor @ result, problem.regressor @ problem.truth, atol=5e-3)


@pytest.mark.parametrize("name", ["ddarm.urdf", "puma560.urdf"])
def test_true_prior_comes_back(name: str) -> None:
    """Where the URDF is right, what the data do not tell stays as it is there."""
    problem = make_problem((URDFS / name).read_text(), seed=4, noise=1e-6, friction=False, same=True)
    result = problem.solve()
    for found, expected in zip(result.reshape(-1, 10), problem.prior.reshape(-1, 10), strict=True):
        scale = np.sqrt(np.diag(pseudo_inertia(expected)))
        difference = (pseudo_inertia(found) - pseudo_inertia(expected)) / np.outer(scale, scale)
        np.testing.assert_allclose(difference, 0.0, atol=2e-3)


def test_without_information_it_is_the_prior() -> None:
    problem = make_problem((URDFS / "puma560.urdf").read_text(), seed=5, noise=1.0)
    nothing = np.zeros_like(problem.root)
    result = nearest_feasible_links(
        problem.prior, problem.estimate, nothing, problem.combination, problem.links, problem.positive
    )
    np.testing.assert_allclose(result[:60], problem.prior[:60], rtol=1e-3, atol=1e-6)
    np.testing.assert_allclose(result[60:], 0.0, atol=1.1e-3)


def break_link(problem: Problem, link: int, phi: FloatArray) -> Problem:
    prior = problem.prior.copy()
    prior[10 * link : 10 * link + 10] = phi
    return Problem(prior, *(getattr(problem, name) for name in Problem.__slots__[1:]))


def test_published_links_that_cannot_exist_are_a_usable_prior() -> None:
    """Link 1 of the DDArm's CAD model and link 3 of the PUMA break the triangle inequality."""
    cad = np.array([67.13, 0.0, 2.432, 35.8257, 23.1568, 0.0, -0.3145, 20.4472, -1.2948, 0.7418])
    puma = compose(4.8, np.array([0.0, -0.070, 0.014]), np.diag([0.066, 0.0125, 0.086]))
    for name, link, phi in (("ddarm.urdf", 0, cad), ("puma560.urdf", 2, puma)):
        assert not is_feasible(phi)
        problem = break_link(make_problem((URDFS / name).read_text(), 6, noise=0.5, same=True), link, phi)
        result = problem.solve()
        problem.check(result)
        assert problem.chi_square(result) < problem.chi_square(problem.truth) + TOLERANCE
    np.testing.assert_allclose(decompose(make_plausible(cad))[1], cad[1:4] / cad[0])


@pytest.mark.parametrize("phi", [np.zeros(10), np.r_[-1.0, np.zeros(9)], np.r_[5.0, 0.4, np.zeros(8)]])
def test_links_without_mass_or_size_are_a_usable_prior(phi: FloatArray) -> None:
    assert is_feasible(make_plausible(phi))
    for link in range(3):
        problem = break_link(make_problem((URDFS / "ddarm.urdf").read_text(), 7, noise=1e-2), link, phi)
        result = problem.solve()
        problem.check(result)
        assert problem.chi_square(result) < problem.chi_square(problem.truth) + TOLERANCE


@pytest.mark.parametrize("seed", range(24))
def test_any_arm_gives_links_that_can_exist(seed: int) -> None:
    """One to nine joints, some that hardly move: condition numbers of the information from 1e2 to 1e14."""
    urdf = make_random_urdf(seed, 1 + seed % 8)
    problem = make_problem(urdf, seed, noise=10.0 ** (seed % 4 - 3), weakest=10.0 ** -(seed % 5))
    result = problem.solve()
    problem.check(result)
    assert problem.chi_square(result) < problem.chi_square(problem.truth) + TOLERANCE


def test_numbers_that_are_not_finite_are_refused() -> None:
    problem = make_problem((URDFS / "ddarm.urdf").read_text(), seed=8, noise=1.0)
    with pytest.raises(NotIdentifiedError, match="not finite"):
        break_link(problem, 0, np.full(10, np.nan)).solve()


def solid(semi_axes: tuple[float, float, float], density: float) -> FloatArray:
    """A solid ellipsoid, by the textbook."""
    a, b, c = np.square(semi_axes)
    mass = density * 4.0 / 3.0 * np.pi * float(np.prod(semi_axes))
    return compose(mass, np.array([0.1, 0.0, 0.2]), mass / 5.0 * np.diag([b + c, a + c, a + b]))


@pytest.mark.parametrize("semi_axes", [(0.05, 0.05, 0.05), (0.3, 0.02, 0.02), (0.2, 0.2, 0.005)])
def test_no_link_is_denser_than_steel(semi_axes: tuple[float, float, float]) -> None:
    """A ball, a rod and a plate of aluminium are left as they are; of lead they become as thin as if of steel."""
    light, steel, lead = (solid(semi_axes, density) for density in (2700.0, 7850.0, 11340.0))
    np.testing.assert_array_equal(make_plausible(light), light)
    assert not is_at_bound(light)
    assert is_at_bound(steel)
    thick = make_plausible(lead)
    assert is_feasible(thick)
    assert is_at_bound(thick)
    np.testing.assert_allclose(thick[:4], lead[:4])
    mass, _, inertia = decompose(thick)
    moments = np.linalg.eigvalsh(0.5 * np.trace(inertia) * np.eye(3) - inertia)
    volume = 4.0 / 3.0 * np.pi * np.sqrt(np.prod(5.0 * moments / mass))
    assert volume == pytest.approx(mass / 7850.0)


def test_a_link_of_no_size_becomes_a_ball_of_steel() -> None:
    mass, _, inertia = decompose(make_plausible(compose(3.0, np.zeros(3), 1e-6 * np.eye(3))))
    radius = np.cbrt(3.0 * mass / (4.0 * np.pi * 7850.0))
    np.testing.assert_allclose(inertia, 0.4 * mass * radius**2 * np.eye(3), rtol=1e-9, atol=1e-12)


def measure_fill(phi: FloatArray, box: FloatArray) -> FloatArray:
    """Second moments (3,) of a body about the centre of a box, along its axes, as parts of the largest in the box."""
    mass, com, inertia = decompose(phi)
    moments = np.diag(0.5 * np.trace(inertia) * np.eye(3) - inertia) + mass * (com - box[0]) ** 2
    return np.asarray(moments / (mass * box[1] ** 2))


@pytest.mark.parametrize("seed", range(3))
def test_links_stay_in_their_boxes_and_predict_the_same(seed: int) -> None:
    """What the data leave open moves into the boxes; torques do not."""
    problem = make_problem((URDFS / "puma560.urdf").read_text(), seed, noise=1e-3, friction=False)
    truth = problem.truth.reshape(-1, 10)
    boxes = np.array([(np.zeros(3), np.full(3, 0.1)) for _ in truth])
    boxes[:, 1] = np.sqrt(
        [1.5 * (measure_fill(phi, box) * box[1] ** 2).max() for phi, box in zip(truth, boxes, strict=True)]
    )[:, None]
    result = problem.solve(boxes)
    problem.check(result)
    for phi, box, prior in zip(result.reshape(-1, 10), boxes, problem.prior.reshape(-1, 10), strict=True):
        assert np.all(measure_fill(phi, widen_box(box, make_plausible(prior))) < 1.0)
    assert problem.chi_square(result) < 1e-2
    np.testing.assert_allclose(problem.regressor @ result, problem.regressor @ problem.truth, atol=5e-3)


def test_the_cost_of_a_box_is_that_of_constrained_least_squares() -> None:
    """Scipy's SLSQP over Cholesky factors, with the box as inequalities, on data that ask for a link outside of it."""
    box, lower = np.array([np.zeros(3), np.full(3, 0.1)]), np.tril_indices(4)
    prior = compose(2.0, np.zeros(3), 1e-3 * np.eye(3))
    wanted = compose(1.5, np.array([0.02, -0.15, 0.05]), np.diag([3e-3, 4e-3, 5e-3]))
    root = np.diag(1.0 / np.array([0.1] + [0.02] * 3 + [5e-3] * 6))

    def solve(boxes: FloatArray | None) -> FloatArray:
        return nearest_feasible_links(prior, wanted, root, np.eye(10), 1, np.empty(0, dtype=np.int64), boxes)

    def cost(phi: FloatArray) -> float:
        return float(np.sum((root @ (phi - wanted)) ** 2))

    def build(factors: FloatArray) -> FloatArray:
        triangle = np.zeros((4, 4))
        triangle[lower] = factors
        return from_pseudo_inertia(triangle @ triangle.T)

    found = minimize(
        lambda factors: cost(build(factors)),
        np.linalg.cholesky(pseudo_inertia(prior))[lower],
        method="SLSQP",
        constraints={"type": "ineq", "fun": lambda factors: 1.0 - measure_fill(build(factors), box)},
        options={"maxiter": 2000, "ftol": 1e-10},
    )
    assert cost(solve(None)) < 2.0 * TOLERANCE
    result = solve(box[None])
    assert np.all(measure_fill(result, box) < 1.0)
    assert is_at_side(box, result)
    assert found.fun > 1.0
    assert abs(cost(result) - found.fun) < 2.0 * TOLERANCE * found.fun
