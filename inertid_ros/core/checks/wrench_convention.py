"""Is the wrench what it is said to be? Judged by how the measured forces and moments follow gravity.

Forces are judged by `gravity_hypotheses`, moments by n = h x a + b in the poses of one load.

Estimates are made in the driver's own sign; for the other sign they only change theirs. So the sign need not be known
to learn, only to report: it is the one that makes the mass positive.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from inertid_ros.core.checks.gravity_hypotheses import NO_FRAME, Poses, Runs, find_turn, judge_forces, passes
from inertid_ros.core.compiled import brief, compiled, copy_numbers, specialise
from inertid_ros.core.diagnosis import Finding
from inertid_ros.core.estimation.damping import TINY
from inertid_ros.core.estimation.estimate import Sign
from inertid_ros.core.estimation.states import ParameterState, judge_load_parameters
from inertid_ros.core.records import FloatArray, IntArray
from inertid_ros.core.rigid_body.description import SIGNIFICANT_MASS
from inertid_ros.core.robot.robot import FramePath
from inertid_ros.core.settings.choices import SignChoice

_LIGHT = 0.3
"""Force [N] that must follow a full turn of gravity; less is nothing carried (30 g), or a load already subtracted."""
_ENOUGH_TURN = 2.0
"""Standard deviation [m/s²] of gravity in a second direction from which a load is judged: turns by 12 degrees."""
_ENOUGH_POSES = 8
"""Different poses before anything is judged: twice as many as there are numbers in a frame and a mass."""
_POSES = 128
"""Poses that are kept: they are compared all with all, and these take a few milliseconds."""
_AGAIN = 1.25
"""Growth of the number of poses after which they are judged again."""
_SETTLED = 0.9
"""Amplitude of the filters from which a row is that of its pose; after a gap they have forgotten the one before, but
see little of the new one at first."""
_DIFFERENT = 1.0
"""Change of the acceleration less gravity [m/s²] from which a row is another pose: a turn by 6 degrees."""
_MOVED = 0.1
"""Change of a joint [rad or m] from which a row is another pose, also where gravity as configured stays the same."""
_HISTORY = 16
"""Rows that are remembered to know where the joints were when the filters saw them, and whether they have moved since:
a third of a second."""
_HELD = 2e-3
"""Change of a joint [rad or m] in that time up to which a pose is held: encoders step by less."""
_SMALL_MOMENT = 0.05
"""Standard deviation of the moments [Nm] below which they say nothing: cables and drift do as much."""
_EXPLAINED = 0.8
"""Part of the variance of the moments that the right axes explain at least, beside noise and contacts."""
_BETTER = 0.3
"""Part of the moments' variance that a mirror image must explain more than the axes as they are."""
_MIRRORS = ((1.0, 1.0, 1.0), (-1.0, 1.0, 1.0), (1.0, -1.0, 1.0), (1.0, 1.0, -1.0))
"""Signs of the moments' axes: as they are, and with one of them mirrored."""
_LIGHTEST = 0.05
"""Masses below this [kg] have no certain sign: cables weigh as much."""
_BEYOND_DOUBT = 10.0
"""Standard deviations from which the sign of a mass is believed; they are too small in a wrong frame."""
_NEGATIVE = 0.1
"""Masses down to this [kg] below zero do not contradict a configured sign: a sensor without a load drifts as much."""
_HEAVY = 2.0
"""Weight [N] from which a tare is told from a bias of its own."""
_ALIKE = 0.05
"""Part of the weight to which the bias must be the same force, and to which the mass must be known, for a tare."""
_LEVER = 0.005
"""Distance [m] from the centre of mass at which that force must act, for a tare."""


class ConventionCheck:
    """Keeps the last different poses, and judges them.

    Attributes:
        lag, history, poses, counts: what `count_row` is told and remembers.
    """

    def __init__(self, path: FramePath, gravity: FloatArray, lag: float) -> None:
        """Start with nothing seen, for gravity (3,) in the root frame and rows that are late by so much [s]."""
        joints = len(path.joint_names)
        self._path, self._gravity, self.lag = path, gravity, lag
        self.poses, self.history = np.empty((_POSES, 14 + joints)), np.empty((_HISTORY, 4 + joints))
        self.restart()
        line = self.poses[0]
        self._count_row = specialise(count_row, line, line, line, lag, self.history, self.poses, self.counts)

    def restart(self) -> None:
        """Forget all poses, and what they have said."""
        self.counts: IntArray = np.zeros(3, dtype=np.int64)
        self._judged, self._held, self._has_passed = 0, 0, False
        self._findings: tuple[Finding, ...] = ()

    def take(self, signals: FloatArray, readings: FloatArray, sample: FloatArray) -> None:
        """Take the signals (16,) and readings (6,) of a row, and its sample [time, positions, ...]."""
        self._count_row(signals, readings, sample, self.lag, self.history, self.poses, self.counts)

    def prepare(self) -> Callable[[], tuple[Finding, ...]]:
        """What gives, in any thread, all that can be said by now; nothing while the sensor has not turned enough."""
        kept, _, count = self.counts.tolist()
        is_held = np.isfinite(self.poses[:kept, -1])
        held = 0 if self._has_passed else int(is_held.sum())
        again = min(_AGAIN * self._judged, self._judged + _POSES / 8) if held <= self._held else 0
        if count < max(_ENOUGH_POSES, again):
            return lambda: self._findings
        rows, self._held = self.poses[:kept].copy(), held

        def judge() -> tuple[Finding, ...]:
            poses = _list_poses(rows)
            verdict = judge_forces(poses, self._path, self._gravity)
            # Whoever leads the arm by hand touches the load in between, and not in the poses that it is left in.
            self._has_passed |= verdict.has_passed or passes(_list_poses(rows[is_held]), self._gravity)
            wrong = () if self._has_passed and NO_FRAME in verdict.findings else verdict.findings
            self._findings = wrong or _judge_load(poses, verdict.runs)
            self._judged = count
            return self._findings

        return judge


