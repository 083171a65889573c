"""Motions for the links: predicted deviations, limits, and more information than the paper's moves bring."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

from inertid_ros.cli.excite import make_links_table
from inertid_ros.core.chain import Chain, Target
from inertid_ros.core.equations.model import LinkModel
from inertid_ros.core.estimation.estimate import LinksEstimate
from inertid_ros.core.records import FloatArray
from inertid_ros.core.rigid_body.inertial import from_pinocchio
from inertid_ros.core.robot.robot import Robot
from inertid_ros.core.settings.settings import LinksSettings, Settings
from inertid_ros.files.share import share_path
from inertid_ros.motions.files import read_limits
from inertid_ros.motions.motion import LINK_MOVES, LOAD_MOVES, JointPath, Motion, paper_ddarm_link_moves
from inertid_ros.motions.multisine import WindowedSines
from inertid_ros.motions.search import CandidateSpace, MotionSearch, make_reference
from inertid_ros.motions.targets import BASE_NOISE, NOISE_SHARE, LinkInformation, WrenchNoise, assume_noise
from inertid_ros.sim.arm import JointFriction
from inertid_ros.sim.sensors import SensorModel
from inertid_ros.sim.simulator import Simulator

pytestmark = pytest.mark.long

DRIVE = JointFriction(viscous_friction=0.5, coulomb_friction=1.0, rotor_inertia=0.1, effort_offset=0.3)
NOISY_BASE = WrenchNoise(10.0 / 200.0**0.5, 3.0 / 200.0**0.5)
RATE = 200.0


class Arm:
    """An arm with its URDF, and what a motion tells of it from one source."""

    def __init__(self, name: str, source: str = "effort", wrench: WrenchNoise = BASE_NOISE) -> None:
        self.name = name
        self.urdf = share_path("urdf", f"{name}.urdf").read_text()
        self.robot = Robot.from_urdf(self.urdf)
        names = ("delay_uncertainty", "tilt_uncertainty", "gain_uncertainty", "friction_uncertainty")
        exact = {f"links.{name}": 0.0 for name in names}  # noise alone is predicted
        self.settings = Settings.from_flat({"links.effort_unit": "newton_metre", "links.source": source, **exact})
        self.model = LinkModel.from_settings(self.robot, self.settings, self.robot.joint_names)
        self.wrench = wrench
        self.densities = assume_noise(self.model, wrench)
        self.information = LinkInformation(self.model, self.densities, self.settings.links)
        self.limits = read_limits(self.model.arm)

    @property
    def joints(self) -> int:
        return len(self.robot.joint_names)

    def cost(self, *motions: Motion) -> float:
        return self.information.cost(np.linalg.inv(self.information.covariance(motions)))

    def simulate(self, motion: Motion, seed: int) -> LinksEstimate:
        """What the whole estimator says after the motion alone."""
        sensors = SensorModel(
            joint_rate=RATE,
            wrench_rate=RATE,
            velocity_noise=1e-5,
            effort_noise=tuple(NOISE_SHARE * self.model.arm.effort_limits),
            force_noise=self.wrench.force * RATE**0.5,
            torque_noise=self.wrench.torque * RATE**0.5,
        )
        frame = self.robot.frame_names[-1]
        simulator = Simulator(self.urdf, frame, motion, sensors, seed=seed, friction=DRIVE)
        chain = Chain(self.robot, self.settings, Target.LINKS)
        for start in np.arange(0.0, motion.duration, 0.5).tolist():
            chain.push(simulator.joints(start, start + 0.5))
            chain.push(simulator.base_wrenches(start, start + 0.5))
            chain.process()
        estimate = chain.estimate()
        assert isinstance(estimate, LinksEstimate)
        return estimate

    def truth(self) -> FloatArray:
        """Base parameters of the simulated arm."""
        full, unknowns = np.zeros(len(self.model.unknowns.names)), self.model.unknowns
        full[unknowns.inertial] = self.model.arm.parameters
        full[unknowns.viscous], full[unknowns.coulomb] = DRIVE.viscous_friction, DRIVE.coulomb_friction
        full[unknowns.rotor_inertia], full[unknowns.offset] = DRIVE.rotor_inertia, DRIVE.effort_offset
        return np.asarray(self.model.base.combination @ full)


@pytest.fixture(scope="module")
def ddarm() -> Arm:
    return Arm("ddarm")


@pytest.fixture(scope="module")
def puma() -> Arm:
    return Arm("puma560")


@pytest.fixture(scope="module")
def ddarm_motion(ddarm: Arm) -> WindowedSines:
    return MotionSearch(ddarm.information, ddarm.limits, 3.9, candidates=1500).run()


@pytest.fixture(scope="module")
def puma_motion(puma: Arm) -> WindowedSines:
    return MotionSearch(puma.information, puma.limits, 10.0, candidates=1000).run()


def draw_path(seed: int, joints: int, count: int = 6) -> JointPath:
    random = np.random.default_rng(seed)
    return JointPath(*(random.normal(size=(count, joints)) for _ in range(3)))


def test_rows_are_the_equations_of_any_arm_of_this_shape(puma: Arm) -> None:
    """With filters far above the sampling rate: rows times base parameters are pinocchio's efforts plus friction."""
    links = LinksSettings(filter_cutoff=1e12, smoothing_cutoff=1e12, noise_floor_effort=1e-9)
    information = LinkInformation(puma.model, puma.densities, links)
    path, unknowns = draw_path(1, 6), puma.model.unknowns
    full = np.random.default_rng(2).uniform(0.1, 1.0, len(unknowns.names))
    model = puma.model.arm.model.copy()
    pin.seed(2)
    for index in range(6):
        model.inertias[index + 1] = pin.Inertia.Random()
        full[10 * index : 10 * index + 10] = from_pinocchio(model.inertias[index + 1])
    drives = JointFriction(
        *(full[part] for part in (unknowns.viscous, unknowns.coulomb, unknowns.rotor_inertia, unknowns.offset))
    )
    efforts = [pin.rnea(model, model.createData(), *state) for state in zip(*path, strict=True)]
    expected = (np.array(efforts) + drives.efforts(path)) / puma.densities
    value = information.evaluate(path, 0.01)
    np.testing.assert_allclose((value.rows @ (puma.model.base.combination @ full)).reshape(-1, 6), expected, rtol=1e-6)
    added = 0.01 * value.rows.T @ value.rows
    np.testing.assert_allclose(value.information - added, np.diag(1.0 / puma.model.prior_deviations**2), atol=1e-6)


