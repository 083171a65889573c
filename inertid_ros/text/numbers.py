"""Numbers for people: values with their uncertainty to the significant digits, parameters, and a sensor's errors."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

import numpy as np

from inertid_ros.core.equations.equation import WRENCH_NAMES, WRENCH_UNITS
from inertid_ros.core.equations.model import LinkModel
from inertid_ros.core.estimation.estimate import LinksEstimate, WristSensor
from inertid_ros.core.estimation.nuisances import split_nuisances
from inertid_ros.core.rigid_body.inertial import PARAMETER_NAMES

PARAMETER_UNITS = ("kg",) + ("kg m",) * 3 + ("kg m²",) * 6
"""Unit of each parameter, in the order of PARAMETER_NAMES."""

INTERVAL = 1.96
"""Standard deviations of a 95 % interval."""
EXACT = "taken as exact"
"""Said of what has a prior uncertainty of zero: it was not looked for."""

_OF_ANGLES = {"viscous": "Nm s/rad", "coulomb": "Nm", "rotor_inertia": "kg m²", "offset": "Nm"}
_OF_LENGTHS = {"viscous": "N s/m", "coulomb": "N", "rotor_inertia": "kg", "offset": "N"}
_OF_WRENCHES = dict(zip(WRENCH_NAMES, WRENCH_UNITS, strict=True))
_OF_LINKS = dict(zip(PARAMETER_NAMES, PARAMETER_UNITS, strict=True))


def format_number(value: float, form: str) -> str:
    """Write a number in a format such as `.3f`; one that is rounded to zero has no sign."""
    text = format(value, form)
    return text if float(text) != 0.0 else text.removeprefix("-")


def format_estimate(value: float, deviation: float, unit: str = "") -> str:
    """Write the 95 % interval of a value with this standard deviation, two digits after ±: `1.1060 ± 0.0041 kg`."""
    width = INTERVAL * deviation
    digits = max(0, 1 - math.floor(math.log10(width))) if width > 0.0 else 6
    return f"{format_number(value, f'.{digits}f')} ± {width:.{digits}f} {unit}".rstrip()


def format_spread(deviation: float, unit: str = "") -> str:
    """Write half of the 95 % interval of this standard deviation, two digits: `0.0041 kg`."""
    width = INTERVAL * deviation
    digits = max(0, 1 - math.floor(math.log10(width))) if width > 0.0 else 0
    return f"{width:.{digits}f} {unit}".rstrip()


def format_interval(value: float, deviation: float, unit: str) -> str:
    """Write the same where nothing around says what it is: `1.1060 ± 0.0041 kg (95 %)`."""
    return f"{format_estimate(value, deviation, unit)} (95 %)"


def format_judged(value: float, deviation: float, unit: str, state: str) -> str:
    """Write a parameter with its state; one that is not excited yet has no number."""
    return state if state == "not excited yet" else f"{format_interval(value, deviation, unit)}, {state}"


def format_parameter(index: int, value: float, deviation: float, state: str) -> str:
    """Write one of the ten parameters with its state."""
    return format_judged(value, deviation, PARAMETER_UNITS[index], state)


def format_count(count: int) -> str:
    """Write how often something happened."""
    return "once" if count == 1 else f"{count} times"


def parameter_label(index: int) -> str:
    """Name one of the ten parameters with its unit."""
    return f"{PARAMETER_NAMES[index]} [{PARAMETER_UNITS[index]}]"


def parameter_units(model: LinkModel) -> tuple[str, ...]:
    """Unit of each base parameter: that of the parameter which stands for it."""
    arm = model.arm
    prismatic = {name for name, is_angle in zip(arm.joint_names, arm.is_angle, strict=True) if not is_angle}
    return tuple(find_unit(model.base.names[column], prismatic) for column in model.base.columns.tolist())


def find_unit(name: str, prismatic: Collection[str]) -> str:
    """Unit of a parameter of a link, a joint or the base sensor, such as `joint1.viscous`."""
    owner, _, kind = name.rpartition(".")
    drives = _OF_LENGTHS if owner in prismatic else _OF_ANGLES
    return (_OF_LINKS | drives | _OF_WRENCHES)[kind]


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


def format_nuisances(sensor: WristSensor) -> dict[str, str]:
    """Delay, tilts, mounting, the six gains and the most significant cross-talk, each with its 95 % interval.

    Empty where they are not known.
    """
    if sensor.nuisances is None or sensor.nuisance_deviations is None:
        return {}
    (delay, tilt, gains, mounting), (delay_std, tilt_std, gain_std, mounting_std) = map(
        split_nuisances, (sensor.nuisances, sensor.nuisance_deviations)
    )
    word = "late" if delay >= 0.0 else "early"
    degrees = np.degrees(1.0)
    texts = {"wrench against joint states": _format(abs(delay), delay_std, 1e3, f"ms {word}")}
    for index in range(2):
        name = f"tilt of gravity, {('first', 'second')[index]} horizontal axis"
        texts[name] = _format(tilt[index], tilt_std[index], degrees, "°")
    for index, axis_name in enumerate("xyz"):
        name = f"rotation of the sensor about {axis_name}"
        texts[name] = _format(mounting[index], mounting_std[index], degrees, "°")
    for index, axis_name in enumerate("xyz", start=3):
        name = f"offset of the sensor along {axis_name}"
        texts[name] = _format(mounting[index], mounting_std[index], 1e3, "mm")
    for index, name in enumerate(WRENCH_NAMES):
        texts[f"gain of {name}"] = _format(gains[index, index], gain_std[index, index], 100.0, "%")
    others = ~np.eye(6, dtype=bool) & (gain_std > 0.0)
    if not others.any():
        return texts | {"cross-talk": EXACT}
    ratios = np.where(others, np.abs(gains) / np.where(others, gain_std, 1.0), 0.0)
    axis, source = divmod(int(ratios.argmax()), 6)
    factor, unit = ((100.0, "%"), (1.0, "N/Nm"), (1e3, "mNm/N"))[(axis // 3 != source // 3) * (1 + axis // 3)]
    name = f"cross-talk, most significant: {WRENCH_NAMES[axis]} of {WRENCH_NAMES[source]}"
    return texts | {name: _format(gains[axis, source], gain_std[axis, source], factor, unit)}


def format_largest_gain(sensor: WristSensor) -> str:
    """The axis whose gain differs most from 1: `fz +1.2 ± 1.9 %`; empty where that is not known."""
    if sensor.nuisances is None or sensor.nuisance_deviations is None:
        return ""
    parts = sensor.nuisances, sensor.nuisance_deviations
    gains, deviations = (np.diag(split_nuisances(part).gains) for part in parts)
    axis = int(np.abs(gains).argmax())
    text = _format(gains[axis], deviations[axis], 100.0, "%")
    return text if text == EXACT else f"{WRENCH_NAMES[axis]} {text}"


def _format(value: float, deviation: float, factor: float, unit: str) -> str:
    return format_estimate(factor * float(value), factor * float(deviation), unit) if deviation > 0.0 else EXACT
