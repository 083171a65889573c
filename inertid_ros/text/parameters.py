"""Parameters of an arm for people: units, values with their uncertainty, residual of each channel."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from inertid_ros.core.equations.equation import WRENCH_NAMES, WRENCH_UNITS
from inertid_ros.core.equations.model import LinkModel
from inertid_ros.core.estimation.estimate import LinksEstimate
from inertid_ros.core.rigid_body.inertial import PARAMETER_NAMES
from inertid_ros.text.numbers import PARAMETER_UNITS, format_judged

_OF_ANGLES = {"viscous": "Nm s/rad", "coulomb": "Nm", "rotor_inertia": "kg m²", "offset": "Nm"}
_OF_LENGTHS = {"viscous": "N s/m", "coulomb": "N", "rotor_inertia": "kg", "offset": "N"}
_OF_WRENCHES = dict(zip(WRENCH_NAMES, WRENCH_UNITS, strict=True))
_OF_LINKS = dict(zip(PARAMETER_NAMES, PARAMETER_UNITS, strict=True))


def parameter_units(model: LinkModel) -> tuple[str, ...]:
    """Unit of each base parameter: that of the parameter which stands for it."""
    angles = dict(zip(model.arm.joint_names, model.arm.is_angle, strict=True))
    units = []
    for column in model.base.columns.tolist():
        owner, _, kind = model.base.names[column].rpartition(".")
        drives = _OF_ANGLES if angles.get(owner, True) else _OF_LENGTHS
        units.append((_OF_LINKS | drives | _OF_WRENCHES)[kind])
    return tuple(units)


def format_base_parameters(estimate: LinksEstimate) -> dict[str, str]:
    """Write each combination with its value; one that is not excited yet has no number."""
    deviations = np.sqrt(np.diag(estimate.covariance))
    judged = map(format_judged, estimate.values, deviations, parameter_units(estimate.model), estimate.states)
    return dict(zip(estimate.base.texts, judged, strict=True))


def format_fits(estimate: LinksEstimate) -> dict[str, str]:
    """Write for each channel how much of it is left unexplained: `1.2 % of 35.1 Nm rms, 1200 rows`."""
    fit = estimate.fit
    if fit is None:
        return {}
    described = zip(fit.channels, fit.residual_rms, fit.measured_rms, fit.rows, fit.units, strict=True)
    return {
        name: f"{100.0 * left / size:.2g} % of {size:.3g} {unit} rms, {rows} rows" if size > 0.0 else "no rows"
        for name, left, size, rows, unit in described
    }


def count_states(states: Sequence[str]) -> str:
    """Write how many are known: `12 of 15 base parameters known, 3 not excited yet`."""
    counts = {kind: sum(state == kind for state in states) for kind in ("known", "uncertain", "not excited yet")}
    known = f"{counts.pop('known')} of {len(states)} base parameters known"
    return ", ".join([known, *(f"{count} {kind}" for kind, count in counts.items() if count)])
