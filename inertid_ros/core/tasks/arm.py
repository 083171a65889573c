"""The links of an arm by the efforts of its joints, the wrench under its base, or both."""

from __future__ import annotations

import copy
from collections.abc import Callable

import numpy as np

from inertid_ros.core.checks.effort_convention import EffortCheck
from inertid_ros.core.checks.effort_faults import EffortFaults
from inertid_ros.core.checks.energy_balance import EnergyCrossCheck
from inertid_ros.core.compiled import specialise
from inertid_ros.core.diagnosis import Finding, Health
from inertid_ros.core.equations.arm import GEAR
from inertid_ros.core.equations.equation import Equation
from inertid_ros.core.equations.model import LinkModel
from inertid_ros.core.errors import FileFormatError
from inertid_ros.core.estimation.change import Decision
from inertid_ros.core.estimation.estimate import (
    Fit,
    LinksEstimate,
    LoadEstimate,
    Mode,
    Solution,
    judge_links,
)
from inertid_ros.core.estimation.information import SquareRootInformation
from inertid_ros.core.estimation.kinematic_errors import KinematicErrors
from inertid_ros.core.estimation.live_predictor import LivePredictor, Prediction
from inertid_ros.core.estimation.remembered import RememberedLinks, RememberedLoad
from inertid_ros.core.estimation.reweighted import ReweightedEstimator, Uncertainty, WeightedSolution
from inertid_ros.core.estimation.systematic_links import Nuisances
from inertid_ros.core.input.inputs import ArmInput
from inertid_ros.core.input.segments import Segment
from inertid_ros.core.records import Event, FloatArray, IntArray, Output, RowOutput
from inertid_ros.core.robot.robot import Robot
from inertid_ros.core.rows.advance import INTERVAL
from inertid_ros.core.rows.energy import EnergyRowSource, RowFit, Work
from inertid_ros.core.rows.rounding import find_rounding, make_rounding
from inertid_ros.core.rows.rows import Filters, Rows
from inertid_ros.core.rows.tilt import AXES, LEVEL, GravityTilt
from inertid_ros.core.settings.choices import Method
from inertid_ros.core.settings.settings import LinksSettings, Settings
from inertid_ros.core.static.rest_poses import StaticWrench
from inertid_ros.core.tasks.arm_rows import (
    ADD_WORK,
    BLOCK_OVER,
    DEVIATION,
    FILL,
    FOLD,
    MEASURED,
    PREDICTED,
    RECORD,
    RECORDED,
    SENSE,
    SPREAD,
    USABLE,
    WINDOW_OVER,
    Predicted,
    use_row,
)

INTERVALS_PER_SOLUTION = 25
"""Once in so many decision intervals (0.5 s) the unknowns are solved for: predictions need no more."""
_GROWN = 1.05
"""Factor by which rows must have grown since the last solution: one that lacks a twentieth of them is as good, to a
fortieth of its standard deviations."""
_WANDER = 0.2
"""How far friction may wander while it is recorded, over how far its shape may be from the model's: with the default, a
tenth of it. Gears that warm up lose a third in minutes, which is 9 % root mean square from the mean."""
_GEAR = 0.2
"""Part of its torque that a gear may take, over how far friction may be from the model's: with the default, a tenth, of
the order of harmonic drives under load."""
_TRIAL = 100
"""Rows (2 s of motion) that an arm known from before a restart must predict."""
_CONTRADICTED = 9.0
"""Times what it lets expect, in squares, that an arm may leave of them: three standard deviations."""
_NOTHING = Decision(False)
_NO_WORK = Work(np.zeros(0), 0.0, 0.0)
"""Where work is not added up."""


