"""All inertial parameters of links that have some base parameters, as near as possible to those of the URDF.

Base parameters x = C phi leave many phi open. With W how far links may be from the URDF's phi_0, and P the covariance
of x,

    phi = phi_0 + W C^T (C W C^T + P)^-1 (x - C phi_0)
"""

from __future__ import annotations

import numpy as np

from inertid_ros.core.equations.model import LinkModel, find_own_sizes
from inertid_ros.core.records import FloatArray

_OFF = 0.5
"""Standard deviation of a link's parameters from the URDF's, as a part of what a link of its mass and size has."""


class NearestLinks:
    """Completes base parameters of an arm.

    Attributes:
        urdf: (F,) parameters of all links, as the URDF has them.
        widths: (F,) how far from it they may be: the root of W.
        combination: (B, F) C, of those base parameters that are combinations of them.
    """

    def __init__(self, model: LinkModel) -> None:
        """Set up for an arm."""
        inertial = model.unknowns.inertial
        self._chosen = np.flatnonzero(model.base.columns < inertial.stop)
        self.urdf = model.arm.parameters
        self.widths = _OFF * find_own_sizes(model.arm, model.unknowns)[inertial]
        self.combination = model.base.combination[self._chosen, : inertial.stop]
        self._lift = self.widths[:, None] ** 2 * self.combination.T
        self._lifted = self.combination @ self._lift
        self._expected = self.combination @ self.urdf

    def complete(self, values: FloatArray, root: FloatArray) -> FloatArray:
        """Parameters (F,) of links with base parameters (U,), of whose covariance (U, U) this is the root."""
        own = root[self._chosen]
        innovation = values[self._chosen] - self._expected
        return np.asarray(self.urdf + self._lift @ np.linalg.solve(self._lifted + own @ own.T, innovation))
