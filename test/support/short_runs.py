"""Chains of all kinds on a second of simulated motion: their results as plain numbers, for one process or another."""

from __future__ import annotations

import pickle
import sys
from pathlib import Path

import numpy as np

from inertid_ros.core.chain import Chain, Target
from inertid_ros.core.equations.model import IdentifiedArm, LinkModel
from inertid_ros.core.records import FloatArray, JointBlock, WrenchBlock, join_outputs
from inertid_ros.core.robot.robot import Robot
from inertid_ros.core.rows.advance import advance
from inertid_ros.core.settings.settings import Settings
from support.chain import BAR, DDARM, make_chain, puma_motion, simulate_puma
from support.link_chain import make_link_chain, make_motion, simulate_links

CASES = ("load", "load_integral", "load_differentiated", "effort", "base_wrench", "both", "energy", "payload")


def run_case(name: str) -> dict[str, FloatArray]:
    """Predictions, rows and estimate of one chain."""
    chain, joints, wrenches = _make(name)
    outputs = []
    for start in range(0, len(joints.stamps), 37):
        part = slice(start, start + 37)
        chain.push(joints.take(part))
        chain.push(wrenches.take(part))
        if (output := chain.process()) is not None:
            outputs.append(output)
    output, estimate = join_outputs(outputs), chain.estimate()
    assert estimate is not None
    return {
        "predicted": output.predicted,
        "rows": output.rows.predicted,
        "values": estimate.values,
        "covariance": estimate.covariance,
    }


def _make(name: str) -> tuple[Chain, JointBlock, WrenchBlock]:
    if name.startswith("load"):
        method = name.removeprefix("load_") if "_" in name else "filtered"
        simulator = simulate_puma(puma_motion(rest=0.2), 3, [(0.0, None), (0.6, BAR)])
        return make_chain(method=method), simulator.joints(0.0, 1.0), simulator.wrenches(0.0, 1.0)
    simulator = simulate_links(make_motion())
    joints, wrenches = simulator.joints(0.0, 0.5), simulator.base_wrenches(0.0, 0.5)
    names = list(simulator.joint_names)
    if name == "energy":
        return make_link_chain(joints=names, method="energy"), joints, wrenches
    if name != "payload":
        return make_link_chain(joints=names, source=name), joints, wrenches
    robot = Robot.from_urdf(DDARM)
    values = {"links.effort_unit": "newton_metre", "load.source": "effort", "load.sensor_frame": "link3"}
    settings = Settings.from_flat(values)
    model = LinkModel.from_settings(robot, settings, names)
    chosen = tuple(model.base.names[column] for column in model.base.columns)
    arm = IdentifiedArm(tuple(names), chosen, model.prior, np.diag((1e-3 * model.prior_deviations) ** 2))
    return Chain(robot, settings, Target.LOAD, arm=arm), joints, wrenches


def main(path: Path) -> None:
    """Write all results to a file, and whether nothing was compiled."""
    results = {f"{name}.{key}": value for name in CASES for key, value in run_case(name).items()}
    results["is_pure"] = np.array(float(not hasattr(advance, "signatures")))
    with path.open("wb") as file:
        pickle.dump(results, file)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
