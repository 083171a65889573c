"""Real arms and wrist sensors through the chain."""

from __future__ import annotations

import numpy as np
import pytest
from real_arms import ARMS, RealArm, run_arm
from support.chain import load_of, sensor_of
from support.recordings import read_load_recording, recording

from inertid_ros.core.chain import Chain, Target
from inertid_ros.core.records import Event
from inertid_ros.core.robot.robot import Robot
from inertid_ros.core.settings.settings import LoadSettings, Settings

LOCAL_GRAVITY = 9.82085


def identify(name: str, events: list[Event] | None = None) -> Chain:
    urdf, joints, wrenches = read_load_recording(name)
    settings = Settings(gravity=[0.0, 0.0, -LOCAL_GRAVITY], load=LoadSettings(sensor_frame="ft_sensor"))
    chain = Chain(Robot.from_urdf(urdf), settings, Target.LOAD)
    chain.push(joints)
    chain.push(wrenches)
    output = chain.process()
    if events is not None and output is not None:
        events += output.events
    return chain


def test_static_poses() -> None:
    events: list[Event] = []
    chain = identify("wrist_ft_static_poses", events)
    assert not events, "what is wrong in a pose is no change"
    estimate, sensor = load_of(chain), sensor_of(chain)
    assert sensor.sign == "on_sensor"
    assert estimate.values[0] == pytest.approx(0.932, abs=0.005)
    np.testing.assert_allclose(estimate.values[1:4] / estimate.values[0], [0.0, 0.0, 0.044], atol=1e-3)
    np.testing.assert_allclose(sensor.bias[:3], [9.1, -1.0, 10.0], atol=0.2)
    np.testing.assert_allclose(sensor.bias[3:], [0.43, -0.69, -0.16], atol=0.02)
    assert estimate.states[:4] == ("known",) * 4
    assert set(estimate.states[4:]) == {"not excited yet"}


def test_free_motion_weighs_the_same_tool() -> None:
    chain = identify("wrist_ft_free_motion")
    assert sensor_of(chain).sign == "on_sensor"
    assert load_of(chain).values[0] == pytest.approx(0.932, rel=0.02)


@pytest.mark.parametrize("arm", ARMS, ids=lambda arm: str(arm.title))
def test_efforts_never_seen_are_predicted(arm: RealArm) -> None:
    """Fitted in one causal pass, then frozen and tested on what was not used."""
    for name in (*arm.fitted, arm.tested):
        recording(name)
    pytest.importorskip("rosbags.highlevel")
    outcome = run_arm(arm)
    assert outcome.filtered <= arm.limit
    assert outcome.filtered < 0.25 * outcome.urdf
    assert outcome.sampled < 0.5 * outcome.urdf
