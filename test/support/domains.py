"""ROS domains for tests and benchmarks, apart from each other and from everybody else's on this machine."""

from __future__ import annotations

import fcntl
import itertools
import os
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

DOMAINS = 100
"""Domains 1 to 100 have ports below those that Linux hands out to others."""
FIRST_PARTICIPANTS = 4
"""Of a domain: those who are looked for. The first may have ended before others."""
_turns = itertools.count(7 * os.getpid())
"""Each test takes another one than the test before it, of which something may still be heard."""


@contextmanager
def claim_domain() -> Iterator[int]:
    """A domain that no other test on this machine has, in whatever process or run: as long as its file is locked."""
    directory = Path(tempfile.gettempdir()) / f"inertid_ros_domains-{os.getuid()}"
    directory.mkdir(exist_ok=True)
    for turn in itertools.islice(_turns, DOMAINS):
        domain = 1 + turn % DOMAINS
        with (directory / str(domain)).open("w") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            if _is_used(domain):
                continue
            yield domain
            return
    raise RuntimeError(f"all {DOMAINS} domains are in use, or claimed by tests under way, see {directory}")


def _is_used(domain: int) -> bool:
    """Whether somebody is in a domain who has not claimed it, such as a node that somebody else has started."""
    for participant in range(FIRST_PARTICIPANTS):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            try:
                probe.bind(("", 7410 + 250 * domain + 2 * participant))  # RTPS's unicast port for discovery
            except OSError:
                return True
    return False
