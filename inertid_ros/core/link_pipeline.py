"""From paired samples to rows, information and predictions, for an arm whose joints are known."""

from __future__ import annotations

import numpy as np

from inertid_ros.core.alignment import Alignment, Stretch
from inertid_ros.core.arm_model import ArmModel
from inertid_ros.core.effort_input import EffortInput
from inertid_ros.core.health import Health
from inertid_ros.core.joint_stream import MAX_GAP
from inertid_ros.core.link_estimator import LinkEstimator
from inertid_ros.core.link_model import LinkModel
from inertid_ros.core.link_predictor import Accelerations, LinkPredictor
from inertid_ros.core.link_records import LinkEstimate, LinkOutput
from inertid_ros.core.link_rows import make_link_rows
from inertid_ros.core.link_state import judge_links
from inertid_ros.core.link_unknowns import LinkUnknowns
from inertid_ros.core.records import BoolArray, FloatArray, JointBlock, WrenchBlock
from inertid_ros.core.robot import Robot
from inertid_ros.core.sample_buffer import SampleBuffer
from inertid_ros.core.settings import LinksSettings, Settings
from inertid_ros.core.standing import Standing

SLOT = 20_000_000
"""Rows are taken once in so many nanoseconds of stamps, never once per block."""

SLOTS_A_SOLUTION = 25
"""Once in so many slots (0.5 s) the parameters are solved for."""


