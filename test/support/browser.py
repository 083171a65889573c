"""Pages in a real browser, where there is one."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def load(page: Path, profile: Path) -> tuple[str, list[str]]:
    """The document after its scripts have run, and what the console says is wrong."""
    browser = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if browser is None:
        pytest.skip("no Chromium on this machine")
    options = [
        "--headless", "--no-sandbox", "--disable-gpu", "--enable-unsafe-swiftshader", "--disable-background-networking",
        "--disable-dev-shm-usage", "--no-first-run", f"--user-data-dir={profile}", "--virtual-time-budget=8000",
        "--window-size=1300,900", "--enable-logging=stderr", "--dump-dom",
    ]  # fmt: skip
    done = subprocess.run([browser, *options, page.as_uri()], capture_output=True, text=True, check=True, timeout=120)
    console = [line for line in done.stderr.splitlines() if ":CONSOLE" in line]
    wrong = re.compile(r"Uncaught|Refused|violates|Failed to load|ERR_|error", re.IGNORECASE)
    return done.stdout, [line for line in console if wrong.search(line) and "GL Driver Message" not in line]
