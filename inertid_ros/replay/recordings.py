"""Many bags: which belong together, each recording on its own, and their sum."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from inertid_ros.bags.mcap_writer import McapWriter, Sink
from inertid_ros.core.errors import FileAccessError, InertidError, RecordingError
from inertid_ros.core.input.timeline import CONTINUITY
from inertid_ros.core.verdict import Verdict
from inertid_ros.files.access import make_directory
from inertid_ros.files.estimate_writer import read_back, write_estimate
from inertid_ros.replay.cluster import run_on_cluster
from inertid_ros.replay.combine import Combination, Recorded, Sum, combine, make_document
from inertid_ros.replay.inputs import Plan, Progress
from inertid_ros.replay.replay import look_at, replay_bags
from inertid_ros.replay.validate import find_description, prepare
from inertid_ros.replay.workers import Job, Result, run_here, run_in_processes
from inertid_ros.report.library import name_library, place_library

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
        found: in all recordings that could be used.
        document: what estimate.json holds.
        trouble: what went wrong, a line each; empty if nothing did.
    """

    found: Sum
    document: dict[str, Any]
    trouble: tuple[str, ...]

    @property
    def recordings(self) -> tuple[Recorded, ...]:
        """Those that could be used."""
        return self.found.recordings

    @property
    def verdicts(self) -> dict[str, Verdict]:
        """On load and links."""
        return self.found.verdicts


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
    recordings: Sequence[Recording],
    plan: Plan,
    output: Path,
    progress: Progress,
    processes: int | None = None,
    scheduler: str = "",
) -> Outcome:
    """Replay recordings and write their files, several in a directory each, with estimate and report of them all.

    Args:
        recordings: what to replay.
        plan: how.
        output: directory for the files; made if need be.
        progress: is told how many messages were replayed since the last time.
        processes: how many at once; as many as there are processors if None.
        scheduler: address of the Dask scheduler whose workers replay, or LOCAL for a cluster of so many processes;
            none if empty.

    Raises:
        InertidError: if nothing at all could be computed or written.
    """
    make_directory(output)
    names = [f"{number:03d}_{item.paths[0].stem}" for number, item in enumerate(recordings, start=1)]
    names = names if len(names) > 1 else [""]
    jobs = [
        Job(partial(_attempt, item, plan, output, name), ", ".join(map(str, item.paths)), item.messages)
        for item, name in zip(recordings, names, strict=True)
    ]
    total = Combination()
    errors: list[InertidError] = []
    for result in _run(jobs, progress, output, processes, scheduler):
        if isinstance(result, Recorded):
            total.take(result)
        else:
            errors.append(result)
    if len(errors) == len(jobs):
        raise errors[0]
    library = [] if plan.is_self_contained else _attempt_to_write(lambda: place_library(output))
    found = total.finish([*library, *(f"left out: {error}" for error in errors)])
    if plan.held_out:
        paths = [path for recording in recordings for path in recording.paths]
        found = _validate(found, plan, paths, progress)
    found, document, failures = _write_files(found, plan, output)
    return Outcome(found, document, tuple(dict.fromkeys((*found.failures, *failures))))


def _run(
    jobs: Sequence[Job], progress: Progress, output: Path, processes: int | None, scheduler: str
) -> Iterator[Result]:
    """Have recordings replayed; their results come in the order of the bags."""
    count = min(len(jobs), processes or os.cpu_count() or 1)
    if scheduler:
        return run_on_cluster(jobs, progress, output, scheduler, count)
    return run_here(jobs, progress) if count == 1 else run_in_processes(jobs, progress, count)


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


def _attempt(recording: Recording, plan: Plan, output: Path, name: str, progress: Progress) -> Result:
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
