"""How well something was predicted, for programs: overall, by groups of channels with one unit, and by channel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from inertid_ros.replay.trace import ResidualStatistics


@dataclass(frozen=True, slots=True)
class Channels:
    """What was predicted.

    Attributes:
        names: the C channels.
        groups: by name the channels that can be added up, as they have one unit.
    """

    names: tuple[str, ...]
    groups: Mapping[str, Sequence[int]]

    @classmethod
    def of_links(cls, names: Sequence[str], units: Sequence[str]) -> Channels:
        """Group the channels of an arm: base force and moment, torques of joints, forces of prismatic joints."""
        groups: dict[str, list[int]] = {}
        for index, (name, unit) in enumerate(zip(names, units, strict=True)):
            kinds = ("base_force", "base_torque") if name.startswith("base.") else ("effort_force", "effort")
            groups.setdefault(kinds[unit == "Nm"], []).append(index)
        return cls(tuple(names), groups)


WRENCH = Channels(("fx", "fy", "fz", "nx", "ny", "nz"), {"force": (0, 1, 2), "torque": (3, 4, 5)})
"""Of a sensor at the wrist."""


def list_residual(statistics: ResidualStatistics, channels: Channels = WRENCH) -> dict[str, Any]:
    """How well the channels are explained: relative to rms, all together, each group, and each channel."""
    ratios = {name: _relate(statistics, list(group)) for name, group in channels.groups.items()}
    names = ("mean", "rms", "largest", "measured_rms", "relative_rms")
    return {
        "count": statistics.count,
        "relative_rms": find_overall(list(ratios.values())),
        **{name: {"relative_rms": ratio} for name, ratio in ratios.items()},
        "channels": {
            channel: {
                "count": int(statistics.counts[index]),
                **{name: float(getattr(statistics, name)[index]) for name in names},
            }
            for index, channel in enumerate(channels.names)
        },
    }


def find_overall(ratios: Sequence[float]) -> float:
    """One number for groups that have different units: the root mean square of theirs."""
    return float(np.sqrt(np.mean(np.square(ratios)))) if len(ratios) else 0.0


def compare(found: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """Residual over that of another prediction, for whatever has a relative rms; None where that one is zero."""
    result: dict[str, Any] = {}
    for name, entry in found.items():
        if name == "relative_rms":
            result["ratio"] = entry / other[name] if other[name] > 0.0 else None
        elif isinstance(entry, dict):
            result[name] = compare(entry, other[name])
    return result


def _relate(statistics: ResidualStatistics, part: Sequence[int]) -> float:
    """Rms of the residual over rms of what was measured, of channels with one unit."""
    counts = statistics.counts[part] / max(int(statistics.counts[part].max(initial=0)), 1)
    residual, measured = (
        float(np.sqrt(counts @ values[part] ** 2)) for values in (statistics.rms, statistics.measured_rms)
    )
    return residual / measured if measured > 0.0 else 0.0
