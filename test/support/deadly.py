"""Replays that end the process they are in: for tests of what becomes of a task whose worker is killed."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

from inertid_ros.replay import recordings
from inertid_ros.replay.inputs import Plan, Progress
from inertid_ros.replay.recordings import Recording
from inertid_ros.replay.workers import Result

DEADLY = "deadly"
"""In the name of a bag whose replay kills its process, in the middle of its messages."""
ONCE = "once"
"""In the name of one that does so unless it has been done before."""

replay = recordings._attempt


def attempt(recording: Recording, plan: Plan, output: Path, name: str, progress: Progress) -> Result:
    """Replay a recording as `recordings` does; of a bag with a deadly name, some messages."""
    bag = recording.paths[0]

    def kill(messages: int) -> None:
        progress(messages)
        if DEADLY in bag.name and note_death(bag):
            os.kill(os.getpid(), signal.SIGKILL)

    return replay(recording, plan, output, name, kill)


def note_death(bag: Path) -> bool:
    """Count a death; False if there has been one and should be no second."""
    deaths = list_deaths(bag)
    if deaths and ONCE in bag.name:
        return False
    bag.with_name(f"{bag.name}.died_{len(deaths)}").touch()
    return True


def list_deaths(bag: Path) -> list[Any]:
    """Traces of all deaths by a bag."""
    return list(bag.parent.glob(f"{bag.name}.died_*"))
