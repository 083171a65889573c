"""The one chain from samples to a load's estimate. Node, replay and tests all drive this one."""

from __future__ import annotations

import numpy as np

from inertid_ros.core.checks.wrench_convention import ConventionCheck
from inertid_ros.core.checks.wrench_sign import WrenchSign, find_contradictions
from inertid_ros.core.diagnosis import Health, HealthItem
from inertid_ros.core.equations.load_regressor import build_prediction_map
from inertid_ros.core.errors import NotIdentifiedError
from inertid_ros.core.estimation.estimate import LoadEstimate, Mode, Solution, WristSensor, judge_load
from inertid_ros.core.estimation.load_estimator import Event as _Event
from inertid_ros.core.estimation.load_estimator import LoadEstimator
from inertid_ros.core.estimation.load_trial import LOAD
from inertid_ros.core.estimation.standstill_noise import StandstillNoise
from inertid_ros.core.estimation.states import ParameterState
from inertid_ros.core.input.joint_names import JointNames
from inertid_ros.core.input.synchroniser import Alignment, Stretch
from inertid_ros.core.records import Event, EventKind, FloatArray, IntArray, JointBlock, Output, RowOutput, WrenchBlock
from inertid_ros.core.rigid_body.tool import Tool
from inertid_ros.core.robot.robot import Robot
from inertid_ros.core.rows.load_rows import make_load_rows
from inertid_ros.core.settings.settings import Settings

_SMALLEST_SIGN = 0.05
SLOT = 20_000_000
"""Decisions are taken once in so many nanoseconds of stamps, never once per block."""


