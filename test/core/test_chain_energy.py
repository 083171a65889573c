"""The energy model in the chain of the links: as a method, and beside the torque model."""

from __future__ import annotations

import numpy as np
import pytest

from inertid_ros.core.chain import Chain, Target
from inertid_ros.core.estimation.estimate import LinksEstimate
from inertid_ros.core.records import JointBlock, Output
from inertid_ros.core.robot.robot import Robot
from inertid_ros.core.settings.settings import Settings
from inertid_ros.files.share import share_path
from inertid_ros.motions.multisine import JointLimits, Multisine
from inertid_ros.sim.arm import JointFriction
from inertid_ros.sim.sensors import SensorModel
from inertid_ros.sim.simulator import Simulator

URDF = share_path("urdf", "ddarm.urdf").read_text()
FRAME = Robot.from_urdf(URDF).frame_names[-1]
QUIET = SensorModel(joint_rate=500.0, velocity_noise=1e-5, effort_noise=1e-3)
NOISY = SensorModel(joint_rate=200.0, encoder_resolution=1e-5, velocity_noise=2e-3, effort_noise=1.0)


def simulate(sensors: SensorModel, seed: int) -> JointBlock:
    limits = JointLimits(np.full(3, -2.0), np.full(3, 2.0), np.full(3, 4.0), np.full(3, 20.0))
    motion = Multisine(limits, period=20.0, harmonics=8, seed=seed)
    simulator = Simulator(URDF, FRAME, motion, sensors, [], seed=seed, friction=JointFriction(5.0, 8.0, 0.5, 1.0))
    return simulator.joints(0.0, motion.duration)


def run(joints: JointBlock, block: int = 1000, **links: object) -> tuple[LinksEstimate, list[Output]]:
    settings = Settings.from_flat({"links.effort_unit": "newton_metre"} | {f"links.{k}": v for k, v in links.items()})
    chain = Chain(Robot.from_urdf(URDF), settings, Target.LINKS)
    outputs = []
    for start in range(0, len(joints.stamps), block):
        chain.push(joints.take(slice(start, start + block)))
        output = chain.process()
        if output is not None:
            outputs.append(output)
    estimate = chain.estimate()
    assert isinstance(estimate, LinksEstimate)
    return estimate, outputs


def predict_new_motion(estimate: LinksEstimate) -> float:
    """Relative error of filtered torques of a motion that was not used."""
    chain = Chain(Robot.from_urdf(URDF), Settings.from_flat({"links.effort_unit": "newton_metre"}), Target.LINKS)
    joints = simulate(QUIET, 9)
    chain.push(joints.take(slice(0, 2)))
    chain.freeze(estimate.values)
    chain.push(joints.take(slice(2, None)))
    output = chain.process()
    assert output is not None
    left = output.rows.measured - output.rows.predicted
    return float(np.sqrt(np.mean(left**2) / np.mean(output.rows.measured**2)))


def test_the_energy_method_finds_an_arm_with_friction() -> None:
    estimate, _ = run(simulate(QUIET, 1), method="energy")
    fit = estimate.fit
    assert fit is not None
    assert fit.residual_rms.shape == (3,)
    assert np.all(fit.residual_rms < 0.3 * fit.measured_rms)
    assert np.all(fit.rows > 500)
    assert predict_new_motion(estimate) < 0.02


def test_the_energy_method_does_not_depend_on_blocks() -> None:
    joints = simulate(QUIET, 2).take(slice(0, 2000))
    estimates = [run(joints, block, method="energy")[0] for block in (7, 1000)]
    np.testing.assert_allclose(estimates[0].values, estimates[1].values, rtol=1e-7, atol=1e-7)


def test_a_torque_model_with_friction_agrees_with_the_energy() -> None:
    estimate, _ = run(simulate(NOISY, 3))
    assert estimate.findings == ()


@pytest.mark.parametrize("block", [50, 1000])
def test_friction_that_is_switched_off_breaks_the_balance(block: int) -> None:
    estimate, _ = run(simulate(NOISY, 4), block, viscous=False, coulomb=False)
    (finding,) = estimate.findings
    assert finding.code == "energy_disagrees"
    assert "switch on viscous and Coulomb friction" in finding.message


def test_a_reset_forgets_the_balance_too() -> None:
    settings = {"links.effort_unit": "newton_metre", "links.viscous": False, "links.coulomb": False}
    chain = Chain(Robot.from_urdf(URDF), Settings.from_flat(settings), Target.LINKS)
    chain.push(simulate(NOISY, 4))
    chain.process()
    estimate = chain.estimate()
    assert estimate is not None
    assert [finding.code for finding in estimate.findings] == ["energy_disagrees"]
    chain.reset()
    estimate = chain.estimate()
    assert estimate is not None
    assert estimate.findings == ()
