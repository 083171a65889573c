"""From paired samples to rows, information and predictions, for an arm whose joints are known."""

from __future__ import annotations

import numpy as np

from inertid_ros.core.checks.effort_convention import EffortCheck
from inertid_ros.core.checks.energy_cross_check import EnergyCrossCheck
from inertid_ros.core.diagnosis import Health
from inertid_ros.core.estimation.link_estimator import LinkEstimator
from inertid_ros.core.input.effort_streams import EffortStreams
from inertid_ros.core.input.efforts import EffortInput
from inertid_ros.core.input.synchroniser import Alignment, Stretch
from inertid_ros.core.records import (
    BoolArray,
    FloatArray,
    IntArray,
    JointBlock,
    Output,
    RowOutput,
    WrenchBlock,
    join_outputs,
)
from inertid_ros.core.robot.arm import ArmModel
from inertid_ros.core.rows.link_rows import LinkRows
from inertid_ros.core.rows.row_fit import RowFit
from inertid_ros.core.rows.standing import Standing
from inertid_ros.core.rows.travel import Travel
from inertid_ros.core.settings.settings import LinksSettings
from inertid_ros.core.static.baseline import StaticWrench

SLOT = 20_000_000
"""Rows are taken once in so many nanoseconds of stamps, never once per block."""

SLOTS_A_SOLUTION = 25
"""Once in so many slots (0.5 s) the parameters are solved for."""

_LONGEST_WAIT = 1.0
"""How long [s] a base wrench waits for efforts."""