def test_efforts_are_those_of_the_urdf_with_gravity(puma: Arm) -> None:
    model = puma.robot.model.copy()
    model.gravity.linear = np.array([0.0, 0.0, -9.80665])
    path = draw_path(3, 6)
    expected = [pin.rnea(model, model.createData(), *state) for state in zip(*path, strict=True)]
    np.testing.assert_allclose(puma.information.move(path)[1], expected, atol=1e-9)


@pytest.mark.parametrize("source", ["effort", "base_wrench", "both"])
def test_slopes_are_those_of_the_cost(source: str) -> None:
    """Against differences of the cost of whole candidates, with a cost of efforts added."""
    arm = Arm("ddarm", source)
    space, random = CandidateSpace(arm.limits, 3.0), np.random.default_rng(4)
    candidate, direction = random.normal(size=(2, space.dimension))
    weights = random.normal(size=(space.points, arm.joints))

    def value(place: FloatArray) -> float:
        found = arm.information.evaluate(space.sample(place), space.step)
        return arm.information.cost(found.information) + float(np.sum(weights * found.efforts))

    path = space.sample(candidate)
    slopes = arm.information.slopes(path, space.step, arm.information.evaluate(path, space.step), weights)
    expected = (value(candidate + 1e-5 * direction) - value(candidate - 1e-5 * direction)) / 2e-5
    assert space.pull_back(candidate, slopes) @ direction == pytest.approx(expected, rel=1e-4)


def check_prediction(arm: Arm, motion: Motion, largest: float) -> None:
    """What the estimator states is what was predicted, and its errors are as large as that."""
    information, wanted = arm.information, arm.information.wanted
    covariance = information.covariance([motion])
    predicted = np.sqrt(np.diag(covariance))
    estimates = [arm.simulate(motion, seed) for seed in range(4)]
    stated = np.mean([np.sqrt(np.diag(estimate.covariance)) for estimate in estimates], axis=0)
    ratios = (stated / predicted)[wanted]
    assert ratios.min() > 0.7
    assert ratios.max() < largest
    assert 0.8 < np.median(ratios) < 1.7
    errors = np.array([estimate.values - arm.truth() for estimate in estimates])
    squares = np.einsum("ij,jk,ik->i", errors, np.linalg.inv(covariance), errors) / len(predicted)
    assert 0.5 < np.mean(squares) < 1.7


def test_prediction_agrees_with_the_estimator_for_three_joints(ddarm: Arm, ddarm_motion: WindowedSines) -> None:
    check_prediction(ddarm, ddarm_motion, largest=2.0)


def test_prediction_agrees_with_the_estimator_for_six_joints(puma: Arm, puma_motion: WindowedSines) -> None:
    """A wrist whose effort is nearly nothing but noise is stated somewhat worse than it is."""
    check_prediction(puma, puma_motion, largest=2.5)


