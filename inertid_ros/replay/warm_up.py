"""Compiles the kernels that only replays use, or loads them from the cache; `core.warm_up` has all others."""

from __future__ import annotations

import numpy as np

from inertid_ros.bags.sqlite_pages import find_children, read_rows
from inertid_ros.messages.cdr_layout import view_bytes
from inertid_ros.replay.recorder import count_values, widen_envelope
from inertid_ros.replay.residuals import add_samples


def warm_up() -> None:
    """Give each of them arrays of the kinds that a replay gives it."""
    table, places = np.zeros((4, 4)), np.zeros(1, dtype=np.int64)
    widen_envelope(table, table.copy(), 0, places, np.ones((1, 4)))
    count_values(np.zeros((4, 2), dtype=np.int64), np.zeros(4), np.zeros((1, 4)))
    add_samples(np.zeros((5, 4)), np.zeros((1, 4)), np.zeros((1, 4)))
    page = view_bytes(bytes(64))
    find_children(page, 0, 0, 64, places)
    read_rows(page, places, 64, np.zeros((5, 1), dtype=np.int64))
