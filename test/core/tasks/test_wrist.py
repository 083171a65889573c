"""The task of a wrist sensor: its tool, its sign, what it says of its sensor, and what a reset leaves."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from support.chain import BAR, drive, load_of, make_chain, puma_motion, push_force, sensor_of, simulate_puma

from inertid_ros.core.chain import Chain
from inertid_ros.core.errors import NotIdentifiedError
from inertid_ros.core.estimation.estimate import Mode, Sign
from inertid_ros.core.estimation.states import ParameterState
from inertid_ros.core.records import EventKind, Output
from inertid_ros.core.rigid_body.inertial import ExpectedLoad, compose

GRIPPER = compose(0.9, np.array([0.01, -0.01, 0.06]), np.diag([0.003, 0.003, 0.001]))


class Run(NamedTuple):
    """A chain whose tool was captured at 8 s, and what came out from then on; the bar is attached at 9 s."""

    chain: Chain
    output: Output


@pytest.fixture(scope="module", params=["on_load", "on_sensor"])
def run(request: pytest.FixtureRequest) -> Run:
    chain = make_chain(wrench_sign="auto")
    simulator = simulate_puma(puma_motion(rounds=6), 5, [(9.0, BAR)], tool=GRIPPER, sign=request.param)
    with pytest.raises(NotIdentifiedError, match=r"not identified yet \(mass, mcx, mcy, mcz\): turn the sensor"):
        chain.capture_tool()
    assert load_of(chain).mode is Mode.WAITING
    assert chain.prepare_memory() is None
    drive(chain, simulator, 0.0, 8.0)
    carried = load_of(chain)
    tool = chain.capture_tool()
    assert chain.tool is tool
    np.testing.assert_array_equal(tool.phi, carried.values)
    np.testing.assert_array_equal(tool.covariance, carried.covariance)
    assert tool.sensor_frame == "ft_sensor"
    assert abs(load_of(chain).values[0]) < 1e-9
    chain.expect(ExpectedLoad("bar", float(BAR[0]), 0.01))
    return Run(chain, drive(chain, simulator, 8.0, 12.0))


def test_events_and_what_is_expected_are_of_the_load_without_its_tool(run: Run) -> None:
    (event,) = run.output.events
    assert event.kind is EventKind.LOAD_ATTACHED
    assert event.message.startswith("a load was attached: ")
    assert event.mass_before == pytest.approx(0.0, abs=0.02)
    assert event.mass_after == pytest.approx(BAR[0], abs=0.1)
    estimate = load_of(run.chain)
    assert estimate.values[0] == pytest.approx(BAR[0], abs=0.03)
    assert estimate.deviations[0] < 0.02, "which it would not be by now, did one not believe what is expected"
    assert "unexpected_load" not in [finding.code for finding in estimate.findings]


def test_what_is_said_of_the_sensor_is_what_was_measured(run: Run) -> None:
    sensor, estimate = sensor_of(run.chain), load_of(run.chain)
    assert sensor.noise_calibrated
    assert np.all((sensor.noise_density > 0.0) & (sensor.noise_density < 0.1))
    assert sensor.contact_share < 0.1
    assert estimate.mode is Mode.TRACKING
    assert estimate.fit is not None
    assert 100 < estimate.fit.rows.min() <= estimate.fit.rows.max() < 200, "of this load alone"
    assert np.all(estimate.fit.residual_rms[:3] < 0.1 * estimate.fit.measured_rms[:3].max())


def test_a_push_is_a_contact_whose_rows_are_counted() -> None:
    chain, simulator = make_chain(), simulate_puma(puma_motion(rounds=4), 6)
    drive(chain, simulator, 0.0, 7.0)
    assert sensor_of(chain).contact_share == 0.0
    rows = load_of(chain).rows
    for start in np.arange(7.0, 9.0, 0.1).tolist():
        chain.push(simulator.joints(start, start + 0.1))
        force = 25.0 * np.sin(9.0 * (start - 7.0)) + 10.0
        chain.push(push_force(simulator.wrenches(start, start + 0.1), np.array([force, -force, 0.0, 0.0, 1.0, 0.0])))
        chain.process()
    assert load_of(chain).mode is Mode.CONTACT
    share = sensor_of(chain).contact_share
    assert 0.1 < share < 2.0 / 9.0
    assert load_of(chain).rows - rows < 20
    with pytest.raises(NotIdentifiedError, match="inconsistent with what is known"):
        chain.capture_tool()
    drive(chain, simulator, 9.0, 11.0)
    assert load_of(chain).mode is Mode.TRACKING
    assert 0.1 < sensor_of(chain).contact_share < share
    np.testing.assert_allclose(load_of(chain).values[0], BAR[0], atol=0.03)


def test_a_reset_forgets_all_but_tool_and_noise() -> None:
    chain = make_chain(wrench_sign="auto")
    drive(chain, simulate_puma(puma_motion(rounds=2), 6), 0.0, 7.0)
    tool, noise = chain.capture_tool(), sensor_of(chain).noise_density
    chain.reset()
    sensor, estimate = sensor_of(chain), load_of(chain)
    assert chain.tool is tool
    np.testing.assert_array_equal(sensor.noise_density, noise)
    assert sensor.noise_calibrated
    assert sensor.sign is None
    assert sensor.contact_share == 0.0
    assert estimate.rows == 0
    assert estimate.mode is Mode.WAITING
    assert estimate.fit is not None
    assert not estimate.fit.rows.any()
    assert ParameterState.KNOWN not in estimate.states
    assert estimate.findings == ()
    assert chain.prepare_memory() is None


def test_a_frozen_chain_predicts_with_what_it_is_given() -> None:
    chain, simulator = make_chain(), simulate_puma(puma_motion(), 7)
    bias = np.array([3.0, -2.0, 1.0, 0.1, 0.2, -0.3])
    chain.freeze(np.concatenate((np.zeros(10), bias)))
    output = drive(chain, simulator, 0.0, 3.0)
    np.testing.assert_allclose(output.predicted[-50:], np.tile(bias, (50, 1)), atol=1e-9)
    assert load_of(chain).rows == 0
    assert load_of(chain).mode is Mode.PAUSED
    assert not output.events
    assert output.usable.shape == output.measured.shape
    assert output.usable.all()


def test_a_sign_that_is_configured_stays() -> None:
    chain = make_chain(wrench_sign="on_sensor")
    assert sensor_of(chain).sign is Sign.ON_SENSOR
    chain.reset()
    assert sensor_of(chain).sign is Sign.ON_SENSOR
