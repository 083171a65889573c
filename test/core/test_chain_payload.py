"""The load of an arm without a wrist sensor, from efforts and an arm that was identified before."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from support.recordings import read_joint_recording

from inertid_ros.core.errors import SettingError, UnknownFrameError, UnsupportedJointError
from inertid_ros.core.chain import Chain, Target
from inertid_ros.core.payload_chain import IdentifiedArm, PayloadChain
from inertid_ros.core.records import FloatArray, JointBlock
from inertid_ros.core.rigid_body.inertial import compose
from inertid_ros.core.robot.robot import Robot
from inertid_ros.core.settings.settings import Settings
from inertid_ros.files.share import share_path
from inertid_ros.motions.multisine import JointLimits, Multisine
from inertid_ros.sim.friction import JointFriction
from inertid_ros.sim.sensors import SensorModel
from inertid_ros.sim.simulator import Simulator

LOAD = compose(2.0, np.array([0.02, -0.05, 0.1]), np.diag([0.02, 0.03, 0.01]))
URDF = share_path("urdf", "puma560.urdf").read_text()


def settings_for(frame: str = "ft_sensor", changes: dict[str, object] | None = None) -> Settings:
    values: dict[str, object] = {
        "links.effort_unit": "newton_metre",
        "load.source": "effort",
        "load.sensor_frame": frame,
    }
    values |= changes or {}
    return Settings.from_flat(values)


def simulate(load: FloatArray | None, seed: int) -> JointBlock:
    full = np.ones(6)
    limits = JointLimits(-1.5 * full, 1.5 * full, 2.0 * full, 8.0 * full)
    motion = Multisine(limits, period=15.0, harmonics=6, seed=seed)
    sensors = SensorModel(joint_rate=200.0, encoder_resolution=1e-4, velocity_noise=2e-3, effort_noise=0.2)
    friction = JointFriction(2.0, 3.0, 0.3, 0.5)
    simulator = Simulator(URDF, "ft_sensor", motion, sensors, [(0.0, load)], seed=seed, friction=friction)
    return simulator.joints(0.0, motion.duration)


@functools.cache
def identify_arm() -> IdentifiedArm:
    chain = Chain(Robot.from_urdf(URDF), settings_for())
    chain.push(simulate(None, 1))
    chain.process()
    return take_arm(chain)


def take_arm(chain: Chain) -> IdentifiedArm:
    estimate = chain.estimate()
    assert estimate is not None
    base = estimate.base
    names = tuple(base.names[column] for column in base.columns)
    return IdentifiedArm(estimate.model.arm.joint_names, names, estimate.values)


def test_a_load_is_found_within_its_own_uncertainty() -> None:
    chain = PayloadChain(Robot.from_urdf(URDF), settings_for(), identify_arm())
    assert chain.estimate().mode == "waiting"
    joints = simulate(LOAD, 2)
    chain.push(joints)
    output = chain.process()
    estimate = chain.estimate()
    deviations = np.sqrt(np.diag(estimate.covariance))
    assert np.all(np.abs(estimate.parameters - LOAD) < 4.0 * deviations)
    assert estimate.parameters[0] == pytest.approx(2.0, abs=0.04)
    assert deviations[0] < 0.04
    np.testing.assert_allclose(estimate.parameters[1:4], LOAD[1:4], atol=0.01)
    assert estimate.states[:4] == ("known",) * 4
    assert output is not None
    late = output.stamps > output.stamps[0] + 5_000_000_000
    left, all_of_it = output.measured[late] - output.predicted[late], output.measured[late]
    assert np.sqrt(np.mean(left**2) / np.mean(all_of_it**2)) < 0.05


def test_no_load_weighs_nothing() -> None:
    chain = PayloadChain(Robot.from_urdf(URDF), settings_for(), identify_arm())
    chain.push(simulate(None, 3))
    chain.process()
    estimate = chain.estimate()
    assert abs(estimate.parameters[0]) < max(0.03, 3.0 * np.sqrt(estimate.covariance[0, 0]))


def test_the_same_load_in_another_frame() -> None:
    chains = [PayloadChain(Robot.from_urdf(URDF), settings_for(frame), identify_arm()) for frame in ("link6", "link5")]
    joints = simulate(LOAD, 2)
    masses = []
    for chain in chains:
        chain.push(joints)
        chain.process()
        masses.append(chain.estimate().parameters[0])
    assert masses[0] == pytest.approx(2.0, abs=0.04)
    assert masses[1] != pytest.approx(masses[0], abs=1e-6)  # joint 6 does not carry what is fixed to link 5


def test_a_pause_and_a_reset() -> None:
    chain = PayloadChain(Robot.from_urdf(URDF), settings_for(), identify_arm())
    chain.pause(True)
    chain.push(simulate(LOAD, 2))
    chain.process()
    assert chain.estimate().mode == "paused"
    assert not chain.estimate().parameters.any()
    chain.pause(False)
    chain.reset()
    assert chain.estimate().mode == "waiting"


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"links.viscous": False}, "load.arm_file"),
        ({"links.effort_unit": ""}, "links.effort_unit"),
        ({"links.source": "base_wrench"}, "links.source"),
        ({"load.sensor_frame": ""}, "load.sensor_frame"),
    ],
)
def test_settings_that_do_not_fit_are_refused(changes: dict[str, object], name: str) -> None:
    with pytest.raises(SettingError) as error:
        PayloadChain(Robot.from_urdf(URDF), settings_for(changes=changes), identify_arm())
    assert error.value.name == name


def test_frames_that_carry_no_load_are_refused() -> None:
    with pytest.raises(UnknownFrameError, match="nowhere"):
        PayloadChain(Robot.from_urdf(URDF), settings_for("nowhere"), identify_arm())
    root = Robot.from_urdf(URDF).frame_names[0]
    with pytest.raises(UnsupportedJointError, match=root):
        PayloadChain(Robot.from_urdf(URDF), settings_for(root), identify_arm())


def test_the_load_of_a_real_arm() -> None:
    training = [read_joint_recording(name) for name in ("ur10e_40sec_12harm", "ur10e_30sec_12harm")]
    urdf, loaded = read_joint_recording("ur10e_14harm50secLoad")
    arm = Chain(Robot.from_urdf(urdf), settings_for())
    for _, joints in training:
        arm.push(joints)
        arm.process()
    chain = PayloadChain(Robot.from_urdf(urdf), settings_for("tool0"), take_arm(arm))
    chain.push(loaded)
    chain.process()
    estimate = chain.estimate()
    assert estimate.parameters[0] == pytest.approx(2.805, rel=0.02)
    assert abs(estimate.parameters[0] - 2.805) < 2.0 * np.sqrt(estimate.covariance[0, 0])
