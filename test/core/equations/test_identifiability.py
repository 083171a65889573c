"""What is identifiable of an arm's links: the paper's DDArm, the PUMA, and ranks counted in other ways."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from support.arm_regressor import ArmRegressor
from support.random_robots import make_chain, make_random_tree

from inertid_ros.core.equations.base_parameters import BaseParameters, draw_states, find_identifiable, square_up
from inertid_ros.core.records import FloatArray, IntArray
from inertid_ros.core.rigid_body.inertial import pinocchio_columns
from inertid_ros.core.robot.robot import ArmModel, Robot
from inertid_ros.core.settings.choices import Source
from inertid_ros.files.share import share_path

DOWN = np.array([0.0, 0.0, -9.80665])
TILTED = np.array([3.0, 4.0, -8.0])
UPPER_ARM = 0.45  # l2 of the paper

# Table 5 of the paper: signs and factors of the parameters in each combination, and the value table 3 gives it.
COMBINATIONS = {
    "SP1": ({"link3.mcz": UPPER_ARM, "link2.Iyz": 1.0}, -1.3565),
    "SP2": ({"link3.Ixx": 1.0, "link3.Iyy": -1.0}, -0.2735),
    "SP3": ({"link2.Izz": 1.0, "link3.Ixx": 1.0}, 0.8632),
    "SP4": ({"link1.Izz": 1.0, "link2.Ixx": 1.0, "link3.Ixx": 1.0, "link3.m": UPPER_ARM**2}, 12.8163),
    "SP5": ({"link2.Ixx": 1.0, "link3.Ixx": 1.0, "link2.Iyy": -1.0}, 0.4147),
    "SP6": ({"link3.mcz": 1.0, "link2.mcy": -1.0}, -3.0813),
}

Turn = tuple[float, float, float]
UPRIGHT, RIGHT, LEFT = (0.0, 0.0, 0.0), (np.pi / 2, 0.0, 0.0), (-np.pi / 2, 0.0, 0.0)


def read_arm(name: str, rewrite: tuple[str, str] = ("", "")) -> ArmModel:
    text = share_path("urdf", name).read_text(encoding="utf-8")
    return ArmModel.of(Robot.from_urdf(text.replace(*rewrite) if rewrite[0] else text), DOWN)


def make_arm(turns: list[Turn], size: float = 0.4, gravity: FloatArray = DOWN, kinds: str = "") -> ArmModel:
    """Joints along z after the given turns, R or P, with offsets in all directions."""
    names = {"R": "revolute", "P": "prismatic"}
    chain = [
        (names[kind], (0.3 * size, -0.2 * size, size), turn)
        for kind, turn in zip(kinds or "R" * 9, turns, strict=False)
    ]
    return ArmModel.of(Robot.from_urdf(make_chain(chain)), gravity)


def name(base: BaseParameters, group: IntArray) -> set[str]:
    return {base.names[index] for index in group}


def test_ddarm_has_the_groups_of_the_paper() -> None:
    base = find_identifiable(read_arm("ddarm.urdf"), Source.EFFORT)
    assert name(base, base.alone) == {
        *(f"link2.{parameter}" for parameter in ("mcx", "Ixy", "Ixz")),
        *(f"link3.{parameter}" for parameter in ("mcx", "mcy", "Ixy", "Ixz", "Iyz", "Izz")),
    }
    assert name(base, base.combined) == {key for terms, _ in COMBINATIONS.values() for key in terms}
    assert (len(base.alone), len(base.combined), len(base.absent), base.rank) == (9, 10, 11, 15)


def test_ddarm_has_the_combinations_of_the_paper_with_the_values_of_its_cad_model() -> None:
    """Exactly, but for the sign of those that stand for a parameter which the paper subtracts."""
    arm = read_arm("ddarm.urdf")
    base = find_identifiable(arm, Source.EFFORT)
    values = base.combination @ arm.parameters
    for terms, expected in COMBINATIONS.values():
        row = np.array([terms.get(parameter, 0.0) for parameter in base.names])
        (index, sign), *others = [
            (index, sign)
            for index, ours in enumerate(base.combination)
            for sign in (1.0, -1.0)
            if np.array_equal(sign * ours, row)
        ]
        assert not others
        assert sign * values[index] == pytest.approx(expected, abs=5e-5)


@pytest.mark.parametrize(
    ("robot", "source", "rank"),
    [
        ("ddarm.urdf", Source.EFFORT, 15),
        ("ddarm.urdf", Source.BASE_WRENCH, 20),
        ("ddarm.urdf", Source.BOTH, 20),
        ("puma560.urdf", Source.EFFORT, 36),
        ("puma560.urdf", Source.BASE_WRENCH, 41),
        ("puma560.urdf", Source.BOTH, 41),
    ],
)
@pytest.mark.parametrize("right_angle", ["1.5707963267948966", "1.5708", "1.57080"])
def test_shipped_arms_have_the_known_ranks_however_right_angles_are_written(
    robot: str, source: Source, rank: int, right_angle: str
) -> None:
    exact = find_identifiable(read_arm(robot), source)
    base = find_identifiable(read_arm(robot, ("1.5707963267948966", right_angle)), source)
    assert base.rank == rank
    np.testing.assert_array_equal(base.columns, exact.columns)
    np.testing.assert_allclose(base.combination, exact.combination, atol=1e-9)
    assert base.texts == exact.texts


@pytest.mark.parametrize("size", [1e-3, 0.4, 1e3])
def test_seven_joints_have_the_ranks_that_are_counted(size: float) -> None:
    """Mayeda, Yoshida and Osuka: 7 n - 4, and two fewer if the first axis is along gravity."""
    turns = [UPRIGHT, RIGHT, LEFT, LEFT, RIGHT, RIGHT, LEFT]
    assert find_identifiable(make_arm(turns, size), Source.EFFORT).rank == 7 * 7 - 4 - 2
    assert find_identifiable(make_arm(turns, size, TILTED), Source.EFFORT).rank == 7 * 7 - 4


@pytest.mark.parametrize("parallel", [1, 2, 3])
@pytest.mark.parametrize("joints", [3, 5, 6])
def test_parallel_axes_at_the_base_cost_what_is_counted(parallel: int, joints: int) -> None:
    """The first run of parallel axes moves its links in a plane.

    Joint torques: in a plane a link has Izz, mcx, mcy (3) instead of 7, and the first one, if its axis is along
    gravity, Izz alone. Base wrench: also Ixz and Iyz (5), and once for all links the mass and, off the vertical, mcz.
    """
    turns = [UPRIGHT] * parallel + [RIGHT, LEFT, RIGHT, LEFT, RIGHT]
    for gravity, torque, base in ((DOWN, -2, 1), (TILTED, 0, 2)):
        arm = make_arm(turns[:joints], gravity=gravity)
        assert find_identifiable(arm, Source.EFFORT).rank == 7 * joints - 4 * parallel + torque
        assert find_identifiable(arm, Source.BASE_WRENCH).rank == 7 * joints - 2 * parallel + base


def test_scara_with_a_prismatic_joint() -> None:
    """Izz1; Izz2, mcx2, mcy2; the mass on the vertical slide; Izz4, mcx4, mcy4. The slide's inertia is link 2's."""
    base = find_identifiable(make_arm([UPRIGHT] * 4, kinds="RRPR"), Source.EFFORT)
    stands = {"link1.Izz", "link2.mcx", "link2.mcy", "link2.Izz", "link3.m", "link4.mcx", "link4.mcy", "link4.Izz"}
    assert name(base, base.columns) == stands
    assert name(base, base.alone) == {"link4.mcx", "link4.mcy", "link4.Izz"}
    assert "link3.m + link4.m" in base.texts


def test_cartesian_arm_tells_masses_only() -> None:
    base = find_identifiable(make_arm([UPRIGHT, RIGHT, (0.0, np.pi / 2, 0.0)], kinds="PPP"), Source.EFFORT)
    assert base.texts == ("link1.m", "link2.m", "link3.m")


def test_one_joint_along_gravity_and_across_it() -> None:
    assert find_identifiable(make_arm([UPRIGHT]), Source.EFFORT).texts == ("link1.Izz",)
    assert find_identifiable(make_arm([RIGHT]), Source.EFFORT).texts == ("link1.mcx", "link1.mcy", "link1.Izz")
    assert find_identifiable(make_arm([RIGHT], gravity=np.zeros(3)), Source.EFFORT).texts == ("link1.Izz",)


def count_by_energy(arm: ArmModel) -> int:
    """Rank of the energy's regressor, less its value at one state at rest.

    Gautier and Khalil: the parameters that joint torques tell are those that change the energy.
    """
    data = arm.model.createData()

    def measure(q: FloatArray, v: FloatArray) -> FloatArray:
        kinetic = pin.computeKineticEnergyRegressor(arm.model, data, q, v).copy()
        return np.asarray(kinetic + pin.computePotentialEnergyRegressor(arm.model, data, q))

    states = draw_states(arm, seed=7)
    rows = np.array([measure(q, v) for q, v, _ in zip(*states, strict=True)])
    rows = (rows - measure(states.positions[0], 0.0 * states.velocities[0]))[
        ..., pinocchio_columns(len(arm.link_names))
    ]
    lengths = np.linalg.norm(rows, axis=0)
    present = lengths > 1e-12 * lengths.max()
    return int(np.linalg.matrix_rank(rows[:, present] / lengths[present], tol=1e-9))


@pytest.mark.parametrize("seed", range(27))
def test_random_trees_have_the_rank_of_their_energy_and_of_another_motion(seed: int) -> None:
    gravity = TILTED if seed % 2 else DOWN
    arm = ArmModel.of(Robot.from_urdf(make_random_tree(seed, 1 + seed % 9)), gravity)
    ranks = {source: find_identifiable(arm, source).rank for source in Source}
    assert ranks[Source.EFFORT] == count_by_energy(arm)
    assert ranks[Source.BOTH] >= max(ranks[Source.EFFORT], ranks[Source.BASE_WRENCH])
    for source, rank in ranks.items():
        other = (
            ArmRegressor(arm, source).with_accelerations(*draw_states(arm, seed=11)).reshape(-1, len(arm.parameters))
        )
        assert np.linalg.matrix_rank(other, tol=1e-9 * np.linalg.norm(other)) == rank


@pytest.mark.parametrize("source", Source)
@pytest.mark.parametrize("seed", range(5))
def test_base_parameters_predict_what_all_parameters_do(seed: int, source: Source) -> None:
    arm = ArmModel.of(Robot.from_urdf(make_random_tree(seed, 6)), TILTED)
    base = find_identifiable(arm, source)
    matrix = ArmRegressor(arm, source).with_accelerations(*draw_states(arm, seed=3)).reshape(-1, 60)
    values = np.random.default_rng(seed).normal(size=60)
    expected = matrix @ values
    predicted = matrix[:, base.columns] @ (base.combination @ values)
    np.testing.assert_allclose(predicted, expected, atol=1e-7 * np.abs(expected).max())


def test_states_are_those_of_the_seed_and_reach_everywhere() -> None:
    arm = ArmModel.of(Robot.from_urdf(make_random_tree(0, 5)), DOWN)
    first, again, other = (draw_states(arm, seed=seed) for seed in (0, 0, 1))
    np.testing.assert_array_equal(first.positions, again.positions)
    assert np.all(first.positions != other.positions)
    reaches = (np.where(arm.is_angle, np.pi, 1.0), np.full(5, 3.0), np.full(5, 9.0))
    for values, reach in zip(first, reaches, strict=True):
        assert np.all(np.abs(values).max(axis=0) > 0.95 * reach)


def test_right_angles_are_made_exact_and_others_left_alone() -> None:
    chain = [
        ("revolute", (0.0, 0.0, 0.1), (3.1416, 0.0, 0.0)),
        ("revolute", (0.2, 0.0, 0.3), (1.5708, 0.0, 0.3)),
        ("revolute", (0.2, 0.0, 0.3), (0.1, 1.57, 0.0)),
    ]
    model = Robot.from_urdf(make_chain(chain)).model
    before = [placement.rotation.copy() for placement in model.jointPlacements]
    first, second, third = (placement.rotation for placement in list(square_up(model).jointPlacements)[1:])
    np.testing.assert_array_equal(first, np.diag([1.0, -1.0, -1.0]))
    np.testing.assert_array_equal(second == 0.0, [[False, True, False], [False, True, False], [True, False, True]])
    np.testing.assert_allclose(second, before[2], atol=5e-6)
    np.testing.assert_allclose(third, before[3], atol=1e-15)
    np.testing.assert_array_equal(model.jointPlacements[1].rotation, before[1])
