"""What is found in recordings: `inertid replay` and `weigh`, `inertid validate`, and `inertid reactions`.

They go through the same chain as the node's; poses at rest on a base sensor are solved for by themselves.
"""

from __future__ import annotations

import argparse
import dataclasses
import math
from collections.abc import Sequence
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any

from inertid_ros.bags.bag import Bag, Topics
from inertid_ros.cli.command import (
    FAILED,
    OK,
    complain,
    finish,
    make_plan,
    read_description,
    read_parameters,
    show_progress,
)
from inertid_ros.core.errors import FileAccessError, SettingError
from inertid_ros.core.rigid_body.inertial import PARAMETER_NAMES
from inertid_ros.core.settings.choices import LoadSource
from inertid_ros.files.estimate import read_estimate
from inertid_ros.files.parameters import write_static_file
from inertid_ros.replay.cluster import LOCAL
from inertid_ros.replay.recordings import Outcome, find_recordings, replay_recordings
from inertid_ros.replay.replay import weigh as weigh_bags
from inertid_ros.replay.trace import LoadTrace, list_gaps
from inertid_ros.text.numbers import (
    INTERVAL,
    PARAMETER_UNITS,
    count_states,
    format_estimate,
    format_nuisances,
    format_number,
    format_parameter,
    format_spread,
)


def replay(options: argparse.Namespace) -> int:
    """Replay; 0 if everything went well, 1 if something is left out or wrong."""
    if not options.force:
        _protect(options.output)
    if options.jobs is not None and options.scheduler not in ("", LOCAL):
        raise SettingError("--jobs", options.jobs, "none beside the address of a scheduler, whose workers decide")
    held_out = tuple(options.validate)
    _check_held_out(options.bags, held_out)
    plan = dataclasses.replace(make_plan(options), held_out=held_out, is_self_contained=options.self_contained)
    recordings = find_recordings(options.bags, plan)
    what = "1 recording" if len(recordings) == 1 else f"{len(recordings)} recordings"
    total = sum(recording.messages for recording in (*recordings, *find_recordings(held_out, plan)))
    with show_progress(what, total) as progress:
        outcome = replay_recordings(recordings, plan, options.output, progress, options.jobs, options.scheduler)
    complain(options, outcome.trouble)
    _print_outcome(outcome, options.output)
    return FAILED if outcome.trouble else OK


def _protect(output: Path) -> None:
    """FileAccessError if a replay has written into a directory before."""
    written = [name for name in ("estimate.json", "predictions.mcap", "report.html") if (output / name).exists()]
    if written:
        raise FileAccessError(
            f"'{output}' has {', '.join(written)} of an earlier replay: choose another directory with -o, or overwrite "
            "them with --force"
        )


def _check_held_out(bags: Sequence[Path], held_out: Sequence[Path]) -> None:
    """SettingError if a bag is to be predicted by what is learnt from it."""
    used = {path.expanduser().resolve() for path in bags}
    for path in held_out:
        if path.expanduser().resolve() in used:
            raise SettingError("--validate", str(path), "another recording than those that are replayed")


def weigh(options: argparse.Namespace) -> int:
    """Print the load of a robot without a wrist sensor; 0 if everything went well, 1 if something is wrong."""
    plan = make_plan(options)
    load = plan.settings.load
    arm = str(options.arm) if options.arm is not None else load.arm_file
    frame = options.frame if options.frame is not None else load.sensor_frame
    load = dataclasses.replace(load, source=LoadSource.EFFORT, arm_file=arm, sensor_frame=frame)
    plan = dataclasses.replace(plan, settings=dataclasses.replace(plan.settings, load=load))
    total = 0
    for path in options.bags:
        with Bag(path) as bag:
            total += bag.count((plan.topics.joint_states,))
    with show_progress("weighing", total) as progress:
        found = weigh_bags(options.bags, plan, progress)
    return finish(options, found.list_all(), _print_weighing)


