"""Which of two opposite wrenches the driver publishes, and what contradicts the configuration.

Estimates are made in the driver's own sign; for the other sign they only change theirs. So the sign need not be known
to learn, only to report: it is the one that makes the mass positive.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from inertid_ros.core.checks.wrench_convention import Finding
from inertid_ros.core.estimation.load_trial import LOAD
from inertid_ros.core.estimation.parameter_state import ParameterState
from inertid_ros.core.records import FloatArray

Sign = Literal["on_load", "on_sensor"]


class WrenchSign:
    """The configured sign, or the one that gravity tells."""

    def __init__(self, configured: str) -> None:
        """Take "on_load", "on_sensor" or "auto"."""
        self._configured = configured
        self._found: Sign | None = None

    def find(self, mass: float, variance: float) -> Sign | None:
        """The sign, given a mass in the driver's sign; None while no mass was ever beyond doubt."""
        if self._configured != "auto":
            return "on_sensor" if self._configured == "on_sensor" else "on_load"
        if self._found is None and abs(mass) > max(0.05, 10.0 * np.sqrt(variance)):
            self._found = "on_load" if mass > 0 else "on_sensor"
        return self._found


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
    mass = float(-unknowns[0] if sign == "on_sensor" else unknowns[0])
    deviation = float(np.sqrt(covariance[0, 0]))
    if sign is not None and mass < -max(0.1, 10.0 * deviation):
        other = "on_load" if sign == "on_sensor" else "on_sensor"
        message = f"with wrench_sign {sign} the mass is {mass:.3f} kg: set load.wrench_sign to {other}, or to auto"
        return (Finding("error", "sign_contradicted", message),)
    weight = mass * gravity
    force, moment = unknowns[LOAD : LOAD + 3], unknowns[LOAD + 3 :]
    if weight > 2.0 and deviation < 0.05 * mass and abs(float(np.linalg.norm(force)) - weight) < 0.05 * weight:
        expected = np.cross(unknowns[1:4] / unknowns[0], force)
        if np.linalg.norm(expected - moment) < 0.005 * weight:
            return (_TARED,)
    return ()


def find_impossible_body(
    excess: FloatArray, information: FloatArray, states: tuple[ParameterState, ...]
) -> tuple[Finding, ...]:
    """Parameters that are known, and known to be no rigid body's.

    Args:
        excess: (10,) parameters less those of the nearest possible body.
        information: (10, 10) inverse covariance.
        states: of the parameters.
    """
    known = np.array([state == "known" for state in states])
    if not known.any() or float(excess @ information @ excess) < _IMPOSSIBLE:
        return ()
    return (_NO_BODY,)


_IMPOSSIBLE = 100.0
_NO_BODY = Finding(
    "error",
    "impossible_body",
    "what was identified is no possible body: check the direction of gravity, the sign of the moments, the sensor "
    "frame and the joint states",
)
_TARED = Finding(
    "info",
    "tared",
    "the sensor was zeroed with the load on it: its bias is the load's weight. The estimate accounts for it",
)
