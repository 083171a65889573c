"""Every transition from every state, asked for as a user asks: through the service."""

from __future__ import annotations

import pytest
import rclpy
from lifecycle_msgs.msg import Transition
from rclpy.context import Context
from rclpy.lifecycle import LifecycleState, TransitionCallbackReturn
from support.bench import Bench

from inertid_ros.ros.identification import Identification
from inertid_ros.ros.node import EstimatorNode

CONFIGURE, CLEANUP = Transition.TRANSITION_CONFIGURE, Transition.TRANSITION_CLEANUP
ACTIVATE, DEACTIVATE = Transition.TRANSITION_ACTIVATE, Transition.TRANSITION_DEACTIVATE
SHUTDOWNS = {
    "unconfigured": Transition.TRANSITION_UNCONFIGURED_SHUTDOWN,
    "inactive": Transition.TRANSITION_INACTIVE_SHUTDOWN,
    "active": Transition.TRANSITION_ACTIVE_SHUTDOWN,
}
NEXT = {
    "unconfigured": {CONFIGURE: "inactive"},
    "inactive": {ACTIVATE: "active", CLEANUP: "unconfigured"},
    "active": {DEACTIVATE: "inactive"},
}
OWN_TOPICS = {"/inertid/load/inertia", "/inertid/load/wrench_predicted", "/inertid/markers"}


def published_topics(node: EstimatorNode) -> set[str]:
    return {publisher.topic_name for publisher in node.publishers}


@pytest.mark.parametrize("state", NEXT)
def test_a_transition_that_does_not_belong_here_is_refused_and_the_node_lives_on(bench: Bench, state: str) -> None:
    bench.start(state)
    for transition in {CONFIGURE, CLEANUP, ACTIVATE, DEACTIVATE} - NEXT[state].keys():
        assert not bench.change_state(transition)
        assert bench.state() == state


@pytest.mark.parametrize(("state", "transition", "after"), [(s, t, a) for s in NEXT for t, a in NEXT[s].items()])
def test_every_transition_leads_to_its_state(bench: Bench, state: str, transition: int, after: str) -> None:
    bench.start(state)
    assert bench.change_state(transition)
    assert bench.state() == after


@pytest.mark.parametrize("state", SHUTDOWNS)
def test_shutdown_works_from_every_state(bench: Bench, state: str) -> None:
    node = bench.start(state)
    assert bench.change_state(SHUTDOWNS[state])
    assert bench.state() == "finalized"
    assert not OWN_TOPICS & published_topics(node)


def test_what_configure_creates_cleanup_destroys_again_and_again(bench: Bench) -> None:
    node = bench.start("unconfigured")
    before = [len(list(kind)) for kind in (node.publishers, node.subscriptions, node.services, node.timers)]
    assert not OWN_TOPICS & published_topics(node)
    for _ in range(3):
        assert bench.change_state(CONFIGURE)
        assert published_topics(node) >= OWN_TOPICS
        assert bench.change_state(ACTIVATE)
        assert bench.change_state(DEACTIVATE)
        assert bench.change_state(CLEANUP)
        after = [len(list(kind)) for kind in (node.publishers, node.subscriptions, node.services, node.timers)]
        assert after == before


def test_an_inactive_node_is_silent_and_keeps_what_it_knows(bench: Bench) -> None:
    bench.start()
    bench.describe()
    bench.feed(6.0)
    before = bench.parameters()
    assert bench.change_state(DEACTIVATE)
    for messages in bench.received.values():
        messages.clear()
    bench.feed(0.5)
    bench.spin(1.2)
    assert not any(bench.received.values())
    assert bench.change_state(ACTIVATE)
    assert bench.parameters()[0] == pytest.approx(before[0], abs=1e-12)


def test_cleanup_forgets_the_load(bench: Bench) -> None:
    bench.start()
    bench.describe()
    bench.feed(4.0)
    assert bench.parameters()[0] == pytest.approx(1.8, abs=0.02)
    for transition in (DEACTIVATE, CLEANUP, CONFIGURE, ACTIVATE):
        assert bench.change_state(transition)
    assert bench.parameters()[0] == 0.0


class FailingNode(EstimatorNode):
    """Cannot be configured the first time."""

    failures = 1

    def _set_estimate_rate(self, identification: Identification, rate: float) -> None:
        if self.failures > 0:
            self.failures -= 1
            raise OSError("no timer left")
        super()._set_estimate_rate(identification, rate)


def test_a_configure_that_fails_leaves_nothing_behind_and_can_be_tried_again(bench: Bench) -> None:
    node = FailingNode(context=bench.context)
    bench.executor.add_node(node)
    bench.estimator = node
    before = [len(list(kind)) for kind in (node.publishers, node.subscriptions, node.services, node.timers)]
    assert node.trigger_configure() == TransitionCallbackReturn.ERROR
    assert bench.state() == "unconfigured"
    assert [len(list(kind)) for kind in (node.publishers, node.subscriptions, node.services, node.timers)] == before
    assert bench.change_state(CONFIGURE)
    assert bench.state() == "inactive"


def test_ctrl_c_in_the_middle_of_a_transition_is_no_error(ros_domain: int, capfd: pytest.CaptureFixture[str]) -> None:
    context = Context()
    rclpy.init(context=context, domain_id=ros_domain)
    node = EstimatorNode(context=context)
    rclpy.shutdown(context=context)
    assert node.on_configure(LifecycleState(0, "unconfigured")) is TransitionCallbackReturn.ERROR
    assert "Traceback" not in capfd.readouterr().err