def _list_poses(rows: FloatArray) -> Poses:
    """What is in rows (N, 14 + n), see `count_row`."""
    return Poses(rows[:, :3], rows[:, 3:6], rows[:, 6:12], rows[:, 12], rows[:, 13:-1])


@brief
def count_row(
    signals: FloatArray,
    readings: FloatArray,
    sample: FloatArray,
    lag: float,
    history: FloatArray,
    rows: FloatArray,
    counts: IntArray,
) -> None:
    """Keep a row that is another pose than the last one kept; of a pose that is held, the one whose force is steadiest.

    Args:
        signals: (16,) of the motion, times the amplitude of the filters, which is signals[12].
        readings: (6,) likewise.
        sample: [time, positions (n), ...] now.
        lag: how long ago [s] the filters saw what they give now.
        history: (H, 4 + n) times, positions and forces of the last rows.
        rows: (P, 14 + n) [acceleration, gravity, wrench, turning, positions, square of the force's change over H rows,
            infinite where the pose is not held] of the poses; where there is no more room, every other one of the older
            half is left out.
        counts: how many poses are kept, how many rows there were, and how many poses.
    """
    n, amplitude = history.shape[1] - 4, signals[12]
    newest = counts[1] % len(history)
    for c in range(n + 1):
        history[newest, c] = sample[c]
    for i in range(3):
        history[newest, n + 1 + i] = readings[i] / max(amplitude, TINY)
    counts[1] += 1
    if amplitude < _SETTLED:
        return
    before, after, part = find_past(history, newest, min(counts[1], len(history)), sample[0] - lag)
    row = counts[0]
    last = max(row - 1, 0)
    change, moved = 0.0, 0.0
    for i in range(3):
        rows[row, i], rows[row, 3 + i] = signals[i] / amplitude, signals[13 + i] / amplitude
        change += (rows[row, i] - rows[row, 3 + i] - rows[last, i] + rows[last, 3 + i]) ** 2
    for i in range(6):
        rows[row, 6 + i] = readings[i] / amplitude
    spin = signals[6] + signals[9] + signals[11]
    rows[row, 12] = (np.sqrt(signals[3] ** 2 + signals[4] ** 2 + signals[5] ** 2) + spin) / amplitude
    for c in range(n):
        rows[row, 13 + c] = history[after, 1 + c] + part * (history[before, 1 + c] - history[after, 1 + c])
        moved = max(moved, abs(rows[row, 13 + c] - rows[last, 13 + c]))
    rows[row, 13 + n] = find_unsteadiness(history, newest, n) if counts[1] >= len(history) else np.inf
    if counts[0] == 0 or change >= _DIFFERENT**2 or moved >= _MOVED:
        counts[0] += 1
        counts[2] += 1
    elif rows[row, 13 + n] < rows[last, 13 + n]:
        copy_numbers(rows[row], rows[last])
    if counts[0] == len(rows):
        counts[0] -= leave_out(rows)


@compiled
def find_unsteadiness(history: FloatArray, newest: int, joints: int) -> float:
    """Square of the force's change over all rows that are remembered; infinite if a joint has moved in that time."""
    for past in range(len(history)):
        for c in range(1, joints + 1):
            if not abs(history[past, c] - history[newest, c]) <= _HELD:
                return np.inf
    oldest, total = (newest + 1) % len(history), 0.0
    for c in range(joints + 1, joints + 4):
        total += (history[newest, c] - history[oldest, c]) ** 2
    return total


@compiled
def find_past(history: FloatArray, newest: int, count: int, time: float) -> tuple[int, int, float]:
    """The rows before and after a time among the last so many, and where between them it is: 0 at the later one."""
    after = newest
    for _ in range(count - 1):
        before = (after - 1) % len(history)
        if history[before, 0] < time:
            return before, after, (history[after, 0] - time) / (history[after, 0] - history[before, 0])
        after = before
    return after, after, 0.0


@compiled
def leave_out(rows: FloatArray) -> int:
    """Leave out one of every two rows of the older half, the unsteadier one, else the later; returns how many."""
    quarter, steadiness = len(rows) // 4, rows.shape[1] - 1
    for k in range(quarter):
        later = 2 * k + 1
        copy_numbers(rows[later if rows[later, steadiness] < rows[2 * k, steadiness] else 2 * k], rows[k])
    for k in range(2 * quarter, len(rows)):
        copy_numbers(rows[k], rows[k - quarter])
    return quarter


