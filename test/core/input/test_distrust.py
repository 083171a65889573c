"""Velocities that turn out wrong: what was learnt from them is taken back, however samples arrive."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from support.chain import BAR, load_of, make_chain

from inertid_ros.core.chain import Chain
from inertid_ros.core.diagnosis import Health
from inertid_ros.core.input.joint_stream import CHUNK, JointStream
from inertid_ros.core.records import Event
from inertid_ros.sim.scenario import ScenarioSettings, build_simulator

WRONG = (1.4, 3.4), (8.4, 10.4)
"""From when to when [s] velocities are wrong: while the load converges, and once it is known, in mid-move."""
RECOVERED = 12.4
"""When [s] the load must be known again."""
STEPS = 310
"""Pieces of 0.04 s until then."""


def _drive(factor: float, together: int = 1, origin: int = 0) -> tuple[Chain, list[Event]]:
    """A chain whose joint velocities are wrong by a factor now and then; so many pieces are processed at once."""
    simulator = build_simulator(ScenarioSettings(rest=1.0, tachometer=True, velocity_noise=0.002, pause=0.0))
    chain, events = make_chain(), list[Event]()
    edges = np.linspace(0.0, RECOVERED, STEPS + 1).tolist()
    for number, (start, stop) in enumerate(itertools.pairwise(edges)):
        joints = simulator.joints(start, stop)
        assert joints.velocities is not None
        if any(begin <= start + 1e-9 < end for begin, end in WRONG):
            joints = joints._replace(velocities=factor * joints.velocities)
        wrenches = simulator.wrenches(start, stop)
        chain.push(joints._replace(stamps=joints.stamps + origin))
        chain.push(wrenches._replace(stamps=wrenches.stamps + origin))
        if number % together == together - 1 and (output := chain.process()) is not None:
            events += output.events
    return chain, events


@pytest.mark.parametrize(("factor", "origin"), [(57.3, 0), (57.3, 10_000_000_000_000), (-1.0, 7_000_000)])
def test_what_was_learnt_from_wrong_velocities_is_taken_back(factor: float, origin: int) -> None:
    """Wherever rows fall between joint states."""
    chain, events = _drive(factor, origin=origin)
    assert "velocity_unusable" in {item.code for item in chain.health}
    assert not events, "neither a contact nor another load"
    load = load_of(chain)
    assert load.mode == "tracking"
    assert np.all(np.abs(load.values - BAR) < 3.0 * load.deviations)
    assert load.deviations[0] < 0.015


def test_taking_back_does_not_depend_on_how_samples_arrive() -> None:
    few, many = (load_of(_drive(57.3, together)[0]) for together in (1, 10))
    np.testing.assert_allclose(few.values, many.values, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(few.covariance, many.covariance, rtol=1e-9, atol=1e-15)


def test_who_can_go_back_is_told_once_since_when_velocities_were_wrong() -> None:
    told: list[tuple[int, int, int]] = []
    stream = JointStream((0,), (False,), np.full((2, 1), np.inf), 1, 0, Health(), lambda *stamps: told.append(stamps))
    step = 4_000_000
    stamps = step * np.arange(1, 12 * CHUNK + 1)
    times = 1e-9 * stamps
    factor = np.where(times < 1e-9 * stamps[5 * CHUNK + 30], 1.0, 3.0)
    stream.push_states(np.arange(1), stamps, np.sin(times)[:, None], (factor * np.cos(times))[:, None])
    ((since, found, between),) = told
    assert since < stamps[5 * CHUNK + 30] < found <= stamps[7 * CHUNK]
    assert between == step
