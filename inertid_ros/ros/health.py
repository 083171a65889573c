"""Health issues that only the node can see (descriptions, frames, silence, clocks), recorded like those of a chain."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from inertid_ros.core.diagnosis import HealthItem, Level
from inertid_ros.core.errors import make_printable
from inertid_ros.ros.static_frames import REMEDY

_CATALOGUE: dict[str, tuple[Level, str, str]] = {
    "no_description": (
        "warning",
        "no robot description has arrived yet",
        "publish robot_description (robot_state_publisher does), or set the parameter urdf to a file",
    ),
    "broken_description": (
        "error",
        "the robot description cannot be used",
        "correct it and publish it again; until then the last good one stays in use",
    ),
    "broken_file": (
        "error",
        "the file in the parameter urdf cannot be used",
        "correct it or set urdf to another file, and start again; until then the last good description is used",
    ),
    "no_frame": (
        "error",
        "the wrench has no frame_id and load.sensor_frame is empty, so nothing is identified",
        "set load.sensor_frame to the frame of the robot description in which the wrench is measured",
    ),
    "unusable_frame": (
        "error",
        "the load cannot be identified in this sensor frame",
        REMEDY,
    ),
    "unusable_arm": (
        "error",
        "the links of this robot cannot be identified",
        "correct links.joints or links.base_frame, or the robot description",
    ),
    "unusable_tool": (
        "error",
        "the tool file cannot be used; no tool is subtracted",
        "call ~/capture_tool with the bare tool, or set load.tool or load.tool_file to one that was captured before",
    ),
    "unwritable_directory": (
        "warning",
        "~/save and ~/capture_tool cannot write",
        "set save_directory to a directory that exists and is writable, and start the node again",
    ),
    "unusable_state": (
        "error",
        "the state file cannot be used; everything is learned anew",
        "nothing, it is written anew; look for a failing disk if this happens again",
    ),
    "foreign_state": (
        "error",
        "the state file belongs to another robot; it is not used, and nothing is kept",
        "name another one in state_file, or remove it if the robot was changed on purpose",
    ),
    "unwritable_state": (
        "error",
        "what is known cannot be kept in the state file",
        "name a file in a directory that exists and is writable in state_file, or make room on the disk",
    ),
    "unusable_objects": (
        "error",
        "the objects cannot be used; nothing is recognised",
        "correct objects.library, objects.expected, objects.expected_grip or objects.grip_tolerance",
    ),
    "silent": ("error", "no messages", "start the driver, or remap the topic to its name"),
    "undecodable": ("error", "messages that cannot be read; they are left out", "look at the publisher's middleware"),
    "lost": (
        "warning",
        "the middleware lost messages on their way; samples around them are used",
        "run the node beside the driver or on a wired network, raise net.core.rmem_max, or lower the rate",
    ),
    "clock_apart": (
        "warning",
        "stamps are far from this node's clock; the estimate does not depend on it",
        "synchronise the computers' clocks, or set use_sim_time when a bag is played",
    ),
    "thinned": (
        "warning",
        "samples come faster than they are processed; some predictions are not published, all samples are learnt from",
        "lower the rate of the inputs, listen to fewer topics of predictions, or give the node more of a processor",
    ),
    "withheld": ("error", "results that are not finite were not published", "call ~/reset, and report this as a bug"),
    "internal_error": (
        "error",
        "the identification failed on this input and was restarted",
        "report this as a bug, with the traceback in the log",
    ),
}


class NodeHealth:
    """What is wrong now or was wrong before, by input and kind. Stamps are nanoseconds of the node's clock."""

    def __init__(self, now: Callable[[], int]) -> None:
        """Start with nothing wrong; `now` reads the node's clock."""
        self._now = now
        self._items: dict[tuple[str, str], HealthItem] = {}
        self._lasting: set[tuple[str, str]] = set()
        self._unseen: set[tuple[str, str]] = set()
        self._over: set[tuple[str, str]] = set()

    def report(self, source: str, code: str, detail: str = "", count: int = 1, remedy: str = "") -> None:
        """Say that something happened, `count` times; `remedy` replaces that of the catalogue by a more exact one."""
        level, message, usual_remedy = _CATALOGUE[code]
        known = self._items.get((source, code))
        now = self._now()
        self._items[source, code] = HealthItem(
            source=source,
            code=code,
            level=level,
            count=count if known is None else known.count + count,
            first_stamp=now if known is None else known.first_stamp,
            last_stamp=now,
            detail=make_printable(detail),
            message=message,
            remedy=remedy or usual_remedy,
        )

    def begin(self, source: str, code: str, detail: str = "", remedy: str = "") -> None:
        """Say that something is wrong from now on until `end` is called."""
        if (source, code) in self._lasting:
            remedy = remedy or _CATALOGUE[code][2]
            self._items[source, code] = replace(self._items[source, code], detail=make_printable(detail), remedy=remedy)
        else:
            self._lasting.add((source, code))
            self._over.discard((source, code))
            if (source, code) not in self._items:
                self._unseen.add((source, code))
            self.report(source, code, detail, remedy=remedy)

    def end(self, source: str, code: str) -> None:
        """Say that something is wrong no longer; what nobody has seen yet was none."""
        if (source, code) not in self._lasting:
            return
        self._lasting.discard((source, code))
        if (source, code) in self._unseen:
            self._unseen.discard((source, code))
            del self._items[source, code]
        else:
            self._over.add((source, code))

    @property
    def over(self) -> frozenset[tuple[str, str]]:
        """Source and code of what has lasted and was ended."""
        return frozenset(self._over)

    @property
    def lasting(self) -> frozenset[tuple[str, str]]:
        """Source and code of what is wrong now, however long the clock stands still."""
        return frozenset(self._lasting)

    def items(self) -> tuple[HealthItem, ...]:
        """List all that was wrong so far; what lasts was last wrong now."""
        now = self._now()
        self._unseen.clear()
        for key in self._lasting:
            self._items[key] = replace(self._items[key], last_stamp=now)
        return tuple(self._items.values())
