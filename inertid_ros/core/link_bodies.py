"""The whole arm from its base parameters: every link a body that can exist, as near to the URDF's as the data allow."""

from __future__ import annotations

import numpy as np

from inertid_ros.core.link_model import LinkModel
from inertid_ros.core.link_records import LinkEstimate
from inertid_ros.core.link_solutions import nearest_feasible_links
from inertid_ros.core.records import FloatArray

COMBINED = "only in combinations"
ABSENT = "not identifiable"


def find_feasible_links(estimate: LinkEstimate) -> FloatArray:
    """Return the full set (F,) that explains the data with bodies that can exist and friction that is positive.

    Raises:
        NotIdentifiedError: if the estimate is not finite.
    """
    model = estimate.model
    unknowns = model.unknowns
    prior = np.zeros(len(unknowns.names))
    prior[unknowns.inertial] = model.arm.parameters
    parts = (unknowns.viscous, unknowns.coulomb, unknowns.rotor_inertia)
    positive = np.concatenate([np.arange(part.start, part.stop) for part in parts])
    root = np.linalg.inv(np.linalg.cholesky(estimate.covariance))
    combination = model.base.combination
    return nearest_feasible_links(prior, estimate.values, root, combination, len(model.arm.link_names), positive)


def standing_of_parameters(model: LinkModel, states: tuple[str, ...]) -> tuple[str, ...]:
    """Say of each of the full set (F,) what the data tell of it: the state of its own base parameter, or why none."""
    standing = [ABSENT] * len(model.unknowns.names)
    for index in model.base.combined.tolist():
        standing[index] = COMBINED
    by_column = dict(zip(model.base.columns.tolist(), states, strict=True))
    for index in model.base.alone.tolist():
        standing[index] = by_column[index]
    return tuple(standing)
