"""Which of two opposite wrenches the driver publishes, and what contradicts the configuration.

Estimates are made in the driver's own sign; for the other sign they only change theirs. So the sign need not be known
to learn, only to report: it is the one that makes the mass positive.
"""

from __future__ import annotations

import numpy as np

from inertid_ros.core.diagnosis import Finding
from inertid_ros.core.estimation.estimate import Sign
from inertid_ros.core.records import FloatArray

_LIGHTEST = 0.05
"""Masses below this [kg] have no certain sign: cables weigh as much."""
_BEYOND_DOUBT = 10.0
"""Standard deviations from which the sign of a mass is believed for good; they are too small in a wrong frame."""
_NEGATIVE = 0.1
"""Masses down to this [kg] below zero do not contradict a configured sign: a sensor without a load drifts as much."""
_HEAVY = 2.0
"""Weight [N] from which a tare is told from a bias of its own."""
_ALIKE = 0.05
"""Part of the weight to which the bias must be the same force, and to which the mass must be known, for a tare."""
_LEVER = 0.005
"""Distance [m] from the centre of mass at which that force must act, for a tare."""


class WrenchSign:
    """The configured sign, or the one that follows from gravity.

    Attributes:
        sign: which wrench the driver publishes; None while no mass was ever beyond doubt.
    """

    def __init__(self, configured: str) -> None:
        """Take "on_load", "on_sensor" or "auto"."""
        self.sign = None if configured == "auto" else Sign(configured)

    def learn(self, mass: float, variance: float) -> None:
        """Take a mass in the driver's sign."""
        if self.sign is None and abs(mass) > max(_LIGHTEST, _BEYOND_DOUBT * np.sqrt(variance)):
            self.sign = Sign.ON_LOAD if mass > 0.0 else Sign.ON_SENSOR


def find_contradictions(
    unknowns: FloatArray, covariance: FloatArray, sign: Sign | None, gravity: float
) -> tuple[Finding, ...]:
    """A negative mass under a configured sign, or a bias that is the weight of the load.

    Args:
        unknowns: [phi (10), bias (6)] in the driver's sign.
        covariance: (16, 16) of them.
        sign: as configured or found.
        gravity: m/s^2.
    """
    mass = float(unknowns[0] if sign is None else sign.factor * unknowns[0])
    deviation = float(np.sqrt(covariance[0, 0]))
    if sign is not None and mass < -max(_NEGATIVE, _BEYOND_DOUBT * deviation):
        other = Sign.ON_LOAD if sign is Sign.ON_SENSOR else Sign.ON_SENSOR
        message = f"with wrench_sign {sign} the mass is {mass:.3f} kg: set load.wrench_sign to {other}, or to auto"
        return (Finding("error", "sign_contradicted", message),)
    weight = mass * gravity
    force, moment = unknowns[10:13], unknowns[13:]
    distance = abs(float(np.linalg.norm(force)) - weight)
    if weight > _HEAVY and deviation < _ALIKE * mass and distance < _ALIKE * weight:
        expected = np.cross(unknowns[1:4] / unknowns[0], force)
        if np.linalg.norm(expected - moment) < _LEVER * weight:
            return (_TARED,)
    return ()


_TARED = Finding(
    "info",
    "tared",
    "the sensor was zeroed with the load on it: its bias is the load's weight. The estimate accounts for it",
)
