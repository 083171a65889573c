"""Pieces of HTML, in which every text from outside is escaped, and the style sheet for screen and paper."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape


class Html(str):
    """Text that is HTML already. All other text is escaped on its way into the page."""

    __slots__ = ()


def put(value: object) -> str:
    """HTML of a value: unchanged if it is Html, else its text, escaped."""
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


def remark(text: str) -> Html:
    """A paragraph in small print."""
    return element("p", text, kind="remark")


def bullets(items: Iterable[object]) -> Html:
    """A list."""
    return element("ul", *[element("li", item) for item in items])


def badge(text: str, kind: str) -> Html:
    """A word on a coloured background."""
    return element("span", text, kind=f"badge {kind}")


def fold(summary: object, *content: object) -> Html:
    """Content that is shown on a click on its summary."""
    return element("details", element("summary", summary), *content)


def fold_long(summary: str, rows: int, content: Html) -> Html:
    """The same for a table of so many rows, if these are many."""
    return fold(summary, content) if rows > LONG else content


def share(ratio: float) -> Html:
    """A share with a bar beside the number."""
    if not math.isfinite(ratio):
        return Html("–")
    width = min(100.0 * ratio, 100.0)
    bar = Html(f'<span class="bar"><i style="width:{width:.0f}%"></i></span>')
    return element("span", f"{100.0 * ratio:.1f} %", bar, kind="share")


LONG = 16
"""Rows of a table that is folded if it has more: they fill a screen."""

STYLE = """
:root { --ink: #20242b; --soft: #5d6570; --line: #dfe3e8; --good: #2e8b57; --caution: #b87700; --bad: #c0392b; }
* { box-sizing: border-box; }
body { margin: 0; background: #f4f5f7; color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif; }
main { max-width: 1120px; margin: 0 auto; padding: 28px 20px 60px; }
h1 { font-size: 24px; line-height: 1.25; margin: 0 0 2px; }
h2 { font-size: 18px; margin: 0 0 6px; }
h3 { font-size: 15px; margin: 18px 0 6px; }
p { margin: 0 0 8px; max-width: 85ch; }
section { background: #fff; border: 1px solid var(--line); border-radius: 8px; padding: 18px 20px; margin: 16px 0; }
.remark, figcaption, .subtitle { color: var(--soft); font-size: 13.5px; }
.subtitle { overflow-wrap: anywhere; margin-bottom: 0; }
figure { margin: 0 0 10px; }
figcaption { margin-bottom: 4px; max-width: 100ch; }
.verdict { border-left: 7px solid var(--soft); }
.verdict.good { border-left-color: var(--good); }
.verdict.caution { border-left-color: var(--caution); }
.verdict.bad { border-left-color: var(--bad); }
.verdict h2 { font-size: 21px; margin-bottom: 10px; }
.verdict table { border: 0; }
.verdict td { border: 0; padding: 3px 12px 3px 0; }
.verdict td:first-child { white-space: nowrap; width: 1%; }
.verdict td:nth-child(2) { font-weight: 600; white-space: nowrap; width: 1%; }
nav { font-size: 13.5px; margin: 10px 0 0; }
nav a { margin-right: 14px; color: #1f5fa8; text-decoration: none; }
.columns { display: grid; grid-template-columns: 1fr 1fr; gap: 0 28px; align-items: start; }
.columns > div { min-width: 0; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: 13.5px; margin: 4px 0 10px; }
th { text-align: left; color: var(--soft); font-weight: 600; border-bottom: 1px solid var(--line);
  padding: 4px 12px 4px 0; vertical-align: bottom; }
td { border-bottom: 1px solid #eef0f3; padding: 4px 12px 4px 0; vertical-align: top; overflow-wrap: anywhere; }
.numbers td { font-variant-numeric: tabular-nums; }
.numbers td:first-child { overflow-wrap: normal; }
.combinations td:nth-child(2), .combinations td:nth-child(3), .combinations td:nth-child(4) { white-space: nowrap; }
.problems td:nth-child(2) { white-space: nowrap; }
.provenance td:first-child { width: 34%; }
code { font: 12.5px/1.4 ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; overflow-wrap: anywhere; }
.badge { display: inline-block; min-width: 1em; padding: 0 8px; border-radius: 9px; font-size: 12.5px;
  white-space: nowrap; color: #fff; background: #8a8f98; }
.badge.good { background: var(--good); }
.badge.caution { background: var(--caution); }
.badge.bad { background: var(--bad); }
.share { display: inline-block; min-width: 74px; white-space: nowrap; }
.bar { display: block; height: 4px; border-radius: 2px; background: #e6e9ee; overflow: hidden; }
.bar i { display: block; height: 100%; background: #1f5fa8; }
details { border: 1px solid var(--line); border-radius: 6px; margin: 6px 0; padding: 0 12px; }
summary { cursor: pointer; padding: 7px 0; color: #1f5fa8; font-size: 13.5px; }
details[open] > summary { border-bottom: 1px solid var(--line); margin-bottom: 8px; }
.print-only { display: none; }
@media (max-width: 960px) { .columns { grid-template-columns: 1fr; } }
@media (max-width: 640px) {
  main { padding: 16px 8px 40px; }
  h1 { font-size: 20px; overflow-wrap: anywhere; }
  section { padding: 12px; margin: 10px 0; }
  nav { line-height: 2.2; }
  .verdict { border-left-width: 5px; }
  .verdict h2 { font-size: 17px; overflow-wrap: anywhere; }
  .verdict tr { display: grid; grid-template-columns: auto 1fr; gap: 0 8px; padding: 6px 0; }
  .verdict td { padding: 0; }
  .verdict td:first-child, .verdict td:nth-child(2) { width: auto; }
  .verdict td:last-child { grid-column: 1 / -1; }
  .numbers td, .numbers th { white-space: nowrap; }
  .numbers td:first-child, .numbers th:first-child { position: sticky; left: 0; background: #fff; white-space: normal;
    overflow-wrap: break-word; z-index: 1; }
  .problems { min-width: 640px; }
  .provenance tr { display: grid; }
  .provenance td:first-child { width: auto; border: 0; padding-bottom: 0; color: var(--soft); }
}
@page { size: A4; margin: 12mm; }
@media print {
  body { background: #fff; font-size: 11pt; -webkit-print-color-adjust: exact; print-color-adjust: exact; }
  main { max-width: none; padding: 0; }
  nav, .modebar { display: none !important; }
  section { border-width: 0 0 1px; border-radius: 0; padding: 8px 0; margin: 0; }
  .verdict { border-left-width: 7px; padding-left: 14px; }
  table { font-size: 9pt; }
  figure, tr { break-inside: avoid; }
  h2, h3, figcaption { break-after: avoid; }
  .columns { grid-template-columns: 1fr 1fr; }
  .plotly-graph-div { zoom: 0.63; }
  #plot-body { display: none; }
  .print-only { display: block; width: 100%; }
}
"""
