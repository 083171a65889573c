"""What was measured, seen as panels: which channels there are, and where each is drawn."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from inertid_ros.core.records import FloatArray
from inertid_ros.replay.trace import Envelope, Histogram, LinkTrace, LoadTrace, SignalTrace, Spectrum, TraceEvent
from inertid_ros.report.drawing import AXIS_COLOURS, LINE_COLOURS
from inertid_ros.report.verdict import AXES

_GROUP_TITLES = {
    "base_force": "force on the base",
    "base_torque": "moment on the base",
    "effort": "effort",
    "effort_force": "effort of prismatic joints",
}


@dataclass(frozen=True, slots=True)
class SignalView:
    """C channels, and what is known of them.

    Attributes:
        names, units: (C,).
        places: (C,) row and column of each, from 1.
        groups: channels that share an axis of a spectrum, by their title.
        colours: (C,) in such a group.
        noise: (C,) amplitude density the estimator counts on; empty if it does not.
        by_urdf: what the URDF alone predicts, None if that is not known.
    """

    names: tuple[str, ...]
    units: tuple[str, ...]
    places: tuple[tuple[int, int], ...]
    groups: dict[str, tuple[int, ...]]
    colours: tuple[str, ...]
    noise: FloatArray
    signals: SignalTrace
    by_urdf: Envelope | None
    spectrum: Spectrum
    histogram: Histogram
    events: tuple[TraceEvent, ...]
    duration: float

    @property
    def rows(self) -> int:
        """Rows of panels."""
        return max(row for row, _ in self.places)


def view_load(trace: LoadTrace) -> SignalView:
    """The wrench: forces to the left, moments to the right."""
    return SignalView(
        names=AXES,
        units=("N",) * 3 + ("Nm",) * 3,
        places=tuple((index % 3 + 1, index // 3 + 1) for index in range(6)),
        groups={"force": (0, 1, 2), "moment": (3, 4, 5)},
        colours=AXIS_COLOURS * 2,
        noise=np.empty(0) if trace.estimate.sensor is None else trace.estimate.sensor.noise_density,
        signals=trace.signals,
        by_urdf=None,
        spectrum=trace.spectrum,
        histogram=trace.histogram,
        events=trace.events,
        duration=trace.duration,
    )


def view_channels(trace: LinkTrace | LoadTrace) -> SignalView:
    """Base wrench and efforts, two in a row."""
    count = len(trace.channels)
    groups = trace.groups.groups
    return SignalView(
        names=trace.channels,
        units=trace.units,
        places=tuple((index // 2 + 1, index % 2 + 1) for index in range(count)),
        groups={_GROUP_TITLES[name]: tuple(group) for name, group in groups.items()},
        colours=tuple(LINE_COLOURS[index % len(LINE_COLOURS)] for index in range(count)),
        noise=np.empty(0),
        signals=trace.signals,
        by_urdf=trace.signals.by_urdf,
        spectrum=trace.spectrum,
        histogram=trace.histogram,
        events=trace.events,
        duration=trace.duration,
    )
