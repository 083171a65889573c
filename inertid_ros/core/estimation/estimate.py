"""What is known, judged: the one place where a solution becomes an estimate.

A solution is values with a covariance that is already widened. What follows from it is the same for a single recording
and for the sum of several, for a wrist sensor and for efforts: the tool is subtracted, parameters get their states, the
nearest physically consistent body is found, findings of the checks are united, and an error among them demotes what
would be known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from inertid_ros.core.diagnosis import Finding, has_error, unite_findings
from inertid_ros.core.equations.base_parameters import BaseParameters
from inertid_ros.core.equations.model import LinkModel
from inertid_ros.core.estimation.chi_square import find_tail
from inertid_ros.core.estimation.information import SquareRootInformation, invert_root, make_definite
from inertid_ros.core.estimation.states import ParameterState, demote, judge_link_parameters, judge_load_parameters
from inertid_ros.core.records import FloatArray, IntArray, Name
from inertid_ros.core.rigid_body.description import RigidBodyEstimate, describe_body
from inertid_ros.core.rigid_body.feasibility import nearest_feasible
from inertid_ros.core.rigid_body.inertial import PARAMETER_NAMES, Tool, subtract

_IMPOSSIBLE = 100.0
"""Chi-square distance to the nearest physically consistent body that ten parameters never reach by noise."""
CONTRADICTION = "recordings_contradict"
"""Code of the finding that recordings are not of one load."""
CHANGE_SUSPECTED = "change_suspected"
NOT_RIGID = "not_rigid"
"""Code of the finding that something other than a rigid load acts on the sensor."""
_CONFIDENCE = 0.999
"""Recordings contradict each other beyond this quantile of chi-square: one false alarm in a thousand."""


class Mode(Name):
    """What the estimator does."""

    WAITING = "waiting"
    TRACKING = "tracking"
    TESTING = "testing"
    CONTACT = "contact"
    PAUSED = "paused"


class Sign(Name):
    """Which of two opposite wrenches a driver publishes."""

    ON_LOAD = "on_load"
    ON_SENSOR = "on_sensor"

    @property
    def factor(self) -> float:
        """What turns a published wrench into the one that the sensor exerts on the load."""
        return -1.0 if self is Sign.ON_SENSOR else 1.0


@dataclass(frozen=True, slots=True)
class Fit:
    """How well K channels are explained.

    Attributes:
        channels, units: their names, and N or Nm.
        rows: (K,) how many rows of each.
        residual_rms, measured_rms: (K,) of the filtered rows so far, of a wrist sensor the last half minute or so of
            them; there, what is measured is without the bias.
        urdf_rms: (K,) what the URDF alone leaves of them, where that is known.
        unbiased_rms: (K,) what the fit would leave of rows that it has not seen if all unknowns were known: the
            residuals over the degrees of freedom that they have, not over all rows; where that is known.
    """

    channels: tuple[str, ...]
    units: tuple[str, ...]
    rows: IntArray
    residual_rms: FloatArray
    measured_rms: FloatArray
    urdf_rms: FloatArray | None = None
    unbiased_rms: FloatArray | None = None

    @property
    def noise(self) -> FloatArray:
        """Standard deviations (K,) of rows of other motions, besides what is uncertain of their predictions."""
        return self.residual_rms if self.unbiased_rms is None else self.unbiased_rms


@dataclass(frozen=True, slots=True)
class WristSensor:
    """What is known of a wrist force/torque sensor.

    Attributes:
        sign: which wrench the driver publishes, None while that is not certain.
        bias: (6,) in the driver's sign.
        bias_covariance: (6, 6).
        noise_density: (6,) N/sqrt(Hz) and Nm/sqrt(Hz) at standstill.
        noise_calibrated: whether the robot has stood still long enough to measure it.
        variance_inflation: variance of the residuals over what noise explains; 1 if the model is perfect.
        nuisances, nuisance_deviations: (45,) what is systematically wrong: delay [s], tilts [rad] (2), gains and
            cross-talk (36), and rotation [rad] and offset [m] of the sensor (6), see `nuisances`; None where unknown.
        contact_share: part of the rows that were taken in contact, and not used.
        doubt: by how much worse than is set the sensor seems to be, by what is seen of its nuisances.
    """

    sign: Sign | None
    bias: FloatArray
    bias_covariance: FloatArray
    noise_density: FloatArray
    noise_calibrated: bool
    variance_inflation: float
    nuisances: FloatArray | None = None
    nuisance_deviations: FloatArray | None = None
    contact_share: float = 0.0
    doubt: float = 1.0


@dataclass(frozen=True, slots=True)
class Estimate:
    """What is known of some parameters.

    Attributes:
        stamp: of the newest sample used, nanoseconds; 0 before the first.
        mode: what the estimator does.
        names: of the U parameters.
        values: (U,).
        covariance: (U, U), the accuracy: noise, and systematic error of sensor and mounting.
        repeatability: (U, U), the part of it that noise causes: what repetitions on the same sensor show.
        states: (U,) whether each can be trusted.
        findings: what the data say against the configuration.
        rows: how many rows have been used; of the channel that has most.
        fit: how well the channels are explained, where that is known.
    """

    stamp: int
    mode: Mode
    names: tuple[str, ...]
    values: FloatArray
    covariance: FloatArray
    repeatability: FloatArray
    states: tuple[ParameterState, ...]
    findings: tuple[Finding, ...]
    rows: int
    fit: Fit | None

    @property
    def deviations(self) -> FloatArray:
        """Standard deviations (U,): how far from the truth."""
        return np.asarray(np.sqrt(np.diag(self.covariance)))

    @property
    def repeatable_deviations(self) -> FloatArray:
        """Standard deviations (U,) of repetitions on the same sensor."""
        return np.asarray(np.sqrt(np.diag(self.repeatability)))

    @property
    def is_finite(self) -> bool:
        """Whether all of it is finite numbers."""
        return bool(np.isfinite(self.values).all() and np.isfinite(self.covariance).all())


@dataclass(frozen=True, slots=True)
class LoadEstimate(Estimate):
    """The ten parameters of a load.

    Attributes:
        frame: in which they are given.
        feasible: (10,) nearest physically consistent parameters, in the information metric.
        tool: what was subtracted.
        sensor: the wrist sensor; None where the load is identified from efforts.
    """

    frame: str
    feasible: FloatArray
    tool: Tool | None
    sensor: WristSensor | None

    @property
    def known_body(self) -> RigidBodyEstimate | None:
        """The nearest feasible body with its uncertainty, or None until its mass and centre of mass are known."""
        is_known = all(state is ParameterState.KNOWN for state in self.states[:4])
        return describe_body(self.feasible, self.covariance) if is_known else None

    @property
    def is_finite(self) -> bool:
        """Whether all of it is finite numbers."""
        sensor = self.sensor
        parts = [self.values, self.covariance, self.feasible]
        parts += [] if sensor is None else [sensor.bias, sensor.bias_covariance, sensor.noise_density]
        return all(bool(np.isfinite(part).all()) for part in parts)


@dataclass(frozen=True, slots=True)
class LinksEstimate(Estimate):
    """The base parameters of an arm.

    Attributes:
        model: the arm, and which combinations the base parameters are.
        fitted, fitted_covariance: (U,), (U, U) the values that explain these data best with nothing else known: in them
            is what the values owe to gains, delay and shape of friction, which are estimated apart from these.
    """

    model: LinkModel
    fitted: FloatArray
    fitted_covariance: FloatArray

    @property
    def base(self) -> BaseParameters:
        """Which combinations the values are."""
        return self.model.base


@dataclass(frozen=True, slots=True)
class Solution:
    """What an estimator knows, before anybody judges it.

    Attributes:
        stamp: of the newest sample used, nanoseconds.
        mode: what the estimator does.
        values: (U,).
        covariance: (U, U), widened by all that noise alone does not explain.
        rows: how many rows have been used.
        fit: how well the channels are explained, where that is known.
        repeatability: (U, U) the part of the covariance that noise alone causes; all of it if None.
        fitted, fitted_covariance: (U,), (U, U) the values that explain the data best, where they are others.
    """

    stamp: int
    mode: Mode
    values: FloatArray
    covariance: FloatArray
    rows: int
    fit: Fit | None
    repeatability: FloatArray | None = None
    fitted: FloatArray | None = None
    fitted_covariance: FloatArray | None = None

    @property
    def repeatable(self) -> FloatArray:
        """The part of the covariance (U, U) that noise causes."""
        return self.covariance if self.repeatability is None else self.repeatability


def judge_load(
    solution: Solution,
    frame: str,
    findings: Sequence[Finding],
    tool: Tool | None = None,
    sensor: WristSensor | None = None,
) -> LoadEstimate:
    """Make an estimate of a load from a solution for the ten parameters of all that is carried, the tool included."""
    values, covariance, repeatability = solution.values, solution.covariance, solution.repeatable
    if tool is not None:
        repeatability = subtract(values, repeatability, tool)[1]
        values, covariance = subtract(values, covariance, tool)
    covariance, repeatability = make_definite(covariance), make_definite(repeatability)
    root = invert_root(covariance)
    information = root.T @ root
    feasible = nearest_feasible(values, information)
    states = judge_load_parameters(values, covariance)
    others = [finding for finding in findings if finding.code != NOT_RIGID]
    if not has_error(others) and all(finding.code != CONTRADICTION for finding in others):
        excess = values - feasible
        is_known = ParameterState.KNOWN in states
        if is_known and float(excess @ information @ excess) >= _IMPOSSIBLE:
            findings = (*findings, _NO_BODY)
    is_doubted = has_error(findings) or any(finding.code == CHANGE_SUSPECTED for finding in findings)
    return LoadEstimate(
        stamp=solution.stamp,
        mode=solution.mode,
        names=PARAMETER_NAMES,
        values=values,
        covariance=covariance,
        repeatability=repeatability,
        states=demote(states) if is_doubted else states,
        findings=tuple(findings),
        rows=solution.rows,
        fit=solution.fit,
        frame=frame,
        feasible=feasible,
        tool=tool,
        sensor=sensor,
    )


def judge_links(solution: Solution, model: LinkModel, findings: Sequence[Finding]) -> LinksEstimate:
    """Make an estimate of an arm's base parameters from a solution."""
    states = judge_link_parameters(model, solution.values, solution.covariance)
    return LinksEstimate(
        stamp=solution.stamp,
        mode=solution.mode,
        names=tuple(model.base.names[column] for column in model.base.columns),
        values=solution.values,
        covariance=make_definite(solution.covariance),
        repeatability=make_definite(solution.repeatable),
        states=demote(states) if has_error(findings) else states,
        findings=tuple(findings),
        rows=solution.rows,
        fit=solution.fit,
        model=model,
        fitted=solution.values if solution.fitted is None else solution.fitted,
        fitted_covariance=solution.covariance if solution.fitted_covariance is None else solution.fitted_covariance,
    )


