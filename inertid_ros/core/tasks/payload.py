"""A load that an identified arm carries, by the efforts of its joints.

It is the arm with an informative prior, its covariance included, and ten more unknowns on the link that carries it:
what is not known of the arm makes the load uncertain by itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from inertid_ros.core.diagnosis import Finding, Health
from inertid_ros.core.equations.load import LOAD, PRIOR_LOAD
from inertid_ros.core.equations.model import IdentifiedArm, LinkModel
from inertid_ros.core.errors import SettingError
from inertid_ros.core.estimation.change import Decision, describe_change, find_probability
from inertid_ros.core.estimation.estimate import LinksEstimate, LoadEstimate, judge_load
from inertid_ros.core.estimation.information import SquareRootInformation
from inertid_ros.core.estimation.reweighted import ReweightedEstimator, WeightedSolution
from inertid_ros.core.records import EventKind, FloatArray
from inertid_ros.core.robot.robot import Robot
from inertid_ros.core.settings.choices import Method, Source
from inertid_ros.core.settings.settings import Settings
from inertid_ros.core.tasks.arm import ArmTask

_EXACT = 1e-6
"""Standard deviation of an arm whose covariance is not known, as a part of what an arm of its size can have: as good
as exact, and far from rounding."""
_WINDOW = 100
"""Rows (2 s of motion) over which a change of the load is tested: gravity shows in less."""
_ESTABLISHED = 3
"""Windows that a load must be known from before a change is looked for: the first ones of a motion tell too little."""
_CHANGED = 60.0
"""Likelihood ratio (chi-square) beyond which a load has changed: ten parameters reach 30 in one of a thousand windows
by noise, and real arms twice that by what their friction does."""
_WORSE = 2.0
"""The load before must leave so many times what another one leaves; model errors leave as much of both."""
_DIFFERENT = 5.0
"""Standard deviations by which the masses before and after must differ: friction makes rows less than independent."""
_MIXED = 0.1
"""A mass below this part of the other is that of no load: the last window before a change is noticed may have a part of
the load after it."""
_NO_MASS = 0.1
"""Masses down to this [kg] below zero are within what any arm's friction can do."""
_NOTHING = Decision(False)


class PayloadTask(ArmTask):
    """Identifies the load that an identified arm carries.

    Attributes:
        frame: to which the load is fixed.
    """

    def __init__(self, robot: Robot, settings: Settings, arm: IdentifiedArm, health: Health) -> None:
        """Put a load on an arm.

        Raises:
            SettingError: if the arm was identified with other settings than these, or efforts are not used at all.
            RobotDescriptionError: if the URDF has not the arm's joints or not the load's frame.
        """
        links, self.frame = settings.links, settings.load.sensor_frame
        if links.source == Source.BASE_WRENCH:
            raise SettingError("links.source", "base_wrench", "effort or both with load.source effort")
        if links.method == Method.ENERGY:
            raise SettingError("links.method", "energy", "another method than energy with load.source effort")
        if not self.frame:
            raise SettingError("load.sensor_frame", "", "the frame that the load is fixed to, with load.source effort")
        model = LinkModel.from_settings(robot, settings, arm.joint_names)
        expected = tuple(model.base.names[column] for column in model.base.columns)
        if expected != arm.names:
            other = sorted(set(expected) ^ set(arm.names))
            raise SettingError(
                "load.arm_file",
                settings.load.arm_file,
                f"an estimate made with this URDF and these links.* settings; it differs in {', '.join(other[:6])}",
            )
        equation = model.with_payload(self.frame, links.coulomb_velocity)
        super().__init__(robot, settings, model, equation, _make_prior(arm, model), health)
        self._energy = None
        self._recent = self.estimator.like()
        self._rows_in_window = 0
        self._before_window: WeightedSolution | None = None

    def _test(self, equations: FloatArray, usable: FloatArray) -> Decision:
        """Compare, once a window, what the present load leaves of its rows with what another one would."""
        self._recent.take(equations, usable)
        self._rows_in_window += 1
        if self._rows_in_window < _WINDOW:
            return _NOTHING
        self._rows_in_window = 0
        recent, kept = self._recent, self._before_window
        self._recent, self._before_window = recent.like(), self.estimator.solve()
        if kept is None or kept.rows.max() < _ESTABLISHED * _WINDOW:
            return _NOTHING
        other = recent.solve()
        leaves, would_leave = recent.misfit(kept.values, kept), recent.misfit(other.values, kept)
        masses = float(kept.values[-LOAD]), float(other.values[-LOAD])
        variances = [solution.covariance()[-LOAD, -LOAD] for solution in (kept, other)]
        is_other = abs(masses[1] - masses[0]) > _DIFFERENT * float(np.sqrt(sum(variances)))
        if not is_other or leaves - would_leave < _CHANGED or leaves < _WORSE * would_leave:
            return _NOTHING
        self.estimator, self._solved_rows, self._before_window = recent, 0, None
        self.estimator.update()
        self._predict()
        evidence = 0.5 * (leaves - would_leave - LOAD * math.log(_WINDOW))  # Bayes factor after Schwarz
        confidence = find_probability(evidence, 0.0)
        decision = Decision(False, EventKind.LOAD_CHANGED, "", confidence, masses)
        return describe_change(decision, _MIXED)

    def prepare_memory(self) -> None:
        """Nothing is kept: the arm has a file of its own, and by efforts a load is found as soon as the arm moves."""

    def prepare_estimate(self, stamp: int, is_paused: bool) -> Callable[[], LinksEstimate | LoadEstimate]:
        """All that is known of the load."""
        estimator, found = self.estimator.copy(), self._find()
        return lambda: self._judge(estimator, found, stamp, is_paused)

    def _judge(
        self, estimator: ReweightedEstimator, found: tuple[Finding, ...], stamp: int, is_paused: bool
    ) -> LoadEstimate:
        whole = self._summarise(estimator, None, stamp, is_paused)
        values, covariance = whole.values[-LOAD:], whole.covariance[-LOAD:, -LOAD:]
        mass, deviation = float(values[0]), float(np.sqrt(covariance[0, 0]))
        if mass < -max(_NO_MASS, _DIFFERENT * deviation) and not found:
            message = (
                f"the mass is negative ({mass:.3f} kg): the arm of load.arm_file carried more than this one does, or "
                "the efforts are not those of the same arm"
            )
            found = (Finding("error", "negative_mass", message),)
        repeatability = whole.repeatable[-LOAD:, -LOAD:]
        whole = replace(whole, values=values, covariance=covariance, repeatability=repeatability)
        return judge_load(whole, self.frame, found)

    def reset(self) -> None:
        """Forget the load."""
        super().reset()
        self._recent, self._rows_in_window, self._before_window = self._recent.like(), 0, None


def _make_prior(arm: IdentifiedArm, model: LinkModel) -> SquareRootInformation:
    """What is known of an arm and its load before any data: the arm with its covariance, of the load nothing."""
    count = len(arm.values)
    exact = np.diag((_EXACT * model.prior_deviations) ** 2)
    covariance = arm.covariance + exact
    scale = np.sqrt(np.diag(covariance))
    lower = np.linalg.cholesky(covariance / np.outer(scale, scale))
    root = np.linalg.solve(lower, np.diag(1.0 / scale))
    rows = np.zeros((count + LOAD + 1, count + LOAD + 1))
    rows[:count, :count] = root
    rows[:count, -1] = root @ arm.values
    rows[count:-1, count:-1] = np.diag(1.0 / PRIOR_LOAD)
    return SquareRootInformation.from_rows(rows)
