"""What the live node costs and how fast it answers, in units of a bare rclpy node that echoes the same samples.

    python benchmarks/live.py [--seconds 60] [--view]

A process of its own publishes the joint states and wrenches of a 7-joint arm at 1 kHz each, at the times of their
irregular stamps: half of the wrenches are newer than the newest joint state. Echo and node take turns every two seconds
in one run, with the same messages, so that a machine which does other things as well slows down both alike. The echo
takes both topics as raw bytes and sends back, reliably, on an EventsExecutor, what the node answers in the same row:
each wrench (load), each joint state (links), or each of them on a topic of its own (both). Less is not possible in
rclpy. The node also draws markers and completes the links meanwhile. With --view, `inertid view` shows the node to a
browser (a small window: drawing it without a graphics card takes processor time, which is not the page's). Fails (1)
above the limits, or if a sample is not answered.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")

import argparse
import gc
import multiprocessing
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import rclpy
from geometry_msgs.msg import WrenchStamped
from rclpy.executors import ExternalShutdownException
from rclpy.experimental import EventsExecutor
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.serialization import serialize_message
from rclpy.signals import SignalHandlerOptions
from rclpy.task import Future
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from visualization_msgs.msg import MarkerArray

from inertid_ros.core.records import FloatArray, IntArray
from inertid_ros.files.parameters import load_from_yaml
from inertid_ros.files.share import share_path
from inertid_ros.motions.multisine import JointLimits, Multisine
from inertid_ros.ros.inputs import SAMPLES
from inertid_ros.sim.arm import JointFriction
from inertid_ros.sim.sensors import SensorModel
from inertid_ros.sim.simulator import Simulator

JOINTS = 7
RATE = 1000.0
JITTER = 0.4e-3
"""Seconds by which stamps are irregular: nearly half a period, so that wrenches fall before and after joint states."""
PHASE = 2.0
"""Seconds for which echo and node take turns."""
WARM_UP = 4.0
"""Seconds of samples that are not counted: discovery, compilation, first estimates."""
FIRST_DOMAIN = 216
"""Of the ROS domains above those that tests and people use; Linux leaves room for 215 to 232."""
PATIENCE = 60.0
"""Seconds the processes may take to start."""
SETTLE = 0.5
"""Seconds after the last sample of a phase within which all answers must be there."""
P50_LIMIT, P99_LIMIT, CPU_LIMIT = 1.4, 2.0, 1.6
VIEW_LIMIT = 0.25
"""Cores that the page may take."""
_WRENCH, _JOINT = 0, 1


_KINDS: dict[int, tuple[Any, str]] = {_JOINT: (JointState, "joint_states"), _WRENCH: (WrenchStamped, "wrench")}
_ANSWERS = {_WRENCH: "load/wrench_predicted", _JOINT: "links/effort_predicted"}
"""Topics of the node that answer each kind of sample; those of the echo are /echo/ and the same."""


class Row(NamedTuple):
    """What is identified, and which kinds of samples are answered."""

    name: str
    estimators: str
    answered: tuple[int, ...]


ROWS = (
    Row("load", "[load]", (_WRENCH,)),
    Row("links", "[links]", (_JOINT,)),
    Row("both", "[load, links]", (_WRENCH, _JOINT)),
)


class Phase(NamedTuple):
    """Round trips [us] of one phase by kind of sample, processor time [s], cores of the page, missing answers."""

    round_trips: dict[int, FloatArray]
    processor_time: float
    view: float
    lost: int


# The arm and its samples


def make_urdf() -> str:
    """An arm of seven revolute joints about alternating axes, with a frame `ft_sensor` at its tip."""
    parts = ['<robot name="arm7"><link name="base"/>']
    parent = "base"
    for index in range(1, JOINTS + 1):
        mass, axis = 6.0 / index, "0 0 1" if index % 2 else "0 1 0"
        inertia = 0.02 * mass
        parts.append(
            f'<link name="link{index}"><inertial><origin xyz="0.01 0.02 0.1"/><mass value="{mass}"/><inertia '
            f'ixx="{inertia}" ixy="0" ixz="0" iyy="{inertia}" iyz="0" izz="{0.5 * inertia}"/></inertial></link>'
            f'<joint name="joint{index}" type="revolute"><parent link="{parent}"/><child link="link{index}"/>'
            f'<origin xyz="0 0 0.2"/><axis xyz="{axis}"/>'
            '<limit lower="-3" upper="3" velocity="3" effort="500"/></joint>'
        )
        parent = f"link{index}"
    parts.append(
        f'<link name="ft_sensor"/><joint name="sensor" type="fixed"><parent link="{parent}"/>'
        '<child link="ft_sensor"/><origin xyz="0 0 0.1"/></joint></robot>'
    )
    return "".join(parts)


def make_samples(count: int) -> list[tuple[int, int, int, bytes]]:
    """Time [ns] from the start, kind, number and message of each sample, in the order of their stamps."""
    seconds = count / RATE
    limits = JointLimits(*(np.full(JOINTS, value) for value in (-1.5, 1.5, 1.5, 6.0)))
    motion = Multisine(limits, 10.0, cycles=int(seconds / 10.0) + 1)
    sensors = SensorModel(
        joint_rate=RATE,
        wrench_rate=RATE,
        stamp_jitter=JITTER,
        velocity_noise=1e-3,
        force_noise=0.1,
        torque_noise=5e-3,
        effort_noise=0.2,
    )
    load = load_from_yaml(share_path("config", "loads", "bar.yaml"))
    arm = Simulator(
        make_urdf(), "ft_sensor", motion, sensors, [(0.0, load)], friction=JointFriction(2.0, 4.0, 0.5, 0.1)
    )
    joints, wrenches = arm.joints(0.0, seconds), arm.wrenches(0.0, seconds)
    assert joints.velocities is not None
    assert joints.efforts is not None
    samples = []
    joint, wrench = JointState(name=list(joints.names)), WrenchStamped()
    wrench.header.frame_id = wrenches.frame
    for index in range(len(joints.stamps)):
        _set_stamp(joint, joints.stamps.item(index))
        joint.position, joint.velocity = joints.positions[index].tolist(), joints.velocities[index].tolist()
        joint.effort = joints.efforts[index].tolist()
        samples.append((joints.stamps.item(index), _JOINT, index, serialize_message(joint)))
        _set_stamp(wrench, wrenches.stamps.item(index))
        force, torque = wrench.wrench.force, wrench.wrench.torque
        force.x, force.y, force.z, torque.x, torque.y, torque.z = wrenches.wrenches[index].tolist()
        samples.append((wrenches.stamps.item(index), _WRENCH, index, serialize_message(wrench)))
    return sorted(samples)


def _set_stamp(message: Any, stamp: int) -> None:
    message.header.stamp.sec, message.header.stamp.nanosec = divmod(stamp, 1_000_000_000)


# The processes beside the node


def run_source(pipe: Connection, sent_file: str, count: int) -> None:
    """Publish parts of the samples when asked to, and write down when each was sent [ns of the monotonic clock]."""
    samples = make_samples(count)
    sent = np.memmap(sent_file, dtype=np.int64, mode="r+", shape=(2, count))
    rclpy.init()
    node = Node("source", start_parameter_services=False, enable_rosout=False)
    publishers = {
        target: {
            kind: node.create_publisher(message, f"{target}{topic}", 50) for kind, (message, topic) in _KINDS.items()
        }
        for target in ("/", "/echo/")
    }
    needed = (publishers["/"][_JOINT], *publishers["/echo/"].values())
    deadline = time.monotonic() + PATIENCE
    while not all(publisher.get_subscription_count() for publisher in needed) and time.monotonic() < deadline:
        time.sleep(0.05)
    pipe.send([[sample[0] for sample in samples if sample[1] == kind] for kind in (_WRENCH, _JOINT)])
    gc.collect()
    gc.freeze()
    gc.disable()
    while (command := pipe.recv()) is not None:
        target, first, last = command
        chosen = [sample for sample in samples if first <= sample[2] < last]
        begin = time.monotonic_ns() + 5_000_000 - chosen[0][0]
        for stamp, kind, index, data in chosen:
            while (wait := begin + stamp - time.monotonic_ns()) > 0:
                if wait > 100_000:
                    time.sleep((wait - 80_000) * 1e-9)
            sent[kind, index] = time.monotonic_ns()
            publishers[target][kind].publish(data)
        pipe.send("sent")
    rclpy.shutdown()


def run_echo(row: Row) -> None:
    """Send every sample that the node would answer back as it came, until the process is ended."""
    rclpy.init()
    node = Node("echo", start_parameter_services=False, enable_rosout=False)
    for kind, (message, topic) in _KINDS.items():
        take: Callable[[bytes], None] = _ignore
        if kind in row.answered:
            take = node.create_publisher(message, f"/echo/{_ANSWERS[kind]}", QoSProfile(depth=50)).publish
        node.create_subscription(message, f"/echo/{topic}", take, SAMPLES, raw=True)
    executor = EventsExecutor()
    executor.add_node(node)
    gc.collect()
    gc.freeze()
    try:
        while rclpy.ok():
            executor.spin_until_future_complete(Future(), timeout_sec=1.0)
    except ExternalShutdownException:
        pass


def _ignore(_: bytes) -> None:
    """Take a sample that is not answered."""


def read_processor_time(pid: int) -> float:
    """Processor time [s] that all threads of a process have had so far."""
    files = Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(int(file.read_text().split()[0]) for file in files) * 1e-9


# The measurement


class Sink:
    """Hears all answers, and knows how long after its sample each of them came."""

    def __init__(self, row: Row) -> None:
        """Subscribe to the answers of node and echo, and to what the node takes long for."""
        self.node = Node("sink", start_parameter_services=False, enable_rosout=False)
        self.arrivals: dict[int, list[tuple[int, bytes]]] = {kind: [] for kind in row.answered}
        for kind, heard in self.arrivals.items():
            for who in ("/inertid/", "/echo/"):
                self.node.create_subscription(
                    _KINDS[kind][0],
                    who + _ANSWERS[kind],
                    lambda data, heard=heard: heard.append((time.monotonic_ns(), data)),
                    1000,
                    raw=True,
                )
        for topic, other in (("markers", MarkerArray), ("links/parameters", Float64MultiArray)):
            self.node.create_subscription(other, f"/inertid/{topic}", lambda _: None, 10, raw=True)
        self.executor = EventsExecutor()
        self.executor.add_node(self.node)

    def spin(self, seconds: float) -> None:
        """Hear what comes within so many seconds."""
        self.executor.spin_until_future_complete(Future(), timeout_sec=seconds)


class Bench:
    """Source, sink and the two processes that are compared."""

    def __init__(self, row: Row, source: Connection, sent: IntArray, pids: dict[str, int]) -> None:
        """Listen for the answers; stamps of all samples come from the source, when it is ready."""
        self._source, self._sent, self._pids = source, sent, pids
        self._sink = Sink(row)
        stamps: list[list[int]] = source.recv()
        self._numbers = [{stamp: index for index, stamp in enumerate(of_kind)} for of_kind in stamps]

    def run(self, target: str, first: int, last: int) -> Phase:
        """Send samples to node or echo and wait for the answers."""
        for heard in self._sink.arrivals.values():
            heard.clear()
        pids, begun = (self._pids[target], self._pids["view"]), time.monotonic()
        before = [read_processor_time(pid) for pid in pids]
        self._source.send((target, first, last))
        while not self._source.poll():
            self._sink.spin(0.2)
        self._source.recv()
        self._sink.spin(SETTLE)
        spent, view_spent = (read_processor_time(pid) - begin for pid, begin in zip(pids, before, strict=True))
        elapsed = time.monotonic() - begun
        round_trips = {kind: self._match(kind) for kind in self._sink.arrivals}
        lost = sum(last - first - len(found) for found in round_trips.values())
        return Phase(round_trips, spent, view_spent / elapsed, lost)

    def _match(self, kind: int) -> FloatArray:
        """Round trips [us] of the answers to one kind of sample, in any order."""
        found: dict[int, float] = {}
        for arrival, data in self._sink.arrivals[kind]:
            seconds, nanoseconds = struct.unpack_from("<iI", data, 4)
            number = self._numbers[kind][seconds * 1_000_000_000 + nanoseconds]
            assert number not in found, f"{_ANSWERS[kind]} answers a sample twice"
            found[number] = (arrival - int(self._sent[kind, number])) * 1e-3
        return np.array(list(found.values()))


@contextmanager
def show_page(folder: Path) -> Iterator[int]:
    """Serve the page of the node and look at it in a browser; gives the process that serves it."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "test"))
    from support.live_browser import Browser

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    browser = Browser(folder / "profile", 400, 300)
    page = subprocess.Popen([sys.executable, "-m", "inertid_ros.cli.main", "view", "--port", str(port)])
    deadline = time.monotonic() + PATIENCE
    try:
        while browser.ask("document.body.innerText.includes('Estimate')") is not True:
            assert time.monotonic() < deadline, "the page cannot be opened"
            browser.open(f"http://127.0.0.1:{port}")
            time.sleep(3.0)
        yield page.pid
    finally:
        browser.close()
        page.terminate()
        page.wait()


