"""`inertid excite`: design a motion that identifies a load, or the arm itself, as well as possible."""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from inertid_ros.cli.command import OK, show_progress
from inertid_ros.cli.console import print_all
from inertid_ros.core.equations.model import LinkModel
from inertid_ros.core.errors import FileFormatError, SettingError
from inertid_ros.core.estimation.states import judge_link_parameters
from inertid_ros.core.records import FloatArray
from inertid_ros.core.robot.robot import Robot
from inertid_ros.core.settings.choices import Source
from inertid_ros.core.settings.settings import LinksSettings, LoadSettings, Settings
from inertid_ros.files.estimate import read_estimate
from inertid_ros.files.urdf import UrdfFile
from inertid_ros.motions.approach import plan_approach
from inertid_ros.motions.files import narrow, read_limits, read_pose
from inertid_ros.motions.information import MotionInformation
from inertid_ros.motions.motion import LINK_MOVES, LOAD_MOVES, JointPath, Motion
from inertid_ros.motions.motion import Sequence as MotionSequence
from inertid_ros.motions.multisine import JointLimits, WindowedSines
from inertid_ros.motions.safety import SafetyCheck, UnsafeMotionError
from inertid_ros.motions.search import MotionSearch, Reference, make_reference
from inertid_ros.motions.targets import BASE_NOISE, LinkInformation, LoadInformation, WrenchNoise, assume_noise
from inertid_ros.motions.trajectory import prepare_directory, sample_motion, write_trajectory
from inertid_ros.motions.workspace import Workspace, describe_safety, read_floors
from inertid_ros.text.numbers import format_number, parameter_label

SHORTEST, LONGEST = 0.5, 60.0
"""Durations [s] that can be designed; in 60 s the samples that the search looks at are 0.2 s apart."""
FEWEST = 400
"""Motions to compare, of which the first 300 are drawn at random."""

ADVICE = (
    "Cables, people and anything that neither the URDF nor --workspace describes are not checked. Run it slowly first, "
    "with a hand on the emergency stop."
)

_SAMPLES = 2001
"""At which efforts and limits are looked at: every 5 ms of 10 s."""


@dataclass(frozen=True, slots=True)
class Target:
    """What a motion is designed for, ready for the search; `describe` makes what is shown of the result."""

    joint_names: tuple[str, ...]
    information: MotionInformation
    limits: JointLimits
    reference: Reference
    describe: Callable[[WindowedSines], Sequence[RenderableType]]

    def move(self, motion: Motion) -> tuple[JointPath, FloatArray]:
        """Samples of a motion, and the efforts (N, n) it takes."""
        path = motion.at(np.linspace(0.0, motion.duration, _SAMPLES))
        return path, self.information.move(path)[1]

    def can_do(self, motion: Motion) -> bool:
        """Whether the motors can do a motion."""
        return bool(np.all(np.abs(self.move(motion)[1]) <= self.limits.effort))


def run(options: argparse.Namespace) -> int:
    """Design, prove to be safe, write and show; 0 if the motion was written."""
    _check_options(options)
    text = UrdfFile.read(options.urdf).text
    robot = Robot.from_urdf(text)
    pose = {} if options.pose is None else read_pose(options.pose)
    prepare = prepare_load if options.target == "load" else prepare_links
    target = prepare(robot, options)
    workspace = make_workspace(options, {name: value for name, value in pose.items() if name not in target.joint_names})
    gravity = np.array(options.gravity)
    safety, unseen = workspace.make_check(robot, (options.urdf, text), target.joint_names, gravity, target.limits)
    start = None if options.pose is None else _find_start(pose, target, safety)
    prepare_directory(options.output)
    search = MotionSearch(target.information, target.limits, options.duration, options.candidates, safety)
    with show_progress("comparing motions", search.candidates, "motions") as progress:
        motion = search.run(options.seed, progress)
    whole = motion if start is None else _approach(start, motion, target, safety)
    safety.verify(whole)
    table, _, bag = write_trajectory(options.output, sample_motion(whole, target.joint_names))
    print_all(*target.describe(motion))
    others = target.reference.motions
    if not all(target.limits.are_held(*target.move(other)) for other in others):
        print_all(f"The {target.reference.name} would exceed the limits.")
    elif not all(safety.is_safe(other) for other in others):
        print_all(f"The {target.reference.name} would not be safe.")
    print_all(*_describe_start(target, motion, whole), *describe_safety(safety, whole, gravity, unseen))
    print_all(*_describe_peaks(target, whole), f"wrote {table} and {bag}", ADVICE)
    return OK