class LoadChain:
    """Stamps, joints, kinematics, rows, information, decisions: put together for one wrist sensor."""

    def __init__(self, robot: Robot, settings: Settings, sensor_frame: str | None = None) -> None:
        """Build the chain for a robot.

        Args:
            robot: the robot.
            settings: all parameters.
            sensor_frame: frame of the wrenches; the configured one if None.

        Raises:
            UnknownFrameError, UnsupportedJointError: if the frame is not there or cannot be used.
        """
        self.settings = settings
        self.sensor_frame = settings.load.sensor_frame if sensor_frame is None else sensor_frame
        path = robot.path_to(self.sensor_frame)
        gravity = np.array(settings.gravity)
        self._frames = set(robot.frame_names)
        self._health = Health()
        self._names = JointNames(robot.joint_names, self._health)
        self._alignment = Alignment(path, settings.load.wrench_delay, self._health)
        self._rows = make_load_rows(path, gravity, settings.load)
        self._estimator = LoadEstimator(settings.load, self._rows.noise_bandwidth)
        self._build_map()
        self._noise = StandstillNoise(settings.load.noise_floor_force, settings.load.noise_floor_torque)
        self._convention = ConventionCheck()
        self._sign = WrenchSign(settings.load.wrench_sign)
        self._slot = -1
        self._stamp = 0
        self._paused = False
        self.tool: Tool | None = None

    def push_joints(self, block: JointBlock) -> None:
        """Take joint states of one publisher; never raises for bad data."""
        self._alignment.push_joints(self._names.resolve(block))

    def push_wrenches(self, block: WrenchBlock) -> None:
        """Take wrenches; never raises for bad data."""
        if block.frame != self.sensor_frame and len(block.stamps):
            if block.frame in self._frames:
                detail = f"wrench in '{block.frame}', load.sensor_frame is '{self.sensor_frame}'"
                self._health.report("wrench", "frame_mismatch", int(block.stamps[-1]), detail, len(block.stamps))
                return
            detail = f"frame_id '{block.frame}'"
            self._health.report("wrench", "frame_unknown", int(block.stamps[-1]), detail, len(block.stamps))
        self._alignment.push_wrenches(block)

    def process(self) -> Output | None:
        """Carry everything that can be paired through the chain."""
        stretches = self._alignment.process()
        if not stretches:
            return None
        events: list[_Event] = []
        predictions: list[FloatArray] = []
        for stretch in stretches:
            self._process_stretch(stretch, predictions, events)
        stamps, wrenches = stretch.stamps, stretch.wrenches
        if len(stretches) > 1:
            stamps = np.concatenate([stretch.stamps for stretch in stretches])
            wrenches = np.concatenate([stretch.wrenches for stretch in stretches])
        predicted = predictions[0] if len(predictions) == 1 else np.concatenate(predictions)
        self._stamp = stamps.item(-1)
        usable = np.ones(predicted.shape, dtype=bool)
        rows = RowOutput(stamps[:0], predicted[:0], predicted[:0], usable[:0])
        return Output(stamps, wrenches, predicted, usable, rows, tuple(self._stamp_event(event) for event in events))

    def _stamp_event(self, event: _Event) -> Event:
        stamp = self._alignment.time_origin + round(event.time * 1e9)
        return Event(stamp, EventKind(event.kind), event.message)

    def _process_stretch(self, stretch: Stretch, predictions: list[FloatArray], events: list[_Event]) -> None:
        """Append the predictions for a stretch, in pieces (N, 6), and the events; estimates are updated on the way."""
        picked = self._pick_slots(stretch.stamps)
        regressors, rows = self._rows.process(stretch, picked)
        features = regressors.dot(self._rows.feature_map)
        done = measured = 0
        for position, row in zip(picked, rows, strict=True):
            if done < position:
                predictions.append(features[done:position].dot(self._map))
                if self._noise.is_due(stretch.stamps.item(position - 1)):
                    measured = self._measure_noise(stretch, measured, position)
            done = position
            restart, event = self._take_row(stretch.times.item(position), row)
            if event is not None:
                events.append(event)
            if self._estimator.mode != "free" and not self._paused:
                measured = self._measure_noise(stretch, measured, position)
                self._noise.discard_run()
            if restart:
                self._rows.start_anew()
                predictions.append(features[position : position + 1].dot(self._map))
                self._measure_noise(stretch, measured, position + 1)
                if position + 1 < len(stretch.stamps):
                    self._slot = stretch.stamps.item(position) // SLOT
                    self._process_stretch(stretch.rest(position + 1), predictions, events)
                return
        predictions.append(features[done:].dot(self._map))
        self._measure_noise(stretch, measured, len(features))

    def _measure_noise(self, stretch: Stretch, start: int, stop: int) -> int:
        """Measure noise on some samples of a stretch; returns the end of them."""
        starts_anew, stamps, _, positions, _, wrenches = stretch
        if start < stop:
            part = slice(start, stop)
            self._noise.process(stamps[part], positions[part], wrenches[part], starts_anew and start == 0)
        return stop

    def _pick_slots(self, stamps: IntArray) -> list[int]:
        """Indices of the samples that are the first of their slot."""
        if len(stamps) == 1:
            before, self._slot = self._slot, stamps.item() // SLOT
            return [] if before == self._slot else [0]
        slots = stamps // SLOT
        before, self._slot = self._slot, slots.item(-1)
        return [int(index) for index in np.flatnonzero(np.diff(slots, prepend=before))]

    def _take_row(self, time: float, row: FloatArray) -> tuple[bool, _Event | None]:
        if self._paused or row[12] <= 0.0:
            return False, None
        restart, event = self._estimator.process_row(time, row, self._noise.density)
        if event is not None and event.kind in ("load_changed", "bias_changed"):
            self._convention.start_load()
        self._convention.take(row, fits=self._estimator.mode == "free")
        if self._sign.sign is None and abs(self._estimator.unknowns[0]) > _SMALLEST_SIGN:
            self._sign.learn(float(self._estimator.unknowns[0]), float(self._estimator.covariance()[0, 0]))
        self._build_map()
        return restart, event

    def _build_map(self) -> None:
        """Make the (13, 6) matrix that predicts wrenches from features with the present estimate."""
        self._map = build_prediction_map(self._estimator.unknowns)

    def estimate(self) -> LoadEstimate:
        """All that is known by now; changes nothing."""
        estimator, sign = self._estimator, self._sign.sign
        covariance = estimator.covariance()
        waiting = Mode.PAUSED if self._paused else Mode.WAITING if estimator.rows == 0 else None
        solution = Solution(
            stamp=self._stamp,
            mode=waiting or _MODES[estimator.mode],
            values=(1.0 if sign is None else sign.factor) * estimator.unknowns[:LOAD],
            covariance=covariance[:LOAD, :LOAD],
            rows=estimator.rows,
            fit=None,
        )
        gravity = float(np.linalg.norm(self.settings.gravity))
        findings = self._convention.findings() + find_contradictions(estimator.unknowns, covariance, sign, gravity)
        sensor = WristSensor(
            sign=sign,
            bias=estimator.unknowns[LOAD:],
            bias_covariance=covariance[LOAD:, LOAD:],
            noise_density=np.sqrt(self._noise.density),
            noise_calibrated=self._noise.is_calibrated,
            variance_inflation=estimator.misfit,
        )
        return judge_load(solution, self.sensor_frame, findings, self.tool, sensor)

    def freeze(self, unknowns: FloatArray) -> None:
        """Predict with these [phi (10), bias (6)], in the driver's own sign, and learn nothing from now on."""
        self._estimator.unknowns = np.array(unknowns, dtype=np.float64)
        self._paused = True
        self._build_map()

    def pause(self, paused: bool) -> None:
        """Stop or resume learning; predictions go on."""
        self._paused = paused

    def reset(self) -> None:
        """Forget the load, the bias and the findings; the tool and the noise calibration stay."""
        self._estimator.reset()
        self._convention = ConventionCheck()
        self._rows.start_anew()
        self._sign = WrenchSign(self.settings.load.wrench_sign)
        self._build_map()

    def capture_tool(self) -> Tool:
        """Keep what is carried now as the tool; from then on the load is what comes on top of it.

        Raises:
            NotIdentifiedError: while mass or centre of mass of what is carried are not known, while paused, and while
                the wrench does not fit what is known.
        """
        if self._paused or self._estimator.mode != "free":
            state = "learning is paused" if self._paused else "the wrench does not fit what is known (contact)"
            raise NotIdentifiedError(f"a tool cannot be captured while {state}: try again when that is over")
        estimate = self.estimate()
        total = estimate if self.tool is None else _without_tool(estimate, self.tool)
        unknown = [
            name
            for name, state in zip(("mass", "mcx", "mcy", "mcz"), total.states, strict=False)
            if state is not ParameterState.KNOWN
        ]
        if unknown or self._sign.sign is None:
            what = ", ".join(unknown) or "the sign of the wrench"
            raise NotIdentifiedError(
                f"the tool is not identified yet ({what}): turn the sensor into more poses, then capture it"
            )
        self.tool = Tool(total.values, total.covariance, self.sensor_frame)
        return self.tool

    @property
    def time_origin(self) -> int:
        """Stamp [ns] of a wrench at which the times of events are zero."""
        return self._alignment.time_origin

    @property
    def health(self) -> tuple[HealthItem, ...]:
        """What was wrong with the input so far."""
        return self._health.items()


def _without_tool(estimate: LoadEstimate, tool: Tool) -> LoadEstimate:
    """The estimate of all that is carried."""
    values, covariance = estimate.values + tool.phi, estimate.covariance - tool.covariance
    solution = Solution(estimate.stamp, estimate.mode, values, covariance, estimate.rows, None)
    return judge_load(solution, estimate.frame, estimate.findings, None, estimate.sensor)


_MODES = {"free": Mode.TRACKING, "disturbed": Mode.TESTING, "contact": Mode.CONTACT}
