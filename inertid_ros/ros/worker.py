"""One thread beside the executor's, for what takes longer than a prediction may be delayed."""

from __future__ import annotations

from collections.abc import Callable
from queue import SimpleQueue
from threading import Thread
from typing import TypeVar

from rclpy.node import Node

Result = TypeVar("Result")

_Job = Callable[[], Callable[[], None]]


class Worker:
    """Runs jobs one after the other; what comes of them is handed over in the executor's thread.

    A job must use nothing that the executor's thread changes: it is given frozen records, and returns a result.
    """

    def __init__(self, node: Node, on_error: Callable[[Exception], None]) -> None:
        """Start the thread.

        Args:
            node: the node whose executor takes the results.
            on_error: takes what a job raised, in the executor's thread.
        """
        self._node = node
        self._on_error = on_error
        self._jobs: SimpleQueue[tuple[str, _Job] | None] = SimpleQueue()
        self._pending: set[str] = set()
        self._is_open = True
        self._thread = Thread(target=self._run, name="inertid worker", daemon=True)
        self._thread.start()

    def submit(self, name: str, job: Callable[[], Result], deliver: Callable[[Result], None]) -> None:
        """Run a job, then `deliver` its result in the executor's thread; left out while the last one is not done.

        Args:
            name: what the job is for: there is never more than one of that name under way.
            job: what takes long.
            deliver: takes its result.
        """
        if name in self._pending:
            return
        self._pending.add(name)

        def work() -> Callable[[], None]:
            result = job()
            return lambda: deliver(result)

        self._jobs.put((name, work))

    def close(self) -> None:
        """Deliver nothing any more, and wait for the job that is being done."""
        self._is_open = False
        self._jobs.put(None)
        self._thread.join()

    def _run(self) -> None:
        while (item := self._jobs.get()) is not None and self._is_open:
            name, work = item
            try:
                deliver = work()
            except Exception as error:  # noqa: BLE001 - whatever it is, the thread must live on
                deliver = _bind(self._on_error, error)
            executor = self._node.executor
            if executor is not None:
                executor.create_task(self._deliver, name, deliver)

    def _deliver(self, name: str, deliver: Callable[[], None]) -> None:
        """Hand a result over. Nothing may be raised here: the EventsExecutor of rclpy crashes on a failing task."""
        self._pending.discard(name)
        try:
            if self._is_open:
                deliver()
        except Exception as error:  # noqa: BLE001 - see above
            if self._node.context.ok():
                self._on_error(error)


def _bind(take: Callable[[Exception], None], error: Exception) -> Callable[[], None]:
    return lambda: take(error)
