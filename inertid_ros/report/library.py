"""plotly.js, which draws the figures: beside reports, once for all of a directory, or inside one."""

from __future__ import annotations

import re
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from inertid_ros.files.access import write_whole
from inertid_ros.report.markup import Html, put

_HEAD = 400
"""Bytes at the beginning of plotly.js that name its version."""


@cache
def _find_library() -> Path:
    """plotly.js comes with the Python package; importing that would take longer than the report."""
    package = find_spec("plotly")
    assert package is not None
    assert package.submodule_search_locations is not None
    return Path(package.submodule_search_locations[0], "package_data", "plotly.min.js")


def name_library() -> str:
    """Name of the file beside reports, with its version: pages of another version keep theirs."""
    with _find_library().open("rb") as stream:
        version = re.search(rb"plotly\.js v([0-9.]+)", stream.read(_HEAD))
    return f"plotly-{version[1].decode()}.min.js" if version else "plotly.min.js"


def place_library(directory: Path) -> None:
    """Put plotly.js into a directory, unless it is there; FileAccessError if it cannot be written."""
    source, target = _find_library(), directory / name_library()
    if not (target.is_file() and target.stat().st_size == source.stat().st_size):
        write_whole(target, source.read_bytes())


def include_library(address: str) -> Html:
    """HTML that loads plotly.js from an address relative to the page, or contains it if there is none."""
    if address:
        return Html(f'<script src="{put(address)}"></script>')
    return Html(f"<script>{_find_library().read_bytes().decode()}</script>")
