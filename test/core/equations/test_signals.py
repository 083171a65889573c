"""The arm's equations without accelerations, against pinocchio with true accelerations."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from support.arm_regressor import ArmRegressor
from support.random_robots import make_random_tree

from inertid_ros.core.equations.arm import LinkUnknowns, Payload, make_arm_equation
from inertid_ros.core.equations.equation import Equation
from inertid_ros.core.equations.signals import MOMENTUM, REST, compute_signals, project_momentum
from inertid_ros.core.records import FloatArray, IntArray
from inertid_ros.core.rigid_body.inertial import compose, from_pinocchio, to_pinocchio
from inertid_ros.core.robot.robot import ArmModel, Robot
from inertid_ros.core.settings.choices import Source
from inertid_ros.motions.motion import MinimumJerk
from inertid_ros.sim.sensors import SensorModel
from inertid_ros.sim.simulator import Simulator

GRAVITY = np.array([2.0, -3.0, -9.0])
KINDS = ("revolute", "continuous", "prismatic")
COULOMB_VELOCITY = 0.5
STEP = 1e-5


def draw_body(random: np.random.Generator) -> FloatArray:
    factor = random.normal(size=(3, 3))
    return compose(random.uniform(1.0, 9.0), random.normal(size=3), factor @ factor.T)


def draw_pose(random: np.random.Generator) -> pin.SE3:
    return pin.SE3(pin.exp3(random.normal(size=3)), random.normal(size=3))


def make_tree(seed: int) -> tuple[ArmModel, FloatArray]:
    """A tree of 1 to 9 joints with random bodies, and their parameters."""
    arm = ArmModel.of(Robot.from_urdf(make_random_tree(seed, 1 + seed % 9, KINDS)), GRAVITY)
    random = np.random.default_rng(seed)
    bodies = []
    for index in range(1, arm.model.njoints):
        bodies.append(draw_body(random))
        arm.model.inertias[index] = to_pinocchio(bodies[-1])
    return arm, np.concatenate(bodies)


def make_equation(
    arm: ArmModel,
    source: Source,
    pose: pin.SE3 | None = None,
    chosen: IntArray | None = None,
    payload: Payload | None = None,
    with_drives: bool = False,
) -> Equation:
    unknowns = LinkUnknowns.of(arm, source, *[with_drives] * 5)
    chosen = np.arange(len(unknowns.names)) if chosen is None else chosen
    return make_arm_equation(arm, source, unknowns, chosen, pose or pin.SE3.Identity(), COULOMB_VELOCITY, payload)


def compute(equation: Equation, q: FloatArray, v: FloatArray) -> tuple[FloatArray, FloatArray]:
    """P and R, (N, K, U) each, at (N, n) positions and velocities."""
    momenta, rests = np.zeros((2, len(q), equation.signals))
    x, at = equation.memory
    for k in range(len(q)):
        compute_signals(x, at, q[k], v[k], np.full_like(q[k], np.nan), False)
        momenta[k, : equation.momenta] = x[at[MOMENTUM] : at[MOMENTUM] + equation.momenta]
        rests[k] = x[at[REST] : at[REST] + equation.signals]
    return equation.assemble(momenta), equation.assemble(rests)


def inverse_dynamics(
    model: pin.Model, q: FloatArray, v: FloatArray, a: FloatArray, pose: pin.SE3
) -> dict[Source, FloatArray]:
    """Efforts (N, n), and wrenches (N, 6) in the base sensor's frame: the sum of the forces on all root bodies."""
    data = model.createData()
    roots = [index for index in range(1, model.njoints) if model.parents[index] == 0]
    efforts, wrenches = [], []
    for state in zip(q, v, a, strict=True):
        efforts.append(np.array(pin.rnea(model, data, *state)))
        total = sum((data.liMi[index].act(data.f[index]) for index in roots), pin.Force.Zero())
        wrenches.append(pose.actInv(total).vector)
    both = np.hstack((wrenches, efforts))
    return {Source.EFFORT: both[:, 6:], Source.BASE_WRENCH: both[:, :6], Source.BOTH: both}


