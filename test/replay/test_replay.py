"""Bags through the chain: the same as the chain alone, whatever the storage, the blocks and the number of runs."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from rosbags.highlevel import AnyReader
from rosbags.rosbag2 import CompressionMode, StoragePlugin
from support.bags import Message, find_storage, puma_messages, write_bag
from support.chain import BAR, PUMA, make_chain, puma_motion, simulate_puma

from inertid_ros.bags.bag import Bag
from inertid_ros.bags.sqlite_pages import find_children, read_rows
from inertid_ros.cli.main import main
from inertid_ros.core.records import FloatArray, IntArray, Output
from inertid_ros.core.settings.choices import SignChoice
from inertid_ros.core.settings.settings import LoadSettings, Settings
from inertid_ros.replay.inputs import Plan
from inertid_ros.replay.recorder import count_values, widen_envelope
from inertid_ros.replay.recordings import find_recordings, replay_recordings
from inertid_ros.replay.replay import replay_bags
from inertid_ros.replay.residuals import add_samples
from inertid_ros.replay.trace import LoadTrace
from inertid_ros.replay.warm_up import warm_up

DRAWN = Plan(settings=Settings(load=LoadSettings(sensor_frame="ft_sensor", wrench_sign=SignChoice.ON_LOAD)))
"""With estimates on the way, for a curve: they take most of the time of a replay, and change nothing."""
PLAN = dataclasses.replace(DRAWN, moments=0)
SECONDS = 8.0


class Collector:
    """Keeps all predictions."""

    def __init__(self) -> None:
        self.stamps: list[IntArray] = []
        self.predicted: list[FloatArray] = []

    def add_wrenches(self, topics: Sequence[str], frame: str) -> Collector:
        assert len(topics) == 2
        assert frame == "ft_sensor"
        return self

    def add_efforts(self, topics: Sequence[str], joints: Sequence[str]) -> Collector:
        raise AssertionError(f"nobody asked for {topics} of {joints}")

    def write(self, stamps: IntArray, values: Sequence[FloatArray]) -> None:
        self.stamps.append(stamps)
        self.predicted.append(values[0])


class Replayed(NamedTuple):
    """What comes of a replay: the trace, and stamps and predictions of all wrenches."""

    trace: LoadTrace
    stamps: IntArray
    predicted: FloatArray


def replay(*paths: Path, plan: Plan = PLAN) -> Replayed:
    collector = Collector()
    trace = replay_bags(paths, plan, lambda: collector, lambda _: None).load
    assert trace is not None
    return Replayed(trace, np.concatenate(collector.stamps), np.concatenate(collector.predicted))


@pytest.fixture(scope="module")
def messages() -> list[Message]:
    return puma_messages(SECONDS)


@pytest.fixture(scope="module")
def bag(messages: list[Message], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_bag(tmp_path_factory.mktemp("bags") / "puma", messages)


@pytest.fixture(scope="module")
def replayed(bag: Path) -> Replayed:
    """The bag, replayed once for all tests."""
    return replay(bag, plan=DRAWN)


@pytest.fixture(scope="module")
def written(bag: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `inertid replay` writes of the bag."""
    output = tmp_path_factory.mktemp("written")
    assert not replay_recordings(find_recordings([bag], DRAWN), DRAWN, output, lambda _: None).trouble
    return output


@pytest.fixture(scope="module")
def direct() -> Output:
    """The chain alone, fed with everything at once."""
    simulator = simulate_puma(puma_motion(rounds=4))
    chain = make_chain()
    chain.push(simulator.joints(0.0, SECONDS))
    chain.push(simulator.wrenches(0.0, SECONDS))
    output = chain.process()
    assert output is not None
    return output


def test_replay_predicts_what_the_chain_predicts_and_loses_no_sample(replayed: Replayed, direct: Output) -> None:
    np.testing.assert_array_equal(replayed.stamps, direct.stamps)
    np.testing.assert_allclose(replayed.predicted, direct.predicted, rtol=1e-9, atol=1e-8)


def test_replay_identifies_the_bar(replayed: Replayed) -> None:
    estimate = replayed.trace.estimate
    error = estimate.values - BAR
    assert np.all(np.abs(error) <= 5.0 * np.sqrt(np.diag(estimate.covariance)))
    assert estimate.states[0] == "known"


