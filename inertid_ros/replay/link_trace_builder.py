"""Collects what a report of an arm's links needs while a recording is replayed."""

from __future__ import annotations

import numpy as np

from inertid_ros.core.estimation.link_records import LinkEstimate, LinkOutput
from inertid_ros.replay.envelope import EnvelopeBuilder
from inertid_ros.replay.residual_summary import HistogramBuilder, ResidualSums, SpectrumBuilder
from inertid_ros.replay.trace import STATES, Envelope, LinkConvergence, LinkFit, SignalTrace
from inertid_ros.replay.trace_builder import MomentKeeper, TimeAxis

MOMENTS = 256
_FIRST_SPACING = 500_000_000


class LinkConvergenceBuilder(MomentKeeper):
    """Keeps estimates of an arm."""

    def __init__(self) -> None:
        """Start with none."""
        super().__init__(_FIRST_SPACING, MOMENTS)

    def take(self, time: float, estimate: LinkEstimate) -> None:
        """Keep an estimate; one at a time that is there already replaces it."""
        states = [float(STATES.index(state)) for state in estimate.states]
        self.keep(time, np.concatenate((estimate.values, np.sqrt(np.diag(estimate.covariance)), states)))

    def finish(self, parameters: int) -> LinkConvergence:
        """What was kept of so many base parameters."""
        times, rows = self.list_all(3 * parameters)
        values, deviations, states = np.split(rows, 3, axis=1)
        return LinkConvergence(times, values, deviations, states.astype(np.int8))


class LinkFitBuilder:
    """Sums up how well something predicts the channels."""

    def __init__(self, channels: int) -> None:
        """Start with nothing."""
        self._rows, self._samples = ResidualSums(channels), ResidualSums(channels)

    def take(self, output: LinkOutput) -> None:
        """Take what came out of the chain."""
        self._samples.take(output.measured, output.measured - output.predicted, output.usable)
        if len(output.row_stamps):
            self._rows.take(output.row_measured, output.row_measured - output.row_predicted, output.row_usable)

    def finish(self) -> LinkFit:
        """Sum up."""
        return LinkFit(self._rows.finish(), self._samples.finish())


class LinkTraceBuilder:
    """Puts the parts of an arm's trace together.

    Attributes:
        axis: the time axis of everything.
        convergence: estimates over time.
        online, urdf: how well estimates and URDF predict.
        spectrum, histogram: of the residual.
    """

    def __init__(self, channels: int) -> None:
        """Start with nothing."""
        self.axis = TimeAxis()
        self.convergence = LinkConvergenceBuilder()
        self.online, self.urdf = LinkFitBuilder(channels), LinkFitBuilder(channels)
        self.spectrum = SpectrumBuilder(channels)
        self.histogram = HistogramBuilder(channels)
        self._channels = channels
        self._envelope = EnvelopeBuilder(4 * channels)

    def take(self, output: LinkOutput, by_urdf: LinkOutput) -> None:
        """Take what came out of the chain, and of one that knows the URDF alone, for the same samples."""
        times = self.axis.place(output.stamps)
        residual = np.where(output.usable, output.measured - output.predicted, 0.0)
        self._envelope.take(times, np.hstack((output.measured, output.predicted, residual, by_urdf.predicted)))
        self.online.take(output)
        self.urdf.take(by_urdf)
        self.histogram.take(residual)
        self.spectrum.take(times, residual)

    def finish_signals(self) -> tuple[SignalTrace, Envelope]:
        """What was measured and predicted, decimated, and the prediction by the URDF."""
        times, low, high = self._envelope.finish()
        parts = (slice(place, place + self._channels) for place in range(0, low.shape[1], self._channels))
        measured, predicted, residual, by_urdf = (Envelope(low[:, part], high[:, part]) for part in parts)
        return SignalTrace(times, self._envelope.width, measured, predicted, residual), by_urdf
