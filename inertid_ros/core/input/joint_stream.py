"""Joint states of one publisher: unwrapped, with velocities, ready to be read at any time in between; compiled.

Without measured velocities, or where they contradict the positions, the velocity is the slope at the middle of the
parabola through three positions on their stamps, which is one sample late. Whether they contradict is judged in
chunks of samples, by comparing their integral with the change of position; velocities that are right again are used
again. Where a controller samples evenly and only the stamps jitter, `joint_clock` tells when joint states were
measured; they are filed by that time, unless efforts come in the same messages, whose stamps they share then. The
parabola's slope exceeds the velocity by h² / 6 of its second derivative, half a per cent of a
motion of 0.6 Hz at 25 Hz: where steps are long, that of the last three slopes is subtracted. Measured velocities are
taken as they are then.

Measured velocities v are fused with the positions q, of whose velocity they are a redundant measurement (Atkeson's
thesis, chapter 5). White noise of v has a flat spectrum, that of q one that grows with frequency; they cross at
w = sigma_v / sigma_q, and with F = w / (s + w)

    F dq/dt + (1 - F) v = g - F g,    g = w q + v

takes each where it is better. Both deviations follow from the difference d = (v_k + v_(k-1)) / 2 - (q_k - q_(k-1)) / h:
with C_0 and C_1 the mean of d² and of the product of successive d, sigma_v² = C_0 + 2 C_1 and
sigma_q² = h² (C_0 - 2 C_1) / 4. Where the noise of positions hides that of velocities in them, sigma_v² is a sixth of
the mean square of the second differences of v. A velocity that lags behind shows up in C_1, and counts for less.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from inertid_ros.core.compiled import brief, compiled
from inertid_ros.core.diagnosis import Health
from inertid_ros.core.input.joint_clock import (
    CLOCK_NUMBERS,
    LEFT_OUT,
    SHIFT,
    find_step,
    is_repeat,
    keep_time,
)
from inertid_ros.core.input.joint_samples import (
    BEFORE,
    BENDS,
    CHANGE,
    CROSSING,
    DIFFERENCE,
    FARTHEST,
    FASTEST_JOINT,
    FILTERED,
    INTEGRAL,
    IS_ANGLE,
    LATEST,
    POSITION,
    POWER,
    PRODUCT,
    REACH,
    REMEMBERED,
    RISE,
    SLOPE,
    SLOPE_STEP,
    SLOPES,
    SPEED,
    SPEEDS,
    SQUARES,
    SUCCESSIVE,
    TRAVEL,
    VELOCITY,
    find_number_fault,
    leave_out,
    note_sample,
)
from inertid_ros.core.input.smoothing import RARELY, choose_span, note_roughness
from inertid_ros.core.input.timeline import (
    ACCEPTED,
    FILED,
    FOUND,
    IMPLAUSIBLE,
    KEEPS_STAMPS,
    LAST,
    LONG_STEP,
    MAX_GAP,
    NEVER,
    NEWEST,
    NOT_FINITE,
    ORIGIN,
    OUTLIER,
    RAW,
    RAW_BEFORE,
    RAW_LATEST,
    SEEN,
    STAMPS,
    START,
    STOP,
    UNTRUSTED,
    VELOCITIES_JUDGED,
    Timeline,
    Verdict,
    must_stop,
)
from inertid_ros.core.records import FloatArray, IntArray

CHUNK = 100
"""Samples after which measured velocities are compared with the positions: few enough for the first second."""
MOVED = 0.01
"""Changes of position [rad or m] in a chunk below this say nothing of the velocities: noise integrates to as much."""
JUDGED = 0.1
"""Root of the summed squares of changes [rad or m] from which velocities are judged: ten times the smallest one."""
TOLERANCE, REGAINED = 0.4, 0.2
"""Part by which the integral of velocities may miss the change of position, and by which it may for velocities that
were not used to be used again; a wrong unit or order misses by more."""
PLENTY = 4.0
"""Times JUDGED at which the sums are halved: velocities may become wrong, or right, at any time."""
SAID_AGAIN = 25
"""Samples after which it is said again that velocities are not used: half a second of a slow publisher."""

EXACT = 1e-3
"""Part of the velocities' root mean square below which differences from the positions do not matter: Tustin's rule
makes as much of fast motions."""
FASTEST = 1.0
"""Crossing frequency, times the step, above which positions alone would do: the filter must not ring."""
SURE = 0.02
"""Smallest part of C_0 that counts as noise of the positions: the estimate of a thousand samples is no better."""
PLAIN = 0.2
"""Part of C_0 that C_0 + 2 C_1 must reach to be believed: two thousand samples give it to a few hundredths."""
MEMORY = 2000
"""Samples over which these means are taken: enough to know them to a few per cent; noise changes with the motion."""


@brief
def take_states(
    line: IntArray,
    states: FloatArray,
    joints: FloatArray,
    clock: FloatArray,
    taken: IntArray,
    stamps: IntArray,
    positions: FloatArray,
    velocities: FloatArray,
    start: int,
) -> int:
    """Append joint states.

    Args:
        line: integers of the time line.
        states: (M, 2 n + 1) its positions and velocities, and over how long these are to be averaged.
        joints: (33, n) see `joint_samples.POSITION`.
        clock: (16,) see `joint_clock.TICK`.
        taken: (n,) the columns of the message.
        stamps: (N,) nanoseconds.
        positions: (N, C) of the message.
        velocities: (N, C), or (0, C) if it has none; all NaN in a sample without.
        start: the first sample to take.

    Returns:
        The first sample that was not taken (N, if they all are), with the reason in FOUND; -1 if there is none.
    """
    n, has_velocities = len(taken), len(velocities) > 0
    for k in range(start, len(stamps)):
        measured = velocities[k] if has_velocities else positions[k, :0]
        missing = find_number_fault(line, joints, taken, positions[k], measured)
        if missing < 0 or must_stop(line, states, stamps[k]):
            return k
        if missing == n:
            measured = positions[k, :0]
        used = positions[k, :0] if line[UNTRUSTED] else measured
        distance = (stamps[k] - line[LAST]) * 1e-9
        if is_repeat(clock, joints, taken, positions[k], measured, distance):
            continue
        found = find_step(clock, joints, taken, positions[k], distance)
        step = found[0]
        if leave_out(line, joints, taken, positions[k], used, step):
            line[FOUND] = OUTLIER
            return k
        keep_time(clock, joints, taken, positions[k], distance, found)
        note_sample(line, joints, taken, positions[k], measured, step)
        line[LAST], line[ACCEPTED] = stamps[k], NEVER
        line[SEEN] = (line[SEEN] + 1) % CHUNK
        measured_at = stamps[k] - int(np.round(1e9 * clock[SHIFT]))
        if len(used) == 0:
            append_slope(line, states, joints, measured_at)
            note_velocities(joints, taken, measured)
        else:
            append_state(line, states, joints, taken, stamps[k] if line[KEEPS_STAMPS] else measured_at, measured, step)
        line[FILED] = stamps[k] if line[KEEPS_STAMPS] else measured_at
        note_noise(line, states, joints)
        if judge_velocities(line, joints):
            line[FOUND] = VELOCITIES_JUDGED
            return k + 1
    return -1


@compiled
def append_state(
    line: IntArray,
    states: FloatArray,
    joints: FloatArray,
    taken: IntArray,
    stamp: int,
    velocities: FloatArray,
    step: float,
) -> None:
    """Append the newest positions with their velocities, measured (C,) and fused, a step [s] after the last ones."""
    n, row = len(taken), line[STOP]
    if row == line[START] or line[RAW] != 0:
        step = np.inf
    for c in range(n):
        velocity = velocities[taken[c]]
        states[row, c] = joints[POSITION, c]
        states[row, n + c] = fuse(joints, c, velocity, states[row - 1, c], step)
    line[STAMPS + row] = line[NEWEST] = stamp
    line[STOP], line[RAW] = row + 1, 0
    if line[SEEN] == 0:
        find_crossings(joints, step)


@compiled
def note_noise(line: IntArray, states: FloatArray, joints: FloatArray) -> None:
    """Note how noisy velocities are, and over how long the newest ones are to be averaged, see `smoothing`."""
    row, span = line[STOP] - 1, states.shape[1] - 1
    if row >= line[START]:
        if note_roughness(line, states, joints) or line[SEEN] % RARELY == 0:
            states[row, span] = choose_span(line, joints)
        else:
            states[row, span] = states[row - 1, span]


@compiled
def note_velocities(joints: FloatArray, taken: IntArray, velocities: FloatArray) -> None:
    """Note velocities (C,), or (0,), that are not used."""
    for c in range(len(taken) if len(velocities) > 0 else 0):
        joints[VELOCITY, c] = velocities[taken[c]]


@compiled
def fuse(joints: FloatArray, c: int, velocity: float, last_position: float, step: float) -> float:
    """The velocity of a joint from measured position and velocity, a step [s] after the last ones (inf: none)."""
    position, crossing, last_velocity = joints[POSITION, c], joints[CROSSING, c], joints[VELOCITY, c]
    joints[VELOCITY, c] = velocity
    if not step <= MAX_GAP:
        joints[DIFFERENCE, c], joints[FILTERED, c] = 0.0, crossing * position
        joints[CHANGE, c] = 0.0
        return velocity
    mean, change = 0.5 * (velocity + last_velocity), velocity - last_velocity
    joints[BENDS, c] += (change - joints[CHANGE, c]) ** 2
    joints[CHANGE, c] = change
    difference = mean - (position - last_position) / step
    joints[SQUARES, c] += difference * difference
    joints[SUCCESSIVE, c] += difference * joints[DIFFERENCE, c]
    joints[SPEEDS, c] += velocity * velocity
    joints[DIFFERENCE, c] = difference
    if crossing == 0.0:
        return velocity
    gain = crossing * step / (2.0 + crossing * step)
    both = crossing * (position + last_position) + 2.0 * mean
    joints[FILTERED, c] = (1.0 - 2.0 * gain) * joints[FILTERED, c] + gain * both
    return float(crossing * position + velocity - joints[FILTERED, c])


@compiled
def find_crossings(joints: FloatArray, step: float) -> None:
    """Find the crossing frequency of each joint anew, without a jump of the velocity; at the end of a chunk."""
    for c in range(joints.shape[1]):
        squares, successive = joints[SQUARES, c], joints[SUCCESSIVE, c]
        crossing = 0.0
        if squares > EXACT**2 * joints[SPEEDS, c] and step <= LONG_STEP:
            of_velocity, together = joints[BENDS, c] / 6.0, squares + 2.0 * successive
            if together > PLAIN * squares:
                of_velocity = max(of_velocity, together)
            of_position = max(squares - 2.0 * successive, SURE * squares) / 4.0
            crossing = min(np.sqrt(of_velocity / of_position), FASTEST) / step
        position, velocity = joints[POSITION, c], joints[VELOCITY, c]
        fused = joints[CROSSING, c] * position + velocity - joints[FILTERED, c]
        joints[FILTERED, c] = crossing * position + velocity - (fused if joints[CROSSING, c] > 0.0 else velocity)
        joints[CROSSING, c] = crossing
        for kind in (SQUARES, SUCCESSIVE, SPEEDS, BENDS):
            joints[kind, c] *= 1.0 - CHUNK / MEMORY


@compiled
def append_slope(line: IntArray, states: FloatArray, joints: FloatArray, stamp: int) -> None:
    """Take a position without a velocity: append the one before, where it is FILED, with the slope at it.

    That is the slope of the parabola through three positions, the last of which was measured at a stamp.
    """
    n, origin = joints.shape[1], line[ORIGIN]
    if line[RAW] == 2:
        row, time = line[STOP], (line[RAW_LATEST] - origin) * 1e-9
        before, after = time - (line[RAW_BEFORE] - origin) * 1e-9, (stamp - origin) * 1e-9 - time
        for c in range(n):
            states[row, c] = joints[LATEST, c]
            states[row, n + c] = find_slope(joints, c, before, after)
        line[STAMPS + row] = line[NEWEST] = line[FILED]
        line[STOP] = row + 1
    for c in range(n):
        joints[BEFORE, c], joints[LATEST, c] = joints[LATEST, c], joints[POSITION, c]
    line[RAW_BEFORE], line[RAW_LATEST] = line[RAW_LATEST], stamp
    line[RAW] = min(line[RAW] + 1, 2)


@compiled
def find_slope(joints: FloatArray, c: int, before: float, after: float) -> float:
    """Slope at the middle of the parabola through the last three positions, which are so far apart [s], see above."""
    fall = (joints[LATEST, c] - joints[BEFORE, c]) / before
    rise = (joints[POSITION, c] - joints[LATEST, c]) / after
    slope = float((rise * before + fall * after) / (before + after))
    if min(before, after) > LONG_STEP and max(before, after) <= MAX_GAP:
        return slope - before * after / 6.0 * note_slope(joints, c, slope, before)
    joints[SLOPES, c] = 0.0
    return slope


@compiled
def note_slope(joints: FloatArray, c: int, slope: float, step: float) -> float:
    """The velocity's second derivative by the last three slopes, a step [s] between the last two; 0 without them."""
    rise, slopes = (slope - joints[SLOPE, c]) / step, joints[SLOPES, c]
    second = 2.0 * (rise - joints[RISE, c]) / (step + joints[SLOPE_STEP, c]) if slopes >= 2.0 else 0.0
    joints[SLOPE, c], joints[SLOPE_STEP, c], joints[RISE, c] = slope, step, rise
    joints[SLOPES, c] = slopes + 1.0
    return float(second)


