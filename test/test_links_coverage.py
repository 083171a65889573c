"""The benchmark of the coverage of links: its recordings are imperfect as told, and its limits are checked."""

from __future__ import annotations

import numpy as np
from links_coverage import CONDITIONS, Outcome, Run, check, run_once


def test_intervals_hold_the_truth_of_one_recording_with_all_that_is_wrong() -> None:
    for run in run_once("all", 2):
        assert len(run.names) == len(run.errors) == len(run.widths)
        assert np.sqrt(np.mean(run.errors**2)) < 2.0


def test_limits_are_those_of_the_mean_and_of_the_worst_kind() -> None:
    names = ("link.mcx",) * 50 + ("joint.offset",) * 10
    errors = np.zeros(60)
    assert check(Outcome([Run("arm", names, errors, errors)])) == ["mean coverage 100.0 %"]
    errors[57:] = 3.0
    assert check(Outcome([Run("arm", names, errors, errors)])) == ["offset 70.0 %"]
    assert set(CONDITIONS) >= {"ideal", "stribeck", "late", "gain", "heat", "all"}
