"""Efforts of an identified arm against pinocchio, and their uncertainty against draws from it."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from support.chain import DDARM
from support.link_chain import FRICTION, LINKS

from inertid_ros.control.inverse_model import CarriedLoad, DecoupledModel, InverseModel
from inertid_ros.core.equations.model import LinkModel
from inertid_ros.core.errors import NotIdentifiedError, UnknownFrameError
from inertid_ros.core.records import FloatArray
from inertid_ros.core.robot.robot import Robot
from inertid_ros.core.settings.settings import Settings
from inertid_ros.files.parameters import load_from_yaml
from inertid_ros.files.share import share_path
from inertid_ros.motions.motion import JointPath
from inertid_ros.sim.arm import with_links

ROBOT = Robot.from_urdf(DDARM)
BAR = load_from_yaml(share_path("config", "loads", "bar.yaml"))
GRAVITY = [0.5, -1.0, -9.5]


def make_model(**links: object) -> LinkModel:
    settings = Settings.from_flat({"gravity": GRAVITY, **{f"links.{name}": value for name, value in links.items()}})
    return LinkModel.from_settings(ROBOT, settings, ROBOT.joint_names)


def true_values(model: LinkModel) -> FloatArray:
    unknowns = model.unknowns
    full = np.zeros(len(unknowns.names))
    full[unknowns.inertial] = LINKS.ravel()
    full[unknowns.viscous], full[unknowns.coulomb] = FRICTION.viscous_friction, FRICTION.coulomb_friction
    full[unknowns.rotor_inertia], full[unknowns.offset] = FRICTION.rotor_inertia, FRICTION.effort_offset
    return np.asarray(model.base.combination @ full)


def random_path(count: int = 20, seed: int = 0) -> JointPath:
    q, v, a = np.random.default_rng(seed).normal(0.0, 2.0, (3, count, 3))
    return JointPath(q, v, a)


@pytest.mark.parametrize("carried", [False, True])
def test_efforts_are_those_of_rnea_with_friction_and_load(carried: bool) -> None:
    model = make_model()
    load = CarriedLoad("ft_sensor", BAR, np.zeros((10, 10))) if carried else None
    inverse, path = InverseModel(model, true_values(model), load=load), random_path()
    arm = with_links(ROBOT, LINKS).model
    arm.gravity.linear = np.array(GRAVITY)
    if carried:
        frame = arm.frames[arm.getFrameId("ft_sensor")]
        mass, com = BAR[0], BAR[1:4] / BAR[0]
        inertia = BAR[[[4, 5, 6], [5, 7, 8], [6, 8, 9]]] - mass * (com @ com * np.eye(3) - np.outer(com, com))
        arm.appendBodyToJoint(frame.parentJoint, pin.Inertia(mass, com, inertia), frame.placement)
    data = arm.createData()
    expected = np.array([pin.rnea(arm, data, *state) for state in zip(*path, strict=True)]) + FRICTION.efforts(path)
    np.testing.assert_allclose(inverse.efforts(path), expected, atol=1e-8)
    inertias = []
    for q in path.positions:
        upper = np.triu(pin.crba(arm, data, q))
        inertias.append(upper + np.triu(upper, 1).T + np.diag(np.asarray(FRICTION.rotor_inertia)))
    np.testing.assert_allclose(inverse.inertia(path.positions), inertias, atol=1e-8)


def test_momentum_and_remainder_make_up_the_efforts_without_accelerations() -> None:
    model = make_model()
    inverse = InverseModel(model, true_values(model))
    times = np.linspace(0.0, 1.0, 2001)
    scale = np.array([1.0, 1.7, 2.3])
    phase = times[:, None] * scale + 0.3
    path = JointPath(2.0 * np.sin(phase), 2.0 * scale * np.cos(phase), -2.0 * scale**2 * np.sin(phase))
    rate = np.gradient(inverse.momentum(*path[:2]), times, axis=0)
    whole = rate + inverse.remainder(*path[:2])
    np.testing.assert_allclose(whole[1:-1], inverse.efforts(path)[1:-1], atol=2e-3)


def test_deviations_are_the_scatter_of_arms_drawn_from_the_covariance() -> None:
    model = make_model()
    random, values = np.random.default_rng(2), true_values(model)
    factor = 0.01 * random.normal(size=(len(values), len(values)))
    load = CarriedLoad("ft_sensor", BAR, np.diag(np.full(10, 1e-4)))
    inverse = InverseModel(model, values, factor @ factor.T, np.array([1.0, 2.0, 3.0]), load)
    path = random_path(4)
    draws = random.multivariate_normal(inverse.values, inverse.covariance, 20000)
    scatter = np.einsum("nku,du->dnk", inverse.regress(path), draws).std(axis=0)
    np.testing.assert_allclose(inverse.spread(path), scatter, rtol=0.05)
    np.testing.assert_allclose(inverse.deviations(path), np.hypot(scatter, [1.0, 2.0, 3.0]), rtol=0.05)


def test_joints_are_unknown_where_their_parameters_matter() -> None:
    model = make_model()
    values = true_values(model)
    covariance = np.zeros((len(values), len(values)))
    column = [model.base.names[index] for index in model.base.columns].index("link1.Izz")
    covariance[column, column] = 10.0**2
    inverse, path = InverseModel(model, values, covariance), random_path()
    assert list(inverse.find_unknown(path)) == ["joint1"]
    still = JointPath(path.positions, np.zeros_like(path.positions), np.zeros_like(path.positions))
    assert inverse.find_unknown(still) == {}


def test_an_arm_known_from_its_base_alone_is_refused() -> None:
    model = make_model(source="base_wrench")
    with pytest.raises(NotIdentifiedError, match="shows no friction"):
        InverseModel(model, model.prior)


def test_the_frame_of_a_load_must_exist() -> None:
    model = make_model()
    with pytest.raises(UnknownFrameError, match="flange"):
        InverseModel(model, model.prior, load=CarriedLoad("flange", BAR, np.zeros((10, 10))))


def test_the_decoupled_model_has_mean_inertias_and_nothing_else() -> None:
    model = make_model()
    inverse = InverseModel(model, true_values(model))
    poses = np.random.default_rng(0).uniform(-np.pi, np.pi, (500, 3))
    decoupled, path = DecoupledModel(inverse, poses), random_path()
    diagonal = np.diagonal(inverse.inertia(poses), axis1=1, axis2=2)
    np.testing.assert_allclose(decoupled.inertias, (diagonal.max(axis=0) + diagonal.min(axis=0)) / 2.0)
    np.testing.assert_allclose(decoupled.efforts(path), decoupled.inertias * path.accelerations)
    np.testing.assert_allclose(decoupled.momentum(*path[:2]), decoupled.inertias * path.velocities)
    assert not decoupled.remainder(*path[:2]).any()