class ArmTask:
    """Takes the rows of an arm, and keeps what all its uses share.

    Attributes:
        model: the arm, and which combinations of its parameters can be identified.
        estimator: what holds the information; that of several recordings adds up.
        deviation: standard deviations (K,) of what is predicted, at the newest row; None before the first.
    """

    def __init__(
        self,
        robot: Robot,
        settings: Settings,
        model: LinkModel,
        equation: Equation,
        prior: SquareRootInformation,
        health: Health,
        static: StaticWrench | None = None,
        tilt: GravityTilt | None = None,
        predictor: LivePredictor | None = None,
    ) -> None:
        """Put inputs, rows, estimator and checks together; without a predictor, predictions are the estimator's own."""
        links = settings.links
        joints = self._joints = len(model.arm.joint_names)
        self.model = model
        self._own_prior, self._health, self._trial = prior, health, 0
        self._method = Method(links.method)
        filters = Filters(
            links.filter_cutoff, links.smoothing_cutoff, links.differentiation_cutoff, links.integral_window
        )
        self.input = ArmInput(robot, model.arm, links, health, static)
        self.rows = Rows(equation, joints, self._method, filters)
        self._energy_rows = EnergyRowSource(model, links) if self._method is Method.ENERGY else None
        self._least, self._rounding = _list_floors(links, model), make_rounding(len(model.channels))
        floors = self._floors = self._least.copy()
        self._fit: RowFit | None = None
        used, correlation = equation.used, self.rows.correlation
        if self._energy_rows is not None:
            used, correlation = (np.arange(len(equation.unknowns)),), self._energy_rows.correlation
            self._fit = RowFit(len(floors))
            floors = self._least[:1]
        self._nuisances = len(equation.unknowns) - len(prior.factor)
        self._links = int((model.base.columns < model.unknowns.inertial.stop).sum())
        self._gears = _list_gears(model, equation)
        nuisances, kinematics = None, None
        if self._nuisances:
            kinematics = _make_kinematics(links, model)
            nuisances = _list_nuisances(links, model, equation, tilt, len(self._gears), self._links)
            used = _list_used(equation, nuisances, tilt, self._gears)
        self.estimator = ReweightedEstimator(used, prior, floors, correlation, nuisances, kinematics)
        self._predictor = predictor
        self._shrunk: Prediction | None = None
        self._predict()
        has_efforts = model.source.has_efforts
        self._check = EffortCheck(model.arm) if has_efforts else None
        self._faults = EffortFaults(model.arm.joint_names, health)
        self._energy = None
        if model.source.has_efforts and not model.source.has_base_wrench and self._energy_rows is None:
            self._energy = EnergyCrossCheck(model, links, INTERVAL * 1e-9)
        self._drives = np.ascontiguousarray(equation.drives)
        self._first_effort = len(model.channels) - joints
        self._first_late = self._first_effort if has_efforts else 0
        self._solved_rows = 0
        self._settled_at = -np.inf
        self._tilt, self._tilt_variance = tilt, links.tilt_uncertainty**2
        self._tilted = LEVEL if tilt is None else tilt.memory
        # Windows of the integral method have no columns of nuisances: what is unknown of them stays unknown.
        self._fold = FILL | FOLD if self._nuisances and self._method is not Method.INTEGRAL else FOLD
        self._work = _NO_WORK if self._energy is None else self._energy.work
        self._use_row = self._specialise_use_row()
        self._recorded: list[tuple[int, FloatArray]] = []
        self.deviation: FloatArray | None = None
        empty = np.empty((0, len(model.channels)))
        self._no_rows = RowOutput(np.empty(0, dtype=np.int64), empty, empty, empty > 0.0, empty)

    def _specialise_use_row(self) -> Callable[..., int]:
        rows, table = self.rows, np.empty((1, 1))
        known = Predicted(self._values, self._root, self._left), self.estimator.fitted, self._work, self._tilted
        which = self._gears, 0, 0, self._rounding
        return specialise(use_row, rows.own_floats, rows.own_integers, table, self._drives, *known, *which, table, 0)

    def begin(self, segment: Segment) -> int:
        """Carry a segment through up to its first row."""
        if segment.starts_anew:
            self._restart()
        if self._energy_rows is not None:
            self._energy_rows.begin(segment)
        return self.rows.begin(segment)

    def take_rows(self, segment: Segment, position: int, is_paused: bool) -> tuple[int, Decision]:
        """Fold a row in, and solve once in a while."""
        return position, self._take_row(segment, position, is_paused)

    def _take_row(self, segment: Segment, position: int, is_paused: bool) -> Decision:
        row, stamp = self.rows.row, segment.stamps.item(position)
        sample, is_old = segment.samples[position], row.is_old.item(0) != 0.0
        if self._check is not None and not is_old:
            self._check_efforts(self._check, segment, position)
        record = np.empty((len(RECORDED), len(row.readings)))
        steps = RECORD if is_paused or self._energy is None else RECORD | ADD_WORK
        folds = not (is_paused or is_old or self._energy_rows)
        if folds and self._trial == 0:
            steps |= self._fold
        if self._energy is not None and segment.starts_anew and position == 0 and not is_paused:
            self._energy.restart()
        rest = self._use(sample, record, steps)
        self.deviation = record[DEVIATION]
        self._recorded.append((stamp, record))
        if is_paused:
            return _NOTHING
        if rest & WINDOW_OVER and self._energy is not None:
            self._energy.end_window(sample)
        if self._trial > 0 and not is_old:
            self._compare(record, stamp)
            rest = self._use(sample, record, self._fold) if folds else rest
        decision = _NOTHING
        if not is_old:
            if self._energy_rows is not None and self._fit is not None:
                self.estimator.take(self._energy_rows.row_at(sample.item(0)), record[USABLE].min(keepdims=True))
                self._fit.take(record)
            else:
                self.estimator.note_row(rest & BLOCK_OVER != 0)
                self.estimator.keep_state(sample, self._joints)
            decision = self._test(row.equations, row.usable)
        if stamp // INTERVAL % INTERVALS_PER_SOLUTION == 0 and self.estimator.rows > _GROWN * self._solved_rows:
            self._solve(sample.item(0))
        return decision

    def _use(self, sample: FloatArray, record: FloatArray, steps: int) -> int:
        """Take some steps with a row, see `arm_rows.use_row`; columns of a delay once the filters have settled."""
        rows, estimator, time = self.rows, self.estimator, sample.item(0)
        if steps & FILL and self._settled_at == -np.inf:
            self._settled_at = time + rows.settling
        first_late = self._first_late if time >= self._settled_at else len(record[0])
        predicted = Predicted(self._values, self._root, self._left)
        known = predicted, estimator.fitted, self._work, self._tilted
        memory = rows.own_floats, rows.own_integers
        which = self._gears, self._links, first_late, self._rounding
        rest = self._use_row(*memory, sample[None], self._drives, *known, *which, record, steps)
        if steps & FILL:
            estimator.keep_row(rows.row.equations, record[USABLE], record[SENSE])
        return rest

    def _check_efforts(self, check: EffortCheck, segment: Segment, position: int) -> None:
        """Compare efforts with what they should be; those that are stuck are not usable."""
        first, positions, velocities = self._first_effort, segment.positions[position], segment.velocities[position]
        efforts, bad = segment.readings[position, first:], segment.bad[position, first:]
        gravity = check.find_gravity(positions)
        faulty = self._faults.take(segment.stamps.item(position), efforts, gravity, velocities, bad)
        if faulty is not None:
            self.rows.row.usable[first:][faulty] = 0.0
            self.rows.memory.last_bad[first:][faulty] = segment.samples.item(position, 0)
            bad = np.maximum(bad, faulty)
        check.take(positions, gravity, efforts, bad)

    def _solve(self, time: float) -> None:
        rounded = np.sqrt(find_rounding(self._rounding, self.rows.correlation))
        self._floors[:] = np.hypot(self._least, rounded)  # the estimator's own
        solution = self.estimator.update()
        if self._tilt is not None:
            wrong = np.zeros(len(self.model.channels))
            wrong[self._first_effort :] = self._tilt.set_values(solution.values, solution.inverse)
            self.estimator.discount(self._tilt_variance * wrong)
        self._solved_rows = self.estimator.rows
        if self._energy is not None:
            self._energy.judge(time, solution)
        self._predict(solution)

    def _test(self, equations: FloatArray, usable: FloatArray) -> Decision:  # noqa: ARG002
        """Whether something has changed; links do not."""
        return _NOTHING

    @property
    def _values(self) -> FloatArray:
        """What predictions are made with (U,)."""
        return self.estimator.values if self._shrunk is None else self._shrunk.values

    def _predict(self, solution: WeightedSolution | None = None) -> None:
        """Predict with the estimator's values, shrunk where they are those of a solution; nuisances are zero.

        An arm that was recalled is compared with data as it is before anything else is believed.
        """
        self._shrunk = None
        if self._predictor is not None and solution is not None and self._trial == 0:
            self._shrunk = self._predictor.follow(solution)
        self._root = np.empty((len(self._values), 0)) if self._shrunk is None else self._shrunk.root
        self.rows.set_values(np.concatenate((self._values, np.zeros(self._nuisances))))

    def _restart(self) -> None:
        """The filters restart."""
        self._settled_at = -np.inf
        if self._tilt is not None:
            self._tilt.restart()

    def finish(self, segment: Segment, events: tuple[Event, ...]) -> Output:
        """Readings and predictions as the driver publishes them, and the rows used since the last segment."""
        _, stamps, samples, columns, _ = segment
        measured, predicted, rows = samples[:, columns.readings], samples[:, columns.predicted], self._no_rows
        if self.input.must_restore:
            measured, predicted = self.input.restore(segment, measured), self.input.restore(segment, predicted)
        if self._recorded:
            rows = self._list_rows()
        usable = np.logical_not(samples[:, columns.bad])
        return Output(stamps, measured, predicted, usable, rows, events, self.deviation)

    def _list_rows(self) -> RowOutput:
        """The rows used since the last segment."""
        stamps, records = zip(*self._recorded, strict=True)
        self._recorded, rows = [], np.array(records)
        measured, predicted, usable, deviation = (rows[:, kind] for kind in (MEASURED, PREDICTED, USABLE, DEVIATION))
        return RowOutput(np.array(stamps), measured, predicted, usable > 0.0, deviation)

    def answer(self, waiting: Segment) -> Output:
        """Samples that wait, as the driver publishes them."""
        predicted, usable = waiting.predicted, np.logical_not(waiting.bad)
        if self.input.must_restore:
            predicted = self.input.restore(waiting, predicted)
        return Output(waiting.stamps, waiting.readings, predicted, usable, self._no_rows, (), self.deviation)

    @property
    def _left(self) -> FloatArray:
        """Variances (K,) of what is left of each channel."""
        return self.estimator.noise if self._fit is None else self._fit.residual_rms**2

    def _summarise(
        self, estimator: ReweightedEstimator, fitted: RowFit | None, stamp: int, is_paused: bool
    ) -> Solution:
        """What an estimate is made from."""
        solution = estimator.solve()
        joint, fit, model = estimator.solve_jointly(solution), fitted or solution, self.model
        has_load = len(joint.values) > len(model.prior)
        by_urdf = None if has_load or fitted is not None else estimator.find_rms(model.prior)
        unbiased = np.sqrt(solution.variances) if fitted is None else None
        waiting = Mode.TRACKING if solution.rows.any() else Mode.WAITING
        return Solution(
            stamp=stamp,
            mode=Mode.PAUSED if is_paused else waiting,
            values=joint.values,
            covariance=joint.covariance,
            rows=int(fit.rows.max(initial=0)),
            fit=Fit(model.channels, model.units, fit.rows, fit.residual_rms, fit.measured_rms, by_urdf, unbiased),
            repeatability=joint.repeatability,
            fitted=solution.values,
            fitted_covariance=solution.covariance(),
        )

    def _find(self) -> tuple[Finding, ...]:
        found = () if self._check is None else self._check.findings()
        return self._energy.findings() if not found and self._energy is not None else found

    def prepare_estimate(self, stamp: int, is_paused: bool) -> Callable[[], LinksEstimate | LoadEstimate]:
        """All that is known of the arm."""
        estimator, found, fit = self.estimator.copy(), self._find(), copy.deepcopy(self._fit)
        return lambda: judge_links(self._summarise(estimator, fit, stamp, is_paused), self.model, found)

    def prepare_memory(self) -> Callable[[], RememberedLoad | RememberedLinks] | None:
        """What gives all that is worth keeping beyond the end of the process, in any thread; None if there is none."""
        if self.estimator.rows == 0 or self._trial > 0:
            return None
        estimator, model, fit = self.estimator.copy(), self.model, copy.deepcopy(self._fit)

        def remember() -> RememberedLinks:
            solution = estimator.solve()
            joint = estimator.solve_jointly(solution)
            left = (fit or solution).residual_rms
            return RememberedLinks(model.arm.joint_names, tuple(model.base.texts), joint.values, joint.covariance, left)

        return remember

    def recall(self, remembered: RememberedLoad | RememberedLinks, age: float) -> None:
        """Go on from an arm that was identified so many seconds ago, as long as the first data confirm it.

        Raises:
            FileFormatError: if it has other unknowns: other joints, or other links.* settings.
        """
        model = self.model
        if not isinstance(remembered, RememberedLinks) or remembered.names != tuple(model.base.texts):
            raise FileFormatError("the state is not of these links with these links.* settings")
        self._trial, self._squares = _TRIAL, np.zeros((2, len(remembered.residuals)))
        self._expected = remembered.residuals**2
        self.estimator.replace_prior(remembered.make_prior(age))
        self._predict()

    def _compare(self, record: FloatArray, stamp: int) -> None:
        """Compare a row with what the arm that was recalled predicts of it; in the end, keep or forget that arm."""
        usable = record[USABLE] > 0.0
        self._squares[0] += usable * (record[MEASURED] - record[PREDICTED]) ** 2
        self._squares[1] += usable * (record[SPREAD] + self._expected + self._floors**2)
        self._trial -= 1
        if self._trial == 0 and (self._squares[0] > _CONTRADICTED * self._squares[1]).any():
            self.estimator.replace_prior(self._own_prior)
            self._predict()
            self._health.report("state", "state_contradicted", stamp)

    def freeze(self, values: FloatArray, uncertainty: Uncertainty | None = None) -> None:
        """Predict with these unknowns (U,)."""
        self.estimator.freeze(values, uncertainty)
        self._predict()

    def reset(self) -> None:
        """Forget all that was learned, before a restart as well."""
        self._trial = 0
        if self._predictor is not None:
            self._predictor.reset()
        self.estimator.replace_prior(self._own_prior)
        self.estimator.reset()
        self._solved_rows = 0
        self._restart()
        self.rows.forget_reach()
        self._check = None if self._check is None else EffortCheck(self.model.arm)
        self._fit = None if self._fit is None else RowFit(len(self._fit.rows))
        if self._energy is not None:
            self._energy.reset()
        self.rows.restart()
        self._predict()


