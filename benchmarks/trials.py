"""Practice movements of a simulated arm, as in chapter 6 of the thesis."""

from __future__ import annotations

import numpy as np

from inertid_ros.control.controllers import Gains, PDController, Reference
from inertid_ros.control.inverse_model import Inverse
from inertid_ros.control.practice import LearningModel, Practice, learn, resample_trial
from inertid_ros.core.records import FloatArray
from inertid_ros.motions.motion import Motion, find_ends, with_rest
from inertid_ros.sim.arm import JointFriction
from inertid_ros.sim.driven import Drive
from inertid_ros.sim.sensors import SensorModel
from inertid_ros.sim.simulator import Simulator

REST = 0.5
"""Standstill before and after a motion [s]."""
RATE = 1000.0
"""Of controllers and joint states [Hz]."""


def practise(
    urdf: str,
    frame: str,
    sensors: SensorModel,
    model: LearningModel,
    motion: Motion,
    gains: Gains,
    trials: int,
    first: Inverse | None = None,
    seed: int = 0,
    drive_noise: FloatArray | float = 0.0,
    links: FloatArray | None = None,
    friction: JointFriction | None = None,
) -> list[Practice]:
    """Simulate trials one after the other, each with what was learned from the one before (eq. 6.1, 6.7, 6.11).

    Only the motion is learned: before and after it, its first and last efforts are held, as a driver does.
    """
    reference = Reference(with_rest(motion, REST, REST), RATE)
    times = np.arange(len(reference.path.positions)) / RATE - REST
    command = (first or model).efforts(reference.path)
    practices: list[Practice] = []
    for number in range(trials):
        controller = PDController(reference, gains, command)
        drive = Drive(np.asarray(find_ends(motion)[0]), controller, RATE, effort_noise=drive_noise)
        simulator = Simulator(
            urdf, frame, drive, sensors, seed=1000 * seed + number, start_stamp=0, links=links, friction=friction
        )
        block = simulator.joints(0.0, motion.duration + 2.0 * REST)
        assert block.velocities is not None
        assert block.efforts is not None
        measured = block.positions, block.velocities, block.efforts
        trial = resample_trial(block.stamps * 1e-9 - REST, measured, motion, times, command)
        practices.append(learn(model, motion, trial))
        learned, during = practices[-1].command, np.clip(times, 0.0, motion.duration)
        command = np.column_stack([np.interp(during, trial.times, column) for column in learned.T])
    return practices
