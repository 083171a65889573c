"""The experiment of West, Papadopoulos, Dubowsky and Cheah (1989), simulated many times with known truth.

A PUMA 260 with its wrist locked stands on a force sensor: 30 poses, half of them with the base level and half with the
base tilted by 25 degrees about y, geometry and nine mass properties as they print them. Where the paper is silent:
joint angles are drawn at random within ±150 degrees; the base stands in the middle of the sensor (X = Y = 0); the
10.6 kg are 6, 2.1, 1.6 and 0.9 kg of base and links 1 to 3; a pose's mean wrench has errors of 0.03 N and 5 mNm, its
joint angles of 0.2 mrad. The direction of gravity is that of the measured force, as in their equation 37.

    python benchmarks/west_puma260.py            prints the table
    python benchmarks/west_puma260.py --write    writes it to docs/static_reactions.md
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import sys
from typing import NamedTuple

import numpy as np
import pinocchio as pin
from page import run_page

from inertid_ros.core.records import FloatArray
from inertid_ros.core.robot.robot import ArmModel, Robot
from inertid_ros.core.static.reactions import (
    StaticModel,
    StaticPoses,
    StaticSolution,
    gravity_from_forces,
    solve_static,
)

G = 9.80665
Z, L1, L2X, L2Y = -0.036, 0.330, 0.198, -0.019
PRINTED = np.array([0.158, 0.010, 0.382, -0.015, 0.437, 0.008, -0.050, 0.275, -2.445])
"""Their p1 to p9 [kg m], equation 28."""
MASSES = np.array([6.0, 2.1, 1.6, 0.9])
TILT = np.radians(25.0)
POSES = 30
FORCE_NOISE, MOMENT_NOISE, ANGLE_NOISE = 0.03, 0.005, 2e-4
_ABOUT = " ".join((__doc__ or "").split("\n\n")[1].split())


def make_moments() -> FloatArray:
    """First moments (4, 3) of base and links in their frames that give the printed p; what p does not tell is zero."""
    p1, p2, p3, p4, p5, p6, p7, p8, p9 = PRINTED
    m2, m3 = MASSES[2:]
    total = MASSES.sum()
    base = [-p8, -p7, -(p9 - total * Z + (m2 + m3) * L1)]
    return np.array([base, [p6, 0.0, 0.0], [p3 - m3 * L2X, p4 - m3 * L2Y, p5], [p1, p2, 0.0]])


def make_urdf() -> str:
    """Their arm: frame i at joint i; the sensor's frame N, with z down, is fixed to the base."""
    coms = make_moments() / MASSES[:, None]
    links = "".join(_link(name, *values) for name, values in zip(LINKS, zip(MASSES, coms, strict=True), strict=True))
    return f"""<robot name="puma260">{links}<link name="base_sensor"/>
        <joint name="mount" type="fixed"><parent link="base"/><child link="base_sensor"/>
        <origin xyz="0 0 {Z}" rpy="{np.pi} 0 {-np.pi / 2}"/></joint>
        {_joint("joint1", "base", "link1", "0 0 0", "0 0 0")}
        {_joint("joint2", "link1", "link2", f"0 0 {L1}", f"{np.pi / 2} 0 0")}
        {_joint("joint3", "link2", "link3", f"{L2X} {L2Y} 0", "0 0 0")}</robot>"""


LINKS = ("base", "link1", "link2", "link3")


def _link(name: str, mass: float, com: FloatArray) -> str:
    place = " ".join(repr(float(value)) for value in com)
    return (
        f'<link name="{name}"><inertial><origin xyz="{place}"/><mass value="{mass}"/>'
        '<inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial></link>'
    )


def _joint(name: str, parent: str, child: str, xyz: str, rpy: str) -> str:
    return (
        f'<joint name="{name}" type="revolute"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{xyz}" rpy="{rpy}"/><axis xyz="0 0 1"/>'
        '<limit lower="-2.618" upper="2.618" velocity="2" effort="50"/></joint>'
    )


def make_model(with_offset: bool = False) -> StaticModel:
    """The arm on its sensor."""
    arm = ArmModel.of(Robot.from_urdf(make_urdf()), np.array([0.0, 0.0, -G]))
    return StaticModel(arm, "base_sensor", with_offset)


