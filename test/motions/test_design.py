"""Designed motions: they hold all limits, and tell twice as much as the paper's move."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import yaml
from support.chain import BAR, EXACT, PUMA, drive, load_of, make_chain, simulate_puma

from inertid_ros.cli.excite import make_load_table
from inertid_ros.core.errors import FileFormatError, RobotDescriptionError
from inertid_ros.core.records import FloatArray
from inertid_ros.core.robot.robot import Robot
from inertid_ros.core.settings.settings import LoadSettings
from inertid_ros.motions.files import TIME_TO_SPEED, read_limits
from inertid_ros.motions.motion import LOAD_MOVES, Motion, paper_puma_move, with_rest
from inertid_ros.motions.multisine import JointLimits, WindowedSines
from inertid_ros.motions.search import MotionSearch, make_reference
from inertid_ros.motions.targets import LoadInformation, WrenchNoise

pytestmark = pytest.mark.long

PATH = Robot.from_urdf(PUMA).path_to("ft_sensor")
GRAVITY = np.array([0.0, 0.0, -9.80665])
PAPER_ACCELERATIONS = np.radians([130.0] * 3 + [260.0] * 3)
"""What the paper gives for joint 1 of its PUMA, and for joint 4 at the wrist."""
INERTIAS = slice(4, 10)
RUNS = 30


@pytest.fixture(scope="module")
def information() -> LoadInformation:
    return LoadInformation(PATH, GRAVITY, WrenchNoise(), LoadSettings())


@pytest.fixture(scope="module")
def limits(tmp_path_factory: pytest.TempPathFactory) -> JointLimits:
    file = tmp_path_factory.mktemp("limits") / "limits.yaml"
    accelerations = zip(PATH.joint_names, PAPER_ACCELERATIONS.tolist(), strict=True)
    file.write_text(yaml.dump({"joints": {name: {"acceleration": value} for name, value in accelerations}}))
    return read_limits(PATH, file)


@pytest.fixture(scope="module")
def designed(information: LoadInformation, limits: JointLimits) -> WindowedSines:
    return MotionSearch(information, limits, paper_puma_move().duration).run()


def check_limits(information: LoadInformation, motion: Motion, limits: JointLimits) -> None:
    path = motion.at(np.linspace(0.0, motion.duration, 3001))
    assert np.all((limits.lower <= path.positions) & (path.positions <= limits.upper))
    assert np.all(np.abs(path.velocities) <= limits.velocity)
    assert np.all(np.abs(path.accelerations) <= limits.acceleration)
    efforts = information.evaluate(path, 0.01).efforts
    assert np.all(np.abs(efforts) <= 1.001 * limits.effort)


def run_chain(move: Motion, seed: int) -> FloatArray:
    """Error (10,) of the estimate from a move alone: the noise is measured while standing, all else then forgotten."""
    motion = with_rest(move, before=2.0)
    simulator = simulate_puma(motion, seed)
    chain = make_chain(**EXACT)
    drive(chain, simulator, 0.0, 2.0)
    chain.reset()
    drive(chain, simulator, 2.0, motion.duration)
    return load_of(chain).values - BAR


def test_designed_motion_halves_the_papers_deviations_of_all_inertias(
    information: LoadInformation, designed: WindowedSines, limits: JointLimits
) -> None:
    """As the command shows it: the same length, limits, noise and prior, and no standing still for either."""
    reference = make_reference(LOAD_MOVES["puma560"], limits, designed.duration)
    check_limits(information, reference.motions[0], limits)
    table = make_load_table(information, designed, reference, None)
    shown = np.array([float(cell) for cell in table.columns[-1].cells])  # type: ignore[arg-type]
    paper, found = information.predict(paper_puma_move()), information.predict(designed)
    np.testing.assert_allclose(shown, paper / found, atol=0.006)
    assert np.all(shown[INERTIAS] > 2.0)
    assert np.all(shown > 0.8)


def test_simulation_confirms_that_the_deviations_are_halved(designed: WindowedSines) -> None:
    """Scatter of the whole estimator's errors, each inertia on its own."""
    scatter = [
        np.std([run_chain(move, seed) for seed in range(RUNS)], axis=0, ddof=1)
        for move in (paper_puma_move(), designed)
    ]
    assert np.all(scatter[0][INERTIAS] > 2.0 * scatter[1][INERTIAS])


def test_designed_motion_holds_all_limits_from_rest_to_rest(
    information: LoadInformation, designed: WindowedSines, limits: JointLimits
) -> None:
    check_limits(information, designed, limits)
    ends = designed.at(np.array([0.0, designed.duration]))
    np.testing.assert_allclose(ends.positions[0], ends.positions[1], atol=1e-12)
    np.testing.assert_allclose(np.concatenate(ends[1:]), 0.0, atol=1e-12)
    largest = np.abs(designed.at(np.linspace(0.0, 2.0, 3001)).accelerations).max(axis=0)
    np.testing.assert_allclose(largest, PAPER_ACCELERATIONS, rtol=0.01)


