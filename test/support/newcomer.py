"""The commands of README and docs, and a folder with all that they name."""

from __future__ import annotations

import re
import shlex
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from inertid_ros.core.records import FloatArray
from inertid_ros.core.rigid_body.inertial import compose
from inertid_ros.files.share import share_path
from inertid_ros.motions.motion import Hold, MinimumJerk, Motion, Sequence
from inertid_ros.motions.multisine import JointLimits, Multisine
from inertid_ros.sim.arm import JointFriction
from inertid_ros.sim.sensors import SensorModel
from inertid_ros.sim.simulator import DEFAULT_START, Simulator
from support.bags import Message, imu_messages, joint_messages, text_message, wrench_messages, write_bag
from support.chain import BAR, DDARM
from support.leaning_base import URDF as LEANING
from support.leaning_base import LeaningBase, Swing

ROOT = Path(__file__).parents[2]
PAGES = (
    "README.md",
    "CONTRIBUTING.md",
    *sorted(path.relative_to(ROOT).as_posix() for path in ROOT.glob("docs/**/*.md")),
)

_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.DOTALL | re.MULTILINE)
_STARTS = ("inertid", "ros2", "make", ".venv/bin", "cd", "rosdep", "source")
URDF = DDARM.replace(
    "</robot>",
    '<link name="tool0"/><joint name="tool0_mount" type="fixed"><parent link="ft_sensor"/><child link="tool0"/></joint>'
    "</robot>",
)
MORE = compose(3.0, np.array([0.02, -0.01, 0.1]), np.diag([0.02, 0.02, 0.01]))
TILTED = np.array([1.7, 0.0, -9.66])
"""Gravity on a base that leans."""


class Line(NamedTuple):
    """A command, and the page it is on."""

    page: str
    text: str

    @property
    def words(self) -> list[str]:
        """Program and arguments, without comments."""
        return shlex.split(self.text, comments=True)


def list_commands() -> list[Line]:
    """All commands of all pages, in their order, continued lines joined."""
    lines = []
    for page in PAGES:
        blocks = _BLOCK.findall((ROOT / page).read_text(encoding="utf-8"))
        for block in (block for language, block in blocks if language in ("", "sh")):
            texts = block.replace("\\\n", " ").splitlines()
            lines += [Line(page, text) for text in texts if text.startswith(_STARTS)]
    return lines


def fill_folder(folder: Path) -> None:
    """Write all that the commands name: an arm with load, efforts and base sensor, recorded several times."""
    (folder / "my_arm.urdf").write_text(URDF)
    (folder / "my_arm.yaml").write_text(
        "/**: {ros__parameters: {estimators: [load, links], links: {effort_unit: newton_metre}, "
        "load: {sensor_frame: ft_sensor}}}"
    )
    (folder / "limits.yaml").write_text("joints: {joint1: {velocity: 2.0, acceleration: 6.0}}")
    (folder / "workspace.yaml").write_text("keep_out: {post: {cylinder: [0.05, 2.0], center: [0.0, -2.0, 1.0]}}")
    (folder / "pose.yaml").write_text("name: [joint1, joint2, joint3]\nposition: [2.0, 0.1, 2.0]\n---\n")
    (folder / "bar.yaml").write_text(share_path("config", "loads", "bar.yaml").read_text(encoding="utf-8"))
    moving = dict.fromkeys(("my_bag", "another_bag", "a", "b", "c", "bag", "mug_bag"), BAR) | {"unloaded_bag": None}
    for seed, (name, load) in enumerate({**moving, "loaded_bag": BAR + MORE}.items()):
        _record(folder / name, _move(seed), load, seed)
    _record_base(folder)
    for seed, (name, gravity) in enumerate({"level_bag": None, "tilted_bag": TILTED}.items()):
        _record(folder / name, _visit(seed), None, seed, gravity)


def _record_base(folder: Path) -> None:
    """Another robot, whose base leans over, with an IMU on it."""
    (folder / "my_base.yaml").write_text("/**: {ros__parameters: {gravity_source: imu}}")
    base = LeaningBase({"pitch": Swing(0.4, 9.0, start=2.0)}, rounds=1)
    messages = [
        *joint_messages(base.joints()),
        *imu_messages(base.imu(), "/imu/data"),
        *wrench_messages(base.wrenches()),
    ]
    messages.sort(key=lambda message: message[2])
    write_bag(folder / "mobile_bag", [text_message(LEANING, messages[0][2]), *messages])


def _move(seed: int) -> Motion:
    full = np.ones(3)
    return Sequence(
        [
            Hold(2.0 * full, 2.5),
            Multisine(JointLimits(2.0 - 1.5 * full, 2.0 + 1.5 * full, 4.0 * full, 12.0 * full), 12.0, 12, seed=seed),
        ]
    )


def _visit(seed: int) -> Motion:
    poses = 2.0 + np.random.default_rng(seed).uniform(-1.5, 1.5, (8, 3))
    motions: list[Motion] = [Hold(poses[0], 1.2)]
    for start, end in pairwise(poses):
        motions += [MinimumJerk([start, end], [0.5]), Hold(end, 1.2)]
    return Sequence(motions)


def _record(path: Path, motion: Motion, load: FloatArray | None, seed: int, gravity: FloatArray | None = None) -> None:
    model = SensorModel(velocity_noise=2e-3, effort_noise=0.2, force_noise=0.1, torque_noise=0.005)
    friction = JointFriction(2.0, 3.0, 0.3, 0.2)
    simulator = Simulator(
        URDF,
        "ft_sensor",
        motion,
        model,
        [(0.0, load)],
        seed=seed,
        start_stamp=DEFAULT_START + seed * 100_000_000_000,
        friction=friction,
        **({} if gravity is None else {"gravity": gravity}),
    )
    end = motion.duration
    messages: list[Message] = [
        *joint_messages(simulator.joints(0.0, end)),
        *wrench_messages(simulator.wrenches(0.0, end)),
        *wrench_messages(simulator.base_wrenches(0.0, end), "/base_wrench"),
    ]
    messages.sort(key=lambda message: message[2])
    write_bag(path, [text_message(URDF, messages[0][2]), *messages])
