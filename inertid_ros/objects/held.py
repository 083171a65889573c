"""What is held, looked at again and again: what it is, whether it is held as expected, and when that changes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from inertid_ros.core.errors import SettingError
from inertid_ros.core.estimation.estimate import LoadEstimate
from inertid_ros.core.records import Event, EventKind, FloatArray
from inertid_ros.core.rigid_body.inertial import ExpectedLoad
from inertid_ros.core.settings.settings import ObjectSettings
from inertid_ros.objects.grip_check import GripCheck, GripState, check_grip
from inertid_ros.objects.known import KnownObject, make_pose
from inertid_ros.objects.recognition import Answer, Recognition, recognise

KNOWN_MASS = 0.01
"""Standard deviation of an expected object's mass, as a part of it, at least: labels, fillings and scales differ."""


class Held(NamedTuple):
    """What is held: by an estimate of some mass [kg] and stamp [ns], and whether the expected object is, if one is."""

    stamp: int
    mass: float
    recognition: Recognition
    check: GripCheck | None

    def list_events(self, before: Held | None) -> list[Event]:
        """What has become certain since the time before."""
        events, found = [], self.recognition
        earlier = None if before is None else (before.recognition.answer, before.recognition.name)
        if found.answer in (Answer.RECOGNISED, Answer.NONE_OF_THESE) and (found.answer, found.name) != earlier:
            events.append(self._make_event(EventKind.OBJECT_RECOGNISED, f"held: {found.message}", found.probability))
        check, last = self.check, None if before is None else before.check
        if check is not None and check.state not in (GripState.NOT_KNOWN, None if last is None else last.state):
            is_fine = check.state is GripState.AS_EXPECTED
            kind = EventKind.GRIP_AS_EXPECTED if is_fine else EventKind.GRIP_NOT_AS_EXPECTED
            events.append(self._make_event(kind, f"grip: {check.message}", check.probability))
        return events

    def _make_event(self, kind: EventKind, message: str, confidence: float) -> Event:
        return Event(self.stamp, kind, message, confidence, self.mass, self.mass)


@dataclass(frozen=True, slots=True)
class Watch:
    """What may be held, and what should be.

    Attributes:
        library: what may be held.
        tolerance: standard deviations [m, rad] of grips about those in the library; None for any grip.
        expected: what should be held, if anything.
        grip: (4, 4) in which; None: as it was identified.
    """

    library: tuple[KnownObject, ...]
    tolerance: tuple[float, float] | None
    expected: KnownObject | None
    grip: FloatArray | None

    @classmethod
    def from_settings(cls, settings: ObjectSettings, library: list[KnownObject]) -> Watch:
        """Take what is set; SettingError where that cannot be used."""
        tolerance, grip = settings.grip_tolerance, settings.expected_grip
        if tolerance and (len(tolerance) != 2 or min(tolerance) <= 0.0):
            raise SettingError("objects.grip_tolerance", tolerance, "none, or two positive numbers [m, rad]")
        if len(grip) not in (0, 6):
            raise SettingError("objects.expected_grip", grip, "none, or x, y, z [m], roll, pitch, yaw [rad]")
        expected = next((known for known in library if known.name == settings.expected), None)
        if settings.expected and expected is None:
            names = ", ".join(known.name for known in library)
            raise SettingError("objects.expected", settings.expected, f"one of the library: {names}")
        if grip and expected is None:
            raise SettingError("objects.expected_grip", grip, "none without objects.expected")
        return cls(
            tuple(library),
            (tolerance[0], tolerance[1]) if tolerance else None,
            expected,
            make_pose(Rotation.from_euler("xyz", grip[3:]).as_matrix(), np.array(grip[:3])) if grip else None,
        )

    @property
    def expected_load(self) -> ExpectedLoad | None:
        """What is believed of the next load."""
        if self.expected is None:
            return None
        mass, deviation = float(self.expected.phi[0]), float(np.sqrt(self.expected.covariance[0, 0]))
        return ExpectedLoad(self.expected.name, mass, max(deviation, KNOWN_MASS * mass))

    def look(self, estimate: LoadEstimate) -> Held:
        """What an estimate says of what is held."""
        found = recognise(estimate, self.library, self.tolerance)
        check = None
        if self.expected is not None:
            freely = found if self.tolerance is None else recognise(estimate, self.library)
            check = check_grip(estimate, freely, self.expected, self.grip)
        return Held(estimate.stamp, float(estimate.values[0]), found, check)
