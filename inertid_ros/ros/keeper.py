"""Keeps what is known in the state file: read at the start, written every ten seconds and soon after a change."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from inertid_ros.core.errors import FileAccessError, InertidError
from inertid_ros.core.estimation.remembered import RememberedLinks, RememberedLoad
from inertid_ros.files.access import expand
from inertid_ros.files.provenance import hash_urdf
from inertid_ros.files.state import Kept, State, read_state, write_state
from inertid_ros.ros.health import NodeHealth

PERIOD = 10.0
"""Seconds between two states, unless something has changed: 60 kB each, which flash memory bears for decades."""
SOURCE = "state"

Memory = RememberedLoad | RememberedLinks


class StateKeeper:
    """The state file of a node; does nothing at all where the parameter is empty.

    Attributes:
        state: what the file had, less what was recalled since, and what is to be written.
    """

    def __init__(self, path: str, health: NodeHealth) -> None:
        """Read the file, if there is one; what is wrong with it is reported."""
        self._path = Path(path) if path else None
        self._health = health
        self._is_foreign = False
        self._written = 0.0
        self._mark: object = None
        self.state: State | None = None
        if self._path is not None and expand(self._path).exists():
            try:
                self.state = read_state(self._path)
            except InertidError as error:
                health.begin(SOURCE, "unusable_state", str(error))

    @property
    def is_on(self) -> bool:
        """Whether there is a file to keep."""
        return self._path is not None

    def find_state(self, description: str) -> State | None:
        """What was kept of the robot with this description; that of another robot is reported, and left alone."""
        state = self.state
        self._is_foreign = state is not None and state.urdf_sha256 != hash_urdf(description)
        if self._is_foreign:
            self._health.begin(SOURCE, "foreign_state", f"'{self._path}' was written with another robot description")
            return None
        self._health.end(SOURCE, "foreign_state")
        return state

    def refuse(self, error: InertidError) -> None:
        """Say that what was kept cannot be used."""
        self._health.begin(SOURCE, "unusable_state", f"'{self._path}': {error}")

    def is_due(self, mark: object) -> bool:
        """Whether to write now: it is time, or something has changed, of which `mark` is the count."""
        if self._path is None or self._is_foreign:
            return False
        now = time.monotonic()
        if mark == self._mark and now - self._written < PERIOD:
            return False
        self._mark, self._written = mark, now
        return True

    def prepare(self, state: State, jobs: dict[str, Callable[[], Memory]]) -> Callable[[], str]:
        """Return what writes a state, in any thread, and says why it could not; jobs give the memories to renew."""
        path = self._path
        assert path is not None

        def write() -> str:
            now = time.time_ns()
            renewed = {name: Kept(job(), now) for name, job in jobs.items()}
            try:
                write_state(
                    path,
                    replace(state, load=renewed.get("load", state.load), links=renewed.get("links", state.links)),
                )
            except FileAccessError as error:
                return str(error)
            return ""

        return write

    def report(self, failure: str) -> None:
        """Take what came of writing."""
        if failure:
            self._health.begin(SOURCE, "unwritable_state", failure)
            return
        self._health.end(SOURCE, "unwritable_state")
        self._health.end(SOURCE, "unusable_state")
