"""Make the picture of the README: python docs/make_pictures.py (needs matplotlib besides the package itself).

The run of `make demo`, without ROS: a simulated PUMA picks up the bar in motion and releases it again.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from inertid_ros.core.chain import Chain, Target
from inertid_ros.core.estimation.estimate import LoadEstimate
from inertid_ros.core.records import FloatArray
from inertid_ros.core.robot.robot import Robot
from inertid_ros.core.settings.settings import LoadSettings, Settings
from inertid_ros.files.parameters import load_from_yaml
from inertid_ros.files.share import share_path
from inertid_ros.motions.motion import Hold, Repeat, Sequence, paper_puma_move, there_and_back
from inertid_ros.sim.sensors import paper_puma_sensors
from inertid_ros.sim.simulator import Simulator

IMAGES = Path(__file__).parent / "images"
ATTACH, RELEASE, END, STEP = 8.7, 20.3, 26.0, 0.1


def run() -> tuple[list[LoadEstimate], FloatArray, FloatArray, FloatArray, FloatArray]:
    """Estimates every 0.1 s, the truth, and times, measured and predicted wrenches."""
    urdf = share_path("urdf", "puma560.urdf").read_text()
    truth = load_from_yaml(share_path("config", "loads", "bar.yaml"))
    move = paper_puma_move()
    motion = Sequence([Hold(move.at(np.zeros(1)).positions[0], 2.0), Repeat(there_and_back(move, 0.5))])
    sensors = paper_puma_sensors(1)
    simulator = Simulator(urdf, "ft_sensor", motion, sensors, [(ATTACH, truth), (RELEASE, None)], seed=1)
    chain = Chain(Robot.from_urdf(urdf), Settings(load=LoadSettings(sensor_frame="ft_sensor")), Target.LOAD)
    estimates, stamps, predicted, residual = [], [], [], []
    for start in np.arange(0.0, END, STEP).tolist():
        chain.push(simulator.joints(start, start + STEP))
        chain.push(simulator.wrenches(start, start + STEP))
        output, estimate = chain.process(), chain.estimate()
        assert output is not None
        assert isinstance(estimate, LoadEstimate)
        stamps.append(output.stamps)
        predicted.append(output.predicted)
        residual.append(output.residual)
        estimates.append(estimate)
    times = (np.concatenate(stamps) - stamps[0][0]) * 1e-9
    prediction = np.concatenate(predicted)
    return estimates, truth, times, prediction + np.concatenate(residual), prediction


def draw_convergence(
    estimates: list[LoadEstimate], truth: FloatArray, times: FloatArray, measured: FloatArray, predicted: FloatArray
) -> None:
    """Mass and Ixx with their 95 % bands, and the force that is predicted."""
    moments = np.arange(1, len(estimates) + 1) * STEP
    carried = (moments > ATTACH) & (moments <= RELEASE)
    figure, axes = plt.subplots(3, 1, figsize=(9.0, 7.0), sharex=True, constrained_layout=True)
    for axis, index, label, reach in ((axes[0], 0, "mass [kg]", 2.2), (axes[1], 4, "Ixx [kg m²]", 0.06)):
        _draw_parameter(axis, estimates, moments, truth[index] * carried, index)
        axis.set_ylabel(label)
        axis.set_ylim(-0.15 * reach, reach)
    axes[0].legend(loc="upper right", frameon=False)
    axes[2].plot(times, measured[:, 1], color="0.6", linewidth=0.8, label="measured fy")
    axes[2].plot(times, predicted[:, 1], color="tab:blue", linewidth=1.0, label="predicted")
    axes[2].plot(times, (measured - predicted)[:, 1], color="tab:red", linewidth=0.8, label="residual: contact")
    axes[2].set_ylabel("force [N]")
    axes[2].set_ylim(-20.0, 32.0)
    axes[2].set_xlabel("time [s]")
    axes[2].legend(loc="upper right", frameon=False)
    for axis in axes:
        axis.spines[["top", "right"]].set_visible(False)
        for moment, text in ((ATTACH, "picked up"), (RELEASE, "released")):
            axis.axvline(moment, color="0.8", linewidth=0.8, zorder=0)
            if axis is axes[0]:
                axis.text(moment + 0.15, 1.95, text, color="0.4")
    figure.savefig(IMAGES / "convergence.png", dpi=110)


def _draw_parameter(
    axis: Any, estimates: list[LoadEstimate], moments: FloatArray, truth: FloatArray, index: int
) -> None:
    shown = np.array([estimate.states[index] != "not excited yet" for estimate in estimates])
    values = np.where(shown, [estimate.values[index] for estimate in estimates], np.nan)
    bands = 1.96 * np.sqrt([estimate.covariance[index, index] for estimate in estimates])
    axis.step(moments, truth, where="post", color="black", linewidth=1.0, linestyle="--", label="truth")
    axis.plot(moments, values, color="tab:blue", label="estimate")
    axis.fill_between(moments, values - bands, values + bands, color="tab:blue", alpha=0.25, label="95 %")


def main() -> None:
    """Make the picture."""
    IMAGES.mkdir(exist_ok=True)
    estimates, truth, times, measured, predicted = run()
    draw_convergence(estimates, truth, times, measured, predicted)


if __name__ == "__main__":
    main()
