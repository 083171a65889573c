"""Twelve household objects, their inertial parameters from stated shapes and masses.

Each is made of homogeneous boxes, cylinders along z and spheres; parts add up. Masses are those on packages and scales.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from imperfect import FloatArray


class Part(NamedTuple):
    """A homogeneous part: kind, mass [kg], size [m], where its centre is [m].

    Sizes are the sides of a box, radius and length of a cylinder, outer radius, inner radius and length of a tube, or
    the radius of a sphere.
    """

    kind: str
    mass: float
    size: tuple[float, ...]
    at: tuple[float, float, float] = (0.0, 0.0, 0.0)


OBJECTS: dict[str, tuple[Part, ...]] = {
    "mug": (
        Part("tube", 0.26, (0.041, 0.037, 0.095)),
        Part("cylinder", 0.05, (0.038, 0.005), (0.0, 0.0, -0.045)),
        Part("box", 0.04, (0.03, 0.012, 0.07), (0.055, 0.0, 0.0)),
    ),
    "water bottle, full": (
        Part("cylinder", 0.50, (0.032, 0.16)),
        Part("cylinder", 0.03, (0.014, 0.05), (0.0, 0.0, 0.1)),
    ),
    "milk carton": (Part("box", 1.06, (0.07, 0.07, 0.2)),),
    "cereal box": (Part("box", 0.43, (0.19, 0.055, 0.28)),),
    "soup tin": (Part("cylinder", 0.48, (0.0375, 0.11)),),
    "hammer": (
        Part("box", 0.45, (0.11, 0.028, 0.028), (0.0, 0.0, 0.14)),
        Part("cylinder", 0.15, (0.014, 0.28)),
    ),
    "frying pan": (
        Part("cylinder", 0.85, (0.13, 0.006)),
        Part("box", 0.18, (0.18, 0.025, 0.015), (0.21, 0.0, 0.02)),
    ),
    "book": (Part("box", 0.62, (0.15, 0.23, 0.03)),),
    "apple": (Part("sphere", 0.19, (0.038,)),),
    "cordless drill": (
        Part("box", 0.75, (0.17, 0.06, 0.06), (0.02, 0.0, 0.1)),
        Part("box", 0.2, (0.04, 0.03, 0.12)),
        Part("box", 0.55, (0.11, 0.075, 0.06), (0.0, 0.0, -0.09)),
    ),
    "detergent bottle": (
        Part("box", 0.95, (0.09, 0.055, 0.2)),
        Part("cylinder", 0.05, (0.02, 0.06), (0.0, 0.0, 0.13)),
    ),
    "flashlight": (
        Part("cylinder", 0.17, (0.013, 0.13)),
        Part("cylinder", 0.08, (0.02, 0.05), (0.0, 0.0, 0.09)),
    ),
}


def find_moments(part: Part) -> FloatArray:
    """Moments of inertia (3,) about the part's own centre: textbook formulas."""
    mass, size = part.mass, part.size
    if part.kind == "box":
        x, y, z = size
        return mass / 12.0 * np.array([y**2 + z**2, x**2 + z**2, x**2 + y**2])
    if part.kind == "sphere":
        return np.full(3, 0.4 * mass * size[0] ** 2)
    outer, inner, length = size if part.kind == "tube" else (size[0], 0.0, size[1])
    across = mass / 12.0 * (3.0 * (outer**2 + inner**2) + length**2)
    return np.array([across, across, mass / 2.0 * (outer**2 + inner**2)])


def find_body(parts: tuple[Part, ...]) -> tuple[float, FloatArray, FloatArray]:
    """Mass, centre of mass (3,) and inertia (3, 3) about it of parts together, in the frame of their places."""
    mass = sum(part.mass for part in parts)
    com = np.asarray(sum(part.mass * np.array(part.at) for part in parts) / mass)
    inertia = np.zeros((3, 3))
    for part in parts:
        lever = np.array(part.at) - com
        inertia += np.diag(find_moments(part)) + part.mass * (lever @ lever * np.eye(3) - np.outer(lever, lever))
    return mass, com, inertia


def hold(parts: tuple[Part, ...], rotation: FloatArray, position: FloatArray) -> FloatArray:
    """[m, mc, I about the sensor's origin] of an object whose frame has this pose in the sensor's."""
    mass, com, inertia = find_body(parts)
    com, inertia = rotation @ com + position, rotation @ inertia @ rotation.T
    inertia = inertia + mass * (com @ com * np.eye(3) - np.outer(com, com))
    return np.concatenate(([mass], mass * com, inertia[np.triu_indices(3)]))
