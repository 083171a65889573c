"""A sensor that is turned and shifted against its frame in the URDF, against pinocchio and brute force."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
from imperfect import SENSOR, Arm, Imperfections, Motion, Sensor, random_load, record
from load_coverage import make_chain

from inertid_ros.core.estimation.estimate import LoadEstimate
from inertid_ros.core.estimation.mounting import EFFECTS, LEVERS, find_mounting, make_gain_precision, move_load
from inertid_ros.core.estimation.nuisances import find_nuisances
from inertid_ros.core.estimation.states import ParameterState
from inertid_ros.core.records import FloatArray, JointBlock, WrenchBlock
from inertid_ros.core.settings.settings import LoadSettings

SMALL = 1e-6
PLACES = tuple(np.eye(6))
GRAVITY = np.array([0.0, 0.0, -9.81])


def place(mounting: FloatArray) -> pin.SE3:
    return pin.SE3(pin.exp3(mounting[:3]), mounting[3:])


def read(mounting: FloatArray) -> FloatArray:
    """What a sensor that is mounted so reads (6, 6) of each unit wrench in the frame of the URDF."""
    return np.column_stack([place(mounting).actInv(pin.Force(unit)).vector for unit in np.eye(6)])


def as_inertia(phi: FloatArray) -> pin.Inertia:
    com, tensor = phi[1:4] / phi[0], np.zeros((3, 3))
    tensor[np.triu_indices(3)] = phi[4:]
    tensor = tensor + np.triu(tensor, 1).T - phi[0] * (com @ com * np.eye(3) - np.outer(com, com))
    return pin.Inertia(phi[0], com, tensor)


def as_phi(body: pin.Inertia) -> FloatArray:
    m, c = body.mass, body.lever
    tensor = body.inertia + m * (c @ c * np.eye(3) - np.outer(c, c))
    return np.concatenate(([m], m * c, tensor[np.triu_indices(3)]))


@pytest.mark.parametrize("direction", PLACES)
def test_effects_are_those_of_pinocchio(direction: FloatArray) -> None:
    slope = (read(SMALL * direction) - np.eye(6)) / SMALL
    np.testing.assert_allclose((EFFECTS @ direction).reshape(6, 6), slope, atol=2e-6)


@pytest.mark.parametrize("direction", PLACES)
def test_a_load_moves_as_pinocchio_moves_it(direction: FloatArray) -> None:
    phi = random_load(np.random.default_rng(3))
    moved = as_phi(place(SMALL * direction).act(as_inertia(phi)))
    np.testing.assert_allclose(move_load(phi, direction), (moved - phi) / SMALL, atol=1e-5)


def test_precision_is_that_of_independent_cross_talk_and_mounting() -> None:
    rng, own = np.random.default_rng(0), 0.01 * LEVERS
    mountings = rng.normal(size=(200_000, 6)) * np.repeat([0.02, 0.003], 3)
    drawn = rng.normal(size=(200_000, 36)) * own + mountings @ EFFECTS.T
    expected = np.cov(drawn.T) / np.outer(LEVERS, LEVERS)
    found = np.linalg.inv(make_gain_precision(own, 0.02, 0.003)) / np.outer(LEVERS, LEVERS)
    np.testing.assert_allclose(found, expected, atol=2e-5)


def test_what_is_exact_stays_fixed() -> None:
    precision = make_gain_precision(np.zeros(36), 0.02, 0.0)
    is_free = (EFFECTS[:, :3] != 0.0).any(axis=1)
    np.testing.assert_array_equal(np.isfinite(np.diag(precision)), is_free)
    shares = np.linalg.eigvalsh(np.linalg.inv(precision[np.ix_(is_free, is_free)]))
    assert (shares[-3:] > 1e5 * shares[-4]).all()  # but for rounding, three rotations are all there is


@pytest.mark.parametrize("cross_talk", [0.0, 0.01])
def test_mounting_is_conditioned_on_what_is_read(cross_talk: float) -> None:
    """Against the joint distribution of mounting and own cross-talk, measured with noise."""
    rng, sizes = np.random.default_rng(1), np.repeat([0.02, 0.003], 3)
    own, noise = np.diag((cross_talk * LEVERS) ** 2), np.diag((0.002 * LEVERS) ** 2)
    joint = np.block([[np.diag(sizes**2), np.zeros((6, 36))], [np.zeros((36, 6)), own]])
    design = np.hstack((EFFECTS, np.eye(36)))
    innovation = design @ joint @ design.T + noise
    gain = joint @ design.T @ np.linalg.inv(innovation)
    reading = rng.multivariate_normal(np.zeros(36), innovation, method="eigh")
    mean, covariance = gain @ reading, joint - gain @ design @ joint
    found = find_mounting(design @ mean, design @ covariance @ design.T, cross_talk, 0.02, 0.003)
    np.testing.assert_allclose(found.values, mean[:6], rtol=1e-6)
    np.testing.assert_allclose(found.deviations, np.sqrt(np.diag(covariance)[:6]), rtol=1e-6)
    np.testing.assert_allclose(found.gains.ravel(), mean[6:], atol=1e-9)
    np.testing.assert_allclose(found.gain_deviations.ravel() ** 2, np.diag(covariance)[6:], atol=1e-10)


def test_finding_says_what_to_correct() -> None:
    nuisances, deviations = np.zeros(45), np.full(45, 1e-3)
    nuisances[39:] = [0.0, 0.0, 0.0349, 0.0, 0.006, 0.0]
    (finding,) = find_nuisances(nuisances, deviations, LoadSettings(), GRAVITY)
    assert (finding.level, finding.code) == ("warning", "sensor_mounting")
    assert 'rpy="0.0000 0.0000 0.0349" xyz="0.0000 0.0060 0.0000"' in finding.message
    nuisances[39:] = [0.0, 0.0, 0.015, 0.0, 0.0029, 0.0]
    assert find_nuisances(nuisances, deviations, LoadSettings(), GRAVITY) == ()
    assert find_nuisances(2.0 * nuisances, 100.0 * deviations, LoadSettings(), GRAVITY) == ()


@pytest.mark.parametrize(
    ("degrees", "millimetres"), [(2.0, 0.0), (3.0, 0.0), (0.0, 6.0), (2.0, 5.0)], ids=("2°", "3°", "6mm", "2°5mm")
)
def test_what_is_known_holds_in_the_frames_of_urdf_and_sensor(degrees: float, millimetres: float) -> None:
    for seed in range(4):
        rng = np.random.default_rng(seed)
        arm, phi = Arm("UR10"), random_load(rng)
        motion, directions = Motion(6, rng, 1.0), rng.normal(size=(2, 3))
        directions /= np.linalg.norm(directions, axis=1)[:, None]
        mounting = np.concatenate((np.radians(degrees) * directions[0], 1e-3 * millimetres * directions[1]))
        sensor = Sensor(0.0, np.zeros(2), read(mounting) - np.eye(6))
        recording = record(arm, motion, phi, Imperfections(), rng, 14.0, 250.0, sensor=sensor)
        chain = make_chain(arm, LoadSettings())
        chain.push(JointBlock(arm.joints, recording.joint_stamps, recording.positions, recording.velocities))
        chain.push(WrenchBlock(SENSOR, recording.wrench_stamps, recording.wrenches))
        chain.process()
        estimate = chain.estimate()
        assert isinstance(estimate, LoadEstimate)
        known = [state is ParameterState.KNOWN for state in estimate.states]
        assert all(known[:4])
        for truth in (phi, as_phi(place(mounting).actInv(as_inertia(phi)))):
            far = np.abs(estimate.values - truth) > 3.0 * estimate.deviations
            assert not (far & known).any()
        assert {finding.code for finding in estimate.findings} <= {"sensor_mounting"}
        if degrees >= 2.0:
            assert "turned by" in estimate.findings[0].message


def test_exact_mounting_leaves_nothing_to_find() -> None:
    settings = replace(LoadSettings(), rotation_uncertainty=0.0, offset_uncertainty=0.0)
    found = find_mounting(0.02 * LEVERS, np.diag(LEVERS**2), settings.cross_talk, settings.rotation_uncertainty, 0.0)
    assert not found.values.any()
    assert not found.deviations.any()
    np.testing.assert_array_equal(found.gains.ravel(), 0.02 * LEVERS)
