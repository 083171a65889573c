"""A few runs of the benchmark whose full table is in docs/paper_experiments.md."""

from __future__ import annotations

import numpy as np
import pytest
from paper_experiments import EXPERIMENTS, LIMITS, run_many

pytestmark = pytest.mark.long


@pytest.mark.parametrize(("arm", "load"), EXPERIMENTS)
def test_one_move_is_enough_and_intervals_cover(arm: str, load: str) -> None:
    outcome = run_many(arm, load, "filtered", runs=25)
    assert outcome.rms[0] < 1.5e-3
    assert outcome.com_rms.max() < 0.15e-3
    assert outcome.rms[4] < LIMITS[arm]
    assert 0.88 < float(np.mean(outcome.coverage)) <= 1.0
    assert outcome.lost == 0


def test_filtered_method_beats_the_paper_s_own() -> None:
    filtered = run_many("puma560", "bar", "filtered", runs=10)
    differentiated = run_many("puma560", "bar", "differentiated", runs=10)
    assert filtered.rms[4] < 0.2 * differentiated.rms[4]
