"""Numbers for people: a value with its uncertainty, to the significant digits."""

from __future__ import annotations

import math

from inertid_ros.core.rigid_body.inertial import PARAMETER_NAMES

PARAMETER_UNITS = ("kg",) + ("kg m",) * 3 + ("kg m²",) * 6
"""Unit of each parameter, in the order of PARAMETER_NAMES."""

INTERVAL = 1.96
"""Standard deviations of a 95 % interval."""


def format_number(value: float, form: str) -> str:
    """Write a number in a format such as `.3f`; one that is rounded to zero has no sign."""
    text = format(value, form)
    return text if float(text) != 0.0 else text.removeprefix("-")


def format_estimate(value: float, deviation: float, unit: str = "") -> str:
    """Write the 95 % interval of a value with this standard deviation, two digits after ±: `1.1060 ± 0.0041 kg`."""
    width = INTERVAL * deviation
    digits = max(0, 1 - math.floor(math.log10(width))) if width > 0.0 else 6
    text = f"{format_number(value, f'.{digits}f')} ± {width:.{digits}f}"
    return f"{text} {unit}" if unit else text


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
