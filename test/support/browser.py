"""Pages in a real browser, where there is one."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def load(page: Path, profile: Path) -> tuple[str, list[str]]:
    """The document after its scripts have run, with everything unfolded, and what the console says is wrong."""
    unfolded = page.with_name(f"unfolded_{page.name}")
    unfolded.write_text(page.read_text(encoding="utf-8").replace("<details>", "<details open>"), encoding="utf-8")
    return _open(unfolded, profile)


def find_overflow(views: Sequence[tuple[Path, int]], profile: Path) -> list[list[str]]:
    """What sticks out of pages on screens of these widths [pixels]: a page itself, plots, and parts of no scroll box.

    A window of Chromium has at least 500 pixels, a frame any number.
    """
    frames = [
        f"<iframe src='{page.as_uri()}' style='width:{width}px;height:800px;border:0'></iframe>"
        for page, width in views
    ]
    frame = views[0][0].with_name("frame.html")
    frame.write_text(f"{''.join(frames)}<script>{_FIND}</script>", encoding="utf-8")
    document, _ = _open(frame, profile, "--allow-file-access-from-files")
    found = re.findall(r'<pre class="found">(.*?)</pre>', document, re.DOTALL)
    assert len(found) == len(views), "a page was not measured"
    return [text.split() for text in found]


_FIND = """
const frames = Array.from(document.querySelectorAll('iframe'));
let loaded = 0;
frames.forEach(frame => frame.onload = () => { if (++loaded == frames.length) setTimeout(measure, 2000); });
const measure = () => frames.forEach(frame => {
  const inside = frame.contentDocument, root = inside.documentElement, found = [];
  if (root.scrollWidth > root.clientWidth) found.push('page');
  inside.querySelectorAll('body *').forEach(part => {
    const box = part.getBoundingClientRect();
    const scrolls = part.closest('.scroll table, .wy-table-responsive table, pre code, svg');
    if (box.width && box.right > root.clientWidth + 0.5 && !scrolls)
      found.push(part.tagName + '#' + part.id + '.' + part.getAttribute('class'));
  });
  const list = document.createElement('pre');
  list.className = 'found';
  list.textContent = found.join('\\n').replaceAll(' ', '_');
  document.body.appendChild(list);
});
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
