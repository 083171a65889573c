"""Who replays recordings: this process, others on this machine, or a cluster. What comes of it is the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from typing import Any, NamedTuple

from inertid_ros.core.errors import InertidError, RecordingError
from inertid_ros.replay.combine import Recorded
from inertid_ros.replay.inputs import Progress

_POLL = 0.2
"""Between two looks at how far processes are [s]: a bar that moves five times a second looks steady."""

Result = Recorded | InertidError
"""What comes of a recording."""

Work = Callable[[Progress], Result]
"""Replays a recording. It can be pickled, and be done twice: the files of the first attempt are overwritten."""


class Job(NamedTuple):
    """A recording that is to be replayed.

    Attributes:
        work: does it.
        name: the bags, for messages.
        messages: how many there are, as far as that is known.
    """

    work: Work
    name: str
    messages: int


def run_here(jobs: Sequence[Job], progress: Progress) -> Iterator[Result]:
    """One after the other, in this process."""
    return (job.work(progress) for job in jobs)


def run_in_processes(jobs: Sequence[Job], progress: Progress, count: int) -> Iterator[Result]:
    """In so many processes of their own, which count messages in a number that they share."""
    import multiprocessing
    from concurrent.futures.process import BrokenProcessPool, ProcessPoolExecutor

    context = multiprocessing.get_context("spawn")
    counter = context.Value("q", 0)
    seen = 0

    def look(_: Sequence[Job]) -> None:
        nonlocal seen
        now = int(counter.value)
        progress(now - seen)
        seen = now

    lost: dict[type[BaseException], str] = {
        BrokenProcessPool: "the process that replayed it was ended: give it more memory, or use --jobs 1"
    }
    with ProcessPoolExecutor(count, context, initializer=_share_counter, initargs=(counter,)) as pool:
        yield from gather(jobs, lambda job: pool.submit(_work_and_count, job.work), look, lost)


def gather(
    jobs: Sequence[Job],
    submit: Callable[[Job], Future[Result]],
    look: Callable[[Sequence[Job]], None],
    lost: Mapping[type[BaseException], str],
) -> Iterator[Result]:
    """Submit all jobs and give their results in the order of the jobs, each as soon as those before it are there.

    Args:
        jobs: what is to be done.
        submit: has one of them done elsewhere.
        look: is told now and then which jobs were done since the last time.
        lost: what it means for a job that its future raises an error of these types.
    """
    places = {submit(job): place for place, job in enumerate(jobs)}
    waiting: dict[int, Result] = {}
    for place in range(len(jobs)):
        while place not in waiting:
            done, _ = wait(places, timeout=_POLL, return_when=FIRST_COMPLETED)
            ended = {places.pop(future): future for future in done}  # a cluster keeps a result that has a future
            waiting |= {at: _collect(future, jobs[at], lost) for at, future in ended.items()}
            look([jobs[at] for at in ended])
        yield waiting.pop(place)


def _collect(future: Future[Result], job: Job, lost: Mapping[type[BaseException], str]) -> Result:
    try:
        return future.result()
    except tuple(lost) as error:
        reason = next(text for kind, text in lost.items() if isinstance(error, kind))
        return RecordingError(f"{job.name}: {reason}")


_counter: Any = None


def _share_counter(counter: Any) -> None:
    global _counter  # noqa: PLW0603 - the way to hand something to a process of a pool
    _counter = counter


def _work_and_count(work: Work) -> Result:
    def count(messages: int) -> None:
        with _counter.get_lock():
            _counter.value += messages

    return work(count)
