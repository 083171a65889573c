"""Workers of a Dask cluster change nothing, not even if they are killed; what cannot be replayed is named."""

from __future__ import annotations

import contextlib
import os
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from support import deadly
from support.bags import puma_messages, write_bag

from inertid_ros.cli.main import main
from inertid_ros.files.provenance import list_versions
from inertid_ros.replay import cluster, recordings
from inertid_ros.replay.inputs import Plan

pytestmark = pytest.mark.skipif(find_spec("distributed") is None, reason="Dask is not installed")
BAGS = ["bag_0", "broken.mcap", "bag_1", "bag_2"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Bags with parameters, and what one process makes of them."""
    folder = tmp_path_factory.mktemp("bags")
    for seed in range(3):
        write_bag(folder / f"bag_{seed}", puma_messages(5.0, seed))
    (folder / "broken.mcap").write_bytes(b"\x89MCAP0\r\nnothing")
    (folder / "my.yaml").write_text(
        "/**: {ros__parameters: {load: {sensor_frame: ft_sensor, wrench_sign: on_load}}}", encoding="utf-8"
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert replay(BAGS, "serial", "--jobs", "1") == 1
    return folder


@pytest.fixture(scope="module")
def scheduler() -> Iterator[str]:
    """The address of a cluster of two processes, which gives a task up when two of them have ended."""
    from distributed import LocalCluster

    options: dict[str, Any] = {"dashboard": False, "allowed_failures": 1}
    with LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        host="127.0.0.1",
        dashboard_address="127.0.0.1:0",
        scheduler_kwargs=options,
        silence_logs=50,
    ) as started:
        yield started.scheduler_address


def replay(bags: list[str], output: str, *options: str) -> int:
    return main(["replay", *bags, "--params", "my.yaml", "-o", output, *options])


def read_tree(directory: Path) -> dict[str, bytes]:
    """All files below a directory with their content."""
    files = (path for path in directory.rglob("*") if path.is_file())
    return {path.relative_to(directory).as_posix(): path.read_bytes() for path in files}


def test_workers_write_the_same_bytes_as_one_process_and_name_what_they_leave_out(
    folder: Path, scheduler: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Paths are relative, and the workers were started elsewhere."""
    monkeypatch.chdir(folder)
    assert replay(BAGS, "by_workers", "--scheduler", scheduler) == 1
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert "left out" in line
    assert "broken.mcap" in line
    found = read_tree(folder / "by_workers")
    assert found == read_tree(folder / "serial")
    assert {"estimate.json", "report.html", "001_bag_0/predictions.mcap", "004_bag_2/report.html"} <= set(found)


def test_what_a_killed_worker_had_begun_is_begun_again_with_the_same_result(
    folder: Path, scheduler: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    names = ["bag_0", "deadly_once", "bag_2"]
    for name in names:
        (tmp_path / name).symlink_to(folder / (name if name in BAGS else "bag_1"))
    (tmp_path / "my.yaml").symlink_to(folder / "my.yaml")
    monkeypatch.chdir(tmp_path)
    assert replay(names, "serial", "--jobs", "1") == 0
    monkeypatch.setattr(recordings, "_attempt", deadly.attempt)
    assert replay(names, "killed", "--scheduler", scheduler) == 0
    assert len(deadly.list_deaths(tmp_path / "deadly_once")) == 1
    assert read_tree(tmp_path / "killed") == read_tree(tmp_path / "serial")
    assert not capsys.readouterr().err


@pytest.mark.long  # four workers start for it, ten seconds of processor time; that one was killed is looked at above
def test_a_recording_that_ends_every_worker_is_named_and_the_others_are_added_up(
    folder: Path, scheduler: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, source in {"bag_0": "bag_0", "deadly": "bag_1", "bag_2": "bag_2"}.items():
        (tmp_path / name).symlink_to(folder / source)
    (tmp_path / "my.yaml").symlink_to(folder / "my.yaml")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(recordings, "_attempt", deadly.attempt)
    assert replay(["bag_0", "deadly", "bag_2"], "killed", "--scheduler", scheduler) == 1
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert "left out: deadly: every worker that replayed it was ended" in line
    assert len(deadly.list_deaths(tmp_path / "deadly")) == 2
    assert {"001_bag_0/estimate.json", "003_bag_2/estimate.json"} <= set(read_tree(tmp_path / "killed"))


def test_progress_counts_every_message(folder: Path, scheduler: str, tmp_path: Path) -> None:
    plan = Plan()
    counted: list[int] = []
    found = recordings.find_recordings([folder / "bag_0", folder / "bag_1"], plan)
    recordings.replay_recordings(found, plan, tmp_path, counted.append, None, scheduler)
    assert sum(counted) == sum(recording.messages for recording in found) > 0


def list_listening(process: int) -> set[str]:
    """Addresses, hexadecimal as the kernel has them, on which a process and those it has started wait."""
    sockets = set()
    for descriptor in Path(f"/proc/{process}/fd").iterdir():
        sockets.add(str(descriptor.readlink()) if descriptor.is_symlink() else "")
    found = set()
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/{process}/net/{table}").read_text(encoding="ascii").splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and f"socket:[{fields[9]}]" in sockets:
                found.add(fields[1])
    for task in Path(f"/proc/{process}/task").iterdir():
        for child in (task / "children").read_text(encoding="ascii").split():
            found |= list_listening(int(child))
    return found


class Local(NamedTuple):
    """A cluster on this machine, once bags were replayed on it: where it listened, and what its pages answered."""

    addresses: set[str]
    answers: list[int]


@pytest.fixture(scope="module")
def local(folder: Path) -> Local:
    start, found = cluster.start_cluster, Local(set(), [])

    @contextlib.contextmanager
    def watch(count: int) -> Iterator[Any]:
        before = list_listening(os.getpid())
        with start(count) as client:
            found.addresses.update(list_listening(os.getpid()) - before)
            pages = client.scheduler_info()["services"]["dashboard"]
            for page in ("status", "info/main/workers.html", "json/counts.json", "metrics"):
                with pytest.raises(urllib.error.HTTPError) as answer:
                    urllib.request.urlopen(f"http://127.0.0.1:{pages}/{page}", timeout=10.0)
                found.answers.append(answer.value.code)
            yield client

    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr(cluster, "start_cluster", watch)
        assert replay(BAGS, "local", "--scheduler", "local", "--jobs", "1") == 1
    return found


@pytest.mark.usefixtures("local")
def test_a_cluster_on_this_machine_does_the_same(folder: Path) -> None:
    assert read_tree(folder / "local") == read_tree(folder / "serial")


def test_nobody_else_can_reach_it_and_no_page_shows_it(local: Local) -> None:
    assert local.answers == [404] * 4
    assert len(local.addresses) >= 3, "scheduler, nanny and worker"
    assert {address.split(":")[0] for address in local.addresses} == {"0100007F"}


def test_without_dask_one_line_says_what_to_install(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    monkeypatch.chdir(folder)
    assert replay(["bag_0"], str(tmp_path / "out"), "--scheduler", "local") == 1
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert "pip install 'inertid_ros[cluster]'" in line


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (("--scheduler", "127.0.0.1:8786"), "tcp://HOST:PORT"),
        (("--scheduler", "tcp://127.0.0.1:8786", "--jobs", "2"), "'--jobs' is 2"),
        (("--scheduler", "tcp://127.0.0.1:9"), "no scheduler answers at tcp://127.0.0.1:9"),
        (("--scheduler", "tcp://nobody.invalid:9"), "no scheduler answers"),
        (("--scheduler", "carrier://pigeon:9"), "no scheduler answers"),
    ],
)
def test_a_scheduler_that_cannot_be_used_is_one_line(
    options: tuple[str, ...],
    expected: str,
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(cluster, "_PATIENCE", 0.5)
    monkeypatch.chdir(folder)
    assert replay(["bag_0"], str(tmp_path / "out"), *options) == 1
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert expected in line


def test_a_scheduler_without_workers_says_how_to_start_some(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(cluster, "_PATIENCE", 0.5)
    monkeypatch.chdir(folder)
    with cluster.start_cluster(0) as client:
        assert replay(["bag_0"], str(tmp_path / "out"), "--scheduler", client.scheduler.address) == 1
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert "has no workers: start some with `dask worker tcp://127.0.0.1:" in line


def test_a_worker_without_this_package_is_told_what_to_install(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It stays in the cluster; sent something that it cannot unpickle, it would leave."""
    from distributed import LocalCluster

    monkeypatch.chdir(folder)
    forget = "import sys\nsys.modules['inertid_ros'] = None\n"
    with LocalCluster(1, host="127.0.0.1", dashboard_address="127.0.0.1:0", preload=[forget], silence_logs=50) as one:
        assert replay(["bag_0"], str(tmp_path / "out"), "--scheduler", one.scheduler_address) == 1
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert "bag_0: the worker has not all that is needed: install inertid_ros" in line


def test_a_worker_that_would_do_otherwise_is_refused(tmp_path: Path) -> None:
    proof = tmp_path / "proof"
    place = cluster._Place(tmp_path, proof)
    assert "4 threads" in place.find_obstacle(4)
    assert f"'{tmp_path}'" in place.find_obstacle(1)
    proof.touch()
    assert not place.find_obstacle(1)
    assert "'/nowhere'" in cluster._Place(Path("/nowhere"), proof).find_obstacle(1)
    versions = {**list_versions(), "numpy": "1.0"}
    assert "instead of 1.0" in cluster._Place(tmp_path, proof, versions).find_obstacle(1)
