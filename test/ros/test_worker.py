"""What takes long runs beside the executor's thread: it delays no prediction, and its failures are survived."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import Trigger
from support.bench import PATIENCE, RATE, Bench

from inertid_ros.core.errors import NotIdentifiedError
from inertid_ros.core.estimation.estimate import LinksEstimate
from inertid_ros.core.estimation.full_set import complete_links
from inertid_ros.core.records import FloatArray
from inertid_ros.ros import saving, session
from inertid_ros.ros.outputs import EstimateOutputs
from inertid_ros.ros.worker import Worker
from inertid_ros.sim.scenario import read_urdf

LINKS: dict[str, Any] = {"estimators": ["links"], "links__effort_unit": "newton_metre"}
DDARM = {"robot": "ddarm", "load": "none", "motion": "paper_link_moves", "tachometer": True, "effort": True}


def refuse(error: Exception) -> None:
    raise error


def test_results_are_delivered_in_the_thread_of_the_executor(bench: Bench) -> None:
    threads: list[threading.Thread] = []
    results: list[int] = []
    errors: list[Exception] = []
    worker = Worker(bench.probe, errors.append)

    def work() -> int:
        threads.append(threading.current_thread())
        return 42

    def deliver(result: int) -> None:
        threads.append(threading.current_thread())
        results.append(result)

    def divide_by(result: int) -> None:
        results.append(1 // result)

    worker.submit("a", work, deliver)
    assert bench.spin_until(lambda: bool(results))
    assert results == [42]
    assert threads[0] is not threading.current_thread()
    assert threads[1] is threading.current_thread()
    worker.submit("a", lambda: 1 // 0, results.append)
    assert bench.spin_until(lambda: bool(errors))
    assert isinstance(errors[0], ZeroDivisionError)
    worker.submit("a", lambda: 0, divide_by)
    assert bench.spin_until(lambda: len(errors) == 2), "a delivery that fails must not end the process"
    worker.submit("a", work, deliver)
    assert bench.spin_until(lambda: len(results) == 2)
    worker.close()


def test_a_job_of_the_same_name_is_left_out_while_one_is_under_way(bench: Bench) -> None:
    gate = threading.Event()
    results: list[str] = []
    worker = Worker(bench.probe, refuse)
    worker.submit("a", lambda: gate.wait(PATIENCE), lambda _: results.append("first"))
    worker.submit("a", lambda: None, lambda _: results.append("second"))
    worker.submit("b", lambda: None, lambda _: results.append("other"))
    gate.set()
    assert bench.spin_until(lambda: len(results) == 2)
    assert results == ["first", "other"]
    worker.close()
    worker = Worker(bench.probe, refuse)
    worker.submit("a", lambda: None, lambda _: results.append("late"))
    worker.close()
    bench.spin(0.1)
    assert "late" not in results, "nothing is delivered after it was closed"


def test_predictions_go_on_while_the_links_are_completed(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    began, gate = threading.Event(), threading.Event()

    def complete_slowly(estimate: LinksEstimate) -> FloatArray:
        began.set()
        assert gate.wait(PATIENCE)
        return complete_links(estimate)

    monkeypatch.setattr("inertid_ros.ros.outputs.complete_links", complete_slowly)
    bench.simulate(**DDARM)
    bench.start(**LINKS)
    bench.describe(read_urdf("ddarm"))
    bench.feed(1.0)
    assert bench.spin_until(began.is_set)
    before = len(bench.received["links/effort_predicted"])
    bench.feed(2.0)
    assert bench.spin_until(lambda: len(bench.received["links/effort_predicted"]) > before + 1.5 * RATE)
    assert bench.received["links/parameters"] == []
    gate.set()
    assert bench.spin_until(lambda: bool(bench.received["links/parameters"]))


@pytest.mark.parametrize(("error", "words"), [(ValueError("odd"), "report this as a bug"), (None, "not finite")])
def test_a_completion_that_fails_is_reported_and_the_rest_is_published(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, error: Exception | None, words: str
) -> None:
    def fail(_: Any) -> FloatArray:
        raise error or NotIdentifiedError("no such links")

    monkeypatch.setattr("inertid_ros.ros.outputs.complete_links", fail)
    bench.simulate(**DDARM)
    bench.start(**LINKS)
    bench.describe(read_urdf("ddarm"))
    bench.feed(1.0)
    assert bench.spin_until(lambda: words in bench.status("output").message)
    assert bench.spin_until(lambda: bool(bench.received["links/base_parameters"]))
    assert bench.received["links/parameters"] == []


def test_what_nobody_listens_to_is_not_composed_until_somebody_does(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    composed = 0
    prepare = EstimateOutputs.prepare

    def count(outputs: EstimateOutputs, *arguments: Any) -> Any:
        nonlocal composed
        composed += 1
        return prepare(outputs, *arguments)

    monkeypatch.setattr(EstimateOutputs, "prepare", count)
    for subscription in list(bench.probe.subscriptions):
        if subscription.topic_name.startswith("/inertid/") and not subscription.topic_name.endswith("_predicted"):
            bench.probe.destroy_subscription(subscription)
    bench.start()
    bench.describe()
    bench.feed(2.0)
    bench.status("load")
    bench.status("load")
    assert composed == 0
    assert bench.received["load/wrench_predicted"]
    bench.probe.create_subscription(
        Float64MultiArray, "/inertid/load/parameters", bench.received["load/parameters"].append, 10
    )
    assert bench.spin_until(lambda: bool(bench.received["load/parameters"]))
    assert bench.received["markers"] == []


def test_samples_are_answered_while_links_are_completed_to_be_saved(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Completing them takes a tenth of a second: it waits here until samples were answered."""
    may_go_on, threads = threading.Event(), []

    def wait_for_answers(estimate: LinksEstimate) -> FloatArray:
        threads.append(threading.current_thread())
        assert may_go_on.wait(PATIENCE)
        return complete_links(estimate)

    bench.simulate(**DDARM)
    bench.start(**LINKS, save_directory=str(tmp_path))
    bench.describe(read_urdf("ddarm"))
    bench.feed(3.0)
    monkeypatch.setattr(saving, "complete_links", wait_for_answers)
    client = bench.probe.create_client(Trigger, "/inertid/save")
    assert bench.spin_until(client.service_is_ready)
    answers = [client.call_async(Trigger.Request()) for _ in range(2)]
    assert bench.spin_until(lambda: bool(threads))
    answered = len(bench.received["links/effort_predicted"])
    bench.feed(0.5)
    assert bench.spin_until(lambda: len(bench.received["links/effort_predicted"]) > answered + 0.25 * RATE)
    assert not any(answer.done() for answer in answers)
    may_go_on.set()
    assert bench.spin_until(lambda: all(answer.done() for answer in answers)), "each request has an answer"
    assert all(answer.result().success for answer in answers)
    assert threading.current_thread() not in threads
    assert (tmp_path / "inertid_links.yaml").exists()


def test_saving_that_fails_for_an_unknown_reason_is_answered(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.start()
    bench.describe()
    bench.feed(3.0)
    monkeypatch.setattr(session, "save_load", lambda *_: 1 // 0)
    answer = bench.call(Trigger, "/inertid/save", Trigger.Request())
    assert not answer.success
    assert "internal error" in answer.message
    assert bench.call(Trigger, "/inertid/reset", Trigger.Request()).success
