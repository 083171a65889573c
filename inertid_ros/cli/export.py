"""What is known, in another form: an estimate as a URDF or a picture, and parameters as a file or a page."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from inertid_ros.bags.bag import Bag
from inertid_ros.cli.command import OK, say
from inertid_ros.core.errors import FileAccessError, RobotDescriptionError, SettingError
from inertid_ros.core.settings.settings import iterate_settings
from inertid_ros.files.access import write_whole
from inertid_ros.files.estimate import SavedEstimate, read_estimate
from inertid_ros.files.provenance import hash_urdf
from inertid_ros.files.urdf import UrdfFile
from inertid_ros.files.urdf_inertials import export_urdf
from inertid_ros.text.settings_docs import driver_page, parameter_table, template_yaml


def write_urdf(options: argparse.Namespace) -> int:
    """Write the identified arm as a URDF; 0 if the file was written."""
    saved = read_estimate(options.estimate)
    links = saved.need_links()
    source = find_urdf(saved, options.urdf)
    exported = export_urdf(source.text, links.bodies, links.joints)
    source.write(options.output, exported.text)
    notes = list(exported.notes)
    if hash_urdf(source.text) != saved.urdf_sha256:
        notes.insert(0, "the estimate was made with another text of the URDF")
    say(*notes, f"{options.output}: {len(links.bodies)} links, predicts the torques of the estimate", file=sys.stdout)
    return OK


def plot(options: argparse.Namespace) -> int:
    """Draw pictures for papers and slides; 0 if the files were written."""
    from inertid_ros.report.plot import write_png

    saved = read_estimate(options.estimate)
    load = saved.need_load() if saved.links is None else saved.load
    beside = options.png.with_name(f"{options.png.stem}_links{options.png.suffix}")
    for part, path in ((load, options.png), (saved.links, options.png if load is None else beside)):
        if part is not None:
            write_png(part, path, options.dpi, saved.origin)
            say(f"wrote {path}", file=sys.stdout)
    return OK


def print_parameters(options: argparse.Namespace) -> int:
    """Print the parameters of the node or of the simulated driver."""
    if options.driver:
        from inertid_ros.sim.scenario import ScenarioSettings

        sys.stdout.write(driver_page(iterate_settings(ScenarioSettings)))
    else:
        sys.stdout.write(parameter_table() if options.markdown else template_yaml())
    return OK


def write_configuration(options: argparse.Namespace) -> int:
    """Write a parameter file for a robot, a sensor or both, or list what there is."""
    from inertid_ros.files.profile_pages import format_parameter_file
    from inertid_ros.files.profiles import find_profiles, iterate_profiles

    if options.list:
        for profile in (*iterate_profiles("robot"), *iterate_profiles("sensor")):
            print(f"{profile.kind:7}{profile.title}: {', '.join(profile.names)}")
        return OK
    profiles = find_profiles(options.robot, options.sensor)
    if not profiles:
        raise SettingError("robot", "", "a name of `inertid config --list`, here or after --sensor")
    if options.output is not None and options.output.exists():
        raise FileAccessError(f"'{options.output}' already exists: choose another name, or move it away")
    return _write(format_parameter_file(profiles, options.output or Path("my_arm.yaml")), options.output)


def write_table(options: argparse.Namespace) -> int:
    """Write an estimate as comma-separated values."""
    from inertid_ros.files.table import format_csv

    return _write(format_csv(read_estimate(options.estimate)), options.output)


def _write(text: str, path: Path | None) -> int:
    """Write a text to a file, or print it."""
    if path is None:
        sys.stdout.write(text)
    else:
        write_whole(path, text)
        say(f"wrote {path}", file=sys.stdout)
    return OK


def find_urdf(saved: SavedEstimate, path: Path | None) -> UrdfFile:
    """Read the URDF of an estimate: the one named, that of its settings, or that of its first bag."""
    of_settings = "" if saved.settings is None else saved.settings.urdf
    named = path or (Path(of_settings) if of_settings else None)
    if named is not None:
        return UrdfFile.read(named, "--urdf")
    if not saved.inputs:
        raise RobotDescriptionError("the estimate names neither a URDF nor a bag: name the URDF with --urdf")
    with Bag(saved.inputs[0]) as bag:
        return UrdfFile(bag.find_description(saved.topics["robot_description"]))
