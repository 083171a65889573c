"""A chain and a simulated PUMA or direct drive arm, ready to be driven."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from inertid_ros.core.chain import Chain, Target
from inertid_ros.core.estimation.estimate import LoadEstimate, WristSensor
from inertid_ros.core.records import FloatArray, JointBlock, Output, WrenchBlock, join_outputs
from inertid_ros.core.robot.robot import Robot
from inertid_ros.core.settings.settings import Settings
from inertid_ros.files.parameters import load_from_yaml
from inertid_ros.files.share import share_path
from inertid_ros.motions.motion import Hold, Motion, Sequence, paper_puma_move
from inertid_ros.sim.sensors import SensorModel, paper_puma_sensors
from inertid_ros.sim.simulator import Simulator

PUMA = share_path("urdf", "puma560.urdf").read_text()
DDARM = share_path("urdf", "ddarm.urdf").read_text()
BAR = load_from_yaml(share_path("config", "loads", "bar.yaml"))
EXACT: dict[str, Any] = dict.fromkeys(
    (
        *("delay_uncertainty", "tilt_uncertainty", "gain_uncertainty", "cross_talk"),
        *("rotation_uncertainty", "offset_uncertainty"),
    ),
    0.0,
)
"""Settings of a sensor that is as its driver and the URDF say."""


def make_chain(urdf: str = PUMA, **load: object) -> Chain:
    """A chain at `ft_sensor` with the wrench on the load unless told otherwise."""
    values = {"sensor_frame": "ft_sensor", "wrench_sign": "on_load", **load}
    settings = Settings.from_flat({f"load.{name}": value for name, value in values.items()})
    return Chain(Robot.from_urdf(urdf), settings, Target.LOAD)


def puma_motion(rest: float = 2.0, rounds: int = 1) -> Motion:
    """Stand still, then the paper's move forth and back."""
    move = paper_puma_move()
    start = move.at(np.zeros(1)).positions[0]
    return Sequence([Hold(start, rest)] + [move, move.reversed()] * rounds)


def simulate_puma(
    motion: Motion,
    seed: int = 0,
    schedule: Iterable[tuple[float, FloatArray | None]] = ((0.0, BAR),),
    tool: FloatArray | None = None,
    **sensors: object,
) -> Simulator:
    """A PUMA with the sensors of the paper's experiment, some of them replaced."""
    model: SensorModel = replace(paper_puma_sensors(seed), **sensors)  # type: ignore[arg-type]
    return Simulator(PUMA, "ft_sensor", motion, model, schedule, seed=seed, tool=tool)


def drive(chain: Chain, simulator: Simulator, start: float, end: float, chunk: float = 0.5) -> Output:
    """Feed a stretch of simulated time in chunks, with the wrenches that it uses; all that came out, put together."""
    readers: list[Callable[[float, float], JointBlock | WrenchBlock]] = [simulator.joints]
    if chain.target is Target.LOAD:
        readers.append(simulator.wrenches)
    elif chain.settings.links.source.has_base_wrench:
        readers.append(simulator.base_wrenches)
    edges = np.append(np.arange(start, end - 1e-9, chunk), end)
    outputs = []
    for a, b in itertools.pairwise(edges.tolist()):
        for read in readers:
            chain.push(read(a, b))
        outputs.append(chain.process())
    return join_outputs([output for output in outputs if output is not None])


def load_of(chain: Chain) -> LoadEstimate:
    """What the chain knows of the load."""
    estimate = chain.estimate()
    assert isinstance(estimate, LoadEstimate)
    return estimate


def push_force(block: WrenchBlock, force: FloatArray) -> WrenchBlock:
    """The same readings with (N, 6) or (6,) on top."""
    return WrenchBlock(block.frame, block.stamps, block.wrenches + force)


def sensor_of(chain: Chain) -> WristSensor:
    """What the chain knows of the wrist sensor."""
    sensor = load_of(chain).sensor
    assert sensor is not None
    return sensor


def process(chain: Chain) -> Output:
    """What comes out; something must."""
    output = chain.process()
    assert output is not None
    return output
