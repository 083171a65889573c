"""Joint states whose stamps jitter, or that repeat themselves: when they were measured, and what is found from them."""

from __future__ import annotations

import numpy as np
import pytest
from imperfect import Motion
from imperfect_efforts import DrivenArm, EffortImperfections, record
from links_coverage import list_truth

from inertid_ros.core.chain import Chain, Target
from inertid_ros.core.diagnosis import Health
from inertid_ros.core.estimation.estimate import LinksEstimate, LoadEstimate
from inertid_ros.core.estimation.states import ParameterState
from inertid_ros.core.input.joint_stream import JointStream
from inertid_ros.core.records import FloatArray, IntArray, JointBlock, WrenchBlock
from inertid_ros.core.robot.robot import Robot
from inertid_ros.core.settings.choices import EffortUnit
from inertid_ros.core.settings.settings import LinksSettings, LoadSettings, Settings
from inertid_ros.files.parameters import load_from_yaml
from inertid_ros.files.share import share_path
from inertid_ros.motions.motion import with_rest
from inertid_ros.motions.multisine import JointLimits, Multisine
from inertid_ros.sim.sensors import SensorModel
from inertid_ros.sim.simulator import Simulator

SECOND = 1_000_000_000
JOINTS = 3


def make_stream(health: Health | None = None, keeps_stamps: bool = False) -> JointStream:
    reach = np.full((2, JOINTS), np.inf)
    return JointStream(
        tuple(range(JOINTS)), (True,) * JOINTS, reach, JOINTS, 0, health or Health(), keeps_stamps=keeps_stamps
    )


