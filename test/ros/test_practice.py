"""The simulated direct drive arm practises the trajectory of table 6.1 over ROS, by the commands of the README."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import rclpy
import yaml
from support.bags import joint_messages, text_message, write_bag
from support.stage import Stage

from inertid_ros.cli.main import main
from inertid_ros.motions.motion import MinimumJerk, with_rest
from inertid_ros.motions.trajectory import (
    read_trajectory,
    sample_motion,
    write_trajectory,
)
from inertid_ros.sim.scenario import ScenarioSettings, build_simulator, read_urdf

NAMES = ("joint1", "joint2", "joint3")
POSE = [0.5, 5.0, 4.0]
MOVE = MinimumJerk([POSE, [4.5, 1.0, -0.5]], [1.5])
ARM: dict[str, Any] = {
    "robot": "ddarm",
    "links": "paper",
    "load": "none",
    "tachometer": True,
    "velocity_noise": 0.01,
    "effort": True,
    "effort_noise": [0.0],
    "joint_rate": 500.0,
    "viscous_friction": [0.66, 0.23, 0.23],
    "coulomb_friction": [6.6, 2.3, 2.3],
}


def identify(folder: Path) -> Path:
    """The estimate of the arm, from its own recording, without friction in the model, as in the thesis."""
    simulator = build_simulator(ScenarioSettings(**{**ARM, "effort_noise": [2.0]}, motion="paper_link_moves"))
    messages = list(joint_messages(simulator.joints(0.01, 14.0)))
    bag = write_bag(folder / "bag", [text_message(read_urdf("ddarm"), messages[0][2]), *messages])
    drives = dict.fromkeys(("viscous", "coulomb", "rotor_inertia", "offset"), False)
    content = {"estimators": ["links"], "links": {"effort_unit": "newton_metre", **drives}}
    (folder / "arm.yaml").write_text(yaml.safe_dump({"/**": {"ros__parameters": content}}))
    main(["replay", str(bag), "--params", str(folder / "arm.yaml"), "-o", str(folder / "result")])
    return folder / "result" / "estimate.json"


@pytest.mark.long
def test_three_practice_movements_bring_the_velocity_error_to_the_noise(
    ros_domain: int, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    arm = identify(tmp_path)
    rested = with_rest(MOVE, 0.5, 0.3)
    back = with_rest(MOVE.reversed(), 0.3, 0.3)
    for name, motion in (("there", rested), ("back", back)):
        plain = sample_motion(motion, NAMES)
        (tmp_path / name).mkdir()
        write_trajectory(tmp_path / name, plain)
        output = tmp_path / f"{name}_filled"
        assert main(["feedforward", str(tmp_path / name), "--arm", str(arm), "-o", str(output)]) == 0
    rclpy.init(args=[], domain_id=ros_domain)
    stage = Stage(**ARM, pose=POSE, drive_noise=[1.3, 0.46, 0.46])
    bags: list[str] = []
    try:
        following = read_trajectory(tmp_path / "there_filled")
        for number in range(4):
            bags.append(str(write_bag(tmp_path / f"trial{number}", stage.perform(following))))
            stage.perform(read_trajectory(tmp_path / "back_filled"))
            output = tmp_path / f"next{number}"
            capfd.readouterr()
            assert main(["practise", *bags, "--arm", str(arm), "-o", str(output)]) == 0
            following = read_trajectory(output)
    finally:
        stage.close()
        rclpy.shutdown()
    said = capfd.readouterr().out
    assert "more practice cannot improve it" in said
    assert "practice converges" in said
    assert np.isfinite(following.path.positions).all()
