"""Predictions at sample rate, against the equations with true accelerations."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from inertid_ros.core.rows.link_rows import LinkRows
from inertid_ros.core.rows.link_rows_differentiated import DifferentiatedLinkRows
from inertid_ros.core.rows.link_rows_filtered import FilteredLinkRows
from support.random_robots import make_random_tree

from inertid_ros.core.equations.model import LinkModel
from inertid_ros.core.equations.unknowns import LinkUnknowns
from inertid_ros.core.input.synchroniser import Stretch
from inertid_ros.core.records import FloatArray
from inertid_ros.core.robot.arm import ArmModel
from inertid_ros.core.robot.robot import Robot

GRAVITY = np.array([1.0, 2.0, -9.0])


def make_model(source: str, seed: int) -> LinkModel:
    arm = ArmModel.of(Robot.from_urdf(make_random_tree(seed, 2 + seed)), GRAVITY)
    random = np.random.default_rng(seed)
    pose = pin.SE3(pin.exp3(random.normal(size=3)), random.normal(size=3))
    return LinkModel.of(arm, source, LinkUnknowns.of(arm, source), pose)


def move(joints: int, rate: float, seconds: float) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Times, positions, velocities and accelerations of slow sines."""
    times = np.arange(0.0, seconds, 1.0 / rate)[:, None]
    speeds, phases = np.linspace(0.3, 0.8, joints), np.linspace(0.0, 3.0, joints)
    angle = speeds * times + phases
    return times[:, 0], np.sin(angle), speeds * np.cos(angle), -(speeds**2) * np.sin(angle)


def make_stretch(times: FloatArray, positions: FloatArray, velocities: FloatArray, starts_anew: bool = True) -> Stretch:
    stamps = np.round(times * 1e9).astype(np.int64)
    return Stretch(starts_anew, stamps, times, positions, velocities, np.empty((len(times), 0)))


def make_rows(method: str, model: LinkModel) -> LinkRows:
    if method == "filtered":
        return FilteredLinkRows(model.columns, 20.0, 30.0)
    return DifferentiatedLinkRows(model.columns, 60.0)


@pytest.mark.parametrize("method", ["filtered", "differentiated"])
@pytest.mark.parametrize("source", ["effort", "base_wrench", "both"])
def test_slow_motion_is_predicted_without_delay(source: str, method: str) -> None:
    """For any base parameters, also such as no body can have."""
    model = make_model(source, 3)
    values = np.random.default_rng(1).normal(size=model.base.rank)
    times, *motion = move(len(model.arm.joint_names), 500.0, 4.0)
    rows = make_rows(method, model)
    rows.set_values(values)
    rows.process(make_stretch(times, motion[0], motion[1]), np.zeros((len(times), len(model.channels))), [])
    found = rows.predict(0, len(times))
    entries = model.columns.compute_with_accelerations(*motion)
    whole = model.columns.assemble(np.concatenate((entries, np.zeros_like(found)), axis=1))
    expected = whole[:, :, :-1] @ values
    late = times > 1.5
    error = np.abs(found - expected)[late].max(axis=0)
    assert np.all(error < 0.02 * np.abs(expected[late]).max(axis=0) + 0.02)


@pytest.mark.parametrize("method", ["filtered", "differentiated"])
def test_predictions_do_not_depend_on_blocks(method: str) -> None:
    model = make_model("both", 1)
    values = np.random.default_rng(2).normal(size=model.base.rank)
    times, positions, velocities, _ = move(len(model.arm.joint_names), 200.0, 1.0)
    readings = np.zeros((len(times), len(model.channels)))
    results = []
    for block in (1, 7, 200):
        rows = make_rows(method, model)
        rows.set_values(values)
        parts = []
        for start in range(0, len(times), block):
            part = slice(start, start + block)
            rows.process(make_stretch(times[part], positions[part], velocities[part], start == 0), readings[part], [])
            count = len(times[part])
            parts += (
                [rows.predict(0, count // 2), rows.predict(count // 2, count)] if count > 1 else [rows.predict(0, 1)]
            )
        results.append(np.concatenate(parts))
    np.testing.assert_allclose(results[0], results[1], rtol=0, atol=1e-9)
    np.testing.assert_allclose(results[0], results[2], rtol=0, atol=1e-9)