def make_workspace(options: argparse.Namespace, rest: Mapping[str, float]) -> Workspace:
    """What the options state of the surroundings; `rest` is where the joints are that do not move [rad or m]."""
    return Workspace(
        floors=read_floors(options.floor),
        file=options.workspace,
        packages=tuple(options.packages),
        rest=rest,
        margin=options.margin,
        self_margin=options.self_margin,
        speed=options.tool_speed,
        unchecked=options.unchecked,
    )


def _check_options(options: argparse.Namespace) -> None:
    """Raise SettingError for a number that cannot be used."""
    if not SHORTEST <= options.duration <= LONGEST:
        raise SettingError("--duration", options.duration, f"{SHORTEST:g} to {LONGEST:g} s")
    if options.candidates is not None and options.candidates < FEWEST:
        raise SettingError("--candidates", options.candidates, f"{FEWEST} or more")
    if not 0.0 < options.speed_scale <= 1.0:
        raise SettingError("--speed-scale", options.speed_scale, "above 0, and 1 at most")
    if not options.tool_speed > 0.0:
        raise SettingError("--tool-speed", options.tool_speed, "a speed above 0, or inf")
    for name in ("margin", "self_margin", "joint_margin"):
        if not 0.0 <= getattr(options, name) < np.inf:
            raise SettingError(f"--{name.replace('_', '-')}", getattr(options, name), "0 or more")


def _find_start(pose: Mapping[str, float], target: Target, safety: SafetyCheck) -> FloatArray:
    """The pose (n,) of the joints that move; SettingError if one is missing, UnsafeMotionError if it is not safe."""
    missing = [name for name in target.joint_names if name not in pose]
    if missing:
        raise SettingError(
            "--from", ", ".join(pose), f"positions of all joints that move; it lacks {', '.join(missing)}"
        )
    start = np.array([pose[name] for name in target.joint_names])
    found = safety.find_pose_violation(start)
    if found is not None:
        raise UnsafeMotionError(
            f"in the pose of --from '{found.first}' and '{found.second}' are {found.distance:.3f} m apart, less than "
            "the margin: move the arm away from there by hand, or reduce the margin"
        )
    return start


def _approach(start: FloatArray, motion: WindowedSines, target: Target, safety: SafetyCheck) -> Motion:
    """A motion with the way that leads to it; UnsafeMotionError if none is found."""
    way = plan_approach(
        start,
        motion.center,
        target.limits,
        is_allowed=lambda line: safety.find_violation(line) is None,
        is_slow=lambda line: safety.holds_speed(line) and target.can_do(line),
    )
    if way is None:
        goal = _list_values(target.joint_names, motion.center)
        raise UnsafeMotionError(
            f"no safe way was found from the pose of --from to where the motion begins: {goal}. Bring the arm nearer "
            "to that pose, or leave --from out and bring it there yourself"
        )
    return MotionSequence([way, motion])


