"""Recordings beside their sum: what each of them leaves and says by itself, and where they contradict each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

from inertid_ros.core.estimation.estimate import LinksEstimate, LoadEstimate
from inertid_ros.core.estimation.states import ParameterState
from inertid_ros.core.verdict import find_share
from inertid_ros.replay.combine import Recorded, Sum
from inertid_ros.replay.contradiction import Distances, find_distances
from inertid_ros.replay.residuals import list_residual
from inertid_ros.replay.trace import LinkTrace, LoadTrace
from inertid_ros.report.convergence import find_band_range
from inertid_ros.report.drawing import BAND, BLUE, GREY, RED, Figure
from inertid_ros.report.markup import Html, badge, fold_long, put, remark, share, table
from inertid_ros.report.tables import format_percent
from inertid_ros.report.verdict import SYMBOLS, find_residuals, grade
from inertid_ros.text.numbers import INTERVAL, PARAMETER_UNITS, format_estimate, parameter_units

_MOST_PANELS = 12
"""So many parameters are drawn: those in which recordings are furthest apart."""
_COLUMNS = 4
_ABOUT = "Residual over signal of each recording by its own estimate, over all channels and by channel."
_BY_SUM = " By the sum: what the estimate of all recordings together leaves of it."
_ESTIMATES = (
    "Estimates of single recordings with their 95 % intervals, and that of all of them together as a band{which}. Red: "
    "the two that are furthest apart, where that contradicts."
)
_APART = (
    "Largest difference of two recordings, in standard deviations of that difference. More than {limit:.1f} is a "
    "contradiction: once in a thousand comparisons of recordings that agree."
)


@dataclass(frozen=True, slots=True)
class RunView:
    """Recordings of one load or of one arm.

    Attributes:
        total: all of them together.
        runs: each of them, with its number from 1 on and its recording.
        units: of the parameters.
        distances: how far they are apart.
    """

    total: LoadTrace | LinkTrace
    runs: tuple[tuple[int, Recorded, LoadTrace | LinkTrace], ...]
    units: tuple[str, ...]
    distances: Distances

    @classmethod
    def iterate(cls, found: Sum) -> Iterator[RunView]:
        """Walk over load and links, as far as several recordings have them."""
        for kind, total in enumerate(found.traces):
            parts = [(number, run, run.traces[kind]) for number, run in enumerate(found.recordings, start=1)]
            runs = tuple((number, run, trace) for number, run, trace in parts if trace is not None)
            if total is None or len(runs) < 2 or any(item[2].channels != total.channels for item in runs):
                continue
            estimates = [trace.estimate for _, _, trace in runs]
            if isinstance(total, LoadTrace):
                # Systematic error of one sensor is the same in all recordings: what it repeats is compared.
                spread = np.array([estimate.repeatable_deviations for estimate in estimates])
                units: tuple[str, ...] = PARAMETER_UNITS
            else:
                spread = np.array([estimate.deviations for estimate in estimates])
                units = parameter_units(total.estimate.model)
            distances = find_distances(np.array([estimate.values for estimate in estimates]), spread)
            yield cls(total, runs, units, distances)

    def order(self) -> list[int]:
        """Parameters that are excited in the sum, those first in which recordings are furthest apart."""
        order = np.argsort(-self.distances.largest, kind="stable").tolist()
        return [index for index in order if self.total.estimate.states[index] != ParameterState.NOT_EXCITED]


def show_runs(found: Sum) -> Iterator[Html]:
    """Residuals and estimates of each recording, and of all together."""
    for view in RunView.iterate(found):
        kind = "load" if isinstance(view.total, LoadTrace) else "links"
        yield _tabulate_residuals(view)
        chosen = view.order()[:_MOST_PANELS]
        which = f"; of {len(view.order())} parameters the {len(chosen)} that are furthest apart"
        caption = _ESTIMATES.format(which=which if len(chosen) < len(view.order()) else "")
        yield _draw_estimates(view, chosen).show(f"plot-runs-{kind}", caption)
        yield _tabulate_distances(view)


def _tabulate_residuals(view: RunView) -> Html:
    total = view.total
    by_sum = ("by the sum",) if isinstance(total, LinkTrace) else ()
    heads = ("recording", "residual", *by_sum, "verdict", "duration [s]", *total.channels)
    rows = [_list_run(total, "all together", "", total, sum(trace.duration for _, _, trace in view.runs))]
    for _, recorded, trace in view.runs:
        link = Html(f'<a href="{put(recorded.directory)}/report.html">{put(recorded.directory)}</a>')
        word = grade(trace.verdict)
        rows.append(_list_run(trace, link, badge(SYMBOLS[word], word), total, trace.duration))
    about = remark(_ABOUT + (_BY_SUM if by_sum else ""))
    return fold_long(f"{len(view.runs)} recordings", len(rows), Html(table(heads, rows, "numbers") + about))


def _list_run(
    trace: LoadTrace | LinkTrace, name: str, verdict: str, total: LoadTrace | LinkTrace, duration: float
) -> tuple[object, ...]:
    """One row: what is left of a recording."""
    by_sum: tuple[str, ...] = ()
    statistics = trace.online.samples
    if isinstance(trace, LinkTrace) and isinstance(total, LinkTrace):
        statistics = find_residuals(trace)
        fit, rms = trace.estimate.fit, trace.estimator.find_rms(total.estimate.fitted)
        is_by_channel = fit is not None and len(rms) == len(fit.rows)  # not that of energies
        by_sum = (format_percent(find_share(fit, rms)) if fit is not None and is_by_channel else "–",)
    overall = list_residual(statistics, trace.groups)["relative_rms"]
    channels = map(format_percent, statistics.relative_rms)
    return name, share(overall), *by_sum, verdict, f"{duration:.1f}", *channels


def _draw_estimates(view: RunView, chosen: Sequence[int]) -> Figure:
    """Draw parameters of each recording beside the band of the sum, a panel each."""
    rows = -(-len(chosen) // _COLUMNS)
    total = view.total.estimate
    titles = [f"<b>{escape(total.names[index])}</b>" for index in chosen]
    figure = Figure(70 + 190 * rows, titles, _COLUMNS, (0.1, 0.3 / max(rows, 1)))
    numbers = np.array([number for number, _, _ in view.runs], dtype=float)
    edges = np.array([numbers[0] - 0.5, numbers[-1] + 0.5])
    for panel, index in enumerate(chosen):
        value, margin = total.values[index], INTERVAL * total.deviations[index]
        legend = {"showlegend": panel == 0}
        band = np.array([value - margin, value + margin])
        figure.draw(
            "scatter", panel, x=np.concatenate((edges, edges[::-1])), y=np.repeat(band, 2), fill="toself",
            fillcolor=BAND, line={"width": 0}, mode="lines", name="all together", hoverinfo="skip",
            legendgroup="sum", **legend,
        )  # fmt: skip
        shown = [trace.estimate.states[index] != ParameterState.NOT_EXCITED for _, _, trace in view.runs]
        values = np.array([trace.estimate.values[index] for _, _, trace in view.runs])
        margins = INTERVAL * np.array([trace.estimate.deviations[index] for _, _, trace in view.runs])
        figure.draw(
            "scatter", panel, x=numbers[shown], y=values[shown], mode="markers", name="one recording",
            marker={"color": [_colour(view, index, place) for place in np.flatnonzero(shown).tolist()], "size": 7},
            error_y={"type": "data", "array": margins[shown], "color": GREY, "thickness": 1.2, "width": 3},
            hovertemplate="recording %{x}: %{y:.5g}<extra></extra>", legendgroup="run", **legend,
        )  # fmt: skip
        all_shown = np.array([*shown, True])
        low, high = find_band_range(np.append(values, value), np.append(margins, margin), all_shown)
        figure.x(panel).update(range=edges.tolist(), dtick=max(1, len(numbers) // 6))
        figure.y(panel).update(range=[low, high], title={"text": view.units[index], "standoff": 4})
    for panel in figure.lowest:
        figure.x(panel)["title"] = {"text": "recording"}
    figure.layout["hovermode"] = "closest"
    return figure


def _colour(view: RunView, parameter: int, place: int) -> str:
    largest, pairs, limit = view.distances
    return RED if largest[parameter] > limit and place in pairs[parameter] else BLUE


def _tabulate_distances(view: RunView) -> Html:
    """The parameters in which recordings differ most, and the two that do."""
    largest, pairs, limit = view.distances
    estimate = view.total.estimate
    rows = []
    for index in view.order():
        contradicts = largest[index] > limit
        far = badge(f"{largest[index]:.1f}", "bad") if contradicts else f"{largest[index]:.1f}"
        both = [_format(view.runs[place][2].estimate, index, view.runs[place][0]) for place in pairs[index]]
        number = format_estimate(float(estimate.values[index]), float(estimate.deviations[index]))
        rows.append((estimate.names[index], far, number, *both, view.units[index]))
    count = int(np.count_nonzero(largest[view.order()] > limit))
    heads = ("parameter", "apart", "all together", "one", "another", "unit")
    listed = Html(table(heads, rows, "numbers") + remark(_APART.format(limit=limit)))
    summary = f"{len(rows)} parameters, of which {count or 'none'} contradict{'s' if count == 1 else ''}"
    return fold_long(summary, len(rows), listed)


def _format(estimate: LoadEstimate | LinksEstimate, index: int, number: int) -> str:
    if estimate.states[index] == ParameterState.NOT_EXCITED:
        return f"{number}: {ParameterState.NOT_EXCITED}"  # its interval is that of the prior
    return f"{number}: {format_estimate(float(estimate.values[index]), float(estimate.deviations[index]))}"
