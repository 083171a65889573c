"""Random arms made of primitives, with random surroundings, for tests of safe motions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import yaml


def write_random_arm(folder: Path, seed: int) -> tuple[Path, dict[str, Any]]:
    """Write an arm and its workspace, and return the URDF with the rules that a motion has to keep.

    Three to six joints, the first one vertical, sometimes with a prismatic one; links are cylinders or boxes along z
    with spheres at their ends, long enough that links which are no neighbours need not touch.
    """
    random = np.random.default_rng(seed)
    count = int(random.integers(3, 7))
    height = random.uniform(0.25, 0.4)
    parts = ['<robot name="primitive">', f'<link name="base">{_column(0.07, height - 0.05)}</link>']
    slide = int(random.integers(1, count)) if random.random() < 0.3 else -1
    before, origin = "base", (0.0, 0.0, height)
    for index in range(count):
        kind = "prismatic" if index == slide else "revolute"
        axis = np.eye(3)[2] if index == 0 else np.eye(3)[int(random.integers(3 if index > 2 else 2))]
        turn = random.uniform(-0.6, 0.6, 3) if index > 0 else np.zeros(3)
        length = random.uniform(0.16, 0.35)
        low, high = (0.0, random.uniform(0.05, 0.15)) if kind == "prismatic" else (-2.5, 2.5)
        parts.append(_link(f"link{index}", length, random))
        parts.append(
            f'<joint name="joint{index}" type="{kind}"><parent link="{before}"/><child link="link{index}"/>'
            f'<origin xyz="{_join(origin)}" rpy="{_join(turn)}"/><axis xyz="{_join(axis)}"/>'
            f'<limit lower="{low}" upper="{high}" velocity="{random.uniform(1.0, 3.0)}" effort="1000"/></joint>'
        )
        before, origin = f"link{index}", (0.0, 0.0, length)
    parts.append(
        '<link name="ft_sensor"/><joint name="mount" type="fixed">'
        f'<parent link="{before}"/><child link="ft_sensor"/><origin xyz="{_join(origin)}"/></joint></robot>'
    )
    urdf = folder / f"arm{seed}.urdf"
    urdf.write_text("".join(parts))
    rules = _write_rules(folder / f"workspace{seed}.yaml", random)
    if random.random() < 0.5:
        rules["from"] = {f"joint{index}": float(random.uniform(0.0, 0.05)) for index in range(count)}
    return urdf, rules


def _write_rules(file: Path, random: np.random.Generator) -> dict[str, Any]:
    """Up to four obstacles at some distance, and perhaps a tool."""
    content: dict[str, Any] = {"keep_out": {}}
    for index in range(int(random.integers(1, 5))):
        angle, distance = random.uniform(-np.pi, np.pi), random.uniform(0.35, 0.8)
        center = [float(distance * np.cos(angle)), float(distance * np.sin(angle)), float(random.uniform(0.1, 0.8))]
        shapes = ("box", random.uniform(0.1, 0.4, 3)), ("cylinder", random.uniform(0.1, 0.4, 2)), ("sphere", 0.15)
        kind, sizes = shapes[int(random.integers(3))]
        part = {kind: np.asarray(sizes).tolist(), "center": center, "rpy": random.uniform(-1.0, 1.0, 3).tolist()}
        content["keep_out"][f"obstacle{index}"] = part
    if random.random() < 0.5:
        content["tool"] = {"gripper": {"sphere": float(random.uniform(0.03, 0.06)), "center": [0.0, 0.0, 0.08]}}
    file.write_text(yaml.safe_dump(content))
    return {
        "workspace": str(file),
        "floor": 0.0,
        "margin": float(random.uniform(0.0, 0.05)),
        "self_margin": float(random.uniform(0.0, 0.02)),
        "tool_speed": float(random.uniform(0.4, 2.0)),
        "speed_scale": float(random.uniform(0.3, 1.0)),
        "seed": int(random.integers(1000)),
        "duration": float(random.uniform(2.0, 5.0)),
    }


def list_options(rules: dict[str, Any]) -> list[str]:
    """The rules as options of `inertid excite`."""
    names = ("workspace", "margin", "self_margin", "tool_speed", "speed_scale", "seed", "duration")
    options = [text for name in names for text in (f"--{name.replace('_', '-')}", str(rules[name]))]
    if "from" in rules:
        options += ["--from", ",".join(f"{name}={value!r}" for name, value in rules["from"].items())]
    return options


def _link(name: str, length: float, random: np.random.Generator) -> str:
    radius = random.uniform(0.02, 0.04)
    inertia = '<inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"/>'
    body = _column(radius, length - 0.08, 0.04)
    if random.random() < 0.4:
        size = _join((2.0 * radius, random.uniform(1.0, 2.0) * radius, length - 0.08))
        body = f'<collision><origin xyz="0 0 {length / 2.0}"/><geometry><box size="{size}"/></geometry></collision>'
    body += f'<collision><geometry><sphere radius="{radius}"/></geometry></collision>'
    return f'<link name="{name}"><inertial><mass value="1"/>{inertia}</inertial>{body}</link>'


def _column(radius: float, length: float, start: float = 0.0) -> str:
    return (
        f'<collision><origin xyz="0 0 {start + length / 2.0}"/>'
        f'<geometry><cylinder radius="{radius}" length="{length}"/></geometry></collision>'
    )


def _join(values: Any) -> str:
    return " ".join(f"{float(value):.9f}" for value in values)
