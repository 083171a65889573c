"""Which object is held: by all that is known, or by what is known; none of these; and when nothing can be said."""

from __future__ import annotations

import numpy as np
import pytest
from support.objects import DEVIATIONS, box, hold, make_estimate, make_known, random_rotation

from inertid_ros.core.diagnosis import Finding
from inertid_ros.core.errors import NotIdentifiedError
from inertid_ros.core.estimation.estimate import Mode, Solution, judge_load
from inertid_ros.core.rigid_body.inertial import change_frame
from inertid_ros.objects.known import KnownObject
from inertid_ros.objects.recognition import NONE, Answer, recognise

BOOK, CARTON, ROD = box(0.62, 0.15, 0.23, 0.03), box(0.62, 0.08, 0.08, 0.2), box(0.62, 0.02, 0.02, 0.3)
MUG, CUBE = box(0.35, 0.08, 0.08, 0.1, (0.0, 0.0, 0.03)), box(0.9, 0.1, 0.1, 0.1)
SHAPES = {"book": BOOK, "carton": CARTON, "rod": ROD, "mug": MUG, "cube": CUBE}
LIBRARY = [make_known(name, phi) for name, phi in SHAPES.items()]


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("seed", range(3))
def test_objects_are_recognised_in_any_grip(name: str, seed: int) -> None:
    """Three of them have the same mass: the moments tell which it is."""
    estimate = hold(SHAPES[name], random_rotation(seed), np.array([0.02, -0.03, 0.1]), seed)
    found = recognise(estimate, LIBRARY)
    assert (found.answer, found.name) == (Answer.RECOGNISED, name), found.message
    assert sum(found.probabilities.values()) == pytest.approx(1.0)
    assert found.grip is not None
    com = (found.grip.pose @ np.append(SHAPES[name][1:4] / SHAPES[name][0], 1.0))[:3]
    np.testing.assert_allclose(com, estimate.values[1:4] / estimate.values[0], atol=2e-3)
    for pose in (found.grip.pose, *found.grip.alternatives):
        body = change_frame(SHAPES[name], pose[:3, :3], pose[:3, 3])
        np.testing.assert_allclose(body, estimate.values, atol=6.0 * estimate.deviations.max())


def test_turns_that_are_not_determined_are_named() -> None:
    rotation = random_rotation(7)
    for name, free in (("book", [False] * 3), ("carton", [True, False, False]), ("cube", [True] * 3)):
        grip = recognise(hold(SHAPES[name], rotation), LIBRARY).grip
        assert grip is not None
        assert list(grip.is_free) == free, name
    carton = recognise(hold(CARTON, rotation), LIBRARY).grip
    assert carton is not None
    assert abs(carton.axes[:, 0] @ rotation[:, 2]) == pytest.approx(1.0, abs=1e-3), "the long axis has the least moment"


def test_what_is_in_no_library_is_none_of_these() -> None:
    for strange in (box(0.5, 0.1, 0.2, 0.05), box(0.62, 0.25, 0.25, 0.02)):  # another mass, other moments
        found = recognise(hold(strange, random_rotation(5), seed=5), LIBRARY)
        assert (found.answer, found.name) == (Answer.NONE_OF_THESE, NONE), found.message
        assert found.grip is None


def test_what_is_not_known_decides_nothing() -> None:
    """With mass and centre of mass only: by the mass, or not at all where several have it."""
    deviations = np.concatenate((DEVIATIONS[:4], [10.0] * 6))
    mug = recognise(hold(MUG, random_rotation(6), seed=6, deviations=deviations), LIBRARY)
    assert (mug.answer, mug.name) == (Answer.RECOGNISED, "mug")
    book = recognise(hold(BOOK, random_rotation(6), seed=6, deviations=deviations), LIBRARY)
    assert book.answer is Answer.CANNOT_TELL
    assert all(name in book.message for name in ("book", "carton", "rod"))
    assert "mug" not in book.message


