"""A load that is expected: its mass is believed once something is attached, unless the data contradict it."""

from __future__ import annotations

import numpy as np
import pytest
from support.chain import BAR, drive, load_of, make_chain, puma_motion, simulate_puma

from inertid_ros.core.chain import Chain
from inertid_ros.core.rigid_body.inertial import ExpectedLoad

ATTACHED = 7.0
EXPECTED = ExpectedLoad("bar", float(BAR[0]), 0.01 * float(BAR[0]))


def run(expected: ExpectedLoad | None, until: float, seed: int = 0) -> Chain:
    """Move with nothing, then with the bar; the node would be told before what comes."""
    chain = make_chain(gain_uncertainty=0.03)
    chain.expect(expected)
    simulator = simulate_puma(puma_motion(rounds=4), seed, [(ATTACHED, BAR)])
    drive(chain, simulator, 0.0, until)
    return chain


def test_what_is_expected_makes_the_estimate_converge_faster() -> None:
    """On a sensor that may be wrong by 3 %, which no motion shows, the mass is known to 1 % from the beginning."""
    for until in (ATTACHED + 1.0, ATTACHED + 6.0):
        plain, believing = (load_of(run(expected, until)) for expected in (None, EXPECTED))
        assert believing.findings == plain.findings
        assert believing.deviations[0] < 0.7 * plain.deviations[0]
        assert np.all(believing.deviations <= 1.01 * plain.deviations)
        assert abs(believing.values[0] - BAR[0]) < 3.0 * believing.deviations[0]


def test_nothing_is_believed_before_anything_is_attached() -> None:
    plain, believing = (load_of(run(expected, ATTACHED - 1.0)) for expected in (None, EXPECTED))
    np.testing.assert_array_equal(believing.values, plain.values)
    np.testing.assert_array_equal(believing.covariance, plain.covariance)


def test_a_contradiction_is_said_and_the_data_are_believed() -> None:
    other = ExpectedLoad("bar and clamp", float(BAR[0]) + 0.4, 0.02)
    estimate = load_of(run(other, ATTACHED + 4.0))
    (finding,) = [one for one in estimate.findings if one.code == "unexpected_load"]
    assert finding.level == "warning"
    assert "'bar and clamp' was expected, but what was attached is -4" in finding.message
    np.testing.assert_array_equal(estimate.values, load_of(run(None, ATTACHED + 4.0)).values)
    assert estimate.values[0] == pytest.approx(BAR[0], abs=0.1)
