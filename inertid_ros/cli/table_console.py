"""Where tables are printed: as wide as the terminal, and in a file or a pipe as wide as they need to be."""

from __future__ import annotations

import os
import sys
from typing import Any

from rich.console import Console

_WIDE = 240


def make_console(**options: Any) -> Console:
    """A console for tables; COLUMNS sets its width where it is no terminal."""
    is_free = not sys.stdout.isatty() and "COLUMNS" not in os.environ
    return Console(width=_WIDE if is_free else None, **options)
