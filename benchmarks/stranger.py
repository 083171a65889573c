"""A stranger's path, timed in a fresh clone: to the first estimate, from bag to report, from a robot to its payload.

    python benchmarks/stranger.py --write    # the table in the README

Everything that a stranger has not yet is made anew: the environment, and the compiled loops. The robot is the simulated
driver, started before the clock is; its bag is recorded before, too.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
DOMAIN = "101"
"""None of those that tests claim, 1 to 100."""
_TABLE = re.compile(r"\| from \| to \|.*?\n\n", re.DOTALL)
_RECORDED = 60.0
"""Length [s] of the bag: that of a usual motion."""
_LONGEST = 300.0
"""Seconds after which a load that is not known yet never will be."""


class Way(NamedTuple):
    """One way: where it starts and ends, its commands as they are typed, and how long they took [s]."""

    start: str
    end: str
    commands: tuple[str, ...]
    seconds: float

    def write(self) -> str:
        """As a row of the table."""
        typed = "<br>".join(f"`{command}`" for command in self.commands)
        minutes = f"{self.seconds / 60.0:.1f}" if self.seconds >= 6.0 else "< 0.1"
        return f"| {self.start} | {self.end} | {typed} | {len(self.commands)} | {minutes} |\n"


def run(command: str, folder: Path) -> float:
    """Run what is typed, and return the seconds it took."""
    begun = time.monotonic()
    subprocess.run(command, shell=True, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    return time.monotonic() - begun


@contextmanager
def start(*command: str, folder: Path) -> Iterator[None]:
    """Let something run meanwhile."""
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield
    finally:
        process.terminate()
        process.wait()


def record(path: Path) -> None:
    """Write the bag of a PUMA that picks up a bar; runs in the clone's environment."""
    from support.bags import simulated_messages, write_bag
    from support.chain import puma_motion, simulate_puma

    write_bag(path, simulated_messages(simulate_puma(puma_motion(rounds=15)), 0.0, _RECORDED))


def save() -> None:
    """Wait until mass and centre of mass are known, then call ~/save; runs in the clone's environment."""
    import rclpy
    from geometry_msgs.msg import InertiaStamped
    from std_srvs.srv import Trigger

    rclpy.init()
    node, seen = rclpy.create_node("stranger"), list[InertiaStamped]()
    node.create_subscription(InertiaStamped, "/inertid/load/inertia", seen.append, 10)
    client, end = node.create_client(Trigger, "/inertid/save"), time.monotonic() + _LONGEST
    while not seen and time.monotonic() < end:
        rclpy.spin_once(node, timeout_sec=0.1)
    client.wait_for_service(_LONGEST)
    future = client.call_async(Trigger.Request())
    rclpy.spin_until_future_complete(node, future, timeout_sec=_LONGEST)
    result = future.result()
    if not seen or result is None or not result.success:
        raise SystemExit(f"the load was not saved: {result}")


def measure(folder: Path) -> list[Way]:
    """Go all three ways."""
    clone, python = folder / "inertid_ros", folder / "inertid_ros" / ".venv" / "bin" / "python"
    inertid, own = str(python.parent / "inertid"), [str(python), str(clone / "benchmarks" / "stranger.py")]
    seconds = run(f"git clone -q {ROOT} {clone}", folder) + run("make demo", clone)
    ways = [Way("nothing", "first estimate", ("git clone URL inertid_ros && cd inertid_ros", "make demo"), seconds)]
    subprocess.run([*own, "--record", str(folder / "my_bag")], check=True)
    seconds = run(f"{inertid} replay my_bag -o result", folder)
    assert (folder / "result" / "report.html").is_file()
    ways.append(Way("a bag of 60 s", "report", ("inertid replay my_bag -o result",), seconds))
    with start(inertid, "driver", folder=folder):
        time.sleep(10.0)
        begun = time.monotonic()
        with start(inertid, "node", folder=folder):
            subprocess.run([*own, "--save"], cwd=folder, check=True)
            seconds = time.monotonic() - begun
    commands = "ros2 launch inertid_ros load.launch.py", "ros2 service call /inertid/save std_srvs/srv/Trigger"
    ways.append(Way("a robot that moves", "saved payload", commands, seconds))
    return ways


def main() -> None:
    """Measure, or do one step in the clone's environment."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="put the table into the README")
    parser.add_argument("--record", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--save", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    sys.path.insert(0, str(ROOT / "test"))
    if options.record is not None:
        record(options.record)
        return
    if options.save:
        save()
        return
    with tempfile.TemporaryDirectory(prefix="stranger_") as name:
        os.environ.update({"XDG_CACHE_HOME": f"{name}/cache", "ROS_DOMAIN_ID": DOMAIN})
        ways = measure(Path(name))
    table = "| from | to | what you type | commands | minutes |\n| --- | --- | --- | --- | --- |\n"
    table += "".join(way.write() for way in ways)
    print(table, end="")
    if options.write:
        README.write_text(_TABLE.sub(lambda _: table + "\n", README.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
