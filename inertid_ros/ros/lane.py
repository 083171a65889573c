"""The way of the messages of one topic, from their bytes to what is published for them.

Nearly all are read and taken in one compiled call each, and published at once; what needs a decision goes through the
sessions. Caches are cold when a message comes, so that every function on this way costs several times what it does in a
loop: it has few.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from rclpy.context import Context

from inertid_ros.core.input.arrivals import ANSWERS, DONE, END, UNANSWERED
from inertid_ros.core.records import Output, SampleBlock
from inertid_ros.ros.answers import SampleOutputs
from inertid_ros.ros.identification import Identification
from inertid_ros.ros.pace import Pace
from inertid_ros.ros.runtime import SHUTDOWN_ERRORS
from inertid_ros.ros.session import Session


class _Branch:
    """One session that takes the messages of the topic, and what publishes its answers."""

    def __init__(self, session: Session, outputs: SampleOutputs) -> None:
        self._session, self._outputs = session, outputs
        self._call: Callable[[], int] | None = None
        """What takes a message in the memory of the last block in one call; None where that cannot be."""
        self._block: SampleBlock | None = None
        self._version = -1

    def take(self, block: SampleBlock, pace: Pace) -> None:
        """Take a message and publish its answers."""
        session = self._session
        if session.version != self._version or block is not self._block:
            self._renew(block)
        if self._call is None:
            self._publish(session.take(block), pace.stride)
            return
        status = self._call()
        if status == ANSWERS:
            self._answer(pace.stride)
        elif status != DONE:
            self._publish(session.conclude(status, block), pace.stride)

    def _renew(self, block: SampleBlock) -> None:
        session = self._session
        self._call, self._version, self._block = session.prepare_take(block), session.version, block
        if self._call is not None and session.chain is not None and session.chain.arrived is not None:
            self._told, (self._stamps, self._samples, _), self._columns = session.chain.arrived
            self._start(self._outputs)

    def _start(self, outputs: SampleOutputs) -> None:
        session = self._session
        if outputs.generation != session.generation:
            outputs.start(session.generation, session.frame, session.joint_names)

    def _answer(self, stride: int) -> None:
        """Publish what a call has left to be answered: mostly one sample, all of whose readings are usable."""
        outputs, columns, first = self._outputs, self._columns, self._told.item(UNANSWERED)
        if stride == 1 and self._told.item(END) == first + 1:
            numbers = self._samples[first].tolist()
            if not any(numbers[columns.bad]):
                stamp, deviation = self._stamps.item(first), self._session.deviation
                outputs.publish_sample(stamp, numbers[columns.readings], numbers[columns.predicted], deviation)
                return
        answer = self._session.get_answer()
        if answer is not None:
            outputs.publish(answer, stride)

    def _publish(self, answers: Sequence[Output], stride: int) -> None:
        """Publish answers; with a stride, of so many samples one."""
        for output in answers:
            self._start(self._outputs)
            self._outputs.publish(output, stride)


class Lane:
    """Takes the messages of one topic.

    Attributes:
        is_open: whether they are taken at all.
    """

    def __init__(
        self,
        topic: str,
        identification: Identification,
        outputs: dict[str, SampleOutputs],
        pace: Pace,
        context: Context,
    ) -> None:
        """Lead messages of a topic to the sessions that take them."""
        self._topic, self._pace, self._context = topic, pace, context
        self._received = identification.received
        self._decode = identification.decoders[topic].decode
        self._branches = [_Branch(session, outputs[session.task.name]) for session in identification.list_takers(topic)]
        self.is_open = False

    def take(self, data: bytes) -> None:
        """Take a serialised message."""
        if not self.is_open:
            return
        self._received[self._topic] += 1
        pace = self._pace
        if (now := time.monotonic()) > pace.noted_from:
            pace.take_sample(now)
        block = self._decode(data)
        if block is None:
            return
        try:
            for branch in self._branches:
                branch.take(block, pace)
        except SHUTDOWN_ERRORS:
            if self._context.ok():
                raise
