"""What is said of a grip that is not the expected one, and of one that is."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from support.objects import DEVIATIONS, FINGERS, box, hold, make_known, random_rotation

from inertid_ros.core.records import FloatArray
from inertid_ros.core.rigid_body.inertial import compose
from inertid_ros.objects.grip_check import GripCheck, GripState, check_grip
from inertid_ros.objects.known import make_pose
from inertid_ros.objects.recognition import recognise

HAMMER = box(0.6, 0.11, 0.03, 0.3, (0.0, 0.0, 0.08))
OTHER = box(0.4, 0.1, 0.1, 0.05)
LIBRARY = [make_known("hammer", HAMMER), make_known("other", OTHER)]


def check(
    phi: FloatArray, rotation: FloatArray, place: FloatArray, seed: int, grip: FloatArray | None = None
) -> GripCheck:
    estimate = hold(phi, rotation, place, seed, 0.5 * DEVIATIONS)
    return check_grip(estimate, recognise(estimate, LIBRARY), LIBRARY[0], grip)


@pytest.mark.parametrize("seed", range(5))
def test_the_expected_grip_is_as_expected(seed: int) -> None:
    found = check(HAMMER, np.eye(3), FINGERS, seed)
    assert found.state is GripState.AS_EXPECTED
    assert found.message.startswith("hammer is held as expected")


def test_a_slip_is_measured() -> None:
    found = check(HAMMER, np.eye(3), FINGERS + np.array([0.012, 0.0, 0.0]), 1)
    assert found.state is GripState.SLIPPED
    assert found.message.startswith("slipped by 1")
    assert "mm along x" in found.message
    assert found.offset[0] == pytest.approx(0.012, abs=2.0 * np.sqrt(found.covariance[0, 0]))


def test_a_turn_in_the_fingers_is_measured() -> None:
    found = check(HAMMER, pin.exp3(np.array([0.0, np.radians(10.0), 0.0])), FINGERS, 2)
    assert found.state is GripState.SLIPPED
    assert "° about y" in found.message
    assert np.degrees(found.offset[4]) == pytest.approx(10.0, abs=1.5)


def test_what_is_upside_down_is_not_taken_for_a_slip() -> None:
    """Its moments are the same, but its centre of mass is on the other side of the fingers."""
    found = check(HAMMER, np.diag([1.0, -1.0, -1.0]), FINGERS, 3)
    assert (found.state, found.message) == (GripState.TURNED, found.message)
    assert found.message.startswith("held upside down: turned by 180° about its ")


@pytest.mark.parametrize(("sign", "word"), [(-1.0, "part missing"), (1.0, "part added")])
def test_a_part_that_is_missing_or_added_is_weighed(sign: float, word: str) -> None:
    part = compose(0.085, np.array([0.04, 0.0, 0.1]), 2e-5 * np.eye(3))
    found = check(HAMMER + sign * part, np.eye(3), FINGERS, 4)
    assert found.state is GripState.PART_CHANGED
    text = found.message.removeprefix(f"{word}: ")
    assert float(text.split(" ± ")[0]) == pytest.approx(85.0, abs=5.0)


def test_another_object_is_named() -> None:
    found = check(OTHER, random_rotation(1), FINGERS, 5)
    assert found.state is GripState.OTHER_OBJECT
    assert found.message.startswith("not hammer, but other")


def test_a_grip_that_is_given_is_compared_with_that() -> None:
    pose = make_pose(random_rotation(2), np.array([0.01, 0.02, 0.1]))
    assert check(HAMMER, pose[:3, :3], pose[:3, 3], 6, pose).state is GripState.AS_EXPECTED
    moved = check(HAMMER, pose[:3, :3], pose[:3, 3] + np.array([0.0, -0.02, 0.0]), 6, pose)
    assert moved.state is GripState.SLIPPED
    assert "along -y" in moved.message


def test_nothing_is_said_while_nothing_is_known() -> None:
    estimate = hold(HAMMER, deviations=np.array([10.0] * 10))
    assert check_grip(estimate, recognise(estimate, LIBRARY), LIBRARY[0]).state is GripState.NOT_KNOWN
