"""What the session does with the chain's answers, and when the chain itself fails."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
from geometry_msgs.msg import WrenchStamped
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState
from support.bench import START, Bench
from support.stepped_chain import SteppedChain

from inertid_ros.core.chain import Chain
from inertid_ros.core.estimation.estimate import LinksEstimate, LoadEstimate
from inertid_ros.core.records import Output, RowOutput, SampleBlock, WrenchBlock
from inertid_ros.core.rows.arrival import Answered
from inertid_ros.ros.messages import stamp_message
from inertid_ros.ros.node import EstimatorNode


def make_output(*stamps: int) -> Output:
    """An output whose numbers are its stamps."""
    numbers = np.repeat(np.array(stamps, dtype=float)[:, None], 6, axis=1)
    usable = np.ones(numbers.shape, dtype=bool)
    rows = RowOutput(np.empty(0, dtype=np.int64), numbers[:0], numbers[:0], usable[:0], numbers[:0])
    return Output(np.array(stamps, dtype=np.int64), numbers, numbers, usable, rows)


def stamps_of(output: Output | None) -> list[int]:
    if output is None:
        return []
    assert output.predicted[:, 0].tolist() == output.stamps.tolist()
    assert len(output.measured) == len(output.usable) == len(output.stamps)
    return [int(stamp) for stamp in output.stamps]


def test_what_was_answered_while_it_waited_is_not_answered_again() -> None:
    answered = Answered()
    assert stamps_of(answered.select_processed(make_output(10, 20))) == [10, 20]
    assert stamps_of(answered.select_waiting(make_output(30))) == [30]
    assert stamps_of(answered.select_waiting(make_output(30, 40))) == [40]
    assert stamps_of(answered.select_processed(make_output(30))) == []
    assert stamps_of(answered.select_processed(make_output(40, 50))) == [50]
    assert stamps_of(answered.select_processed(make_output(60))) == [60]


def test_samples_that_could_not_be_answered_at_once_are_answered_later() -> None:
    answered = Answered()
    assert stamps_of(answered.select_waiting(make_output(10))) == [10]
    assert stamps_of(answered.select_processed(make_output(10, 20, 30))) == [20, 30]


def test_time_that_goes_back_starts_the_count_again() -> None:
    answered = Answered()
    answered.select_processed(make_output(1000, 1010))
    assert stamps_of(answered.select_processed(make_output(10, 20))) == [10, 20], "between two outputs"
    assert stamps_of(answered.select_processed(make_output(30, 5, 6))) == [30, 5, 6], "within one"
    assert stamps_of(answered.select_processed(make_output(7))) == [7]
    assert stamps_of(answered.select_waiting(make_output(500))) == [500]
    assert stamps_of(answered.select_waiting(make_output(3))) == [3], "while samples wait"
    assert stamps_of(answered.select_processed(make_output(3, 4))) == [4]


class ForesightedChain(SteppedChain):
    """Answers the newest wrench without waiting for a later joint state."""

    def push(self, block: SampleBlock) -> None:
        super().push(block)
        if isinstance(block, WrenchBlock):
            self.newest = block

    def answer(self, after: int = 0) -> Output | None:  # noqa: ARG002
        block = self.newest
        usable = np.ones(block.wrenches.shape, dtype=bool)
        rows = RowOutput(block.stamps[:0], block.wrenches[:0], block.wrenches[:0], usable[:0], block.wrenches[:0])
        return Output(block.stamps, block.wrenches, np.full_like(block.wrenches, 0.125), usable, rows)


def send_alternating(bench: Bench, count: int) -> list[int]:
    """Joint state, then the wrench half a period later, one by one; returns the stamps of the wrenches."""
    stamps = []
    for index in range(count):
        joint = JointState(name=[f"joint{number}" for number in range(1, 7)], position=[0.1 * np.sin(0.01 * index)] * 6)
        joint.header.stamp = stamp_message(START + index * 5_000_000)
        wrench = WrenchStamped()
        wrench.header.frame_id = "ft_sensor"
        stamps.append(START + index * 5_000_000 + 2_500_000)
        wrench.header.stamp = stamp_message(stamps[-1])
        bench.play([("/joint_states", serialize_message(joint)), ("/wrench", serialize_message(wrench))])
    return stamps


def test_every_sample_is_answered_exactly_once(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("inertid_ros.ros.session.Chain", ForesightedChain)
    bench.start()
    bench.describe()
    sent = send_alternating(bench, 50)
    bench.settle()
    for topic in ("load/wrench_predicted", "load/wrench_residual"):
        messages = bench.received[topic]
        assert [m.header.stamp.sec * 10**9 + m.header.stamp.nanosec for m in messages] == sent
    assert {m.wrench.force.x for m in bench.received["load/wrench_predicted"]} == {0.125}, "those foreseen"


def test_a_wrench_after_the_newest_joint_state_is_answered_at_once(bench: Bench) -> None:
    bench.start()
    bench.describe()
    sent = send_alternating(bench, 50)
    assert bench.spin_until(lambda: bool(bench.received["load/wrench_predicted"]))
    bench.settle()
    stamps = [m.header.stamp.sec * 10**9 + m.header.stamp.nanosec for m in bench.received["load/wrench_predicted"]]
    assert stamps[-1] == sent[-1], "no later joint state ever came"
    assert len(stamps) == len(set(stamps)) >= 45


class FailingChain(SteppedChain):
    """Fails in its own way, as long as it is told to."""

    failure = ""

    def process(self) -> Output | None:
        output = super().process()
        if type(self).failure == "raises":
            raise ZeroDivisionError("out of the blue")
        if type(self).failure == "not finite" and output is not None:
            output.predicted[:] = np.nan
        return output


@pytest.mark.parametrize("failure", ["raises", "not finite"])
def test_a_bug_in_the_chain_is_reported_and_survived(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, failure: str, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("inertid_ros.ros.session.Chain", FailingChain)
    monkeypatch.setattr(FailingChain, "failure", failure)
    node = bench.start()
    assert isinstance(node, EstimatorNode)
    bench.describe()
    bench.feed(1.0)
    assert bench.received["load/wrench_predicted"] == []
    status = bench.status("output")
    assert status.level == b"\x02"
    assert "report this as a bug" in status.message
    assert "Traceback" in capfd.readouterr().err
    monkeypatch.setattr(FailingChain, "failure", "")
    bench.feed(4.0)
    assert bench.parameters()[0] == pytest.approx(1.8, abs=0.03)
    assert bench.received["load/wrench_predicted"]


class LyingChain(Chain):
    """Its estimate is not finite, or cannot be judged."""

    failure = ""

    def prepare_estimate(self) -> Callable[[], LoadEstimate | LinksEstimate] | None:
        prepared = super().prepare_estimate()
        return None if prepared is None else partial(self._spoil, prepared)

    def _spoil(self, prepared: Callable[[], LoadEstimate | LinksEstimate]) -> LoadEstimate | LinksEstimate:
        estimate = prepared()
        if type(self).failure == "raises":
            raise ZeroDivisionError("out of the blue")
        estimate.values[3] = np.nan
        return estimate


def test_an_estimate_that_cannot_be_judged_is_a_bug_that_is_survived(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("inertid_ros.ros.session.Chain", LyingChain)
    monkeypatch.setattr(LyingChain, "failure", "raises")
    bench.start()
    bench.describe()
    bench.feed(1.0)
    assert bench.spin_until(lambda: "report this as a bug" in bench.status("output").message)
    assert "out of the blue" in capfd.readouterr().err
    assert bench.received["load/parameters"] == []
    monkeypatch.setattr("inertid_ros.ros.session.Chain", Chain)
    bench.feed(4.0)
    assert bench.spin_until(lambda: bool(bench.received["load/parameters"]))


def test_an_estimate_that_is_not_finite_is_withheld(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("inertid_ros.ros.session.Chain", LyingChain)
    bench.start()
    bench.describe()
    bench.feed(1.0)
    assert bench.spin_until(lambda: "not finite" in bench.status("output").message)
    assert "the estimate of the load" in bench.status("output").message
    assert bench.received["load/parameters"] == []
    assert bench.received["load/wrench_predicted"], "predictions go on"
