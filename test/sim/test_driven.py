"""An arm that is driven by efforts, against inverse dynamics, energy, the closed form of a pendulum and itself."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from inertid_ros.core.errors import SettingError
from inertid_ros.core.records import FloatArray
from inertid_ros.core.robot.robot import Robot
from inertid_ros.files.parameters import load_from_yaml
from inertid_ros.files.share import share_path
from inertid_ros.sim.arm import JointFriction
from inertid_ros.sim.driven import KNEE, STEP, Drive, ForwardDynamics
from inertid_ros.sim.sensors import SensorModel
from inertid_ros.sim.simulator import Simulator

GRAVITY = np.array([1.2, -3.4, -9.0])
BAR = load_from_yaml(share_path("config", "loads", "bar.yaml"))
GRIPPER = load_from_yaml(share_path("config", "loads", "gripper.yaml"))
PERFECT = SensorModel(velocity_noise=0.0, effort_noise=0.0, joint_rate=1000.0)


class Program:
    """Efforts that depend on time alone; remembers what the controller saw."""

    def __init__(self, efforts: FloatArray, frequency: float = 2.0) -> None:
        self.efforts, self.frequency = efforts, frequency
        self.seen: list[tuple[float, FloatArray, FloatArray]] = []

    def command(self, time: float, positions: FloatArray, velocities: FloatArray) -> FloatArray:
        self.seen.append((time, positions, velocities))
        return np.asarray(self.efforts * np.sin(2.0 * np.pi * self.frequency * time + np.arange(len(self.efforts))))


def test_accelerations_are_those_that_inverse_dynamics_takes_the_efforts_for(any_urdf: str) -> None:
    robot = Robot.from_urdf(any_urdf)
    count, random = robot.model.nv, np.random.default_rng(3)
    friction = JointFriction(*random.uniform(0.5, 3.0, (4, count))).for_joints(count)
    dynamics = ForwardDynamics(robot, "ft_sensor", GRAVITY, friction, GRIPPER)
    dynamics.carry(BAR)
    q, v, tau = random.normal(size=(3, count))
    a = dynamics.accelerate(q, v, tau)
    # Oracle: the simulator's own inverse dynamics of arm, tool and load, and friction by its definition.
    model = robot.model.copy()
    model.gravity.linear = GRAVITY
    frame = model.frames[model.getFrameId("ft_sensor")]
    for phi in (BAR, GRIPPER):
        mass, com = phi[0], phi[1:4] / phi[0]
        ixx, ixy, ixz, iyy, iyz, izz = phi[4:]
        inertia = np.array([[ixx, ixy, ixz], [ixy, iyy, iyz], [ixz, iyz, izz]])
        central = inertia - mass * (com @ com * np.eye(3) - np.outer(com, com))
        model.appendBodyToJoint(frame.parentJoint, pin.Inertia(mass, com, central), frame.placement)
    needed = pin.rnea(model, model.createData(), q, v, a) + friction.rotor_inertia * a
    needed += friction.viscous_friction * v + friction.coulomb_friction * np.tanh(v / KNEE) + friction.effort_offset
    np.testing.assert_allclose(needed, tau, atol=1e-9)


def test_energy_is_what_the_motors_put_in(ddarm_urdf: str) -> None:
    robot = Robot.from_urdf(ddarm_urdf)
    model, data = robot.model, robot.model.createData()
    pose = np.array([1.0, 2.0, 0.5])
    simulator = Simulator(ddarm_urdf, "ft_sensor", Drive(pose, Program(np.array([40.0, 20.0, 5.0]))), PERFECT)
    block = simulator.joints(0.0, 1.0)
    assert block.velocities is not None
    assert block.efforts is not None
    power = np.sum(block.efforts * block.velocities, axis=1)
    work = np.concatenate([[0.0], np.cumsum(0.5 * (power[1:] + power[:-1])) * 1e-3])
    energy = np.array(
        [
            pin.computeKineticEnergy(model, data, q, v) + pin.computePotentialEnergy(model, data, q)
            for q, v in zip(block.positions, block.velocities, strict=True)
        ]
    )
    assert np.ptp(energy) > 10.0
    # The work is summed from samples at 1 kHz, at which efforts also jump.
    np.testing.assert_allclose(energy - energy[0], work, atol=0.02 * np.ptp(energy))


def test_a_pendulum_swings_with_its_period() -> None:
    urdf = """<robot name="pendulum"><link name="base"/>
      <joint name="hinge" type="revolute"><parent link="base"/><child link="rod"/><axis xyz="0 1 0"/>
        <limit lower="-9" upper="9" effort="0" velocity="99"/></joint>
      <link name="rod"><inertial><origin xyz="0 0 -0.5"/><mass value="2"/>
        <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.001"/></inertial></link></robot>"""
    simulator = Simulator(urdf, "rod", Drive(np.array([0.01]), Program(np.zeros(1))), PERFECT, gravity=(0, 0, -9.81))
    block = simulator.joints(0.0, 3.0)
    frequency = np.sqrt(2.0 * 9.81 * 0.5 / (0.1 + 2.0 * 0.25))
    times = (block.stamps - block.stamps[0]) * 1e-9
    np.testing.assert_allclose(block.positions[:, 0], 0.01 * np.cos(frequency * times), atol=1e-5)


