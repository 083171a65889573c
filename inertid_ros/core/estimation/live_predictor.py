"""What efforts are predicted with while an arm is being identified: fitted values, shrunk to the URDF.

In the first seconds of a motion, and whenever it goes on to what it has not shown yet, values that fit best what was
seen so far are far off in directions that it hardly showed. Shrunk by evidence as in `full_set.find_predictor` they are
not; this is the part of it that costs no more than the solution itself. Links are not made physically consistent, and
strengths of the priors take one step towards the largest evidence at each solution: those come at stamps, so that
predictions do not depend on how samples arrive.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from inertid_ros.core.equations.model import LinkModel
from inertid_ros.core.estimation.evidence import find_evidence
from inertid_ros.core.estimation.full_set import list_expected
from inertid_ros.core.estimation.reweighted import WeightedSolution
from inertid_ros.core.records import FloatArray

_BELIEVED = 1.0
"""How many parameters of each kind the size of a link's own parameters counts for: one, the least that keeps a strength
from vanishing, or growing without bound, while the motion has not shown any."""


class Prediction(NamedTuple):
    """What predictions are made with.

    Attributes:
        values: (U,).
        root: (U, F) B with B Bᵀ their covariance.
    """

    values: FloatArray
    root: FloatArray


class LivePredictor:
    """Follows the solutions of an arm.

    Standard parameters are expected at those of the URDF, friction, rotors and offsets at zero, with standard
    deviations W found from the data. With R the root of a solution's information on its values x, and C the base
    parameters' combinations, predictions are made with C p,

        p = e + W V W Cᵀ Rᵀ R (x - C e),   V = (W Cᵀ Rᵀ R C W + 1)⁻¹,   covariance C W V W Cᵀ
    """

    def __init__(self, model: LinkModel) -> None:
        """Expect the links of a model."""
        self._combination = model.base.combination
        self._expected, self._sizes, self._kinds = list_expected(model)
        self._prior = self._combination @ self._expected
        self.reset()

    def reset(self) -> None:
        """Forget how far from what is expected the arm was."""
        self._strengths: FloatArray = np.ones(int(self._kinds.max(initial=0)) + 1)

    def follow(self, solution: WeightedSolution) -> Prediction:
        """Shrink a solution, and learn from it how far the next one may be from the URDF.

        What cannot be shrunk, for it is not finite or the information too large to be told from a singular one, is
        taken as it is.
        """
        factor, combination = solution.information.factor, self._combination
        rows = factor @ combination
        pull = rows.T @ (factor @ (solution.values - self._prior))
        try:
            found = find_evidence(
                rows.T @ rows, pull, self._sizes, self._kinds, self._strengths, believed=_BELIEVED, steps=1
            )
        except np.linalg.LinAlgError:
            self.reset()
            return Prediction(solution.values, solution.inverse)
        self._strengths, weighted = found.strengths, combination * found.widths
        return Prediction(self._prior + weighted @ found.mean, weighted @ found.root.T)
