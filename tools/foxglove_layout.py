"""Writes foxglove/inertid.json with Foxglove's own library: pip install foxglove-sdk==0.30.3, then run this."""

from __future__ import annotations

import json
from pathlib import Path

import foxglove.layouts as fl

NODE = "/inertid"
PARAMETERS = ("m", "mcx", "mcy", "mcz", "Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz")


def plot(title: str, *series: tuple[str, str]) -> fl.PlotPanel:
    """A plot of message paths with their labels."""
    paths = [fl.PlotSeries(value=f"{NODE}/{path}", label=label) for path, label in series]
    return fl.PlotPanel(title=title, config=fl.PlotConfig(paths=paths, show_legend=True))


def column(*panels: fl.BasePanel) -> fl.SplitContainer:
    """Panels one above the other."""
    return fl.SplitContainer(direction="column", items=[fl.SplitItem(content=panel) for panel in panels])


def make_layout() -> fl.Layout:
    """Robot and load on the left; estimate, contact wrench, events and diagnostics on the right."""
    parameters = [(f"load/parameters.data[{index}]", name) for index, name in enumerate(PARAMETERS)]
    wrench = [
        (f"load/wrench_residual.wrench.{part}.{axis}", f"{part} {axis}")
        for part in ("force", "torque")
        for axis in "xyz"
    ]
    scene = fl.ThreeDeePanel(
        title="Robot and load",
        config=fl.ThreeDeeConfig(
            topics={
                "/robot_description": fl.BaseRendererUrdfTopicSettings(visible=True),
                f"{NODE}/markers": fl.BaseRendererRosMarkerTopicSettings(visible=True),
            }
        ),
    )
    right = column(
        plot("Mass [kg] and first moments [kg m]", *parameters[:4]),
        plot("Inertia about the sensor frame [kg m²]", *parameters[4:]),
        plot("Contact wrench [N, Nm]", *wrench),
    )
    left = column(
        scene,
        fl.DiagnosticsSummaryPanel(config=fl.DiagnosticsSummaryConfig(topic_to_render="/diagnostics")),
        fl.RawMessagesPanel(title="Events", config=fl.RawMessagesConfig(topic_path=f"{NODE}/events.status[:]")),
    )
    return fl.Layout(
        content=fl.SplitContainer(direction="row", items=[fl.SplitItem(content=one) for one in (left, right)])
    )


if __name__ == "__main__":
    target = Path(__file__).parents[1] / "foxglove" / "inertid.json"
    target.parent.mkdir(exist_ok=True)
    target.write_text(
        json.dumps(json.loads(make_layout().to_json()), indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
    )
