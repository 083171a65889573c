"""Each condition of the convention check by itself: with closed forms instead of a whole chain."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from inertid_ros.core.checks.gravity_hypotheses import Poses, _angle_and_axis, _fit_turn, _name_gravity
from inertid_ros.core.checks.wrench_convention import WrenchSign, _judge_load, find_contradictions
from inertid_ros.core.estimation.estimate import Sign
from inertid_ros.core.records import FloatArray
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
        ([(-1.0, 0.09), (2.0, 0.0)], Sign.ON_SENSOR),
    ],
    ids=["light", "doubtful", "negative", "positive", "stays"],
)
def test_the_sign_is_learnt_from_the_first_mass_beyond_doubt(
    masses: list[tuple[float, float]], expected: Sign | None
) -> None:
    sign = WrenchSign(SignChoice.AUTO)
    for mass, deviation in masses:
        sign.learn(mass, deviation**2)
    assert sign.sign is expected
    assert WrenchSign(SignChoice.ON_LOAD).sign is Sign.ON_LOAD


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