def prepare_load(robot: Robot, options: argparse.Namespace) -> Target:
    """Set up the search for a motion that identifies a load; InertidError if an option or file cannot be used."""
    _refuse(options, ("source", "joints", "effort_noise"), "load")
    noise = _get_wrench_noise(options, WrenchNoise())
    frame, covariance, carried = options.sensor_frame or "ft_sensor", None, None
    if options.start is not None:
        known = read_estimate(options.start).need_load()
        if options.sensor_frame not in (None, known.frame):
            raise FileFormatError(
                f"the estimate is in frame '{known.frame}', not in '{options.sensor_frame}': leave --sensor-frame out"
            )
        frame, covariance = known.frame, known.covariance
        carried = known.feasible if known.tool is None else known.feasible + known.tool.phi
    path = robot.path_to(frame)
    limits = read_limits(path, options.limits)
    limits = narrow(limits, path.is_angle, options.joint_margin, options.speed_scale)
    load = carried if carried is not None and carried[0] > 0.0 else None
    information = LoadInformation(path, np.array(options.gravity), noise, LoadSettings(), covariance, load)
    reference = make_reference(LOAD_MOVES.get(robot.model.name, ()), limits, options.duration)
    before = None if covariance is None else np.sqrt(np.diag(covariance))

    def describe(motion: WindowedSines) -> list[RenderableType]:
        return [make_load_table(information, motion, reference, before)]

    return Target(path.joint_names, information, limits, reference, describe)


def make_load_table(
    information: LoadInformation, motion: WindowedSines, reference: Reference, before: FloatArray | None
) -> Table:
    """The predicted standard deviations of all ten parameters beside those of another motion, and of the start."""
    title = f"predicted standard deviations after {motion.duration:g} s of motion alone, without standstill"
    table = Table(title=title, title_justify="left")
    headings = ["parameter", *(["at the start"] if before is not None else []), "designed", reference.name, "better by"]
    for heading in headings:
        table.add_column(heading, justify="right")
    designed, other = information.predict(motion), information.predict(*reference.motions)
    for index, (deviation, beside) in enumerate(zip(designed.tolist(), other.tolist(), strict=True)):
        start = [] if before is None else [f"{before[index]:.2e}"]
        label = Text(parameter_label(index))
        table.add_row(label, *start, f"{deviation:.2e}", f"{beside:.2e}", f"{beside / deviation:.2f}")
    return table


def prepare_links(robot: Robot, options: argparse.Namespace) -> Target:
    """Set up the search for a motion that identifies the links; InertidError if an option or file cannot be used."""
    _refuse(options, ("sensor_frame",), "links")
    if options.start is None:
        links = dataclasses.replace(LinksSettings(), source=Source(options.source or Source.EFFORT))
        settings = dataclasses.replace(Settings(), gravity=options.gravity, links=links)
        joints = options.joints or list(robot.own_joints)
        model = LinkModel.from_settings(robot, settings, joints)
        values, covariance, before = model.prior, None, model.prior_deviations
    else:
        _refuse(options, ("source", "joints"), "links and --start, whose file says it")
        saved = read_estimate(options.start)
        settings, known = saved.need_settings(), saved.need_links()
        model = known.make_model(robot, settings)
        values, covariance, before = known.values, known.covariance, np.sqrt(np.diag(known.covariance))
    limits = read_limits(model.arm, options.limits)
    limits = narrow(limits, model.arm.is_angle, options.joint_margin, options.speed_scale)
    wrench = _get_wrench_noise(options, BASE_NOISE)
    densities = assume_noise(model, wrench, _get_effort_noise(options, len(model.arm.joint_names)))
    information = LinkInformation(model, densities, settings.links, covariance)
    moves = (LOAD_MOVES | LINK_MOVES).get(robot.model.name, ())
    reference = make_reference(moves, limits, options.duration)

    def describe(motion: WindowedSines) -> list[RenderableType]:
        noise = ", ".join(f"{name} {density:.2g}" for name, density in zip(model.channels, densities, strict=True))
        return [
            make_links_table(model, information, motion, reference, before),
            _count_known(model, values, information, motion, reference),
            f"assumed white noise [unit/sqrt(Hz)]: {noise}",
        ]

    return Target(model.arm.joint_names, information, limits, reference, describe)


