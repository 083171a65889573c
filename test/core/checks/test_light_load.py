"""What is carried is too light to show the sign of the wrench: that is said, and neither sign is called known."""

from __future__ import annotations

import numpy as np
import pytest
from imperfect import SENSOR, Arm, Motion, record
from load_coverage import MILD

from inertid_ros.core.chain import Chain, Target
from inertid_ros.core.checks.wrench_convention import find_sign_doubt
from inertid_ros.core.estimation.estimate import LoadEstimate, Sign
from inertid_ros.core.estimation.states import ParameterState
from inertid_ros.core.records import FloatArray, JointBlock, WrenchBlock
from inertid_ros.core.rigid_body.inertial import compose
from inertid_ros.core.robot.robot import Robot
from inertid_ros.core.settings.settings import LoadSettings, Settings
from inertid_ros.core.verdict import judge

COVARIANCE = np.diag(np.square([1e-3] + [1e-4] * 3 + [2e-5] * 6))


def _make_load(mass: float) -> FloatArray:
    return compose(mass, np.array([0.01, -0.02, 0.05]), 4e-4 * mass * np.eye(3))


@pytest.mark.parametrize("sign", [-1.0, 1.0])
@pytest.mark.parametrize("mass", [0.02, 0.035])
def test_a_light_load_is_a_warning_with_either_sign(mass: float, sign: float) -> None:
    rng, arm = np.random.default_rng(7), Arm("UR10")
    data = record(arm, Motion(6, rng, 1.0), _make_load(mass), MILD, rng, 16.0, 125.0)
    chain = Chain(Robot.from_urdf(arm.urdf()), Settings(load=LoadSettings(sensor_frame=SENSOR)), Target.LOAD)
    chain.push(JointBlock(arm.joints, data.joint_stamps, data.positions, data.velocities))
    chain.push(WrenchBlock(SENSOR, data.wrench_stamps, sign * data.wrenches))
    chain.process()
    estimate = chain.estimate()
    assert isinstance(estimate, LoadEstimate)
    assert estimate.sensor is not None
    assert estimate.sensor.sign is None
    assert np.abs(estimate.values[0] - sign * mass) < 0.006
    assert ParameterState.KNOWN not in estimate.states[:1]
    assert np.abs((estimate.values - data.phi) / estimate.deviations)[:4].max() < 3.0, "the right sign is within"
    verdict = judge(estimate)
    assert verdict.level == "warning"
    assert "sign_unknown" in [reason.code for reason in verdict.reasons]


def test_the_other_sign_is_as_likely() -> None:
    """Against draws: half of all loads are the other one."""
    phi, rng = _make_load(0.03), np.random.default_rng(1)
    doubt, findings = find_sign_doubt(phi, COVARIANCE, None)
    errors = (rng.choice([-1.0, 1.0], 200_000)[:, None] - 1.0) * phi
    np.testing.assert_allclose(doubt, errors.T @ errors / len(errors), rtol=0.02)
    assert [finding.code for finding in findings] == ["sign_unknown"]


@pytest.mark.parametrize(("mass", "deviation"), [(0.002, 1e-3), (0.02, 0.03)], ids=["nothing", "not known anyway"])
def test_nothing_is_said_of_the_sign_where_it_makes_no_difference(mass: float, deviation: float) -> None:
    covariance = COVARIANCE.copy()
    covariance[0, 0] = deviation**2
    assert find_sign_doubt(_make_load(mass), covariance, None)[1] == []


def test_a_sign_that_is_known_is_not_doubted() -> None:
    doubt, findings = find_sign_doubt(_make_load(0.03), COVARIANCE, Sign.ON_LOAD)
    assert not doubt.any()
    assert findings == []
