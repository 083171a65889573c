"""The documentation as a site: complete, without a broken link, and without anything from a network."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[1]


def iterate_pages(entry: Any) -> Iterator[str]:
    """Walk over the pages of a table of contents."""
    if isinstance(entry, str):
        yield entry
        return
    for part in entry.values() if isinstance(entry, dict) else entry:
        yield from iterate_pages(part)


def test_every_page_has_its_place() -> None:
    listed = list(iterate_pages(yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"]))
    assert len(set(listed)) == len(listed)
    there = {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")}
    assert set(listed) == there | {"index.md", "contributing.md", "changelog.md", "security.md"}


@pytest.mark.skipif(importlib.util.find_spec("mkdocs") is None, reason="mkdocs is not installed: make docs does")
def test_the_site_needs_nothing_from_elsewhere(tmp_path: Path) -> None:
    """The build is strict: a link that leads nowhere fails it."""
    subprocess.run([sys.executable, "-m", "mkdocs", "build", "-q", "-d", tmp_path], cwd=ROOT, check=True)
    pages = list(tmp_path.rglob("*.html"))
    assert len(pages) > 30
    for page in pages:
        text = page.read_text(encoding="utf-8")
        assert not re.findall(r"<(?:link|script|img|iframe)\b[^>]*\bhttps?://[^>]*>", text), page
    assert "ω × (ω × h)" in (tmp_path / "how_it_works" / "index.html").read_text(encoding="utf-8")
