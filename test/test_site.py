"""The documentation as a site: complete, without a broken link, and without anything from a network."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.browser import find_overflow

ROOT = Path(__file__).parents[1]
OUTSIDE = {
    "index.md",
    "identify_a_load.md",
    "contributing.md",
    "changelog.md",
    "quality_declaration.md",
    "security.md",
    "licence.md",
}
"""Pages that are made of files outside docs."""


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
    assert set(listed) == there | OUTSIDE


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The build is strict: a link that leads nowhere fails it."""
    pytest.importorskip("mkdocs")
    folder = tmp_path_factory.mktemp("site")
    subprocess.run([sys.executable, "-m", "mkdocs", "build", "-q", "-d", folder], cwd=ROOT, check=True)
    return folder


def test_the_site_needs_nothing_from_elsewhere(site: Path) -> None:
    pages = list(site.rglob("*.html"))
    assert len(pages) > 30
    for page in pages:
        text = page.read_text(encoding="utf-8")
        assert not re.findall(r"<(?:link|script|img|iframe)\b[^>]*\bhttps?://[^>]*>", text), page
    assert "ω × (ω × h)" in (site / "how_it_works.html").read_text(encoding="utf-8")


def test_links_lead_to_files(site: Path) -> None:
    """Read without a server, a link to a folder shows its files instead of the page in it."""
    (target,) = re.findall(r'href="([^"]*)">Glossary<', (site / "index.html").read_text(encoding="utf-8"))
    assert (site / target).is_file()


def test_nothing_sticks_out_of_the_screen(site: Path, tmp_path: Path) -> None:
    """Tables of prose, tables of numbers, code, a word that is longer than a line."""
    pages = ("index.html", "parameters.html", "coverage.html", "sensors/robotiq_ft300.html")
    views = [(site / page, width) for page in pages for width in (1280, 390)]
    found = zip(views, find_overflow(views, tmp_path), strict=True)
    assert {view: parts for view, parts in found if parts} == {}
