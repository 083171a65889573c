"""All parameters of an arm that go with an estimate of its base parameters: every link a body that can exist."""

from __future__ import annotations

import numpy as np
from scipy.linalg import solve_triangular

from inertid_ros.core.link_records import LinkEstimate
from inertid_ros.core.link_solutions import nearest_feasible_links
from inertid_ros.core.records import FloatArray


def complete_links(estimate: LinkEstimate) -> FloatArray:
    """The full set (F,) that explains the data as possible links do, nearest to the URDF's own where they say nothing.

    Friction and rotor inertias are positive; offsets may be anything.
    """
    model = estimate.model
    unknowns, count = model.unknowns, len(model.unknowns.names)
    prior = np.zeros(count)
    prior[unknowns.inertial] = model.arm.parameters
    everything = np.arange(count)
    positive = np.concatenate(
        [everything[part] for part in (unknowns.viscous, unknowns.coulomb, unknowns.rotor_inertia)]
    )
    scale = np.sqrt(np.diag(estimate.covariance))
    lower = np.linalg.cholesky(estimate.covariance / np.outer(scale, scale))
    root = solve_triangular(lower, np.diag(1.0 / scale), lower=True)
    return nearest_feasible_links(
        prior, estimate.values, root, model.base.combination, len(model.arm.joint_names), positive
    )
