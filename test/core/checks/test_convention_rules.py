"""Each condition of the convention check by itself: with closed forms instead of a whole chain."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from support.chain import PUMA

from inertid_ros.core.checks.gravity_hypotheses import (
    Poses,
    _angle_and_axis,
    _fit_gravity,
    _fit_turn,
    _name_gravity,
    _name_turn,
    _squareness,
    _turn_back,
    _wanders,
    _weigh,
    judge_forces,
)
from inertid_ros.core.checks.wrench_convention import ConventionCheck, WrenchSign, _judge_load, find_contradictions
from inertid_ros.core.estimation.estimate import Sign
from inertid_ros.core.records import FloatArray
from inertid_ros.core.robot.robot import Robot
from inertid_ros.core.settings.choices import SignChoice

GRAVITY = 9.81
MASS, CENTRE = 2.0, np.array([0.01, -0.02, 0.05])


def _tare(mass: float = MASS, force: float = 1.0, offset: float = 0.0) -> FloatArray:
    """[phi (10), bias (6)] of a sensor that was zeroed under a load, or nearly so."""
    unknowns = np.zeros(16)
    unknowns[0], unknowns[1:4] = mass, mass * CENTRE
    unknowns[10:13] = [0.0, 0.0, force * mass * GRAVITY]
    unknowns[13:] = np.cross(CENTRE, unknowns[10:13]) + np.array([offset, 0.0, 0.0])
    return unknowns


def _codes(unknowns: FloatArray, deviation: float = 0.001, sign: Sign | None = Sign.ON_LOAD) -> list[str]:
    covariance = np.diag(np.full(16, deviation**2))
    return [finding.code for finding in find_contradictions(unknowns, covariance, sign, GRAVITY)]


def test_a_bias_that_is_the_load_s_weight_with_its_lever_was_tared() -> None:
    assert _codes(_tare()) == ["tared"]
    assert _codes(_tare(force=1.04)) == ["tared"]
    assert _codes(_tare(offset=0.004 * MASS * GRAVITY)) == ["tared"]
    assert _codes(_tare(), deviation=0.04 * MASS) == ["tared"]


@pytest.mark.parametrize(
    ("unknowns", "deviation"),
    [
        (_tare(force=1.06), 0.001),
        (_tare(force=0.94), 0.001),
        (_tare(mass=0.2), 0.001),
        (_tare(offset=0.006 * MASS * GRAVITY), 0.001),
        (_tare(), 0.06 * MASS),
    ],
    ids=["more", "less", "light", "elsewhere", "uncertain"],
)
def test_another_bias_was_not(unknowns: FloatArray, deviation: float) -> None:
    assert _codes(unknowns, deviation) == []


def test_a_negative_mass_beyond_doubt_contradicts_the_configured_sign() -> None:
    unknowns = np.zeros(16)
    unknowns[0] = -0.5
    assert _codes(unknowns) == ["sign_contradicted"]
    assert _codes(unknowns, sign=Sign.ON_SENSOR) == []
    assert _codes(unknowns, sign=None) == []
    assert _codes(unknowns, deviation=0.06) == [], "not beyond doubt"
    unknowns[0] = -0.09
    assert _codes(unknowns) == [], "lighter than what drifts"
    unknowns[0] = 0.5
    assert _codes(unknowns, sign=Sign.ON_SENSOR) == ["sign_contradicted"]


@pytest.mark.parametrize(
    ("masses", "expected"),
    [
        ([(0.04, 0.0)], None),
        ([(-1.0, 0.11)], None),
        ([(-1.0, 0.11), (-1.0, 0.09)], Sign.ON_SENSOR),
        ([(1.0, 0.09)], Sign.ON_LOAD),
        ([(-1.0, 0.09), (2.0, 0.21)], Sign.ON_SENSOR),
        ([(-1.0, 0.09), (0.04, 0.0)], Sign.ON_SENSOR),
    ],
    ids=["light", "doubtful", "negative", "positive", "doubtful other", "light other"],
)
def test_the_sign_is_learnt_from_masses_beyond_doubt(masses: list[tuple[float, float]], expected: Sign | None) -> None:
    sign = WrenchSign(SignChoice.AUTO)
    for mass, deviation in masses:
        sign.learn(mass, deviation**2)
    assert sign.sign is expected
    configured = WrenchSign(SignChoice.ON_LOAD)
    configured.learn(-2.0, 1e-9)
    assert configured.sign is Sign.ON_LOAD


def test_a_sign_that_a_contact_at_the_beginning_made_is_learned_anew() -> None:
    sign, found = WrenchSign(SignChoice.AUTO), []
    for mass, variance in ((-19.4, 1e-3), (0.9, 0.09**2 * 1.01), (0.9, 0.09**2 * 0.99)):
        sign.learn(mass, variance)
        found.append(sign.sign)
    assert found == [Sign.ON_SENSOR, Sign.ON_SENSOR, Sign.ON_LOAD], "no mass within ten standard deviations is certain"


def _make_poses(count: int, spread: float, mass: float, mirror: FloatArray, seed: int = 1) -> Poses:
    """Poses at rest in random directions around one, with the wrench of a load, its moments mirrored or not."""
    random = np.random.default_rng(seed)
    directions = np.array([0.0, 0.0, 1.0]) + spread * random.normal(size=(count, 3))
    felt = GRAVITY * directions / np.linalg.norm(directions, axis=1)[:, None]
    moments = np.cross(np.tile(10.0 * mass * CENTRE, (count, 1)), felt) * mirror
    wrenches = np.hstack((mass * felt, moments))
    return Poses(np.zeros((count, 3)), -felt, wrenches, np.zeros(count), np.zeros((count, 6)))


STRAIGHT, MIRRORED = np.ones(3), np.array([-1.0, 1.0, 1.0])


@pytest.mark.parametrize(
    ("count", "spread", "mass", "mirror", "codes"),
    [
        (20, 1.0, 2.0, STRAIGHT, []),
        (20, 1.0, 2.0, MIRRORED, ["moments_mirrored"]),
        (7, 1.0, 2.0, MIRRORED, []),
        (20, 0.05, 2.0, MIRRORED, []),
        (20, 1.0, 0.0, STRAIGHT, ["compensated"]),
        (7, 1.0, 0.0, STRAIGHT, []),
        (20, 0.05, 0.0, STRAIGHT, []),
    ],
    ids=["right", "mirrored", "few poses", "hardly turned", "nothing carried", "few without", "turned hardly without"],
)
def test_moments_are_judged_by_enough_poses_that_have_turned(
    count: int, spread: float, mass: float, mirror: FloatArray, codes: list[str]
) -> None:
    poses = _make_poses(count, spread, mass, mirror)
    assert [finding.code for finding in _judge_load(poses, [(0, count)])] == codes


def test_the_longest_run_is_judged() -> None:
    wrong, right = _make_poses(20, 1.0, 2.0, MIRRORED), _make_poses(10, 1.0, 2.0, STRAIGHT, 2)
    poses = Poses(*(np.concatenate(parts) for parts in zip(wrong, right, strict=True)))
    assert [finding.code for finding in _judge_load(poses, [(0, 20), (20, 30)])] == ["moments_mirrored"]


@pytest.mark.parametrize("seed", range(5))
def test_angle_and_axis_are_those_of_the_rotation(seed: int) -> None:
    random = np.random.default_rng(seed)
    axis = random.normal(size=3)
    axis /= np.linalg.norm(axis)
    angle = random.uniform(0.1, 3.0)
    found, found_axis = _angle_and_axis(pin.exp3(angle * axis))
    assert found == pytest.approx(np.degrees(angle))
    np.testing.assert_allclose(found_axis, axis, atol=1e-9)


@pytest.mark.parametrize("angle", [0.2, 1.5, 3.0])
def test_an_axis_has_the_side_about_which_it_turns(angle: float) -> None:
    for axis in (*np.eye(3), *-np.eye(3)):
        np.testing.assert_allclose(_angle_and_axis(pin.exp3(angle * axis))[1], axis, atol=1e-9)


def test_the_turn_between_accelerations_and_forces_is_found_within_runs() -> None:
    """Each run has a bias of its own, and one of three poses says nothing."""
    random = np.random.default_rng(3)
    turn = pin.exp3(np.array([0.3, -1.0, 0.5]))
    felt = random.normal(size=(23, 3))
    forces = felt @ turn.T
    forces[:10] += [5.0, 0.0, -3.0]
    forces[10:13] = random.normal(size=(3, 3)) * 50.0
    runs = [(0, 10), (10, 13), (13, 23)]
    np.testing.assert_allclose(_fit_turn(felt, forces, np.ones(23), runs), turn, atol=1e-9)


def test_gravity_is_named_by_its_angle() -> None:
    gravity = np.array([0.0, 0.0, -GRAVITY])

    def tilt(degrees: float) -> tuple[str, float]:
        return _name_gravity(pin.exp3(np.radians([degrees, 0.0, 0.0])) @ gravity, gravity)

    assert not tilt(4.0)[0]
    assert tilt(4.0)[1] == pytest.approx(4.0)
    message, angle = tilt(10.0)
    assert "tilted by 10 deg" in message
    assert angle == pytest.approx(10.0)
    assert "another direction" in tilt(90.0)[0]
    assert "(0.00, 1.70, -9.66) m/s²" in message
    assert not tilt(4.99)[0]
    assert "tilted by 5 deg" in tilt(5.01)[0]
    assert "tilted by 30 deg" in tilt(29.9)[0]
    assert "another direction" in tilt(30.1)[0]


@pytest.mark.parametrize("sign", [Sign.ON_LOAD, Sign.ON_SENSOR])
def test_a_turn_is_named_by_its_angle_axis_and_sign(sign: Sign) -> None:
    def turn(degrees: float) -> tuple[str, float]:
        return _name_turn(sign.factor * pin.exp3(np.radians([0.0, degrees, 0.0])))

    assert not turn(4.9)[0]
    assert turn(4.9)[1] == pytest.approx(4.9)
    message, angle = turn(90.0)
    assert angle == pytest.approx(90.0)
    assert f"turned by 90 deg about (0.00, 1.00, 0.00), with wrench_sign {sign}: correct" in message
    assert "mirrored" not in turn(169.0)[0]
    assert "mirrored" in turn(171.0)[0]


def test_square_is_what_exchanges_and_flips_axes() -> None:
    assert _squareness(np.array([[0.0, -1.0, 0.0], [0.0, 0.0, 1.0], [-1.0, 0.0, 0.0]])) == pytest.approx(3.0)
    assert _squareness(pin.exp3(np.array([0.0, 0.0, np.pi / 4.0]))) == pytest.approx(2.0)


def test_where_gravity_has_turned_in_a_plane_the_squarer_turn_is_taken() -> None:
    angles = np.linspace(0.0, 3.0, 12)
    felt = np.stack((np.sin(angles), 0.0 * angles, np.cos(angles)), axis=1)
    runs, weights = [(0, 12)], np.ones(12)
    np.testing.assert_allclose(np.abs(_fit_turn(felt, felt, weights, runs)), np.eye(3), atol=1e-9)
    leaning = pin.exp3(np.array([0.4, 0.0, 0.0]))
    found = _fit_turn(felt, felt @ leaning.T, weights, runs)
    np.testing.assert_allclose(felt @ found.T, felt @ leaning.T, atol=1e-9)


PATH = Robot.from_urdf(PUMA).path_to("ft_sensor")
DOWN = np.array([0.0, 0.0, -GRAVITY])


def _take_poses(count: int, seed: int = 0, size: float = 2.0) -> FloatArray:
    return np.random.default_rng(seed).uniform(-size, size, (count, len(PATH.joint_names)))


def _rest(positions: FloatArray, mass: float, turn: FloatArray | None = None, down: FloatArray = DOWN) -> Poses:
    """What a PUMA measures at rest, if its sensor is turned and gravity is along `down`; it is said to be all right."""
    back = _turn_back(PATH, positions)
    forces = -mass * (back @ down) @ (np.eye(3) if turn is None else turn).T + [3.0, -2.0, 1.0]
    count = len(positions)
    return Poses(
        np.zeros((count, 3)), back @ DOWN, np.hstack((forces, np.zeros((count, 3)))), np.zeros(count), positions
    )


def test_axes_of_the_root_are_turned_into_those_of_the_sensor() -> None:
    """Against the whole model of the robot."""
    model = pin.buildModelFromXML(PUMA)
    data, frame = model.createData(), model.getFrameId("ft_sensor")
    positions = _take_poses(5)
    columns = [model.joints[model.getJointId(name)].idx_q for name in PATH.joint_names]
    for position, turn in zip(positions, _turn_back(PATH, positions), strict=True):
        q = pin.neutral(model)
        q[columns] = position
        pin.framesForwardKinematics(model, data, q)
        np.testing.assert_allclose(turn, data.oMf[frame].rotation.T, atol=1e-12)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_gravity_is_found_where_it_is_on_the_side_of_the_configured_one(sign: float) -> None:
    tilted = pin.exp3(np.array([0.3, -0.2, 0.0])) @ DOWN
    poses = _rest(_take_poses(20), sign * 2.0, down=tilted)
    found = _fit_gravity(poses, np.ones(20), _turn_back(PATH, poses.positions), DOWN)
    np.testing.assert_allclose(found, tilted, atol=1e-9)
    nothing = poses._replace(wrenches=0.0 * poses.wrenches)
    np.testing.assert_array_equal(_fit_gravity(nothing, np.ones(20), _turn_back(PATH, poses.positions), DOWN), DOWN)


def test_poses_that_weigh_nothing_do_not_move_gravity() -> None:
    poses = _rest(_take_poses(30), 2.0)
    forces, weights = poses.wrenches.copy(), np.ones(30)
    forces[20:, :3], weights[20:] = 40.0, 1e-12
    found = _fit_gravity(poses._replace(wrenches=forces), weights, _turn_back(PATH, poses.positions), DOWN)
    np.testing.assert_allclose(found, DOWN, atol=1e-4)


def test_the_tolerance_grows_with_the_weight_and_with_angular_accelerations() -> None:
    """Against the words of the constants, for gravity that turns all around, and for forces in motion."""
    poses = _rest(_take_poses(200), 2.0)
    scatter = poses.felt.var(axis=0).sum() / GRAVITY**2
    assert 0.5 < scatter < 1.0
    weight = 2.0 * GRAVITY
    np.testing.assert_allclose(_weigh(poses, GRAVITY), 1.0 / (0.1**2 + (0.02 * weight) ** 2))
    turning = np.linspace(0.0, 50.0, 200)
    expected = 0.1**2 + weight**2 * (0.02**2 + (0.1 * turning / GRAVITY) ** 2)
    np.testing.assert_allclose(_weigh(poses._replace(turning=turning), GRAVITY), 1.0 / expected)
    absurd = poses._replace(turning=np.full(200, 101.0))
    np.testing.assert_allclose(_weigh(absurd, GRAVITY), 1.0 / (0.1**2 + weight**2 * (0.02**2 + 0.05**2)))
    little = _rest(_take_poses(200, size=0.02), 2.0)
    forces = little.wrenches[:, :3].var(axis=0).sum()
    np.testing.assert_allclose(_weigh(little, GRAVITY), 1.0 / (0.1**2 + 0.02**2 * forces / 0.25))


def test_forces_wander_where_many_loads_explain_them_and_one_does_not() -> None:
    random = np.random.default_rng(0)
    felt = GRAVITY * random.normal(size=(50, 3))
    six, five = [(8 * k, 8 * k + 8) for k in range(6)], [(10 * k, 10 * k + 10) for k in range(5)]
    unrelated = 20.0 * random.normal(size=(50, 3))
    weights = np.full(50, 25.0)
    assert _wanders(felt, unrelated, weights, six)
    assert not _wanders(felt, unrelated, weights, five), "two changes of the load make as many"
    assert not _wanders(felt, 2.0 * felt + 5.0, weights, six), "one load explains them"
    twice = np.tile(felt, (2, 1)), np.tile(unrelated, (2, 1)), np.tile(weights, 2)
    assert not _wanders(*twice, six), "each has many poses"
    masses = np.repeat([0.1, 3.0, -4.0, 2.0, -3.0, 1.0], [8, 8, 8, 8, 8, 10])[:, None]
    assert not _wanders(felt, masses * felt + 5.0, weights, [*six[:5], (40, 50)]), "loads change, and the bias does not"


def test_forces_that_follow_gravity_pass_once_it_has_turned_all_around() -> None:
    verdict = judge_forces(_rest(_take_poses(20), 2.0), PATH, DOWN)
    assert verdict.findings == ()
    assert verdict.has_passed
    assert verdict.runs == [(0, 20)]
    assert not judge_forces(_rest(_take_poses(20, size=0.02), 2.0), PATH, DOWN).has_passed
    assert not judge_forces(_rest(_take_poses(5), 2.0), PATH, DOWN).has_passed, "so few fit anything"
    assert judge_forces(_rest(_take_poses(6), 2.0), PATH, DOWN).has_passed


@pytest.mark.parametrize(
    ("poses", "code", "words"),
    [
        (_rest(_take_poses(30), 2.0, pin.exp3(np.array([0.0, 0.0, np.pi / 2.0]))), "frame_turned", "turned by 90 deg"),
        (_rest(_take_poses(30), 2.0, np.diag([1.0, 1.0, -1.0])), "frame_turned", "mirrored"),
        (_rest(_take_poses(30), 2.0, down=np.array([GRAVITY, 0.0, 0.0])), "gravity_direction", "another direction"),
        (_rest(_take_poses(30), 2.0, down=np.array([0.0, 2.55, -9.47])), "gravity_direction", "tilted by 15 deg"),
    ],
    ids=["turned", "mirrored", "along x", "tilted"],
)
def test_another_configuration_that_explains_the_forces_is_an_error(poses: Poses, code: str, words: str) -> None:
    verdict = judge_forces(poses, PATH, DOWN)
    (finding,) = verdict.findings
    assert (finding.level, finding.code) == ("error", code)
    assert words in finding.message
    assert not verdict.has_passed


@pytest.mark.parametrize("what", ["degrees", "interchanged"])
def test_joint_positions_that_are_wrong_are_named(what: str) -> None:
    right = _take_poses(30)
    measured = _rest(right, 2.0)
    given = np.degrees(right) if what == "degrees" else right[:, [0, 1, 2, 4, 3, 5]]
    poses = measured._replace(positions=given, gravity=_turn_back(PATH, given) @ DOWN)
    (finding,) = judge_forces(poses, PATH, DOWN).findings
    assert finding.code == f"joints_{'in_degrees' if what == 'degrees' else 'interchanged'}"
    assert what == "degrees" or f"{PATH.joint_names[3]} and {PATH.joint_names[4]}" in finding.message


def test_loads_that_change_often_are_no_error_and_no_proof_of_the_frame() -> None:
    """Four loads cost more than a right frame does: what follows is judged anew."""
    parts = [_rest(_take_poses(15, seed=load), 1.0 + load) for load in range(4)]
    verdict = judge_forces(Poses(*(np.concatenate(columns) for columns in zip(*parts, strict=True))), PATH, DOWN)
    assert verdict.findings == ()
    assert not verdict.has_passed
    assert verdict.runs == [(0, 15), (15, 30), (30, 45), (45, 60)]


def test_a_slight_tilt_is_estimated_and_no_error() -> None:
    tilted = pin.exp3(np.radians([3.0, 0.0, 0.0])) @ DOWN
    assert judge_forces(_rest(_take_poses(60), 5.0, down=tilted), PATH, DOWN).findings == ()


def test_forces_that_follow_no_gravity_have_no_frame() -> None:
    poses = _rest(_take_poses(40), 2.0)
    random = np.random.default_rng(5)
    wrenches = np.hstack((30.0 * random.normal(size=(40, 3)), np.zeros((40, 3))))
    (finding,) = judge_forces(poses._replace(wrenches=wrenches), PATH, DOWN).findings
    assert (finding.level, finding.code) == ("error", "frame_unclear")


def _show(check: ConventionCheck, poses: Poses, start: float = 0.0) -> None:
    for row, (motion, gravity, wrench, turning, position) in enumerate(zip(*poses, strict=True)):
        signals = np.concatenate((motion, [turning, 0.0, 0.0], np.zeros(6), [1.0], gravity))
        check.take(signals, wrench, np.concatenate(([start + row], position)))


def test_poses_are_judged_once_there_are_enough_and_again_when_there_are_more() -> None:
    turned = _rest(_take_poses(12), 2.0, pin.exp3(np.array([0.0, 0.0, np.pi / 2.0])))
    check = ConventionCheck(PATH, DOWN, 0.0)

    def show(start: int, stop: int) -> list[str]:
        _show(check, Poses(*(part[start:stop] for part in turned)), start)
        return [finding.code for finding in check.prepare()()]

    assert show(0, 7) == [], "too few"
    assert show(7, 8) == ["frame_turned"]
    first = check.prepare()()
    assert show(8, 9) == ["frame_turned"]
    assert check.prepare()() is first, "not looked at again as yet"
    show(9, 10)
    assert check.prepare()() is not first
    check.restart()
    assert show(0, 7) == []


def test_what_touches_the_load_is_no_frame_once_forces_were_seen_to_follow_gravity() -> None:
    random = np.random.default_rng(5)
    right = _rest(_take_poses(40), 2.0)
    noise = np.hstack((30.0 * random.normal(size=(100, 3)), np.zeros((100, 3))))
    wrong = _rest(_take_poses(100, seed=1), 2.0)._replace(wrenches=noise)
    for is_seen in (False, True):
        check = ConventionCheck(PATH, DOWN, 0.0)
        if is_seen:
            _show(check, right)
            assert check.prepare()() == ()
        _show(check, wrong, 1000.0)
        assert [finding.code for finding in check.prepare()()] == ([] if is_seen else ["frame_unclear"])