def find_printed(solution: StaticSolution) -> FloatArray:
    """Their p1 to p9 (9,) from what was identified; NotIdentifiedError if it was not."""
    wanted = np.zeros((9, len(solution.base.names)))
    base, link1, link2, link3 = (4 * index + np.arange(4) for index in range(4))
    wanted[0, link3[1]] = wanted[1, link3[2]] = 1.0
    wanted[2, link2[1]] = wanted[3, link2[2]] = 1.0
    wanted[2:4, link3[0]] = L2X, L2Y
    wanted[4, [link1[2], link2[3], link3[3]]] = -1.0, 1.0, 1.0
    wanted[5, link1[1]] = 1.0
    wanted[6, base[2]] = wanted[7, base[1]] = -1.0
    wanted[8, base[3]] = wanted[8, link1[3]] = -1.0
    wanted[8, [base[0], link1[0], link2[0], link3[0]]] = Z, Z, Z - L1, Z - L1
    return solution.find(wanted)


def draw_poses(count: int, seed: int) -> tuple[FloatArray, FloatArray]:
    """Joint angles (count, 3), and gravity (count, 3) in the sensor's axes, level and tilted in turn."""
    positions = np.random.default_rng(seed).uniform(-np.radians(150.0), np.radians(150.0), (count, 3))
    level, tilted = np.array([0.0, 0.0, G]), G * np.array([np.sin(TILT), 0.0, np.cos(TILT)])
    return positions, np.where(np.arange(count)[:, None] % 2 == 0, level, tilted)


