"""How fast bags are replayed, against iterating over their raw messages and deserialising them with rosbags.

    python benchmarks/replay_speed.py                an hour of a PUMA at 1 kHz: 3 GB in the temporary directory
    python benchmarks/replay_speed.py --minutes 5

Joint states and wrenches of the simulated PUMA are written into an mcap bag. The bag is then iterated over, replayed
and deserialised, each in a process of its own on one core. The replay includes hashing the bag and writing
predictions.mcap, report.html and estimate.json. Fails (1) if it takes more than 3.5 times the iteration, or more than
deserialising takes. Times are those of the processor, so that a machine which does other things as well does not
change them.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from rosbags.highlevel import AnyReader
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore

from inertid_ros.core.records import FloatArray, IntArray
from inertid_ros.core.settings import LoadSettings, Settings
from inertid_ros.messages.cdr_layout import Layout, learn_joint_state, learn_wrench_stamped
from inertid_ros.offline.recordings import find_recordings, replay_recordings
from inertid_ros.offline.replay import Plan
from inertid_ros.share import share_path
from inertid_ros.sim.loads import load_from_yaml
from inertid_ros.sim.motion import Hold, Repeat, Sequence, there_and_back
from inertid_ros.sim.paper_moves import paper_puma_move
from inertid_ros.sim.sensors import SensorModel
from inertid_ros.sim.simulator import Simulator

RATE = 1000.0
LIMIT = 3.5
STORE = get_typestore(Stores.ROS2_JAZZY)
JOINTS, WRENCH = "sensor_msgs/msg/JointState", "geometry_msgs/msg/WrenchStamped"
URDF = share_path("urdf", "puma560.urdf")


def make_simulator() -> Simulator:
    """A PUMA with tachometers at 1 kHz that moves forth and back with the paper's bar."""
    move = paper_puma_move()
    motion = Sequence([Hold(move.at(np.zeros(1)).positions[0], 4.0), Repeat(there_and_back(move))])
    sensors = SensorModel(RATE, RATE, 1e-5, 1e-3, force_noise=0.1, torque_noise=0.005)
    bar = load_from_yaml(share_path("config", "loads", "bar.yaml"))
    return Simulator(URDF.read_text(encoding="utf-8"), "ft_sensor", motion, sensors, [(0.0, bar)])


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


def write_bag(path: Path, seconds: float) -> None:
    """Write the recording, ten seconds at a time."""
    simulator = make_simulator()
    with Writer(path, version=9, storage_plugin=StoragePlugin.MCAP) as writer:
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
    settings = Settings(load=LoadSettings(sensor_frame="ft_sensor"))
    plan = Plan(settings=settings, description=URDF.read_text(encoding="utf-8"))
    outcome = replay_recordings(find_recordings([path], plan), plan, path.parent / "out", lambda _: None)
    assert not outcome.trouble, outcome.trouble


def measure(name: str, path: Path) -> tuple[float, float]:
    """Seconds and megabytes that one of the three takes, in a process of its own."""
    done = subprocess.run(
        [sys.executable, __file__, "--only", name, "--bag", str(path)], stdout=subprocess.PIPE, check=True
    )
    seconds, megabytes = json.loads(done.stdout)
    return seconds, megabytes


def main() -> int:
    """Print the table; 1 if a limit is exceeded."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--only", choices=("iterate", "deserialise", "replay"), help=argparse.SUPPRESS)
    parser.add_argument("--bag", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.only:
        started = time.process_time()
        {"iterate": iterate, "deserialise": deserialise, "replay": replay}[options.only](options.bag)
        seconds = time.process_time() - started
        print(json.dumps([seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0]))
        return 0
    with tempfile.TemporaryDirectory(prefix="inertid_") as folder:
        path = Path(folder) / "bag"
        recorded = 60.0 * options.minutes
        write_bag(path, recorded)
        results = {name: measure(name, path) for name in ("iterate", "replay", "deserialise")}
    for name, (seconds, megabytes) in results.items():
        print(f"{name:12} {seconds:8.1f} s  {megabytes:6.0f} MB  {recorded / seconds:8.0f} times real time")
    ratio = results["replay"][0] / results["iterate"][0]
    is_fast = ratio <= LIMIT and results["replay"][0] < results["deserialise"][0]
    print(f"replay takes {ratio:.2f} times the iteration (limit {LIMIT}): {'ok' if is_fast else 'too slow'}")
    return 0 if is_fast else 1


if __name__ == "__main__":
    sys.exit(main())
