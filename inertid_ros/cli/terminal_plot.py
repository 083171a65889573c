"""Curves in a terminal, drawn with the dots of braille characters."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from rich.text import Text

from inertid_ros.core.records import FloatArray

_BRAILLE = 0x2800
_DOTS = np.array([[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]])
"""Bit of each of the four by two dots of a character."""


def plot_curves(curves: Sequence[tuple[str, FloatArray]], width: int, height: int) -> Text:
    """Draw curves over each other, all to the same scale.

    Args:
        curves: style and (N,) values of each; a later one lies on top where they share a character.
        width: characters in a line.
        height: lines.
    """
    low = min(float(values.min()) for _, values in curves)
    high = max(float(values.max()) for _, values in curves)
    cells = np.zeros((height, width), dtype=np.int64)
    styles = np.full((height, width), "", dtype=object)
    across = np.arange(2 * width)
    for style, values in curves:
        places = np.linspace(0.0, len(values) - 1.0, 2 * width)
        levels = np.interp(places, np.arange(len(values)), values)
        share = (high - levels) / (high - low) if high > low else np.full(2 * width, 0.5)
        down = np.rint(share * (4 * height - 1)).astype(np.int64)
        rows, columns = down // 4, across // 2
        np.bitwise_or.at(cells, (rows, columns), _DOTS[down % 4, across % 2])
        styles[rows, columns] = style
    text = Text()
    for row in range(height):
        for column in range(width):
            text.append(chr(_BRAILLE + int(cells[row, column])), style=str(styles[row, column]))
        text.append("\n")
    return text