def test_same_bag_gives_bit_identical_results(bag: Path, replayed: Replayed) -> None:
    again = replay(bag)
    assert again.predicted.tobytes() == replayed.predicted.tobytes()
    for name in ("values", "covariance"):
        one, other = (getattr(found.trace.estimate, name) for found in (replayed, again))
        assert one.tobytes() == other.tobytes()


def test_every_process_writes_the_same_files(bag: Path, tmp_path: Path) -> None:
    """Byte for byte, also where sets are walked over in another order."""
    here, there = tmp_path / "here", tmp_path / "there"
    assert main(["replay", str(bag), "-o", str(here)]) == 0
    seed = "1" if os.environ.get("PYTHONHASHSEED") != "1" else "2"
    command = [sys.executable, "-m", "inertid_ros.cli.main", "replay", str(bag), "-o", str(there)]
    subprocess.run(command, check=True, env={**os.environ, "PYTHONHASHSEED": seed})
    for name in ("estimate.json", "predictions.mcap"):
        assert (there / name).read_bytes() == (here / name).read_bytes()


@pytest.mark.parametrize("size", [1, 333, 100_000])
def test_size_of_blocks_changes_nothing(bag: Path, replayed: Replayed, size: int) -> None:
    other = replay(bag, plan=dataclasses.replace(PLAN, block_size=size))
    np.testing.assert_array_equal(other.stamps, replayed.stamps)
    np.testing.assert_allclose(other.predicted, replayed.predicted, rtol=1e-9, atol=1e-8)
    expected, found = replayed.trace.estimate, other.trace.estimate
    deviations = np.sqrt(np.diag(expected.covariance))
    np.testing.assert_allclose(found.values / deviations, expected.values / deviations, atol=1e-6)
    assert other.trace.health == replayed.trace.health


def test_what_is_compiled_beforehand_is_all_that_it_needs(messages: list[Message], tmp_path: Path) -> None:
    kernels: tuple[Any, ...] = (count_values, widen_envelope, add_samples, find_children, read_rows)
    warm_up()
    before = [kernel.signatures for kernel in kernels]
    assert all(before)
    replay(write_bag(tmp_path / "bag", messages, StoragePlugin.SQLITE3))
    assert [kernel.signatures for kernel in kernels] == before


@pytest.mark.parametrize(
    ("storage", "compression"),
    [
        (StoragePlugin.SQLITE3, CompressionMode.NONE),
        (StoragePlugin.SQLITE3, CompressionMode.FILE),
        (StoragePlugin.SQLITE3, CompressionMode.MESSAGE),
        (StoragePlugin.MCAP, CompressionMode.FILE),
        (StoragePlugin.MCAP, CompressionMode.STORAGE),
    ],
)
def test_every_storage_and_compression_gives_the_same(
    messages: list[Message], replayed: Replayed, tmp_path: Path, storage: StoragePlugin, compression: CompressionMode
) -> None:
    other = write_bag(tmp_path / "bag", messages, storage, compression)
    assert replay(other).predicted.tobytes() == replayed.predicted.tobytes()


def test_single_file_of_a_folder_is_a_bag_too(bag: Path, replayed: Replayed) -> None:
    assert replay(find_storage(bag)).predicted.tobytes() == replayed.predicted.tobytes()


def test_recording_split_into_bags_is_one_recording(replayed: Replayed, tmp_path: Path) -> None:
    messages = puma_messages(SECONDS)
    middle = len(messages) // 2
    halves = [write_bag(tmp_path / "a", messages[:middle]), write_bag(tmp_path / "b", messages[middle:])]
    (recording,) = find_recordings(halves, PLAN)
    assert recording.paths == tuple(halves)
    found = replay(*halves)
    np.testing.assert_array_equal(found.stamps, replayed.stamps)
    np.testing.assert_allclose(found.predicted, replayed.predicted, rtol=1e-9, atol=1e-8)


