"""Base parameters: what a regressor determines of the parameters it multiplies, alone or in combinations.

The columns of a regressor W are taken one after the other. A column that those kept before it do not span is kept, and
its parameter stands for a base parameter; one that they span, w_d = Σ_b C_bd w_b, adds its own parameter to theirs:

    W phi = W_b (C phi)

which is a QR decomposition without pivoting in which dependent columns are left out. The rank is checked by SVD.

Which link parameters of an arm can be identified at all: a matter of its kinematics, known before any motion.

Joint states are drawn at random, with accelerations, since a sum of independent random states excites all that a smooth
motion of any length could.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pinocchio as pin

from inertid_ros.core.equations.arm import LinkUnknowns, make_arm_equation
from inertid_ros.core.errors import RankError
from inertid_ros.core.records import FloatArray, IntArray
from inertid_ros.core.rigid_body.inertial import PARAMETER_NAMES
from inertid_ros.core.robot.robot import ArmModel
from inertid_ros.core.settings.choices import Source

STATES = 400
"""States to draw; with six readings each that is enough for some two hundred joints."""

_RIGHT_ANGLE = 1e-5
"""What is left of a right angle written with five digits, 1.5708 for pi / 2, twice over."""


class JointStates(NamedTuple):
    """N unrelated states of n joints: (N, n) each, in rad or m and seconds."""

    positions: FloatArray
    velocities: FloatArray
    accelerations: FloatArray


def draw_states(arm: ArmModel, count: int = STATES, seed: int = 0) -> JointStates:
    """Draw joint states over full turns and a metre either way, so fast that no effect outweighs another by far."""
    random = np.random.default_rng(seed)
    shape = (count, len(arm.joint_names))
    reach = np.where(arm.is_angle, np.pi, 1.0)
    return JointStates(random.uniform(-reach, reach, shape), random.uniform(-3, 3, shape), random.uniform(-9, 9, shape))


_IYY_FIRST = (0, 1, 2, 3, 7, 4, 5, 6, 8, 9)
"""Order of a link's ten parameters, see `order_of_links`."""


def find_identifiable(arm: ArmModel, source: Source) -> BaseParameters:
    """Find the base parameters of an arm from random states of its joints.

    Args:
        arm: the arm.
        source: what is measured: `effort`, `base_wrench` or `both`.

    Raises:
        RankError: if the URDF leaves it open what is identifiable.
    """
    squared = dataclasses.replace(arm, model=square_up(arm.model))
    unknowns = LinkUnknowns.of(squared, source, False, False, False, False, False)
    everything = np.arange(len(unknowns.names))
    equation = make_arm_equation(squared, source, unknowns, everything, pin.SE3.Identity(), 1.0)
    regressors = equation.assemble(equation.compute(*draw_states(squared)))
    matrix = regressors.reshape(-1, regressors.shape[-1])
    return find_base_parameters(matrix, arm.parameter_names, order_of_links(len(arm.link_names)))


def order_of_links(links: int) -> IntArray:
    """Order in which to take the columns of so many links to get the combinations of the paper (its table 5).

    Link by link from the base, and Iyy before Ixx, for it is Ixx that the paper adds to other parameters.
    """
    columns = np.arange(len(PARAMETER_NAMES) * links).reshape(links, -1)
    return np.asarray(columns[:, _IYY_FIRST].ravel())


def square_up(model: pin.Model) -> pin.Model:
    """Return the model with right angles made exact that the URDF gives with few digits.

    An axis that is 4e-6 rad off the vertical makes parameters identifiable in theory that no motion will ever excite.
    """
    squared = pin.Model(model)
    for index in range(1, model.njoints):
        rotation = model.jointPlacements[index].rotation
        left, _, right = np.linalg.svd(np.where(np.abs(rotation) < _RIGHT_ANGLE, 0.0, rotation))
        squared.jointPlacements[index] = pin.SE3(left @ right, model.jointPlacements[index].translation)
    return squared


DEPENDENT = 1e-5
"""A column is spanned by others if no more than this part of it is orthogonal to them. Rounding leaves less than 1e-11;
of a column that really is one of its own, more than 1e-3 stood out in all arms and 300 random trees."""
ZERO = 1e-12
"""A column is zero if it is shorter than this part of the longest one. Rounding leaves 1e-16."""
SIGNIFICANT_DIGITS = 10
"""Digits of a combination's coefficients that rounding leaves untouched."""


