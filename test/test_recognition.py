"""Household objects on an imperfect sensor, as `benchmarks/recognition.py` holds them: the shapes, and one robot."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))

household: Any = importlib.import_module("household")
recognition: Any = importlib.import_module("recognition")


def test_shapes_have_the_inertia_of_their_parts() -> None:
    """Against pinocchio's own formulas for boxes, cylinders and spheres."""
    for parts in household.OBJECTS.values():
        total = pin.Inertia.Zero()
        for part in parts:
            if part.kind == "box":
                own = pin.Inertia.FromBox(part.mass, *part.size)
            elif part.kind == "sphere":
                own = pin.Inertia.FromSphere(part.mass, part.size[0])
            elif part.kind == "cylinder":
                own = pin.Inertia.FromCylinder(part.mass, *part.size)
            else:  # a tube: a cylinder less the one inside it
                outer, inner, length = part.size
                density = part.mass / (outer**2 - inner**2)
                own = pin.Inertia.FromCylinder(density * outer**2, outer, length)
                hole = pin.Inertia.FromCylinder(density * inner**2, inner, length)
                own = pin.Inertia(part.mass, np.zeros(3), own.inertia - hole.inertia)
            total = total + pin.SE3(np.eye(3), np.array(part.at)).act(own)
        mass, com, inertia = household.find_body(parts)
        assert mass == pytest.approx(total.mass)
        np.testing.assert_allclose(com, total.lever, atol=1e-12)
        np.testing.assert_allclose(inertia, total.inertia, atol=1e-12)


@pytest.mark.long
def test_one_robot_recognises_what_it_holds() -> None:
    outcomes = recognition.run_robot(0)
    assert all(one.late != "wrong" for one in outcomes)
    assert sum(one.late == "right" for one in outcomes) >= 14
    assert all(one.absent != "wrong" for one in outcomes)
    assert sum(one.slipped not in ("as expected", "not known yet") for one in outcomes) >= 17