def test_prediction_agrees_with_the_estimator_for_a_base_sensor(puma_motion: WindowedSines) -> None:
    check_prediction(Arm("puma560", "base_wrench", NOISY_BASE), puma_motion, largest=2.5)


def check_limits(arm: Arm, motion: Motion, effort: FloatArray) -> FloatArray:
    path, joints = motion.at(np.linspace(0.0, motion.duration, 4001)), arm.limits
    assert np.all((joints.lower <= path.positions) & (path.positions <= joints.upper))
    assert np.all(np.abs(path.velocities) <= joints.velocity)
    assert np.all(np.abs(path.accelerations) <= joints.acceleration)
    model = arm.model.arm.model
    efforts = [pin.rnea(model, model.createData(), *state) for state in zip(*path, strict=True)]
    peaks: FloatArray = np.abs(efforts).max(axis=0)
    assert np.all(peaks <= 1.001 * effort)
    return peaks


def test_designed_motion_holds_all_limits(puma: Arm, puma_motion: WindowedSines) -> None:
    check_limits(puma, puma_motion, puma.limits.effort)
    ends = puma_motion.at(np.array([0.0, puma_motion.duration]))
    np.testing.assert_allclose(ends.positions[0], ends.positions[1], atol=1e-12)
    np.testing.assert_allclose(np.concatenate(ends[1:]), 0.0, atol=1e-12)


def test_effort_limits_bind_where_motors_are_weak(puma: Arm, puma_motion: WindowedSines) -> None:
    free = check_limits(puma, puma_motion, puma.limits.effort)
    weak = replace(puma.limits, effort=0.6 * free)
    motion = MotionSearch(puma.information, weak, 10.0, candidates=1500).run()
    check_limits(puma, motion, weak.effort)
    assert puma.cost(motion) < puma.cost(puma_motion.scaled(0.3))


@pytest.mark.parametrize("name", ["ddarm", "puma560"])
def test_designed_motion_tells_more_than_the_papers_moves(name: str, request: pytest.FixtureRequest) -> None:
    short = name.removesuffix("560")
    arm, motion = request.getfixturevalue(short), request.getfixturevalue(f"{short}_motion")
    reference = make_reference((LOAD_MOVES | LINK_MOVES)[name], arm.limits, motion.duration)
    table = make_links_table(arm.model, arm.information, motion, reference, arm.model.prior_deviations)
    better = np.array([float(cell) for cell in table.columns[-1].cells])  # type: ignore[arg-type]
    assert len(better) == arm.information.wanted.sum()
    assert np.median(better) > 1.15
    assert arm.cost(motion) < arm.cost(*reference.motions) - 10.0


def test_what_is_known_is_not_sought_again(ddarm: Arm, ddarm_motion: WindowedSines) -> None:
    """If all but one product of inertia is known, the design serves that one."""
    place = ddarm.model.base.texts.index("link2.Ixz")
    covariance = np.diag(np.where(np.arange(ddarm.model.base.rank) == place, 1.0, 1e-14))
    aware = LinkInformation(ddarm.model, ddarm.densities, ddarm.settings.links, covariance)
    motion = MotionSearch(aware, ddarm.limits, 3.9, candidates=1500).run()
    deviations = [aware.predict(item)[place] for item in (motion, ddarm_motion)]
    assert deviations[0] < 0.9 * deviations[1]


def test_papers_three_moves_begin_where_they_begin_in_the_paper(ddarm: Arm) -> None:
    reference = make_reference(LINK_MOVES["ddarm"], ddarm.limits, 3.9)
    assert reference.name == "paper's moves"
    times = np.linspace(0.0, 1.3, 30)
    for motion, move in zip(reference.motions, paper_ddarm_link_moves(), strict=True):
        np.testing.assert_allclose(motion.at(times).positions, move.at(times).positions, atol=1e-12)
    assert len(make_reference(LINK_MOVES["ddarm"], ddarm.limits, 10.0).motions) == 7
    assert make_reference(LINK_MOVES["ddarm"], ddarm.limits, 3.0).name == "random sines"


def test_noise_is_a_share_of_the_effort_limit_where_there_is_one(puma: Arm) -> None:
    endless = puma.urdf.replace('effort="97.6"', 'effort="0"')
    model = LinkModel.from_settings(Robot.from_urdf(endless), puma.settings, puma.robot.joint_names)
    assert assume_noise(model, BASE_NOISE)[0] == pytest.approx(0.5 / 200.0**0.5)
    assert assume_noise(model, BASE_NOISE)[1] == pytest.approx(0.005 * 186.4 / 200.0**0.5)
    np.testing.assert_array_equal(assume_noise(model, BASE_NOISE, np.full(6, 0.3)), np.full(6, 0.3))