def combine_loads(parts: Sequence[LoadEstimate]) -> LoadEstimate:
    """Add up the information of several recordings of one load: matrices and vectors.

    Each recording has a bias of its own, which is eliminated: with covariance C_i of the ten parameters x_i alone,
    the sum is C = (Σ C_i⁻¹)⁻¹ and x = C Σ C_i⁻¹ x_i, computed by orthogonal transformations of L_i⁻¹ [1, x_i] with
    L_i L_iᵀ = C_i. C_i are the repeatabilities. What is systematic, S_i, is the same in all and does not average out:
    with M_i the root of S_i and W_i = C C_i⁻¹ the weight of a recording, that of the sum is (Σ W_i M_i) (Σ W_i M_i)ᵀ.
    The tool, which is the same in all, is subtracted afterwards. Findings of all recordings belong to the sum; sensor,
    mode and all else are those of the last recording.
    """
    last = parts[-1]
    if len(parts) == 1:
        return last
    count = len(PARAMETER_NAMES)
    total, roots = SquareRootInformation(np.full(count, np.inf)), []
    for part in parts:
        values, repeatability = part.values, part.repeatability
        if part.tool is not None:
            values, repeatability = values + part.tool.phi, repeatability - part.tool.covariance
        roots.append(invert_root(repeatability))
        total.fold_in(np.asfortranarray(np.column_stack((roots[-1], roots[-1] @ values))))
    findings = unite_findings(part.findings for part in parts)
    findings += _find_contradiction(total.squares_left, count * (len(parts) - 1))
    rows_used = sum(part.rows for part in parts)
    repeatability = total.covariance()
    shift = np.zeros((count, count))
    for part, root in zip(parts, roots, strict=True):
        shift += repeatability @ root.T @ root @ _find_root(part.covariance - part.repeatability, repeatability)
    covariance = repeatability + shift @ shift.T
    solution = Solution(last.stamp, last.mode, total.solve(), covariance, rows_used, last.fit, repeatability)
    return judge_load(solution, last.frame, findings, last.tool, last.sensor)


