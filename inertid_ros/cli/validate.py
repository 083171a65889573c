"""`inertid validate`: an estimate against a recording it was not made from."""

from __future__ import annotations

import argparse
from typing import Any

from rich.table import Table

from inertid_ros.cli.command import finish, make_plan
from inertid_ros.cli.console import ProgressBar, make_console
from inertid_ros.files.estimate import read_estimate
from inertid_ros.replay.validate import prepare


def run(options: argparse.Namespace) -> int:
    """Validate; 0 if everything went well, 1 if something is wrong."""
    saved = read_estimate(options.estimate)
    comparison = prepare(saved, options.bags, make_plan(options, saved))
    with ProgressBar("predicting", comparison.messages) as progress:
        validation = comparison.run(progress.advance)
    return finish(options, validation.list_all(), _print_tables)


def _print_tables(content: dict[str, Any]) -> None:
    load, links = content["load"], content["links"]
    for warning in content["warnings"]:
        print(f"warning: {warning}")
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
        share = 100.0 * links["within_2_sigma"]
        print(f"Within 2 of the standard deviations that the estimate states: {share:.0f} % (95 % if these are right).")
        print("Nothing is fitted. Both sides are filtered as in the estimator; not filtered: the samples as measured.")


def _print_table(content: dict[str, Any], relative: dict[str, str], groups: list[str]) -> None:
    """Print the residuals of channels, groups of channels and all together.

    Args:
        content: of the load or the links.
        relative: parts of the content with their own relative rms, and the heading of each.
        groups: of channels with one unit.
    """
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
        if ratios:
            ratio = _look_up(content["relative_to_urdf"], keys)["ratio"]
            shares.append("" if ratio is None else f"{ratio:.3g}")
        table.add_row(name, *sizes, *shares)
    make_console().print(table)


def _look_up(content: dict[str, Any], keys: tuple[str, ...]) -> dict[str, Any]:
    for key in keys:
        content = content[key]
    return content
