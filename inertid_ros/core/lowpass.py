"""First-order low-pass filter l/(s+l) over samples with varying time steps."""

from __future__ import annotations

import numpy as np
from scipy.linalg.lapack import dtbtrs

from inertid_ros.core.records import FloatArray


class LowPass:
    """Filter many channels at once with Tustin's rule and the true steps.

    With h the step, l the cutoff and u the input:  y_k = r y_(k-1) + c (u_k + u_(k-1)),
    c = l h / (2 + l h), r = (2 - l h) / (2 + l h).  Over a block this is a bidiagonal system, solved by LAPACK with all
    channels as right-hand sides. Steps are the differences of the times, the first one to the last time of the block before.
    """

    def __init__(self, cutoff: float) -> None:
        """Set the cutoff [rad/s]; `start` must come before `filter`."""
        self.cutoff = cutoff
        self._input = np.empty(0)
        self._output = np.empty(0)

    def start(self, first_input: FloatArray, first_output: FloatArray) -> None:
        """Set the input and the output at the first sample, (C,) each."""
        self._input = first_input.copy()
        self._output = first_output.copy()

    def filter(self, steps: FloatArray, inputs: FloatArray) -> FloatArray:
        """Filter (N, C) inputs that follow the sample before by (N,) steps [s]; the result is (N, C)."""
        scaled = self.cutoff * steps
        denominator = scaled + 2.0
        gain = scaled / denominator
        decay = 1.0 - 2.0 * gain
        sums = inputs.copy()
        sums[0] += self._input
        count = len(steps)
        if count == 1:
            sums *= gain[0]
            sums[0] += decay[0] * self._output
            outputs = sums
        else:
            sums[1:] += inputs[:-1]
            sums *= gain[:, None]
            sums[0] += decay[0] * self._output
            band = np.empty((2, count))
            band[0] = 1.0
            band[1, :-1] = -decay[1:]
            outputs, _ = dtbtrs(band, sums, uplo="L", diag="U")
        self._input = inputs[-1]
        self._output = outputs[-1]
        return outputs