def test_it_does_not_matter_in_which_spans_samples_are_asked_for(ddarm_urdf: str) -> None:
    sensors = SensorModel(velocity_noise=0.01, effort_noise=1.0, joint_rate=200.0, wrench_rate=200.0)

    def make() -> Simulator:
        drive = Drive(np.array([1.0, 2.0, 0.5]), Program(np.array([40.0, 20.0, 5.0])), 333.0, 0.002, 0.5)
        return Simulator(ddarm_urdf, "ft_sensor", drive, sensors, [(0.1, BAR)], tool=GRIPPER, seed=4)

    whole, parts = make(), make()
    joints, wrenches = whole.joints(0.0, 0.4), whole.wrenches(0.0, 0.4)
    pieces = [(parts.wrenches(a, a + 0.1), parts.joints(a, a + 0.1)) for a in (0.0, 0.1, 0.2, 0.30000000000000004)]
    np.testing.assert_array_equal(np.concatenate([piece[1].positions for piece in pieces]), joints.positions)
    np.testing.assert_array_equal(np.concatenate([piece[0].wrenches for piece in pieces]), wrenches.wrenches)


def test_the_controller_sees_the_joints_at_its_own_rate_and_acts_after_its_latency(ddarm_urdf: str) -> None:
    program = Program(np.array([40.0, 20.0, 5.0]))
    drive = Drive(np.array([1.0, 2.0, 0.5]), program, rate=100.0, latency=0.004)
    sensors = SensorModel(velocity_noise=0.0, effort_noise=0.0, joint_rate=1000.0, encoder_resolution=0.01)
    block = Simulator(ddarm_urdf, "ft_sensor", drive, sensors).joints(0.0, 0.1)
    times = np.array([time for time, _, _ in program.seen])
    np.testing.assert_allclose(times, np.arange(len(times)) / 100.0, atol=STEP)
    np.testing.assert_allclose(program.seen[5][1], block.positions[50], atol=1e-12)
    assert block.efforts is not None
    changes = np.flatnonzero(np.any(np.diff(block.efforts, axis=0) != 0.0, axis=1)) + 1
    assert changes.tolist()[:3] == [4, 14, 24]


def test_efforts_end_at_the_limits_of_the_urdf_and_noise_is_not_measured(ddarm_urdf: str) -> None:
    drive = Drive(np.array([1.0, 2.0, 0.5]), Program(np.full(3, 1e4)), effort_noise=5.0)
    efforts = Simulator(ddarm_urdf, "ft_sensor", drive, PERFECT).joints(0.0, 0.05).efforts
    assert efforts is not None
    np.testing.assert_array_equal(np.abs(efforts).max(axis=0), [660.0, 230.0, 230.0])


def test_half_a_step_changes_nothing_that_matters(ddarm_urdf: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def move() -> FloatArray:
        drive = Drive(np.array([1.0, 2.0, 0.5]), Program(np.array([40.0, 20.0, 5.0])))
        friction = JointFriction(0.5, 2.0, 0.1, 0.0)
        return Simulator(ddarm_urdf, "ft_sensor", drive, PERFECT, friction=friction).joints(0.0, 0.5).positions

    coarse = move()
    monkeypatch.setattr("inertid_ros.sim.driven.STEP", STEP / 2.0)
    np.testing.assert_allclose(move(), coarse, atol=np.radians(0.01))


def test_a_rate_beyond_the_steps_is_refused() -> None:
    with pytest.raises(SettingError, match="control_rate"):
        Drive(np.zeros(3), Program(np.zeros(3)), rate=1e5)
