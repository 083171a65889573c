"""The whole chain of the links on a simulated arm: what it finds, and what it does not depend on."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from support.chain import DDARM, PUMA, drive
from support.link_chain import (
    BIAS,
    EXACT,
    FRICTION,
    assert_found,
    cut,
    estimate_of,
    fit_of,
    make_link_chain,
    make_motion,
    pick,
    simulate_links,
    true_values,
)

from inertid_ros.core.chain import Chain
from inertid_ros.core.errors import RobotDescriptionError, SettingError, UnsupportedJointError
from inertid_ros.core.estimation.full_set import find_predictor
from inertid_ros.core.estimation.reweighted import Uncertainty
from inertid_ros.core.records import Output, join_outputs
from inertid_ros.motions.motion import Hold, MinimumJerk, Sequence
from inertid_ros.motions.multisine import JointLimits, Multisine
from inertid_ros.sim.arm import JointFriction
from inertid_ros.sim.scenario import ScenarioSettings, build_simulator, read_urdf
from inertid_ros.sim.sensors import SensorModel
from inertid_ros.sim.simulator import DEFAULT_START, Simulator

SOURCES = ("effort", "base_wrench", "both")
VISCOUS = JointFriction(FRICTION.viscous_friction, np.zeros(3), FRICTION.rotor_inertia, FRICTION.effort_offset)


@pytest.mark.parametrize("source", SOURCES)
def test_perfect_sensors_give_the_arm_exactly(source: str) -> None:
    chain = make_link_chain(source=source)
    drive(chain, simulate_links(make_motion(), model=EXACT, friction=VISCOUS), 0.0, 12.0)
    estimate = estimate_of(chain)
    errors = (estimate.values - true_values(estimate, VISCOUS)) / estimate.model.prior_deviations
    assert np.abs(errors).max() < 2e-5
    assert set(estimate.states) == {"known"}
    assert chain.health == ()


@pytest.mark.parametrize("source", SOURCES)
def test_noisy_sensors_give_the_arm_within_its_uncertainty(source: str) -> None:
    chain = make_link_chain(source=source)
    output = drive(chain, simulate_links(make_motion()), 0.0, 12.0)
    estimate = estimate_of(chain)
    assert_found(estimate)
    assert estimate.mode == "tracking"
    assert set(estimate.states) == {"known"}
    late = output.rows.stamps > output.rows.stamps[0] + 6_000_000_000
    left = output.rows.measured[late] - output.rows.predicted[late]
    np.testing.assert_allclose(np.sqrt(np.mean(left**2, axis=0)), fit_of(chain).residual_rms, rtol=0.4)


def test_efforts_of_another_motion_are_within_what_their_predictions_state() -> None:
    """Learned on one motion, frozen on another, of which little was shown: 2 sigma hold, and are no excuse."""
    chain, other = make_link_chain(), make_link_chain()
    drive(chain, simulate_links(make_motion(duration=8.0)), 0.0, 4.0)
    estimate, fit = estimate_of(chain), fit_of(chain)
    assert np.all(fit.noise > fit.residual_rms), "the fit takes some of the noise out of its own residuals"
    predictor, simulator = find_predictor(estimate), simulate_links(make_motion(3), seed=3)
    other.push(simulator.joints(0.0, 0.01))
    other.freeze(predictor.values, Uncertainty(predictor.covariance, fit.noise**2))
    output = drive(other, simulator, 0.01, 10.0)
    ratios = (np.abs(output.rows.measured - output.rows.predicted) / output.rows.deviation)[output.rows.usable]
    assert 0.9 < np.mean(ratios < 2.0) < 0.999
    assert output.deviation is not None
    np.testing.assert_array_equal(output.deviation, output.rows.deviation[-1])


@pytest.mark.parametrize("source", SOURCES)
def test_live_predictions_are_better_than_those_of_what_fits(source: str) -> None:
    """In the first seconds of a motion, by a third and more; later they are the same, and 2 sigma hold."""
    simulator = simulate_links(make_motion(4), seed=4)
    chain = make_link_chain(source=source, joints=list(simulator.joint_names))
    fitted = make_link_chain(source=source, joints=list(simulator.joint_names))
    live, plain = [], []
    for start, end in itertools.pairwise(np.linspace(0.0, 8.0, 81)):
        assert chain.estimator is not None
        fitted.freeze(chain.estimator.values)
        live.append(drive(chain, simulator, start, end))
        plain.append(drive(fitted, simulator, start, end))
    rows, others = join_outputs(live).rows, join_outputs(plain).rows
    np.testing.assert_array_equal(rows.measured, others.measured)
    seconds = (rows.stamps - rows.stamps[0]) * 1e-9
    left, fitted_left = ((one.measured - one.predicted) / rows.measured.std(axis=0) for one in (rows, others))
    early, late = (seconds > 0.5) & (seconds < 3.0), seconds > 5.0
    assert np.linalg.norm(left[early]) < 0.67 * np.linalg.norm(fitted_left[early])
    assert np.linalg.norm(left[late]) < 1.05 * np.linalg.norm(fitted_left[late])
    inside = np.abs(rows.measured - rows.predicted) < 2.0 * rows.deviation
    assert np.mean(inside[late]) > 0.9


def test_differentiated_method_finds_nearly_the_same() -> None:
    chain = make_link_chain(method="differentiated")
    drive(chain, simulate_links(make_motion(), model=EXACT, friction=VISCOUS), 0.0, 12.0)
    estimate = estimate_of(chain)
    errors = estimate.values - true_values(estimate, VISCOUS)
    assert np.all(np.abs(errors) < 0.02 * estimate.model.prior_deviations)


@pytest.mark.parametrize("source", SOURCES)
def test_rows_hold_from_the_first_sample_on(source: str) -> None:
    """In the middle of a motion, with the true parameters, nothing is left of any row; and again after a gap."""
    simulator = simulate_links(make_motion(), model=EXACT, friction=VISCOUS, joint_rate=1000.0, wrench_rate=1000.0)
    chain = make_link_chain(source=source, joints=list(simulator.joint_names))
    chain.freeze(true_values(estimate_of(chain), VISCOUS))
    before = drive(chain, simulator, 5.0, 5.5)
    after = drive(chain, simulator, 6.0, 6.5)
    for output in (before, after):
        assert output.rows.stamps[0] - output.stamps[0] <= 20_000_000
        scale = np.abs(output.rows.measured).max(axis=0)
        assert np.all(scale > 0.0)
        np.testing.assert_allclose(output.rows.predicted / scale, output.rows.measured / scale, atol=2e-5)
    assert "gap" in {item.code for item in chain.health}


@pytest.mark.parametrize("source", SOURCES)
def test_it_does_not_matter_how_many_samples_come_at_once(source: str) -> None:
    simulator = simulate_links(make_motion(), joint_rate=200.0, wrench_rate=200.0)
    duration = 5.0
    joints, wrenches = simulator.joints(0.0, duration), simulator.base_wrenches(0.0, duration)
    values, outputs = [], []
    for size in (1, 7, 1000):
        chain = make_link_chain(source=source, joints=list(simulator.joint_names))
        parts: list[Output] = []
        for start in range(0, len(joints.stamps), size):
            part = slice(start, start + size)
            chain.push(cut(joints, part))
            chain.push(wrenches._replace(stamps=wrenches.stamps[part], wrenches=wrenches.wrenches[part]))
            if (output := chain.process()) is not None:
                parts.append(output)
        outputs.append(join_outputs(parts))
        values.append(estimate_of(chain).values / estimate_of(chain).model.prior_deviations)
    for other, output in zip(values[1:], outputs[1:], strict=True):
        np.testing.assert_allclose(other, values[0], atol=1e-9)
        np.testing.assert_array_equal(output.stamps, outputs[0].stamps)
        np.testing.assert_array_equal(output.rows.stamps, outputs[0].rows.stamps)
        np.testing.assert_allclose(output.predicted, outputs[0].predicted, atol=1e-6)


def test_prediction_at_sample_rate_follows_the_efforts() -> None:
    simulator = simulate_links(make_motion(), model=EXACT, friction=VISCOUS)
    chain = make_link_chain(source="both", joints=list(simulator.joint_names))
    chain.freeze(true_values(estimate_of(chain), VISCOUS))
    output = drive(chain, simulator, 0.0, 10.0)
    left = output.measured - output.predicted
    assert np.linalg.norm(left) < 0.05 * np.linalg.norm(output.measured)
    assert output.usable.all()
    assert estimate_of(chain).mode == "paused"
    assert fit_of(chain).rows.sum() == 0


def test_base_wrench_of_the_other_sign_is_turned() -> None:
    simulator = simulate_links(make_motion(), sign="on_sensor", bias=tuple(-value for value in BIAS))
    chain = make_link_chain(source="base_wrench", base_wrench_sign="on_ground")
    output = drive(chain, simulator, 0.0, 10.0)
    assert_found(estimate_of(chain))
    measured = simulator.base_wrenches(0.0, 10.0)
    kept = np.isin(measured.stamps, output.stamps)
    np.testing.assert_array_equal(output.measured, measured.wrenches[kept])


def test_ampere_are_multiplied_with_the_torque_constants() -> None:
    simulator = simulate_links(make_motion())
    constants = [12.0, 0.5, 30.0]
    names = ["joint3", "joint1", "joint2"]
    chain = make_link_chain(effort_unit="ampere", joints=names, torque_constants=constants)
    plain = make_link_chain(joints=names)
    per_joint = np.array([constants[names.index(name)] for name in simulator.joint_names])
    block = simulator.joints(0.0, 5.0)
    assert block.efforts is not None
    plain.push(block)
    chain.push(block._replace(efforts=block.efforts / per_joint))
    for each in (plain, chain):
        each.process()
    np.testing.assert_allclose(estimate_of(chain).values, estimate_of(plain).values, atol=1e-6)


@pytest.mark.parametrize("source", ["effort", "both"])
def test_known_delay_of_the_effort_is_taken_out(source: str) -> None:
    late = simulate_links(make_motion(), effort_delay=0.02)
    aware, unaware = make_link_chain(source=source, effort_delay=0.02), make_link_chain(source=source)
    for chain in (aware, unaware):
        drive(chain, late, 0.0, 12.0)
    assert_found(estimate_of(aware))
    assert np.all(fit_of(unaware).residual_rms[-3:] > 1.5 * fit_of(aware).residual_rms[-3:])


def test_unmeasured_joints_are_locked_and_named() -> None:
    simulator = simulate_links(make_motion(still=2), model=EXACT, friction=VISCOUS)
    chain = make_link_chain()
    chain.push(pick(simulator.joints(0.0, 5.0), [0, 1]))
    output = chain.process()
    assert output is not None
    assert output.predicted.shape[1] == 2
    assert estimate_of(chain).model.channels == ("joint1", "joint2")
    (item,) = [one for one in chain.health if one.code == "unmeasured_joints"]
    assert item.detail == "joint3"


def test_joints_of_another_prefix_are_the_same_joints() -> None:
    simulator = simulate_links(make_motion())
    plain, renamed = make_link_chain(), make_link_chain(DDARM.replace('name="joint', 'name="left_joint'))
    block = simulator.joints(0.0, 5.0)
    plain.push(block)
    renamed.push(block._replace(names=tuple(f"arm1/{name}" for name in block.names)))
    for chain in (plain, renamed):
        chain.process()
    np.testing.assert_array_equal(estimate_of(renamed).values, estimate_of(plain).values)
    (item,) = renamed.health
    assert (item.code, item.detail) == ("renamed_joints", "'arm1/joint1' is taken for 'left_joint1'")


MIMIC = DDARM.replace("</robot>", "") + (
    '<link name="finger"/><joint name="finger_joint" type="prismatic"><parent link="link3"/><child link="finger"/>'
    '<axis xyz="0 0 1"/><limit lower="0" upper="1" effort="1" velocity="1"/><mimic joint="joint3" multiplier="0.1"/>'
    "</joint></robot>"
)


def test_mimic_joints_are_refused_if_asked_for_and_left_out_if_not() -> None:
    with pytest.raises(UnsupportedJointError, match=r"'finger_joint' mimics another joint.*leave it out"):
        make_link_chain(MIMIC, joints=["joint1", "joint2", "joint3", "finger_joint"])
    simulator = simulate_links(make_motion())
    chain = make_link_chain(MIMIC)
    block = simulator.joints(0.0, 1.0)
    chain.push(pick(block, [0, 1, 2, 2])._replace(names=(*block.names, "finger_joint")))
    assert estimate_of(chain).model.channels == ("joint1", "joint2", "joint3")


@pytest.mark.parametrize(
    ("links", "error", "message"),
    [
        ({"effort_unit": ""}, SettingError, "links.effort_unit.*does not state the unit"),
        ({"effort_unit": "ampere"}, SettingError, "links.torque_constants.*one torque constant"),
        ({"torque_constants": [1.0]}, SettingError, "links.torque_constants.*none"),
        ({"source": "both", "method": "energy"}, SettingError, "links.method"),
        ({"source": "base_wrench", "method": "energy"}, SettingError, "links.method"),
        ({"joints": ["joint1", "elbow"]}, RobotDescriptionError, "joint 'elbow' is not.*joint1, joint2, joint3"),
        ({"source": "both", "joints": ["joint1"], "base_frame": "link2"}, RobotDescriptionError, "fixed to the root"),
    ],
)
def test_what_does_not_fit_together_is_refused(links: dict[str, object], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        make_link_chain(DDARM, **links)


def test_base_wrench_needs_no_unit_of_effort() -> None:
    assert make_link_chain(source="base_wrench", effort_unit="").model is None


def test_joint_that_never_moves_stays_unknown_and_the_others_converge() -> None:
    chain = make_link_chain()
    drive(chain, simulate_links(make_motion(still=2)), 0.0, 12.0)
    estimate = estimate_of(chain)
    state = dict(zip((estimate.base.names[column] for column in estimate.base.columns), estimate.states, strict=True))
    assert state["joint3.viscous"] == state["joint3.rotor_inertia"] == "not excited yet"
    assert {state[f"joint{k}.{kind}"] for k in (1, 2) for kind in ("viscous", "coulomb")} == {"known"}
    assert state["link1.Izz"] == "known"
    errors = (estimate.values - true_values(estimate)) / np.sqrt(np.diag(estimate.covariance))
    assert np.all(np.abs(errors) < 4.0)


@pytest.mark.long
def test_hour_of_standstill_leaves_the_estimate_alone() -> None:
    move = make_motion(duration=8.0)
    pose = move.at(np.array([move.duration])).positions[0]
    second, hour = 1_000_000_000, 3600.0
    ends = simulate_links(Sequence([move, Hold(pose, 2.0)]))
    rest = simulate_links(Hold(pose), start_stamp=DEFAULT_START + 10 * second, joint_rate=12.0, wrench_rate=1.0)
    again = simulate_links(move, start_stamp=DEFAULT_START + 3610 * second)
    chain = make_link_chain()
    drive(chain, ends, 0.0, 10.0)
    before = estimate_of(chain)
    drive(chain, rest, 0.0, hour, chunk=100.0)
    after = estimate_of(chain)
    deviations = np.sqrt(np.diag(before.covariance))
    assert np.all(np.abs(after.values - before.values) < 0.1 * deviations)
    np.testing.assert_allclose(np.diag(after.covariance), np.diag(before.covariance), rtol=0.1)
    drive(chain, again, 0.0, 8.0)
    final = estimate_of(chain)
    assert np.all(np.sqrt(np.diag(final.covariance)) < deviations)
    assert_found(final, most=5.0)


def test_paused_it_learns_nothing_and_reset_it_knows_nothing() -> None:
    simulator = simulate_links(make_motion())
    chain = make_link_chain()
    drive(chain, simulator, 0.0, 5.0)
    before = estimate_of(chain)
    chain.pause(True)
    drive(chain, simulator, 5.0, 7.0)
    assert estimate_of(chain).mode == "paused"
    np.testing.assert_array_equal(estimate_of(chain).values, before.values)
    chain.pause(False)
    chain.reset()
    assert estimate_of(chain).mode == "waiting"
    np.testing.assert_allclose(estimate_of(chain).values, before.model.prior, atol=1e-9)
    drive(chain, simulator, 7.0, 19.0)
    assert_found(estimate_of(chain))


def test_two_recordings_add_up() -> None:
    first, second = (simulate_links(make_motion(seed), seed) for seed in (1, 2))
    apart: list[Chain] = []
    for simulator in (first, second):
        chain = make_link_chain()
        drive(chain, simulator, 0.0, 10.0)
        apart.append(chain)
    alone = estimate_of(apart[0])
    left, right = (chain.estimator for chain in apart)
    assert left is not None
    assert right is not None
    left.add(right)
    together = estimate_of(apart[0])
    assert np.all(np.diag(together.repeatability) < np.diag(alone.repeatability))
    assert np.median(together.deviations / alone.deviations) < 0.8  # what kinematics do depends on the motion
    assert_found(together)


def test_puma_with_all_its_joints_on_a_base_sensor() -> None:
    """Six joints, 41 base parameters and no effort at all in the messages."""
    poses = np.random.default_rng(0).uniform(-1.2, 1.2, (9, 6))
    motion = MinimumJerk(poses, [0.8] * 8)
    simulator = Simulator(PUMA, "ft_sensor", motion, SensorModel(velocity_noise=0.0))
    chain = make_link_chain(PUMA, source="base_wrench", effort_unit="")
    for a, b in itertools.pairwise(np.linspace(0.0, motion.duration, 9).tolist()):
        chain.push(simulator.joints(a, b))
        chain.push(simulator.base_wrenches(a, b))
        chain.process()
    estimate = estimate_of(chain)
    assert estimate.base.rank == 41 + 6 - 1
    errors = (estimate.values - estimate.model.prior) / estimate.model.prior_deviations
    assert np.abs(errors).max() < 1e-4


@pytest.mark.parametrize("tachometer", [False, True])
def test_a_motion_that_hardly_tells_parameters_apart_leaves_them_uncertain(tachometer: bool) -> None:
    """All joints of the paper's PUMA move do the same at a time; noise of velocities passes for a little more."""
    settings = ScenarioSettings(robot="puma560", load="none", motion="paper_move", tachometer=tachometer)
    simulator = build_simulator(settings)
    chain = make_link_chain(read_urdf("puma560"), source="base_wrench")
    chain.push(simulator.joints(0.0, 24.0))
    chain.push(simulator.base_wrenches(0.0, 24.0))
    chain.process()
    estimate = estimate_of(chain)
    names = [estimate.base.names[column] for column in estimate.base.columns]
    links = [place for place, name in enumerate(names) if name.startswith("link") and not name.endswith(".m")]
    deviations = np.sqrt(np.diag(estimate.covariance))
    outside = np.abs(estimate.values - estimate.model.prior)[links] > 2.0 * deviations[links]
    assert outside.mean() < 0.25
    assert estimate.states.count("known") < 0.3 * len(names)


