"""Keeps the ROS graphs of tests apart from each other, from other runs and from the network."""

from __future__ import annotations

import itertools
import os
from pathlib import Path

import pytest

DOMAINS = 96
"""Domains 1 to 100 have ports below those that Linux hands out to others; a multiple of up to four workers."""

_WORKERS = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
_WORKER = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0")[2:])
"""Tests that run at the same time, in processes of their own, take turns with the domains."""

_turns = itertools.count(os.getppid() * 12 + _WORKER, _WORKERS)


@pytest.fixture
def ros_domain(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> int:
    """Give a test, and the processes it starts, a domain of their own on this machine alone."""
    domain = 1 + next(_turns) % DOMAINS
    monkeypatch.setenv("ROS_DOMAIN_ID", str(domain))
    monkeypatch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    monkeypatch.setenv("ROS_LOG_DIR", str(tmp_path / "log"))
    return domain
