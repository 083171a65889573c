"""The one chain from samples to a load's estimate. Node, replay and tests all drive this one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from inertid_ros.core.checks.wrench_convention import ConventionCheck, Finding, has_error
from inertid_ros.core.checks.wrench_sign import Sign, WrenchSign, find_contradictions, find_impossible_body
from inertid_ros.core.equations.load_regressor import build_prediction_map
from inertid_ros.core.errors import NotIdentifiedError
from inertid_ros.core.estimation.load_estimator import Event, LoadEstimator
from inertid_ros.core.estimation.load_trial import LOAD
from inertid_ros.core.estimation.parameter_state import ParameterState, judge_parameters
from inertid_ros.core.estimation.standstill_noise import StandstillNoise
from inertid_ros.core.health import Health, HealthItem
from inertid_ros.core.input.joint_names import JointNames
from inertid_ros.core.input.synchroniser import Alignment, Stretch
from inertid_ros.core.records import FloatArray, IntArray, JointBlock, WrenchBlock
from inertid_ros.core.rigid_body.feasibility import nearest_feasible
from inertid_ros.core.rigid_body.tool import Tool, subtract
from inertid_ros.core.robot.robot import Robot
from inertid_ros.core.rows.load_rows import make_load_rows
from inertid_ros.core.settings.settings import Settings

SLOT = 20_000_000
"""Decisions are taken once in so many nanoseconds of stamps, never once per block."""


class LoadOutput(NamedTuple):
    """What came out for each wrench that could be paired.

    Attributes:
        stamps: (N,) nanoseconds, the wrenches' own.
        predicted: (N, 6) wrench of the load and the bias, in the driver's sign.
        residual: (N, 6) measured less predicted: the contact wrench, in the driver's sign.
        events: what happened to the load.
    """

    stamps: IntArray
    predicted: FloatArray
    residual: FloatArray
    events: tuple[Event, ...]


@dataclass(frozen=True, slots=True)
class LoadEstimate:
    """All that is known of the load.

    Attributes:
        stamp: of the newest wrench used, nanoseconds; 0 before the first.
        sensor_frame: frame of all that follows.
        sign: which wrench the driver publishes, None while that cannot be told.
        parameters: (10,) of the load alone, the tool subtracted.
        covariance: (10, 10), including the tool's.
        feasible: (10,) nearest parameters of a possible rigid body, in the information metric.
        states: for each parameter, whether it can be trusted.
        bias: (6,) of the sensor, in the driver's sign.
        bias_covariance: (6, 6).
        noise_density: (6,) N/sqrt(Hz) and Nm/sqrt(Hz) at standstill.
        noise_calibrated: whether the robot has stood still long enough to measure it.
        misfit: variance of the innovations over what noise explains; 1 if the model is perfect.
        mode: "waiting" before the first row, then "free", "disturbed" or "contact"; "paused" while paused.
        findings: what the data says against the configuration.
        rows: how many rows have been folded in.
    """

    stamp: int
    sensor_frame: str
    sign: Sign | None
    parameters: FloatArray
    covariance: FloatArray
    feasible: FloatArray
    states: tuple[ParameterState, ...]
    bias: FloatArray
    bias_covariance: FloatArray
    noise_density: FloatArray
    noise_calibrated: bool
    misfit: float
    mode: str
    findings: tuple[Finding, ...]
    rows: int


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

    def process(self) -> LoadOutput:
        """Carry everything that can be paired through the chain."""
        stretches = self._alignment.process()
        if not stretches:
            return _EMPTY
        events: list[Event] = []
        predictions: list[FloatArray] = []
        for stretch in stretches:
            self._process_stretch(stretch, predictions, events)
        stamps, wrenches = stretch.stamps, stretch.wrenches
        if len(stretches) > 1:
            stamps = np.concatenate([stretch.stamps for stretch in stretches])
            wrenches = np.concatenate([stretch.wrenches for stretch in stretches])
        predicted = predictions[0] if len(predictions) == 1 else np.concatenate(predictions)
        self._stamp = stamps.item(-1)
        return LoadOutput(stamps, predicted, wrenches - predicted, tuple(events))

    def _process_stretch(self, stretch: Stretch, predictions: list[FloatArray], events: list[Event]) -> None:
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

    def _take_row(self, time: float, row: FloatArray) -> tuple[bool, Event | None]:
        if self._paused or row[12] <= 0.0:
            return False, None
        restart, event = self._estimator.process_row(time, row, self._noise.density)
        if event is not None and event.kind in ("load_changed", "bias_changed"):
            self._convention.start_load()
        self._convention.take(row, fits=self._estimator.mode == "free")
        self._build_map()
        return restart, event

    def _build_map(self) -> None:
        """Make the (13, 6) matrix that predicts wrenches from features with the present estimate."""
        self._map = build_prediction_map(self._estimator.unknowns)

    def estimate(self) -> LoadEstimate:
        """All that is known by now."""
        estimator = self._estimator
        covariance = estimator.covariance()
        sign = self._sign.find(estimator.unknowns[0], covariance[0, 0])
        factor = -1.0 if sign == "on_sensor" else 1.0
        parameters, load_covariance = factor * estimator.unknowns[:LOAD], covariance[:LOAD, :LOAD]
        if self.tool is not None:
            parameters, load_covariance = subtract(parameters, load_covariance, self.tool)
        information = np.linalg.inv(load_covariance)
        feasible = nearest_feasible(parameters, information)
        states = judge_parameters(parameters, load_covariance)
        findings = self._convention.findings() + find_contradictions(
            estimator.unknowns, covariance, sign, float(np.linalg.norm(self.settings.gravity))
        )
        if not has_error(findings):
            findings += find_impossible_body(parameters - feasible, information, states)
        if has_error(findings):
            states = tuple("uncertain" if state == "known" else state for state in states)
        return LoadEstimate(
            stamp=self._stamp,
            sensor_frame=self.sensor_frame,
            sign=sign,
            parameters=parameters,
            covariance=load_covariance,
            feasible=feasible,
            states=states,
            bias=estimator.unknowns[LOAD:],
            bias_covariance=covariance[LOAD:, LOAD:],
            noise_density=np.sqrt(self._noise.density),
            noise_calibrated=self._noise.is_calibrated,
            misfit=estimator.misfit,
            mode="paused" if self._paused else "waiting" if estimator.rows == 0 else estimator.mode,
            findings=findings,
            rows=estimator.rows,
        )

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
        self.tool, before = None, self.tool
        estimate = self.estimate()
        unknown = [
            name
            for name, state in zip(("mass", "mcx", "mcy", "mcz"), estimate.states, strict=False)
            if state != "known"
        ]
        if unknown or estimate.sign is None:
            self.tool = before
            what = ", ".join(unknown) or "the sign of the wrench"
            raise NotIdentifiedError(
                f"the tool is not identified yet ({what}): turn the sensor into more poses, then capture it"
            )
        self.tool = Tool(estimate.parameters, estimate.covariance, self.sensor_frame)
        return self.tool

    @property
    def time_origin(self) -> int:
        """Stamp [ns] of a wrench at which the times of events are zero."""
        return self._alignment.time_origin

    @property
    def health(self) -> tuple[HealthItem, ...]:
        """What was wrong with the input so far."""
        return self._health.items()


_EMPTY = LoadOutput(np.empty(0, dtype=np.int64), np.empty((0, 6)), np.empty((0, 6)), ())
