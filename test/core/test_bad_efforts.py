"""Bad samples at the door of the link chain: counted, named, survived, and without effect on what is learned."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from support.chain import DDARM
from support.link_chain import (
    FRICTION,
    LINKS,
    NOISY,
    assert_found,
    cut,
    drive_links,
    estimate_of,
    make_link_chain,
    make_motion,
    pick,
    simulate_links,
    true_values,
)

from inertid_ros.core.estimation.estimate import LinksEstimate
from inertid_ros.core.chain import Chain, Target
from inertid_ros.core.records import FloatArray, JointBlock
from inertid_ros.sim.simulator import Simulator

Spoil = Callable[[JointBlock], JointBlock]
SECOND = 1_000_000_000
SOURCES = ("effort", "both")


def efforts_of(block: JointBlock) -> FloatArray:
    assert block.efforts is not None
    return block.efforts.copy()


def _nan_position(block: JointBlock) -> JointBlock:
    positions = block.positions.copy()
    positions[10:20, 2] = np.nan
    positions[40, 0] = -np.inf
    return block._replace(positions=positions)


def _short_positions(block: JointBlock) -> JointBlock:
    return block._replace(positions=block.positions[:, :2])


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


def _nothing(block: JointBlock) -> JointBlock:
    return cut(block, slice(0, 0))


def _no_names(block: JointBlock) -> JointBlock:
    none = np.empty((len(block.stamps), 0))
    return JointBlock((), block.stamps, none, none, none)


def _other_names(block: JointBlock) -> JointBlock:
    return block._replace(names=("wheel_left", "wheel_right", "mast"))


def _zero_stamps(block: JointBlock) -> JointBlock:
    return block._replace(stamps=0 * block.stamps)


def _frozen_stamps(block: JointBlock) -> JointBlock:
    return block._replace(stamps=np.full_like(block.stamps, block.stamps[0]))


def _backward_stamps(block: JointBlock) -> JointBlock:
    order = np.arange(len(block.stamps))
    order[20], order[21] = 21, 20
    names, stamps, positions, velocities, efforts = block
    assert velocities is not None
    assert efforts is not None
    return JointBlock(names, stamps[order], positions[order], velocities[order], efforts[order])


def _future_stamp(block: JointBlock) -> JointBlock:
    stamps = block.stamps.copy()
    stamps[25] += 3600 * SECOND
    return block._replace(stamps=stamps)


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize(
    ("spoil", "code"),
    [
        (_nan_position, "not_finite"),
        (_short_positions, "wrong_length"),
        (_short_efforts, "wrong_effort_length"),
        (_no_efforts, None),
        (_empty_efforts, "wrong_effort_length"),
        (_nan_efforts, "effort_missing"),
        (_saturated_efforts, "effort_saturated"),
        (_nothing, None),
        (_no_names, None),
        (_other_names, None),
        (_zero_stamps, "zero_stamp"),
        (_frozen_stamps, "duplicate_stamp"),
        (_backward_stamps, "backward_stamp"),
        (_future_stamp, "jumping_stamp"),
    ],
)
def test_spoiled_second_is_named_and_survived(spoil: Spoil, code: str | None, source: str) -> None:
    simulator = simulate_links(make_motion(), 3)
    chain = make_link_chain(source=source)
    drive_links(chain, simulator, 0.0, 4.0)
    chain.push(spoil(simulator.joints(4.0, 5.0)))
    chain.push(simulator.base_wrenches(4.0, 5.0))
    output = chain.process()
    if output is not None:
        _assert_finite(output)
    _assert_finite(drive_links(chain, simulator, 5.0, 12.0))
    assert_found(estimate_of(chain))
    if code is not None:
        item = next(one for one in chain.health if one.code == code)
        assert item.count > 0
        assert item.message
        assert item.remedy


def _assert_finite(output: Output) -> None:
    for part in output:
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
    assert estimate.rows[-2] == 0
    assert estimate.rows[-1] > 500
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
    errors = (estimate.values - true_values(estimate)) / np.sqrt(np.diag(estimate.covariance))
    assert np.all(np.abs(errors) < 4.0)


def test_peaks_that_are_cut_off_spoil_nothing() -> None:
    """The motors reach their limit: what is read there is not what the links need."""
    limits = DDARM.replace('effort="660"', 'effort="60"').replace('effort="230"', 'effort="25"')
    assert limits != DDARM
    motion = make_motion()
    sensors = replace(NOISY, effort_limit=(60.0, 25.0, 25.0))
    simulator = Simulator(DDARM, "ft_sensor", motion, sensors, seed=5, friction=FRICTION, links=LINKS)
    aware, unaware = make_link_chain(limits), make_link_chain()
    for chain in (aware, unaware):
        drive_links(chain, simulator, 0.0, 19.0)
    assert "effort_saturated" in {item.code for item in aware.health}
    assert 0.05 < 1.0 - estimate_of(aware).rows[0] / estimate_of(unaware).rows[0] < 0.95
    _assert_within_uncertainty(estimate_of(aware))
    with pytest.raises(AssertionError):
        _assert_within_uncertainty(estimate_of(unaware))


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


@pytest.mark.parametrize("source", ["effort", "base_wrench", "both"])
def test_bag_loop_restarts_time_and_keeps_the_estimate(source: str) -> None:
    """The same stamps three times over, with other noise each time: the same noise would count as new knowledge."""
    chain = make_link_chain(source=source)
    rows = []
    for seed in (8, 9, 10):
        drive_links(chain, simulate_links(make_motion(), seed), 2.0, 7.0, chunk=0.1)
        rows.append(estimate_of(chain).rows.copy())
    assert "time_reset" in {item.code for item in chain.health}
    np.testing.assert_allclose(rows[2] - rows[1], rows[0], rtol=0.1)
    _assert_within_uncertainty(estimate_of(chain))


@pytest.mark.parametrize("gap", [0.2, 3.0])
@pytest.mark.parametrize("source", SOURCES)
def test_gap_costs_nothing_but_the_gap(source: str, gap: float) -> None:
    simulator = simulate_links(make_motion(), 9)
    chain = make_link_chain(source=source)
    drive_links(chain, simulator, 0.0, 5.0)
    drive_links(chain, simulator, 5.0 + gap, 13.0)
    assert "gap" in {item.code for item in chain.health}
    assert_found(estimate_of(chain))


def test_joint_order_may_change_at_any_message() -> None:
    simulator = simulate_links(make_motion(), 10)
    straight, turned = make_link_chain(), make_link_chain()
    for index, start in enumerate(np.arange(0.0, 5.0, 0.25).tolist()):
        block = simulator.joints(start, start + 0.25)
        straight.push(block)
        turned.push(pick(block, [2, 0, 1]) if index % 2 else block)
        for chain in (straight, turned):
            chain.process()
    np.testing.assert_allclose(estimate_of(turned).values, estimate_of(straight).values, atol=1e-9)
    assert turned.health == straight.health == ()


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
        chain: Chain = make_link_chain(source="base_wrench")
        chain.push(simulator.joints(0.0, 1.0))
        chain.push(simulator.base_wrenches(0.0, 1.0)._replace(frame=frame))
        output = chain.process()
        assert (0 if output is None else len(output.stamps)) >= count
        assert (output is None) == (count == 0)
        assert [item.code for item in chain.health] == [code]