def move(times: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Two seconds of rest, then three sines that set in smoothly; positions and velocities (N, 3)."""
    rates, phases = np.array([1.1, 1.7, 2.3]), np.array([0.3, 1.9, 4.0])
    u = np.clip(times - 2.0, 0.0, 1.0)[:, None]
    size, rise = u**3 * (10.0 - 15.0 * u + 6.0 * u**2), 30.0 * u**2 * (1.0 - u) ** 2
    angles = rates * times[:, None] + phases
    return size * np.sin(angles), rise * np.sin(angles) + size * rates * np.cos(angles)


def stamp_late(times: FloatArray, late: float, random: np.random.Generator) -> IntArray:
    """Stamps of messages that have waited in buffers: exponentially distributed, never overtaking each other."""
    apart = 2e-5 * np.arange(len(times))
    stamped = np.maximum.accumulate(times + random.exponential(late, len(times)) - apart) + apart
    return np.asarray(SECOND + np.round(1e9 * stamped).astype(np.int64))


@pytest.mark.parametrize(("rate", "late"), [(100.0, 1e-3), (100.0, 3e-3), (500.0, 1e-3), (1000.0, 2e-3)])
@pytest.mark.parametrize("lost", [0.0, 0.002])
def test_jittering_stamps_are_replaced_by_those_of_the_clock(rate: float, late: float, lost: float) -> None:
    """The controller samples evenly; what is left of the jitter is a small part, and velocities are right."""
    random = np.random.default_rng(4)
    every = np.arange(0.0, 20.0, 1.0 / rate)
    kept = random.uniform(size=len(every)) >= lost
    times, stamps = every[kept], stamp_late(every, late, random)[kept]
    stream = make_stream()
    stream.push_states(np.arange(JOINTS), stamps, move(times)[0], None)
    filed, measured = find_times(stream, times)
    late_on = measured > 6.0
    error, jitter = (filed - measured)[late_on], (1e-9 * (stamps - SECOND) - times)[times > 6.0]
    assert error.std() < 0.5 * jitter.std()
    assert error.mean() == pytest.approx(jitter.mean(), abs=0.5 * late)
    found = stream.states[: len(filed), JOINTS : 2 * JOINTS]
    assert np.percentile(np.abs(found - move(measured)[1])[late_on], 99) < 0.1


def find_times(stream: JointStream, times: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Times at which joint states are filed, and at which they were measured, by their positions."""
    of = {tuple(position): time for position, time in zip(move(times)[0].tolist(), times.tolist(), strict=True)}
    positions = stream.states[: len(stream.stamps), :JOINTS].tolist()
    return 1e-9 * (stream.stamps - SECOND), np.array([of[tuple(position)] for position in positions])


def test_samples_that_are_taken_when_their_stamps_say_stay_there() -> None:
    random = np.random.default_rng(4)
    times = np.arange(0.0, 10.0, 0.002) + random.uniform(-8e-4, 8e-4, 5000)
    stamps = SECOND + np.round(1e9 * times).astype(np.int64)
    stream = make_stream()
    stream.push_states(np.arange(JOINTS), stamps, move(times)[0], None)
    np.testing.assert_array_equal(stream.stamps, stamps[1:-1])


def test_joint_states_stay_at_their_stamps_beside_efforts_of_the_same_messages() -> None:
    random = np.random.default_rng(4)
    times = np.arange(0.0, 10.0, 0.002)
    stamps = stamp_late(times, 1e-3, random)
    stream = make_stream(keeps_stamps=True)
    stream.push_states(np.arange(JOINTS), stamps, move(times)[0], None)
    filed, measured = find_times(stream, times)
    own = dict(zip(times.tolist(), (1e-9 * (stamps - SECOND)).tolist(), strict=True))
    late_on = measured > 4.0
    np.testing.assert_array_equal(filed[late_on], [own[time] for time in measured[late_on].tolist()])
    error = stream.states[: len(filed), JOINTS : 2 * JOINTS] - move(measured)[1]
    assert np.abs(error[late_on]).max() < 0.1, "slopes are those of the clock all the same"


@pytest.mark.parametrize("has_velocities", [True, False])
@pytest.mark.parametrize("block", [1, 5000])
def test_joint_states_that_repeat_the_last_one_are_left_out(has_velocities: bool, block: int) -> None:
    """Measured at 125 Hz, published at 500 Hz; while the arm stands, repeats are what a standing arm looks like."""
    health = Health()
    times = np.arange(0.0, 10.0, 0.002)
    positions, velocities = (values[np.arange(len(times)) // 4 * 4] for values in move(times))
    stamps = SECOND + np.round(1e9 * times).astype(np.int64)
    stream = make_stream(health)
    for start in range(0, len(times), block):
        part = slice(start, start + block)
        given = velocities[part] if has_velocities else None
        stream.push_states(np.arange(JOINTS), stamps[part], positions[part], given)
    filed = 1e-9 * (stream.stamps - SECOND)
    assert np.count_nonzero(filed < 1.9) > 900, "an arm that stands is seen at each sample"
    moving = filed > 3.0
    assert np.count_nonzero(moving) == pytest.approx(7.0 * 125, abs=3)
    found = stream.states[: len(filed), JOINTS : 2 * JOINTS]
    np.testing.assert_allclose(found[moving], move(filed[moving])[1], atol=5e-3)
    (item,) = [item for item in health.items() if item.code == "repeated_states"]
    assert item.level == "info"
    assert item.count == pytest.approx(3 * 8.0 * 125, rel=0.05)


@pytest.mark.parametrize("rate", [500.0, 1000.0])
def test_coarse_encoders_of_slow_joints_are_no_repeats(rate: float) -> None:
    """Three joints at 0.1 rad/s make a step of 1e-3 rad every tenth of a second at 1 kHz, and stand in between."""
    health, times = Health(), np.arange(0.0, 20.0, 1.0 / rate)
    positions = np.round(0.1 * move(times)[0] / 1e-3) * 1e-3
    stream = make_stream(health)
    stamps = SECOND + np.round(1e9 * times).astype(np.int64)
    stream.push_states(np.arange(JOINTS), stamps, positions, None)
    left_out = sum(item.count for item in health.items() if item.code == "repeated_states")
    assert left_out < 0.005 * len(times)


def test_single_repeats_are_kept() -> None:
    """An arm that stops for two samples now and then is no driver that repeats itself."""
    health = Health()
    times = np.arange(0.0, 10.0, 0.002)
    positions, velocities = move(times)
    for index in range(2000, 5000, 50):
        positions[index], velocities[index] = positions[index - 1], velocities[index - 1]
    stream = make_stream(health)
    stamps = SECOND + np.round(1e9 * times).astype(np.int64)
    stream.push_states(np.arange(JOINTS), stamps, positions, velocities)
    assert "repeated_states" not in {item.code for item in health.items()}


@pytest.mark.parametrize("trouble", ["late stamps", "repeats"])
def test_a_load_is_found_in_spite_of_the_driver(trouble: str) -> None:
    urdf = share_path("urdf", "puma560.urdf").read_text()
    truth = load_from_yaml(share_path("config", "loads", "bar.yaml"))
    limits = JointLimits(*(np.full(6, value) for value in (-1.5, 1.5, 1.0, 4.0)))
    sensors = SensorModel(joint_rate=500.0, wrench_rate=500.0, force_noise=0.1, torque_noise=5e-3)
    simulator = Simulator(
        urdf, "ft_sensor", with_rest(Multisine(limits, 20.0), before=2.0), sensors, [(0.0, truth)], seed=3
    )
    joints, wrenches = simulator.joints(0.0, 22.0), simulator.wrenches(0.0, 22.0)
    random = np.random.default_rng(8)
    if trouble == "repeats":
        joints = joints._replace(positions=joints.positions[np.arange(len(joints.stamps)) // 4 * 4], velocities=None)
    else:
        late = stamp_late(1e-9 * (joints.stamps - joints.stamps[0]), 2e-3, random)
        joints = JointBlock(joints.names, joints.stamps[0] + late - SECOND, joints.positions, None)
    chain = Chain(Robot.from_urdf(urdf), Settings(load=LoadSettings(sensor_frame="ft_sensor")), Target.LOAD)
    chain.push(joints)
    chain.push(WrenchBlock(wrenches.frame, wrenches.stamps, wrenches.wrenches))
    chain.process()
    estimate = chain.estimate()
    assert isinstance(estimate, LoadEstimate)
    assert [finding.code for finding in estimate.findings if finding.level == "error"] == []
    assert estimate.states.count(ParameterState.KNOWN) >= 9
    assert np.abs((estimate.values - truth) / estimate.deviations).max() < 3.0


@pytest.mark.parametrize("trouble", ["late stamps", "repeats"])
def test_links_are_found_in_spite_of_the_driver(trouble: str) -> None:
    """Before, a tenth to a third of the parameters called known were off by 3 to 30 standard deviations."""
    random, has = np.random.default_rng([1, 77]), EffortImperfections()
    arm = DrivenArm("PUMA", random)
    block = record(arm, Motion(len(arm.joints), random, 1.0), has, random, 30.0, 250.0)
    if trouble == "late stamps":
        block = block._replace(stamps=stamp_late(1e-9 * (block.stamps - block.stamps[0]), 3e-3, random))
    else:
        same = np.arange(len(block.stamps)) // 4 * 4
        assert block.efforts is not None
        block = block._replace(positions=block.positions[same], velocities=None, efforts=block.efforts[same])
    links = LinksSettings(effort_unit=EffortUnit.NEWTON_METRE)
    chain = Chain(Robot.from_urdf(arm.urdf()), Settings(links=links), Target.LINKS)
    chain.push(block)
    chain.process()
    estimate = chain.estimate()
    assert isinstance(estimate, LinksEstimate)
    errors = (estimate.values - estimate.base.combination @ list_truth(arm, has, estimate)) / estimate.deviations
    known = np.array([state is ParameterState.KNOWN for state in estimate.states])
    assert known.mean() > 0.5
    assert np.abs(errors[known]).max() < 3.5
