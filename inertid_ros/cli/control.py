"""The identified arm at work: `inertid feedforward` and `inertid practise`."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

import numpy as np
from rich.table import Table

from inertid_ros.bags.bag import Bag, Topics
from inertid_ros.cli.command import FAILED, OK, complain
from inertid_ros.cli.console import print_all
from inertid_ros.cli.export import find_urdf
from inertid_ros.control.convergence import Convergence, find_convergence, fit_feedback
from inertid_ros.control.feedforward import arrange, check_efforts, fill_efforts, load_of_file, model_of_file
from inertid_ros.control.inverse_model import DecoupledModel, InverseModel
from inertid_ros.control.practice import Practice, judge, learn, resample_trial
from inertid_ros.core.errors import RecordingError
from inertid_ros.core.records import FloatArray, JointBlock, WrenchBlock
from inertid_ros.core.robot.robot import Robot
from inertid_ros.files.access import write_whole
from inertid_ros.files.estimate import read_estimate
from inertid_ros.motions.trajectory import (
    Trajectory,
    find_trajectory,
    prepare_directory,
    read_trajectory,
    write_trajectory,
)
from inertid_ros.replay.inputs import Inputs
from inertid_ros.report.practice import make_practice_page

_PAGE = "practice.html"
_POSES = 1000
"""Random poses in which the least and the largest inertia of each joint are looked for."""


def feedforward(options: argparse.Namespace) -> int:
    """Fill in the efforts of a trajectory; 0 if they were written."""
    model = _read_model(options)
    trajectory, deviations = fill_efforts(model, read_trajectory(options.trajectory))
    prepare_directory(options.output)
    written = write_trajectory(options.output, trajectory, deviations)
    assert trajectory.efforts is not None
    table = Table("joint")
    for heading in ("largest effort", "limit", "rms effort", "rms of its standard deviation"):
        table.add_column(heading, justify="right")
    rms = [np.sqrt(np.mean(np.square(values), axis=0)) for values in (trajectory.efforts, deviations)]
    columns = np.abs(trajectory.efforts).max(axis=0), model.model.arm.effort_limits, *rms
    for name, *numbers in zip(model.joint_names, *columns, strict=True):
        table.add_row(name, *(f"{number:.4g}" for number in numbers))
    print_all(table, "[Nm, N]", f"wrote {', '.join(str(path) for path in written)}")
    return OK


def practise(options: argparse.Namespace) -> int:
    """Learn from trials; 0 if there is a next one or none is needed, 1 if practice does not help."""
    model = _read_model(options)
    learner: InverseModel | DecoupledModel = model
    if options.decoupled:
        poses = np.random.default_rng(0).uniform(-np.pi, np.pi, (_POSES, len(model.joint_names)))
        learner = DecoupledModel(model, poses)
    topic = Topics.from_remappings(options.remap).joint_states
    trajectories, practices = [], []
    for path in options.bags:
        trajectory, practice = _learn_from(path, topic, model, learner)
        trajectories.append(trajectory)
        practices.append(practice)
        _check_same(trajectories[0], trajectory, path)
    verdict = judge(practices)
    convergence = find_convergence(learner, model, trajectories[-1], fit_feedback(practices[0]))
    prepare_directory(options.output)
    write_whole(options.output / _PAGE, make_practice_page(model.joint_names, practices, verdict, convergence))
    _print_trials(model.joint_names, practices, convergence)
    word, text = verdict
    if word == "stuck":
        complain(options, [f"{text}; no trajectory is written, see {options.output / _PAGE}"])
        return FAILED
    print_all(text)
    following = _make_next(model, trajectories[-1], practices[-1])
    written = write_trajectory(options.output, following)
    print_all(f"wrote {', '.join(str(path) for path in (*written, options.output / _PAGE))}")
    return OK


def _read_model(options: argparse.Namespace) -> InverseModel:
    saved = read_estimate(options.arm)
    settings = saved.need_settings()
    robot = Robot.from_urdf(find_urdf(saved, options.urdf).text)
    frame = options.frame or settings.load.sensor_frame
    load = None if options.load is None else load_of_file(options.load, options.frame or frame)
    return model_of_file(saved, robot, load)


def _learn_from(
    path: Path, topic: str, model: InverseModel, learner: InverseModel | DecoupledModel
) -> tuple[Trajectory, Practice]:
    """The trajectory that was sent in a bag, and what its execution teaches."""
    with Bag(path) as bag:
        trajectory = arrange(model, find_trajectory(bag))
        if trajectory.efforts is None:
            raise RecordingError(
                f"'{path}': the trajectory was sent without efforts: fill them in with inertid feedforward, and run it"
            )
        bag.check({"joint_states": topic})
        stamps, measured = _read_joints(bag, topic, model.joint_names)
    times = (stamps - trajectory.stamp) * 1e-9
    trial = resample_trial(times, measured, trajectory, trajectory.times, trajectory.efforts)
    return trajectory, learn(learner, trajectory, trial)


def _read_joints(bag: Bag, topic: str, names: tuple[str, ...]) -> tuple[FloatArray, tuple[FloatArray, ...]]:
    """Stamps (M,) [ns], and positions, velocities and efforts (M, n) of joints; RecordingError if there are none."""
    blocks: list[JointBlock] = []

    def take(block: JointBlock | WrenchBlock) -> None:
        if isinstance(block, JointBlock) and set(names) <= set(block.names):
            blocks.append(block)

    inputs = Inputs({"joint_states": topic}, {"joint_states": [take]})
    for messages in bag.blocks(inputs.names):
        inputs.feed(messages)
    if not blocks:
        raise RecordingError(f"'{bag.path}': {topic} has not the joints {', '.join(names)} of the arm: check --arm")
    if any(block.efforts is None or block.velocities is None for block in blocks):
        raise RecordingError(
            f"'{bag.path}': {topic} has no velocity or no effort, and both are needed: record what the motors were told"
        )
    order = [blocks[0].names.index(name) for name in names]
    stamps = np.concatenate([block.stamps for block in blocks])
    rising = np.argsort(stamps, kind="stable")
    parts = zip(*((block.positions, block.velocities, block.efforts) for block in blocks), strict=True)
    measured = tuple(np.concatenate(part)[rising][:, order] for part in parts)
    return stamps[rising], measured


def _check_same(first: Trajectory, other: Trajectory, path: Path) -> None:
    """RecordingError unless two trajectories are the same motion."""
    if first.times.shape != other.times.shape or np.abs(first.path.positions - other.path.positions).max() > 1e-6:
        raise RecordingError(f"'{path}' is of another trajectory than the bag before: practise one at a time")


def _make_next(model: InverseModel, trajectory: Trajectory, practice: Practice) -> Trajectory:
    """The trajectory with the command that was learned, for now: without a stamp."""
    columns = [np.interp(trajectory.times, practice.trial.times, column) for column in practice.command.T]
    following = replace(trajectory, efforts=np.column_stack(columns), stamp=0)
    check_efforts(model, following)
    return following


def _print_trials(names: tuple[str, ...], practices: list[Practice], convergence: Convergence) -> None:
    table = Table("trial", title="rms velocity error [rad/s, m/s]", title_justify="left")
    for heading in (*names, "of the first", "over the noise"):
        table.add_column(heading, justify="right")
    first = np.linalg.norm(practices[0].velocity_error)
    for number, practice in enumerate(practices, start=1):
        size = np.linalg.norm(practice.velocity_error)
        ratios = f"{100 * size / first:.0f} %", f"{size / np.linalg.norm(practice.noise):.2f}"
        table.add_row(str(number), *(f"{value:.4f}" for value in practice.velocity_error), *ratios)
    print_all(table, f"by the estimate of the arm, {convergence.describe()}")