def _print_outcome(outcome: Outcome, output: Path) -> None:
    """Print what was found, how well it explains what was measured, and where the files are."""
    if outcome.document["load"] is not None:
        _print_load(outcome.document, outcome.recordings[-1].traces.load)
    if outcome.document["links"] is not None:
        _print_links(outcome.document["links"])
    if outcome.document["validation"] is not None:
        print("held-out recording:")
        _print_validation(outcome.document["validation"])
    for reason in dict.fromkeys(reason for verdict in outcome.verdicts.values() for reason in verdict.reasons):
        print(f"{reason.level}: {reason.message}")
    for line in list_gaps(part.traces for part in outcome.recordings):
        print(f"note: {line}")
    for name, verdict in outcome.verdicts.items():
        print(f"verdict on the {name}: {verdict.headline}")
    print(f"written to {output}")


def _print_load(document: dict[str, Any], last: LoadTrace | None) -> None:
    load, sensor = document["load"], None if last is None else last.estimate.sensor
    for index, name in enumerate(PARAMETER_NAMES):
        deviation = math.sqrt(load["covariance"][index][index])
        state = load["states"][index]
        text = format_parameter(index, float(load["parameters"][index]), deviation, state)
        repeats = format_spread(load["repeatability"][index], PARAMETER_UNITS[index])
        print(f"{name:>4}  {text}" + ("" if state == "not excited yet" else f"; repeats within ± {repeats}"))
    if sensor is not None:
        for name, text in format_nuisances(sensor).items():
            print(f"{name}: {text}")
    relative = document["residual"]["relative_rms"]
    print(f"residual: {100.0 * relative:.2f} % of the rms of the wrench")


def _print_links(links: dict[str, Any]) -> None:
    print(f"links: {count_states(links['base_parameters']['states'])}")
    for name, entry in links["fit"]["channels"].items():
        urdf = links["urdf_residual"]["channels"][name]["relative_rms"]
        print(f"  {name}: {100.0 * entry['relative_rms']:.2f} % left (URDF {100.0 * urdf:.1f} %)")
    fit, urdf = links["fit"]["relative_rms"], links["urdf_residual"]["relative_rms"]
    print(f"fit: {100.0 * fit:.2f} % of the rms is left, {100.0 * urdf:.1f} % by the URDF alone")


def _print_weighing(content: dict[str, Any]) -> None:
    from rich.table import Table

    from inertid_ros.cli.console import print_all

    table = Table("parameter", "value ± 95 %", "state", title=f"Load in frame {content['frame']}")
    for unit, (name, entry) in zip(PARAMETER_UNITS, content["parameters"].items(), strict=True):
        table.add_row(name, format_estimate(entry["value"], entry["deviation"], unit), entry["state"])
    left = ", ".join(f"{joint} {value:.3g}" for joint, value in content["residual_rms"].items())
    lines = [f"rms of the filtered efforts not explained: {left} [Nm or N]"]
    if content["com"] is not None:
        centre = ", ".join(format_number(1e3 * value, ".1f") for value in content["com"])
        lines.append(f"centre of mass: ({centre}) mm")
    print_all(table, *lines, f"verdict: {content['verdict']['headline']}")


def validate(options: argparse.Namespace) -> int:
    """Validate; 0 if everything went well, 1 if something is wrong."""
    from inertid_ros.replay.validate import prepare

    saved = read_estimate(options.estimate)
    comparison = prepare(saved, options.bags, make_plan(options, saved))
    with show_progress("predicting", comparison.messages) as progress:
        found = comparison.run(progress)
    return finish(options, found.content, _print_validation)


def _print_validation(content: dict[str, Any]) -> None:
    load, links = content["load"], content["links"]
    for warning in content["warnings"]:
        print(f"warning: {warning}")
    for gap in content["gaps"]:
        print(f"note: {gap}")
    if load is not None:
        relative = {
            "": "relative rms, bias refitted",
            "own_bias": "relative rms, bias of the estimate",
            "urdf": "URDF, bias refitted",
        }
        _print_residuals(load, relative, ["force", "torque"])
        print("Bias refitted: a constant in each channel is fitted to these bags, everything else is frozen.")
        if load["urdf"] is None:
            print("The URDF has no mass fixed to the sensor frame: nothing to compare with.")
    if links is not None:
        groups = [name for name in ("base_force", "base_torque", "effort", "effort_force") if name in links]
        relative = {"": "relative rms", "raw": "not filtered", "urdf": "URDF"}
        _print_residuals(links, relative, groups if len(groups) > 1 else [])
        share = 100.0 * links["within_2_sigma"]
        print(f"Within 2 of the standard deviations that the estimate states: {share:.0f} % (95 % if these are right).")
        print("Nothing is fitted. Both sides are filtered as in the estimator; not filtered: the samples as measured.")