@pytest.mark.parametrize("is_moved", [False, True])
def test_objects_that_were_identified_in_static_poses_are_recognised(is_moved: bool) -> None:
    """Nothing is known of their inertias, whether or not that of what is held is."""
    static = np.concatenate((DEVIATIONS[:4], [10.0] * 6))
    library = [KnownObject.from_estimate(name, hold(SHAPES[name], deviations=static), np.zeros(3)) for name in SHAPES]
    deviations = DEVIATIONS if is_moved else static
    for name in ("mug", "cube"):
        found = recognise(hold(SHAPES[name], random_rotation(8), seed=8, deviations=deviations), library)
        assert (found.answer, found.name) == (Answer.RECOGNISED, name), found.message
    book = recognise(hold(BOOK, random_rotation(8), seed=8, deviations=deviations), library)
    assert book.answer is Answer.CANNOT_TELL, "three of them weigh the same"
    strange = recognise(hold(box(0.5, 0.1, 0.2, 0.05), random_rotation(8), seed=8, deviations=deviations), library)
    assert strange.answer is Answer.NONE_OF_THESE


def test_a_known_grip_tells_objects_apart_by_centre_of_mass_and_axes() -> None:
    """The same box held at its middle and at its end."""
    library = [make_known("middle", CARTON), make_known("end", box(0.62, 0.08, 0.08, 0.2, (0.0, 0.0, 0.05)))]
    estimate = hold(library[1].phi, seed=1)
    assert recognise(estimate, library).answer is Answer.CANNOT_TELL
    assert recognise(estimate, library, (0.003, 0.05)).name == "end"
    assert recognise(estimate, library, (0.003, 0.05)).answer is Answer.RECOGNISED


def test_nothing_is_said_where_nothing_can_be_said() -> None:
    blind = np.diag([100.0] + [10.0] * 9)
    assert recognise(make_estimate(MUG, blind), LIBRARY).answer is Answer.NOT_KNOWN
    assert recognise(make_estimate(MUG, np.diag(DEVIATIONS**2), rows=0), LIBRARY).answer is Answer.NOT_KNOWN
    wrong = Finding("error", "gravity", "gravity points elsewhere")
    for mode, findings in ((Mode.CONTACT, ()), (Mode.TRACKING, (wrong,))):
        solution = Solution(0, mode, MUG, np.diag(DEVIATIONS**2), 500, None)
        found = recognise(judge_load(solution, "ft_sensor", findings), LIBRARY)
        assert found.answer is Answer.NOT_KNOWN
        assert not findings or wrong.message in found.message
    empty = recognise(make_estimate(np.array([0.002] + [0.0] * 9), np.diag(DEVIATIONS**2)), LIBRARY)
    assert empty.answer is Answer.NOTHING_HELD
    with pytest.raises(NotIdentifiedError, match="no object"):
        recognise(hold(MUG), [])


def test_an_object_is_made_of_an_estimate_whose_centre_of_mass_is_known() -> None:
    place = np.array([0.0, 0.0, 0.12])
    known = KnownObject.from_estimate("mug", hold(MUG, place=place), place)
    np.testing.assert_allclose(known.phi, MUG, atol=1e-12)
    with pytest.raises(NotIdentifiedError, match=r"'mug' is not identified \(mcx, mcy, mcz\)"):
        KnownObject.from_estimate("mug", hold(MUG, deviations=np.array([1e-3] + [0.1] * 9)), place)


def test_probabilities_mean_what_they_say() -> None:
    """Of two objects that differ by two standard deviations, the likelier one is right as often as is said."""
    library = [make_known("one", box(0.5, 0.1, 0.1, 0.1)), make_known("two", box(0.51, 0.1, 0.1, 0.1))]
    said, right = [], []
    for seed in range(60):
        truth = library[seed % 2]
        drawn = truth.phi + DEVIATIONS * np.random.default_rng(1000 + seed).normal(size=10)
        found = recognise(hold(drawn, random_rotation(seed), seed=seed), library)
        said.append(max(found.probabilities.values()))
        right.append(next(iter(found.probabilities)) == truth.name)
    assert np.mean(right) == pytest.approx(np.mean(said), abs=0.1)
