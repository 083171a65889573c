"""A few runs of the benchmark whose full tables are in docs/link_experiments.md."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from ddarm_links import estimated_links, paper_arm, run_ddarm
from ddarm_solutions import RIDGE, combine, format_solutions, make_rows, run_solutions, solve
from link_experiments import PREDICTED, coverage, run_many
from puma_links import CASES, run_puma

from inertid_ros.motions.motion import paper_ddarm_link_moves
from inertid_ros.sim.arm import links_of


@pytest.mark.long
def test_fourth_move_is_predicted_and_intervals_cover() -> None:
    runs = run_many(partial(run_ddarm, True), 6)
    assert max(run.filtered for run in runs) < PREDICTED
    assert max(run.modelled for run in runs) < 0.5 * PREDICTED
    assert min(run.cad for run in runs) > 20.0 * np.mean([run.filtered for run in runs])
    assert 0.88 < np.mean(coverage(runs)) <= 1.0


def test_three_solutions_of_exact_equations_predict_the_same_torques() -> None:
    """Ridge regression is biased by d over the smallest eigenvalue at most; the singular values give the shortest."""
    moves = paper_ddarm_link_moves()
    rows = np.concatenate([make_rows(*move.at(np.linspace(0.0, 1.3, 100))) for move in moves])
    true = np.concatenate([link.toDynamicParameters() for link in list(paper_arm().model.inertias)[1:]])
    ridge, reduced, shortest = solve(rows, rows @ true)
    np.testing.assert_allclose(rows @ reduced, rows @ true, atol=1e-8)
    np.testing.assert_allclose(rows @ shortest, rows @ true, atol=1e-8)
    np.testing.assert_allclose(shortest, np.linalg.pinv(rows, rcond=1e-9) @ rows @ true, atol=1e-8)
    np.testing.assert_allclose(combine(reduced), combine(true), atol=1e-8)
    anything = np.random.default_rng(0).normal(size=len(rows))  # exact equations may have a solution of exact zeros
    assert np.count_nonzero(solve(rows, anything)[1]) == 15
    least = np.linalg.eigvalsh(rows.T @ rows)[-15]
    assert np.linalg.norm(ridge - shortest) < RIDGE / least * np.linalg.norm(shortest)
    assert np.linalg.norm(shortest) < np.linalg.norm(reduced)


def test_combinations_are_those_of_table_5() -> None:
    """Of the CAD model, with its misprinted second row recomputed from table 3."""
    true = np.concatenate([link.toDynamicParameters() for link in list(paper_arm().model.inertias)[1:]])
    np.testing.assert_allclose(combine(true), [-1.3565, -0.2735, 0.8632, 12.8163, 0.4147, -3.0813], atol=1e-4)


def test_solutions_of_noisy_moves_agree_and_predict_the_fourth() -> None:
    run = run_solutions(0)
    assert run.rank == 15
    assert 2500.0 < run.least < 3500.0
    assert np.all(run.torques < 0.005)
    assert run.apart[0] < 0.2 * run.torques[0]
    assert run.apart[2] < 1e-9
    assert format_solutions([run], [0.01]).count("| 15 |") == 1


def test_simulated_arm_has_the_paper_s_parameters() -> None:
    """SP4 and SP6 of table 5, recomputed from table 4, and those of the CAD model in the URDF."""
    for links, expected in ((estimated_links(), (15.4029, -1.6863)), (links_of(paper_arm()), (12.8163, -3.0813))):
        sp4 = links[0, 9] + links[1, 4] + links[2, 4] + 0.45**2 * links[2, 0]
        np.testing.assert_allclose((sp4, links[2, 3] - links[1, 2]), expected, atol=1e-4)


@pytest.mark.long
def test_friction_does_not_reach_the_base_sensor_and_needs_columns_in_the_efforts() -> None:
    smooth, rough, _, effort, blind, both = (run_puma(case, 0, duration=10.0) for case in CASES)
    np.testing.assert_array_equal(rough, smooth)
    assert rough.links < 0.02
    assert effort.efforts < 0.03
    assert blind.efforts > 0.3
    assert blind.links > 3.0 * effort.links
    assert both.links < effort.links
    assert both.friction < 0.1
    assert min(run.covered for run in (smooth, effort, both)) > 0.85
