"""The load on a wrist force/torque sensor."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from copy import copy
from typing import NamedTuple

import numpy as np

from inertid_ros.core.checks.sensor_faults import Fault, SensorFaults, describe_fault
from inertid_ros.core.checks.wrench_convention import ConventionCheck, WrenchSign, find_contradictions, find_sign_doubt
from inertid_ros.core.compiled import specialise
from inertid_ros.core.diagnosis import Finding, Health, has_error
from inertid_ros.core.equations.equation import WRENCH_NAMES, WRENCH_UNITS
from inertid_ros.core.equations.load import FEATURES, LOAD, UNKNOWNS, make_load_equation
from inertid_ros.core.equations.signals import REST
from inertid_ros.core.errors import FileFormatError, NotIdentifiedError
from inertid_ros.core.estimation.change import Decision, describe_change, find_surprise
from inertid_ros.core.estimation.estimate import (
    Fit,
    LinksEstimate,
    LoadEstimate,
    Mode,
    Solution,
    WristSensor,
    judge_load,
)
from inertid_ros.core.estimation.hypothesis import HypothesisEstimator
from inertid_ros.core.estimation.nuisances import (
    SUSPECTED,
    find_misfit,
    find_nuisances,
    find_pull,
    find_shift,
    list_nuisances,
)
from inertid_ros.core.estimation.remembered import RememberedLinks, RememberedLoad
from inertid_ros.core.estimation.reweighted import Uncertainty
from inertid_ros.core.estimation.states import ParameterState
from inertid_ros.core.input.base_tilt import BaseTilt
from inertid_ros.core.input.inputs import WristInput
from inertid_ros.core.input.segments import Segment
from inertid_ros.core.records import LOAD_EVENTS, BoolArray, Event, FloatArray, Output, RowOutput
from inertid_ros.core.rigid_body.inertial import ExpectedLoad, Tool
from inertid_ros.core.robot.robot import Robot
from inertid_ros.core.rows.energy import RowFit
from inertid_ros.core.rows.rows import Filters, Row, Rows
from inertid_ros.core.rows.standstill import CALIBRATED, discard_run, restore_noise, start_noise
from inertid_ros.core.settings.choices import GravitySource, Method
from inertid_ros.core.settings.settings import Settings
from inertid_ros.core.tasks.following import (
    ALL_DONE,
    FAULTY,
    MISFIT,
    PIECE_OVER,
    STOPPED,
    UNTOUCHED,
    Checked,
    follow_rows,
)

_FILLED = 0.9
"""Response of the filters to a constant from which rows are compared with what is known."""
_FIT_AGAIN = 15
"""Rows (0.3 s) that must fit what is known for a change of unit or sign to be over: gravity may have turned by then."""
_KEEP_EVERY = 500_000_000
"""How often [ns] all that was learnt is kept, to go back to when the sensor turns out wrong: a copy takes 30 µs."""
_NOTHING = Decision(False)
_KEPT = 4
"""How many of these are kept: two seconds, in which every fault is found that can be."""


class _Kept(NamedTuple):
    """What was known at a stamp [ns]."""

    stamp: int
    estimator: HypothesisEstimator
    sign: WrenchSign


class WristLoadTask:
    """Identifies [phi (10), bias (6)] in the driver's own sign.

    Attributes:
        frame: of the sensor.
        tool: what is subtracted from what the sensor carries.
        expected: what should be attached next.
    """

    def __init__(self, robot: Robot, settings: Settings, frame: str, health: Health) -> None:
        """Set up for a frame of the robot.

        Raises:
            UnknownFrameError, UnsupportedJointError: if the frame is not there or cannot be used.
        """
        load = settings.load
        path, tilt = robot.path_to(frame), None
        gravity = np.array(settings.gravity)
        if settings.gravity_source is GravitySource.IMU:
            path, tilt = path.on_base(gravity), BaseTilt(robot, gravity, health)
        filters = Filters(load.filter_cutoff, load.smoothing_cutoff, load.differentiation_cutoff, load.integral_window)
        self.frame = frame
        self._health = health
        self.input = WristInput(robot, path, load.wrench_delay, health, tilt)
        self.rows = Rows(make_load_equation(path, gravity), len(path.joint_names), Method(load.method), filters)
        self._estimator = HypothesisEstimator(load, self.rows.noise_bandwidth, self.rows.poles)
        self._noise = self.rows.memory.noise
        start_noise(self.rows.memory, load.noise_floor_force, load.noise_floor_torque)
        self._configured_sign = load.wrench_sign
        self._settings, self._gravity = load, gravity
        lag = self.rows.settling / (2.0 if Method(load.method) is Method.INTEGRAL else 8.0)
        self._convention = ConventionCheck(path, gravity, lag)
        self._sign = WrenchSign(load.wrench_sign)
        self._faults = SensorFaults(load, self.input.faults, health)
        self._fault: Fault | None = None
        self._fitting = 0
        self._kept: deque[_Kept] = deque(maxlen=_KEPT)
        self._density = self._noise[:6]
        self._progress = np.zeros(3, dtype=np.int64)
        place = int(self.rows.integers[REST]) + FEATURES
        self._gravity_now = self.rows.floats[place : place + 3]
        self._fit, self._rows_taken, self._rows_in_contact = RowFit(len(WRENCH_NAMES)), 0, 0
        self.tool: Tool | None = None
        self.expected: ExpectedLoad | None = None
        self._is_attached = False
        self._usable: BoolArray = np.ones((1, 6), dtype=bool)
        empty, flags = np.empty((0, 6)), np.empty((0, 6), dtype=bool)
        self._no_rows = RowOutput(np.empty(0, dtype=np.int64), empty, empty, flags, empty)
        self._follow_rows = self._specialise_follow_rows()

    def _specialise_follow_rows(self) -> Callable[..., int]:
        rows, estimator, integers = self.rows, self._estimator, self._progress
        segment = integers, np.empty((1, 1)), 0
        given = rows.row, self._density, self._convention.lag, self._checked
        known = estimator.tracked, *estimator.summed
        return specialise(follow_rows, rows.floats, rows.integers, *segment, *given, *known, 0, 0, integers)

    def begin(self, segment: Segment) -> int:
        """Carry a segment through up to its first row."""
        return self.rows.begin(segment)

    def take_rows(self, segment: Segment, position: int, is_paused: bool) -> tuple[int, Decision]:
        """Test rows, and fold them in if they fit and the sensor is in order, until there is something to decide."""
        if self._is_followed and not is_paused:
            position = self._follow(segment, position)
            if self._progress.item(STOPPED) != UNTOUCHED:
                return position, self._conclude(segment, position)
        return position, self._take_row(segment, position, is_paused)

    def _take_row(self, segment: Segment, position: int, is_paused: bool) -> Decision:
        stamp, reading = segment.stamps.item(position), segment.readings[position]
        row, estimator = self.rows.row, self._estimator
        fault = self._faults.take(stamp, reading, self._gravity_now, estimator.values[:LOAD])
        if fault is not None or self._fault is not None:
            return self._wait_for_sensor(fault, row)
        self._keep(stamp)
        if row.signals.item(12) > 0.0:
            self._convention.take(row.signals, row.readings, segment.samples[position])
        if is_paused or row.signals.item(12) <= 0.0:
            return _NOTHING
        return self._end_row(stamp, estimator.take(segment.samples.item(position, 0), row, self._density))

    def _conclude(self, segment: Segment, position: int) -> Decision:
        """What is left to do with the row at which following has stopped."""
        stopped, fault, _ = self._progress.tolist()
        if stopped == ALL_DONE:
            return _NOTHING
        stamp, estimator = segment.stamps.item(position), self._estimator
        if stopped == FAULTY:
            return self._wait_for_sensor(self._faults.name(stamp, fault), self.rows.row)
        return self._end_row(stamp, estimator.begin_test() if stopped == MISFIT else estimator.end_piece())

    @property
    def _is_followed(self) -> bool:
        """Whether rows that fit ask for no decision: what is missing must be known, and nothing be wrong or tested."""
        is_known = self._sign.sign is not None and bool(self._kept)
        return is_known and self._fault is None and self._estimator.is_followed and self._faults.is_quiet

    def _follow(self, segment: Segment, position: int) -> int:
        """Fold rows in that ask for no decision; returns where it has stopped, see `following.follow_rows`."""
        rows, estimator, convention, kept = self.rows, self._estimator, self._convention, self._kept[-1].stamp
        position = self._follow_rows(
            rows.floats,
            rows.integers,
            segment.stamps,
            segment.samples,
            position,
            rows.row,
            self._density,
            convention.lag,
            self._checked,
            estimator.tracked,
            *estimator.summed,
            kept,
            kept + _KEEP_EVERY,
            self._progress,
        )
        stopped, _, followed = self._progress.tolist()
        estimator.rows += followed
        self._rows_taken += followed - (stopped == PIECE_OVER)
        return position

    @property
    def _checked(self) -> Checked:
        faults, convention = self._faults, self._convention
        checks = faults.watched, self._gravity_now, faults.found
        return Checked(*checks, convention.history, convention.poses, convention.counts, self._fit.sums)

    def _end_row(self, stamp: int, decision: Decision) -> Decision:
        """All that follows from a row that was taken."""
        row, estimator = self.rows.row, self._estimator
        is_tracking = estimator.mode is Mode.TRACKING
        if estimator.has_forgotten:
            self._begin_anew(stamp)
        self._note_fit(row, decision)
        if not self._sign.is_settled(estimator.values.item(0)):
            self._sign.learn(estimator.values.item(0), float(estimator.covariance()[0, 0]))
        self.rows.set_values(estimator.values)
        if not is_tracking:
            discard_run(self.rows.memory, self.rows.own_integers)
        return decision if decision.kind is None else self._subtract_tool(decision)

    def _keep(self, stamp: int) -> None:
        """Keep a copy of what is known, now and then."""
        if not self._kept or not 0 <= stamp - self._kept[-1].stamp < _KEEP_EVERY:
            self._kept.append(_Kept(stamp, self._estimator.copy(), copy(self._sign)))

    def _wait_for_sensor(self, fault: Fault | None, row: Row) -> Decision:
        """Learn nothing while a fault lasts, forget what was learnt since it began, and restart when it is over.

        A change of unit or sign is over when rows fit what is known again: the sensor may have been away meanwhile.
        """
        before, self._fault = self._fault, fault
        left = row.readings - row.equations[:, :-1] @ self._estimator.values
        room = self._settings.contact_force, self._settings.contact_torque
        fits = max(abs(left[:3])) <= room[0] and max(abs(left[3:])) <= room[1]
        self._fitting = self._fitting + 1 if fits and row.signals.item(FEATURES - 1) > _FILLED else 0
        if self._fitting >= _FIT_AGAIN:
            self._faults.believe()
        discard_run(self.rows.memory, self.rows.own_integers)
        if before is None and fault is not None:
            while len(self._kept) > 1 and self._kept[-1].stamp > fault.since:
                self._kept.pop()
            if self._kept and self._kept[-1].stamp <= fault.since:
                _, self._estimator, self._sign = self._kept.pop()
            self.rows.set_values(self._estimator.values)
        return Decision(fault is None)

    def _note_fit(self, row: Row, decision: Decision) -> None:
        """Note how well a row is explained, or that it was taken in contact; of another load that begins anew."""
        mode = self._estimator.mode
        self._rows_taken += 1
        self._rows_in_contact += mode is Mode.CONTACT
        if decision.kind in LOAD_EVENTS:
            self._is_attached = abs(decision.masses[1]) > abs(decision.masses[0])
            self._fit = RowFit(len(WRENCH_NAMES))
        if mode is Mode.TRACKING:
            self._fit.take_row(row.equations, self._estimator.values, LOAD, row.usable)

    def _subtract_tool(self, decision: Decision) -> Decision:
        """The same with masses of the load alone, in kilograms whatever the driver's sign."""
        sign, tool = self._sign.sign, 0.0 if self.tool is None else float(self.tool.phi[0])
        before, after = (abs(mass) if sign is None else sign.factor * mass for mass in decision.masses)
        return describe_change(decision._replace(masses=(before - tool, after - tool)))

    def finish(self, segment: Segment, events: tuple[Event, ...]) -> Output:
        """All wrenches of a segment are usable, for what is not has been left out; rows are not recorded."""
        _, stamps, samples, columns, _ = segment
        count = len(stamps)
        if count > len(self._usable):
            self._usable = np.ones((count, 6), dtype=bool)
        measured, predicted = samples[:, columns.readings], samples[:, columns.predicted]
        return Output(stamps, measured, predicted, self._usable[:count], self._no_rows, events)

    def answer(self, waiting: Segment) -> Output:
        """Wrenches that wait are all taken to be usable."""
        return self.finish(waiting, ())

    def prepare_estimate(self, stamp: int, is_paused: bool) -> Callable[[], LinksEstimate | LoadEstimate]:
        """All that is known of the load, with the tool subtracted."""
        return self._prepare(stamp, is_paused, self.tool)

    def _prepare(self, stamp: int, is_paused: bool, tool: Tool | None) -> Callable[[], LoadEstimate]:
        estimator, sign = self._estimator, self._sign.sign
        factor = 1.0 if sign is None else sign.factor
        waiting = Mode.WAITING if estimator.rows == 0 else estimator.mode
        mode, rows = Mode.PAUSED if is_paused else waiting, estimator.rows
        noise_density, noise_calibrated = np.sqrt(self._density), bool(self._noise[CALIBRATED])
        check_convention = self._convention.prepare()
        fit = Fit(WRENCH_NAMES, WRENCH_UNITS, self._fit.rows, self._fit.residual_rms, self._fit.measured_rms)
        contact_share = self._rows_in_contact / max(self._rows_taken, 1)
        found = find_contradictions(
            estimator.values, estimator.covariance(), sign, float(np.linalg.norm(self._gravity))
        )
        suspects_change = estimator.suspects_change
        believed, name = self._expect(factor, tool), "" if self.expected is None else self.expected.name
        solve = solve_believing = estimator.prepare_solution()
        if believed is not None:
            solve_believing = estimator.prepare_solution(believed)
        damaged = () if self._fault is None or not self._fault.code else (describe_fault(self._fault.code),)

        def judge() -> LoadEstimate:
            joint, surprise = solve(), tuple[Finding, ...]()
            if believed is not None:
                surprise = find_surprise(name, believed, float(joint.values[0]), float(joint.covariance[0, 0]))
                joint = joint if surprise else solve_believing()
            weight = abs(float(joint.values[0])) * float(np.linalg.norm(self._gravity))
            nuisances, deviations = list_nuisances(joint.values, joint.covariance, self._settings)
            misfit = find_misfit(joint, weight, self._settings)
            covariance = joint.covariance[:LOAD, :LOAD]
            if not misfit:  # what is an error need not be an interval, too
                covariance = covariance + find_pull(joint, weight, self._settings, self._gravity)
                covariance = covariance + find_shift(joint.values[:LOAD], nuisances)
            either_sign, unsigned = find_sign_doubt(joint.values[:LOAD], covariance, sign)
            solution = Solution(
                stamp=stamp,
                mode=mode,
                values=factor * joint.values[:LOAD],
                covariance=covariance + either_sign,
                rows=rows,
                fit=fit,
                repeatability=joint.repeatability[:LOAD, :LOAD],
            )
            sensor = WristSensor(
                sign=sign,
                bias=joint.values[LOAD:UNKNOWNS],
                bias_covariance=joint.covariance[LOAD:UNKNOWNS, LOAD:UNKNOWNS],
                noise_density=noise_density,
                noise_calibrated=noise_calibrated,
                variance_inflation=float(joint.inflation.mean()),
                nuisances=nuisances,
                nuisance_deviations=deviations,
                contact_share=contact_share,
                doubt=joint.doubt,
            )
            wrong = check_convention() + found + damaged + surprise
            if not has_error(wrong):
                as_set = list_nuisances(joint.values, joint.undoubted, self._settings)[1]
                wrong += find_nuisances(nuisances, as_set, self._settings, self._gravity)
                wrong += (SUSPECTED,) if suspects_change else (*misfit, *unsigned)
            return judge_load(solution, self.frame, wrong, tool, sensor)

        return judge

    def _expect(self, factor: float, tool: Tool | None) -> tuple[float, float] | None:
        """Mass in the driver's sign and its standard deviation, once something was attached where that is expected."""
        if self.expected is None or not self._is_attached or self._sign.sign is None:
            return None
        mass, variance = (0.0, 0.0) if tool is None else (float(tool.phi[0]), float(tool.covariance[0, 0]))
        return factor * (mass + self.expected.mass), float(np.sqrt(variance + self.expected.deviation**2))

    def capture_tool(self, is_paused: bool) -> Tool:
        """Keep what is carried now as the tool; from then on the load is what comes on top of it.

        Raises:
            NotIdentifiedError: while mass or centre of mass of what is carried are not known, while paused, and while
                the wrench does not fit what is known; the tool is the one before then.
        """
        if is_paused or self._estimator.mode is not Mode.TRACKING:
            state = "learning is paused" if is_paused else "the wrench is inconsistent with what is known (contact)"
            raise NotIdentifiedError(f"a tool cannot be captured while {state}: try again when that is over")
        carried = self._prepare(0, False, None)()
        unknown = [
            name
            for name, state in zip(("mass", "mcx", "mcy", "mcz"), carried.states, strict=False)
            if state is not ParameterState.KNOWN
        ]
        if unknown or self._sign.sign is None:
            what = ", ".join(unknown) or "the sign of the wrench"
            raise NotIdentifiedError(
                f"the tool is not identified yet ({what}): turn the sensor into more poses, then capture it"
            )
        self.tool = Tool(carried.values, carried.covariance, self.frame)
        return self.tool

    def prepare_memory(self) -> Callable[[], RememberedLoad | RememberedLinks] | None:
        """What gives all that is worth keeping beyond the end of the process, in any thread; None if there is none."""
        estimator = self._estimator
        if estimator.rows == 0 or estimator.is_on_trial:
            return None
        solve, sign = estimator.prepare_solution(), self._sign.sign
        density, is_calibrated = np.sqrt(self._density), bool(self._noise[CALIBRATED])

        def remember() -> RememberedLoad:
            joint = solve()
            inflation = float(joint.inflation.mean())
            return RememberedLoad(self.frame, sign, joint.values, joint.undoubted, inflation, density, is_calibrated)

        return remember

    def recall(self, remembered: RememberedLoad | RememberedLinks, age: float) -> None:
        """Go on from what was kept so many seconds ago, once the first data confirm it.

        Raises:
            FileFormatError: if it is of another frame.
        """
        if not isinstance(remembered, RememberedLoad) or remembered.frame != self.frame:
            raise FileFormatError(f"the state is not of a sensor in frame '{self.frame}'")
        self._estimator.recall(remembered, age)
        if remembered.noise_calibrated:
            restore_noise(self.rows.memory, remembered.noise_density)
        if self._sign.sign is None:
            self._sign.sign = remembered.sign
        self.rows.set_values(self._estimator.values)

    def _begin_anew(self, stamp: int) -> None:
        """What was recalled is contradicted by the first data."""
        self._estimator.has_forgotten = False
        self._sign = WrenchSign(self._configured_sign)
        self._health.report("state", "state_contradicted", stamp)

    def freeze(self, values: FloatArray, uncertainty: Uncertainty | None = None) -> None:  # noqa: ARG002
        """Predict with these [phi (10), bias (6)], in the driver's own sign."""
        self._estimator.values = np.array(values, dtype=np.float64)
        self.rows.set_values(self._estimator.values)

    def reset(self) -> None:
        """Forget the load, the bias and the findings; the tool and the noise calibration stay."""
        self._estimator.reset()
        self._is_attached = False
        self._faults.believe()
        self._kept.clear()
        self._convention.restart()
        self._sign = WrenchSign(self._configured_sign)
        self._fit, self._rows_taken, self._rows_in_contact = RowFit(len(WRENCH_NAMES)), 0, 0
        self.rows.restart()
        self.rows.set_values(self._estimator.values)