def _find_root(covariance: FloatArray, scale: FloatArray) -> FloatArray:
    """Root M (n, n) with M Mᵀ = C of a covariance that rounding may have made indefinite, in units of another one."""
    units = np.sqrt(np.diag(scale))
    variances, directions = np.linalg.eigh(covariance / np.outer(units, units))
    return np.asarray(units[:, None] * directions * np.sqrt(np.maximum(variances, 0.0)) @ directions.T)


def combine_links(parts: Sequence[LinksEstimate], solution: Solution) -> LinksEstimate:
    """Judge the solution of several recordings' information together; findings of all of them belong to it."""
    last = parts[-1]
    solution = replace(solution, stamp=last.stamp, mode=last.mode)
    return judge_links(solution, last.model, unite_findings(part.findings for part in parts))


def _find_contradiction(squares: float, freedom: int) -> tuple[Finding, ...]:
    if find_tail(freedom, squares) >= 1.0 - _CONFIDENCE:
        return ()
    message = (
        f"the recordings contradict each other (chi-square {squares:.0f} with {freedom} degrees of freedom): "
        "replay recordings of different loads separately"
    )
    return (Finding("warning", CONTRADICTION, message),)


_NO_BODY = Finding(
    "error",
    "impossible_body",
    "the identified parameters are not those of a rigid body: check the direction of gravity, the sign of the moments, "
    "the sensor frame and the joint states",
)
