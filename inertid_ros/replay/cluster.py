"""Recordings on the workers of a Dask cluster: one that is there, or one on this machine for as long as it takes.

A worker gets a recording whole, writes its files and hands back its information, which is added up here, in the order
of the bags. So the result is that of one process, bit for bit, whoever has done what, and however often: what a worker
has not finished when it is killed is begun again by another one.
"""

from __future__ import annotations

import contextlib
import logging
import os
import pickle
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

from inertid_ros.core.errors import InertidError, RecordingError, SettingError
from inertid_ros.files.provenance import list_versions
from inertid_ros.replay.inputs import Progress
from inertid_ros.replay.workers import Job, Result, Work, gather

LOCAL = "local"
"""In the place of a scheduler's address: a cluster on this machine."""
_HOST = "127.0.0.1"
"""Of a cluster on this machine: whoever can reach a scheduler can run programs on its workers."""
_PATIENCE = 10.0
"""For a scheduler that does not answer, and for the first of its workers [s]: they answer within milliseconds."""


class ClusterError(InertidError):
    """The cluster cannot be used."""


def run_on_cluster(
    jobs: Sequence[Job], progress: Progress, output: Path, scheduler: str, count: int
) -> Iterator[Result]:
    """Run jobs on the workers of a cluster, as many at once as it has; progress is told of whole recordings.

    Args:
        jobs: what to do.
        progress: is told how many messages the recordings have that were replayed since the last time.
        output: directory that the jobs write to.
        scheduler: its address, or LOCAL for so many processes on this machine, which are started again if need be.
        count: of these processes.

    Raises:
        ClusterError: if it cannot be reached, has no workers, or Dask is not installed.
        SettingError: if the address is none.
    """
    if scheduler != LOCAL and "://" not in scheduler:
        raise SettingError("--scheduler", scheduler, f"tcp://HOST:PORT of a Dask scheduler, or {LOCAL}")
    try:
        from distributed import CancelledError, KilledWorker
    except ImportError as error:
        raise ClusterError(
            f"Dask is not installed ({error}): pip install 'inertid_ros[cluster]', or leave --scheduler out and use "
            "--jobs"
        ) from None

    lost = {
        KilledWorker: "every worker that replayed it was ended: give them more memory",
        CancelledError: f"the scheduler {scheduler} was lost before it was replayed: start it, and the replay, again",
        ImportError: "the worker has not all that is needed: install inertid_ros in its environment as it is here",
    }
    with contextlib.ExitStack() as stack:
        client = stack.enter_context(start_cluster(count) if scheduler == LOCAL else _connect(scheduler))
        proof = stack.enter_context(NamedTemporaryFile(prefix=".shared_", dir=output))
        place = _Place(Path.cwd(), Path(proof.name).absolute())
        executor, unpack = client.get_executor(pure=False), _make_unpacker()
        yield from gather(
            jobs,
            lambda job: executor.submit(unpack, pickle.dumps((_work, job.work, place))),
            lambda done: progress(sum(job.messages for job in done)),
            lost,
        )


@contextlib.contextmanager
def _connect(scheduler: str) -> Iterator[Any]:
    """The client of a scheduler that has workers."""
    import asyncio

    from distributed import Client

    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)  # what is lost is named, recording by recording
    try:
        client = Client(scheduler, timeout=_PATIENCE, set_as_default=False)
    except (OSError, ValueError, TypeError, asyncio.TimeoutError) as error:
        raise ClusterError(
            f"no scheduler answers at {scheduler} ({error}): start one with `dask scheduler`, or see which address it "
            "has printed"
        ) from None
    with client:
        try:
            client.wait_for_workers(1, timeout=_PATIENCE)
        except asyncio.TimeoutError:
            raise ClusterError(
                f"the scheduler {scheduler} has no workers: start some with `dask worker {scheduler} --nthreads 1`"
            ) from None
        yield client


@contextlib.contextmanager
def start_cluster(count: int) -> Iterator[Any]:
    """The client of a cluster of so many processes that nobody else can reach, without a page that shows it."""
    import dask
    from distributed import Client, LocalCluster

    silent: dict[str, list[str]] = {f"distributed.{who}.http.routes": [] for who in ("scheduler", "worker")}
    with (
        dask.config.set(silent),
        LocalCluster(
            n_workers=count,
            threads_per_worker=1,
            host=_HOST,
            dashboard_address=f"{_HOST}:0",
            scheduler_kwargs={"dashboard": False},
            memory_limit=None,
            silence_logs=logging.CRITICAL,  # workers that end are named where they matter
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a job has to be done: where it would be done here.

    Attributes:
        directory: in which the command was called.
        proof: a file in the output directory, which is there as long as the command is.
        versions: of what makes the numbers.
    """

    directory: Path
    proof: Path
    versions: dict[str, str] = field(default_factory=list_versions)

    def find_obstacle(self, threads: int) -> str:
        """Why a worker with so many threads cannot do as would be done here; empty if it can."""
        if threads != 1:
            return f"has {threads} threads, which would share one working directory: start it with --nthreads 1"
        for directory, is_there in (
            (self.proof.parent, self.proof.exists()),
            (self.directory, self.directory.is_dir()),
        ):
            if not is_there:
                return f"has not the directory '{directory}' of this machine: use one that all workers share"
        theirs = list_versions()
        other = [
            f"{name} {theirs[name]} instead of {mine}" for name, mine in self.versions.items() if theirs[name] != mine
        ]
        return f"has {', '.join(other)}: install the same versions, for the same numbers" if other else ""


def _make_unpacker() -> Callable[[bytes], Any]:
    """A function of bytes with a pickled function and its arguments in them, which calls it.

    It is pickled by value, for it has no name of its own. A scheduler and workers that cannot import this package can
    therefore take it, and fail when they call it; they would break off the connection to something they cannot read.
    """

    def unpack_and_call(packed: bytes) -> Any:
        import pickle

        function, *arguments = pickle.loads(packed)
        return function(*arguments)

    return unpack_and_call


def _work(work: Work, place: _Place) -> Result:
    """Do a job in a worker, in the directory in which the command was called."""
    from distributed import get_worker

    worker = get_worker()
    obstacle = place.find_obstacle(worker.state.nthreads)
    if obstacle:
        return RecordingError(f"worker {worker.address} {obstacle}")
    before = Path.cwd()
    os.chdir(place.directory)
    try:
        return work(lambda _: None)
    finally:
        os.chdir(before)
