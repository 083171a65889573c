"""Pages in a real browser, where there is one."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def load(page: Path, profile: Path) -> tuple[str, list[str]]:
    """The document after its scripts have run, with everything unfolded, and what the console says is wrong."""
    unfolded = page.with_name(f"unfolded_{page.name}")
    unfolded.write_text(page.read_text(encoding="utf-8").replace("<details>", "<details open>"), encoding="utf-8")
    return _open(unfolded, profile)


def find_overflow(page: Path, profile: Path, width: int) -> list[str]:
    """What sticks out of a page on a screen of that width [pixels]: the page itself, plots, and parts of no scroll box.

    A window of Chromium has at least 500 pixels, a frame any number.
    """
    frame = page.with_name("frame.html")
    frame.write_text(
        f"<iframe id='phone' src='{page.name}' style='width:{width}px;height:800px;border:0'></iframe><script>{_FIND}"
        "</script>",
        encoding="utf-8",
    )
    document, _ = _open(frame, profile, "--allow-file-access-from-files")
    found = re.search(r'<pre id="found">(.*?)</pre>', document, re.DOTALL)
    assert found is not None, "the page was not measured"
    return found[1].split()


_FIND = """
const phone = document.getElementById('phone');
phone.onload = () => setTimeout(() => {
  const inside = phone.contentDocument, root = inside.documentElement, found = [];
  if (root.scrollWidth > root.clientWidth) found.push('page');
  inside.querySelectorAll('body *').forEach(part => {
    const box = part.getBoundingClientRect();
    const scrolls = part.closest('.scroll table, .wy-table-responsive table, pre code, svg');
    if (box.width && box.right > root.clientWidth + 0.5 && !scrolls)
      found.push(part.tagName + '#' + part.id + '.' + part.getAttribute('class'));
  });
  const list = document.createElement('pre');
  list.id = 'found';
  list.textContent = found.join('\\n').replaceAll(' ', '_');
  document.body.appendChild(list);
}, 2000);
"""
"""Lists elements that end to the right of the screen; tables and code may, inside of a box that scrolls."""


def _open(page: Path, profile: Path, *more: str) -> tuple[str, list[str]]:
    browser = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if browser is None:
        pytest.skip("no Chromium on this machine")
    options = [
        "--headless", "--no-sandbox", "--disable-gpu", "--enable-unsafe-swiftshader", "--disable-background-networking",
        "--disable-dev-shm-usage", "--no-first-run", f"--user-data-dir={profile}", "--virtual-time-budget=8000",
        "--window-size=1300,900", "--enable-logging=stderr", "--dump-dom", *more,
    ]  # fmt: skip
    done = subprocess.run([browser, *options, page.as_uri()], capture_output=True, text=True, check=True, timeout=120)
    console = [line for line in done.stderr.splitlines() if ":CONSOLE" in line]
    wrong = re.compile(r"Uncaught|Refused|violates|Failed to load|ERR_|error", re.IGNORECASE)
    return done.stdout, [line for line in console if wrong.search(line) and "GL Driver Message" not in line]
