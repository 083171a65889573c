"""Every error this package raises on purpose. A message says what, where and what to do."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

LONGEST = 2000
"""Characters of a message that are shown at most: names in it come from other computers."""


def make_printable(text: str) -> str:
    """One line without control characters, which a terminal would obey: they are written as escapes; not too long."""
    shown = text
    if not text.isprintable():
        shown = "".join(one if one.isprintable() else _escape(one) for one in " ".join(text.split())[: LONGEST + 1])
    return shown if len(shown) <= LONGEST else f"{shown[:LONGEST]}…"


def _escape(character: str) -> str:
    return character.encode("unicode_escape").decode()


class InertidError(Exception):
    """Root of the tree: catch this to catch everything below."""

    def __str__(self) -> str:
        """The message; whatever names and paths it contains, it is one line that can be printed."""
        return make_printable(super().__str__())


class SettingError(InertidError):
    """A parameter has a value that cannot be used."""

    def __init__(self, name: str, value: object, expected: str) -> None:
        """Name the parameter, the value it had and the values it may have."""
        self.name = name
        self.value = value.value if isinstance(value, Enum) else value
        super().__init__(f"parameter '{name}' is {self.value!r}: expected {expected}")
        self.expected = expected


class RobotDescriptionError(InertidError):
    """The URDF cannot be read, or is no robot that can be identified."""


class UnknownFrameError(RobotDescriptionError):
    """A frame was asked for that the URDF does not have."""

    def __init__(self, frame: str, known: Sequence[str]) -> None:
        """Name the frame and list those there are."""
        super().__init__(f"frame '{frame}' is not in the robot description; it has: {', '.join(known)}")
        self.frame = frame
        self.known = tuple(known)


class UnsupportedJointError(RobotDescriptionError):
    """A joint on the way to the sensor has a type that has no single coordinate."""


class MissingRosError(InertidError):
    """ROS 2 cannot be imported."""

    def __init__(self, missing: str) -> None:
        """Name the module that is missing."""
        super().__init__(
            f"ROS 2 is not there for this Python (no module {missing}): source the setup file of a ROS 2 installation, "
            "or install its wheels with pip install 'inertid_ros[jazzy]'"
        )


class FileFormatError(InertidError):
    """A file could be opened, and does not hold what it should."""


class FileAccessError(InertidError):
    """A file cannot be read or written where it was asked for."""


class NotIdentifiedError(InertidError):
    """Something was asked for that has not been identified yet."""


class RankError(InertidError):
    """The numerical rank is ambiguous: what is identifiable does not separate clearly from what is not."""

    def __init__(self, by_qr: int, by_svd: int, singular_value: float) -> None:
        """Give both ranks, and the singular value that one counts and the other does not."""
        super().__init__(
            f"{by_qr} or {by_svd} base parameters: a singular value of {singular_value:.1g} is neither zero nor "
            "clearly more; look for lengths or angles in the robot description that are almost, but not quite, zero"
        )
        self.by_qr = by_qr
        self.by_svd = by_svd
        self.singular_value = singular_value


class RecordingError(InertidError):
    """A recording cannot be read, or does not hold what is needed of it."""
