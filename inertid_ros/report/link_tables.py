"""The numbers of the report on links: base parameters, possible bodies, drives, fit."""

from __future__ import annotations

import numpy as np

from inertid_ros.core.rigid_body.inertial import PARAMETER_NAMES
from inertid_ros.files.estimate_writer import name_drives, name_links
from inertid_ros.replay.trace import LinkTrace
from inertid_ros.report.link_verdict import describe_fit
from inertid_ros.report.markup import Html, badge, element, table
from inertid_ros.report.tables import BADGES
from inertid_ros.text.numbers import PARAMETER_UNITS, format_estimate
from inertid_ros.text.parameters import parameter_units

_MASS, _COM = PARAMETER_NAMES[0], PARAMETER_NAMES[1:4]


def list_base_parameters(trace: LinkTrace) -> Html:
    """The combinations that the data determine."""
    estimate = trace.estimate
    deviations = np.sqrt(np.diag(estimate.covariance)).tolist()
    columns = zip(
        estimate.base.texts, estimate.values.tolist(), deviations, estimate.model.prior.tolist(),
        parameter_units(estimate.model), estimate.states, strict=True,
    )  # fmt: skip
    rows = [
        (
            text,
            "–" if state == "not excited yet" else format_estimate(value, deviation),
            f"{prior:.4g}",
            unit,
            badge(state, BADGES[state]),
        )
        for text, value, deviation, prior, unit, state in columns
    ]
    return table(("base parameter", "value ± 95 %", "URDF", "unit", "state"), rows, "numbers combinations")


def list_bodies(trace: LinkTrace) -> Html:
    """The links as bodies that can exist."""
    model = trace.estimate.model
    rows = []
    for link, phi in name_links(model, trace.parameters).items():
        com = ", ".join(f"{1e3 * phi[name] / phi[_MASS]:.0f}" for name in _COM)
        rows.append((link, f"{phi[_MASS]:.3g}", com, *(f"{phi[name]:.3g}" for name in PARAMETER_NAMES[4:])))
    inertias = [f"{name} [{unit}]" for name, unit in zip(PARAMETER_NAMES[4:], PARAMETER_UNITS[4:], strict=True)]
    heads = ("link", "mass [kg]", "centre of mass [mm]", *inertias)
    remark = "Only the base parameters are measured: how they are shared out among links is a choice near the URDF."
    return Html(table(heads, rows, "numbers") + element("p", remark, kind="remark"))


def list_drives(trace: LinkTrace) -> Html:
    """Friction, rotor inertia and offset of each joint, as far as identified."""
    drives = name_drives(trace.estimate.model, trace.parameters)
    kinds = list(next(iter(drives.values()), {}))
    if not kinds:
        return Html("")
    rows = [(joint, *(f"{values[kind]:.3g}" for kind in kinds)) for joint, values in drives.items()]
    return table(("joint (SI units)", *(kind.replace("_", " ") for kind in kinds)), rows, "numbers")


def list_fit(trace: LinkTrace) -> Html:
    """What is left of each channel."""
    fit, online, urdf = describe_fit(trace), trace.online.samples, trace.urdf.rows
    rows = [
        (
            name,
            trace.units[index],
            f"{fit.measured_rms[index]:.3g}",
            f"{fit.rms[index]:.3g}",
            _percent(fit.relative_rms[index]),
            _percent(urdf.relative_rms[index]),
            _percent(online.relative_rms[index]),
            f"{online.largest[index]:.3g}",
            int(fit.counts[index]),
        )
        for index, name in enumerate(trace.channels)
    ]
    heads = (
        "channel", "unit", "signal rms", "left rms", "left / signal", "by the URDF alone", "on the way, not filtered",
        "largest", "rows",
    )  # fmt: skip
    remark = (
        "Left: what the final estimate leaves of the filtered signals it was made from. On the way: each sample "
        "predicted by what was known before it, the time before it had converged included."
    )
    return Html(table(heads, rows, "numbers") + element("p", remark, kind="remark"))


def _percent(ratio: float) -> str:
    return f"{100.0 * ratio:.1f} %"
