"""How a solution is judged, alone and as the sum of several recordings."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from support.chain import drive
from support.link_chain import assert_found, estimate_of, make_link_chain, make_motion, simulate_links

from inertid_ros.core.diagnosis import Finding
from inertid_ros.core.estimation.estimate import (
    LoadEstimate,
    Mode,
    Sign,
    Solution,
    combine_links,
    combine_loads,
    judge_links,
    judge_load,
)
from inertid_ros.core.records import FloatArray
from inertid_ros.core.rigid_body.inertial import Tool, compose, is_feasible

BODY = compose(2.0, np.array([0.02, -0.01, 0.08]), np.diag([0.01, 0.012, 0.006]))
DEVIATIONS = np.array([0.005, *[5e-4] * 3, *[2e-4] * 6])
WRONG_FRAME = Finding("error", "frame_turned", "the sensor frame is turned")
TARED = Finding("info", "tared", "the sensor was zeroed")


def draw_covariance(random: np.random.Generator, scale: float = 1.0) -> FloatArray:
    factor = random.normal(size=(10, 30)) / np.sqrt(30.0)
    return np.asarray(scale**2 * np.outer(DEVIATIONS, DEVIATIONS) * (factor @ factor.T))


def judge(
    values: FloatArray,
    covariance: FloatArray,
    findings: Sequence[Finding] = (),
    tool: Tool | None = None,
    rows: int = 7,
) -> LoadEstimate:
    return judge_load(Solution(5, Mode.TRACKING, values, covariance, rows, None), "wrist", findings, tool)


def test_what_was_solved_is_what_is_estimated() -> None:
    covariance = draw_covariance(np.random.default_rng(0))
    estimate = judge(BODY, covariance)
    np.testing.assert_array_equal(estimate.values, BODY)
    np.testing.assert_array_equal(estimate.covariance, covariance)
    np.testing.assert_allclose(estimate.deviations, np.sqrt(np.diag(covariance)))
    np.testing.assert_allclose(estimate.feasible, BODY, atol=1e-3)
    assert estimate.states == ("known",) * 10
    assert (estimate.stamp, estimate.mode, estimate.rows, estimate.frame) == (5, "tracking", 7, "wrist")
    assert estimate.is_finite
    assert not judge_load(Solution(0, Mode.TRACKING, BODY, covariance, 0, None), "wrist", ()).findings


@pytest.mark.parametrize(("finding", "is_known"), [(WRONG_FRAME, False), (TARED, True)])
def test_an_error_demotes_what_would_be_known(finding: Finding, is_known: bool) -> None:
    estimate = judge(BODY, draw_covariance(np.random.default_rng(0)), [finding])
    assert estimate.findings == (finding,)
    assert set(estimate.states) == {"known" if is_known else "uncertain"}


def test_a_tool_is_subtracted_before_anything_is_judged() -> None:
    random = np.random.default_rng(1)
    tool = Tool(0.4 * BODY, draw_covariance(random), "wrist")
    covariance = draw_covariance(random)
    estimate = judge(BODY, covariance, tool=tool)
    np.testing.assert_allclose(estimate.values, 0.6 * BODY)
    np.testing.assert_allclose(estimate.covariance, covariance + tool.covariance)
    assert estimate.tool is tool


def test_a_body_that_cannot_exist_is_a_finding_where_something_is_known() -> None:
    impossible = BODY.copy()
    impossible[[4, 7]] = 0.02, 0.6
    certain, vague = (draw_covariance(np.random.default_rng(2), scale) for scale in (1.0, 1e4))
    estimate = judge(impossible, certain)
    assert [finding.code for finding in estimate.findings] == ["impossible_body"]
    assert "known" not in estimate.states
    assert is_feasible(estimate.feasible)
    assert judge(impossible, vague).findings == ()
    assert judge(impossible, certain, [WRONG_FRAME]).findings == (WRONG_FRAME,)


def make_parts(random: np.random.Generator, count: int, tool: Tool | None = None) -> list[LoadEstimate]:
    """Recordings of one body, each known to another covariance."""
    parts = []
    for index in range(count):
        covariance = draw_covariance(random)
        values = BODY + np.linalg.cholesky(covariance) @ random.normal(size=10)
        parts.append(judge(values, covariance, tool=tool, rows=10 + index))
    return parts


def test_recordings_add_up_as_information_does() -> None:
    parts = make_parts(np.random.default_rng(3), 3)
    total = combine_loads(parts)
    information = sum(np.linalg.inv(part.covariance) for part in parts)
    vector = sum(np.linalg.solve(part.covariance, part.values) for part in parts)
    np.testing.assert_allclose(total.covariance, np.linalg.inv(information), rtol=1e-8)
    np.testing.assert_allclose(total.values, np.linalg.solve(information, vector), rtol=1e-8)
    assert total.rows == 33
    assert total.findings == ()
    assert combine_loads(parts[:1]) is parts[0]


def test_tool_of_several_recordings_is_subtracted_once() -> None:
    random = np.random.default_rng(4)
    tool = Tool(0.4 * BODY, draw_covariance(random), "wrist")
    with_tool = make_parts(np.random.default_rng(5), 2, tool)
    without = combine_loads(make_parts(np.random.default_rng(5), 2))
    total = combine_loads(with_tool)
    np.testing.assert_allclose(total.values, without.values - tool.phi, atol=1e-9)
    np.testing.assert_allclose(total.covariance, without.covariance + tool.covariance, rtol=1e-6, atol=1e-15)


def test_findings_of_all_recordings_belong_to_their_sum_and_demote_it() -> None:
    random = np.random.default_rng(6)
    first, second = make_parts(random, 2)
    marked = judge(first.values, first.covariance, [WRONG_FRAME, TARED])
    again = judge(second.values, second.covariance, [WRONG_FRAME])
    for parts in ([marked, second], [second, marked], [marked, again]):
        total = combine_loads(parts)
        assert sorted(finding.code for finding in total.findings) == ["frame_turned", "tared"]
        assert "known" not in total.states


def test_recordings_of_different_loads_contradict_each_other_and_others_hardly_ever() -> None:
    random = np.random.default_rng(7)
    first, second = make_parts(random, 2)
    other = judge(second.values + 12.0 * DEVIATIONS, second.covariance)
    (finding,) = [item for item in combine_loads([first, other]).findings if item.code == "recordings_contradict"]
    assert finding.level == "warning"
    alarms = [len(combine_loads(make_parts(random, 3)).findings) for _ in range(200)]
    assert sum(alarms) <= 2


def test_sum_of_links_is_widened_and_carries_all_findings() -> None:
    """As a single recording is: both covariances come from the same place."""
    chains = []
    for seed in (1, 2):
        chain = make_link_chain()
        drive(chain, simulate_links(make_motion(seed), seed), 0.0, 8.0)
        chains.append(chain)
    parts = [estimate_of(chain) for chain in chains]
    estimators = [chain.estimator for chain in chains]
    assert estimators[0] is not None
    assert estimators[1] is not None
    single = estimators[0].solve_jointly(estimators[0].solve())
    np.testing.assert_allclose(parts[0].covariance, single.covariance)
    estimators[0].add(estimators[1])
    plain = estimators[0].solve()
    solved = estimators[0].solve_jointly(plain)
    assert np.all(np.diag(plain.covariance()) > np.diag(plain.information.covariance()))
    solution = Solution(0, Mode.WAITING, solved.values, solved.covariance, int(plain.rows.max()), None)
    total = combine_links(parts, solution)
    assert_found(total)
    assert np.all(np.diag(solved.repeatability) < np.diag(parts[0].repeatability))
    assert np.median(total.deviations / parts[0].deviations) < 0.7  # what kinematics do depends on the motion
    assert (total.stamp, total.mode) == (parts[1].stamp, "tracking")
    marked = judge_links(
        Solution(3, Mode.TRACKING, parts[0].values, parts[0].covariance, 1, None), parts[0].model, [WRONG_FRAME]
    )
    assert "known" in total.states
    assert "known" not in marked.states
    summed = combine_links([marked, parts[1]], solution)
    assert summed.findings == (WRONG_FRAME,)
    assert "known" not in summed.states


def test_sign_is_what_turns_a_wrench() -> None:
    assert Sign("on_load").factor == 1.0
    assert Sign("on_sensor").factor == -1.0
