"""Keeps the ROS graphs of tests apart from each other, from other runs and from the network; lets signals through."""

from __future__ import annotations

import fcntl
import gc
import itertools
import os
import signal
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

LONGEST = ("replay", "cli", "bags")
"""Folders whose tests start processes, or replay recordings: their files take longest."""
WAITING = "ros"
"""The folder whose tests wait for messages, half of their time: files that compute run beside each of them."""
EARLY = 0.8
"""The last of them begins when this part of the others has begun, so that at the end no worker is left with one."""
DOMAINS = 100
"""Domains 1 to 100 have ports below those that Linux hands out to others."""
FIRST_PARTICIPANTS = 4
"""Of a domain: those who are looked for. The first may have ended before others."""
YOUNG = 50_000
"""Garbage is looked for once there are so many more objects than the last time: some milliseconds of work."""
_turns = itertools.count(7 * os.getpid())
"""Each test takes another one than the test before it, of which something may still be heard."""


def pytest_configure() -> None:
    """Let what tests start end by SIGINT also where the shell has put the tests into the background, and ignores it.

    What is imported and collected meanwhile is kept anyway: nobody needs to look for garbage among it.
    """
    gc.disable()
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the longest files, and spread those that wait among them: xdist hands files out in this order."""
    here = Path(__file__).parent
    folders = {item.path: item.path.relative_to(here).parts[0] for item in items}
    waiting = [path for path, folder in folders.items() if folder == WAITING]
    working = sorted(
        (path for path, folder in folders.items() if folder != WAITING),
        key=lambda path: LONGEST.index(folders[path]) if folders[path] in LONGEST else len(LONGEST),
    )
    places = {path: place / len(working) for place, path in enumerate(working)}
    places |= {path: EARLY * place / len(waiting) for place, path in enumerate(waiting)}
    items.sort(key=lambda item: places[item.path])


def pytest_collection_finish() -> None:
    """Look for garbage seldom, and never among what was imported: that took a tenth of the processor time of tests."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG, 10, 10)
    gc.enable()


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


@pytest.fixture
def ros_domain(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[int]:
    """Give a test, and the processes it starts, a domain of their own on this machine alone."""
    with claim_domain() as domain:
        monkeypatch.setenv("ROS_DOMAIN_ID", str(domain))
        monkeypatch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
        monkeypatch.setenv("ROS_LOG_DIR", str(tmp_path / "log"))
        yield domain
