"""What is systematically wrong with a wrist sensor, its clock and its mounting: findings that say what to set."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from inertid_ros.core.diagnosis import Finding
from inertid_ros.core.equations.equation import WRENCH_NAMES
from inertid_ros.core.equations.load import LOAD, UNKNOWNS
from inertid_ros.core.equations.signals import find_horizontal
from inertid_ros.core.estimation.estimate import CHANGE_SUSPECTED, NOT_RIGID
from inertid_ros.core.estimation.mounting import LEVER, find_mounting, move_load
from inertid_ros.core.estimation.sensor_equation import GAIN
from inertid_ros.core.estimation.systematic import JointSolution
from inertid_ros.core.records import FloatArray
from inertid_ros.core.settings.settings import LoadSettings

_SIGNIFICANT = 3.0
"""Standard deviations of its own from which a nuisance is no coincidence: one in 370."""
_LONG_DELAY = 0.002
"""Delays [s] below this matter little: a load that turns at 1 rad/s is read wrong by 0.2 % of its weight, a fifth of
what sensors are accurate to."""
_LARGE_TILT = np.radians(0.5)
"""Tilts [rad] below this matter little: they shift 0.9 % of a load's weight sideways, as much as sensors are accurate
to, and few bases are set up better."""
_LARGE_ROTATION = np.radians(1.0)
"""Rotations [rad] below this matter little: flanges and adapters are mounted no better, and what they turn sideways of
a load is less than two of its hundredths."""
_LARGE_OFFSET = 0.003
"""Offsets [m] below this matter little: the thickness of a washer or of a cover, and less than is known of most centres
of mass."""
_PRIORS = 3.0
"""Prior standard deviations beyond which a gain or cross-talk contradicts what the settings say of the sensor."""
_CONTACT_SHARE = 0.35
"""Part of load.contact_force and load.contact_torque that may be left over on average: a wrench that swings up to them
has 0.7 of them as its root mean square, of which load, bias and nuisances take up half or more."""
_DOUBTFUL = 1.5
"""By how much worse than is set a sensor may seem to be: one that is as is set stays far below (1.1 at most in
simulations), and intervals of one that is slightly worse are widened."""
_ROOM = 0.07
"""Part of load.contact_force and load.contact_torque that correlated noise and drift may leave over: sensors with all
mild imperfections leave less than 0.07 N (benchmarks/load_coverage.py), however long they move."""
_TAKEN_UP = 3.5
"""Force along an axis that depends on the pose, over the root mean square of what is left over of it along all three:
load, bias and nuisances take the rest up. Chosen on 50 simulated cables of 1.2 N (benchmarks/detection.py), which leave
0.16 N: masses that are known and off by three sigma at some time are 26 with 0, and 8, 6 and 4 with 2, 2.5 and 3 to 5;
and on cables of 3 N, for which 3 does worse."""
_SLOW = 0.5
"""Part of the misfit from which it depends on the pose: that of a motion up to 0.5 Hz keeps 0.8 of its squares in means
over half a second, what swings at 1.5 Hz keeps a tenth."""
_BY_POSE = ", and it changes with the pose: look for a cable or hose that pulls, or a contact from the beginning"
_BY_ACCELERATION = (
    ", and it comes with accelerations: look for a liquid or a loose part, a mounting that gives way, or moments whose "
    "sign is not that of the forces"
)
_INTERVAL = 1.96
"""Standard deviations of a 95 % interval."""


class Nuisances(NamedTuple):
    """Delay [s], tilts (2,) [rad], gains and cross-talk (6, 6), and how the sensor is mounted (6,) [rad, m]."""

    delay: float
    tilt: FloatArray
    gains: FloatArray
    mounting: FloatArray


def split_nuisances(nuisances: FloatArray) -> Nuisances:
    """The 45 numbers, each kind for itself."""
    return Nuisances(float(nuisances[0]), nuisances[1:3], nuisances[3:39].reshape(6, 6), nuisances[39:])


def list_nuisances(values: FloatArray, covariance: FloatArray, settings: LoadSettings) -> tuple[FloatArray, FloatArray]:
    """Nuisances (45,) and their standard deviations from a solution (55,) and its covariance (55, 55).

    Cross-talk is divided into what the mounting of the sensor causes, and what is its own.
    """
    priors = settings.cross_talk, settings.rotation_uncertainty, settings.offset_uncertainty
    mounting = find_mounting(values[GAIN:], covariance[GAIN:, GAIN:], *priors)
    others = values[UNKNOWNS:GAIN], np.sqrt(np.diag(covariance)[UNKNOWNS:GAIN])
    return (
        np.concatenate((others[0], mounting.gains.ravel(), mounting.values)),
        np.concatenate((others[1], mounting.gain_deviations.ravel(), mounting.deviations)),
    )


def find_shift(phi: FloatArray, nuisances: FloatArray) -> FloatArray:
    """Covariance (10, 10) of a load that may be meant in either frame, as sensor and URDF have different ones.

    Parameters phi (10,) are those in the frame of the URDF; in that of the sensor, which is as likely to be the one
    that is meant, they differ by what nuisances (45,) say of the mounting.
    """
    shift = move_load(phi, split_nuisances(nuisances).mounting)
    return np.asarray(0.5 * np.outer(shift, shift))


def tilt_gravity(gravity: FloatArray, tilt: FloatArray) -> FloatArray:
    """Gravity (3,) in the root frame as tilts (2,) say: g + tilt_0 h + tilt_1 (g x h) / |g|, as long as before.

    h is horizontal and as long as g, see `equations.signals`.
    """
    size = float(np.linalg.norm(gravity))
    if size == 0.0:
        return gravity
    across = find_horizontal(gravity)
    tilted = gravity + tilt[0] * across + tilt[1] * np.cross(gravity, across) / size
    return np.asarray(tilted * size / np.linalg.norm(tilted))


def find_nuisances(
    nuisances: FloatArray, deviations: FloatArray, settings: LoadSettings, gravity: FloatArray
) -> tuple[Finding, ...]:
    """Findings on what is both significant and large enough to matter.

    Args:
        nuisances: (45,) see `list_nuisances`, and
        deviations: (45,) their standard deviations.
        settings: of the load; delays are relative to the one that is set.
        gravity: (3,) that is set.
    """
    found = []
    (delay, tilt, gains, mounting), (delay_std, tilt_std, gain_std, mounting_std) = map(
        split_nuisances, (nuisances, deviations)
    )
    if abs(delay) > max(_LONG_DELAY, _SIGNIFICANT * delay_std):
        word = "late" if delay > 0.0 else "early"
        message = (
            f"the wrench is {1e3 * abs(delay):.1f} ± {1e3 * _INTERVAL * delay_std:.1f} ms {word}: set "
            f"load.wrench_delay to {settings.wrench_delay + delay:.4f}"
        )
        found.append(Finding("warning", "wrench_late", message))
    angle = float(np.hypot(*tilt))
    if angle > _LARGE_TILT and (np.abs(tilt) > _SIGNIFICANT * tilt_std).any():
        deviation = float(np.hypot(*(tilt * tilt_std))) / angle
        numbers = ", ".join(f"{number:.4f}" for number in tilt_gravity(gravity, tilt))
        message = (
            f"gravity is tilted by {np.degrees(angle):.2f} ± {np.degrees(_INTERVAL * deviation):.2f}° against what is "
            f"set: level the base, or set gravity to [{numbers}]"
        )
        found.append(Finding("warning", "base_tilted", message))
    return (*found, *_find_mounting(mounting, mounting_std), *_find_gain(gains, gain_std, settings))


def _find_mounting(mounting: FloatArray, deviations: FloatArray) -> tuple[Finding, ...]:
    """A finding on a rotation or an offset (3,) of the sensor that is significant and large."""
    texts, origin = [], []
    parts = (
        ("turned", "rpy", slice(0, 3), _LARGE_ROTATION, np.degrees(1.0), "°", "about"),
        ("shifted", "xyz", slice(3, 6), _LARGE_OFFSET, 1e3, " mm", "along"),
    )
    for word, name, part, limit, factor, unit, where in parts:
        values = mounting[part]
        size = float(np.linalg.norm(values))
        deviation = float(np.linalg.norm(values * deviations[part])) / max(size, np.finfo(float).tiny)
        if size <= max(limit, _SIGNIFICANT * deviation):
            continue
        axis = ", ".join(f"{number:.2f}" for number in values / size)
        texts.append(f"{word} by {factor * size:.1f} ± {factor * _INTERVAL * deviation:.1f}{unit} {where} ({axis})")
        origin.append(f'{name}="{" ".join(f"{number:.4f}" for number in values)}"')
    if not texts:
        return ()
    message = (
        f"the sensor is {' and '.join(texts)} against its frame in the URDF, in which the load is given: put a fixed "
        f"joint with {' '.join(origin)} between them, or correct that frame"
    )
    return (Finding("warning", "sensor_mounting", message),)


SUSPECTED = Finding(
    "warning",
    CHANGE_SUSPECTED,
    "load or bias seem to have changed slightly: go on moving, it is confirmed or dropped within seconds, and what is "
    "published is uncertain until then",
)
"""What is left over of a load that seems to have changed need have no other cause."""


def find_misfit(solution: JointSolution, weight: float, settings: LoadSettings) -> tuple[Finding, ...]:
    """A finding where forces or torques are left over that are no rigid load's of a weight [N].

    So it is where they are not left over only because delay, tilt, gains and cross-talk take them up, which would have
    to be far larger than is set.
    """
    limits = _CONTACT_SHARE * np.array([settings.contact_force, settings.contact_torque])
    limits = np.hypot(limits, settings.gain_uncertainty * weight * np.array([1.0, LEVER]))
    force, torque = solution.misfit
    if (solution.misfit > limits).any():
        what = f"{force:.2f} N and {torque:.3f} Nm are left over (root mean square, beyond noise)"
        remedy = "if the robot shakes that much, raise load.contact_force and load.contact_torque"
    elif solution.doubt > _DOUBTFUL:
        what = f"delay, tilt, gains, cross-talk and mounting would have to be {solution.doubt:.1f} times what is set"
        remedy = (
            "if they are, correct the sensor's frame in the URDF, or set gravity, load.wrench_delay, "
            "load.gain_uncertainty and load.cross_talk accordingly"
        )
    else:
        return ()
    causes = _BY_POSE if solution.slowness > _SLOW else _BY_ACCELERATION
    message = f"the wrench is not that of a rigid load: {what}{causes}; {remedy}"
    return (Finding("error", NOT_RIGID, message),)


def find_pull(solution: JointSolution, weight: float, settings: LoadSettings, gravity: FloatArray) -> FloatArray:
    """Covariance (10, 10) of what a force that depends on the pose, as a cable's, may have added to a load.

    How large it is shows in what is left over of forces and torques, and in what delay, tilt, gains and cross-talk take
    up beyond what is set. The part of it that stays vertical is a weight, which nothing shows, at the place where it
    attacks. Nothing is added to the load on a sensor that is declared to be perfect.

    Args:
        solution: what is known.
        weight: of the load [N].
        settings: of the load.
        gravity: (3,) that is set.
    """
    covariance, size = np.zeros((LOAD, LOAD)), float(np.linalg.norm(gravity))
    priors = settings.gain_uncertainty, settings.cross_talk, settings.tilt_uncertainty
    is_perfect = not any((*priors, settings.rotation_uncertainty, settings.offset_uncertainty))
    if size == 0.0 or is_perfect:
        return covariance
    room = _ROOM * np.array([settings.contact_force, settings.contact_torque])
    beyond = (solution.doubt**2 - 1.0) * (settings.gain_uncertainty * weight * np.array([1.0, LEVER])) ** 2
    force, torque = _TAKEN_UP**2 * np.maximum(solution.misfit**2 + beyond - room**2, 0.0)
    np.fill_diagonal(covariance[:4, :4], np.array([force, *[torque + LEVER**2 * force] * 3]) / size**2)
    return covariance


def _find_gain(gains: FloatArray, deviations: FloatArray, settings: LoadSettings) -> tuple[Finding, ...]:
    """A finding on the gain or cross-talk that contradicts the settings most, if one does."""
    levers = np.repeat([1.0, LEVER], 3)
    scale = np.outer(1.0 / levers, levers)
    sizes, expected = np.abs(gains) * scale, np.full((6, 6), settings.cross_talk)
    np.fill_diagonal(expected, settings.gain_uncertainty)
    excess = sizes - np.maximum(_PRIORS * expected, _SIGNIFICANT * deviations * scale)
    axis, source = np.unravel_index(int(excess.argmax()), excess.shape)
    if excess[axis, source] <= 0.0 or expected[axis, source] == 0.0:
        return ()
    number = f"{100.0 * sizes[axis, source]:.1f} ± {100.0 * _INTERVAL * (deviations * scale)[axis, source]:.1f} %"
    if axis == source:
        name, what = "load.gain_uncertainty", f"{number} too {'much' if gains[axis, axis] > 0.0 else 'little'}"
    else:
        lever = "" if axis // 3 == source // 3 else f" at {LEVER:g} m"
        name, what = "load.cross_talk", f"{number} of {WRENCH_NAMES[source]}{lever}"
    message = (
        f"{WRENCH_NAMES[axis]} reads {what}, more than {name} covers: check the sensor's calibration, or set {name} to "
        f"{sizes[axis, source]:.2f}"
    )
    return (Finding("warning", "sensor_gain", message),)
