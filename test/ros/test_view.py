"""The view beside a running estimator: what it hears, and what its buttons do."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from subprocess import PIPE

import numpy as np
import pytest
import rclpy
from support.bench import Bench
from support.processes import Process

from inertid_ros.cli.view_live import Viewer, ViewListener
from inertid_ros.view.page import GUIDE, PAUSE, RESUME, Page
from inertid_ros.view.server import serve

PORT = 18_232


@pytest.fixture
def listener(bench: Bench) -> Iterator[ViewListener]:
    bench.start()
    listener = ViewListener("inertid", rclpy.create_node("view", context=bench.context))
    bench.executor.add_node(listener.node)
    bench.describe()
    topics = [f"inertid/load/{name}" for name in ("wrench_predicted", "wrench_residual", "parameters", "inertia")]
    assert bench.spin_until(lambda: all(listener.node.count_publishers(topic) for topic in topics))
    bench.spin(0.2)
    yield listener
    bench.executor.remove_node(listener.node)
    listener.close()
    listener.node.destroy_node()


def test_what_is_shown_is_what_the_estimator_says(bench: Bench, listener: ViewListener) -> None:
    assert not listener.look().ellipsoids
    bench.feed(4.0)
    bench.settle()
    assert bench.parameters()[0] == pytest.approx(1.8, abs=0.03)
    assert bench.spin_until(lambda: "load" in listener.look().verdicts and listener.look().inertia_known)
    instant = listener.look()
    assert listener.robot is not None
    assert instant.frame == "ft_sensor"
    assert instant.body is not None
    assert instant.body.mass == pytest.approx(1.8, abs=0.03)
    assert instant.parameters is not None
    np.testing.assert_allclose(instant.parameters.values, bench.newest("load/parameters").data, atol=1e-3)
    assert set(instant.ellipsoids) >= {"com", "inertia_upper"}
    assert instant.mode == "tracking"
    assert instant.verdicts["wrench"].headline.endswith("fine")
    wrenches = bench._simulator.wrenches(0.0, bench.time).wrenches
    np.testing.assert_allclose(instant.wrenches["measured"], wrenches[-1], atol=1e-9)
    expected = bench._simulator.joints(0.0, bench.time)
    assert [instant.joints[name] for name in expected.names] == expected.positions[-1].tolist()


def test_an_estimator_that_is_gone_is_not_shown_as_if_it_were_there(
    bench: Bench, listener: ViewListener, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("viser")
    monkeypatch.setattr("inertid_ros.cli.view_live.PATIENCE", 0.5)
    with serve(PORT, "test") as server:
        page = Page(server)
        monkeypatch.setattr(Page, "is_watched", True)
        viewer = Viewer(page, listener)

        def says(words: str) -> bool:
            viewer.show()
            return words in page._written.get("headline", "")

        bench.feed(1.0)
        assert bench.spin_until(lambda: says("Not enough motion"))
        assert bench.estimator is not None
        bench.executor.remove_node(bench.estimator)
        bench.estimator.destroy_node()
        bench.estimator = None
        assert bench.spin_until(lambda: says("Nothing has been heard"))
        page._actions.put("Reset")
        assert bench.spin_until(lambda: says("Nothing") and "no answer" in page._written["answer"])


def test_buttons_pause_resume_and_guide(bench: Bench, listener: ViewListener) -> None:
    pytest.importorskip("viser")
    with serve(PORT, "test") as server:
        page = Page(server)
        viewer = Viewer(page, listener)
        bench.feed(3.0)

        def click(action: str, outcome: str) -> None:
            page._actions.put(action)

            def is_told() -> bool:
                bench.feed(0.02)  # however long it takes: a driver that falls silent is what the guide speaks of first
                viewer.show()
                return any(outcome in text for text in page._written.values())

            assert bench.spin_until(is_told), page._written

        click(PAUSE, "paused: nothing is learned")
        click(RESUME, "learning goes on")
        click("Reset", "forgotten")
        click(GUIDE, "Is there a tool")
        click("key t", "Mount the bare tool")


def test_the_page_is_served_until_it_is_stopped(ros_domain: int) -> None:
    pytest.importorskip("viser")
    del ros_domain
    command = [sys.executable, "-m", "inertid_ros.cli.main", "view", "--port", str(PORT)]
    with Process(command, stderr=PIPE) as process:
        assert process.stderr is not None
        assert f":{PORT} in a browser" in next(line for line in process.stderr if "open" in line)
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0
