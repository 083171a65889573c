"""Many bags: which belong together, each on its own in a process, and their sum."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from inertid_ros.bags.mcap_writer import McapWriter, Sink
from inertid_ros.core.errors import FileAccessError, InertidError, RecordingError
from inertid_ros.core.input.timeline import CONTINUITY
from inertid_ros.core.verdict import Verdict
from inertid_ros.files.access import make_directory
from inertid_ros.files.estimate_writer import read_back, write_estimate
from inertid_ros.replay.combine import Recorded, Sum, combine, make_document
from inertid_ros.replay.inputs import Plan, Progress
from inertid_ros.replay.replay import look_at, replay_bags
from inertid_ros.replay.validate import find_description, prepare
from inertid_ros.report.library import name_library, place_library

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
        start, next_end, messages = look_at(path, plan)
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
    """Replay recordings and write their files, several in a directory each, with estimate and report of them all.

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
    library = [] if plan.is_self_contained else _attempt_to_write(lambda: place_library(output))
    found = combine(used, [*library, *(f"left out: {error}" for error in errors)])
    if plan.held_out:
        paths = [path for recording in recordings for path in recording.paths]
        found = _validate(found, plan, paths, progress)
    found, document, failures = _write_files(found, plan, output)
    return Outcome(found.recordings, document, found.verdicts, tuple(dict.fromkeys((*found.failures, *failures))))


def _validate(found: Sum, plan: Plan, paths: Sequence[Path], progress: Progress) -> Sum:
    """Predict the held-out bags with what was found in others."""
    try:
        plan = dataclasses.replace(plan, description=find_description((*plan.held_out, *paths), plan))
        validation = prepare(read_back(make_document(found, plan.topics)), plan.held_out, plan).run(progress)
    except InertidError as error:
        return found.note([f"not validated: {error}"])
    return found.doubt(validation.reasons)._replace(validation=validation)


def _write_files(found: Sum, plan: Plan, directory: Path, above: str = "") -> tuple[Sum, dict[str, Any], list[str]]:
    """Write report.html and estimate.json into a directory; `above` leads from there to that of plotly.js.

    Returns what was found, with a note if the report could not be written; the document; and what could not be written.
    """
    from inertid_ros.report.page import write_report

    library = "" if plan.is_self_contained else above + name_library()
    failures = _attempt_to_write(lambda: write_report(found, directory / "report.html", library))
    noted = found.note(failures)
    document = make_document(noted, plan.topics)
    failures += _attempt_to_write(lambda: write_estimate(directory / "estimate.json", document))
    return noted, document, failures


def replay_recording(recording: Recording, plan: Plan, output: Path, name: str, progress: Progress) -> Recorded:
    """Replay one recording and write its predictions into `output`/`name`; if it has a name, its other files as well.

    Raises:
        InertidError: if nothing could be computed.
    """
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
    recorded = Recorded(name, traces.note(failures))
    if not name:
        return recorded
    _, _, failures = _write_files(combine([recorded]), plan, directory, "../")
    return Recorded(name, recorded.traces.without_signals().note(failures))


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
