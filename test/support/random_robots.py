"""URDF trees drawn at random, by seed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def make_random_urdf(seed: int, joints: int, kinds: tuple[str, ...] = ("revolute", "continuous", "prismatic")) -> str:
    """A serial chain with joints of the given kinds, a fixed sensor frame `sensor` at its end, and a side branch."""
    rng = np.random.default_rng(seed)
    parts = ['<robot name="random">', '<link name="base"/>']
    parent = "base"
    for index in range(joints):
        kind = kinds[int(rng.integers(len(kinds)))]
        parts.append(_link(f"link{index}"))
        parts.append(_joint(f"joint{index}", kind, parent, f"link{index}", rng))
        parent = f"link{index}"
    parts += ['<link name="sensor"/>', _joint("mount", "fixed", parent, "sensor", rng)]
    parts += [_link("aside"), _joint("finger", "revolute", parent, "aside", rng), "</robot>"]
    return "\n".join(parts)


def make_random_tree(seed: int, joints: int, kinds: tuple[str, ...] = ("revolute", "prismatic")) -> str:
    """A tree: every joint starts at the base or at any link before it."""
    rng = np.random.default_rng(seed)
    parts = ['<robot name="tree">', '<link name="base"/>']
    names = ["base"]
    for index in range(joints):
        parent, kind = names[int(rng.integers(len(names)))], kinds[int(rng.integers(len(kinds)))]
        names.append(f"link{index}")
        parts += [_link(names[-1]), _joint(f"joint{index}", kind, parent, names[-1], rng)]
    return "\n".join((*parts, "</robot>"))


def make_chain(joints: Sequence[tuple[str, tuple[float, float, float], tuple[float, float, float]]]) -> str:
    """A serial chain of joints along z, each given as its kind, its origin and its roll, pitch and yaw."""
    parts = ['<robot name="chain">', '<link name="link0"/>']
    for index, (kind, xyz, rpy) in enumerate(joints, start=1):
        origin = f'<origin xyz="{xyz[0]} {xyz[1]} {xyz[2]}" rpy="{rpy[0]} {rpy[1]} {rpy[2]}"/>'
        parts += [
            _link(f"link{index}"),
            f'<joint name="joint{index}" type="{kind}"><parent link="link{index - 1}"/><child link="link{index}"/>',
            f'{origin}<axis xyz="0 0 1"/><limit lower="-3" upper="3" velocity="3" effort="100"/></joint>',
        ]
    return "\n".join((*parts, "</robot>"))


def _link(name: str) -> str:
    inertia = '<inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/>'
    return f'<link name="{name}"><inertial><mass value="1"/>{inertia}</inertial></link>'


def _joint(name: str, kind: str, parent: str, child: str, rng: np.random.Generator) -> str:
    xyz = " ".join(f"{value:.6f}" for value in rng.uniform(-0.4, 0.4, 3))
    rpy = " ".join(f"{value:.6f}" for value in rng.uniform(-3.0, 3.0, 3))
    axis = rng.normal(size=3)
    axis /= np.linalg.norm(axis)
    if rng.random() < 0.5:
        axis = np.eye(3)[int(rng.integers(3))]
    axis_text = " ".join(f"{value:.9f}" for value in axis)
    limit = "" if kind in ("continuous", "fixed") else '<limit lower="-3" upper="3" velocity="3" effort="100"/>'
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{xyz}" rpy="{rpy}"/><axis xyz="{axis_text}"/>{limit}</joint>'
    )


def make_long_urdf(joints: int, is_chain: bool = True) -> str:
    """A robot of many joints, `joint1` moves `link1`, that carry each other, or are all on the base."""
    text = "<robot name='long'><link name='link0'/>"
    for index in range(1, joints + 1):
        parent = index - 1 if is_chain else 0
        text += (
            f"<link name='link{index}'/><joint name='joint{index}' type='revolute'><parent link='link{parent}'/>"
            f"<child link='link{index}'/><limit lower='-1' upper='1' velocity='1' effort='1'/></joint>"
        )
    return f"{text}</robot>"