@pytest.mark.parametrize("seed", range(10))
def test_rate_of_momentum_plus_rest_is_inverse_dynamics(seed: int) -> None:
    """d/dt (P phi) by a difference along a motion with true accelerations; rnea knows of neither P nor R."""
    arm, parameters = make_tree(seed)
    random = np.random.default_rng(100 + seed)
    q, v, a = random.uniform(-2.0, 2.0, (3, 20, len(arm.joint_names)))
    pose = draw_pose(random)
    for source, truth in inverse_dynamics(arm.model, q, v, a, pose).items():
        equation = make_equation(arm, source, pose)
        ahead, behind = (compute(equation, q + s * v + 0.5 * s**2 * a, v + s * a)[0] for s in (STEP, -STEP))
        rest = compute(equation, q, v)[1]
        found = ((ahead - behind) / (2.0 * STEP) + rest) @ parameters
        np.testing.assert_allclose(found, truth, atol=1e-7 * np.abs(truth).max())
        plain = equation.assemble(equation.compute(q, v, a)) @ parameters
        np.testing.assert_allclose(plain, truth, atol=1e-11 * np.abs(truth).max())


@pytest.mark.parametrize("source", Source)
@pytest.mark.parametrize("seed", range(9))
def test_every_entry_is_pinocchio_s(seed: int, source: Source) -> None:
    """P, R and the whole regressor, against joint torque regressors of the arm on a free-flying base."""
    arm, _ = make_tree(seed)
    random = np.random.default_rng(seed)
    q, v, a = random.uniform(-2.0, 2.0, (3, 6, len(arm.joint_names)))
    pose = draw_pose(random)
    equation, oracle = make_equation(arm, source, pose), ArmRegressor(arm, source, pose)
    whole = oracle.with_accelerations(q, v, a)
    np.testing.assert_allclose(equation.assemble(equation.compute(q, v, a)), whole, atol=1e-11 * np.abs(whole).max())
    momentum, rest = np.empty((2, len(q), len(oracle.rows)))
    oracle.compute(q, v, momentum, rest)
    for found, expected, tolerance in zip(compute(equation, q, v), (momentum, rest), (1e-10, 1e-8), strict=True):
        spread = np.zeros(whole.shape)
        spread[:, oracle.rows, oracle.columns] = expected
        np.testing.assert_allclose(found, spread, atol=tolerance * np.abs(whole).max())


@pytest.mark.parametrize("source", Source)
@pytest.mark.parametrize("seed", range(1, 9))
def test_columns_of_a_payload_are_those_of_inertia_added_to_its_link(seed: int, source: Source) -> None:
    arm, parameters = make_tree(seed)
    n = len(arm.joint_names)
    random = np.random.default_rng(200 + seed)
    body, place, load, pose = int(random.integers(n)), draw_pose(random), draw_body(random), draw_pose(random)
    loaded = arm.model.copy()
    loaded.inertias[body + 1] += place.act(to_pinocchio(load))
    q, v, a = random.uniform(-2.0, 2.0, (3, 10, n))
    truth = inverse_dynamics(loaded, q, v, a, pose)[source]
    equation = make_equation(arm, source, pose, payload=Payload(body, place))
    assert equation.unknowns[-10:] == tuple(
        f"load.{name}" for name in ("m", "mcx", "mcy", "mcz", "Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz")
    )
    values = np.concatenate((parameters, load))
    found = equation.assemble(equation.compute(q, v, a)) @ values
    np.testing.assert_allclose(found, truth, atol=1e-11 * np.abs(truth).max())
    plain = make_equation(arm, source, pose)
    for with_load, without in zip(compute(equation, q, v), compute(plain, q, v), strict=True):
        added = from_pinocchio(loaded.inertias[body + 1]) - from_pinocchio(arm.model.inertias[body + 1])
        expected = without[..., 10 * body : 10 * body + 10] @ added
        np.testing.assert_allclose(with_load[..., -10:] @ load, expected, atol=1e-11 * np.abs(truth).max())


