"""A few runs of the benchmark whose full tables are in docs/link_experiments.md."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from ddarm_links import estimated_links, paper_arm, run_ddarm
from link_experiments import PREDICTED, coverage, run_many
from puma_links import CASES, run_puma

from inertid_ros.sim.arm import links_of

pytestmark = pytest.mark.long


def test_fourth_move_is_predicted_and_intervals_cover() -> None:
    runs = run_many(partial(run_ddarm, True), 6)
    assert max(run.filtered for run in runs) < PREDICTED
    assert max(run.modelled for run in runs) < 0.5 * PREDICTED
    assert min(run.cad for run in runs) > 20.0 * np.mean([run.filtered for run in runs])
    assert 0.88 < np.mean(coverage(runs)) <= 1.0


def test_simulated_arm_has_the_paper_s_parameters() -> None:
    """SP4 and SP6 of table 5, recomputed from table 4, and those of the CAD model in the URDF."""
    for links, expected in ((estimated_links(), (15.4029, -1.6863)), (links_of(paper_arm()), (12.8163, -3.0813))):
        sp4 = links[0, 9] + links[1, 4] + links[2, 4] + 0.45**2 * links[2, 0]
        np.testing.assert_allclose((sp4, links[2, 3] - links[1, 2]), expected, atol=1e-4)


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
