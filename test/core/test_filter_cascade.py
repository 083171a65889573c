"""Two filters at once against the same two one after the other."""

from __future__ import annotations

import numpy as np
import pytest

from inertid_ros.core.records import FloatArray
from inertid_ros.core.rows.filter_cascade import FilterCascade
from inertid_ros.core.rows.lowpass import LowPass

CUTOFFS = (30.0, 50.0)
CHANNELS = 5
UNFILTERED = 2


def _run(steps: FloatArray, signals: FloatArray, sizes: list[int], cutoffs: tuple[float, float]) -> FloatArray:
    cascade = FilterCascade(*cutoffs, CHANNELS, UNFILTERED)
    results = []
    start = 0
    for size in sizes:
        part = slice(start, start + size)
        cascade.room(size)[...] = signals[part]
        if start == 0:
            cascade.start(signals[0])
        results.append(cascade.filter(steps[part]).copy())
        start += size
    return np.concatenate(results).reshape(-1, 4, CHANNELS)


@pytest.mark.parametrize("cutoffs", [CUTOFFS, (40.0, 40.0)])
@pytest.mark.parametrize("sizes", [[60], [1] * 60, [1, 20, 1, 1, 37]])
def test_agrees_with_one_filter_after_the_other(sizes: list[int], cutoffs: tuple[float, float]) -> None:
    rng = np.random.default_rng(0)
    steps, signals = rng.uniform(1e-3, 2e-2, 60), rng.normal(size=(60, CHANNELS))
    steps[0] = 0.0
    first, second, direct = LowPass(cutoffs[0]), LowPass(cutoffs[1]), LowPass(cutoffs[1])
    began = np.where(np.arange(CHANNELS) < UNFILTERED, signals[0], 0.0)
    first.start(signals[0], began)
    second.start(began, began)
    direct.start(signals[0], began)
    once = first.filter(steps, signals)
    result = _run(steps, signals, sizes, cutoffs)
    np.testing.assert_array_equal(result[:, 0], signals)
    np.testing.assert_allclose(result[:, 1], once, atol=1e-13)
    np.testing.assert_allclose(result[:, 2], second.filter(steps, once), atol=1e-13)
    expected = direct.filter(steps, signals)[:, :UNFILTERED]
    np.testing.assert_allclose(result[:, 3, :UNFILTERED], expected, atol=1e-13)
