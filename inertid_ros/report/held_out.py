"""How well another recording, from which nothing was learnt, is predicted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from inertid_ros.core.records import FloatArray
from inertid_ros.replay.combine import Sum
from inertid_ros.replay.trace import LinkTrace, LoadTrace
from inertid_ros.report.markup import Html, bullets, element, remark, share
from inertid_ros.report.signals import SignalView, draw_signals
from inertid_ros.report.tables import format_percent, format_size, show_columns
from inertid_ros.report.verdict import find_residuals

_ABOUT = {
    "load": "Load and tool are those of the estimate. A constant in each axis is fitted, as sensors are tared between "
    "recordings; with the bias of the estimate, {own} is left.",
    "links": "Nothing is fitted. Both sides are filtered as in the estimator; of the samples as measured, {raw} is "
    "left. {inside} of the rows are within two of the standard deviations that the estimate states (95 % if they are "
    "right).",
}


def show_validation(found: Sum) -> Iterator[Html]:
    """The numbers by channel, beside those of the recordings that were learnt from, and the signals."""
    assert found.validation is not None
    content = found.validation.content
    names = ", ".join(Path(bag).name for bag in content["bags"])
    yield element("p", f"Predicted: {names}, by parameters that were identified without it.")
    pairs = zip(("load", "links"), found.traces, found.validation.traces, strict=True)
    for name, own, predicted in pairs:
        if own is None or predicted is None:
            continue
        yield _tabulate(own, content[name])
        yield remark(_ABOUT[name].format(**_list_others(content[name])))
        view = SignalView.of(predicted)
        yield draw_signals(view).show(f"plot-held-out-{name}", f"{names}: measured and predicted. {view.decimation}")
    if lines := [*content["notes"], *content["warnings"], *content["gaps"]]:
        yield bullets(lines)


def _tabulate(trace: LoadTrace | LinkTrace, part: Mapping[str, Any]) -> Html:
    channels: list[Mapping[str, float]] = list(part["channels"].values())
    columns = {
        "channel": part["channels"],
        "residual / signal": [share(channel["relative_rms"]) for channel in channels],
        "learnt from": map(format_percent, _find_own(trace)),
    }
    if part["urdf"] is not None:
        columns["URDF alone"] = [format_percent(one["relative_rms"]) for one in part["urdf"]["channels"].values()]
    columns |= {
        "residual rms": [format_size(channel["rms"]) for channel in channels],
        "unit": trace.units,
        "signal rms": [format_size(channel["measured_rms"]) for channel in channels],
    }
    by_urdf = "" if part["urdf"] is None else f"; by the URDF alone {format_percent(part['urdf']['relative_rms'])}"
    return show_columns(columns, f"Over all channels, {format_percent(part['relative_rms'])} is left{by_urdf}.")


def _find_own(trace: LoadTrace | LinkTrace) -> FloatArray:
    """Residual over signal (C,) of what the estimate was made from."""
    return trace.online.samples.relative_rms if isinstance(trace, LoadTrace) else find_residuals(trace).relative_rms


def _list_others(part: Mapping[str, Any]) -> dict[str, str]:
    found = {}
    if "own_bias" in part:
        found["own"] = format_percent(part["own_bias"]["relative_rms"])
    if "raw" in part:
        found |= {
            "raw": format_percent(part["raw"]["relative_rms"]),
            "inside": f"{100.0 * part['within_2_sigma']:.0f} %",
        }
    return found
