"""Joint efforts against pinocchio on the loaded robot, against energy, and each error against its definition."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

from inertid_ros.core.errors import SettingError
from inertid_ros.core.records import FloatArray
from inertid_ros.core.rigid_body.inertial import compose, from_pinocchio, to_pinocchio
from inertid_ros.core.robot.robot import Robot
from inertid_ros.files.parameters import load_from_yaml
from inertid_ros.files.share import share_path
from inertid_ros.motions.motion import Hold, JointPath, MinimumJerk, Motion, paper_ddarm_link_moves, with_rest
from inertid_ros.sim.arm import JointFriction, links_of, with_links
from inertid_ros.sim.sensors import SensorModel, paper_ddarm_link_sensors
from inertid_ros.sim.simulator import Simulator

TILTED = np.array([1.2, -3.4, -9.0])
BAR = load_from_yaml(share_path("config", "loads", "bar.yaml"))
GRIPPER = load_from_yaml(share_path("config", "loads", "gripper.yaml"))
PERFECT = SensorModel(velocity_noise=0.0, effort_noise=0.0)


def random_move(robot: Robot, seed: int, duration: float = 1.0) -> MinimumJerk:
    """Through three random poses."""
    poses = np.random.default_rng(seed).normal(0.0, 1.0, (3, robot.model.nv))
    return MinimumJerk(poses, [duration / 2.0] * 2)


def random_friction(count: int, seed: int) -> JointFriction:
    """Everything at once, different in all joints."""
    random = np.random.default_rng(seed)
    viscous, coulomb, rotor = random.uniform(0.5, 5.0, (3, count))
    return JointFriction(viscous, coulomb, rotor, random.normal(0.0, 3.0, count))


def loaded_model(robot: Robot, phi: FloatArray) -> pin.Model:
    """The robot with a load fixed to its sensor frame, for good."""
    model = robot.model.copy()
    model.gravity.linear = TILTED
    frame = model.frames[model.getFrameId("ft_sensor")]
    model.appendBodyToJoint(frame.parentJoint, to_pinocchio(phi), frame.placement)
    return model


def efforts_of(simulator: Simulator, start: float, end: float) -> FloatArray:
    efforts = simulator.joints(start, end).efforts
    assert efforts is not None
    return efforts


def test_efforts_are_inverse_dynamics_of_arm_tool_and_load_plus_friction(any_urdf: str) -> None:
    robot = Robot.from_urdf(any_urdf)
    move, friction = random_move(robot, 1), random_friction(robot.model.nv, 2)
    simulator = Simulator(
        any_urdf, "ft_sensor", move, PERFECT, [(0.5, BAR)], gravity=TILTED, tool=GRIPPER, friction=friction
    )
    block = simulator.joints(0.0, 1.0)
    assert block.efforts is not None
    for i, time in enumerate(np.arange(200) / 200.0):
        model = loaded_model(robot, GRIPPER + (BAR if time >= 0.5 else 0.0))
        q, v, a = (values[0] for values in move.at(np.array([time])))
        expected = pin.rnea(model, model.createData(), q, v, a) + friction.effort_offset
        expected += friction.viscous_friction * v + friction.coulomb_friction * np.sign(v) + friction.rotor_inertia * a
        np.testing.assert_allclose(block.efforts[i], expected, rtol=1e-9, atol=1e-9)


def test_power_of_the_efforts_is_energy_gained_and_heat(any_urdf: str) -> None:
    """tau v = d/dt (kinetic + potential + rotors) + friction and offset times v, by differences of the energies."""
    robot = Robot.from_urdf(any_urdf)
    move, friction = random_move(robot, 3), random_friction(robot.model.nv, 4)
    simulator = Simulator(any_urdf, "ft_sensor", move, PERFECT, [(0.0, BAR)], gravity=TILTED, friction=friction)
    efforts = efforts_of(simulator, 0.0, 1.0)
    model = loaded_model(robot, BAR)
    data = model.createData()

    def energy(time: float) -> float:
        q, v, _ = (values[0] for values in move.at(np.array([time])))
        rotors = 0.5 * float(friction.rotor_inertia @ v**2)
        return float(pin.computeKineticEnergy(model, data, q, v) + pin.computePotentialEnergy(model, data, q)) + rotors

    for i in (7, 40, 83, 120, 166, 191):
        time = i / 200.0
        velocity = move.at(np.array([time])).velocities[0]
        gained = (energy(time + 1e-5) - energy(time - 1e-5)) / 2e-5
        lost = friction.viscous_friction @ velocity**2 + friction.coulomb_friction @ np.abs(velocity)
        lost += friction.effort_offset @ velocity
        assert efforts[i] @ velocity == pytest.approx(gained + lost, rel=1e-6, abs=1e-5)


def test_friction_and_rotors_are_not_felt_at_the_base(puma_urdf: str) -> None:
    move = random_move(Robot.from_urdf(puma_urdf), 5)
    ideal, rough = (
        Simulator(puma_urdf, "ft_sensor", move, PERFECT, [(0.0, BAR)], friction=friction)
        for friction in (None, random_friction(6, 6))
    )
    np.testing.assert_array_equal(rough.base_wrenches(0.0, 1.0).wrenches, ideal.base_wrenches(0.0, 1.0).wrenches)
    assert np.all(np.abs(efforts_of(rough, 0.1, 0.9) - efforts_of(ideal, 0.1, 0.9)).max(axis=0) > 1.0)


def test_at_rest_there_is_no_coulomb_friction_and_the_load_may_change(puma_urdf: str) -> None:
    friction = JointFriction(coulomb_friction=5.0, viscous_friction=2.0)
    pose = np.array([0.3, -0.5, 0.4, 0.2, 0.6, 0.1])
    still = Simulator(puma_urdf, "ft_sensor", Hold(pose), PERFECT, [(0.1, BAR)], gravity=TILTED, friction=friction)
    efforts = efforts_of(still, 0.0, 0.2)
    robot = Robot.from_urdf(puma_urdf)
    for rows, phi in ((slice(0, 20), None), (slice(20, 40), BAR)):
        model = robot.model.copy() if phi is None else loaded_model(robot, phi)
        model.gravity.linear = TILTED
        gravity = pin.computeGeneralizedGravity(model, model.createData(), pose)
        np.testing.assert_allclose(efforts[rows], np.tile(gravity, (20, 1)), atol=1e-10)


def simulate_ddarm(motion: Motion, **sensors: object) -> Simulator:
    """The direct drive arm with efforts, otherwise perfect."""
    urdf = share_path("urdf", "ddarm.urdf").read_text(encoding="utf-8")
    return Simulator(urdf, "ft_sensor", motion, replace(PERFECT, **sensors), seed=8)  # type: ignore[arg-type]


def test_noise_has_its_standard_deviation_in_each_joint_and_is_white() -> None:
    motion = Hold([0.1, 0.2, 0.3])
    sigma = (2.0, 0.5, 0.1)
    errors = efforts_of(simulate_ddarm(motion, effort_noise=sigma), 0.0, 50.0) - efforts_of(
        simulate_ddarm(motion), 0.0, 50.0
    )
    np.testing.assert_allclose(errors.std(0), sigma, rtol=0.03)
    np.testing.assert_allclose(errors.mean(0) / sigma, 0.0, atol=0.04)
    np.testing.assert_allclose(np.corrcoef(errors.T, np.roll(errors, 1, axis=0).T), np.eye(6), atol=0.05)


def test_noise_leaves_that_of_the_tachometers_as_it_was() -> None:
    motion = Hold([0.1, 0.2, 0.3])
    with_efforts = simulate_ddarm(motion, velocity_noise=0.1, effort_noise=1.0).joints(0.0, 1.0)
    without = simulate_ddarm(motion, velocity_noise=0.1, effort_noise=None).joints(0.0, 1.0)
    assert without.efforts is None
    assert with_efforts.velocities is not None
    assert with_efforts.efforts is not None
    np.testing.assert_array_equal(with_efforts.velocities, without.velocities)
    noise = with_efforts.efforts - efforts_of(simulate_ddarm(motion), 0.0, 1.0)
    assert np.abs(np.corrcoef(noise[:, 0], with_efforts.velocities[:, 0])[0, 1]) < 0.3


def test_delay_shifts_efforts_against_positions() -> None:
    motion = with_rest(paper_ddarm_link_moves()[0], 0.5, 0.5)
    late, prompt = simulate_ddarm(motion, effort_delay=0.02), simulate_ddarm(motion)
    np.testing.assert_allclose(efforts_of(late, 0.02, 2.0), efforts_of(prompt, 0.0, 1.98), atol=1e-6)
    np.testing.assert_array_equal(late.joints(0.0, 1.0).positions, prompt.joints(0.0, 1.0).positions)


def test_saturated_efforts_stop_at_the_limit_with_their_noise() -> None:
    motion = paper_ddarm_link_moves()[0]
    limit = np.array([50.0, 20.0, np.inf])
    free = efforts_of(simulate_ddarm(motion, effort_noise=2.0), 0.0, 1.3)
    cut = efforts_of(simulate_ddarm(motion, effort_noise=2.0, effort_limit=(50.0, 20.0, 0.0)), 0.0, 1.3)
    assert np.any(np.abs(free) > limit, axis=0).tolist() == [True, True, False]
    np.testing.assert_array_equal(cut, np.where(np.abs(free) > limit, np.sign(free) * limit, free))


def test_sensors_of_the_link_experiment_are_the_paper_s() -> None:
    sensors = paper_ddarm_link_sensors(3)
    assert (sensors.effort_noise, sensors.velocity_noise, sensors.joint_rate) == (2.0, 0.01, 1000.0)


def test_efforts_do_not_depend_on_the_stretches() -> None:
    simulator = simulate_ddarm(with_rest(paper_ddarm_link_moves()[1], 0.3), effort_noise=1.0, effort_delay=0.004)
    parts = [efforts_of(simulator, start, end) for start, end in ((0.0, 0.31), (0.31, 0.32), (0.32, 1.6))]
    np.testing.assert_array_equal(np.concatenate(parts), efforts_of(simulator, 0.0, 1.6))
    assert efforts_of(simulator, 1.0, 1.0).shape == (0, 3)


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("viscous_friction", -1.0, "0 or more"),
        ("coulomb_friction", [1.0, np.nan], "0 or more"),
        ("effort_offset", np.inf, "finite"),
    ],
)
def test_impossible_drives_are_rejected(name: str, value: object, expected: str) -> None:
    with pytest.raises(SettingError, match=f"'{name}'.*{expected}"):
        JointFriction(**{name: value})  # type: ignore[arg-type]


def test_numbers_for_other_joints_than_there_are_are_rejected(ddarm_urdf: str) -> None:
    with pytest.raises(SettingError, match=r"'coulomb_friction'.*each of the 3 joints"):
        Simulator(ddarm_urdf, "ft_sensor", Hold([0.0] * 3), friction=JointFriction(coulomb_friction=[1.0, 2.0]))
    for name in ("effort_noise", "effort_limit"):
        with pytest.raises(SettingError, match=f"'{name}'.*each of the 3 joints"):
            simulate_ddarm(Hold([0.0] * 3), **{name: (1.0, 2.0)})


def test_friction_by_hand() -> None:
    friction = JointFriction(
        viscous_friction=[2.0, 3.0], coulomb_friction=1.0, rotor_inertia=[0.5, 0.0], effort_offset=-0.25
    ).for_joints(2)
    path = JointPath(np.zeros((2, 2)), np.array([[4.0, -1.0], [0.0, 2.0]]), np.array([[6.0, 8.0], [-2.0, 1.0]]))
    np.testing.assert_allclose(friction.efforts(path), [[3 + 8 + 1 - 0.25, -3 - 1 - 0.25], [-1 - 0.25, 6 + 1 - 0.25]])


def test_other_links_change_efforts_and_base_wrench_as_their_regressors_say(any_urdf: str) -> None:
    """Pinocchio's torque regressor, which is linear in the links, predicts the difference."""
    robot = Robot.from_urdf(any_urdf)
    links = links_of(robot)
    heavier = links * np.random.default_rng(9).uniform(1.05, 1.2, (len(links), 1))
    move = random_move(robot, 10)
    cad, true = (
        Simulator(any_urdf, "ft_sensor", move, PERFECT, gravity=TILTED, links=chosen) for chosen in (None, heavier)
    )
    added = efforts_of(true, 0.0, 1.0) - efforts_of(cad, 0.0, 1.0)
    model = robot.model.copy()
    model.gravity.linear = TILTED
    data = model.createData()
    difference = np.concatenate([_pinocchio_order(new - old) for new, old in zip(heavier, links, strict=True)])
    for i in range(0, 200, 9):
        q, v, a = (values[0] for values in move.at(np.array([i / 200.0])))
        regressor = pin.computeJointTorqueRegressor(model, data, q, v, a)
        np.testing.assert_allclose(added[i], regressor @ difference, rtol=1e-8, atol=1e-9)
    weights = true.base_wrenches(0.0, 0.01).wrenches[0, :3] - cad.base_wrenches(0.0, 0.01).wrenches[0, :3]
    np.testing.assert_allclose(weights, -TILTED * (heavier - links)[:, 0].sum(), rtol=1e-9)


def _pinocchio_order(phi: FloatArray) -> FloatArray:
    """As pinocchio orders the inertia: Ixx, Ixy, Iyy, Ixz, Iyz, Izz."""
    return phi[[0, 1, 2, 3, 4, 5, 7, 6, 8, 9]]


def test_other_links_leave_the_robot_as_it_was(ddarm_urdf: str) -> None:
    robot = Robot.from_urdf(ddarm_urdf)
    before = links_of(robot)
    links = np.array([compose(mass, np.array([0.1, 0.0, mass]), np.eye(3)) for mass in (1.0, 2.0, 3.0)])
    changed = with_links(robot, links)
    np.testing.assert_allclose(links_of(changed), links, rtol=1e-12, atol=1e-14)
    np.testing.assert_array_equal(links_of(robot), before)
    np.testing.assert_array_equal(from_pinocchio(robot.model.inertias[2]), before[1])
