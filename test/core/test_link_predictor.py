"""Predictions at sample rate against pinocchio with true accelerations, and the accelerations they are made from."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from support.random_robots import make_random_tree

from inertid_ros.core.alignment import Stretch
from inertid_ros.core.arm_model import ArmModel
from inertid_ros.core.link_model import LinkModel
from inertid_ros.core.link_predictor import Accelerations, LinkPredictor
from inertid_ros.core.link_unknowns import LinkUnknowns
from inertid_ros.core.records import FloatArray
from inertid_ros.core.robot import Robot

GRAVITY = np.array([1.0, 2.0, -9.0])
CUTOFF = 50.0


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("source", ["effort", "base_wrench", "both"])
def test_predictions_are_regressor_times_base_parameters(source: str, seed: int) -> None:
    """For any base parameters, also such as no body can have; the regressor is the independent way."""
    arm = ArmModel.of(Robot.from_urdf(make_random_tree(seed, 2 + seed)), GRAVITY)
    random = np.random.default_rng(seed)
    pose = pin.SE3(pin.exp3(random.normal(size=3)), random.normal(size=3))
    model = LinkModel.of(arm, source, LinkUnknowns.of(arm, source), pose)
    values = random.normal(size=model.base.rank)
    predictor = LinkPredictor(model)
    predictor.set_values(values)
    states = random.normal(size=(3, 10, len(arm.joint_names)))
    found = predictor.predict(*states)
    entries = model.columns.compute_with_accelerations(*states)
    rows = model.columns.assemble(np.concatenate((entries, np.zeros_like(found)), axis=1))
    np.testing.assert_allclose(found, rows[:, :, :-1] @ values, rtol=1e-6, atol=1e-6)


def test_urdf_s_own_parameters_predict_inverse_dynamics() -> None:
    arm = ArmModel.of(Robot.from_urdf(make_random_tree(5, 6)), GRAVITY)
    model = LinkModel.of(arm, "effort", LinkUnknowns.of(arm, "effort"))
    states = np.random.default_rng(5).normal(size=(3, 10, 6))
    data = arm.model.createData()
    expected = [np.array(pin.rnea(arm.model, data, *state)) for state in zip(*states, strict=True)]
    np.testing.assert_allclose(LinkPredictor(model).predict(*states), expected, atol=1e-6)


def make_stretch(times: FloatArray, velocities: FloatArray, starts_anew: bool = True) -> Stretch:
    stamps = np.round(times * 1e9).astype(np.int64)
    return Stretch(starts_anew, stamps, times, np.zeros_like(velocities), velocities, np.empty((len(times), 0)))


def test_slow_accelerations_are_not_late() -> None:
    """v = t^2: an acceleration that grows steadily is followed without delay once the filters have settled."""
    times = np.cumsum(np.random.default_rng(0).uniform(0.5e-3, 1.5e-3, 3000))
    found = Accelerations(CUTOFF).process(make_stretch(times, times[:, None] ** 2))
    late = times > 1.0
    np.testing.assert_allclose(found[late, 0], 2.0 * times[late], atol=1e-3)


def test_accelerations_of_a_sine_are_those_of_the_transfer_function() -> None:
    """H = s F^2 (1 + 2 (1 - F)), F = p / (s + p)."""
    omega = 20.0
    times = np.arange(0.0, 6.0, 2e-4)
    found = Accelerations(CUTOFF).process(make_stretch(times, np.sin(omega * times)[:, None]))[:, 0]
    s = 1j * omega
    lowpass = CUTOFF / (s + CUTOFF)
    response = s * lowpass**2 * (1.0 + 2.0 * (1.0 - lowpass))
    expected = np.imag(response * np.exp(s * times))
    np.testing.assert_allclose(found[20000:], expected[20000:], atol=1e-3 * omega)


def test_accelerations_do_not_depend_on_the_blocks_and_start_anew_at_rest() -> None:
    times = 1e-3 * np.arange(1, 400)
    velocities = np.random.default_rng(1).normal(size=(399, 2))
    whole = Accelerations(CUTOFF).process(make_stretch(times, velocities))
    parts = Accelerations(CUTOFF)
    first = parts.process(make_stretch(times[:7], velocities[:7]))
    rest = parts.process(make_stretch(times[7:], velocities[7:], starts_anew=False))
    np.testing.assert_allclose(np.concatenate((first, rest)), whole, atol=1e-9)
    again = parts.process(make_stretch(times + 9.0, velocities))
    np.testing.assert_allclose(again, whole, atol=1e-6)
    np.testing.assert_allclose(again[0], 0.0, atol=1e-12)
