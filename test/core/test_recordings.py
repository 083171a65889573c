"""Real wrist sensors through the chain."""

from __future__ import annotations

import numpy as np
import pytest
from inertid_ros.core.load_chain import LoadChain, LoadEstimate
from support.recordings import read_load_recording

from inertid_ros.core.robot.robot import Robot
from inertid_ros.core.settings.settings import LoadSettings, Settings

LOCAL_GRAVITY = 9.82085


def _identify(name: str) -> LoadEstimate:
    urdf, joints, wrenches = read_load_recording(name)
    settings = Settings(gravity=[0.0, 0.0, -LOCAL_GRAVITY], load=LoadSettings(sensor_frame="ft_sensor"))
    chain = LoadChain(Robot.from_urdf(urdf), settings)
    chain.push_joints(joints)
    chain.push_wrenches(wrenches)
    chain.process()
    return chain.estimate()


def test_static_poses() -> None:
    estimate = _identify("wrist_ft_static_poses")
    assert estimate.sign == "on_sensor"
    assert estimate.parameters[0] == pytest.approx(0.932, abs=0.005)
    np.testing.assert_allclose(estimate.parameters[1:4] / estimate.parameters[0], [0.0, 0.0, 0.044], atol=1e-3)
    np.testing.assert_allclose(estimate.bias[:3], [9.1, -1.0, 10.0], atol=0.2)
    np.testing.assert_allclose(estimate.bias[3:], [0.43, -0.69, -0.16], atol=0.02)
    assert estimate.states[:4] == ("known",) * 4
    assert set(estimate.states[4:]) == {"not excited yet"}


def test_free_motion_weighs_the_same_tool() -> None:
    estimate = _identify("wrist_ft_free_motion")
    assert estimate.sign == "on_sensor"
    assert estimate.parameters[0] == pytest.approx(0.932, rel=0.02)