@compiled
def judge_velocities(line: IntArray, joints: FloatArray) -> bool:
    """At the end of a chunk, find whether velocities contradict the positions; returns whether to say that they do.

    Of each joint the product of its change of position with the integral of its velocity, and the square of the change,
    are added up over the chunks; changes that are too small say nothing.
    """
    if line[SEEN] != 0:
        return bool(line[UNTRUSTED] != 0 and line[SEEN] % SAID_AGAIN == 0)
    tolerance, is_wrong = REGAINED if line[UNTRUSTED] else TOLERANCE, False
    for c in range(joints.shape[1]):
        change = joints[TRAVEL, c]
        if abs(change) >= MOVED:
            if joints[POWER, c] > (PLENTY * JUDGED) ** 2:
                joints[PRODUCT, c] *= 0.5
                joints[POWER, c] *= 0.5
            joints[PRODUCT, c] += change * joints[INTEGRAL, c]
            joints[POWER, c] += change * change
        joints[TRAVEL, c] = joints[INTEGRAL, c] = 0.0
        is_wrong |= is_judged_wrong(joints[PRODUCT, c], joints[POWER, c], tolerance)
    line[UNTRUSTED] = is_wrong
    return is_wrong


@compiled
def is_judged_wrong(product: float, power: float, tolerance: float) -> bool:
    """Whether a joint has moved enough for its velocities to be judged, and they miss the change of position."""
    return power > JUDGED**2 and abs(product / power - 1.0) > tolerance


