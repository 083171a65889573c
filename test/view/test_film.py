"""A recording that is looked at: what is shown at a moment is what was recorded and known then."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.bags import puma_messages, write_bag
from support.chain import BAR, puma_motion, simulate_puma
from support.link_bags import BY_EFFORT, ddarm_messages, simulate_ddarm

from inertid_ros.bags.bag import Bag
from inertid_ros.replay.inputs import Plan
from inertid_ros.replay.replay import Replay
from inertid_ros.replay.trace import Traces
from inertid_ros.view.film import Film, Screening

SECONDS = 6.0


def screen(bag: Path, plan: Plan) -> tuple[Screening, Traces]:
    with Bag(bag) as opened:
        replay = Replay(plan, opened)
        film = Film.watch(replay)
        replay.run(opened, lambda _: None)
    traces = replay.finish()
    return film.develop(traces.either), traces


@pytest.fixture(scope="module")
def screened(tmp_path_factory: pytest.TempPathFactory) -> tuple[Screening, Traces]:
    bag = write_bag(tmp_path_factory.mktemp("film") / "bag", puma_messages(SECONDS))
    return screen(bag, Plan(moments=1000))


def test_joints_and_wrenches_are_those_of_the_recording(screened: tuple[Screening, Traces]) -> None:
    screening, traces = screened
    simulator = simulate_puma(puma_motion(rounds=4))
    joints, wrenches = simulator.joints(0.0, SECONDS), simulator.wrenches(0.0, SECONDS)
    first = traces.either.origin.first_stamp
    for time in (1.0, 3.3, 5.5):
        instant = screening.look(time)
        assert instant.signals is not None
        (place,) = np.flatnonzero((wrenches.wrenches == instant.signals.measured).all(axis=1))
        shown = wrenches.stamps[place]
        assert 0.0 <= time - (shown - first) * 1e-9 < 0.04
        nearest = np.abs(joints.stamps - shown).argmin()
        positions = [instant.joints[name] for name in joints.names]
        np.testing.assert_allclose(positions, joints.positions[nearest], atol=0.02)
        np.testing.assert_array_equal(instant.wrenches["residual"], instant.signals.residual)


def test_what_is_known_is_that_of_the_moment(screened: tuple[Screening, Traces]) -> None:
    screening, traces = screened
    assert traces.load is not None
    last = screening.look(screening.duration)
    assert last.body is not None
    assert last.frame == "ft_sensor"
    assert last.body.mass == pytest.approx(BAR[0], abs=0.05)
    assert set(last.ellipsoids) == {"com", "com_bound", "inertia", "inertia_lower", "inertia_upper"}
    assert last.verdicts["load"].headline == traces.load.verdict.headline
    assert last.parameters is not None
    np.testing.assert_allclose(last.parameters.values, traces.load.estimate.values, atol=0.01)
    first = screening.look(0.0)
    assert not first.ellipsoids
    times, low, high, values = screening.tracks.draw_parameter(0, 10, SECONDS)
    assert len(times) > 30
    assert np.all((low <= values) & (values <= high))
    assert screening.tracks.draw_parameter(0, 10, 3.0)[0].max() <= 3.0


def test_an_arm_is_shown_by_its_efforts_and_base_parameters(tmp_path: Path) -> None:
    bag = write_bag(tmp_path / "bag", ddarm_messages(simulate_ddarm(), 4.0))
    screening, traces = screen(bag, Plan(settings=BY_EFFORT))
    assert traces.links is not None
    last = screening.look(screening.duration)
    assert last.parameters is not None
    assert last.parameters.names == traces.links.estimate.base.texts
    assert last.signals is not None
    assert last.signals.channels == traces.links.channels
    assert not last.ellipsoids
    assert not last.wrenches
    assert set(last.verdicts) == {"links"}