def make_links_task(
    robot: Robot, settings: Settings, model: LinkModel, health: Health, static: StaticWrench | None
) -> ArmTask:
    """Identify the base parameters of an arm."""
    prior = SquareRootInformation(model.prior_deviations)
    prior.set_mean(model.prior)
    if settings.links.method == Method.ENERGY:
        return ArmTask(robot, settings, model, model.equation, prior, health, static)
    tilt = _make_tilt(settings.links, model)
    tilts = AXES if tilt is None else len(tilt.deviations)
    equation = model.with_nuisances(settings.links.coulomb_velocity, tilts)
    return ArmTask(robot, settings, model, equation, prior, health, static, tilt, LivePredictor(model))


def _make_tilt(links: LinksSettings, model: LinkModel) -> GravityTilt | None:
    """The columns of a tilt of the base, which only efforts show; None if it is level."""
    if links.tilt_uncertainty == 0.0 or not model.source.has_efforts:
        return None
    if links.method == Method.FILTERED:
        return GravityTilt(model, links.filter_cutoff, links.smoothing_cutoff)
    return GravityTilt(model, links.differentiation_cutoff, links.differentiation_cutoff)


def _list_nuisances(
    links: LinksSettings, model: LinkModel, equation: Equation, tilt: GravityTilt | None, gears: int, inertial: int
) -> Nuisances:
    """What may be systematically wrong with the readings of an arm with so many gears and unknowns of links."""
    places = {name: index for index, name in enumerate(equation.unknowns)}
    names = [(f"{channel}.viscous", f"{channel}.coulomb") for channel in model.channels]
    frictions = [np.array([places[name] for name in own if name in places], dtype=np.int64) for own in names]
    tilts = np.zeros(AXES) if tilt is None else links.tilt_uncertainty * tilt.deviations
    return Nuisances(
        len(equation.unknowns) - len(model.prior),
        tuple(tilts),
        links.delay_uncertainty,
        links.gain_uncertainty,
        links.friction_uncertainty,
        _WANDER * links.friction_uncertainty,
        tuple(frictions),
        gears,
        _GEAR * links.friction_uncertainty,
        inertial,
    )


