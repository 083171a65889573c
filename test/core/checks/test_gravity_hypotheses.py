"""A wrong configuration is an error that names its cause; a right one never is."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
import pinocchio as pin
import pytest
from imperfect import GRAVITY, SENSOR, Arm, Disturbance, Imperfections, Motion, QuinticMoves, random_load, record
from support.recordings import RECORDINGS, read_load_recording

from inertid_ros.core.chain import Chain, Target
from inertid_ros.core.checks.gravity_hypotheses import divide, find_bias_cost
from inertid_ros.core.estimation.estimate import LoadEstimate
from inertid_ros.core.records import EventKind, FloatArray, IntArray, JointBlock, WrenchBlock
from inertid_ros.core.robot.robot import Robot
from inertid_ros.core.settings.settings import LoadSettings, Settings
from inertid_ros.core.verdict import judge

needs_data = pytest.mark.skipif(not (RECORDINGS / "wrist_ft_static_poses").exists(), reason="needs the recordings")

CAUSES = {
    "mirrored_0": "frame_turned",
    "mirrored_1": "frame_turned",
    "mirrored_2": "frame_turned",
    "left_handed_0": "frame_turned",
    "left_handed_2": "frame_turned",
    "degrees": "joints_in_degrees",
    "interchanged": "joints_interchanged",
    "gravity_x": "gravity_direction",
    "gravity_y": "gravity_direction",
    "turned": "frame_turned",
    "tilted": "gravity_direction",
}
"""What is wrong, and what must be found."""
IMPERFECT = Imperfections(
    jitter=1e-4, delay=-0.003, tilt=0.0087, gain=0.01, cross_talk=0.01, drift=0.02, coloured=0.3, correlation=0.2
)


class Data(NamedTuple):
    """Joint states and wrenches, and the robot they are said to belong to."""

    names: tuple[str, ...]
    joint_stamps: IntArray
    positions: FloatArray
    wrench_stamps: IntArray
    wrenches: FloatArray
    urdf: str
    frame: str
    gravity: FloatArray = np.array([0.0, 0.0, -GRAVITY])

    def alter(self, what: str) -> Data:
        """The same with something wrong."""
        positions, wrenches, gravity = self.positions.copy(), self.wrenches.copy(), self.gravity
        kind, _, axis = what.rpartition("_")
        if kind == "mirrored":
            wrenches[:, int(axis)] *= -1.0
        elif kind == "left_handed":
            wrenches[:, [int(axis), 3 + int(axis)]] *= -1.0
        elif kind == "gravity":
            gravity = GRAVITY * np.eye(3)["xyz".index(axis)]
        elif what == "degrees":
            positions = np.degrees(positions)
        elif what == "interchanged":
            positions[:, [-2, -1]] = positions[:, [-1, -2]]
        elif what == "turned":
            turn = pin.exp3(np.array([0.4, -1.1, 0.9]))
            wrenches = np.hstack((wrenches[:, :3] @ turn.T, wrenches[:, 3:] @ turn.T))
        elif what == "tilted":
            gravity = pin.exp3(np.radians(10.0) * np.array([0.6, -0.8, 0.0])) @ gravity
        return self._replace(positions=positions, wrenches=wrenches, gravity=gravity)

    def find_errors(self) -> dict[str, str]:
        """Codes and messages of the errors at the end."""
        settings = Settings(load=LoadSettings(sensor_frame=self.frame), gravity=self.gravity.tolist())
        chain = Chain(Robot.from_urdf(self.urdf), settings, Target.LOAD)
        chain.push(JointBlock(self.names, self.joint_stamps, self.positions, None))
        chain.push(WrenchBlock(self.frame, self.wrench_stamps, self.wrenches))
        chain.process()
        estimate = chain.estimate()
        assert estimate is not None
        return {item.code: item.message for item in estimate.findings if item.level == "error"}


@cache
def read(name: str) -> Data:
    """A recording of a real wrist sensor."""
    urdf, joints, wrenches = read_load_recording(name)
    return Data(joints.names, joints.stamps, joints.positions, wrenches.stamps, wrenches.wrenches, urdf, wrenches.frame)


class HeldPoses(QuinticMoves):
    """Poses that are held for two seconds each; what is between them is not recorded."""

    def at(self, times: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Positions, velocities and accelerations (N, n)."""
        q = self._poses[np.clip(times / self._duration, 0.0, len(self._poses) - 1.0).astype(int)]
        return q, np.zeros_like(q), np.zeros_like(q)


