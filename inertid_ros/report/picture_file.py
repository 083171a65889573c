"""Pictures into files."""

from __future__ import annotations

from pathlib import Path

from matplotlib.figure import Figure

from inertid_ros.core.errors import FileAccessError


def save_picture(figure: Figure, path: Path, dots_per_inch: int) -> None:
    """Write a PNG file; FileAccessError if it cannot be written."""
    try:
        figure.savefig(path, dpi=dots_per_inch, format="png")
    except OSError as error:
        raise FileAccessError(f"'{path}' cannot be written: {error.strerror}; name another file with --png") from None
