"""Keeps the ROS graphs of tests apart from each other, from other runs and from the network; lets signals through."""

from __future__ import annotations

import gc
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.domains import claim_domain

LONGEST = ("replay", "cli", "bags")
"""Folders whose tests start processes, or replay recordings: their files take longest."""
WAITING = "ros"
"""The folder whose tests wait for messages, half of their time: files that compute run beside each of them."""
EARLY = 0.8
"""The last of them begins when this part of the others has begun, so that at the end no worker is left with one."""
YOUNG = 50_000
"""Garbage is looked for once there are so many more objects than the last time: some milliseconds of work."""


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


@pytest.fixture
def ros_domain(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[int]:
    """Give a test, and the processes it starts, a domain of their own on this machine alone."""
    with claim_domain() as domain:
        monkeypatch.setenv("ROS_DOMAIN_ID", str(domain))
        monkeypatch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
        monkeypatch.setenv("ROS_LOG_DIR", str(tmp_path / "log"))
        yield domain
