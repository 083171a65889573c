"""Makes pages of what is outside docs: README.md is the first one. Read by MkDocs, see mkdocs.yml."""

from __future__ import annotations

import json
import re
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING

from mkdocs.structure.files import File

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files

ROOT = Path(__file__).parents[1]
PAGES = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "QUALITY_DECLARATION.md": "quality_declaration.md",
    "SECURITY.md": "security.md",
    "LICENSE": "licence.md",
    "examples/identify_a_load.ipynb": "identify_a_load.md",
}

PROSE = 60
"""A cell with more characters is prose, and wraps."""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages."""
    for name, page in PAGES.items():
        text = (ROOT / name).read_text(encoding="utf-8")
        if name.endswith(".ipynb"):
            text = read_notebook(text)
        elif name == "LICENSE":
            text = f"# Licence\n\n{text}"
        files.append(File.generated(config, page, content=text))
    return files


def read_notebook(text: str) -> str:
    """Cells of a notebook, one below the other."""
    cells = [(cell["cell_type"], "".join(cell["source"])) for cell in json.loads(text)["cells"]]
    return "\n\n".join(f"```python\n{source}\n```" if kind == "code" else source for kind, source in cells)


def on_page_markdown(markdown: str, **_: object) -> str:
    """Replace links to and from these pages by those of the site, in which all are in one folder."""
    for name, page in {**PAGES, "docs/": ""}.items():
        markdown = markdown.replace(f"]({name}", f"]({page}").replace(f"](../{name}", f"]({page}")
    return markdown


def on_page_content(html: str, **_: object) -> str:
    """Mark tables of prose, for docs/site.css: their cells wrap, and are below each other on a phone."""
    return re.sub(r"<table>.*?</table>", mark_prose, html, flags=re.DOTALL)


def mark_prose(table: re.Match[str]) -> str:
    """A table whose cells know the heading of their column and whether they are prose, if one of them is."""
    headings = cycle(strip_tags(heading) for heading in re.findall(r"<th\b.*?</th>", table[0], re.DOTALL))
    lengths = [len(strip_tags(cell)) for cell in re.findall(r"<td\b.*?</td>", table[0], re.DOTALL)]
    if max(lengths, default=0) <= PROSE:
        return table[0]
    kinds = iter("prose" if length > PROSE else "brief" for length in lengths)
    cells = re.sub("<td", lambda _: f'<td class="{next(kinds)}" data-heading="{next(headings)}"', table[0])
    return cells.replace("<table>", '<table class="prose">')


def strip_tags(html: str) -> str:
    """Text alone."""
    return re.sub(r"<[^>]*>", "", html).strip()
