"""Small simulated recordings whose results are kept in test/golden, to see whether a change changes them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from inertid_ros.core.rigid_body.inertial import compose
from inertid_ros.motions.multisine import JointLimits, Multisine
from inertid_ros.sim.arm import JointFriction
from inertid_ros.sim.sensors import SensorModel
from inertid_ros.sim.simulator import Simulator
from support.bags import (
    JOINTS,
    STORE,
    TEXT,
    Message,
    joint_messages,
    puma_messages,
    text_message,
    wrench_messages,
)
from support.chain import PUMA
from support.link_bags import ddarm_messages, simulate_ddarm

LOAD = compose(1.5, np.array([0.01, -0.02, 0.08]), np.diag([0.01, 0.01, 0.005]))
FRICTION = JointFriction(2.0, 3.0, 0.3, 0.2)


def puma_arm_messages(seed: int, *, load: bool = False, base: bool = False) -> list[Message]:
    """A PUMA with friction that moves all joints for six seconds."""
    full = np.ones(6)
    motion = Multisine(JointLimits(-1.3 * full, 1.3 * full, 2.0 * full, 8.0 * full), period=6.0, seed=seed)
    sensors = SensorModel(joint_rate=100.0, wrench_rate=100.0, velocity_noise=2e-3, effort_noise=0.2)
    schedule = [(0.0, LOAD if load else None)]
    simulator = Simulator(PUMA, "ft_sensor", motion, sensors, schedule, seed=seed, friction=FRICTION)
    messages = list(joint_messages(simulator.joints(0.0, motion.duration)))
    if base:
        messages += wrench_messages(simulator.base_wrenches(0.0, motion.duration), "/base_wrench")
        messages.sort(key=lambda message: message[2])
    return [text_message(PUMA, messages[0][2]), *messages]


class Scenario(NamedTuple):
    """A recording and the parameters to replay it with."""

    messages: Callable[[], list[Message]]
    parameters: dict[str, Any]


BY_EFFORT: dict[str, Any] = {"estimators": ["links"], "links": {"effort_unit": "newton_metre"}}
SCENARIOS = {
    "load_puma": Scenario(puma_messages, {"load": {"sensor_frame": "ft_sensor"}}),
    "links_ddarm_effort": Scenario(lambda: ddarm_messages(simulate_ddarm(0), 6.0), BY_EFFORT),
    "links_puma_base": Scenario(
        lambda: puma_arm_messages(1, base=True), {"estimators": ["links"], "links": {"source": "base_wrench"}}
    ),
    "links_puma_effort": Scenario(lambda: puma_arm_messages(1), BY_EFFORT),
}
PAYLOAD = Scenario(lambda: puma_arm_messages(2, load=True), BY_EFFORT)
"""Weighed with the arm of links_puma_effort."""


def summarise(messages: list[Message]) -> list[float]:
    """How many messages there are, then sum and sum of squares of all their numbers, weighted by their places.

    No checksum of the bytes: the last digits of a simulation depend on the processor that BLAS finds.
    """
    total = np.zeros(2)
    for place, (_, kind, _, data) in enumerate(messages):
        numbers = find_numbers(STORE.deserialize_cdr(data, kind), kind)
        weighted = np.cos(place + np.arange(len(numbers))) * numbers
        total += weighted.sum(), weighted @ weighted
    return [float(len(messages)), *total.tolist()]


def find_numbers(message: Any, kind: str) -> list[float]:
    """All numbers of a joint state or a wrench, but for the stamp; a text has none."""
    if kind == TEXT:
        return []
    if kind == JOINTS:
        return [*message.position, *message.velocity, *message.effort]
    force, torque = message.wrench.force, message.wrench.torque
    return [force.x, force.y, force.z, torque.x, torque.y, torque.z]


def pick(document: dict[str, Any]) -> dict[str, Any]:
    """What is compared of an estimate.json."""
    found: dict[str, Any] = {}
    if document["load"] is not None:
        names = ("parameters", "covariance", "feasible", "bias", "bias_covariance", "states", "rows", "last_stamp")
        found["load"] = {name: document["load"][name] for name in names}
    if document["links"] is not None:
        links, base = document["links"], document["links"]["base_parameters"]
        found["links"] = {name: base[name] for name in ("names", "values", "covariance", "states")}
        found["links"] |= {"rows": links["rows"], "last_stamp": links["last_stamp"]}
        found["links"] |= {name: links[name]["relative_rms"] for name in ("fit", "residual", "urdf_residual")}
    return found


def pick_weighing(content: dict[str, Any]) -> dict[str, Any]:
    """What is compared of what `inertid weigh --json` prints: parameters of one kind are compared with the largest."""
    names = list(content["parameters"])
    kinds = {"mass": names[:1], "first moments": names[1:4], "inertias": names[4:]}
    found: dict[str, Any] = {name: content[name] for name in ("covariance", "feasible", "rows")}
    for what in ("value", "deviation", "state"):
        found[what] = {kind: [content["parameters"][name][what] for name in own] for kind, own in kinds.items()}
    return found


def write_parameters(path: Path, parameters: dict[str, Any]) -> Path:
    """A parameter file; JSON is YAML."""
    import json

    path.write_text(json.dumps({"/**": {"ros__parameters": parameters}}))
    return path
