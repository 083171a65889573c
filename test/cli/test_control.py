"""`inertid feedforward` and `inertid practise` on a simulated arm that was identified from its own recording."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
import yaml
from support.bags import STORE, Message, joint_messages, write_bag
from support.chain import DDARM
from support.link_bags import BY_BASE, FRICTION, ddarm_messages, simulate_ddarm, true_links

from inertid_ros.cli.main import main
from inertid_ros.control.controllers import Follower, Gains
from inertid_ros.core.records import FloatArray
from inertid_ros.core.robot.robot import Robot
from inertid_ros.files.parameters import load_from_yaml
from inertid_ros.files.share import share_path
from inertid_ros.motions.motion import JointPath, MinimumJerk, with_rest
from inertid_ros.motions.trajectory import TOPIC, TYPE, Trajectory, fill_message, read_trajectory, sample_motion
from inertid_ros.sim.driven import Drive
from inertid_ros.sim.sensors import SensorModel
from inertid_ros.sim.simulator import DEFAULT_START, Simulator

NAMES = ("joint1", "joint2", "joint3")
MOVE = MinimumJerk([[0.5, 5.0, 4.0], [4.5, 1.0, -0.5]], [1.5])
"""Table 6.1 of the thesis."""
GAINS = Gains.of_inertias(np.array([15.5, 0.9, 0.36]), 23.6, 1.0)
LEAD = 0.5
"""Seconds of recording before the trajectory begins."""


def write_motion(folder: Path, **changes: object) -> Path:
    """The trajectory as `ros2 topic echo` writes it, some of its parts replaced."""
    trajectory = replace(sample_motion(with_rest(MOVE, 0.3, 0.3), NAMES), **changes)  # type: ignore[arg-type]
    points = [
        {
            "positions": positions.tolist(),
            "velocities": velocities.tolist(),
            "accelerations": accelerations.tolist(),
            "effort": [],
            "time_from_start": {"sec": int(time), "nanosec": round(time % 1.0 * 1e9)},
        }
        for time, positions, velocities, accelerations in zip(trajectory.times.tolist(), *trajectory.path, strict=True)
    ]
    file = folder / "motion.json"  # the same as YAML, and read in a hundredth of the time
    file.write_text(json.dumps({"joint_names": list(trajectory.joint_names), "points": points}))
    return file


@pytest.fixture(scope="module")
def arm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The estimate of the simulated arm."""
    folder = tmp_path_factory.mktemp("arm")
    bag = write_bag(folder / "bag", ddarm_messages(simulate_ddarm(), 12.0))
    parameters = folder / "arm.yaml"
    links = {"effort_unit": "newton_metre"}
    parameters.write_text(yaml.safe_dump({"/**": {"ros__parameters": {"estimators": ["links"], "links": links}}}))
    assert main(["replay", str(bag), "--params", str(parameters), "-o", str(folder / "result")]) == 0
    return folder / "result" / "estimate.json"


def fill(arm: Path, motion: Path, output: Path, *more: str) -> int:
    return main(["feedforward", str(motion), "--arm", str(arm), "-o", str(output), *more])


def run_trial(trajectory: Trajectory, path: Path, number: int, noise: float = 0.005) -> Path:
    """Let the true arm follow a trajectory, and record."""
    start = DEFAULT_START + 100_000_000_000 * number
    sent = replace(trajectory, stamp=start + round(LEAD * 1e9))
    assert trajectory.efforts is not None
    follower = Follower(trajectory.path.positions[0], GAINS, trajectory.efforts[0])
    follower.follow(sent, LEAD)
    sensors = SensorModel(joint_rate=1000.0, velocity_noise=noise, effort_noise=0.0)
    simulator = Simulator(
        DDARM,
        "ft_sensor",
        Drive(trajectory.path.positions[0], follower),
        sensors,
        seed=number,
        start_stamp=start,
        friction=FRICTION,
        links=true_links(),
    )
    messages: list[Message] = [(TOPIC, TYPE, start, bytes(STORE.serialize_cdr(fill_message(sent, STORE.types), TYPE)))]
    return write_bag(path, [*messages, *joint_messages(simulator.joints(0.0, trajectory.duration + 2.0 * LEAD))])


def true_efforts(path: JointPath) -> FloatArray:
    """What the simulated arm needs, by the prescribed-motion simulator's own inverse dynamics."""

    class Given:
        duration, joint_count = 1.0, 3

        def at(self, times: FloatArray) -> JointPath:
            return JointPath(*(part[: len(times)] for part in path))

    exact = SensorModel(joint_rate=100.0, effort_noise=0.0)
    simulator = Simulator(DDARM, "ft_sensor", Given(), exact, friction=FRICTION, links=true_links())
    efforts = simulator.joints(0.0, len(path.positions) / 100.0).efforts
    assert efforts is not None
    return efforts