def _is_turned(felt: FloatArray) -> bool:
    return bool(find_turn(felt)[1] > _ENOUGH_TURN)


def _judge_load(poses: Poses, runs: Runs) -> tuple[Finding, ...]:
    """Whether the present load is none, and whether the moments of the longest run belong to its forces."""
    start, stop = runs[-1]
    felt, forces = poses.felt[start:stop], poses.wrenches[start:stop, :3]
    if stop - start >= _ENOUGH_POSES and _is_turned(felt):
        turned = float(felt.var(axis=0).sum())
        if forces.var(axis=0).sum() < (_LIGHT * np.sqrt(turned / 9.8**2)) ** 2:
            return (_COMPENSATED,)
    start, stop = max(runs, key=lambda run: run[1] - run[0])
    felt, moments = poses.felt[start:stop], poses.wrenches[start:stop, 3:]
    if stop - start < _ENOUGH_POSES or not _is_turned(felt):
        return ()
    centred = np.cov(np.hstack((felt, moments)).T)
    return _judge_moments(centred[:3, :3], centred[:3, 3:], centred[3:, 3:])


def _judge_moments(motion: FloatArray, cross: FloatArray, moments: FloatArray) -> tuple[Finding, ...]:
    """N = h x a + b: with the right axes some h explains the moments, and no mirror image of them does better.

    Given are the covariances (3, 3) of a, of a and n, and of n.
    """
    total = float(np.trace(moments))
    if total < _SMALL_MOMENT**2:
        return ()
    share = {signs: _explain_moments(motion, cross * np.array(signs)) / total for signs in _MIRRORS}
    best = max(share, key=lambda signs: share[signs])
    straight = share[_MIRRORS[0]]
    mirrored = share[best] > _EXPLAINED and share[best] - straight > _BETTER
    return (_HANDEDNESS,) if mirrored else ()


def _explain_moments(motion: FloatArray, cross: FloatArray) -> float:
    """How much of the moments' variance the best h explains: (tr C - C) h = sum a x n."""
    torque = np.array([cross[1, 2] - cross[2, 1], cross[2, 0] - cross[0, 2], cross[0, 1] - cross[1, 0]])
    arm = np.linalg.solve(np.trace(motion) * np.eye(3) - motion, torque)
    return float(arm @ torque)


class WrenchSign:
    """The configured sign of the wrench, or that which follows from gravity; None while no mass was beyond doubt."""

    def __init__(self, configured: SignChoice) -> None:
        """Take the configured sign."""
        self._is_configured = configured is not SignChoice.AUTO
        self.sign = Sign(configured.value) if self._is_configured else None

    def is_settled(self, mass: float) -> bool:
        """Whether a mass in the driver's sign can say nothing new: one that a contact at the beginning made can."""
        if abs(mass) <= _LIGHTEST or self._is_configured:
            return True
        return self.sign is not None and self.sign.factor * mass > 0.0

    def learn(self, mass: float, variance: float) -> None:
        """Take a mass in the driver's sign."""
        if not self.is_settled(mass) and abs(mass) > _BEYOND_DOUBT * np.sqrt(variance):
            self.sign = Sign.ON_LOAD if mass > 0.0 else Sign.ON_SENSOR


def find_sign_doubt(phi: FloatArray, covariance: FloatArray, sign: Sign | None) -> tuple[FloatArray, list[Finding]]:
    """Covariance (10, 10) of a load phi (10,) that has the other sign as likely, and what to do about it.

    About phi, that of phi and -phi is 2 phi phi^T. There is a finding where the mass would be known otherwise.
    """
    if sign is not None:
        return np.zeros_like(covariance), []
    is_loaded = abs(float(phi[0])) > SIGNIFICANT_MASS * float(np.sqrt(covariance[0, 0]))
    is_known = judge_load_parameters(phi, covariance)[0] is ParameterState.KNOWN
    return 2.0 * np.outer(phi, phi), [_SIGN_UNKNOWN] if is_known and is_loaded else []


def find_contradictions(
    unknowns: FloatArray, covariance: FloatArray, sign: Sign | None, gravity: float
) -> tuple[Finding, ...]:
    """A negative mass under a configured sign, or a bias that is the weight of the load.

    The unknowns are [phi (10), bias (6)] in the driver's sign; gravity is in m/s^2.
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


_SIGN_UNKNOWN = Finding(
    "warning",
    "sign_unknown",
    "the sign of the wrench is not certain, and the numbers may have the other one: set load.wrench_sign, or turn the "
    f"sensor further; what weighs less than {1e3 * _LIGHTEST:.0f} g does not show it",
)
_COMPENSATED = Finding(
    "warning",
    "compensated",
    "the force does not follow gravity: nothing is carried, or the driver already subtracts the load (a payload is set "
    "in the controller). Set the driver's payload to zero to identify a load",
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
