"""The benchmark of the coverage of links: its recordings are imperfect as told, and its limits are checked."""

from __future__ import annotations

import numpy as np
import pytest
from imperfect import Motion
from imperfect_efforts import DrivenArm, EffortImperfections, record
from links_coverage import CONDITIONS, Outcome, Run, check, list_truth, run_once

from inertid_ros.core.chain import Chain, Target
from inertid_ros.core.estimation.estimate import LinksEstimate
from inertid_ros.core.estimation.states import ParameterState
from inertid_ros.core.robot.robot import Robot
from inertid_ros.core.settings.choices import EffortUnit
from inertid_ros.core.settings.settings import LinksSettings, Settings


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


@pytest.mark.parametrize("seed", [2, 6, 10])
def test_what_is_known_holds_where_a_driver_rounds_efforts_to_half_a_newton_metre(seed: int) -> None:
    has, rng = EffortImperfections(step=0.5), np.random.default_rng([seed, 77])
    arm = DrivenArm("PUMA", rng)
    block = record(arm, Motion(len(arm.joints), rng, 1.0), has, rng, 20.0, 125.0)
    settings = Settings(links=LinksSettings(effort_unit=EffortUnit.NEWTON_METRE))
    chain = Chain(Robot.from_urdf(arm.urdf()), settings, Target.LINKS)
    chain.push(block)
    chain.process()
    estimate = chain.estimate()
    assert isinstance(estimate, LinksEstimate)
    truth = estimate.base.combination @ list_truth(arm, has, estimate)
    known = np.array([state is ParameterState.KNOWN for state in estimate.states])
    assert known.sum() > 20
    assert (np.abs(estimate.values - truth) < 3.0 * estimate.deviations)[known].all()