def test_efforts_are_what_the_arm_needs_within_their_deviations(
    arm: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert fill(arm, write_motion(tmp_path), tmp_path / "out") == 0
    assert "largest effort" in capsys.readouterr().out
    filled = read_trajectory(tmp_path / "out")
    assert filled.efforts is not None
    with (tmp_path / "out" / "trajectory.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    deviations = np.array([[float(row[f"{name} effort deviation"]) for name in NAMES] for row in rows])
    efforts = np.array([[float(row[f"{name} effort"]) for name in NAMES] for row in rows])
    np.testing.assert_allclose(filled.efforts, efforts)
    moving = np.all(np.abs(filled.path.velocities) > 0.05, axis=1)  # at rest Coulomb friction is of either sign
    errors = np.abs(filled.efforts - true_efforts(filled.path))[moving]
    assert np.all(errors < 0.05 * np.abs(true_efforts(filled.path)).max(axis=0))
    assert np.mean(errors < 2.0 * deviations[moving]) > 0.9
    # The bag holds the same message.
    again = read_trajectory(tmp_path / "out" / "trajectory")
    assert again.efforts is not None
    np.testing.assert_array_equal(again.efforts, filled.efforts)


def test_a_carried_load_takes_more(arm: Path, tmp_path: Path) -> None:
    bar = share_path("config", "loads", "bar.yaml")
    short = sample_motion(MinimumJerk([[0.5, 3.0, 2.0], [0.8, 2.7, 1.7]], [0.5]), NAMES)
    motion = write_motion(tmp_path, times=short.times, path=short.path)
    assert fill(arm, motion, tmp_path / "bare") == 0
    assert fill(arm, motion, tmp_path / "loaded", "--load", str(bar), "--frame", "ft_sensor") == 0
    bare, loaded = (read_trajectory(tmp_path / name).efforts for name in ("bare", "loaded"))
    assert bare is not None
    assert loaded is not None
    # In the first pose, at rest: the weight of the bar on the lever of each joint.
    model = Robot.from_urdf(DDARM).model
    data, phi = model.createData(), load_from_yaml(bar)
    pin.framesForwardKinematics(model, data, np.array([0.5, 3.0, 2.0]))
    sensor = data.oMf[model.getFrameId("ft_sensor")]
    centre = sensor.act(phi[1:4] / phi[0])
    for joint in range(3):
        place = data.oMi[joint + 1]
        turning = np.cross(centre - place.translation, [0.0, 0.0, -9.80665 * phi[0]]) @ place.rotation[:, 2]
        assert loaded[0, joint] - bare[0, joint] == pytest.approx(-turning, abs=1e-6)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"joint_names": ("joint1", "joint2", "wrist")}, "lacks joint3"),
        ({"path": MOVE.at(np.linspace(0, 1.5, 211))._replace(positions=np.full((211, 3), 9.0))}, "position of joint1"),
        (
            {"path": MOVE.at(np.linspace(0, 1.5, 211))._replace(velocities=np.full((211, 3), 50.0))},
            "velocity of joint1",
        ),
        (
            {"path": MOVE.at(np.linspace(0, 1.5, 211))._replace(accelerations=np.full((211, 3), 900.0))},
            "more effort than the robot description allows",
        ),
        (
            {"path": MOVE.at(np.linspace(0, 1.5, 211))._replace(velocities=np.full((211, 2), 1.0))},
            "velocities of point 0",
        ),
        ({"times": np.zeros(211)}, "does not rise"),
    ],
)
def test_trajectories_that_cannot_be_used_are_named(
    changes: dict[str, object], message: str, arm: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert fill(arm, write_motion(tmp_path, **changes), tmp_path / "out") == 1
    assert message in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_files_that_cannot_be_used_are_named(arm: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    motion = write_motion(tmp_path)
    for urdf, message in (("puma560", "base_parameters do not fit"),):
        assert fill(arm, motion, tmp_path / "out", "--urdf", str(share_path("urdf", f"{urdf}.urdf"))) == 1
        assert message in capsys.readouterr().err
    bar = share_path("config", "loads", "bar.yaml")
    assert fill(arm, motion, tmp_path / "out", "--load", str(bar)) == 1
    assert "name it with --frame" in capsys.readouterr().err
    assert fill(arm, motion, tmp_path / "out", "--load", str(arm)) == 1
    assert "has no load" in capsys.readouterr().err
    assert fill(arm, tmp_path / "nothing.yaml", tmp_path / "out") == 1
    assert "cannot be read" in capsys.readouterr().err
    (tmp_path / "empty.yaml").write_text("joint_names: [joint1]\npoints: []\n")
    assert fill(arm, tmp_path / "empty.yaml", tmp_path / "out") == 1
    assert "0 points" in capsys.readouterr().err


def test_joints_whose_parameters_are_not_known_are_refused(
    arm: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    content = json.loads(arm.read_text())
    base = content["links"]["base_parameters"]
    covariance = np.array(base["predictor_covariance"])
    index = base["names"].index("link3.Izz")
    covariance[index, index] += 1.0
    base["predictor_covariance"] = covariance.tolist()
    unsure = tmp_path / "estimate.json"
    unsure.write_text(json.dumps(content))
    assert fill(unsure, write_motion(tmp_path), tmp_path / "out", "--urdf", str(share_path("urdf", "ddarm.urdf"))) == 1
    error = capsys.readouterr().err
    assert "the parameters of" in error
    assert "joint3" in error
    assert "joint1 (" not in error


def test_an_arm_that_is_known_by_its_base_alone_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bag = write_bag(tmp_path / "bag", ddarm_messages(simulate_ddarm(), 3.0, base=True))
    parameters = tmp_path / "arm.yaml"
    links = {"source": str(BY_BASE.links.source)}
    parameters.write_text(yaml.safe_dump({"/**": {"ros__parameters": {"estimators": ["links"], "links": links}}}))
    main(["replay", str(bag), "--params", str(parameters), "-o", str(tmp_path / "result")])
    assert fill(tmp_path / "result", write_motion(tmp_path), tmp_path / "out") == 1
    assert "shows no friction" in capsys.readouterr().err


def test_practice_reaches_the_noise_and_says_so(arm: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert fill(arm, write_motion(tmp_path), tmp_path / "first") == 0
    first = read_trajectory(tmp_path / "first")
    assert first.efforts is not None
    # Begin with half of what the arm takes, to have something to learn.
    bags = [run_trial(replace(first, efforts=0.5 * first.efforts), tmp_path / "trial1", 1)]
    output = tmp_path / "next"
    assert main(["practise", *map(str, bags), "--arm", str(arm), "-o", str(output)]) == 0
    assert "times the noise: practise" in capsys.readouterr().out
    bags.append(run_trial(read_trajectory(output / "trajectory"), tmp_path / "trial2", 2))
    assert main(["practise", *map(str, bags), "--arm", str(arm), "-o", str(tmp_path / "last")]) == 0
    out = capsys.readouterr().out
    assert "more practice cannot improve it" in out
    assert "practice converges" in out
    page = (tmp_path / "last" / "practice.html").read_text()
    assert "learned" in page
    assert page.count('class="plotly-graph-div"') == 4


def test_recordings_that_cannot_be_used_are_named(
    arm: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def practise(*bags: Path) -> str:
        output = tmp_path / "out"
        assert main(["practise", *map(str, bags), "--arm", str(arm), "-o", str(output)]) == 1
        assert not output.exists()
        return capsys.readouterr().err

    still = sample_motion(MinimumJerk([[0.5, 5.0, 4.0], [0.6, 5.0, 4.0]], [0.4]), NAMES)
    other = sample_motion(MinimumJerk([[0.5, 5.0, 4.0], [0.7, 5.0, 4.0]], [0.4]), NAMES)
    one, two = (replace(motion, efforts=np.zeros_like(motion.path.positions)) for motion in (still, other))
    good, another = run_trial(one, tmp_path / "good", 1), run_trial(two, tmp_path / "another", 2)
    assert "of another trajectory" in practise(good, another)
    assert "no trajectory_msgs/msg/JointTrajectory" in practise(
        write_bag(tmp_path / "bare", ddarm_messages(simulate_ddarm(), 1.0))
    )
    sent = bytes(STORE.serialize_cdr(fill_message(still, STORE.types), TYPE))
    joints = list(ddarm_messages(simulate_ddarm(), 1.0))
    assert "sent without efforts" in practise(
        write_bag(tmp_path / "plain", [(TOPIC, TYPE, DEFAULT_START, sent), *joints])
    )
    late = bytes(STORE.serialize_cdr(fill_message(replace(one, stamp=DEFAULT_START + 10**12), STORE.types), TYPE))
    assert "begin to record before the motion" in practise(
        write_bag(tmp_path / "late", [(TOPIC, TYPE, DEFAULT_START, late), *joints])
    )
