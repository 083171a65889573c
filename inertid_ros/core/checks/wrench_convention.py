"""Is the wrench what it is said to be? Judged by how the measured force follows gravity.

For a load of mass m in the right frame, f = m a + b with a the acceleration less gravity, whatever the bias. With
H = sum (a - mean)(f - mean)^T and C = sum (a - mean)(a - mean)^T, the best multiple of the identity leaves
T - tr(H)^2 / tr(C) of T = sum |f - mean|^2 unexplained, the best multiple of any orthogonal matrix T - |H|_*^2 / tr(C).

Estimates are made in the driver's own sign; for the other sign they only change theirs. So the sign need not be known
to learn, only to report: it is the one that makes the mass positive.
"""

from __future__ import annotations

import numpy as np

from inertid_ros.core.compiled import compiled
from inertid_ros.core.diagnosis import Finding
from inertid_ros.core.estimation.estimate import Sign
from inertid_ros.core.records import FloatArray
from inertid_ros.core.settings.choices import SignChoice

_ENOUGH_TURN = 2.0
"""Standard deviation [m/s²] of gravity in a second direction from which the frame is judged: turns by 12 degrees."""
_LIGHT = 0.3
"""Force [N] that must follow a full turn of gravity; less is nothing carried (30 g), or a load already subtracted."""
_ENOUGH_ROWS = 8.0
"""Rows in different poses before anything is judged: twice as many as there are numbers in a frame and a mass."""
_DIFFERENT = 0.3
"""Change of the acceleration less gravity [m/s²] from which a row is another one: a turn by 2 degrees."""
_SMALL_MOMENT = 0.05
"""Standard deviation of the moments [Nm] below which they say nothing: cables and drift do as much."""
_EXPLAINED = 0.8
"""Part of the variance of forces or moments that the right axes explain at least, beside noise and contacts."""
_PASSED = 0.75
"""Part of the moments' variance from which they are seen to belong to the forces; a little less than `_EXPLAINED`, so
that nothing is both."""
_BETTER = 0.3
"""Part of the moments' variance that a mirror image must explain more than the axes as they are."""
_FLAT = 0.05
"""Smallest singular value, as a part of the largest, below which gravity has turned in one plane only and the axis
across it is a matter of choice."""
_MIRRORS = ((1.0, 1.0, 1.0), (-1.0, 1.0, 1.0), (1.0, -1.0, 1.0), (1.0, 1.0, -1.0))
"""Signs of the moments' axes: as they are, and with one of them mirrored."""
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


class ConventionCheck:
    """Judges the rows of the present load; before any load has passed, all rows there were.

    In a wrong frame everything looks like contacts and changes of the load, so nothing may be left out then. Once a
    load has been seen to follow gravity the frame is known to be right, and loads are not mixed.
    """

    def __init__(self) -> None:
        """Start with nothing seen."""
        self._all = _Sums()
        self._present = _Sums()
        self._last: FloatArray = np.zeros(3)
        self._has_passed = False

    def take(self, signals: FloatArray, readings: FloatArray, fits: bool) -> None:
        """Take the signals (16,) and readings (6,) of a row, and whether the present load explains it.

        A row counts if the sensor has turned or been accelerated since the last one: waiting is no evidence.
        """
        count_row(signals, readings, fits, self._last, self._all.sums, self._present.sums)

    def start_load(self) -> None:
        """What is carried has changed."""
        self._has_passed |= self._present.judge()[1]
        self._present = _Sums()

    def findings(self) -> tuple[Finding, ...]:
        """What can be said by now; empty while the sensor has not turned enough or nothing is wrong."""
        found, passed, judged = self._present.judge()
        if judged or passed or self._has_passed:
            return found
        return self._all.judge()[0]


@compiled
def count_row(
    signals: FloatArray,
    readings: FloatArray,
    fits: bool,
    last: FloatArray,
    everything: FloatArray,
    present: FloatArray,
) -> None:
    """Add the products (10, 10) of a, 1, f and n of a row that differs from the last one counted."""
    amplitude, change = signals[12], 0.0
    joined = np.empty(10)
    for i in range(3):
        joined[i] = signals[i] - signals[13 + i]
        change += (joined[i] - amplitude * last[i]) ** 2
    if change < (_DIFFERENT * amplitude) ** 2:
        return
    joined[3] = amplitude
    for i in range(6):
        joined[4 + i] = readings[i]
    for i in range(3):
        last[i] = joined[i] / amplitude
    for i in range(10):
        for j in range(10):
            everything[i, j] += joined[i] * joined[j]
            if fits:
                present[i, j] += joined[i] * joined[j]


class _Sums:
    """Running sums of accelerations, forces and moments, and what they say."""

    def __init__(self) -> None:
        self.sums = np.zeros((10, 10))

    def judge(self) -> tuple[tuple[Finding, ...], bool, bool]:
        """The findings, whether what can be wrong was seen to be right, and whether there was enough to judge."""
        weight = self.sums[3, 3]
        if weight < _ENOUGH_ROWS:
            return (), False, False
        keep = np.r_[0:3, 4:10]
        centred = self.sums[np.ix_(keep, keep)] - np.outer(self.sums[keep, 3], self.sums[keep, 3]) / weight
        centred /= weight
        motion, cross, total = centred[:3, :3], centred[:3, 3:6], float(np.trace(centred[3:6, 3:6]))
        turned = np.sort(np.linalg.eigvalsh(motion))[::-1]
        if turned[1] < _ENOUGH_TURN**2:
            return (), False, False
        if total < (_LIGHT * np.sqrt(turned.sum() / 9.8**2)) ** 2:
            return (_COMPENSATED,), True, True
        found, passed = _judge_frame(motion, cross, total, np.hstack((centred[:3, 6:], centred[6:, 6:])))
        return found, passed, True


