"""Efforts that are missing, saturated, late, or of several publishers: named, and without effect on what is learned."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from support.chain import DDARM, drive, load_of, make_chain, process, puma_motion, simulate_puma
from support.link_chain import (
    FRICTION,
    LINKS,
    NOISY,
    assert_found,
    estimate_of,
    fit_of,
    make_link_chain,
    make_motion,
    pick,
    simulate_links,
    true_values,
)

from inertid_ros.core.estimation.estimate import LinksEstimate
from inertid_ros.core.records import FloatArray, IntArray, JointBlock, Output
from inertid_ros.sim.simulator import Simulator

Spoil = Callable[[JointBlock], JointBlock]
SOURCES = ("effort", "both")


def efforts_of(block: JointBlock) -> FloatArray:
    assert block.efforts is not None
    return block.efforts.copy()


def _short_efforts(block: JointBlock) -> JointBlock:
    return block._replace(efforts=efforts_of(block)[:, :2])


def _no_efforts(block: JointBlock) -> JointBlock:
    return block._replace(efforts=None)


def _empty_efforts(block: JointBlock) -> JointBlock:
    return block._replace(efforts=np.empty((len(block.stamps), 0)))


def _nan_efforts(block: JointBlock) -> JointBlock:
    efforts = efforts_of(block)
    efforts[30:60, 1] = np.nan
    efforts[80, 0] = np.inf
    return block._replace(efforts=efforts)


def _saturated_efforts(block: JointBlock) -> JointBlock:
    efforts = efforts_of(block)
    efforts[30:60, 1] = -230.0
    efforts[80:90, 0] = 660.0
    return block._replace(efforts=efforts)


def _other_names(block: JointBlock) -> JointBlock:
    return block._replace(names=("wheel_left", "wheel_right", "mast"))


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize(
    ("spoil", "code"),
    [
        (_short_efforts, "wrong_effort_length"),
        (_no_efforts, None),
        (_empty_efforts, "wrong_effort_length"),
        (_nan_efforts, "effort_missing"),
        (_saturated_efforts, "effort_saturated"),
    ],
)
def test_spoiled_second_is_named_and_survived(spoil: Spoil, code: str | None, source: str) -> None:
    simulator = simulate_links(make_motion(), 3)
    chain = make_link_chain(source=source)
    drive(chain, simulator, 0.0, 4.0)
    chain.push(spoil(simulator.joints(4.0, 5.0)))
    chain.push(simulator.base_wrenches(4.0, 5.0))
    output = chain.process()
    if output is not None:
        _assert_finite(output)
    _assert_finite(drive(chain, simulator, 5.0, 12.0))
    assert_found(estimate_of(chain))
    if code is not None:
        item = next(one for one in chain.health if one.code == code)
        assert item.count > 0
        assert item.message
        assert item.remedy


def _assert_finite(output: Output) -> None:
    for part in (output.measured, output.predicted, output.rows.measured, output.rows.predicted):
        assert np.all(np.isfinite(part))


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("spoil", ["missing", "saturated"])
def test_joint_without_effort_costs_only_its_own_rows(spoil: str, source: str) -> None:
    """NaN, or stuck at its limit, all the time: the others converge."""
    simulator = simulate_links(make_motion(), 4)
    chain = make_link_chain(source=source)
    for start in np.arange(0.0, 12.0, 0.5).tolist():
        block = simulator.joints(start, start + 0.5)
        efforts = efforts_of(block)
        efforts[:, 1] = np.nan if spoil == "missing" else 230.0
        chain.push(block._replace(efforts=efforts))
        chain.push(simulator.base_wrenches(start, start + 0.5))
        output = chain.process()
        assert output is not None
        assert not output.usable[:, -2].any()
    estimate = estimate_of(chain)
    assert fit_of(chain).rows[-2] == 0
    assert fit_of(chain).rows[-1] > 500
    _assert_within_uncertainty(estimate)
    states = _states_of(estimate)
    assert states["joint2.viscous"] == states["joint2.offset"] == "not excited yet"
    known = {name for name, state in states.items() if state == "known"}
    assert {"link1.Izz", "joint1.viscous", "joint1.coulomb", "joint3.viscous", "joint3.coulomb"} <= known
    (item,) = [one for one in chain.health if one.code == f"effort_{spoil}"]
    assert item.detail == "joint2"


def _states_of(estimate: LinksEstimate) -> dict[str, str]:
    names = (estimate.base.names[column] for column in estimate.base.columns)
    return dict(zip(names, estimate.states, strict=True))


def _assert_within_uncertainty(estimate: LinksEstimate) -> None:
    errors = (estimate.values - true_values(estimate)) / estimate.deviations
    assert np.all(np.abs(errors) < 4.0)


@pytest.mark.parametrize("begins", [0.0, 4.0], ids=["always", "later"])
@pytest.mark.parametrize(("code", "stuck"), [("effort_stuck", [1]), ("effort_dead", [0, 1, 2])])
def test_stuck_effort_is_named_within_a_second_and_not_learnt(code: str, stuck: list[int], begins: float) -> None:
    """Frozen at a reading, or all zero; then right again."""
    simulator = simulate_links(make_motion(), 8)
    chain = make_link_chain()
    rows: IntArray = np.zeros(3, dtype=np.int64)
    if begins > 0.0:
        drive(chain, simulator, 0.0, begins)
        rows = fit_of(chain).rows
    first = simulator.joints(begins, begins + 0.1)
    for start in np.arange(begins, begins + 3.0, 0.1).tolist():
        block = simulator.joints(start, start + 0.1)
        efforts = efforts_of(block)
        efforts[:, stuck] = 0.0 if code == "effort_dead" else efforts_of(first)[0, stuck]
        chain.push(block._replace(efforts=efforts))
        chain.process()
    (item,) = [one for one in chain.health if one.source == "effort"]
    assert item.code == code
    assert item.first_stamp - first.stamps.item(0) < 1_000_000_000
    assert item.detail == ("joint2" if code == "effort_stuck" else "")
    learnt = fit_of(chain).rows - rows
    assert np.all(learnt[stuck] <= 8)
    drive(chain, simulator, begins + 3.0, begins + 14.0)
    assert_found(estimate_of(chain))
    assert [one.count for one in chain.health if one.source == "effort"] == [item.count], "over when it is over"


def test_efforts_that_are_renewed_slowly_or_coarse_are_not_stuck() -> None:
    """At 10 Hz, and in steps of 2 Nm."""
    simulator, slow, coarse = simulate_links(make_motion(), 9), make_link_chain(), make_link_chain()
    for start in np.arange(0.0, 8.0, 0.1).tolist():
        block = simulator.joints(start, start + 0.1)
        efforts = efforts_of(block)
        slow.push(block._replace(efforts=np.repeat(efforts[:1], len(efforts), axis=0)))
        coarse.push(block._replace(efforts=2.0 * np.round(efforts / 2.0)))
        for chain in (slow, coarse):
            chain.process()
    assert slow.health == coarse.health == ()


def test_peaks_that_are_cut_off_spoil_nothing() -> None:
    """The motors reach their limit: what is read there is not what the links need.

    Where the URDF has other limits, efforts repeat themselves there, which is not learnt from either.
    """
    limits = DDARM.replace('effort="660"', 'effort="60"').replace('effort="230"', 'effort="25"')
    assert limits != DDARM
    motion = make_motion()
    sensors = replace(NOISY, effort_limit=(60.0, 25.0, 25.0))
    simulator = Simulator(DDARM, "ft_sensor", motion, sensors, seed=5, friction=FRICTION, links=LINKS)
    aware, unaware = make_link_chain(limits), make_link_chain()
    for chain in (aware, unaware):
        drive(chain, simulator, 0.0, 19.0)
    assert "effort_saturated" in {item.code for item in aware.health}
    assert 0.05 < 1.0 - fit_of(aware).rows[0] / fit_of(unaware).rows[0] < 0.95
    for chain in (aware, unaware):
        _assert_within_uncertainty(estimate_of(chain))


@pytest.mark.parametrize("source", SOURCES)
def test_partial_joint_states_from_several_publishers_are_merged(source: str) -> None:
    simulator = simulate_links(make_motion(), 6)
    chain = make_link_chain(source=source, joints=list(simulator.joint_names))
    for start in np.arange(0.0, 12.0, 0.25).tolist():
        block = simulator.joints(start, start + 0.25)
        chain.push(pick(block, [0, 1]))
        chain.push(pick(block, [2]))
        chain.push(simulator.base_wrenches(start, start + 0.25))
        chain.process()
    assert_found(estimate_of(chain))


def test_other_publishers_without_effort_do_not_matter() -> None:
    """A gripper's own joint_states, and one that repeats the arm's positions without effort."""
    simulator = simulate_links(make_motion(), 7)
    chain = make_link_chain()
    for start in np.arange(0.0, 12.0, 0.25).tolist():
        block = simulator.joints(start, start + 0.25)
        gripper = pick(block, [0])._replace(names=("finger",), efforts=None)
        chain.push(gripper)
        chain.push(block)
        chain.process()
    assert_found(estimate_of(chain))


def test_efforts_that_never_come_are_called_an_error() -> None:
    simulator = simulate_links(make_motion())
    chain = make_link_chain()
    for start in (0.0, 0.5):
        chain.push(simulator.joints(start, start + 0.5)._replace(efforts=None))
        assert chain.process() is None
    assert chain.estimate() is None
    (item,) = chain.health
    assert (item.source, item.code, item.level) == ("effort", "no_effort", "error")


def test_names_that_are_not_in_the_urdf_are_listed() -> None:
    chain = make_link_chain()
    chain.push(_other_names(simulate_links(make_motion()).joints(0.0, 0.5)))
    (item,) = chain.health
    assert item.code == "missing_joints"
    assert "wheel_left" in item.detail
    assert "joint1" in item.detail


def test_base_wrench_in_another_frame_is_left_out_and_in_an_unknown_one_taken() -> None:
    simulator = simulate_links(make_motion())
    for frame, code, count in (("link2", "base_frame_mismatch", 0), ("platform", "base_frame_unknown", 190)):
        chain = make_link_chain(source="base_wrench")
        chain.push(simulator.joints(0.0, 1.0))
        chain.push(simulator.base_wrenches(0.0, 1.0)._replace(frame=frame))
        output = chain.process()
        assert (0 if output is None else len(output.stamps)) >= count
        assert (output is None) == (count == 0)
        assert [item.code for item in chain.health] == [code]


@pytest.mark.parametrize("efforts", [np.full((1, 6), np.nan), np.full((1, 6), 1e300), np.zeros((1, 2))])
def test_efforts_whatever_they_are_do_not_touch_a_load_on_a_wrist_sensor(efforts: FloatArray) -> None:
    simulator = simulate_puma(puma_motion(rest=0.5), 3)
    joints, wrenches = simulator.joints(0.0, 2.0), simulator.wrenches(0.0, 2.0)
    plain, strained = make_chain(), make_chain()
    plain.push(joints)
    strained.push(joints._replace(efforts=np.repeat(efforts, len(joints.stamps), axis=0)))
    for chain in (plain, strained):
        chain.push(wrenches)
    np.testing.assert_array_equal(process(plain).residual, process(strained).residual)
    np.testing.assert_array_equal(load_of(plain).values, load_of(strained).values)
    assert plain.health == strained.health
