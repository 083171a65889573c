"""Learning by practice: its operators against closed forms, and on arms whose model is right, wrong, or simplified."""

from __future__ import annotations

import numpy as np
import pytest
from planar_arm import PLANAR, SeventhOrder, make_planar, practise_planar
from scipy.linalg import sqrtm

from inertid_ros.control.controllers import Gains
from inertid_ros.control.convergence import FREQUENCIES, find_convergence, fit_feedback
from inertid_ros.control.inverse_model import DecoupledModel, InverseModel
from inertid_ros.control.practice import (
    AT_NOISE,
    CUTOFF,
    RATE,
    Trial,
    find_share,
    judge,
    learn,
    low_pass,
    resample_trial,
)
from inertid_ros.core.errors import RecordingError
from inertid_ros.motions.motion import JointPath

MODEL = make_planar()
MOTION = SeventhOrder([0.0, 1.5], [1.0, -1.5], 1.0)
POSES = np.random.default_rng(0).uniform(-np.pi, np.pi, (500, 2))
DECOUPLED = DecoupledModel(MODEL, POSES)
GAINS = Gains.of_inertias(DECOUPLED.inertias, 2.0 * np.pi, 0.707)


def test_the_filter_has_half_its_power_at_the_cutoff_and_no_delay() -> None:
    times = np.arange(int(4 * RATE)) / RATE
    for frequency, gain in ((1.0, 1.0), (CUTOFF, 0.5), (40.0, 0.0)):
        wave = np.sin(2.0 * np.pi * frequency * times)[:, None]
        middle = slice(int(RATE), int(3 * RATE))
        np.testing.assert_allclose(low_pass(wave)[middle], gain * wave[middle], atol=0.01)
    noise = np.random.default_rng(0).standard_normal((200_000, 1))
    assert low_pass(noise).var() == pytest.approx(find_share(), rel=0.1)


def test_the_command_error_of_an_exact_model_is_what_was_commanded_wrongly() -> None:
    """Whatever was done, a right model finds the command that does what was meant (6.6 and 6.11)."""
    times = np.arange(-300, 1301) / RATE
    desired, done = MOTION.at(times), SeventhOrder([0.0, 1.5], [1.1, -1.3], 1.0).at(times)
    applied = MODEL.efforts(done)
    forward = 0.8 * MODEL.efforts(desired)
    practice = learn(MODEL, MOTION, Trial(times, done.positions, done.velocities, applied, forward))
    # Exact up to what the low-pass takes off the difference of the two motions' efforts and off the feedback.
    np.testing.assert_allclose(practice.command_error, low_pass(applied - MODEL.efforts(desired)), atol=0.02)
    expected = forward + low_pass(applied - forward) - low_pass(applied - MODEL.efforts(desired))
    np.testing.assert_allclose(practice.command, expected, atol=0.02)
    assert np.abs(practice.command - MODEL.efforts(desired)).max() < 0.1 * np.abs(forward - applied).max()


def test_a_right_model_learns_in_one_trial_and_the_feedback_is_found() -> None:
    wrong = MODEL.with_values(0.7 * MODEL.values)
    practices = practise_planar(MODEL, MOTION, GAINS, trials=2, first=wrong)
    sizes = [float(np.linalg.norm(practice.velocity_error)) for practice in practices]
    assert sizes[1] < 0.02 * sizes[0]
    found = fit_feedback(practices[0])
    np.testing.assert_allclose(found.position, GAINS.position, rtol=0.05)
    np.testing.assert_allclose(found.velocity, GAINS.velocity, rtol=0.05)


def test_the_decoupled_model_does_not_improve_in_five_trials_and_this_is_said() -> None:
    """Thesis, 6.5, with feedback of 1 Hz; the criteria of 6.6 tell beforehand."""
    practices = practise_planar(DECOUPLED, MOTION, GAINS, trials=6, noise=0.01)
    sizes = [float(np.linalg.norm(practice.velocity_error)) for practice in practices]
    assert sizes[-1] > sizes[0]
    verdicts = [judge(practices[: count + 1])[0] for count in range(len(practices))]
    assert verdicts[0] == "practise"
    assert set(verdicts[1:]) == {"stuck"}
    assert "would have left" in judge(practices)[1]
    convergence = find_convergence(DECOUPLED, MODEL, MOTION, GAINS)
    assert convergence.gain[0] > 1.0
    assert convergence.radius[0] > 1.0
    assert "need not converge" in convergence.describe()


def test_at_the_noise_practice_is_over() -> None:
    practices = practise_planar(MODEL, MOTION, GAINS, trials=2, noise=0.01, first=DECOUPLED)
    assert judge(practices[:1])[0] == "practise"
    verdict, text = judge(practices)
    assert verdict == "learned"
    assert "times the noise" in text
    np.testing.assert_allclose(practices[-1].noise, 0.01, rtol=0.15)
    assert np.linalg.norm(practices[-1].velocity_error) < AT_NOISE * np.linalg.norm(practices[-1].noise)


def test_the_gain_is_that_of_the_closed_form() -> None:
    """Two models that differ by a factor: A = (1 - f) G (G + C)⁻¹; without feedback, 1 - f at all frequencies."""
    off = MODEL.with_values(0.8 * MODEL.values)
    convergence = find_convergence(off, MODEL, MOTION)
    np.testing.assert_allclose(convergence.gains, 0.2, rtol=1e-6)
    np.testing.assert_allclose(convergence.radius, 0.2, rtol=1e-6)
    assert "20 %" in convergence.describe()
    still = find_convergence(off, MODEL, SeventhOrder([0.3, 0.8], [0.3, 0.8], 1.0), GAINS)
    inertia = MODEL.inertia(np.array([[0.3, 0.8]]))[0]
    root = np.real(sqrtm(inertia))
    for frequency, gain in zip(FREQUENCIES, still.gains[:, 0], strict=True):
        s = 2j * np.pi * frequency
        loop = inertia * s**2 + np.diag(GAINS.velocity * s + GAINS.position)
        expected = 0.2 * np.linalg.inv(root) @ (inertia * s**2) @ np.linalg.inv(loop) @ root
        assert gain == pytest.approx(np.linalg.svd(expected, compute_uv=False)[0], rel=1e-4)


def test_uncertainty_of_the_arm_shows_in_the_gain() -> None:
    values = MODEL.values
    unsure = InverseModel(MODEL.model, values, np.diag((0.1 * values) ** 2))
    convergence = find_convergence(unsure, unsure, MOTION, GAINS)
    assert 0.01 < convergence.gain[0] < convergence.gain[1]


def test_a_recording_must_hold_the_whole_motion() -> None:
    times = np.arange(0, 800) / RATE
    path: JointPath = MOTION.at(times)
    with pytest.raises(RecordingError, match="begin to record before"):
        resample_trial(times, (path.positions, path.velocities, path.velocities), MOTION, times, path.velocities)


def test_the_planar_arm_has_the_inertias_of_two_rods() -> None:
    """Mass 4 kg and length 0.5 m each: m l² = 1 kg m²."""
    for elbow in (0.0, 1.0, 2.5):
        cosine = np.cos(elbow)
        expected = [[5.0 / 3.0 + cosine, 1.0 / 3.0 + cosine / 2.0], [1.0 / 3.0 + cosine / 2.0, 1.0 / 3.0]]
        np.testing.assert_allclose(MODEL.inertia(np.array([[0.3, elbow]]))[0], expected, atol=1e-4)
    assert PLANAR.count("<joint") == 2
