"""Size, distribution and spectrum of the residual, summed up block by block."""

from __future__ import annotations

import numpy as np

from inertid_ros.core.records import BoolArray, FloatArray
from inertid_ros.replay.trace import Histogram, ResidualStatistics, Spectrum

SEGMENT = 1024
"""Samples of one segment of the spectrum."""

_BINS = 200
_FIRST_RANGE = 1e-3
_IRREGULAR = 5.0


class ResidualSums:
    """Sums from which means and rms values follow."""

    def __init__(self, channels: int = 6) -> None:
        """Start with nothing."""
        self._counts = np.zeros(channels, dtype=np.int64)
        self._residual = np.zeros((2, channels))
        self._measured = np.zeros((2, channels))
        self._largest = np.zeros(channels)

    def take(self, measured: FloatArray, residual: FloatArray, usable: BoolArray | None = None) -> None:
        """Take (N, C) readings and what is left of them; only those that are usable (N, C), if that is given."""
        if usable is not None:
            measured, residual = measured * usable, residual * usable
        self._counts += len(residual) if usable is None else usable.sum(axis=0)
        self._residual += residual.sum(axis=0), np.einsum("ij,ij->j", residual, residual)
        self._measured += measured.sum(axis=0), np.einsum("ij,ij->j", measured, measured)
        np.maximum(self._largest, np.abs(residual).max(axis=0, initial=0.0), out=self._largest)

    def finish(self, bias: FloatArray | float = 0.0) -> ResidualStatistics:
        """Sum up, with a bias (C,) to take off the readings."""
        counts = np.maximum(self._counts, 1)
        mean, square = self._residual / counts
        measured_mean, measured_square = self._measured / counts
        measured_rms = np.sqrt(np.maximum(measured_square - 2.0 * bias * measured_mean + bias**2, 0.0))
        rms = np.sqrt(square)
        relative = np.divide(rms, measured_rms, out=np.zeros(len(rms)), where=measured_rms > 0.0)
        return ResidualStatistics(self._counts.copy(), mean, rms, self._largest.copy(), measured_rms, relative)


class HistogramBuilder:
    """Counts over a symmetric range that doubles, for each channel on its own, when a value lies outside."""

    def __init__(self, channels: int = 6) -> None:
        """Start with a narrow range."""
        self._channels = channels
        self._range = np.full(channels, _FIRST_RANGE)
        self._counts = np.zeros((channels, _BINS), dtype=np.int64)

    def take(self, residual: FloatArray) -> None:
        """Count (N, C) values."""
        largest = np.abs(residual).max(axis=0)
        for channel in np.flatnonzero(largest >= self._range).tolist():
            while largest[channel] >= self._range[channel]:
                self._widen(channel)
        bins = ((residual / self._range + 1.0) * (_BINS / 2)).astype(np.int64).clip(0, _BINS - 1)
        flat = (bins + np.arange(self._channels) * _BINS).ravel()
        self._counts += np.bincount(flat, minlength=self._counts.size).reshape(-1, _BINS)

    def finish(self) -> Histogram:
        """The counts and the edges between them."""
        edges = np.linspace(-1.0, 1.0, _BINS + 1) * self._range[:, None]
        return Histogram(edges, self._counts.copy())

    def _widen(self, channel: int) -> None:
        pairs = self._counts[channel].reshape(-1, 2).sum(axis=1)
        quarter = _BINS // 4
        self._counts[channel] = 0
        self._counts[channel, quarter : quarter + len(pairs)] = pairs
        self._range[channel] *= 2.0


class SpectrumBuilder:
    """Averages periodograms of segments; one with a gap in it, or at another rate, is left out."""

    def __init__(self, channels: int = 6) -> None:
        """Start with an empty segment."""
        self._window = np.hanning(SEGMENT)
        self._times = np.empty(SEGMENT)
        self._values = np.empty((SEGMENT, channels))
        self._filled = 0
        self._density = np.zeros((SEGMENT // 2 + 1, channels))
        self._interval = 0.0
        self._segments = 0

    def take(self, times: FloatArray, residual: FloatArray) -> None:
        """Take (N, C) residuals at (N,) times [s]."""
        done = 0
        while done < len(times):
            count = min(SEGMENT - self._filled, len(times) - done)
            part = slice(self._filled, self._filled + count)
            self._times[part], self._values[part] = times[done : done + count], residual[done : done + count]
            self._filled += count
            done += count
            if self._filled == SEGMENT:
                self._filled = 0
                self._add_segment()

    def _add_segment(self) -> None:
        interval = float(self._times[-1] - self._times[0]) / (SEGMENT - 1)
        if interval <= 0.0 or np.diff(self._times).max() > _IRREGULAR * interval:
            return
        values = (self._values - self._values.mean(axis=0)) * self._window[:, None]
        power = np.abs(np.fft.rfft(values, axis=0)) ** 2
        power[1:-1] *= 2.0
        self._density += power * (interval / (self._window @ self._window))
        self._interval += interval
        self._segments += 1

    def finish(self) -> Spectrum:
        """The average."""
        if self._segments == 0:
            return Spectrum(np.empty(0), self._density[:0], 0)
        frequencies = np.fft.rfftfreq(SEGMENT, self._interval / self._segments)
        return Spectrum(frequencies, self._density / self._segments, self._segments)
