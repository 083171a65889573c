"""What is systematically wrong with a wrist sensor and its mounting, for people."""

from __future__ import annotations

import numpy as np

from inertid_ros.core.equations.equation import WRENCH_NAMES
from inertid_ros.core.estimation.estimate import WristSensor
from inertid_ros.core.estimation.nuisances import split_nuisances
from inertid_ros.text.numbers import format_estimate

EXACT = "taken as exact"
"""Said of what has a prior uncertainty of zero: it was not looked for."""


def format_nuisances(sensor: WristSensor) -> dict[str, str]:
    """Delay, tilts, the six gains and the most significant cross-talk, each with its 95 % interval.

    Empty where they are not known.
    """
    if sensor.nuisances is None or sensor.nuisance_deviations is None:
        return {}
    (delay, tilt, gains), (delay_std, tilt_std, gain_std) = map(
        split_nuisances, (sensor.nuisances, sensor.nuisance_deviations)
    )
    word = "late" if delay >= 0.0 else "early"
    degrees = np.degrees(1.0)
    texts = {"wrench against joint states": _format(abs(delay), delay_std, 1e3, f"ms {word}")}
    for index in range(2):
        name = f"tilt of gravity, {('first', 'second')[index]} horizontal axis"
        texts[name] = _format(tilt[index], tilt_std[index], degrees, "°")
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
    gains, deviations = (np.diag(split_nuisances(part)[2]) for part in (sensor.nuisances, sensor.nuisance_deviations))
    axis = int(np.abs(gains).argmax())
    text = _format(gains[axis], deviations[axis], 100.0, "%")
    return text if text == EXACT else f"{WRENCH_NAMES[axis]} {text}"


def _format(value: float, deviation: float, factor: float, unit: str) -> str:
    return format_estimate(factor * float(value), factor * float(deviation), unit) if deviation > 0.0 else EXACT
