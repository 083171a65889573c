"""`inertid validate`: an estimate against a recording it was not made from."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from inertid_ros.cli.replay import add_remap, add_span, one_line, read_description, read_span

if TYPE_CHECKING:
    from inertid_ros.files.estimate import SavedEstimate
    from inertid_ros.replay.plan import Plan


def add_parser(commands: Any) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "validate",
        help="see how well an estimate predicts another recording",
        description="Predict the wrenches, efforts or base wrenches of bags with the frozen parameters of an "
        "estimate.json, and print what is left: rms, relative to the rms of what was measured, and relative to what "
        "the URDF's own parameters leave. Of a load, the wrench less the bias counts, and since wrist sensors are "
        "tared between recordings, the first number is with a constant fitted to each channel of the bags, the second "
        "with the bias of the estimate, nothing fitted. Of links, both sides are filtered as in the replay, and "
        "nothing is fitted. Settings and topics are those of the replay.",
        allow_abbrev=False,
    )
    parser.add_argument("estimate", type=Path, metavar="ESTIMATE", help="estimate.json, or the directory it is in")
    parser.add_argument("bags", nargs="+", type=Path, metavar="BAG", help="rosbag2 folder, or .mcap or .db3 file")
    parser.add_argument("--params", type=Path, metavar="FILE", help="parameter file (default: as in the replay)")
    parser.add_argument("--urdf", type=Path, metavar="FILE", help="robot (default: as in the replay, else in the bag)")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    add_span(parser)
    add_remap(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Validate; 0 if everything went well, 1 if something is wrong."""
    from inertid_ros.cli.progress_bar import ProgressBar
    from inertid_ros.core.errors import InertidError
    from inertid_ros.files.document import format_json
    from inertid_ros.files.estimate import read_estimate
    from inertid_ros.replay.validate import prepare

    try:
        saved = read_estimate(options.estimate)
        comparison = prepare(saved, options.bags, _make_plan(options, saved))
        with ProgressBar("predicting", comparison.messages) as progress:
            validation = comparison.run(progress.advance)
    except InertidError as error:
        sys.stderr.write(f"inertid validate: {one_line(error)}\n")
        return 1
    for line in validation.notes:
        sys.stderr.write(f"inertid validate: {one_line(line)}\n")
    if options.json:
        sys.stdout.write(format_json(validation.list_all()) + "\n")
    else:
        _print_tables(validation.list_all())
    return 1 if validation.notes else 0


def _make_plan(options: argparse.Namespace, saved: SavedEstimate) -> Plan:
    """Settings and topics of the replay, unless the options name others."""
    from inertid_ros.bags.topics import Topics
    from inertid_ros.files.parameters import read_settings
    from inertid_ros.replay.plan import Plan

    settings = saved.need_settings() if options.params is None else read_settings(options.params)
    topics = Topics.from_remappings(options.remap) if options.remap else Topics(**saved.topics)
    urdf = options.urdf or (Path(settings.urdf) if settings.urdf else None)
    start, end = read_span(options)
    return Plan(settings=settings, topics=topics, description=read_description(urdf), start=start, end=end)


def _print_tables(content: dict[str, Any]) -> None:
    if content["load"] is not None:
        _print_load(content["load"])
    if content["links"] is not None:
        _print_links(content["links"])


def _print_load(content: dict[str, Any]) -> None:
    from rich.table import Table

    from inertid_ros.cli.table_console import make_console

    has_urdf = content["urdf"] is not None
    table = Table()
    headings = ["channel", "rms of wrench", "rms of residual", "relative rms, bias refitted", "bias of the estimate"]
    for heading in [*headings, *(["URDF, bias refitted", "over the URDF's"] if has_urdf else [])]:
        table.add_column(heading, justify="right", no_wrap=heading == "channel")

    def describe(name: str, *keys: str) -> None:
        found, own, urdf, ratio = (
            _look_up(content[part] if part else content, keys) for part in ("", "own_bias", "urdf", "relative_to_urdf")
        )
        sizes = [f"{found[key]:.4f}" if key in found else "" for key in ("measured_rms", "rms")]
        relative = [f"{100.0 * item['relative_rms']:.2f} %" for item in (found, own, urdf) if item]
        table.add_row(name, *sizes, *relative, *([_format_ratio(ratio["ratio"])] if ratio else []))

    for name in content["channels"]:
        describe(name, "channels", name)
    for name in ("force", "torque"):
        describe(name, name)
    describe("overall")
    console = make_console()
    console.print(table)
    console.print("Bias refitted: a constant in each channel is fitted to these bags. All else is frozen.")
    if not has_urdf:
        console.print("The URDF says nothing of what hangs on the sensor: nothing to compare with.")


def _print_links(content: dict[str, Any]) -> None:
    from rich.table import Table

    from inertid_ros.cli.table_console import make_console

    table = Table()
    for heading in ("channel", "rms", "rms of residual", "relative rms", "not filtered", "URDF", "over the URDF's"):
        table.add_column(heading, justify="right", no_wrap=heading == "channel")

    def describe(name: str, *keys: str) -> None:
        found, raw, urdf, ratio = (
            _look_up(content[part] if part else content, keys) for part in ("", "raw", "urdf", "relative_to_urdf")
        )
        sizes = [f"{found[key]:.4f}" if key in found else "" for key in ("measured_rms", "rms")]
        relative = [f"{100.0 * item['relative_rms']:.2f} %" for item in (found, raw, urdf)]
        table.add_row(name, *sizes, *relative, _format_ratio(ratio["ratio"]))

    for name in content["channels"]:
        describe(name, "channels", name)
    groups = [name for name in ("base_force", "base_torque", "effort", "effort_force") if name in content]
    for name in groups if len(groups) > 1 else []:
        describe(name.replace("_", " "), name)
    describe("overall")
    console = make_console()
    console.print(table)
    console.print("All is frozen. Both sides are filtered as the estimator does; beside it, the samples as measured.")


def _look_up(content: Any, keys: tuple[str, ...]) -> Any:
    for key in keys if content else ():
        content = content[key]
    return content


def _format_ratio(ratio: float | None) -> str:
    return "" if ratio is None else f"{ratio:.3g}"
