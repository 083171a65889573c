"""Accelerations that do not stand out of their noise are not believed.

Noise in the velocities looks like excitation: inertias multiply it, and an estimator that believes it learns, with
great confidence, that there is no inertia. So the noise is measured on the way (by second differences, to which a
smooth motion adds next to nothing), and accelerations that are no larger than it are replaced by zero.
"""

from __future__ import annotations

import math

import numpy as np

from inertid_ros.core.records import FloatArray

ROW = 23
"""A row: thirteen features, six wrench components, the sizes of the linear and angular acceleration that were left out
as noise, and the standard deviations of that noise."""

STAND_OUT = 4.0
"""Accelerations below so many standard deviations of their noise are taken for it, unless a method says otherwise."""


def suppress_noise(
    signals: FloatArray, density_gain: float, variance_gain: float = 0.0, stand_out: float = STAND_OUT
) -> FloatArray:
    """Replace accelerations that are no larger than their noise by zero, and remember how large they were.

    Args:
        signals: (25,) a + g (3), dw (3), w w^T (6), g (3), 1, wrench (6), squared second differences of v and w (2),
            step.
        density_gain: variance of a row's acceleration for velocity noise of density one [rad^2/s^2 Hz].
        variance_gain: the same for velocity noise of variance one [1/s^2], for rows that take it from single samples.
        stand_out: accelerations below so many standard deviations of their noise are taken for noise.

    Filtered squares can be below zero where the steps are longer than the filter is slow; they count as zero.

    Returns:
        The row (23,).
    """
    values = signals.tolist()
    amplitude = max(values[15], 1e-12)
    gain = density_gain * max(values[24], 0.0) / amplitude + variance_gain
    linear, angular, turning, gravity = values[:3], values[3:6], values[6:12], values[12:15]
    linear_variance, angular_variance = (
        max(values[22], 0.0) / (6.0 * amplitude),
        max(values[23], 0.0) / (6.0 * amplitude),
    )
    linear_noise, angular_noise = math.sqrt(linear_variance * gain), math.sqrt(angular_variance * gain)
    linear_left = angular_left = 0.0
    if (size := math.hypot(*linear)) <= stand_out * linear_noise:
        linear, linear_left = _NONE, size
    if (size := math.hypot(*angular)) <= stand_out * angular_noise:
        angular, angular_left = _NONE, size
    if turning[0] + turning[3] + turning[5] <= stand_out * angular_variance:
        turning = [0.0] * 6
    linear = [linear[0] - gravity[0], linear[1] - gravity[1], linear[2] - gravity[2]]
    left = [linear_left, angular_left, linear_noise, angular_noise]
    return np.array(linear + angular + turning + values[15:22] + left)


_NONE = [0.0, 0.0, 0.0]