def test_the_sign_of_a_base_wrench_is_no_matter_of_efforts() -> None:
    block = simulate_links(make_motion()).joints(0.0, 3.0)
    outputs = []
    for sign in ("on_robot", "on_ground"):
        chain = make_link_chain(base_wrench_sign=sign)
        chain.push(block)
        outputs.append(chain.process())
    assert outputs[0] is not None
    assert outputs[1] is not None
    np.testing.assert_array_equal(outputs[0].predicted, outputs[1].predicted)
    np.testing.assert_array_equal(outputs[0].measured, outputs[1].measured)


def test_noise_of_a_joint_that_never_moves_tells_nothing_of_it() -> None:
    full = np.ones(6)
    motion = Multisine(JointLimits(-full, full, 2.0 * full, 8.0 * full), period=12.0, seed=1)
    sensors = SensorModel(joint_rate=200.0, encoder_resolution=1e-4, velocity_noise=5e-3, effort_noise=0.3)
    joints = Simulator(PUMA, "ft_sensor", motion, sensors, [], friction=JointFriction(2.0, 3.0, 0.5)).joints(0.0, 12.0)
    assert joints.velocities is not None
    joints.positions[:, 3] = 0.2 + 1e-4 * (np.arange(len(joints.stamps)) % 2)
    joints.velocities[:, 3] = np.random.default_rng(5).normal(scale=5e-3, size=len(joints.stamps))
    chain = make_link_chain(PUMA)
    chain.push(joints)
    chain.process()
    states = dict(zip(estimate_of(chain).names, estimate_of(chain).states, strict=True))
    of_joint = {name: state for name, state in states.items() if name.startswith("joint4.") and "offset" not in name}
    assert len(of_joint) == 3
    assert set(of_joint.values()) == {"not excited yet"}
    assert states["joint2.viscous"] == "known"
