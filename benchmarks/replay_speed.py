"""How fast `inertid replay` is, against iterating over the raw messages of the bag and deserialising them with rosbags.

    python benchmarks/replay_speed.py                an hour of a PUMA at 1 kHz, as mcap and as sqlite3: 3 GB of bags
    python benchmarks/replay_speed.py --minutes 5 --storage mcap
    python benchmarks/replay_speed.py --keep bags    leaves the bags in `bags`, and uses those that are there

Joint states and wrenches of the simulated PUMA are written into a bag. The bag is then iterated over, replayed and
deserialised in turns, each time in a process of its own that is tied to one processor. The replay is the command as a
user runs it, with the hash of the bag, predictions.mcap, report.html and estimate.json. The start of Python counts for
none of them.

Fails (1) if the replay takes more than 1.6 times the iteration, or more than deserialising takes. What counts is the
time of the processor (that of child processes included), median over the rounds: on a machine that does other things as
well, the time on the clock says more about those. Both are printed.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import gc
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rosbags.highlevel import AnyReader
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore

from inertid_ros.cli.main import main as run_command
from inertid_ros.core.records import FloatArray, IntArray
from inertid_ros.files.parameters import load_from_yaml
from inertid_ros.files.share import share_path
from inertid_ros.messages.cdr_layout import Layout, learn_joint_state, learn_wrench_stamped
from inertid_ros.motions.motion import Hold, Repeat, Sequence, paper_puma_move, there_and_back
from inertid_ros.sim.sensors import SensorModel
from inertid_ros.sim.simulator import Simulator

RATE = 1000.0
LIMIT = 1.6
STORE = get_typestore(Stores.ROS2_JAZZY)
JOINTS, WRENCH = "sensor_msgs/msg/JointState", "geometry_msgs/msg/WrenchStamped"
URDF = share_path("urdf", "puma560.urdf")
PARAMS = share_path("config", "puma560.yaml")
PLUGINS = {"mcap": StoragePlugin.MCAP, "sqlite3": StoragePlugin.SQLITE3}


def make_simulator(seed: int = 0) -> Simulator:
    """A PUMA with tachometers at 1 kHz that moves forth and back with the paper's bar."""
    move = paper_puma_move()
    motion = Sequence([Hold(move.at(np.zeros(1)).positions[0], 4.0), Repeat(there_and_back(move))])
    sensors = SensorModel(RATE, RATE, 1e-5, 1e-3, force_noise=0.1, torque_noise=0.005)
    bar = load_from_yaml(share_path("config", "loads", "bar.yaml"))
    return Simulator(URDF.read_text(encoding="utf-8"), "ft_sensor", motion, sensors, [(0.0, bar)], seed=seed)


def encode(template: bytes, layout: Layout, stamps: IntArray, fields: dict[str, FloatArray]) -> list[bytes]:
    """Serialised copies of a message with other stamps and numbers."""
    size = len(template)
    table = np.empty((len(stamps), size), dtype=np.uint8)
    table[:] = np.frombuffer(template, dtype=np.uint8)
    records = table.ravel().view(layout.dtype)
    records["sec"], records["nanosec"] = np.divmod(stamps, 1_000_000_000)
    for name, values in fields.items():
        records[name] = values
    data = table.tobytes()
    return [data[start : start + size] for start in range(0, len(data), size)]


def make_templates(names: tuple[str, ...]) -> tuple[bytes, bytes]:
    """A serialised joint state with positions, velocities and efforts, and a serialised wrench."""
    kinds: Any = STORE.types
    time_zero = kinds["builtin_interfaces/msg/Time"](sec=0, nanosec=0)
    header = kinds["std_msgs/msg/Header"](stamp=time_zero, frame_id="ft_sensor")
    zeros = np.zeros(len(names))
    joints = kinds[JOINTS](header=header, name=list(names), position=zeros, velocity=zeros, effort=zeros)
    vector = kinds["geometry_msgs/msg/Vector3"](x=0.0, y=0.0, z=0.0)
    wrench = kinds[WRENCH](header=header, wrench=kinds["geometry_msgs/msg/Wrench"](force=vector, torque=vector))
    return bytes(STORE.serialize_cdr(joints, JOINTS)), bytes(STORE.serialize_cdr(wrench, WRENCH))