def test_drives_add_friction_rotors_and_offsets() -> None:
    arm, parameters = make_tree(4)
    n = len(arm.joint_names)
    random = np.random.default_rng(0)
    q, a = random.normal(size=(2, 30, n))
    v = random.uniform(-1.0, 1.0, (30, n))
    viscous, coulomb, rotor, offset = random.uniform(0.5, 2.0, (4, n))
    base_offset = random.normal(size=6)
    equation = make_equation(arm, Source.BOTH, with_drives=True)
    values = np.concatenate((parameters, viscous, coulomb, rotor, offset, base_offset))
    truth = inverse_dynamics(arm.model, q, v, a, pin.SE3.Identity())[Source.BOTH]
    truth[:, :6] += base_offset
    truth[:, 6:] += viscous * v + coulomb * np.clip(v / COULOMB_VELOCITY, -1.0, 1.0) + rotor * a + offset
    found = equation.assemble(equation.compute(q, v, a)) @ values
    np.testing.assert_allclose(found, truth, atol=1e-11 * np.abs(truth).max())
    momentum, rest = compute(equation, q, v)
    part = slice(10 * n + 2 * n, 10 * n + 3 * n)
    np.testing.assert_allclose(momentum[:, 6:, part] @ rotor, rotor * v)
    assert not rest[:, :, part].any()


@pytest.mark.parametrize("seed", range(4))
def test_projected_momentum_is_the_screw_times_the_body_s_momentum(seed: int) -> None:
    random = np.random.default_rng(seed)
    screw, twist = random.normal(size=(2, 6))
    phi = draw_body(random)
    momentum = to_pinocchio(phi) * pin.Motion(twist)
    assert project_momentum(tuple(screw), tuple(twist)) @ phi == pytest.approx(screw @ momentum.vector, rel=1e-12)


@pytest.mark.parametrize("seed", [2, 5, 8])
def test_base_wrench_is_the_one_that_the_simulator_measures(seed: int) -> None:
    urdf = make_random_tree(seed, 1 + seed % 9)
    arm = ArmModel.of(Robot.from_urdf(urdf), GRAVITY)
    poses = np.random.default_rng(seed).normal(size=(2, len(arm.joint_names)))
    motion = MinimumJerk(poses, [1.0])
    simulator = Simulator(urdf, arm.link_names[-1], motion, SensorModel(effort_noise=0.0), gravity=GRAVITY)
    path = motion.at(np.arange(200) / 200.0)
    equation = make_equation(arm, Source.BOTH)
    found = equation.assemble(equation.compute(*path)) @ arm.parameters
    efforts = simulator.joints(0.0, 1.0).efforts
    assert efforts is not None
    np.testing.assert_allclose(found[:, :6], simulator.base_wrenches(0.0, 1.0).wrenches, atol=1e-8)
    np.testing.assert_allclose(found[:, 6:], efforts, atol=1e-8)


def test_only_wanted_columns_that_have_an_effect_are_kept() -> None:
    arm, parameters = make_tree(6)
    chosen = np.array([4, 33, 61])
    everything, some = make_equation(arm, Source.EFFORT), make_equation(arm, Source.EFFORT, chosen=chosen)
    assert some.unknowns == tuple(everything.unknowns[index] for index in chosen)
    assert some.signals < everything.signals
    q, v = np.random.default_rng(0).normal(size=(2, 5, len(arm.joint_names)))
    for left, right in zip(compute(some, q, v), compute(everything, q, v), strict=True):
        np.testing.assert_allclose(left @ parameters[chosen], right[..., chosen] @ parameters[chosen], atol=1e-12)
    for channel, used in enumerate(everything.used):
        assert all(channel + 1 in arm.model.supports[index // 10 + 1] for index in used.tolist())


def test_entries_that_are_always_zero_are_not_computed() -> None:
    """Of a joint's own link about its axis, seven of ten parameters show in its effort at most."""
    arm, _ = make_tree(0)
    equation = make_equation(arm, Source.EFFORT)
    assert len(equation.entry_unknowns) < 10
    q, v, a = np.random.default_rng(1).normal(size=(3, 50, 1))
    assert np.all(np.abs(equation.compute(q, v, a)).max(axis=0) > 0.0)