def _judge_frame(
    motion: FloatArray, cross: FloatArray, total: float, moments: FloatArray
) -> tuple[tuple[Finding, ...], bool]:
    spread = float(np.trace(motion))
    left, singular, right = np.linalg.svd(cross)
    straight = float(np.trace(cross)) ** 2 / spread / total
    turned = float(singular.sum()) ** 2 / spread / total
    if straight > _EXPLAINED:
        return _judge_moments(motion, moments[:, :3], moments[:, 3:])
    if turned < _EXPLAINED:
        return (_NO_FRAME,), False
    turn = right.T @ left.T
    if singular[2] < _FLAT * singular[0]:
        other = right.T @ np.diag([1.0, 1.0, -1.0]) @ left.T
        turn = max(turn, other, key=_squareness)
    sign = Sign.ON_LOAD if np.linalg.det(turn) > 0 else Sign.ON_SENSOR
    angle, axis = _angle_and_axis(sign.factor * turn)
    is_mirrored = sign is Sign.ON_SENSOR and angle > 170.0
    message = (
        f"the force follows gravity only if the sensor frame is turned by {angle:.0f} deg about "
        f"({axis[0]:.2f}, {axis[1]:.2f}, {axis[2]:.2f}), with wrench_sign {sign}"
        f"{' (or one of its axes is mirrored: a left-handed sensor)' if is_mirrored else ''}: "
        "correct the frame of the sensor in the URDF, or load.sensor_frame"
    )
    return (Finding("error", "frame_turned", message),), False


def _judge_moments(motion: FloatArray, cross: FloatArray, moments: FloatArray) -> tuple[tuple[Finding, ...], bool]:
    """N = h x a + b: with the right axes some h explains the moments, and no mirror image of them does better.

    Args:
        motion: (3, 3) covariance of a.
        cross: (3, 3) covariance of a and n.
        moments: (3, 3) covariance of n.
    """
    total = float(np.trace(moments))
    if total < _SMALL_MOMENT**2:
        return (), True
    share = {signs: _explain_moments(motion, cross * np.array(signs)) / total for signs in _MIRRORS}
    best = max(share, key=lambda signs: share[signs])
    straight = share[_MIRRORS[0]]
    mirrored = share[best] > _EXPLAINED and share[best] - straight > _BETTER
    return ((_HANDEDNESS,) if mirrored else ()), straight > _PASSED


def _explain_moments(motion: FloatArray, cross: FloatArray) -> float:
    """How much of the moments' variance the best h explains: (tr C - C) h = sum a x n."""
    torque = np.array([cross[1, 2] - cross[2, 1], cross[2, 0] - cross[0, 2], cross[0, 1] - cross[1, 0]])
    arm = np.linalg.solve(np.trace(motion) * np.eye(3) - motion, torque)
    return float(arm @ torque)


def _squareness(turn: FloatArray) -> float:
    """How nearly a matrix exchanges and flips axes, as sensors are mounted: 3 if it does exactly that."""
    return float((np.abs(turn).max(axis=1) ** 2).sum())


def _angle_and_axis(turn: FloatArray) -> tuple[float, FloatArray]:
    """Angle [deg] and axis of a rotation matrix."""
    angle = float(np.degrees(np.arccos(np.clip((np.trace(turn) - 1.0) / 2.0, -1.0, 1.0))))
    values, vectors = np.linalg.eig(turn)
    axis = np.real(vectors[:, np.argmin(np.abs(values - 1.0))])
    skew = np.array([turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]])
    return angle, axis if axis @ skew >= 0 else -axis


class WrenchSign:
    """The configured sign, or the one that follows from gravity.

    Attributes:
        sign: which wrench the driver publishes; None while no mass was ever beyond doubt.
    """

    def __init__(self, configured: SignChoice) -> None:
        """Take the configured sign."""
        self.sign = None if configured is SignChoice.AUTO else Sign(configured.value)

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


_COMPENSATED = Finding(
    "warning",
    "compensated",
    "the force does not follow gravity: nothing is carried, or the driver already subtracts the load (a payload is set "
    "in the controller). Set the driver's payload to zero to identify a load",
)
_NO_FRAME = Finding(
    "error",
    "frame_unclear",
    "the force does not follow gravity in any orientation of the sensor frame: something touches the load, or joint "
    "states and wrench are inconsistent (another robot, another clock, wrong units)",
)
_HANDEDNESS = Finding(
    "error",
    "moments_mirrored",
    "forces follow gravity, but the moments are inconsistent with them: the moment axes have another handedness, order "
    "or unit than the force axes",
)
_TARED = Finding(
    "info",
    "tared",
    "the sensor was zeroed with the load on it: its bias is the load's weight. The estimate accounts for it",
)
