"""Numbers for people."""

from __future__ import annotations

import pytest

from inertid_ros.text.numbers import format_estimate, format_number


@pytest.mark.parametrize(
    ("value", "form", "text"),
    [
        (-0.0004, ".3f", "0.000"),
        (-0.0, ".3g", "0"),
        (-0.0006, ".3f", "-0.001"),
        (2.5, ".1f", "2.5"),
        (-3e-9, ".2e", "-3.00e-09"),
    ],
)
def test_what_is_rounded_to_zero_has_no_sign(value: float, form: str, text: str) -> None:
    assert format_number(value, form) == text


def test_an_estimate_near_zero_has_no_sign() -> None:
    assert format_estimate(-0.0004, 0.5, "kg") == "0.00 ± 0.98 kg"
    assert format_estimate(-0.4, 0.5) == "-0.40 ± 0.98"
