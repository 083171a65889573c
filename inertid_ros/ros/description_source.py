"""Where the robot description comes from: the file in the parameter `urdf`, or else the topic."""

from __future__ import annotations

from pathlib import Path

from inertid_ros.core.errors import InertidError, RobotDescriptionError
from inertid_ros.core.robot.robot import Robot
from inertid_ros.files.urdf import UrdfFile
from inertid_ros.ros.health import NodeHealth

SOURCE = "robot_description"
_ISSUES = ("no_description", "broken_description", "broken_file")


class DescriptionSource:
    """Keeps the last description that could be used.

    Attributes:
        robot: what it describes, or None before the first.
        text: the description itself.
    """

    def __init__(self, health: NodeHealth) -> None:
        """Start without a robot; what is wrong with a description is reported."""
        self._health = health
        self._published = ""
        self._file = ""
        self.robot: Robot | None = None
        self.text = ""

    def use_file(self, path: str) -> bool:
        """Take the description from a file, or with no path from the topic; returns whether it is another one."""
        self._file = path
        return self._read()

    def publish(self, text: str) -> bool:
        """Take what was published; returns whether the description is now another one."""
        self._published = text
        return self._read()

    def _read(self) -> bool:
        text = self._published
        if self._file:
            try:
                text = UrdfFile.read(Path(self._file), "the parameter urdf").text
            except InertidError as error:
                self._report("broken_file", str(error))
                return False
        elif not text:
            self._report("no_description")
            return False
        changed = self.robot is None or text != self.text
        if changed:
            try:
                self.robot = Robot.from_urdf(text)
            except RobotDescriptionError as error:
                self._report("broken_file" if self._file else "broken_description", str(error))
                return False
            self.text = text
        self._report("")
        return changed

    def _report(self, issue: str, detail: str = "") -> None:
        """Say what is wrong with the description now, and with that what no longer is; empty for nothing."""
        for code in _ISSUES:
            if code == issue:
                self._health.begin(SOURCE, code, detail)
            else:
                self._health.end(SOURCE, code)
