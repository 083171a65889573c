"""Real arms through the chain: fitted in one causal pass, then frozen and tested on what was not used."""

from __future__ import annotations

import pytest
from real_arms import ARMS, RealArm, run_arm
from support.recordings import recording


@pytest.mark.parametrize("arm", ARMS, ids=lambda arm: str(arm.title))
def test_efforts_never_seen_are_predicted(arm: RealArm) -> None:
    for name in (*arm.fitted, arm.tested):
        recording(name)
    pytest.importorskip("rosbags.highlevel")
    outcome = run_arm(arm)
    assert outcome.filtered <= arm.limit
    assert outcome.filtered < 0.25 * outcome.urdf
    assert outcome.sampled < 0.5 * outcome.urdf