def true_loads(model: StaticModel, positions: FloatArray, gravities: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Wrenches (N, 6) on the arm in the sensor's frame and efforts (N, 3) of the joints, by inverse dynamics."""
    arm, rest = model.arm.model.copy(), np.zeros(3)
    data = arm.createData()
    sensor = model.arm.place_of("base_sensor")
    wrenches, efforts = np.empty((len(positions), 6)), np.empty((len(positions), 3))
    for index, (position, gravity) in enumerate(zip(positions, gravities, strict=True)):
        arm.gravity.linear = sensor.rotation @ gravity
        efforts[index] = pin.rnea(arm, data, position, rest, rest)
        held = data.liMi[1].act(data.f[1]) - arm.inertias[0] * arm.gravity
        wrenches[index] = sensor.actInv(held).vector
    return wrenches, efforts


def their_regressor(positions: FloatArray, gravities: FloatArray) -> FloatArray:
    """Regressor (N, 3, 9) of the moment of gravity for p1 to p9, g F W of equations 18, 29 and 30.

    As printed, the cosines in the first two columns of W have the wrong sign; equation 23 has the right one.
    """
    s1, s2 = np.sin(positions[:, :2]).T
    c1, c2 = np.cos(positions[:, :2]).T
    s23, c23 = np.sin(positions[:, 1] + positions[:, 2]), np.cos(positions[:, 1] + positions[:, 2])
    zero, one = np.zeros_like(s1), np.ones_like(s1)
    rows = (
        (-s1 * c23, s1 * s23, -s1 * c2, s1 * s2, c1, -s1, one, zero, zero),
        (-c1 * c23, c1 * s23, -c1 * c2, c1 * s2, -s1, -c1, zero, one, zero),
        (-s23, -c23, -s2, -c2, zero, zero, zero, zero, one),
    )
    turns = np.array([-pin.skew(gravity) for gravity in gravities])
    return np.asarray(np.einsum("nij,jkn->nik", turns, np.array(rows)))


def measure(
    model: StaticModel, positions: FloatArray, gravities: FloatArray, seed: int, noise: float = 1.0
) -> StaticPoses:
    """What is measured, with gravity from the force, and wrenches with a multiple of the noise."""
    rng = np.random.default_rng(seed)
    deviations = noise * np.tile(np.repeat([FORCE_NOISE, MOMENT_NOISE], 3), (len(positions), 1))
    wrenches = true_loads(model, positions, gravities)[0]
    wrenches += deviations * rng.normal(size=wrenches.shape)
    measured = positions + ANGLE_NOISE * rng.normal(size=positions.shape)
    return StaticPoses(measured, gravity_from_forces(wrenches[:, :3], G), wrenches, deviations)


class Outcome(NamedTuple):
    """One run.

    Attributes:
        errors: (9,) of p [kg m].
        conditions: (2,) condition numbers, of the regressor used, and of theirs with true directions of gravity.
        shares: (7,) largest errors of force, nx, ny, nz and three joint torques over 200 other poses, level and tilted,
            relative to the largest value that the channel has there.
    """

    errors: FloatArray
    conditions: FloatArray
    shares: FloatArray


def run_once(seed: int, noise: float = 1.0) -> Outcome:
    """One simulated experiment with a multiple of the wrench's noise."""
    model = make_model()
    poses = draw_poses(POSES, seed)
    solution = solve_static(model, measure(model, *poses, seed, noise), from_force=True)
    theirs = float(np.linalg.cond(their_regressor(*poses).reshape(-1, 9)))
    others = draw_poses(200, seed + 10_000)
    truth = np.concatenate(true_loads(model, *others), axis=1)
    regressor = np.concatenate((model.wrench_regressor(*others), model.torque_regressor(*others)), axis=1)
    wrong = solution.find(regressor) - truth
    force = np.linalg.norm(wrong[:, :3], axis=1).max() / np.linalg.norm(truth[:, :3], axis=1).max()
    shares = np.abs(wrong[:, 3:]).max(axis=0) / np.abs(truth[:, 3:]).max(axis=0)
    return Outcome(
        find_printed(solution) - PRINTED, np.array([solution.condition, theirs]), np.concatenate(([force], shares))
    )


def make_page(runs: int) -> str:
    """The page docs/static_reactions.md."""
    errors, conditions, shares = (np.array(item) for item in zip(*map(run_once, range(runs)), strict=True))
    rms = np.sqrt(np.mean(errors**2, axis=0))
    parameters = "\n".join(
        f"| p{index + 1} | {value:.3f} | {1000.0 * error:.1f} |"
        for index, (value, error) in enumerate(zip(PRINTED, rms, strict=True))
    )
    names = ("force", "nx", "ny", "nz", "joint 1", "joint 2", "joint 3")
    noisy = np.array([run_once(seed, noise=3.0).shares for seed in range(runs)])
    worst = 100.0 * np.quantile([shares, noisy], 0.95, axis=1)
    loads = "\n".join(f"| {name} | {one:.2f} | {other:.2f} |" for name, one, other in zip(names, *worst, strict=True))
    return _PAGE.format(
        about=_ABOUT, runs=runs, parameters=parameters, loads=loads, conditions=np.median(conditions, axis=0)
    )


_PAGE = """# Static base reactions

An arm at rest on a force/torque sensor under its base reveals, pose by pose, where its masses are: everything that
gravity acts upon, for any URDF, without fast motion and without joint torques (West et al. 1989).

    inertid reactions level_bag tilted_bag --urdf my_arm.urdf --gravity-from-force

finds the poses at rest in bags of `joint_states` and `base_wrench`, and prints what is identifiable alone and what only
in combinations, each with its standard deviation, the condition number and the pose to add. The orientation of the base
is the parameter `gravity`, or is given with `--gravity`, one for each bag, or follows from the measured force
(`--gravity-from-force`), which must then have no offset. With a known orientation the sensor's offset is estimated as
far as possible: with one orientation it cannot be separated from the weight of the base, two leave one combination,
three determine all of it. What cannot be separated shows as a combination. `--no-offset` declares that the sensor has
none.

## Their experiment

Made by `python benchmarks/west_puma260.py --write`. {about}

| | their value [kg m] | rms error, {runs} runs [g m] |
| --- | --- | --- |
{parameters}

Largest error anywhere in the workspace, relative to the channel's largest value, that 95 % of the runs keep:

| gravity load | error [%] | with three times the noise |
| --- | --- | --- |
{loads}

They predicted 1 %, and 10 % of the moment about z. The condition number of their matrix has a median of
{conditions[1]:.1f} here, and was 10.8 in their experiment; that of the regressor used here, with columns scaled to
the same length, is {conditions[0]:.1f}.
"""


if __name__ == "__main__":
    sys.exit(run_page(make_page, "static_reactions.md", 200, _ABOUT))