@contextmanager
def start_processes(row: Row, folder: Path, count: int, with_view: bool) -> Iterator[Bench]:
    """Start source, echo and node, and the page if it is wanted, and end them."""
    urdf, sent_file = folder / "arm.urdf", folder / "sent"
    urdf.write_text(make_urdf(), encoding="utf-8")
    sent = np.memmap(sent_file, dtype=np.int64, mode="w+", shape=(2, count))
    parameters = {
        "urdf": urdf,
        "estimators": row.estimators,
        "load.sensor_frame": "ft_sensor",
        "links.effort_unit": "newton_metre",
        "use_sim_time": "true",
    }
    arguments = [word for name, value in parameters.items() for word in ("-p", f"{name}:={value}")]
    node = subprocess.Popen([sys.executable, "-m", "inertid_ros.cli.main", "node", "--ros-args", *arguments])
    echo = subprocess.Popen([sys.executable, __file__, "--echo", row.name])
    here, there = multiprocessing.Pipe()
    spawn = multiprocessing.get_context("spawn")
    source = spawn.Process(target=run_source, args=(there, str(sent_file), count), daemon=True)
    source.start()
    try:
        with show_page(folder) if with_view else nullcontext(0) as view:
            yield Bench(row, here, sent, {"/": node.pid, "/echo/": echo.pid, "view": view})
    finally:
        here.send(None)
        for process in (node, echo):
            process.terminate()
            process.wait()
        source.join()