def write_bag(path: Path, seconds: float, plugin: StoragePlugin, seed: int = 0) -> None:
    """Write the recording, with the noise of a seed, ten seconds at a time."""
    simulator = make_simulator(seed)
    with Writer(path, version=9, storage_plugin=plugin) as writer:
        joint_states = writer.add_connection("/joint_states", JOINTS, typestore=STORE)
        wrench = writer.add_connection("/wrench", WRENCH, typestore=STORE)
        for start in np.arange(0.0, seconds, 10.0).tolist():
            end = min(start + 10.0, seconds)
            joints, wrenches = simulator.joints(start, end), simulator.wrenches(start, end)
            joint_template, wrench_template = make_templates(joints.names)
            fields = {"position": joints.positions, "velocity": np.asarray(joints.velocities)}
            encoded = encode(joint_template, learn_joint_state(joint_template), joints.stamps, fields)
            others = encode(
                wrench_template, learn_wrench_stamped(wrench_template), wrenches.stamps, {"wrench": wrenches.wrenches}
            )
            for stamp, data, other_stamp, other in zip(
                joints.stamps.tolist(), encoded, wrenches.stamps.tolist(), others, strict=True
            ):
                writer.write(joint_states, stamp, data)
                writer.write(wrench, other_stamp, other)


def iterate(path: Path) -> None:
    """Look at every raw message."""
    with AnyReader([path]) as reader:
        for _ in reader.messages():
            pass


def deserialise(path: Path) -> None:
    """Deserialise every message."""
    with AnyReader([path]) as reader:
        for connection, _, raw in reader.messages():
            reader.deserialize(raw, connection.msgtype)


def replay(path: Path) -> None:
    """Replay with the load estimator and write all files."""
    with tempfile.TemporaryDirectory(prefix="inertid_", dir=path.parent) as output:
        code = run_command(["replay", str(path), "--params", str(PARAMS), "--urdf", str(URDF), "-o", output])
    assert code == 0


TASKS = {"iterate": iterate, "replay": replay, "deserialise": deserialise}


class Cost(NamedTuple):
    """Seconds of the processor, seconds on the clock, and megabytes of memory at most."""

    processor: float
    clock: float
    memory: float


def run_task(name: str, path: Path) -> Cost:
    """Run one of the tasks in this process, on one processor."""
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    gc.freeze()  # as the command does: what was imported is not looked through again and again
    clock, processor = time.perf_counter(), measure_processor()
    TASKS[name](path)
    clock, processor = time.perf_counter() - clock, measure_processor() - processor
    return Cost(processor, clock, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0)


def measure_processor() -> float:
    """Seconds that this process and its children have used."""
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def measure(name: str, path: Path) -> Cost:
    """What one of the tasks takes, in a process of its own."""
    done = subprocess.run(
        [sys.executable, __file__, "--task", name, str(path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        check=True,
    )
    return Cost(*json.loads(done.stdout.splitlines()[-1]))


def compare(path: Path, recorded: float, rounds: int) -> bool:
    """Print what the tasks take on one bag; returns whether replay is within the limits."""
    costs: dict[str, list[Cost]] = {name: [] for name in TASKS}
    for _ in range(rounds):
        for name, taken in costs.items():
            taken.append(measure(name, path))
    for name, taken in costs.items():
        processor, clock, memory = np.median(taken, axis=0).tolist()
        print(
            f"{name:12} processor {processor:7.1f} s  clock {clock:7.1f} s  {memory:5.0f} MB  "
            f"{recorded / processor:6.0f} times faster than real time"
        )
    ratios = {
        name: float(
            np.median([ours.processor / theirs.processor for ours, theirs in zip(costs["replay"], other, strict=True)])
        )
        for name, other in costs.items()
    }
    is_fast = ratios["iterate"] <= LIMIT and ratios["deserialise"] < 1.0
    print(
        f"replay takes {ratios['iterate']:.2f} times the iteration (limit {LIMIT}) and {ratios['deserialise']:.2f} "
        f"times deserialising (limit 1), by the processor: {'ok' if is_fast else 'too slow'}"
    )
    return is_fast


def main() -> int:
    """Print the table; 1 if a limit is exceeded."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=60.0, help="length of the recording (default: 60)")
    parser.add_argument("--rounds", type=int, default=3, help="how often each is measured (default: 3)")
    parser.add_argument("--storage", choices=tuple(PLUGINS), help="format of the bag (default: one after the other)")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="directory for the bags; those there are used again")
    parser.add_argument("--task", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.task:
        print(json.dumps(run_task(options.task[0], Path(options.task[1]))))
        return 0
    recorded = 60.0 * options.minutes
    is_fast = True
    with tempfile.TemporaryDirectory(prefix="inertid_") as folder:
        for storage in [options.storage] if options.storage else PLUGINS:
            path = (options.keep or Path(folder)) / f"puma_{options.minutes:g}_min_{storage}"
            if not path.exists():
                path.parent.mkdir(parents=True, exist_ok=True)
                write_bag(path, recorded, PLUGINS[storage])
            print(f"{storage}, {options.minutes:g} minutes")
            is_fast &= compare(path, recorded, options.rounds)
    return 0 if is_fast else 1


if __name__ == "__main__":
    sys.exit(main())
