"""URDF trees drawn at random, by seed."""

from __future__ import annotations

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
