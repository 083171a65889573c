"""Many bags: which belong together, each on its own in a process, and their sum."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from inertid_ros.bags.bag import Bag
from inertid_ros.bags.mcap_writer import McapWriter, Sink
from inertid_ros.core.errors import FileAccessError, InertidError, RecordingError
from inertid_ros.core.input.timeline import CONTINUITY
from inertid_ros.core.verdict import Verdict
from inertid_ros.files.access import make_directory
from inertid_ros.files.estimate_writer import write_estimate
from inertid_ros.replay.combine import Recorded, combine, make_document
from inertid_ros.replay.inputs import Plan, Progress
from inertid_ros.replay.replay import replay_bags

if TYPE_CHECKING:
    from concurrent.futures import Future

_POLL = 0.2
_OVERLAP = 100_000_000


@dataclass(frozen=True, slots=True)
class Recording:
    """Bags that are one recording, in order.

    Attributes:
        paths: of the bags.
        messages: how many there are to replay, as far as that is known.
    """

    paths: tuple[Path, ...]
    messages: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a run.

    Attributes:
        recordings: those that could be used.
        document: what estimate.json holds.
        verdicts: on load and links.
        trouble: what went wrong, a line each; empty if nothing did.
    """

    recordings: tuple[Recorded, ...]
    document: dict[str, Any]
    verdicts: dict[str, Verdict]
    trouble: tuple[str, ...]


def find_recordings(paths: Sequence[Path], plan: Plan) -> list[Recording]:
    """Sort bags into recordings: one that begins at most ten seconds after the end of the one before continues it."""
    recordings: list[Recording] = []
    end: int | None = None
    for path in paths:
        start, next_end, messages = _look_at(path, plan)
        if end is not None and start is not None and -_OVERLAP <= start - end <= CONTINUITY:
            before = recordings.pop()
            recordings.append(Recording((*before.paths, path), before.messages + messages))
        else:
            recordings.append(Recording((path,), messages))
        end = next_end
    return recordings


def replay_recordings(
    recordings: Sequence[Recording], plan: Plan, output: Path, progress: Progress, processes: int | None = None
) -> Outcome:
    """Replay recordings and write their files, several in a directory each, and `estimate.json` of them all.

    Args:
        recordings: what to replay.
        plan: how.
        output: directory for the files; made if need be.
        progress: is told how many messages were replayed since the last time.
        processes: how many at once; as many as there are processors if None.

    Raises:
        InertidError: if nothing at all could be computed or written.
    """
    make_directory(output)
    names = [f"{number:03d}_{item.paths[0].stem}" for number, item in enumerate(recordings, start=1)]
    names = names if len(names) > 1 else [""]
    tasks = list(zip(recordings, names, strict=True))
    count = min(len(tasks), processes or os.cpu_count() or 1)
    run = _run_here if count == 1 else _run_in_processes
    results = run(tasks, plan, output, progress, count)
    used = [result for result in results if isinstance(result, Recorded)]
    errors = [result for result in results if isinstance(result, InertidError)]
    if not used:
        raise errors[0]
    found = combine(used, [f"left out: {error}" for error in errors])
    document = make_document(found, used, plan.topics)
    failures = _attempt_to_write(lambda: write_estimate(output / "estimate.json", document))
    return Outcome(tuple(used), document, found.verdicts, (*found.failures, *failures))


def replay_recording(recording: Recording, plan: Plan, output: Path, name: str, progress: Progress) -> Recorded:
    """Replay one recording and write its files into `output`/`name`.

    Raises:
        InertidError: if nothing could be computed.
    """
    from inertid_ros.report.page import write_report

    directory = output / name
    make_directory(directory)
    writers: list[McapWriter] = []
    failures: list[str] = []

    def make_sink() -> Sink | None:
        try:
            writers.append(McapWriter(directory / "predictions.mcap"))
        except FileAccessError as error:
            failures.append(str(error))
            return None
        return writers[0]

    try:
        traces = replay_bags(recording.paths, plan, make_sink, progress)
    finally:
        failures += [failure for writer in writers for failure in _attempt_to_write(writer.close)]
    failures += _attempt_to_write(lambda: write_report(traces, directory / "report.html"))
    recorded = Recorded(name, traces.without_signals().note(failures))
    if name:
        document = make_document(combine([recorded]), [recorded], plan.topics)
        failures = _attempt_to_write(lambda: write_estimate(directory / "estimate.json", document))
        recorded = Recorded(name, recorded.traces.note(failures))
    return recorded


_Task = tuple[Recording, str]
_Result = Recorded | InertidError


def _run_here(tasks: Sequence[_Task], plan: Plan, output: Path, progress: Progress, _: int) -> list[_Result]:
    return [_attempt(task, plan, output, progress) for task in tasks]


def _run_in_processes(
    tasks: Sequence[_Task], plan: Plan, output: Path, progress: Progress, processes: int
) -> list[_Result]:
    """Replay in processes of their own, which count messages in a number that they share."""
    import multiprocessing
    from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait

    context = multiprocessing.get_context("spawn")
    counter = context.Value("q", 0)
    with ProcessPoolExecutor(processes, context, initializer=_share_counter, initargs=(counter,)) as pool:
        futures = [pool.submit(_attempt_and_count, task, plan, output) for task in tasks]
        pending: set[Future[_Result]] = set(futures)
        seen = 0
        while pending:
            _, pending = wait(pending, timeout=_POLL, return_when=FIRST_COMPLETED)
            now = int(counter.value)
            progress(now - seen)
            seen = now
        return [_collect(future, task) for future, task in zip(futures, tasks, strict=True)]


def _collect(future: Future[_Result], task: _Task) -> _Result:
    from concurrent.futures.process import BrokenProcessPool

    try:
        return future.result()
    except BrokenProcessPool:
        names = ", ".join(str(path) for path in task[0].paths)
        return RecordingError(f"the process that replayed {names} was ended: give it more memory, or use --jobs 1")


_counter: Any = None


def _share_counter(counter: Any) -> None:
    global _counter  # noqa: PLW0603 - the way to hand something to a process of a pool
    _counter = counter


def _attempt_and_count(task: _Task, plan: Plan, output: Path) -> _Result:
    def count(messages: int) -> None:
        with _counter.get_lock():
            _counter.value += messages

    return _attempt(task, plan, output, count)


def _attempt(task: _Task, plan: Plan, output: Path, progress: Progress) -> _Result:
    recording, name = task
    try:
        return replay_recording(recording, plan, output, name, progress)
    except InertidError as error:
        return RecordingError(str(error))  # which any process can hand over


def _attempt_to_write(write: Callable[[], None]) -> list[str]:
    """Write a file; returns what went wrong."""
    try:
        write()
    except FileAccessError as error:
        return [str(error)]
    return []


def _look_at(path: Path, plan: Plan) -> tuple[int | None, int | None, int]:
    """First and last time of recording [ns], None where they are not known, and the number of messages."""
    try:
        with Bag(path) as bag:
            messages = bag.count(plan.inputs.values())
            return (bag.start, bag.end, messages) if bag.end else (None, None, messages)
    except InertidError:
        return None, None, 0
