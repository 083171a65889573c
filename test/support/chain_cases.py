"""Chains of every kind with some seconds of their input, and what it means that they give the same."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np

from inertid_ros.core.chain import Chain
from inertid_ros.core.estimation.estimate import Estimate
from inertid_ros.core.records import JointBlock, WrenchBlock
from support.chain import make_chain, puma_motion, simulate_puma
from support.link_chain import make_link_chain, make_motion, simulate_links
from support.payload import LOAD, make_payload_chain, simulate

NAMES = ["load", "effort", "base_wrench", "both", "energy", "payload"]


def make_case(name: str) -> tuple[Callable[[], Chain], JointBlock, WrenchBlock]:
    """What makes a chain, and four seconds of its input."""
    if name == "load":
        simulator = simulate_puma(puma_motion(rest=0.5), 3, sign="on_sensor")
        return lambda: make_chain(wrench_sign="auto"), simulator.joints(0.0, 4.0), simulator.wrenches(0.0, 4.0)
    simulator = simulate_links(make_motion())
    if name == "payload":
        wrenches = simulator.base_wrenches(0.0, 4.0)
        return make_payload_chain, simulate([(0.0, LOAD)], 2, 4.0), wrenches._replace(frame="ft_sensor")
    links = {"method": "energy"} if name == "energy" else {"source": name}
    names = list(simulator.joint_names)
    return lambda: make_link_chain(joints=names, **links), simulator.joints(0.0, 4.0), simulator.base_wrenches(0.0, 4.0)


def assert_same(left: object, right: object, tolerance: float = 0.0) -> None:
    """Equal in every number, to the last bit unless told otherwise."""
    if isinstance(left, Estimate) and isinstance(right, Estimate):
        assert type(left) is type(right)
        for field in dataclasses.fields(left):
            if field.name != "model":
                assert_same(getattr(left, field.name), getattr(right, field.name), tolerance)
    elif dataclasses.is_dataclass(left) and dataclasses.is_dataclass(right):
        for field in dataclasses.fields(left):
            assert_same(getattr(left, field.name), getattr(right, field.name), tolerance)
    elif isinstance(left, tuple) and isinstance(right, tuple):
        assert len(left) == len(right)
        for one, other in zip(left, right, strict=True):
            assert_same(one, other, tolerance)
    elif isinstance(left, np.ndarray) and isinstance(right, np.ndarray):
        np.testing.assert_allclose(left, right, rtol=tolerance, atol=tolerance)
    else:
        assert left == right
