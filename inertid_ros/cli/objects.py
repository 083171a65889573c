"""What is held: `inertid object` keeps the library, `inertid recognise` names what estimates and bags hold."""

from __future__ import annotations

import argparse
import dataclasses
import sys
from pathlib import Path
from typing import Any

import numpy as np
from rich.table import Table

from inertid_ros.bags.bag import Bag
from inertid_ros.cli.command import OK, finish, make_plan, say
from inertid_ros.cli.console import ProgressBar, print_all
from inertid_ros.core.errors import RecordingError, SettingError
from inertid_ros.core.estimation.estimate import LoadEstimate
from inertid_ros.core.rigid_body.description import describe_body
from inertid_ros.files.estimate import read_estimate
from inertid_ros.files.objects import read_library, read_watch, write_object
from inertid_ros.objects.held import Held
from inertid_ros.objects.known import KnownObject
from inertid_ros.objects.recognition import Grip
from inertid_ros.replay.replay import replay_bags
from inertid_ros.text.numbers import format_estimate


def keep(options: argparse.Namespace) -> int:
    """Add an object to the library, or list them."""
    if options.action == "list":
        _print_library(read_library(options.library))
        return OK
    if options.name is None or options.estimate is None:
        raise SettingError("object add", options.name, "the object's name, and the estimate that it is made from")
    load = read_estimate(options.estimate).need_load()
    known = KnownObject.from_estimate(options.name, load, np.array(options.origin))
    path = write_object(options.library, known)
    mass = format_estimate(float(known.phi[0]), float(np.sqrt(known.covariance[0, 0])), "kg")
    say(f"{path}: {known.name}, {mass}", file=sys.stdout)
    return OK


def recognise(options: argparse.Namespace) -> int:
    """Say what is held; 0 if everything went well, 1 if something is wrong."""
    plan = make_plan(options)
    changes: dict[str, Any] = {"library": str(options.library or plan.settings.objects.library or "objects")}
    changes |= {name: value for name in ("expected", "expected_grip") if (value := getattr(options, name))}
    settings = dataclasses.replace(plan.settings.objects, **changes)
    watch = read_watch(settings)
    assert watch is not None
    if all(_is_estimate(path) for path in options.inputs):
        loads = {str(path): read_estimate(path).need_load() for path in options.inputs}
    else:
        plan = dataclasses.replace(
            plan, settings=dataclasses.replace(plan.settings, estimators=["load"], objects=settings)
        )
        loads = {", ".join(map(str, options.inputs)): _replay(options.inputs, plan)}
    found = {name: describe_held(watch.look(load)) for name, load in loads.items()}
    return finish(options, {"held": found}, _print_held)


def _is_estimate(path: Path) -> bool:
    return path.suffix in (".json", ".yaml", ".yml") or (path / "estimate.json").is_file()


def _replay(bags: list[Path], plan: Any) -> LoadEstimate:
    total = 0
    for path in bags:
        with Bag(path) as bag:
            total += bag.count(tuple(plan.inputs.values()))
    with ProgressBar("replaying", total) as bar:
        traces = replay_bags(bags, dataclasses.replace(plan, moments=0), lambda: None, bar.advance)
    if traces.load is None:
        raise RecordingError(f"nothing was identified of the load in {', '.join(map(str, bags))}")
    return traces.load.estimate


def describe_held(held: Held) -> dict[str, Any]:
    """All numbers, for JSON."""
    found, check = held.recognition, held.check
    return {
        "answer": found.answer,
        "name": found.name,
        "message": found.message,
        "probabilities": found.probabilities,
        "grip": None if found.grip is None else _describe_grip(found.grip),
        "check": None
        if check is None
        else {
            "state": check.state,
            "probability": check.probability,
            "message": check.message,
            "offset": check.offset,
            "covariance": check.covariance,
        },
    }


def _describe_grip(grip: Grip) -> dict[str, Any]:
    return {
        "pose": grip.pose,
        "covariance": grip.covariance,
        "principal_axes": grip.axes,
        "turn_not_determined": list(grip.is_free),
        "alternatives": grip.alternatives,
    }


def _print_held(content: dict[str, Any]) -> None:
    for name, held in content["held"].items():
        table = Table("object", "probability", title=name)
        for other, share in held["probabilities"].items():
            if share > 1e-4:
                table.add_row(other, f"{share:.2%}")
        lines = [f"held: {held['message']}", *_list_grip(held["grip"])]
        lines += [] if held["check"] is None else [f"grip: {held['check']['message']}"]
        print_all(*([table] if held["probabilities"] else []), *lines)


def _list_grip(grip: dict[str, Any] | None) -> list[str]:
    if grip is None:
        return []
    deviations = np.sqrt(np.diag(grip["covariance"]))
    place = ", ".join(
        format_estimate(1e3 * float(at), 1e3 * float(deviation))
        for at, deviation in zip(grip["pose"][:3, 3], deviations[:3], strict=True)
    )
    lines = [f"its frame is at ({place}) mm in the sensor's frame, or after half a turn about a principal axis"]
    free = [str(index + 1) for index, is_free in enumerate(grip["turn_not_determined"]) if is_free]
    return lines + ([f"not determined: the turn about principal axis {' and '.join(free)}"] if free else [])


def _print_library(library: list[KnownObject]) -> None:
    table = Table("object", "mass [kg]", "principal moments [g m²]")
    for known in library:
        body = describe_body(known.phi, known.covariance)
        moments = ""
        if body.principal_moments is not None and body.principal_moments_std is not None:
            pairs = zip(1e3 * body.principal_moments, 1e3 * body.principal_moments_std, strict=True)
            moments = ", ".join(format_estimate(float(value), float(deviation)) for value, deviation in pairs)
        table.add_row(known.name, format_estimate(body.mass, body.mass_std), moments)
    print_all(table)
