"""Whoever replays, results come in the order of the bags, and what a process takes with it is named."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from threading import Event

import pytest
from support import deadly
from support.bags import puma_messages, write_bag

from inertid_ros.core.errors import InertidError, RecordingError
from inertid_ros.replay import recordings
from inertid_ros.replay.inputs import Plan, Progress
from inertid_ros.replay.workers import Job, Result, gather


def test_results_come_in_the_order_of_the_jobs_whichever_ends_first() -> None:
    """Each job waits for the next one, so that the last is done first."""
    ended = [Event() for _ in range(4)]

    def work(number: int, _: Progress) -> Result:
        if number < 3:
            assert ended[number + 1].wait(60.0)
        ended[number].set()
        return RecordingError(str(number))

    jobs = [Job(partial(work, number), str(number), 10 + number) for number in range(4)]
    seen: list[str] = []

    def look(done: Sequence[Job]) -> None:
        seen.extend(job.name for job in done)

    with ThreadPoolExecutor(4) as pool:
        found = [str(result) for result in gather(jobs, lambda job: pool.submit(job.work, print), look, {})]
    assert found == ["0", "1", "2", "3"]
    assert sorted(seen) == found


def test_an_error_that_means_a_loss_names_the_job_and_any_other_is_raised() -> None:
    def fail(job: Job) -> Future[Result]:
        future: Future[Result] = Future()
        future.set_exception(ConnectionResetError() if job.name == "my_bag" else ZeroDivisionError())
        return future

    def work(_: Progress) -> Result:
        raise AssertionError

    def run(name: str) -> list[Result]:
        return list(gather([Job(work, name, 1)], fail, lambda _: None, {ConnectionError: "it is gone"}))

    (lost,) = run("my_bag")
    assert isinstance(lost, InertidError)
    assert str(lost) == "my_bag: it is gone"
    with pytest.raises(ZeroDivisionError):
        run("other_bag")


def test_a_process_that_is_killed_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was not finished by then is lost with it: a pool does not start again."""
    bags = [write_bag(tmp_path / name, puma_messages(3.0)) for name in ("deadly", "deadly_too")]
    monkeypatch.setattr(recordings, "_attempt", deadly.attempt)
    found = recordings.find_recordings(bags, Plan())
    with pytest.raises(RecordingError, match=r"deadly: the process that replayed it was ended.*--jobs 1"):
        recordings.replay_recordings(found, Plan(), tmp_path / "out", lambda _: None, 2)
