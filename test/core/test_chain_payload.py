"""The load of an arm without a wrist sensor, from efforts and an arm that was identified before."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from support.chain import PUMA, load_of, process
from support.payload import (
    LOAD,
    ROBOT,
    identify_arm,
    make_payload_chain,
    settings_for,
    simulate,
    take_arm,
    weigh,
)
from support.recordings import read_joint_recording

from inertid_ros.core.chain import Chain, Target
from inertid_ros.core.errors import SettingError, UnknownFrameError, UnsupportedJointError
from inertid_ros.core.records import FloatArray, join_outputs
from inertid_ros.core.robot.robot import Robot
from inertid_ros.motions.motion import Hold
from inertid_ros.sim.arm import JointFriction
from inertid_ros.sim.sensors import SensorModel
from inertid_ros.sim.simulator import Simulator


def test_a_load_is_found_within_its_own_uncertainty() -> None:
    chain = make_payload_chain()
    assert load_of(chain).mode == "waiting"
    chain.push(simulate([(0.0, LOAD)], 2))
    output = process(chain)
    estimate = load_of(chain)
    deviations = estimate.deviations
    assert np.all(np.abs(estimate.values - LOAD) < 4.0 * deviations)
    assert estimate.values[0] == pytest.approx(2.0, abs=0.04)
    assert deviations[0] < 0.04
    np.testing.assert_allclose(estimate.values[1:4], LOAD[1:4], atol=0.01)
    assert estimate.states[:4] == ("known",) * 4
    late = output.stamps > output.stamps[0] + 5_000_000_000
    left, all_of_it = output.measured[late] - output.predicted[late], output.measured[late]
    assert np.sqrt(np.mean(left**2) / np.mean(all_of_it**2)) < 0.05


def test_no_load_weighs_nothing() -> None:
    estimate = load_of(weigh(simulate([], 3)))
    assert abs(estimate.values[0]) < max(0.03, 3.0 * estimate.deviations[0])
    assert estimate.findings == ()


def test_an_arm_that_stands_knows_no_inertia_of_its_load() -> None:
    """Efforts of one pose, for half a minute: they tell of gravity alone."""
    pose = Hold(np.array([0.3, -0.6, 0.9, 0.4, 0.7, -0.2]), 30.0)
    sensors = SensorModel(joint_rate=200.0, encoder_resolution=1e-4, velocity_noise=2e-3, effort_noise=0.2)
    friction = JointFriction(2.0, 3.0, 0.3, 0.5)
    simulator = Simulator(PUMA, "ft_sensor", pose, sensors, [(0.0, LOAD)], seed=5, friction=friction)
    estimate = load_of(weigh(simulator.joints(0.0, 30.0)))
    assert "known" not in estimate.states[4:]
    unknown = [index for index, state in enumerate(estimate.states) if state != "known"]
    assert np.all(np.abs(estimate.values - LOAD)[unknown] < 4.0 * estimate.deviations[unknown])


def test_nothing_is_invented_of_a_sensor_that_is_not_there() -> None:
    estimate = load_of(weigh(simulate([(0.0, LOAD)], 2)))
    assert estimate.sensor is None
    assert estimate.tool is None
    assert estimate.is_finite
    assert estimate.fit is not None
    assert estimate.fit.channels == ROBOT.joint_names


def test_efforts_of_the_other_sign_are_a_finding_and_nothing_is_known() -> None:
    joints = simulate([(0.0, LOAD)], 2)
    assert joints.efforts is not None
    estimate = load_of(weigh(joints._replace(efforts=-joints.efforts)))
    assert [finding.code for finding in estimate.findings] == ["effort_sign"]
    assert estimate.findings[0].level == "error"
    assert "known" not in estimate.states


def test_an_arm_identified_with_a_load_makes_a_mass_below_zero_a_finding() -> None:
    chain = Chain(ROBOT, settings_for(), Target.LINKS)
    chain.push(simulate([(0.0, LOAD)], 1))
    chain.process()
    estimate = load_of(weigh(simulate([], 3), take_arm(chain)))
    assert estimate.values[0] == pytest.approx(-2.0, abs=0.1)
    assert [(finding.level, finding.code) for finding in estimate.findings] == [("error", "negative_mass")]
    assert "known" not in estimate.states


def test_what_is_not_known_of_the_arm_makes_the_load_uncertain() -> None:
    arm, motions = identify_arm(), [simulate([(0.0, LOAD)], seed) for seed in (2, 3, 4)]
    exact, known, vague = (
        np.mean(
            [load_of(weigh(joints, replace(arm, covariance=factor * arm.covariance))).deviations for joints in motions],
            axis=0,
        )
        for factor in (0.0, 1.0, 100.0)
    )
    assert np.all(known > 0.9 * exact), "the inflation is found from the residuals of each"
    assert known[0] > 1.1 * exact[0]
    assert np.all(vague > 0.9 * known)
    assert vague[0] > 2.0 * known[0]


@pytest.mark.long
def test_error_with_uncertain_arms_is_what_the_covariance_says() -> None:
    """Arms identified each from another motion and other noise, and then weighed without a load."""
    errors = []
    for seed in (11, 12, 13):
        chain = Chain(ROBOT, settings_for(), Target.LINKS)
        chain.push(simulate([], seed))
        chain.process()
        estimate = load_of(weigh(simulate([], seed + 20), take_arm(chain)))
        errors.append(estimate.values[:4] / estimate.deviations[:4])
    assert np.mean(np.abs(errors) < 2.0) > 0.75
    assert np.max(np.abs(errors)) < 4.0


@pytest.mark.parametrize("seed", [4, 5, pytest.param(6, marks=pytest.mark.long)])
@pytest.mark.parametrize("before", [LOAD, None])
def test_a_load_released_or_taken_half_way_is_noticed(before: FloatArray | None, seed: int) -> None:
    after = None if before is not None else LOAD
    joints = simulate([(0.0, before), (15.0, after)], seed, 30.0)
    chain = make_payload_chain()
    chain.push(joints)
    (event,) = process(chain).events
    assert event.kind == ("load_attached" if before is None else "load_released")
    assert event.confidence > 0.99
    masses = (0.0, LOAD[0]) if before is None else (LOAD[0], 0.0)
    assert (event.mass_before, event.mass_after) == pytest.approx(masses, abs=0.15)
    assert 0.0 < (event.stamp - joints.stamps[0]) * 1e-9 - 15.0 < 5.0
    estimate = load_of(chain)
    truth = np.zeros(10) if after is None else after
    assert np.all(np.abs(estimate.values - truth)[:4] < 4.0 * estimate.deviations[:4])
    assert estimate.values[0] == pytest.approx(truth[0], abs=0.1)


@pytest.mark.parametrize("seed", [7, 8, 9, *(pytest.param(seed, marks=pytest.mark.long) for seed in (10, 11))])
def test_a_load_that_stays_is_not_said_to_change(seed: int) -> None:
    chain = make_payload_chain()
    chain.push(simulate([(0.0, LOAD if seed % 2 else None)], seed, 30.0))
    assert process(chain).events == ()


def test_block_size_does_not_matter() -> None:
    """Through a change of the load."""
    joints = simulate([(0.0, LOAD), (6.0, None)], 4, 12.0, rate=100.0)
    found = []
    for size in (1, 7, 1000):
        chain = make_payload_chain()
        outputs = []
        for start in range(0, len(joints.stamps), size):
            chain.push(joints.take(slice(start, start + size)))
            if (output := chain.process()) is not None:
                outputs.append(output)
        found.append((join_outputs(outputs), load_of(chain)))
    whole, estimate = found[-1]
    assert [event.kind for event in whole.events] == ["load_released"]
    for output, other in found[:-1]:
        assert output.events == whole.events
        np.testing.assert_array_equal(output.stamps, whole.stamps)
        np.testing.assert_array_equal(output.predicted, whole.predicted)
        np.testing.assert_array_equal(output.rows.predicted, whole.rows.predicted)
        np.testing.assert_array_equal(other.values, estimate.values)
        np.testing.assert_array_equal(other.covariance, estimate.covariance)


def test_the_same_load_in_another_frame() -> None:
    joints = simulate([(0.0, LOAD)], 2)
    masses = []
    for frame in ("link6", "link5"):
        chain = make_payload_chain(settings_for(frame))
        chain.push(joints)
        chain.process()
        masses.append(load_of(chain).values[0])
    assert masses[0] == pytest.approx(2.0, abs=0.04)
    assert masses[1] != pytest.approx(masses[0], abs=1e-6)  # joint 6 does not carry what is fixed to link 5


def test_a_pause_and_a_reset() -> None:
    chain = make_payload_chain()
    chain.pause(True)
    chain.push(simulate([(0.0, LOAD)], 2))
    chain.process()
    assert load_of(chain).mode == "paused"
    assert not load_of(chain).values.any()
    chain.pause(False)
    chain.reset()
    assert load_of(chain).mode == "waiting"


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"links.viscous": False}, "load.arm_file"),
        ({"links.effort_unit": ""}, "links.effort_unit"),
        ({"links.source": "base_wrench"}, "links.source"),
        ({"links.method": "energy"}, "links.method"),
        ({"links.effort_unit": "ampere"}, "links.torque_constants"),
        ({"load.sensor_frame": ""}, "load.sensor_frame"),
    ],
)
def test_settings_that_do_not_fit_are_refused(changes: dict[str, object], name: str) -> None:
    with pytest.raises(SettingError) as error:
        make_payload_chain(settings_for(changes=changes))
    assert error.value.name == name


def test_frames_that_carry_no_load_are_refused() -> None:
    with pytest.raises(UnknownFrameError, match="nowhere"):
        make_payload_chain(settings_for("nowhere"))
    root = ROBOT.frame_names[0]
    with pytest.raises(UnsupportedJointError, match=root):
        make_payload_chain(settings_for(root))


def test_a_tool_is_captured_on_a_wrist_sensor_only() -> None:
    with pytest.raises(SettingError, match=r"load\.source"):
        make_payload_chain().capture_tool()


def test_the_load_of_a_real_arm() -> None:
    training = [read_joint_recording(name) for name in ("ur10e_40sec_12harm", "ur10e_30sec_12harm")]
    urdf, loaded = read_joint_recording("ur10e_14harm50secLoad")
    links = Chain(Robot.from_urdf(urdf), settings_for(), Target.LINKS)
    for _, joints in training:
        links.push(joints)
        links.process()
    chain = Chain(Robot.from_urdf(urdf), settings_for("tool0"), Target.LOAD, arm=take_arm(links))
    chain.push(loaded)
    chain.process()
    estimate = load_of(chain)
    assert estimate.values[0] == pytest.approx(2.805, rel=0.02)
    assert abs(estimate.values[0] - 2.805) < 2.0 * estimate.deviations[0]
