"""Smooth motions of random robots, and rows made of them without a chain."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pinocchio as pin
from scipy.signal import bilinear, lfilter

from inertid_ros.core.equations.arm import LinkUnknowns
from inertid_ros.core.equations.equation import Equation
from inertid_ros.core.equations.load import make_load_equation
from inertid_ros.core.equations.model import LinkModel
from inertid_ros.core.input.segments import Columns, Segment
from inertid_ros.core.records import BoolArray, FloatArray, IntArray
from inertid_ros.core.robot.robot import ArmModel, Robot
from inertid_ros.core.rows.rows import Filters, Rows
from inertid_ros.core.settings.choices import Method, Source
from support.random_robots import make_random_tree, make_random_urdf

GRAVITY = np.array([1.0, 2.0, -9.0])
FILTERS = Filters(cutoff=20.0, smoothing=30.0, differentiation=60.0, window=0.3)


class Path(NamedTuple):
    """Times (N,) [s], positions, velocities and accelerations (N, n)."""

    times: FloatArray
    positions: FloatArray
    velocities: FloatArray
    accelerations: FloatArray


def make_path(joints: int, rate: float, seconds: float, seed: int = 0, speed: float = 3.0, jitter: float = 0.0) -> Path:
    """Every joint by three sines of random speed up to `speed` [rad/s] and phase, at stamps that jitter [s]."""
    random = np.random.default_rng(seed)
    times = np.arange(round(rate * seconds)) / rate
    times = np.round(times + random.uniform(-jitter, jitter, len(times)), 9)
    speeds, phases = random.uniform(0.1 * speed, speed, (3, joints)), random.uniform(0.0, 6.0, (3, joints))
    angle = speeds * times[:, None, None] + phases
    shares = 0.5 * np.sin(angle), 0.5 * speeds * np.cos(angle), -0.5 * speeds**2 * np.sin(angle)
    return Path(times, *(share.sum(axis=1) for share in shares))


def make_link_model(source: Source, seed: int, joints: int = 0) -> LinkModel:
    """A random tree with its base sensor anywhere, with all its unknowns."""
    urdf = make_random_tree(seed, joints or 2 + seed, ("revolute", "continuous", "prismatic"))
    arm = ArmModel.of(Robot.from_urdf(urdf), GRAVITY)
    random = np.random.default_rng(seed)
    pose = pin.SE3(pin.exp3(random.normal(size=3)), random.normal(size=3))
    return LinkModel.of(arm, source, LinkUnknowns.of(arm, source), pose, coulomb_velocity=0.4)


def make_equations(seed: int) -> dict[str, tuple[Equation, int]]:
    """Equations of a load and of an arm by all sources, and how many joints they have."""
    path = Robot.from_urdf(make_random_urdf(seed, 2 + seed)).path_to("sensor")
    equations = {"load": (make_load_equation(path, GRAVITY), len(path.joint_names))}
    for source in Source:
        model = make_link_model(source, seed)
        equations[source.value] = model.equation, len(model.arm.joint_names)
    return equations


def make_segment(
    path: Path, readings: FloatArray, starts_anew: bool = True, bad: BoolArray | None = None, origin: int = 0
) -> Segment:
    """Samples of a path with (N, K) readings."""
    marks = np.zeros(readings.shape) if bad is None else bad.astype(float)
    not_predicted = np.full(readings.shape, np.nan)
    samples = np.column_stack((path.times, path.positions, path.velocities, readings, marks, not_predicted))
    stamps = origin + np.round(path.times * 1e9).astype(np.int64)
    return Segment(starts_anew, stamps, samples, Columns.of(path.positions.shape[1], readings.shape[1]))


def cut(path: Path, part: slice) -> Path:
    """Some samples of a path."""
    return Path(*(item[part] for item in path))


class Made(NamedTuple):
    """Rows of a segment: which samples, [A, y] (R, K, U + 1), signals (R, S), usable (R, K); and predictions (N, K)."""

    places: IntArray
    equations: FloatArray
    signals: FloatArray
    usable: FloatArray
    predicted: FloatArray


def make_rows(equation: Equation, joints: int, method: Method = Method.FILTERED, filters: Filters = FILTERS) -> Rows:
    """Rows of an equation."""
    return Rows(equation, joints, method, filters)


def run_rows(rows: Rows, segment: Segment) -> Made:
    """Carry a segment through; nobody looks at the rows in between."""
    position = rows.begin(segment)
    places, equations, signals, usable = [], [], [], []

    while position < len(segment.stamps):
        places.append(position)
        equations.append(rows.row.equations.copy())
        signals.append(rows.row.signals.copy())
        usable.append(rows.row.usable.copy())
        position = rows.resume(segment, position)
    shape = rows.row.equations.shape
    return Made(
        np.array(places, dtype=np.int64),
        np.array(equations).reshape(-1, *shape),
        np.array(signals).reshape(-1, len(rows.row.signals)),
        np.array(usable).reshape(-1, shape[0]),
        segment.predicted,
    )


def filter_by_scipy(inputs: FloatArray, rate: float, *cutoffs: float) -> FloatArray:
    """Signals (N, S) after first-order filters, each zero at the first sample, discretised by scipy's Tustin rule."""
    for cutoff in cutoffs:
        numerator, denominator = bilinear([cutoff], [1.0, cutoff], rate)
        rest, _ = lfilter(numerator, denominator, inputs[1:], axis=0, zi=numerator[1] * inputs[:1])
        inputs = np.concatenate((np.zeros_like(inputs[:1]), rest))
    return inputs
