"""Which base parameters of an arm are numbers to trust, told from the information alone."""

from __future__ import annotations

import numpy as np

from inertid_ros.core.equations.model import LinkModel
from inertid_ros.core.estimation.parameter_state import ParameterState
from inertid_ros.core.records import FloatArray

_KNOWN = 0.1
_EXCITED = 0.3


def judge_links(model: LinkModel, values: FloatArray, covariance: FloatArray) -> tuple[ParameterState, ...]:
    """State of each base parameter.

    A parameter is known once its standard deviation is below a tenth of its value, or below a thousandth of what an arm
    of this mass and reach can have at most (it is as good as zero then). It is not excited yet while the data have not
    reduced its standard deviation to less than a third of what it was before any data.
    """
    deviations = np.sqrt(np.diag(covariance))
    before = model.prior_deviations
    known = deviations <= np.maximum(_KNOWN * np.abs(values), 1e-3 * before)
    excited = deviations <= _EXCITED * before
    return tuple("known" if k else "uncertain" if e else "not excited yet" for k, e in zip(known, excited, strict=True))