@compiled
def extrapolate(line: IntArray, states: FloatArray, joints: FloatArray, targets: IntArray, samples: FloatArray) -> bool:
    """Lay down states at the times of samples shortly after the newest one; False without two of them.

    By the velocity of the newest one, or of the last two positions where there is none, for at most their distance.
    """
    n, stop, origin = joints.shape[1], line[STOP], line[ORIGIN]
    is_raw = line[RAW] == 2 and line[RAW_LATEST] > line[NEWEST]
    if not is_raw and stop - line[START] < 2:
        return False
    earlier = (line[RAW_BEFORE] if is_raw else line[STAMPS + stop - 2]) - origin
    latest = (line[RAW_LATEST] if is_raw else line[STAMPS + stop - 1]) - origin
    period = latest * 1e-9 - earlier * 1e-9
    for c in range(n):
        if is_raw:
            position, velocity = joints[LATEST, c], (joints[LATEST, c] - joints[BEFORE, c]) / period
        else:
            position, velocity = states[stop - 1, c], states[stop - 1, n + c]
        for k in range(len(samples)):
            samples[k, targets[c]] = position + min(samples[k, 0] - latest * 1e-9, period) * velocity
            samples[k, targets[n + c]] = velocity
    return True


_WRONG_FOR = 2 * CHUNK
"""Samples for which velocities may have been used although they were wrong: what goes wrong late in a chunk of samples
may be seen only in the next one."""
_LEFT_OUT = {NOT_FINITE: "not_finite", IMPLAUSIBLE: "implausible", OUTLIER: "outlier"}
"""What samples that are left out are reported as, by why the kernel has stopped."""


