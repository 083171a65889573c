"""Pieces of HTML; every text that comes from outside is escaped here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape


class Html(str):
    """Text that is HTML already. All other text is escaped on its way into the page."""

    __slots__ = ()


def put(value: object) -> str:
    """HTML of a value: itself if it is Html, else its text, escaped."""
    return value if isinstance(value, Html) else escape(str(value))


def element(tag: str, *content: object, kind: str = "") -> Html:
    """An element with its content, and a class if one is given."""
    attribute = f' class="{escape(kind)}"' if kind else ""
    return Html(f"<{tag}{attribute}>{''.join(put(item) for item in content)}</{tag}>")


def table(heads: Sequence[object], rows: Iterable[Sequence[object]], kind: str = "") -> Html:
    """A table; columns are aligned by the style sheet."""
    head = element("thead", element("tr", *[element("th", item) for item in heads]))
    body = element("tbody", *[element("tr", *[element("td", item) for item in row]) for row in rows])
    return element("div", element("table", head, body, kind=kind), kind="scroll")


def bullets(items: Iterable[object]) -> Html:
    """A list."""
    return element("ul", *[element("li", item) for item in items])


def badge(text: str, kind: str) -> Html:
    """A word on a coloured ground."""
    return element("span", text, kind=f"badge {kind}")
