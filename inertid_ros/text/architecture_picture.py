"""The architecture as a picture, drawn from the imports of the package: an arrow means that one part uses another.

What a part uses through others anyway has no arrow of its own. A part stands above all that it uses; two that use each
other stand side by side.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from itertools import groupby, pairwise
from pathlib import Path

PACKAGE = Path(__file__).parents[1]

Graph = Mapping[str, set[str]]
"""Parts of the package, the folders in it, and for each those that it uses."""

_WIDTH, _HEIGHT = 132, 46
"""Size of a box [px]: the longest name fits at 15 px."""
_ACROSS, _DOWN = 168, 96
"""Distance [px] of boxes from one to the next: arrows have room between them."""
_MARGIN = 20
"""White space [px] around the picture."""
_ROUNDS = 8
"""How often each row is sorted by the middle of what its parts are joined with: after fewer it is the same again."""


def read_imports(package: Path = PACKAGE) -> dict[str, set[str]]:
    """The parts of the package that each part imports, wherever in its files, but for itself."""
    parts = sorted(path.name for path in package.iterdir() if (path / "__init__.py").is_file())
    graph: dict[str, set[str]] = {}
    for part in parts:
        used = set()
        for path in sorted((package / part).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_bytes())):
                names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
                names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
                used |= {name.split(".")[1] for name in names if name.startswith(package.name + ".")}
        graph[part] = (used & set(parts)) - {part}
    return graph


def find_reached(graph: Graph) -> dict[str, set[str]]:
    """For each part all that it uses, directly or through others."""
    reached = {part: set(used) for part, used in graph.items()}
    for through in graph:
        for used in reached.values():
            if through in used:
                used.update(reached[through])
    return reached


def reduce(graph: Graph) -> list[tuple[str, str]]:
    """Pairs of a part and one that it uses, but for those that follow from others."""
    reached = find_reached(graph)

    def follows(user: str, used: str) -> bool:
        level, lower = ({part, *(other for other in reached[part] if part in reached[other])} for part in (user, used))
        others = {other for member in level for other in graph[member]} - level - lower
        return used not in level and any(used in reached[other] for other in others)

    return [(user, used) for user in graph for used in sorted(graph[user]) if not follows(user, used)]


def find_ranks(graph: Graph) -> dict[str, int]:
    """How high each part stands: 0 for what uses nothing, else one more than the highest it uses."""
    reached, ranks = find_reached(graph), dict.fromkeys(graph, 0)
    for _ in graph:
        for part in graph:
            level = {other for other in reached[part] if part in reached[other]} | {part}
            below = [ranks[used] for member in level for used in graph[member] - level]
            ranks[part] = max(below, default=-1) + 1
    return ranks


Place = tuple[str, str, int]
"""A part (twice its name), or where an arrow from one part to another goes through a row in between, and the rank."""


def list_ways(graph: Graph) -> list[list[Place]]:
    """For each arrow the places that it goes through, from row to row."""
    ranks = find_ranks(graph)
    return [
        [
            (user, user, ranks[user]),
            *((user, used, rank) for rank in range(ranks[user] - 1, ranks[used], -1)),
            (used, used, ranks[used]),
        ]
        for user, used in reduce(graph)
    ]


def place(graph: Graph) -> dict[Place, float]:
    """Where each place is across the picture, in boxes from its middle."""
    ways = list_ways(graph)
    places = sorted({place for way in ways for place in way}, key=lambda place: (place[2], place))
    rows = [list(row) for _, row in groupby(places, key=lambda place: place[2])]
    across: dict[Place, float] = {}

    def spread() -> None:
        for row in rows:
            across.update({place: index - (len(row) - 1) / 2 for index, place in enumerate(row)})

    def find_middle(place: Place) -> float:
        steps = [pair for way in ways for pair in pairwise(way) if place in pair]
        joined = [across[after if before == place else before] for before, after in steps]
        return sum(joined) / max(len(joined), 1)

    spread()
    for _ in range(_ROUNDS):
        for row in rows:
            row.sort(key=find_middle)
            spread()
    return across


def draw(graph: Graph) -> str:
    """The picture as SVG."""
    across = place(graph)
    left, right, top = min(across.values()), max(across.values()), max(rank for _, _, rank in across)
    width, height = _ACROSS * (right - left) + _WIDTH + 2 * _MARGIN, _DOWN * top + _HEIGHT + 2 * _MARGIN
    centres = {
        item: (_MARGIN + _WIDTH / 2 + _ACROSS * (x - left), _MARGIN + _HEIGHT / 2 + _DOWN * (top - item[2]))
        for item, x in across.items()
    }
    arrows = [_draw_arrow([centres[item] for item in way]) for way in list_ways(graph)]
    boxes = [_draw_box(item[0], *centre) for item, centre in centres.items() if item[0] == item[1]]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" role="img">\n'
        "<title>Parts of the package; an arrow leads to what a part uses</title>\n"
        '<rect width="100%" height="100%" fill="#ffffff"/>\n'
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
        '<path d="M0 0L8 4L0 8z" fill="#7a8794"/></marker></defs>\n' + "".join(arrows) + "".join(boxes) + "</svg>\n"
    )


def _draw_arrow(way: Sequence[tuple[float, float]]) -> str:
    """From the lower edge of a box to the upper one of another, upright through rows; from side to side in a row."""
    (x, y), (u, v) = way[0], way[-1]
    side = _WIDTH / 2 if u > x else -_WIDTH / 2
    path = f"M{x + side:g} {y:g}L{u - side:g} {v:g}" if y == v else f"M{x:g} {y:g}"
    for (x, y), (u, v) in pairwise(way) if way[0][1] != way[-1][1] else ():
        start, end = y + _HEIGHT / 2, v - _HEIGHT / 2
        path += f"L{x:g} {start:g}C{x:g} {start + 30:g} {u:g} {end - 40:g} {u:g} {end:g}"
    return f'<path d="{path}" fill="none" stroke="#7a8794" stroke-width="1.3" marker-end="url(#tip)"/>\n'


def _draw_box(part: str, x: float, y: float) -> str:
    return (
        f'<rect x="{x - _WIDTH / 2:g}" y="{y - _HEIGHT / 2:g}" width="{_WIDTH}" height="{_HEIGHT}" rx="7" '
        f'fill="#eef4fa" stroke="#2b5d8a"/><text x="{x:g}" y="{y + 5:g}" text-anchor="middle" font-size="15" '
        f'font-family="sans-serif" fill="#14304a">{part}</text>\n'
    )


if __name__ == "__main__":
    print(draw(read_imports()), end="")