def simulate(seed: int, kind: str) -> Data:
    """An imperfect sensor on an arm that goes through poses or moves, with a load, a bare gripper or a pick-up."""
    rng = np.random.default_rng(seed)
    arm = Arm(("UR10", "Panda", "PUMA")[seed % 3])
    count = len(arm.joints)
    poses = rng.uniform(-2.0, 2.0, (12, count))
    held = HeldPoses if kind == "held" else QuinticMoves
    moves = held(poses, 2.0) if kind in ("poses", "held") else Motion(count, rng, 0.8)
    phi = random_load(rng)
    if kind == "gripper":
        phi *= rng.uniform(0.1, 0.3) / phi[0]
    draw = int(rng.integers(2**30))
    made = record(arm, moves, phi, IMPERFECT, np.random.default_rng(draw), 22.0, 100.0)
    wrenches = made.wrenches
    if kind == "pick_up":
        part = record(arm, moves, 0.2 * phi, IMPERFECT, np.random.default_rng(draw), 22.0, 100.0).wrenches
        wrenches = np.vstack((part[:900], wrenches[900:]))
    data = Data(arm.joints, made.joint_stamps, made.positions, made.wrench_stamps, wrenches, arm.urdf(), SENSOR)
    if kind != "held":
        return data
    keep = np.arange(2200) % 200 < 150
    return data._replace(
        joint_stamps=data.joint_stamps[keep],
        positions=data.positions[keep],
        wrench_stamps=data.wrench_stamps[keep],
        wrenches=data.wrenches[keep],
    )


@needs_data
@pytest.mark.parametrize("what", CAUSES)
def test_altered_recording_of_real_poses_is_an_error_that_names_the_cause(what: str) -> None:
    assert CAUSES[what] in read("wrist_ft_static_poses").alter(what).find_errors()


@needs_data
@pytest.mark.parametrize("what", [what for what in CAUSES if what not in ("mirrored_1", "tilted")])
def test_altered_recording_of_real_motion_is_an_error(what: str) -> None:
    """Gravity turns in the x-z plane there: nothing tells of y, nor of a base that is tilted across the plane."""
    assert set(CAUSES.values()) & set(read("wrist_ft_free_motion").alter(what).find_errors())


@needs_data
@pytest.mark.parametrize("name", ["wrist_ft_static_poses", "wrist_ft_free_motion"])
def test_real_recordings_as_they_are_have_no_error(name: str) -> None:
    assert read(name).find_errors() == {}


@pytest.mark.parametrize("what", CAUSES)
def test_altered_simulated_poses_with_pauses_between_are_an_error_that_names_the_cause(what: str) -> None:
    assert CAUSES[what] in simulate(4, "held").alter(what).find_errors()


@pytest.mark.parametrize("what", CAUSES)
def test_altered_simulated_motion_is_an_error(what: str) -> None:
    errors = simulate(3, "load").alter(what).find_errors()
    assert {*CAUSES.values(), "frame_unclear"} & set(errors)


@pytest.mark.parametrize("kind", ["load", "poses", "held", "gripper", "pick_up"])
@pytest.mark.parametrize("seed", range(3))
def test_right_configuration_has_no_error(seed: int, kind: str) -> None:
    assert simulate(seed, kind).find_errors() == {}


def test_pick_and_place_that_turns_little_has_no_error() -> None:
    """Between four poses, with a load that comes and goes every two seconds: its runs are many, with one bias."""
    rng = np.random.default_rng(16)
    arm = Arm("Panda")
    moves = QuinticMoves(rng.uniform(-1.2, 1.2, (4, len(arm.joints)))[np.arange(14) % 4], 2.0)
    phi, draw = random_load(rng), int(rng.integers(2**30))
    empty, full = (
        record(arm, moves, share * phi, IMPERFECT, np.random.default_rng(draw), 28.0, 100.0) for share in (0.2, 1.0)
    )
    is_full = np.arange(2800) // 200 % 2 == 1
    wrenches = np.where(is_full[:, None], full.wrenches, empty.wrenches)
    data = Data(arm.joints, full.joint_stamps, full.positions, full.wrench_stamps, wrenches, arm.urdf(), SENSOR)
    assert data.find_errors() == {}


