"""Memory that a replay takes does not depend on the length of the recording."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from replay_speed import PLUGINS, URDF, write_bag

SHORT, LONG = 10.0, 120.0

REPLAY = """
import resource, sys
from pathlib import Path
from inertid_ros.bags.mcap_writer import McapWriter
from inertid_ros.replay.inputs import Plan
from inertid_ros.replay.replay import replay_bags

bag, urdf, predictions = map(Path, sys.argv[1:])
writers = []
def make_sink():
    writers.append(McapWriter(predictions))
    return writers[0]
traces = replay_bags([bag], Plan(description=urdf.read_text()), make_sink, lambda _: None)
writers[0].close()
print(traces.load.online.samples.count, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def replay(bag: Path) -> tuple[int, float]:
    """Wrenches, and megabytes at most, of a replay without the report, which would hide what comes before it."""
    command = [sys.executable, "-c", REPLAY, str(bag), str(URDF), str(bag.parent / "predictions.mcap")]
    output = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout.split()
    return int(output[0]), float(output[1]) / 1024.0


def test_memory_does_not_grow_with_the_length_of_the_bag(tmp_path: Path) -> None:
    """To keep the messages of the longer bag would take ten times the limit, to keep six numbers a wrench all of it."""
    for name, seconds in (("short", SHORT), ("long", LONG)):
        write_bag(tmp_path / name, seconds, PLUGINS["mcap"])
    few, little = replay(tmp_path / "short")
    many, much = replay(tmp_path / "long")
    assert many > 0.99 * LONG / SHORT * few
    size = sum(file.stat().st_size for file in (tmp_path / "long").iterdir()) / 1e6
    assert much - little < size / 10.0, (little, much, size)
