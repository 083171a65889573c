"""Findings on delay, tilt and gains: what they say to set is what is wrong, and they are silent otherwise."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from support.chain import BAR, EXACT, PUMA, drive, load_of, puma_motion

from inertid_ros.core.chain import Chain, Target
from inertid_ros.core.estimation.nuisances import find_misfit, find_nuisances, find_pull, split_nuisances, tilt_gravity
from inertid_ros.core.estimation.systematic import JointSolution
from inertid_ros.core.records import FloatArray
from inertid_ros.core.robot.robot import Robot
from inertid_ros.core.settings.choices import SignChoice
from inertid_ros.core.settings.settings import LoadSettings, Settings
from inertid_ros.sim.sensors import paper_puma_sensors
from inertid_ros.sim.simulator import Simulator

DOWN = np.array([0.0, 0.0, -9.80665])
SMALL = np.full(45, 1e-5)


def make(**places: float) -> FloatArray:
    """45 nuisances, all zero but those at the places of names such as n0."""
    values = np.zeros(45)
    for place, value in places.items():
        values[int(place[1:])] = value
    return values


def codes(nuisances: FloatArray, deviations: FloatArray = SMALL) -> list[str]:
    return [finding.code for finding in find_nuisances(nuisances, deviations, LoadSettings(), DOWN)]


@pytest.mark.parametrize(
    ("nuisances", "expected"),
    [
        (make(), []),
        (make(n0=0.0019, n1=0.006, n2=-0.006, n3=0.029, n4=0.029), []),
        (make(n0=0.0021), ["wrench_late"]),
        (make(n0=-0.0021), ["wrench_late"]),
        (make(n1=0.0065, n2=-0.0065), ["base_tilted"]),
        (make(n3=-0.031), ["sensor_gain"]),
        (make(n4=0.031), ["sensor_gain"]),
        (make(n6=0.031), []),  # force of a moment: 0.3 % at 0.1 m
        (make(n21=0.0031), ["sensor_gain"]),  # moment of a force: 3.1 % at 0.1 m
    ],
)
def test_only_what_is_large_enough_is_found(nuisances: FloatArray, expected: list[str]) -> None:
    assert codes(nuisances) == expected
    assert codes(nuisances, np.full(45, 0.05)) == [], "nothing of this is significant"


@pytest.mark.parametrize(
    ("force", "torque", "doubt", "weight", "is_found"),
    [
        (0.34, 0.034, 1.0, 0.0, False),
        (0.36, 0.0, 1.0, 0.0, True),
        (0.0, 0.036, 1.0, 0.0, True),
        (1.05, 0.0, 1.0, 100.0, False),  # 1 % of the weight is the sensor's gain
        (1.07, 0.0, 1.0, 100.0, True),
        (0.0, 0.0, 1.4, 0.0, False),
        (0.0, 0.0, 1.6, 0.0, True),
    ],
)
@pytest.mark.parametrize(("slowness", "cause"), [(0.9, "cable"), (0.1, "liquid")])
def test_what_no_rigid_load_explains_is_an_error(
    force: float, torque: float, doubt: float, weight: float, is_found: bool, slowness: float, cause: str
) -> None:
    empty = np.zeros((55, 55))
    solution = JointSolution(np.zeros(55), empty, empty, empty, np.ones(6), np.array([force, torque]), doubt, slowness)
    found = find_misfit(solution, weight, LoadSettings())
    assert [(finding.level, finding.code) for finding in found] == [("error", "not_rigid")] * is_found
    assert all(cause in finding.message for finding in found)


def pull(force: float, torque: float, doubt: float, gravity: FloatArray = DOWN) -> FloatArray:
    """Standard deviations (10,) of what a force by pose may add to a load of 2 kg."""
    empty = np.zeros((55, 55))
    solution = JointSolution(np.zeros(55), empty, empty, empty, np.ones(6), np.array([force, torque]), doubt, 1.0)
    return np.asarray(np.sqrt(np.diag(find_pull(solution, 19.6, LoadSettings(), gravity))))


def test_what_is_left_over_may_be_a_weight_that_nothing_shows() -> None:
    assert not pull(0.07, 0.007, 1.0).any(), "correlated noise and drift leave as much"
    mass, *moments = pull(0.5, 0.007, 1.0)[:4]
    assert mass == pytest.approx(3.5 * np.sqrt(0.5**2 - 0.07**2) / 9.81, rel=1e-2)
    assert moments == pytest.approx([0.1 * mass] * 3), "it attacks some tenth of a metre away"
    assert pull(0.07, 0.05, 1.0)[0] == 0.0, "a torque is no weight"
    assert (pull(0.07, 0.05, 1.0)[1:4] > 0.0).all()
    assert not pull(0.5, 0.05, 1.0)[4:].any()


def test_what_tilt_and_gains_take_up_beyond_what_is_set_may_be_a_weight() -> None:
    assert pull(0.07, 0.007, 1.4)[0] == pytest.approx(3.5 * 0.01 * 2.0 * np.sqrt(1.4**2 - 1.0), rel=1e-2)


def test_without_gravity_no_force_is_a_weight() -> None:
    assert not pull(1.0, 0.1, 2.0, np.zeros(3)).any()


def test_what_is_taken_as_exact_is_never_found() -> None:
    settings = LoadSettings(**EXACT)
    assert find_nuisances(make(), make(), settings, DOWN) == ()


def test_messages_have_intervals_and_what_to_set() -> None:
    settings = LoadSettings(wrench_delay=0.01)
    late, gain = find_nuisances(make(n0=0.0039, n38=-0.05), np.full(45, 1e-4), settings, DOWN)
    assert late.level == gain.level == "warning"
    assert late.message == "the wrench is 3.9 ± 0.2 ms late: set load.wrench_delay to 0.0139"
    assert gain.message.startswith("nz reads 5.0 ± 0.0 % too little, more than load.gain_uncertainty covers")


@pytest.mark.parametrize("gravity", [DOWN, np.array([3.0, -5.0, 7.9]), np.array([9.8, 0.0, 0.0])])
def test_tilted_gravity_is_as_long_and_turned_by_the_angle(gravity: FloatArray) -> None:
    tilted = tilt_gravity(gravity, np.array([0.003, -0.004]))
    size = np.linalg.norm(gravity)
    assert np.linalg.norm(tilted) == pytest.approx(size)
    assert np.arccos(tilted @ gravity / size**2) == pytest.approx(0.005, rel=1e-3)
    assert np.array_equal(tilt_gravity(np.zeros(3), np.array([0.1, 0.1])), np.zeros(3))


def test_a_delay_and_a_tilt_are_found_and_gone_once_they_are_set() -> None:
    """The truth is known to the simulator only; what the findings say is what the next run is given."""
    truth = np.array([0.15, -0.1, -9.80399])
    motion = puma_motion(rounds=2)
    model = replace(paper_puma_sensors(1), wrench_delay=0.006)
    simulator = Simulator(PUMA, "ft_sensor", motion, model, [(0.0, BAR)], seed=1, gravity=truth)

    def run(delay: float, gravity: list[float]) -> dict[str, str]:
        load = LoadSettings(sensor_frame="ft_sensor", wrench_sign=SignChoice.ON_LOAD, wrench_delay=delay)
        chain = Chain(Robot.from_urdf(PUMA), Settings(gravity=gravity, load=load), Target.LOAD)
        drive(chain, simulator, 0.0, motion.duration)
        return {finding.code: finding.message for finding in load_of(chain).findings}

    found = run(0.0, DOWN.tolist())
    assert set(found) == {"wrench_late", "base_tilted"}
    delay = float(found["wrench_late"].rsplit(" ", 1)[1])
    gravity = [float(number) for number in re.findall(r"-?\d+\.\d{4}", found["base_tilted"].split("[")[1])]
    assert delay == pytest.approx(0.006, abs=1e-3)
    np.testing.assert_allclose(gravity, truth, atol=0.03)
    assert run(delay, gravity) == {}


def test_nuisances_are_split_row_by_row() -> None:
    delay, tilt, gains, mounting = split_nuisances(np.arange(45.0))
    assert delay == 0.0
    assert tilt.tolist() == [1.0, 2.0]
    assert gains[0].tolist() == [3.0, 4.0, 5.0, 6.0, 7.0, 8.0]
    assert mounting.tolist() == [39.0, 40.0, 41.0, 42.0, 43.0, 44.0]
