"""First-order low-pass filter l/(s+l) over samples with varying time steps.

Discretised with Tustin's rule and the true steps: with h the step, l the cutoff and u the input,

    y_k = r y_(k-1) + c (u_k + u_(k-1)),        c = l h / (2 + l h),  r = 1 - 2 c
"""

from __future__ import annotations

import numpy as np
from scipy.linalg.lapack import dtbtrs

from inertid_ros.core.records import FloatArray

_SMALLEST = 1e-100
"""A product of decays that is smaller is not divided by."""


def filter_block(cutoff: float, steps: FloatArray, inputs: FloatArray, before: FloatArray) -> FloatArray:
    """Filter many channels over a block at once.

    With R_k the product of the r up to k, y_k / R_k is a running sum of c (u_k + u_(k-1)) / R_k. Where steps are so
    long or so many that R_k vanishes or changes its sign, LAPACK solves the bidiagonal system instead.

    Args:
        cutoff: l [rad/s].
        steps: (N,) times [s] since the sample before each.
        inputs: (N + 1, C) the last one before the block, then those of the block.
        before: (C,) the last output before the block.

    Returns:
        (N, C) outputs.
    """
    scaled = cutoff * steps
    gains = scaled / (2.0 + scaled)
    decays = 1.0 - 2.0 * gains
    sums = inputs[1:] + inputs[:-1]
    products = np.multiply.accumulate(decays)
    if decays.min() > 0.0 and products[-1] > _SMALLEST:
        sums *= (gains / products)[:, None]
        sums[0] += before
        np.add.accumulate(sums, axis=0, out=sums)
        sums *= products[:, None]
        return sums
    sums *= gains[:, None]
    sums[0] += decays[0] * before
    band = np.ones((2, len(steps)))
    np.negative(decays[1:], out=band[1, :-1])
    outputs, _ = dtbtrs(band, sums, uplo="L", diag="U")
    return np.asarray(outputs)


def steps_between(times: FloatArray, last: float) -> FloatArray:
    """Steps (N,) that (N,) times follow each other by, the first of them the last one before."""
    steps = np.empty(len(times))
    steps[0] = times.item(0) - last
    np.subtract(times[1:], times[:-1], out=steps[1:])
    return steps


class LowPass:
    """One filter for many channels, that goes on where the last block ended."""

    def __init__(self, cutoff: float) -> None:
        """Set the cutoff [rad/s]; `start` must come before `filter`."""
        self.cutoff = cutoff
        self._input: FloatArray = np.empty(0)
        self._output: FloatArray = np.empty(0)

    def start(self, first_input: FloatArray, first_output: FloatArray) -> None:
        """Set the input and the output at the first sample, (C,) each."""
        self._input = first_input.copy()
        self._output = first_output.copy()

    def filter(self, steps: FloatArray, inputs: FloatArray) -> FloatArray:
        """Filter (N, C) inputs that follow the sample before by (N,) steps [s]; the result is (N, C)."""
        if len(steps) == 1:
            return self._filter_one(steps.item(), inputs)
        joined = np.concatenate((self._input[None], inputs))
        outputs = filter_block(self.cutoff, steps, joined, self._output)
        self._input, self._output = joined[-1], outputs[-1]
        return outputs

    def _filter_one(self, step: float, inputs: FloatArray) -> FloatArray:
        scaled = self.cutoff * step
        gain = scaled / (2.0 + scaled)
        outputs = inputs + self._input
        outputs *= gain
        outputs += (1.0 - 2.0 * gain) * self._output
        self._input, self._output = inputs[0].copy(), outputs[0]
        return outputs
