"""A second opinion on trajectories of arms made of primitives, which shares nothing with the checker.

It reads the URDF, the workspace and the written CSV itself, fills in what lies between two points with the polynomial
of fifth order through both, and has kinematics and distances of its own: points on the surface of each primitive are
measured by the signed distance function of each other one. A distance found this way is never too small.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import yaml
from numpy.typing import NDArray

Array = NDArray[np.float64]


def to_matrix(xyz: Any, rpy: Any) -> Array:
    """Homogeneous transform (4, 4) of an origin: about x, then y, then z of the frame it is given in."""
    roll, pitch, yaw = (float(angle) for angle in rpy)
    about_x = np.array([[1, 0, 0], [0, np.cos(roll), -np.sin(roll)], [0, np.sin(roll), np.cos(roll)]])
    about_y = np.array([[np.cos(pitch), 0, np.sin(pitch)], [0, 1, 0], [-np.sin(pitch), 0, np.cos(pitch)]])
    about_z = np.array([[np.cos(yaw), -np.sin(yaw), 0], [np.sin(yaw), np.cos(yaw), 0], [0, 0, 1]])
    matrix = np.eye(4)
    matrix[:3, :3] = about_z @ about_y @ about_x
    matrix[:3, 3] = xyz
    return matrix


@dataclass(frozen=True)
class Primitive:
    """A shape, where it is on its link (4, 4), how many joints that link is behind, and how many of them move."""

    name: str
    kind: str
    sizes: Array
    place: Array
    joints: int
    depth: int

    def surface(self, rings: int = 5) -> Array:
        """Points (P, 3) on it, with all its edges and corners."""
        steps = np.linspace(-1.0, 1.0, rings)
        if self.kind == "box":
            grid = np.array(np.meshgrid(steps, steps, steps)).reshape(3, -1).T
            return np.asarray(grid[np.abs(grid).max(axis=1) == 1.0] * self.sizes / 2.0)
        angles = 2.0 * np.pi * np.arange(4 * rings) / (4 * rings)
        circle = np.column_stack([np.cos(angles), np.sin(angles), 0.0 * angles])
        if self.kind == "sphere":
            parts = [np.sqrt(1.0 - z * z) * circle + [0.0, 0.0, z] for z in np.sin(np.pi / 2.0 * steps)]
            return np.asarray(self.sizes[0] * np.vstack(parts))
        radius, length = self.sizes
        sides = [radius * circle + [0.0, 0.0, z * length / 2.0] for z in steps]
        ends = [share * radius * circle + [0.0, 0.0, z * length / 2.0] for z in (-1.0, 1.0) for share in (0.0, 0.5)]
        return np.vstack(sides + ends)

    def measure(self, points: Array) -> Array:
        """Signed distance (...) of points (..., 3) in its own frame."""
        if self.kind == "sphere":
            return np.asarray(np.linalg.norm(points, axis=-1) - self.sizes[0])
        if self.kind == "box":
            beyond = np.abs(points) - self.sizes / 2.0
        else:
            radial = np.hypot(points[..., 0], points[..., 1]) - self.sizes[0]
            beyond = np.stack([radial, np.abs(points[..., 2]) - self.sizes[1] / 2.0], axis=-1)
        return np.asarray(np.linalg.norm(np.maximum(beyond, 0.0), axis=-1) + np.minimum(beyond.max(axis=-1), 0.0))

    def lowest(self, frames: Array, up: Array) -> Array:
        """Height (N,) of its lowest point in link frames (N, 4, 4), by support functions."""
        world = frames @ self.place
        heights = world[:, :3, 3] @ up
        slants = np.abs(np.einsum("nij,i->nj", world[:, :3, :3], up))
        if self.kind == "sphere":
            return np.asarray(heights - self.sizes[0])
        if self.kind == "box":
            return np.asarray(heights - slants @ self.sizes / 2.0)
        across = np.hypot(slants[:, 0], slants[:, 1])
        return np.asarray(heights - across * self.sizes[0] - slants[:, 2] * self.sizes[1] / 2.0)


class SerialArm:
    """A serial chain with primitives, from its URDF."""

    def __init__(self, text: str) -> None:
        root = ElementTree.fromstring(text)
        joints = {joint.find("parent").get("link"): joint for joint in root.iter("joint")}  # type: ignore[union-attr]
        links = {link.get("name"): link for link in root.iter("link")}
        children = {joint.find("child").get("link") for joint in root.iter("joint")}  # type: ignore[union-attr]
        name = next(name for name in links if name not in children)
        self.steps: list[tuple[str, Array, Array, str]] = []
        self.shapes: list[Primitive] = []
        self.names: list[str] = []
        while name is not None:
            for element in links[name].iter("collision"):
                self.shapes.append(_read_shape(str(name), element, len(self.steps), len(self.names)))
            joint = joints.get(name)
            if joint is None:
                break
            kind, axis = joint.get("type", ""), joint.find("axis")
            direction = _numbers("1 0 0" if axis is None else axis.get("xyz", ""))
            self.steps.append(
                (kind, _read_origin(joint), direction / np.linalg.norm(direction), str(joint.get("name")))
            )
            if kind != "fixed":
                self.names.append(str(joint.get("name")))
            name = joint.find("child").get("link")  # type: ignore[union-attr]

    def place(self, positions: Array) -> list[Array]:
        """Frames (N, 4, 4) after 0, 1, ... joints at (N, n) positions of those that move."""
        frame = np.broadcast_to(np.eye(4), (len(positions), 4, 4))
        frames, column = [frame], 0
        for kind, origin, axis, _ in self.steps:
            frame = frame @ origin
            if kind == "fixed":
                frames.append(frame)
                continue
            move = np.broadcast_to(np.eye(4), frame.shape).copy()
            value = positions[:, column]
            if kind == "prismatic":
                move[:, :3, 3] = value[:, None] * axis
            else:
                # R = c E + s [a]x + (1 - c) a a^T
                cosine, sine = np.cos(value)[:, None, None], np.sin(value)[:, None, None]
                cross = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
                move[:, :3, :3] = cosine * np.eye(3) + sine * cross + (1.0 - cosine) * np.outer(axis, axis)
            frame = frame @ move
            frames.append(frame)
            column += 1
        return frames


def _numbers(text: str) -> Array:
    return np.array([float(part) for part in text.split()])


def _read_origin(element: ElementTree.Element) -> Array:
    origin = element.find("origin")
    if origin is None:
        return np.eye(4)
    return to_matrix(_numbers(origin.get("xyz", "0 0 0")), _numbers(origin.get("rpy", "0 0 0")))


def _read_shape(name: str, element: ElementTree.Element, joints: int, depth: int) -> Primitive:
    shape = element.find("geometry/*")
    assert shape is not None
    texts = {"box": ("size",), "sphere": ("radius",), "cylinder": ("radius", "length")}[shape.tag]
    sizes = np.concatenate([_numbers(shape.attrib[text]) for text in texts])
    return Primitive(name, shape.tag, sizes, _read_origin(element), joints, depth)


def read_finer(file: Path, times: int) -> tuple[list[str], Array, Array, Array]:
    """Names, times (N,), positions and velocities (N, n) of a CSV, with each step divided into some smaller ones."""
    with file.open(newline="") as stream:
        heading, *rows = list(csv.reader(stream))
    table = np.array(rows, dtype=float)
    count = (len(heading) - 1) // 3
    clock, (q, v, a) = table[:, 0], np.split(table[:, 1:], 3, axis=1)
    names = [text.removesuffix(" position") for text in heading[1 : 1 + count]]
    step = np.diff(clock)[:, None]
    # q0 + v0 t + a0 t^2/2 + c3 t^3 + c4 t^4 + c5 t^5 that ends in q1, v1, a1
    p = q[1:] - q[:-1] - v[:-1] * step - a[:-1] * step**2 / 2.0
    w = (v[1:] - v[:-1] - a[:-1] * step) * step
    b = (a[1:] - a[:-1]) * step**2
    c3, c4, c5 = 10.0 * p - 4.0 * w + b / 2.0, -15.0 * p + 7.0 * w - b, 6.0 * p - 3.0 * w + b / 2.0
    moments, positions, velocities = [], [], []
    for s in np.arange(times) / times:
        moments.append(clock[:-1] + s * step[:, 0])
        bend = c3 * s**3 + c4 * s**4 + c5 * s**5
        positions.append(q[:-1] + v[:-1] * s * step + a[:-1] * (s * step) ** 2 / 2.0 + bend)
        rise = (3.0 * c3 * s**2 + 4.0 * c4 * s**3 + 5.0 * c5 * s**4) / step
        velocities.append(v[:-1] + a[:-1] * s * step + rise)
    order = np.argsort(np.concatenate(moments))
    fine = [np.concatenate(part)[order] for part in (moments, positions, velocities)]
    return names, *(
        np.concatenate([part, end[None]]) for part, end in zip(fine, (clock[-1], q[-1], v[-1]), strict=True)
    )


def find_violations(urdf: Path, trajectory: Path, rules: dict[str, Any], times: int = 5) -> list[str]:
    """Everything that a written trajectory does against the rules, on a grid so many times finer.

    Rules: margin, self_margin, tool_speed, speed_scale, floor (a height in the root frame), workspace (a file), and
    from (a pose) if there is one. Of joints the URDF's ranges are looked at, not the margin to their ends.
    """
    arm = SerialArm(urdf.read_text())
    names, clock, q, v = read_finer(trajectory, times)
    found = _check_joints(urdf, arm, rules, names, q, v)
    frames = arm.place(q)
    shapes = list(arm.shapes)
    content = yaml.safe_load(Path(rules["workspace"]).read_text())
    boxes = [_read_part(name, part, 0, 0) for name, part in content.get("keep_out", {}).items()]
    shapes += [_read_part(name, part, len(arm.steps), len(arm.names)) for name, part in content.get("tool", {}).items()]
    ignored = [set(pair) for pair in content.get("ignore_pairs", [])]
    up = np.array([0.0, 0.0, 1.0])
    for shape in shapes:
        # What only turns about the vertical, or does not move, cannot get nearer to the floor.
        if (
            shape.depth > 1
            and (low := float(shape.lowest(frames[shape.joints], up).min())) < rules["floor"] + rules["margin"]
        ):
            found.append(f"{shape.name} is {low - rules['floor']:.4f} m above the floor")
        found += _check_speed(shape, frames[shape.joints], clock, rules["tool_speed"])
    pairs = [(one, other, rules["self_margin"]) for k, one in enumerate(shapes) for other in shapes[k + 1 :]]
    pairs = [pair for pair in pairs if abs(pair[0].depth - pair[1].depth) > 1]
    pairs += [(shape, box, rules["margin"]) for shape in shapes if shape.depth > 0 for box in boxes]
    for one, other, margin in pairs:
        if {one.name, other.name} in ignored:
            continue
        distance = min(_measure(one, other, frames), _measure(other, one, frames))
        if distance < margin:
            found.append(f"{one.name} and {other.name} are {distance:.4f} m apart")
    return found


def _read_part(name: str, part: dict[str, Any], joints: int, depth: int) -> Primitive:
    (kind,) = (key for key in part if key in ("box", "sphere", "cylinder"))
    place = to_matrix(part.get("center", [0, 0, 0]), part.get("rpy", [0, 0, 0]))
    return Primitive(name, kind, np.atleast_1d(np.array(part[kind], dtype=float)), place, joints, depth)


def _measure(one: Primitive, other: Primitive, frames: list[Array]) -> float:
    """The smallest distance of points on the surface of one from the other."""
    between = np.linalg.inv(frames[other.joints] @ other.place) @ (frames[one.joints] @ one.place)
    radius = float(np.linalg.norm(one.surface(), axis=1).max())
    near = other.measure(between[:, :3, 3]) < radius + 0.2  # the rest cannot be close
    if not near.any():
        return 0.2
    points = np.einsum("nij,pj->npi", between[near, :3, :3], one.surface()) + between[near, None, :3, 3]
    return float(other.measure(points).min())


def _check_speed(shape: Primitive, frames: Array, clock: Array, limit: float) -> list[str]:
    """By the way that points go from one moment to the next."""
    world = frames @ shape.place
    points = np.einsum("nij,pj->npi", world[:, :3, :3], shape.surface(3)) + world[:, None, :3, 3]
    speed = float((np.linalg.norm(np.diff(points, axis=0), axis=2) / np.diff(clock)[:, None]).max())
    return [f"{shape.name} moves at {speed:.4f} m/s"] if speed > limit * (1.0 + 1e-6) else []


def _check_joints(urdf: Path, arm: SerialArm, rules: dict[str, Any], names: list[str], q: Array, v: Array) -> list[str]:
    """Ranges and speeds of joints, the first pose, and rest at both ends."""
    assert names == arm.names
    found = []
    for column, name in enumerate(names):
        joint = ElementTree.fromstring(urdf.read_text()).find(f"joint[@name='{name}']")
        assert joint is not None
        limit = joint.find("limit")
        assert limit is not None
        low, high, speed = (float(limit.attrib[key]) for key in ("lower", "upper", "velocity"))
        if not (np.all(low <= q[:, column]) and np.all(q[:, column] <= high)):
            found.append(f"{name} leaves its range")
        if np.abs(v[:, column]).max() > rules["speed_scale"] * speed * (1.0 + 1e-9):
            found.append(f"{name} is too fast")
        if max(abs(v[0, column]), abs(v[-1, column])) > 1e-9:
            found.append(f"{name} does not begin and end at rest")
        if "from" in rules and abs(q[0, column] - rules["from"][name]) > 1e-9:
            found.append(f"{name} does not begin where the arm is")
    return found


def count_moments(trajectory: Path, times: int) -> int:
    """How many moments of a trajectory are looked at."""
    return len(read_finer(trajectory, times)[1])
