"""Is the wrench what it is said to be? Told from how the measured force follows gravity.

For a load of mass m in the right frame, f = m a + b with a the acceleration less gravity, whatever the bias. With
H = sum (a - mean)(f - mean)^T and C = sum (a - mean)(a - mean)^T, the best multiple of the identity leaves
T - tr(H)^2 / tr(C) of T = sum |f - mean|^2 unexplained, the best multiple of any orthogonal matrix T - |H|_*^2 / tr(C).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from inertid_ros.core.health import Level
from inertid_ros.core.records import FloatArray

_ENOUGH_TURN = 2.0
_LIGHT = 0.3
_SMALL_MOMENT = 0.05
_JOINED = np.array([0, 1, 2, 12, 13, 14, 15, 16, 17, 18])
_MIRRORS = ((1.0, 1.0, 1.0), (-1.0, 1.0, 1.0), (1.0, -1.0, 1.0), (1.0, 1.0, -1.0))


@dataclass(frozen=True, slots=True)
class Finding:
    """Something the data says about the wrench's convention."""

    level: Level
    code: str
    message: str


class ConventionCheck:
    """Running sums of accelerations and forces, and what they say."""

    def __init__(self) -> None:
        """Start with nothing seen."""
        self._sums = np.zeros((10, 10))

    def take(self, row: FloatArray) -> None:
        """Take one row (23,)."""
        joined = row[_JOINED]
        self._sums += joined[:, None] * joined

    @property
    def has_passed(self) -> bool:
        """Whether the sensor has turned enough to judge, and nothing was found that cannot be."""
        return self._judge()[1]

    def findings(self) -> tuple[Finding, ...]:
        """What can be said by now; empty while the sensor has not turned enough or nothing is wrong."""
        return self._judge()[0]

    def _judge(self) -> tuple[tuple[Finding, ...], bool]:
        """The findings, and whether all that can be wrong has been seen to be right."""
        weight = self._sums[3, 3]
        if weight < 25.0:
            return (), False
        keep = np.r_[0:3, 4:10]
        centred = self._sums[np.ix_(keep, keep)] - np.outer(self._sums[keep, 3], self._sums[keep, 3]) / weight
        centred /= weight
        motion, cross, total = centred[:3, :3], centred[:3, 3:6], float(np.trace(centred[3:6, 3:6]))
        turned = np.sort(np.linalg.eigvalsh(motion))[::-1]
        if turned[1] < _ENOUGH_TURN**2:
            return (), False
        if total < (_LIGHT * np.sqrt(turned.sum() / 9.8**2)) ** 2:
            return (_COMPENSATED,), True
        return self._judge_frame(motion, cross, total, np.hstack((centred[:3, 6:], centred[6:, 6:])))

    def _judge_frame(
        self, motion: FloatArray, cross: FloatArray, total: float, moments: FloatArray
    ) -> tuple[tuple[Finding, ...], bool]:
        spread = float(np.trace(motion))
        left, singular, right = np.linalg.svd(cross)
        straight = float(np.trace(cross)) ** 2 / spread / total
        turned = float(singular.sum()) ** 2 / spread / total
        if straight > 0.8:
            return _judge_moments(motion, moments[:, :3], moments[:, 3:])
        if turned < 0.8:
            return (_NO_FRAME,), False
        turn = right.T @ left.T
        if singular[2] < 0.05 * singular[0]:
            other = right.T @ np.diag([1.0, 1.0, -1.0]) @ left.T
            turn = max(turn, other, key=_squareness)
        sign = "on_load" if np.linalg.det(turn) > 0 else "on_sensor"
        angle, axis = _angle_and_axis(turn if sign == "on_load" else -turn)
        mirrored = (
            " (or one of its axes is mirrored: a left-handed sensor)" if sign == "on_sensor" and angle > 170.0 else ""
        )
        finding = Finding(
            "error",
            "frame_turned",
            "the force follows gravity only if the sensor frame is turned by "
            f"{angle:.0f} deg about ({axis[0]:.2f}, {axis[1]:.2f}, {axis[2]:.2f}), "
            f"with wrench_sign {sign}{mirrored}: "
            "correct the frame of the sensor in the URDF, or load.sensor_frame",
        )
        return (finding,), False


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
    mirrored = share[best] > 0.8 and share[best] - straight > 0.3
    return ((_HANDEDNESS,) if mirrored else ()), straight > 0.75


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
    "states and wrench do not belong together (other robot, other clock, wrong units)",
)
_HANDEDNESS = Finding(
    "error",
    "moments_mirrored",
    "forces follow gravity and moments do not belong to them: the moment axes have another handedness, order or unit "
    "than the force axes",
)
