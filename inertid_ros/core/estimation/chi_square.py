"""How probable it is that a sum of squares of standard normal numbers is as large as one that was found."""

from __future__ import annotations

import math


def find_tail(freedom: int, square: float) -> float:
    """Probability that chi-square with so many degrees of freedom, at least one, exceeds a value x.

    Integrated by parts until one degree of freedom or none is left, with h = freedom / 2 (Abramowitz and Stegun 1964,
    26.4.4 and 26.4.5):

        Q(x) = exp(-x / 2) sum (x / 2)^k / Gamma(k + 1),  k = h - 1, h - 2, … >= 0

    and erfc(sqrt(x / 2)) for the one of an odd number.
    """
    if square <= 0.0:
        return 1.0
    if math.isinf(square):
        return 0.0
    half = 0.5 * square
    found = math.erfc(math.sqrt(half)) if freedom % 2 else 0.0
    for step in range(freedom // 2):
        power = 0.5 * freedom - 1.0 - step
        found += math.exp(power * math.log(half) - half - math.lgamma(power + 1.0))
    return min(found, 1.0)
