"""The prototype problem of benchmarks/prototype.py: its estimators against closed forms, and few runs of each noise."""

from __future__ import annotations

import numpy as np
import pytest
from prototype import (
    MASS,
    METHODS,
    NOISES,
    OMEGA,
    Spectra,
    find_bound,
    find_noise,
    leave_noise,
    make_page,
    make_weights,
    run_once,
    simulate,
    solve_eigenvector,
    solve_least_squares,
)


def test_signals_have_the_spectra_they_are_made_of() -> None:
    noise = NOISES["force drifts"]
    records = [simulate(0.0, noise, np.random.default_rng(seed)) for seed in range(400)]
    force = np.mean([np.abs(record.force) ** 2 for record in records], axis=0)
    np.testing.assert_allclose(force / noise.force, 1.0, atol=0.3)
    moving = simulate(MASS, Spectra(0.0 * OMEGA, 0.0 * OMEGA), np.random.default_rng(0))
    samples = np.fft.irfft(np.concatenate([[0.0], moving.velocity, [0.0]]), norm="ortho")
    assert np.sqrt(np.mean(samples**2)) == pytest.approx(5.0)
    assert solve_least_squares(moving, np.ones(len(OMEGA))) == pytest.approx(MASS)


def test_optimal_filter_differentiates_slow_motion_and_integrates_the_force_of_fast_motion() -> None:
    """Equations 5.54 to 5.57, for mass and variances of 1."""
    force_filter = np.sqrt(make_weights(NOISES["white"], 1.0))
    velocity_filter = OMEGA * force_filter
    assert force_filter[0] == pytest.approx(1.0, rel=0.01)
    assert velocity_filter[0] == pytest.approx(OMEGA[0], rel=0.01)
    assert force_filter[-1] == pytest.approx(1.0 / OMEGA[-1], rel=0.01)
    assert velocity_filter[-1] == pytest.approx(1.0, rel=0.01)


@pytest.mark.parametrize("ratio", [1.0, 0.2, 7.0])
def test_eigenvector_is_the_closed_form_of_deming_s_regression(ratio: float) -> None:
    record = simulate(MASS, NOISES["white"], np.random.default_rng(3))
    weights = make_weights(NOISES["white"], 1.0)
    found = solve_eigenvector(record, weights, np.array([1.0, ratio]))
    acceleration, force = 1j * OMEGA * record.velocity, record.force
    xx, yy = (float(weights @ np.abs(part) ** 2) for part in (acceleration, force))
    xy = float(weights @ np.real(np.conj(acceleration) * force))
    expected = (yy - ratio * xx + np.sqrt((yy - ratio * xx) ** 2 + 4.0 * ratio * xy**2)) / (2.0 * xy)
    assert found == pytest.approx(expected)


def test_without_noise_of_the_acceleration_the_eigenvector_is_least_squares() -> None:
    noise = NOISES["velocity exact"]
    record, weights = simulate(MASS, noise, np.random.default_rng(4)), make_weights(noise, 1.0)
    found = solve_eigenvector(record, weights, leave_noise(noise, weights))
    assert found == pytest.approx(solve_least_squares(record, weights))


def test_noise_spectra_are_found_from_many_records() -> None:
    noise = NOISES["force drifts"]
    random = np.random.default_rng(5)
    found = find_noise([simulate(2.0, noise, random) for _ in range(300)], 2.0)
    fast = 2.0 * np.pi < OMEGA
    np.testing.assert_allclose(found.velocity[fast], noise.velocity[fast], rtol=0.05)
    slower = fast & (4.0 * np.pi > OMEGA)
    np.testing.assert_allclose(found.force[slower], noise.force[slower], rtol=0.2)


@pytest.mark.parametrize("name", NOISES)
def test_eigenvector_in_units_of_the_noise_is_unbiased_and_reaches_the_bound(name: str) -> None:
    masses = [run_once(NOISES[name], seed)[0] for seed in range(60)]
    errors = {method: np.array([one[method] for one in masses]) - MASS for method in METHODS}
    differentiated, *_, unit, scaled, found, _, _ = errors.values()
    bound = find_bound(NOISES[name])
    assert abs(scaled.mean()) < 3.0 * bound / np.sqrt(60.0)
    assert np.std(scaled) == pytest.approx(bound, rel=0.3)
    assert np.sqrt(np.mean(found**2)) < 2.5 * bound
    assert abs(unit.mean()) > 10.0 * abs(scaled.mean())
    if name != "velocity exact":
        assert differentiated.mean() < -0.5 * MASS


def test_page_has_a_row_for_every_method_and_spectrum() -> None:
    lines = make_page(2).splitlines()
    assert sum(line.startswith(tuple(f"| {method} |" for method in METHODS)) for line in lines) == len(METHODS)
    assert sum(line.startswith(tuple(f"| {name} |" for name in NOISES)) for line in lines) == 2 * len(NOISES)