def test_time_that_starts_anew_within_a_block_loses_no_wrench(tmp_path: Path) -> None:
    messages = puma_messages(1.5)
    late = messages[-1][2] + 1_000_000
    again = [(topic, kind, late + index, data) for index, (topic, kind, _, data) in enumerate(messages)]
    looped = write_bag(tmp_path / "looped", messages + again)
    whole = replay(looped, plan=dataclasses.replace(PLAN, block_size=100_000))
    assert whole.trace.notes == ()
    single = replay(looped, plan=dataclasses.replace(PLAN, block_size=1))
    np.testing.assert_array_equal(whole.stamps, single.stamps)
    assert len(whole.stamps) > 1.9 * len(replay(write_bag(tmp_path / "once", messages)).stamps)


def test_files_are_written(written: Path) -> None:
    document = json.loads((written / "estimate.json").read_text())
    assert document["format"] == "inertid_ros estimate"
    load = document["load"]
    assert load["mass"] == pytest.approx(BAR[0], abs=5 * load["mass_std"])
    np.testing.assert_allclose(load["com"], np.array(load["parameters"][1:4]) / load["mass"])
    assert np.array(load["covariance"]).shape == (10, 10)
    assert len(load["bias"]) == 6
    assert len(load["states"]) == 10
    assert document["residual"]["count"] == sum(part["residual"]["count"] for part in document["recordings"])
    assert document["residual"]["relative_rms"] > 0.0
    assert len(document["recordings"][0]["inputs"][0]["sha256"]) == 64
    assert (written / "report.html").stat().st_size > 0


def test_predictions_can_be_read_and_add_up_to_what_was_measured(bag: Path, written: Path) -> None:
    values: dict[str, dict[int, list[float]]] = {}
    for path in (written / "predictions.mcap", bag):
        with AnyReader([path]) as reader:
            for connection, _, raw in reader.messages():
                if connection.msgtype == "geometry_msgs/msg/WrenchStamped":
                    message = reader.deserialize(raw, connection.msgtype)
                    stamp = message.header.stamp.sec * 10**9 + message.header.stamp.nanosec  # type: ignore[attr-defined]
                    force = message.wrench.force  # type: ignore[attr-defined]
                    assert message.header.frame_id == "ft_sensor"  # type: ignore[attr-defined]
                    values.setdefault(connection.topic, {})[stamp] = [force.x, force.y, force.z]
    predicted, residual = values["/inertid/load/wrench_predicted"], values["/inertid/load/wrench_residual"]
    assert predicted.keys() == residual.keys()
    assert len(predicted) > 1000
    for stamp, value in predicted.items():
        np.testing.assert_allclose(np.add(value, residual[stamp]), values["/wrench"][stamp], atol=1e-9)


def test_robot_description_comes_from_the_bag_or_from_the_plan(tmp_path: Path, replayed: Replayed) -> None:
    without = write_bag(tmp_path / "without", puma_messages(SECONDS)[1:])
    plan = dataclasses.replace(PLAN, description=PUMA)
    assert replay(without, plan=plan).predicted.tobytes() == replayed.predicted.tobytes()


def test_trace_is_bounded_and_shows_everything(bag: Path, replayed: Replayed) -> None:
    trace, stamps = replayed.trace, replayed.stamps
    assert trace.duration == pytest.approx((stamps[-1] - stamps[0]) * 1e-9)
    assert 50 <= len(trace.convergence.times) <= 256
    assert np.all(np.diff(trace.convergence.times) > 0.0)
    assert trace.signals.times[-1] <= trace.duration
    np.testing.assert_array_equal(trace.convergence.values[-1], trace.estimate.values)
    assert trace.histogram.counts.sum() == 6 * len(stamps)
    for topic in trace.topics:
        assert topic.latency == pytest.approx(0.002, abs=1e-6)
    with Bag(bag) as opened:
        assert {topic.topic: topic.count for topic in trace.topics} == {
            name: opened.topics[name].count for name in ("/joint_states", "/wrench")
        }


def test_convergence_is_shown_as_it_was_and_not_as_it_ended(bag: Path) -> None:
    """Before the first motion nothing is known, however large the blocks that are read."""
    trace = replay(bag, plan=dataclasses.replace(DRAWN, block_size=10**6)).trace
    at_rest = trace.convergence.times < 1.8
    assert at_rest.any()
    assert np.all(trace.convergence.deviations[at_rest, 0] > 1.0)
    assert trace.convergence.deviations[-1, 0] < 0.02, "a per cent of 1.8 kg, the sensor's gain"
