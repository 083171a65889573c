"""What a guided procedure hears and says: snapshots of estimator and robot, keys, answers, instructions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from inertid_ros.core.diagnosis import Level
from inertid_ros.core.estimation.estimate import Mode
from inertid_ros.core.estimation.states import ParameterState
from inertid_ros.core.records import FloatArray
from inertid_ros.core.robot.robot import FramePath

ENTER = "enter"
"""The key that goes on."""


class Status(NamedTuple):
    """What /diagnostics says of one thing."""

    level: Level
    message: str
    values: Mapping[str, str] = {}


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What is heard of estimator and robot.

    Attributes:
        time: stamp of the newest joint state [s].
        joints: positions by the names of the URDF [rad or m].
        inputs: of each input of the estimator, by name.
        load: of its estimate.
        path: the joints that move the sensor's frame; None while robot or frame are not known.
        gravity: (3,) in the root frame [m/s²].
        states: (10,) of the parameters; empty before the first estimate.
        looks: how many diagnostics have come: two more, and they are of what is known now.
    """

    time: float = 0.0
    joints: Mapping[str, float] = field(default_factory=dict)
    inputs: Mapping[str, Status] = field(default_factory=dict)
    load: Status | None = None
    path: FramePath | None = None
    gravity: FloatArray = field(default_factory=lambda: np.array([0.0, 0.0, -9.80665]))
    states: tuple[str, ...] = ()
    looks: int = 0

    @property
    def is_free(self) -> bool:
        """Whether the estimator is neither in contact nor about to find out."""
        return self.load is not None and self.load.values.get("mode") not in (Mode.CONTACT, Mode.TESTING)

    def unknown(self, part: slice) -> list[bool]:
        """Which parameters (10,) of a part are not known."""
        inside = range(10)[part]
        return [i in inside and self.states[i : i + 1] != (ParameterState.KNOWN,) for i in range(10)]


class Moment(NamedTuple):
    """What the procedure is told: what is heard, a key, and whether a service did what was asked and what it said."""

    snapshot: Snapshot
    key: str = ""
    answer: tuple[bool, str] | None = None


@dataclass(frozen=True, slots=True)
class Instruction:
    """What the person, or the program, has to do now.

    Attributes:
        step: check, ask, pose, swing, call, verdict or done.
        text: in a sentence.
        details: lines below it.
        keys: that can be pressed, with their meaning.
        asks: whether nothing goes on without a key; the first one is the usual answer.
        call: service of the estimator that the program has to call.
        targets: positions of joints to go to [rad or m].
        swing: joint to swing to and fro about its target.
        success: at the end, whether the load was saved and can be used.
    """

    step: str
    text: str
    details: tuple[str, ...] = ()
    keys: Mapping[str, str] = field(default_factory=dict)
    asks: bool = False
    call: str = ""
    targets: Mapping[str, float] = field(default_factory=dict)
    swing: str = ""
    success: bool | None = None