@dataclass(frozen=True)
class BaseParameters:
    """The B combinations of F parameters that can be identified.

    Attributes:
        names: the F parameters.
        columns: (B,) ascending, the parameters that stand for a base parameter each: W[:, columns] is its regressor.
        combination: (B, F) C, base = C phi, with the identity in `columns`.
    """

    names: tuple[str, ...]
    columns: IntArray
    combination: FloatArray

    @property
    def rank(self) -> int:
        """Number of base parameters."""
        return len(self.columns)

    @property
    def alone(self) -> IntArray:
        """Parameters that are identifiable on their own."""
        alone: IntArray = self.columns[np.count_nonzero(self.combination, axis=1) == 1]
        return alone

    @property
    def combined(self) -> IntArray:
        """Parameters that are identifiable only together with others."""
        rows = np.count_nonzero(self.combination, axis=1) > 1
        return np.flatnonzero(np.any(self.combination[rows], axis=0))

    @property
    def absent(self) -> IntArray:
        """Parameters that have no effect on what is measured."""
        return np.flatnonzero(~np.any(self.combination, axis=0))

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """The B combinations for people, each beginning with the parameter that stands for it."""
        return tuple(
            format_combination(
                np.concatenate((row[[column]], np.delete(row, column))),
                (self.names[column], *self.names[:column], *self.names[column + 1 :]),
            )
            for row, column in zip(self.combination, self.columns, strict=True)
        )


def find_base_parameters(
    matrix: FloatArray, names: Sequence[str], order: Sequence[int] | IntArray | None = None
) -> BaseParameters:
    """Find the base parameters of a regressor.

    Args:
        matrix: (M, F) regressor of a motion that excites everything, M > F.
        names: the F parameters.
        order: (F,) the order in which columns are taken; as they stand if None.

    Raises:
        RankError: if QR and SVD do not find the same rank: some column is neither clearly spanned by others nor
            clearly not.
    """
    lengths = np.linalg.norm(matrix, axis=0)
    present = lengths > ZERO * np.max(lengths, initial=0.0)
    scale = np.where(present, lengths, 1.0)
    unit = np.linalg.qr(matrix / scale, mode="r") * present
    sequence = np.arange(len(names)) if order is None else np.asarray(order)
    columns = _keep_independent(unit, sequence[present[sequence]])
    _check_rank(unit, len(columns))
    spanned = np.linalg.lstsq(unit[:, columns], unit, rcond=None)[0]
    spanned[np.abs(spanned) < DEPENDENT] = 0.0
    combination = _round_significant(spanned * scale / scale[columns][:, None])
    combination[:, columns] = np.eye(len(columns))
    return BaseParameters(tuple(names), columns, combination)


def format_combination(coefficients: FloatArray, names: Sequence[str]) -> str:
    """Write a combination: `link2.Ixx - link2.Iyy + 0.2025 (link3.m + link4.m)`."""
    terms: dict[str, list[tuple[bool, str]]] = {}
    for coefficient, name in zip(coefficients, names, strict=True):
        size = f"{abs(coefficient):.4g}"
        if size == "1":
            terms[name] = [(bool(coefficient > 0.0), name)]
        elif size != "0":
            terms.setdefault(f"{size} ", []).append((bool(coefficient > 0.0), name))
    text = "".join(_format_term(factor, parts) for factor, parts in terms.items())
    return "-" + text[3:] if text.startswith(" - ") else text[3:]


def _format_term(factor: str, parts: Sequence[tuple[bool, str]]) -> str:
    """Write the parameters with one factor, which may be the name of the only one: ` - 0.45 (link3.m - link4.m)`."""
    sign, name = parts[0]
    if len(parts) == 1:
        body = name if factor == name else factor + name
    else:
        others = "".join(f" {'+' if other == sign else '-'} {name}" for other, name in parts[1:])
        body = f"{factor}({name}{others})"
    return f" {'+' if sign else '-'} {body}"


def _keep_independent(unit: FloatArray, sequence: IntArray) -> IntArray:
    """Gram-Schmidt, twice for each column, over the columns of length one that `sequence` names."""
    directions: FloatArray = np.zeros((len(unit), 0))
    kept = []
    for column in sequence:
        rest = unit[:, column]
        for _ in range(2):
            rest = rest - directions @ (directions.T @ rest)
        length = np.linalg.norm(rest)
        if length > DEPENDENT:
            directions = np.column_stack((directions, rest / length))
            kept.append(column)
    return np.sort(np.array(kept, dtype=np.int64))


def _check_rank(unit: FloatArray, rank: int) -> None:
    singular_values = np.linalg.svd(unit, compute_uv=False)
    by_svd = int(np.count_nonzero(singular_values > DEPENDENT))
    if by_svd != rank:
        raise RankError(rank, by_svd, float(singular_values[min(rank, by_svd)]))


def _round_significant(values: FloatArray) -> FloatArray:
    rounded = [float(f"{value:.{SIGNIFICANT_DIGITS}g}") for value in values.ravel()]
    return np.array(rounded).reshape(values.shape)
