"""Where predictions go, as the replay sees it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from inertid_ros.core.records import FloatArray, IntArray


class Stream(Protocol):
    """Takes predictions of one kind."""

    def write(self, stamps: IntArray, values: Sequence[FloatArray]) -> None:
        """Take (N,) stamps [ns], and for each topic (N, C) values; FileAccessError if they cannot be written."""


class Sink(Protocol):
    """Takes predictions of several kinds."""

    def add_wrenches(self, topics: Sequence[str], frame: str) -> Stream:
        """Open topics for wrenches (N, 6) in a frame."""

    def add_efforts(self, topics: Sequence[str], joints: Sequence[str]) -> Stream:
        """Open topics for efforts (N, n) of joints."""