def test_motors_are_not_asked_for_more_than_they_can(information: LoadInformation, limits: JointLimits) -> None:
    weak = replace(limits, effort=np.array([3.0, 25.0, 4.0, np.inf, np.inf, np.inf]))
    motion = MotionSearch(information, weak, 2.0, candidates=1200).run()
    check_limits(information, motion, weak)
    assert np.any(np.abs(motion.coefficients) > 0.01)


def test_motors_that_cannot_hold_the_arm_are_reported(information: LoadInformation, limits: JointLimits) -> None:
    weak = replace(limits, lower=np.full(6, -0.01), upper=np.full(6, 0.01), effort=np.ones(6))
    with pytest.raises(RobotDescriptionError, match="raise the effort limits"):
        MotionSearch(information, weak, 2.0, candidates=400).run()


def test_same_seed_gives_the_same_motion(information: LoadInformation, limits: JointLimits) -> None:
    counts: list[int] = []
    search = MotionSearch(information, limits, 2.0, 1000)
    first, again = search.run(3, counts.append), MotionSearch(information, limits, 2.0, 1000).run(3)
    np.testing.assert_array_equal(first.coefficients, again.coefficients)
    assert sum(counts) == pytest.approx(search.candidates, abs=10)


def test_what_is_known_is_not_sought_again(limits: JointLimits) -> None:
    """If all but one inertia are known, the design serves that one."""
    known = np.diag([1e-16] * 9 + [1.0])
    aware = LoadInformation(PATH, GRAVITY, WrenchNoise(), LoadSettings(), known)
    blind = LoadInformation(PATH, GRAVITY, WrenchNoise(), LoadSettings())
    motions = [MotionSearch(item, limits, 2.0, candidates=2000).run() for item in (aware, blind)]
    deviations = [aware.predict(motion)[9] for motion in motions]
    assert deviations[0] < 0.9 * deviations[1]


def test_limits_come_from_the_robot_and_are_narrowed_by_the_file(tmp_path: Path) -> None:
    plain = read_limits(PATH)
    np.testing.assert_allclose(plain.acceleration, plain.velocity / TIME_TO_SPEED)
    assert plain.effort[0] == pytest.approx(97.6)
    file = tmp_path / "limits.yaml"
    file.write_text("joints: {joint1: {lower: -0.5, upper: 100.0, velocity: 1, effort: 5.0}}")
    narrowed = read_limits(PATH, file)
    assert narrowed.lower[0] == -0.5
    assert narrowed.upper[0] == plain.upper[0]
    assert narrowed.velocity[0] == 1.0
    assert narrowed.acceleration[0] == 1.0 / TIME_TO_SPEED
    assert narrowed.effort[0] == 5.0
    np.testing.assert_array_equal(narrowed.lower[1:], plain.lower[1:])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("joints: {elbow: {lower: 0}}", "'elbow' is not one of the joints that move: joint1"),
        ("joints: {joint1: {speed: 1}}", "'speed' is none of lower, upper"),
        ("joints: {joint1: {velocity: -1}}", "'velocity' is -1, not a finite number above 0"),
        ("joints: {joint1: {lower: low}}", "'lower' is 'low', not a finite number"),
        ("limits: {}", "lacks 'joints'"),
    ],
)
def test_bad_limits_are_named(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "limits.yaml"
    file.write_text(text)
    with pytest.raises(FileFormatError, match=message):
        read_limits(PATH, file)


def test_joints_without_room_or_speed_are_named(tmp_path: Path) -> None:
    file = tmp_path / "limits.yaml"
    file.write_text("joints: {joint2: {lower: 0.7, upper: 0.6}}")
    with pytest.raises(RobotDescriptionError, match=r"joint 'joint2' has no room between 0\.7 and 0\.6"):
        read_limits(PATH, file)
    endless = PUMA.replace('velocity="2.0"', 'velocity="0"')
    with pytest.raises(RobotDescriptionError, match="joint 'joint1' has no velocity limit"):
        read_limits(Robot.from_urdf(endless).path_to("ft_sensor"))


def test_reference_is_the_papers_move_as_often_as_it_fits(limits: JointLimits) -> None:
    times = np.linspace(0.0, 2.0, 50)
    moves = LOAD_MOVES["puma560"]
    (once,) = make_reference(moves, limits, 2.0).motions
    np.testing.assert_allclose(once.at(times).positions, paper_puma_move().at(times).positions)
    (twice,) = make_reference(moves, limits, 5.0).motions
    assert twice.duration == pytest.approx(5.0)
    start, end = twice.at(np.array([0.0, 5.0])).positions
    np.testing.assert_allclose(start, end, atol=1e-12)
    other = make_reference(moves, limits, 1.0)
    assert other.name == "random sines"
    assert other.motions[0].duration == pytest.approx(1.0)