def _print_residuals(content: dict[str, Any], relative: dict[str, str], groups: list[str]) -> None:
    """Print the residuals of channels, of groups with one unit, and overall.

    `relative` has the parts of the content with a relative rms of their own, and the heading of each.
    """
    from rich.table import Table

    from inertid_ros.cli.console import make_console

    relative = {part: heading for part, heading in relative.items() if not part or content[part] is not None}
    table = Table()
    ratios = ["over the URDF's"] if "urdf" in relative else []
    for heading in ["channel", "rms measured", "rms of residual", *relative.values(), *ratios]:
        table.add_column(heading, justify="right", no_wrap=heading == "channel")
    rows: list[tuple[str, tuple[str, ...]]] = [(name, ("channels", name)) for name in content["channels"]]
    rows += [(name.replace("_", " "), (name,)) for name in groups]
    for name, keys in [*rows, ("overall", ())]:
        found = reduce(getitem, keys, content)
        sizes = [f"{found[key]:.4f}" if key in found else "" for key in ("measured_rms", "rms")]
        parts = [reduce(getitem, keys, content[part] if part else content) for part in relative]
        shares = [f"{100.0 * part['relative_rms']:.2f} %" for part in parts]
        if ratios:
            ratio = reduce(getitem, keys, content["relative_to_urdf"])["ratio"]
            shares.append("" if ratio is None else f"{ratio:.3g}")
        table.add_row(name, *sizes, *shares)
    make_console().print(table)


def react(options: argparse.Namespace) -> int:
    """Print what the poses identify; 0 if everything went well, 1 if something is wrong."""
    from inertid_ros.replay.reactions import ReactionPlan, find_reactions

    settings = read_parameters(options)
    plan = ReactionPlan(
        settings=settings,
        topics=Topics.from_remappings(options.remap),
        description=read_description(settings),
        gravities=tuple(map(tuple, options.gravity)),
        from_force=options.gravity_from_force,
        with_offset=not options.no_offset,
    )
    content, static = find_reactions(options.bags, plan)
    if options.poses is not None:
        write_static_file(options.poses, static)
    return finish(options, content, _print_reactions)


def _print_reactions(content: dict[str, Any]) -> None:
    from rich.table import Table

    from inertid_ros.cli.console import print_all

    table = Table()
    table.add_column("identified")
    for heading in ("value", "± (95 %)", "by the URDF", "unit"):
        table.add_column(heading, justify="right")
    for entry in content["parameters"]:
        sizes = (entry["value"], INTERVAL * entry["deviation"], entry["urdf"])
        table.add_row(entry["combination"], *(format_number(size, ".4f") for size in sizes), entry["unit"])
    rms = content["residual_rms"]
    lines = [
        f"poses: {' + '.join(map(str, content['poses']))}, sensor at frame {content['base_frame']}",
        f"condition number: {content['condition_number']:.1f}",
        "residual rms: " + ", ".join(f"{name} {value:.3g}" for name, value in rms.items()) + " [N, Nm]",
    ]
    known, needed = content["orientations"], content["orientations_for_all"]
    if known < needed:
        lines.append(
            f"orientations of the base: {known} of the {needed} that identify all that gravity can: tilt it further"
        )
    if content["not_identified"]:
        lines.append("not identifiable from poses at rest: " + ", ".join(content["not_identified"]))
    print_all(table, *lines, _describe_suggestion(content))


def _describe_suggestion(content: dict[str, Any]) -> str:
    pose, known = content["pose_to_add"], len(content["parameters"])
    places = ", ".join(f"{joint} {format_number(position, '.2f')}" for joint, position in pose["positions"].items())
    orientation = f", base as in bag {pose['base_as_in_bag']}" if len(content["poses"]) > 1 else ""
    if pose["combinations"] > known:
        gain = f"identifies {pose['combinations'] - known} more"
    elif pose["condition_number"] < content["condition_number"]:
        gain = f"lowers the condition number to {pose['condition_number']:.1f}"
    else:
        return "pose to add: none lowers the condition number"
    return f"pose to add: {places}{orientation}: {gain}"
