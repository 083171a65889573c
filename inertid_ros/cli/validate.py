"""`inertid validate`: an estimate against a recording it was not made from."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from inertid_ros.cli.command import (
    add_bags,
    add_command,
    add_estimate,
    add_json,
    add_params,
    add_remap,
    add_span,
    add_urdf,
    finish,
    read_description,
    read_parameters,
    read_span,
)

if TYPE_CHECKING:
    from inertid_ros.files.estimate import SavedEstimate
    from inertid_ros.replay.plan import Plan


def add_parser(commands: Any) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "validate",
        run,
        "see how well an estimate predicts another recording",
        "Predict the wrenches, efforts or base wrenches of bags with the frozen parameters of an estimate, and "
        "print the residual: its rms, relative to the rms of what was measured, and relative to the residual of the "
        "URDF's own parameters. For a load, the wrench without the bias counts, and since wrist sensors are tared "
        "between recordings, the first number is with a constant fitted to each channel of the bags, the second with "
        "the bias of the estimate, nothing fitted. For links, both sides are filtered as in the replay, and nothing is "
        "fitted. Settings and topics are those of the replay.",
    )
    add_estimate(parser)
    add_bags(parser)
    add_params(parser, "as in the replay")
    add_urdf(parser, "as in the replay, else in the bag")
    add_json(parser)
    add_span(parser)
    add_remap(parser)


def run(options: argparse.Namespace) -> int:
    """Validate; 0 if everything went well, 1 if something is wrong."""
    from inertid_ros.cli.console import ProgressBar
    from inertid_ros.files.estimate import read_estimate
    from inertid_ros.replay.validate import prepare

    saved = read_estimate(options.estimate)
    comparison = prepare(saved, options.bags, _make_plan(options, saved))
    with ProgressBar("predicting", comparison.messages) as progress:
        validation = comparison.run(progress.advance)
    return finish(options, validation.list_all(), _print_tables)


def _make_plan(options: argparse.Namespace, saved: SavedEstimate) -> Plan:
    """Settings and topics of the replay, unless the options name others."""
    from inertid_ros.bags.topics import Topics
    from inertid_ros.replay.plan import Plan

    settings = read_parameters(options, None if options.params else saved.need_settings())
    topics = Topics.from_remappings(options.remap) if options.remap else Topics(**saved.topics)
    start, end = read_span(options)
    return Plan(settings=settings, topics=topics, description=read_description(settings), start=start, end=end)


def _print_tables(content: dict[str, Any]) -> None:
    load, links = content["load"], content["links"]
    if load is not None:
        relative = {
            "": "relative rms, bias refitted",
            "own_bias": "bias of the estimate",
            "urdf": "URDF, bias refitted",
        }
        _print_table(load, relative, ["force", "torque"])
        print("Bias refitted: a constant in each channel is fitted to these bags, everything else is frozen.")
        if load["urdf"] is None:
            print("The URDF has no mass fixed to the sensor frame: nothing to compare with.")
    if links is not None:
        groups = [name for name in ("base_force", "base_torque", "effort", "effort_force") if name in links]
        relative = {"": "relative rms", "raw": "not filtered", "urdf": "URDF"}
        _print_table(links, relative, groups if len(groups) > 1 else [])
        print("Nothing is fitted. Both sides are filtered as in the estimator; not filtered: the samples as measured.")


def _print_table(content: dict[str, Any], relative: dict[str, str], groups: list[str]) -> None:
    """Print the residuals of channels, groups of channels and all together.

    Args:
        content: of the load or the links.
        relative: parts of the content with their own relative rms, and the heading of each.
        groups: of channels with one unit.
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
        found = _look_up(content, keys)
        sizes = [f"{found[key]:.4f}" if key in found else "" for key in ("measured_rms", "rms")]
        parts = [_look_up(content[part] if part else content, keys) for part in relative]
        shares = [f"{100.0 * part['relative_rms']:.2f} %" for part in parts]
        ratio = [_format_ratio(_look_up(content["relative_to_urdf"], keys)["ratio"])] if ratios else []
        table.add_row(name, *sizes, *shares, *ratio)
    make_console().print(table)


def _look_up(content: dict[str, Any], keys: tuple[str, ...]) -> dict[str, Any]:
    for key in keys:
        content = content[key]
    return content


def _format_ratio(ratio: float | None) -> str:
    return "" if ratio is None else f"{ratio:.3g}"
