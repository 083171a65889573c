"""How well something was predicted: sums over samples, and the same for programs by channel, by group and overall."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from inertid_ros.core.compiled import compiled
from inertid_ros.core.equations.arm import group_channels
from inertid_ros.core.equations.equation import WRENCH_NAMES, WRENCH_UNITS
from inertid_ros.core.estimation.estimate import Fit
from inertid_ros.core.records import BoolArray, FloatArray, IntArray, Output, RowOutput


@dataclass(frozen=True, slots=True)
class ResidualStatistics:
    """Residuals of C channels, summed up over many samples or rows.

    Attributes:
        counts: (C,) how many samples of each channel.
        mean, rms, largest: (C,) of the residual; `largest` of its absolute value.
        measured_rms: (C,) of what was measured; of a wrist wrench less the bias of the final estimate's sensor.
        relative_rms: (C,) rms of the residual over `measured_rms`.
    """

    counts: IntArray
    mean: FloatArray
    rms: FloatArray
    largest: FloatArray
    measured_rms: FloatArray
    relative_rms: FloatArray

    @property
    def count(self) -> int:
        """Samples of the channel that has most."""
        return int(self.counts.max(initial=0))

    @classmethod
    def of_fit(cls, fit: Fit) -> ResidualStatistics:
        """What an estimate leaves of the rows it was made from; mean and largest are not known and zero."""
        nothing = np.zeros(len(fit.rows))
        relative = _divide(fit.residual_rms, fit.measured_rms)
        return cls(fit.rows, nothing, fit.residual_rms, nothing, fit.measured_rms, relative)

    @classmethod
    def combine(cls, parts: Sequence[ResidualStatistics]) -> ResidualStatistics:
        """Statistics over all samples of several recordings."""
        counts = np.array([part.counts for part in parts])
        weights = counts / np.maximum(counts.sum(axis=0), 1)
        mean = (weights * np.array([part.mean for part in parts])).sum(axis=0)
        rms = np.sqrt((weights * np.array([part.rms**2 for part in parts])).sum(axis=0))
        measured_rms = np.sqrt((weights * np.array([part.measured_rms**2 for part in parts])).sum(axis=0))
        largest = np.max([part.largest for part in parts], axis=0)
        return cls(counts.sum(axis=0), mean, rms, largest, measured_rms, _divide(rms, measured_rms))


@dataclass(frozen=True, slots=True)
class Prediction:
    """How well channels are predicted.

    Attributes:
        rows: filtered on both sides, as the fit is judged: the number people quote; none for a wrist sensor.
        samples: as measured.
        inside: (C,) rows whose residual is within two of the standard deviations that were stated.
    """

    rows: ResidualStatistics
    samples: ResidualStatistics
    inside: IntArray

    @property
    def share_inside(self) -> float:
        """Share of the rows that is within two standard deviations; 95 % are, if these are right."""
        return float(self.inside.sum() / max(int(self.rows.counts.sum()), 1))

    @classmethod
    def combine(cls, parts: Sequence[Prediction]) -> Prediction:
        """The same over several recordings."""
        combine = ResidualStatistics.combine
        inside = np.sum([part.inside for part in parts], axis=0)
        return cls(combine([part.rows for part in parts]), combine([part.samples for part in parts]), inside)


SUM, SQUARES, LARGEST, MEASURED, MEASURED_SQUARES = range(5)
"""Of each channel: the residual, its squares and its largest size, and readings and their squares."""


@compiled
def add_samples(sums: FloatArray, measured: FloatArray, residual: FloatArray) -> None:
    """Add readings (N, C) and what is left of them to sums (5, C)."""
    for i in range(len(residual)):
        for c in range(residual.shape[1]):
            left, reading = residual[i, c], measured[i, c]
            sums[SUM, c] += left
            sums[SQUARES, c] += left * left
            sums[LARGEST, c] = max(sums[LARGEST, c], abs(left))
            sums[MEASURED, c] += reading
            sums[MEASURED_SQUARES, c] += reading * reading


class ResidualSums:
    """Sums from which means and rms values follow."""

    def __init__(self, channels: int) -> None:
        """Start with nothing."""
        self._counts = np.zeros(channels, dtype=np.int64)
        self._sums = np.zeros((5, channels))

    def take(self, measured: FloatArray, residual: FloatArray, usable: BoolArray | None = None) -> None:
        """Take (N, C) readings and what is left of them; only those that are usable (N, C), if that is given."""
        if usable is not None:
            measured, residual = measured * usable, residual * usable
        self._counts += len(residual) if usable is None else usable.sum(axis=0)
        add_samples(self._sums, np.ascontiguousarray(measured), np.ascontiguousarray(residual))

    def finish(self, bias: FloatArray | float = 0.0) -> ResidualStatistics:
        """Sum up, with a bias (C,) to take off the readings."""
        counts = np.maximum(self._counts, 1)
        mean, square, _, measured_mean, measured_square = self._sums / counts
        measured_rms = np.sqrt(np.maximum(measured_square - 2.0 * bias * measured_mean + bias**2, 0.0))
        rms = np.sqrt(square)
        relative = _divide(rms, measured_rms)
        return ResidualStatistics(self._counts.copy(), mean, rms, self._sums[LARGEST].copy(), measured_rms, relative)


class PredictionSums:
    """Sums up how well the channels are predicted, as rows and as samples."""

    def __init__(self, channels: int) -> None:
        """Start with nothing."""
        self._rows, self._samples = ResidualSums(channels), ResidualSums(channels)
        self._inside = np.zeros(channels, dtype=np.int64)

    def take(self, output: Output, residual: FloatArray, usable: BoolArray | None) -> None:
        """Take what came out of the chain and its residual (N, C); `usable` (N, C) is None where all of it is."""
        self._samples.take(output.measured, residual, usable)
        rows: RowOutput = output.rows
        if len(rows.stamps):
            left = rows.measured - rows.predicted
            self._rows.take(rows.measured, left, rows.usable)
            self._inside += np.count_nonzero(rows.usable & (np.abs(left) < 2.0 * rows.deviation), axis=0)

    def finish(self, bias: FloatArray | float = 0.0) -> Prediction:
        """Sum up, with a bias (C,) to take off the readings."""
        return Prediction(self._rows.finish(), self._samples.finish(bias), self._inside.copy())


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
    def of(cls, names: Sequence[str], units: Sequence[str]) -> Channels:
        """Group channels: wrist or base force and moment, torques of joints, forces of prismatic joints."""
        return WRENCH if tuple(names) == WRENCH_NAMES else cls(tuple(names), group_channels(names, units))


WRENCH = Channels(WRENCH_NAMES, group_channels(WRENCH_NAMES, WRENCH_UNITS))
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


def _divide(rms: FloatArray, measured: FloatArray) -> FloatArray:
    """Ratios, zero where nothing was measured."""
    return np.divide(rms, measured, out=np.zeros(len(rms)), where=measured > 0.0)