class JointStream(Timeline):
    """A time line of joint positions and velocities.

    Attributes:
        columns: (n,) indices of this stream's joints among those of a sample.
        joints: (33, n) what is remembered of each, see `joint_samples.POSITION`.
        clock: (16,) of its publisher, see `joint_clock.TICK`.
        targets: (2 n,) columns of a sample that the states belong to.
    """

    def __init__(
        self,
        columns: tuple[int, ...],
        is_angle: tuple[bool, ...],
        reach: FloatArray,
        total: int,
        origin: int,
        health: Health,
        on_distrust: Callable[[int, int, int], None] | None = None,
        keeps_stamps: bool = False,
    ) -> None:
        """Make a stream for some of a total of joints.

        Args:
            columns: which of them.
            is_angle: for each, whether it may jump by 2 pi.
            reach: (2, n) positions and velocities beyond which there are none.
            total: of joints.
            origin: stamp [ns] of time zero.
            health: where to report.
            on_distrust: called when velocities are used no longer, with the stamp since which they may have been wrong,
                the present one, and the step between joint states [ns].
            keeps_stamps: whether joint states must stay where their stamps say, beside readings of the same messages.
        """
        self.columns = columns
        self.joints = np.zeros((REMEMBERED, len(columns)))
        self.joints[IS_ANGLE] = is_angle
        self.joints[[REACH, SPEED]] = np.minimum(reach, [[FARTHEST], [FASTEST_JOINT]])
        self.clock = np.zeros(CLOCK_NUMBERS)
        super().__init__(2 * len(columns) + 1, "joint_states", health, origin)
        self.integers[KEEPS_STAMPS] = keeps_stamps
        self.targets: IntArray = 1 + np.concatenate((columns, total + np.array(columns)))
        self._health = health
        self._on_distrust = on_distrust

    def clear(self) -> None:
        """Forget all samples; what is known of the velocities stays."""
        super().clear()
        self.integers[RAW] = 0
        self.joints[POSITION] = np.nan
        self.joints[SLOPES] = 0.0

    def push_states(
        self, taken: IntArray, stamps: IntArray, positions: FloatArray, velocities: FloatArray | None
    ) -> bool:
        """Take joint states, see `take_states`; returns whether time was reset."""
        given = positions[:0] if velocities is None else velocities
        position = take_states(self.integers, self.states, self.joints, self.clock, taken, stamps, positions, given, 0)
        has_rest = position >= 0 or self.clock.item(LEFT_OUT) != 0.0
        return has_rest and self.push_rest_of_states(position, taken, stamps, positions, given)

    def push_rest_of_states(
        self, position: int, taken: IntArray, stamps: IntArray, positions: FloatArray, given: FloatArray
    ) -> bool:
        """Take those from the position on at which `take_states` has stopped; returns whether time was reset."""
        joints, clock, is_reset = self.joints, self.clock, False
        while position >= 0:
            verdict = self.decide(stamps, position)
            is_reset |= verdict is Verdict.RESET
            position += verdict is Verdict.LEAVE
            position = take_states(self.integers, self.states, joints, clock, taken, stamps, positions, given, position)
        if clock.item(LEFT_OUT):
            self._health.report("joint_states", "repeated_states", stamps.item(-1), count=int(clock[LEFT_OUT]))
            clock[LEFT_OUT] = 0.0
        return is_reset

    def decide(self, stamps: IntArray, position: int) -> Verdict:
        """Decide about the sample at which a kernel has stopped; numbers that are not finite are left out."""
        found = self.integers.item(FOUND)
        if found == VELOCITIES_JUDGED:
            self._report_velocities(stamps.item(position - 1))
            if self.integers.item(RAW) == 0 and len(self.stamps) > 1 and self._on_distrust is not None:
                since = self.stamps[-_WRONG_FOR:].item(0)
                self._on_distrust(since, self.newest, self.newest - self.stamps.item(-2))
            return Verdict.TAKE
        if found in _LEFT_OUT:
            self._health.report("joint_states", _LEFT_OUT[found], stamps.item(position))
            return Verdict.LEAVE
        return super().decide(stamps, position)

    def _report_velocities(self, stamp: int) -> None:
        listed = [
            f"joint {joint}: {product / power:.2f}"
            for joint, (product, power) in enumerate(self.joints[[PRODUCT, POWER]].T.tolist())
            if is_judged_wrong(product, power, REGAINED)
        ]
        detail = ", ".join(listed) + " times the change of position"
        self._health.report("joint_states", "velocity_unusable", stamp, detail)