def _make_kinematics(links: LinksSettings, model: LinkModel) -> KinematicErrors | None:
    """What may be wrong with places and axes of joints; None if they are exact."""
    places = links.place_uncertainty, links.axis_uncertainty
    return KinematicErrors(model, *places, links.tilt_uncertainty, links.gain_uncertainty) if any(places) else None


def _list_gears(model: LinkModel, equation: Equation) -> IntArray:
    """For each joint the unknown of its Coulomb friction and the column of its gear (n, 2); (0, 2) without columns."""
    places = {name: index for index, name in enumerate(equation.unknowns)}
    names = [(f"{joint}.coulomb", f"{joint}.{GEAR}") for joint in model.arm.joint_names]
    listed = [(places[coulomb], places[gear]) for coulomb, gear in names if gear in places]
    return np.array(listed, dtype=np.int64).reshape(-1, 2)


def _list_used(
    equation: Equation, nuisances: Nuisances, tilt: GravityTilt | None, gears: IntArray
) -> tuple[IntArray, ...]:
    """For each channel the unknowns that can be in it, then the nuisances."""
    channels, shared = len(equation.channels), len(nuisances.tilts) + 1
    shows = np.ones((channels, shared), dtype=bool)
    if tilt is not None:
        shows[channels - len(tilt.shows) :, :-1] = tilt.shows
        shows[: channels - len(tilt.shows), AXES:-1] = False
    last = len(equation.unknowns) - shared + np.arange(shared)
    geared = np.split(gears[:, 1], len(gears)) if len(gears) else []
    none = [gears[:0, 1]] * (channels - len(geared))
    parts = zip(equation.used, [*none, *geared], shows, strict=True)
    return tuple(np.concatenate((own, gear, last[shown])) for own, gear, shown in parts)


def _list_floors(links: LinksSettings, model: LinkModel) -> FloatArray:
    """Smallest standard deviations (K,) of the channels' rows that are believed."""
    base = [links.noise_floor_force] * 3 + [links.noise_floor_torque] * 3
    efforts = [links.noise_floor_effort] * len(model.arm.joint_names)
    source = model.source
    return np.array((base if source.has_base_wrench else []) + (efforts if source.has_efforts else []))