def measure(row: Row, seconds: float, with_view: bool) -> tuple[list[Phase], list[Phase]]:
    """Let node and echo take turns; returns the phases of both."""
    size, warm_up = round(PHASE * RATE), round(WARM_UP * RATE)
    rounds = max(1, round(seconds / (2.0 * PHASE)))
    nodes, echoes = [], []
    with (
        tempfile.TemporaryDirectory() as folder,
        start_processes(row, Path(folder), warm_up + rounds * size, with_view) as bench,
    ):
        bench.run("/echo/", 0, warm_up // 4)
        bench.run("/", 0, warm_up)
        for number in range(rounds):
            part = warm_up + number * size, warm_up + (number + 1) * size
            echoes.append(bench.run("/echo/", *part))
            nodes.append(bench.run("/", *part))
    return nodes, echoes


def report(row: Row, nodes: list[Phase], echoes: list[Phase]) -> bool:
    """Print one line for each topic that answers; returns whether all is within the limits."""
    cost, echo_cost = (sum(phase.processor_time for phase in phases) for phases in (nodes, echoes))
    lost, length = sum(phase.lost for phase in nodes), len(nodes) * PHASE
    is_good = lost == 0 and cost <= CPU_LIMIT * echo_cost
    for kind in row.answered:
        (p50, p99), echo = (
            np.percentile(np.concatenate([phase.round_trips[kind] for phase in phases]), [50, 99]).tolist()
            for phases in (nodes, echoes)
        )
        is_good &= p50 <= P50_LIMIT * echo[0] and p99 <= P99_LIMIT * echo[1]
        print(
            f"{row.name:6} {_ANSWERS[kind]:24} {p50:6.0f} {p50 / echo[0]:5.2f} {p99:7.0f} {p99 / echo[1]:5.2f} "
            f"{cost / length:7.3f} {cost / echo_cost:5.2f} {lost:6d}\n"
            f"       {'echo':24} {echo[0]:6.0f} {'':5} {echo[1]:7.0f} {'':5} {echo_cost / length:7.3f}",
            flush=True,
        )
    view = sum(phase.view for phase in nodes) / len(nodes)
    if view:
        print(f"       {'view':24} {'':26} {view:7.3f}", flush=True)
    return is_good and view <= VIEW_LIMIT


def main() -> int:
    """Measure all rows; returns 1 if one is above the limits."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60.0, help="how long all rows take together")
    parser.add_argument("--rows", nargs="*", default=[row.name for row in ROWS], help="load, links, both")
    parser.add_argument("--view", action="store_true", help="beside a page that a browser shows")
    parser.add_argument("--echo", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.echo:
        run_echo(next(row for row in ROWS if row.name == options.echo))
        return 0
    os.environ["ROS_DOMAIN_ID"] = str(FIRST_DOMAIN + os.getpid() % 16)
    # rclpy's own handler would leave this process waiting, and the others running.
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    print(f"{'':31} {'p50':>6} {'':5} {'p99':>7} {'':5} {'cores':>7} {'':5} {'lost':>6}   (microseconds, times echo)")
    rows = [row for row in ROWS if row.name in options.rows]
    results = [report(row, *measure(row, options.seconds / len(rows), options.view)) for row in rows]
    rclpy.shutdown()
    print(f"limits: p50 {P50_LIMIT}, p99 {P99_LIMIT}, processor time {CPU_LIMIT} times the echo's, no sample lost")
    if options.view:
        print(f"        view {VIEW_LIMIT} cores")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