class LinkPipeline:
    """What can only be built once the arm's joints are known."""

    def __init__(self, robot: Robot, settings: Settings, joints: tuple[str, ...], health: Health) -> None:
        """Set up the equations of these joints.

        Raises:
            RobotDescriptionError: if a joint or the base sensor's frame is not there or cannot be used.
            RankError: if it cannot be told which parameters are identifiable.
        """
        links = settings.links
        source = links.source
        arm = ArmModel.of(robot, np.array(settings.gravity), joints)
        unknowns = LinkUnknowns.of(arm, source, links.viscous, links.coulomb, links.rotor_inertia, links.offset)
        pose = arm.place_of(links.base_frame) if links.base_frame else None
        self.model = LinkModel.of(arm, source, unknowns, pose, links.coulomb_velocity)
        self._n = len(arm.joint_names)
        self._source = source
        self._sign = -1.0 if links.base_wrench_sign == "on_ground" else 1.0
        delay = links.effort_delay if source == "effort" else 0.0
        self._delay = links.effort_delay
        self._alignment = Alignment(arm, delay, health, "effort" if source == "effort" else "base_wrench")
        self._efforts = EffortInput(arm, _constants(links, arm), health)
        self._effort_samples = SampleBuffer(2 * self._n)
        self._rows = make_link_rows(self.model, links)
        self._accelerations = Accelerations(links.filter_cutoff, links.smoothing_cutoff)
        self._predictor = LinkPredictor(self.model)
        base_floor = [links.noise_floor_force] * 3 + [links.noise_floor_torque] * 3
        floors = {"effort": [], "base_wrench": base_floor, "both": base_floor}[source]
        efforts = [] if source == "base_wrench" else [links.noise_floor_effort] * self._n
        self.estimator = LinkEstimator(
            self._rows.used,
            self.model.prior,
            self.model.prior_deviations,
            np.array(floors + efforts),
            self._rows.repeats,
        )
        self._standing = Standing()
        self._slot = -1
        self._stamp = 0
        self._last_bad = np.full(len(self.model.channels), -np.inf)

    def push_joints(self, block: JointBlock) -> None:
        """Take joint states with the URDF's names, and their efforts."""
        self._alignment.push_joints(block)
        if self._source == "base_wrench":
            return
        readings = self._efforts.read(block)
        if readings is None:
            return
        if self._source == "effort":
            self._alignment.push_wrenches(WrenchBlock("", block.stamps, readings))
        elif self._alignment.origin is not None:
            times = (block.stamps - self._alignment.origin) * 1e-9 - self._delay
            later = times > self._effort_samples.newest
            if later.any():
                self._effort_samples.append(times[later], readings[later, : self._n], readings[later, self._n :])

    def push_base_wrenches(self, block: WrenchBlock) -> None:
        """Take wrenches of the base sensor, in the driver's own sign."""
        if self._source != "effort":
            self._alignment.push_wrenches(block)

    def process(self, paused: bool) -> LinkOutput | None:
        """Carry everything that can be paired through; None if there is nothing. Learn nothing while paused."""
        pieces = [self._process_stretch(stretch, paused) for stretch in self._alignment.process()]
        if not pieces:
            return None
        self._stamp = pieces[-1].stamps.item(-1)
        return (
            pieces[0]
            if len(pieces) == 1
            else LinkOutput(*(np.concatenate(parts) for parts in zip(*pieces, strict=True)))
        )

    def _read(self, stretch: Stretch) -> tuple[FloatArray, BoolArray]:
        """Channels (N, K) of a stretch, and whether they are usable (N, K)."""
        n = self._n
        if self._source == "effort":
            return stretch.wrenches[:, :n], stretch.wrenches[:, n:] == 0.0
        base = self._sign * stretch.wrenches
        good = np.ones(base.shape, dtype=bool)
        if self._source == "base_wrench":
            return base, good
        samples = self._effort_samples
        if not len(samples.times):
            count = len(stretch.times), n
            return np.concatenate((base, np.zeros(count)), 1), np.concatenate((good, np.zeros(count, dtype=bool)), 1)
        within = np.clip(stretch.times, samples.times[0], samples.newest)
        efforts, width = samples.read(within)
        samples.forget_before(stretch.times.item(-1))
        near = (width <= MAX_GAP) & (within == stretch.times)
        efforts[~np.isfinite(efforts)] = 0.0
        usable = (efforts[:, n:] == 0.0) & near[:, None]
        return np.concatenate((base, efforts[:, :n]), axis=1), np.concatenate((good, usable), axis=1)

    def _process_stretch(self, stretch: Stretch, paused: bool) -> LinkOutput:
        measured, usable = self._read(stretch)
        slots = stretch.stamps // SLOT
        picked = np.flatnonzero(np.diff(slots, prepend=self._slot)).tolist()
        self._slot = slots.item(-1)
        rows = self._rows.process(stretch, measured, picked)
        accelerations = self._accelerations.process(stretch)
        settled = self._find_settled(stretch, usable, picked)
        predicted = np.empty_like(measured)
        row_predicted = np.empty((len(picked), rows.shape[1] if picked else 0))
        done = 0
        for place, (position, row) in enumerate(zip(picked, rows, strict=True)):
            row_predicted[place] = row[:, :-1].dot(self.estimator.values)
            if paused:
                continue
            if not self._standing.is_long(stretch.times.item(position), stretch.positions[position]):
                self.estimator.take(row, settled[place].tolist())
            if slots.item(position) % SLOTS_A_SOLUTION == 0:
                self._predict(stretch, accelerations, done, position, predicted)
                done = position
                self.estimator.update()
                self._predictor.set_values(self.estimator.values)
        self._predict(stretch, accelerations, done, len(predicted), predicted)
        if self._sign < 0.0:
            for values in (predicted, measured):
                values[:, :6] *= -1.0
        row_stamps = stretch.stamps[picked]
        return LinkOutput(
            stretch.stamps, predicted, measured, usable, row_stamps, rows[:, :, -1], row_predicted, settled
        )

    def _predict(self, stretch: Stretch, accelerations: FloatArray, start: int, stop: int, out: FloatArray) -> None:
        if start < stop:
            part = slice(start, stop)
            out[part] = self._predictor.predict(stretch.positions[part], stretch.velocities[part], accelerations[part])

    def _find_settled(self, stretch: Stretch, usable: BoolArray, picked: list[int]) -> BoolArray:
        """Whether at (M,) picked samples each channel has been usable for as long as the filters remember, (M, K)."""
        times = stretch.times
        if usable.all() and times.item(0) - self._last_bad.max() > self._rows.settling:
            return np.ones((len(picked), usable.shape[1]), dtype=bool)
        bad = np.where(usable, -np.inf, times[:, None])
        bad[0] = np.maximum(bad[0], self._last_bad)
        latest = np.maximum.accumulate(bad, axis=0)
        self._last_bad = latest[-1]
        return np.asarray(times[picked, None] - latest[picked] > self._rows.settling)

    def estimate(self, paused: bool) -> LinkEstimate:
        """All that is known by now."""
        solution = self.estimator.solve()
        covariance = solution.information.covariance()
        rows = self.estimator.rows
        return LinkEstimate(
            stamp=self._stamp,
            model=self.model,
            values=solution.values,
            covariance=covariance,
            states=judge_links(self.model, solution.values, covariance),
            residual_rms=solution.residual_rms,
            measured_rms=solution.measured_rms,
            rows=solution.rows,
            mode="paused" if paused else "waiting" if rows == 0 else "learning",
            findings=(),
        )

    def freeze(self, values: FloatArray) -> None:
        """Predict with these base parameters (U,)."""
        self.estimator.values = np.array(values, dtype=np.float64)
        self._predictor.set_values(self.estimator.values)

    def reset(self) -> None:
        """Forget all that was learned."""
        self.estimator.reset()
        self._rows.start_anew()
        self._predictor.set_values(self.estimator.values)


def _constants(links: LinksSettings, arm: ArmModel) -> FloatArray:
    """What efforts are multiplied with, in the order of the arm's joints."""
    if links.effort_unit != "ampere" or links.source == "base_wrench":
        return np.ones(len(arm.joint_names))
    given = dict(zip(links.joints, links.torque_constants, strict=True))
    return np.array([given[name] for name in arm.joint_names])