def make_links_table(
    model: LinkModel, information: LinkInformation, motion: WindowedSines, reference: Reference, before: FloatArray
) -> Table:
    """The predicted standard deviations of the base parameters beside those of other motions, and of the start."""
    title = f"predicted standard deviations (SI) after {motion.duration:g} s of motion alone, without standstill"
    table = Table(title=title, title_justify="left")
    table.add_column("base parameter", overflow="fold")
    for heading in ("URDF", "at the start", "designed", reference.name, "better by"):
        table.add_column(heading, justify="right", no_wrap=True)
    wanted, inertial = np.flatnonzero(information.wanted), model.unknowns.inertial.stop
    predicted = information.predict(motion), information.predict(*reference.motions)
    for index, deviation, beside in zip(wanted, *(part.tolist() for part in predicted), strict=True):
        value = format_number(model.prior[index], ".3g") if model.base.columns[index] < inertial else ""
        better = beside / deviation
        numbers = (f"{deviation:.2e}", f"{beside:.2e}", f"{better:.2f}" if better < 10.0 else f"{better:.0f}")
        table.add_row(Text(model.base.texts[index]), value, f"{before[index]:.2g}", *numbers)
    return table


def _count_known(
    model: LinkModel, values: FloatArray, information: LinkInformation, motion: WindowedSines, reference: Reference
) -> str:
    """How many base parameters will be known."""
    counts = []
    for motions in ((motion,), reference.motions):
        states = judge_link_parameters(model, values, information.covariance(motions))
        counts.append(sum(state == "known" for state, wanted in zip(states, information.wanted, strict=True) if wanted))
    total = int(information.wanted.sum())
    return f"{counts[0]} of {total} will be known, with the {reference.name} {counts[1]} (if the URDF is about right)"


def _list_values(names: Sequence[str], values: FloatArray) -> str:
    return ", ".join(f"{name} {value:.3f}" for name, value in zip(names, values.tolist(), strict=True))


def _describe_start(target: Target, motion: WindowedSines, whole: Motion) -> list[str]:
    """Where the trajectory begins and ends."""
    pose = _list_values(target.joint_names, motion.center)
    if whole is motion:
        return [f"begins and ends at rest in this pose, to which you bring the arm [rad or m]: {pose}"]
    way = whole.duration - motion.duration
    return [
        f"{way:.1f} s of approach from the pose of --from, {motion.duration:g} s of motion, then at rest in: {pose}"
    ]


def _describe_peaks(target: Target, motion: Motion) -> list[str]:
    """The largest speed and the largest effort of each joint beside their limits."""
    path, efforts = target.move(motion)
    lines = []
    for what, values, limits in (
        ("largest speeds [rad/s or m/s]", path.velocities, target.limits.velocity),
        ("largest efforts [Nm or N] without friction", efforts, target.limits.effort),
    ):
        peaks = zip(
            target.joint_names, np.abs(values).max(axis=0), np.broadcast_to(limits, values.shape[1]), strict=True
        )
        parts = [
            f"{name} {peak:.3g}" + (f" of {limit:.3g}" if np.isfinite(limit) else "") for name, peak, limit in peaks
        ]
        lines.append(f"{what}: {', '.join(parts)}")
    return lines


def _get_effort_noise(options: argparse.Namespace, joints: int) -> FloatArray | None:
    if options.effort_noise is None:
        return None
    for density in options.effort_noise:
        _check_density("--effort-noise", density)
    if len(options.effort_noise) not in (1, joints):
        raise SettingError("--effort-noise", options.effort_noise, f"one density, or {joints}, one for each joint")
    return np.broadcast_to(np.array(options.effort_noise), joints)


def _get_wrench_noise(options: argparse.Namespace, usual: WrenchNoise) -> WrenchNoise:
    """The noise that the options name, else the usual one."""
    given = {"force": options.force_noise, "torque": options.torque_noise}
    given = {name: density for name, density in given.items() if density is not None}
    for name, density in given.items():
        _check_density(f"--{name}-noise", density)
    return usual._replace(**given)


def _check_density(name: str, density: float) -> None:
    if not 0.0 < density < np.inf:
        raise SettingError(name, density, "a density above 0")


def _refuse(options: argparse.Namespace, names: Sequence[str], target: str) -> None:
    """Refuse options that have no meaning for this target."""
    for name in names:
        value = getattr(options, name)
        if value is not None:
            raise SettingError(f"--{name.replace('_', '-')}", value, f"it to be left out with --target {target}")