@pytest.mark.parametrize("is_common", [True, False])
def test_one_bias_costs_little_only_if_it_is_common(is_common: bool) -> None:
    """Against all equations at once."""
    rng, runs = np.random.default_rng(5), [(0, 10), (10, 25), (25, 40)]
    felt, weights = rng.normal(size=(40, 3)) * 3.0, rng.uniform(50.0, 150.0, 40)
    masses, biases = (0.3, 1.5, 0.4), rng.normal(size=(3, 3)) * (0.0 if is_common else 1.0)
    forces = np.vstack([m * felt[i:j] + 2.0 + b for m, b, (i, j) in zip(masses, biases, runs, strict=True)])
    forces += 0.1 * rng.normal(size=(40, 3))

    def solve(bias_of_run: list[int]) -> float:
        design = np.zeros((40, 3, 3 + 3 * (1 + max(bias_of_run))))
        for run, (start, stop) in enumerate(runs):
            design[start:stop, :, run] = felt[start:stop]
            first = 3 + 3 * bias_of_run[run]
            design[start:stop, :, first : first + 3] = np.eye(3)
        root = np.repeat(np.sqrt(weights), 3)
        return float(
            np.linalg.lstsq(root[:, None] * design.reshape(120, -1), root * forces.ravel(), rcond=None)[1].item()
        )

    found = find_bias_cost(felt, forces, weights, runs)
    assert found == pytest.approx(solve([0, 0, 0]) - solve([0, 1, 2]))
    assert (found < 25.0) is is_common


def test_poses_are_divided_where_the_load_changes() -> None:
    """Against the cost of the division that was simulated."""
    rng = np.random.default_rng(0)
    felt = rng.normal(size=(40, 3)) * 6.0
    masses = np.repeat([0.3, 1.5, 0.3], [12, 18, 10])
    forces = masses[:, None] * felt + 2.0 + 0.1 * rng.normal(size=(40, 3))
    cost, runs = divide(felt, forces, np.full(40, 100.0))
    assert runs == [(0, 12), (12, 30), (30, 40)]
    expected = 50.0
    for start, stop in runs:
        design = np.vstack([np.column_stack((a, np.eye(3))) for a in felt[start:stop]])
        expected += 100.0 * np.linalg.lstsq(design, forces[start:stop].ravel(), rcond=None)[1].item()
    assert cost == pytest.approx(expected)


def _lead_by_hand(arm: Arm, motion: QuinticMoves, poses: int, rng: np.random.Generator) -> Disturbance:
    """Forces of about 30 N from 0.3 s before each move of 2 s, every 6 s, to 0.3 s after it: whoever turns the arm."""
    directions = rng.normal(size=(poses, 3))
    directions *= 30.0 / np.linalg.norm(directions, axis=1, keepdims=True)

    def disturb(times: FloatArray, _: FloatArray) -> FloatArray:
        data, wrenches = arm.model.createData(), np.zeros((len(times), 6))
        since = times - motion.rest
        for row, position in enumerate(motion.at(times)[0]):
            move = int((since[row] + 0.3) // 6.0)
            if 0 <= move < poses - 1 and since[row] - 6.0 * move < 2.3:
                pin.framesForwardKinematics(arm.model, data, position)
                force = data.oMf[arm.frame].rotation.T @ directions[move] * (1.0 + 0.4 * np.sin(8.0 * times[row]))
                wrenches[row] = np.concatenate((force, np.cross([0.0, 0.02, 0.1], force)))
        return wrenches

    return disturb


@pytest.mark.parametrize("seed", range(3))
def test_an_arm_that_is_led_by_hand_from_pose_to_pose_is_set_up_right(seed: int) -> None:
    """And what is found in the poses is the load."""
    rng, arm = np.random.default_rng(300 + seed), Arm("UR10")
    motion, phi = QuinticMoves(rng.uniform(-1.5, 1.5, (8, 6)), 2.0, 4.0), random_load(rng)
    data = record(arm, motion, phi, IMPERFECT, rng, 44.0, 125.0, _lead_by_hand(arm, motion, 8, rng))
    chain = Chain(Robot.from_urdf(arm.urdf()), Settings(load=LoadSettings(sensor_frame=SENSOR)), Target.LOAD)
    chain.push(JointBlock(arm.joints, data.joint_stamps, data.positions, None))
    chain.push(WrenchBlock(SENSOR, data.wrench_stamps, data.wrenches))
    output = chain.process()
    assert output is not None
    assert {event.kind for event in output.events} >= {EventKind.CONTACT_BEGAN, EventKind.CONTACT_ENDED}
    estimate = chain.estimate()
    assert isinstance(estimate, LoadEstimate)
    assert judge(estimate).level != "error"
    assert abs(estimate.values[0] - data.phi[0]) < 0.02 * data.phi[0]
    assert np.abs((estimate.values - data.phi) / estimate.deviations)[:4].max() < 3.0