class LinkPipeline:
    """Pairs samples, makes rows of them, folds these in, and predicts what should have been measured."""

    def __init__(
        self,
        arm: ArmModel,
        rows: LinkRows,
        prior: FloatArray,
        deviations: FloatArray,
        links: LinksSettings,
        health: Health,
        energy: EnergyCrossCheck | None = None,
    ) -> None:
        """Set up the way from samples to an estimate.

        Args:
            arm: whose joints are measured.
            rows: what makes rows of samples.
            prior: (U,) unknowns before any data.
            deviations: (U,) their standard deviations.
            links: settings.
            health: where to report.
            energy: the energy balance that solutions are compared with, if any.
        """
        self._energy = energy
        self._health = health
        self.static: StaticWrench | None = None
        """What the base sensor reads at rest, where that is subtracted."""
        self._at_rest: FloatArray = np.empty((0, 6))
        self._arm = arm
        self._n = len(arm.joint_names)
        self._source = links.source
        by_effort = links.source == "effort"
        self._sign = -1.0 if links.base_wrench_sign == "on_ground" and not by_effort else 1.0
        self._alignment = Alignment(
            arm, links.effort_delay if by_effort else 0.0, health, "effort" if by_effort else "base_wrench"
        )
        self._efforts = EffortInput(arm, _constants(links, arm), health)
        self._effort_streams = EffortStreams(self._n, links.effort_delay)
        self._leader: tuple[int, ...] | None = None
        self._waiting: list[WrenchBlock] = []
        self._rows = rows
        floors = np.array(
            ([] if by_effort else [links.noise_floor_force] * 3 + [links.noise_floor_torque] * 3)
            + ([] if links.source == "base_wrench" else [links.noise_floor_effort] * self._n)
        )
        self.fit = None if len(rows.used) == len(floors) else RowFit(len(floors))
        """How well torques are predicted where the estimator does not know that itself."""
        floors = floors[: len(rows.used)]
        self.estimator = LinkEstimator(rows.used, prior, deviations, floors, rows.repeats)
        rows.set_values(prior)
        self.check: EffortCheck | None = None
        """What efforts are compared with gravity by, where they are."""
        self.stamp = 0
        """Of the newest sample used, nanoseconds; 0 before the first."""
        self._solved_rows = 0
        self._standing = Standing()
        self._travel = Travel(self._n)
        self._slot = -1
        channels = (0 if by_effort else 6) + (0 if links.source == "base_wrench" else self._n)
        self._last_bad = np.full(channels, -np.inf)
        self._settled_from = -np.inf
        self._no_stamps = np.empty(0, dtype=np.int64)
        self._no_rows = np.empty((0, channels))
        self._none_settled = np.empty((0, channels), dtype=bool)

    def push_joints(self, block: JointBlock) -> None:
        """Take joint states with the URDF's names, and their efforts."""
        self._alignment.push_joints(block)
        if self._source == "base_wrench":
            return
        found = self._efforts.read(block)
        if found is None:
            return
        joints, readings = found
        if self._source == "effort" and self._leader in (None, joints):
            self._leader = joints
            self._alignment.push_wrenches(WrenchBlock("", block.stamps, readings))
        elif self._alignment.origin is not None:
            self._effort_streams.push(joints, block.stamps, self._alignment.origin, readings)

    def push_base_wrenches(self, block: WrenchBlock) -> None:
        """Take wrenches of the base sensor, in the driver's own sign."""
        if self._source == "base_wrench":
            self._alignment.push_wrenches(block)
        elif self._source == "both" and len(block.stamps):
            self._waiting.append(block)

    def _release(self) -> None:
        """Let go the base wrenches whose efforts are there by now; those that have waited for long go without."""
        origin = self._alignment.origin
        if not self._waiting or origin is None:
            return
        newest = max(int(block.stamps.max()) for block in self._waiting)
        latest = max(self._effort_streams.newest, (newest - origin) * 1e-9 - _LONGEST_WAIT)
        kept = []
        for block in self._waiting:
            ready = (block.stamps - origin) * 1e-9 <= latest
            if ready.any():
                self._alignment.push_wrenches(WrenchBlock(block.frame, block.stamps[ready], block.wrenches[ready]))
            if not ready.all():
                kept.append(WrenchBlock(block.frame, block.stamps[~ready], block.wrenches[~ready]))
        self._waiting = kept

    def process(self, paused: bool) -> Output | None:
        """Carry everything that can be paired through; None if there is nothing. Learn nothing while paused."""
        self._release()
        pieces = [self._process_stretch(stretch, paused) for stretch in self._alignment.process()]
        if not pieces:
            return None
        self.stamp = pieces[-1].stamps.item(-1)
        return pieces[0] if len(pieces) == 1 else join_outputs(pieces)

    def _read(self, stretch: Stretch) -> tuple[FloatArray, BoolArray]:
        """Channels (N, K) of a stretch, and whether they are usable (N, K)."""
        if self._source == "effort":
            first, marks = stretch.wrenches[:, : self._n], stretch.wrenches[:, self._n :]
            if self._effort_streams.is_empty:
                return first, marks == 0.0
            efforts, usable = self._effort_streams.read(stretch.times)
            return np.where(usable, efforts, first), usable | (marks == 0.0)
        base = self._sign * stretch.wrenches
        good = np.ones(base.shape, dtype=bool)
        if self._source == "base_wrench":
            return (base, good) if self.static is None else self._subtract(self.static, stretch, base)
        efforts, usable = self._effort_streams.read(stretch.times)
        return np.concatenate((base, efforts), axis=1), np.concatenate((good, usable), axis=1)

    def _subtract(self, static: StaticWrench, stretch: Stretch, base: FloatArray) -> tuple[FloatArray, BoolArray]:
        """The wrench of the motion alone, where it is known what the sensor reads at rest."""
        self._at_rest, near = static.read(stretch.positions)
        if not near.all():
            stamp = int(stretch.stamps[~near][-1])
            self._health.report("base_wrench", "off_static_path", stamp, count=int((~near).sum()))
        return base - self._sign * self._at_rest, np.repeat(near[:, None], 6, axis=1)

    def _process_stretch(self, stretch: Stretch, paused: bool) -> Output:
        measured, usable = self._read(stretch)
        slots = stretch.stamps // SLOT
        picked = self._pick(slots)
        rows = self._rows.process(stretch, measured, picked)
        settled = self._find_settled(stretch, usable, picked)
        travel = None if self._source == "base_wrench" else self._travel.look(stretch.positions)
        if travel is not None and picked:
            self._leave_out(rows, settled, *(part[picked] for part in travel))
        if picked:
            predicted, row_predicted = self._take_rows(stretch, slots, picked, rows, measured, usable, settled, paused)
            row_stamps, row_measured = stretch.stamps[picked], self._rows.judged[:, :, -1]
        else:
            predicted = self._rows.predict(0, len(slots))
            row_stamps, row_predicted = self._no_stamps, self._no_rows
            row_measured = row_predicted
        if self._sign < 0.0:
            predicted[:, :6] *= -1.0
            measured[:, :6] *= -1.0
        if self.static is not None:
            predicted, measured = predicted + self._at_rest, measured + self._at_rest
        rows_out = RowOutput(row_stamps, row_measured, row_predicted, settled)
        return Output(stretch.stamps, measured, predicted, usable, rows_out)

    def _leave_out(self, rows: FloatArray, settled: BoolArray, stands: BoolArray, moved: BoolArray) -> None:
        """Leave the drives of joints that stand out of their rows, and rows of joints that may be moving altogether."""
        for joint, places in enumerate(self._rows.drives):
            still = np.flatnonzero(stands[:, joint])
            rows[still[:, None], joint - self._n, places] = 0.0
        settled[:, -self._n :] &= stands | moved

    def _take_rows(
        self,
        stretch: Stretch,
        slots: IntArray,
        picked: list[int],
        rows: FloatArray,
        measured: FloatArray,
        usable: BoolArray,
        settled: BoolArray,
        paused: bool,
    ) -> tuple[FloatArray, FloatArray]:
        """Fold in rows; returns predictions of all samples (N, K) and of the rows (M, K), each made before."""
        predicted = np.empty_like(measured)
        if self._energy is not None and not paused:
            self._energy.take(
                stretch.starts_anew,
                stretch.times[picked],
                stretch.positions[picked],
                stretch.velocities[picked],
                measured[picked, -self._n :],
                usable[picked, -self._n :],
            )
        judged = self._rows.judged
        row_predicted = np.empty(judged.shape[:2])
        done = 0
        for place, position in enumerate(picked):
            row_predicted[place] = judged[place, :, :-1].dot(self.estimator.values)
            if paused:
                continue
            if not self._standing.is_long(stretch.times.item(position), stretch.positions[position]):
                if self.fit is None:
                    self.estimator.take(rows[place], settled[place].tolist())
                else:
                    self.estimator.take(rows[place], [bool(settled[place].all())])
                    self.fit.take(judged[place, :, -1], row_predicted[place], settled[place])
                if self.check is not None:
                    n = self._n
                    self.check.take(stretch.positions[position], measured[position, -n:], usable[position, -n:])
            if slots.item(position) % SLOTS_A_SOLUTION == 0 and self.estimator.rows > self._solved_rows:
                if done < position:
                    predicted[done:position] = self._rows.predict(done, position)
                done = position
                solution, self._solved_rows = self.estimator.update(), self.estimator.rows
                if self._energy is not None:
                    self._energy.judge(stretch.times.item(position), solution)
                self._rows.set_values(self.estimator.values)
        predicted[done:] = self._rows.predict(done, len(slots))
        return predicted, row_predicted

    def _pick(self, slots: IntArray) -> list[int]:
        """Indices of the samples that are the first of their slot."""
        before, self._slot = self._slot, slots.item(-1)
        first = [0] if slots.item(0) != before else []
        return first + (np.flatnonzero(slots[1:] != slots[:-1]) + 1).tolist() if len(slots) > 1 else first

    def _find_settled(self, stretch: Stretch, usable: BoolArray, picked: list[int]) -> BoolArray:
        """Whether at (M,) picked samples each channel has been usable for as long as the filters remember, (M, K)."""
        times = stretch.times
        if times.item(0) > self._settled_from and usable.all():
            return usable[picked] if picked else self._none_settled
        bad = np.where(usable, -np.inf, times[:, None])
        bad[0] = np.maximum(bad[0], self._last_bad)
        latest = np.maximum.accumulate(bad, axis=0)
        self._last_bad = latest[-1]
        self._settled_from = float(self._last_bad.max()) + self._rows.settling
        return np.asarray(times[picked, None] - latest[picked] > self._rows.settling)

    def freeze(self, values: FloatArray) -> None:
        """Predict with these base parameters (U,)."""
        self.estimator.values = np.array(values, dtype=np.float64)
        self._rows.set_values(self.estimator.values)

    def reset(self) -> None:
        """Forget all that was learned."""
        self.estimator.reset()
        self._solved_rows = 0
        self._travel = Travel(self._n)
        self.check = None if self.check is None else EffortCheck(self._arm)
        self.fit = None if self.fit is None else RowFit(len(self.fit.rows))
        self._rows.start_anew()
        self._rows.set_values(self.estimator.values)


def _constants(links: LinksSettings, arm: ArmModel) -> FloatArray:
    """What efforts are multiplied with, in the order of the arm's joints."""
    if links.effort_unit != "ampere" or links.source == "base_wrench":
        return np.ones(len(arm.joint_names))
    given = dict(zip(links.joints, links.torque_constants, strict=True))
    return np.array([given[name] for name in arm.joint_names])
