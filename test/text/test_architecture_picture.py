"""The picture of the architecture against the imports, which `test_architecture` holds."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

import pytest

from inertid_ros.text.architecture_picture import Graph, draw, find_ranks, list_ways, read_imports, reduce

ROOT = Path(__file__).parents[2]
read_own = cache(read_imports)
"""The imports of the package, parsed once."""
GRAPH = {"top": {"left", "right", "low"}, "left": {"low", "right"}, "right": {"low", "left"}, "low": set[str]()}


def test_the_committed_picture_is_the_generated_one() -> None:
    assert (ROOT / "docs" / "images" / "architecture.svg").read_text(encoding="utf-8") == draw(read_own())


def test_what_follows_from_others_has_no_arrow() -> None:
    assert reduce(GRAPH) == [
        ("top", "left"),
        ("top", "right"),
        ("left", "low"),
        ("left", "right"),
        ("right", "left"),
        ("right", "low"),
    ]


def test_parts_stand_above_what_they_use() -> None:
    assert find_ranks(GRAPH) == {"top": 2, "left": 1, "right": 1, "low": 0}
    graph = read_own()
    ranks = find_ranks(graph)
    for part, used in graph.items():
        assert all(ranks[other] < ranks[part] or part in graph[other] for other in used)


def test_arrows_go_from_row_to_row() -> None:
    graph = {"a": {"b", "d"}, "b": {"c"}, "c": {"e"}, "d": set[str](), "e": set[str]()}
    ways = {(way[0][0], way[-1][0]): [place[2] for place in way] for way in list_ways(graph)}
    assert ways["a", "d"] == [3, 2, 1, 0]


@pytest.mark.parametrize("read", [lambda: GRAPH, read_own], ids=["small", "own"])
def test_the_picture_has_a_box_for_each_part_and_no_two_in_one_place(read: Callable[[], Graph]) -> None:
    graph = read()
    space = {"s": "http://www.w3.org/2000/svg"}
    root = ElementTree.fromstring(draw(graph))
    texts = root.findall("s:text", space)
    assert {text.text for text in texts} == set(graph)
    assert len({(text.get("x"), text.get("y")) for text in texts}) == len(graph)
