"""What profiles say, for people: commented parameter files, and one page of the documentation for each.

`python -m inertid_ros.files.profile_pages docs` writes the pages.
"""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from inertid_ros.core.settings.settings import iterate_settings
from inertid_ros.files.access import make_directory, write_whole
from inertid_ros.files.profiles import Kind, Profile, iterate_profiles
from inertid_ros.text.settings_docs import format_yaml_value

_WIDTH = 110
_KINDS: tuple[tuple[Kind, str], ...] = (("robot", "Robots"), ("sensor", "Sensors"))

_INDEX = """\
# Robots and sensors

Generated from `config/robots` and `config/sensors` with `python -m inertid_ros.files.profile_pages docs`.

Topics, frames and units of the vendors' ROS 2 drivers, each with its public source. One name selects them all:

```sh
ros2 launch inertid_ros load.launch.py robot:=ur                   # a robot with a wrist sensor of its own
ros2 launch inertid_ros load.launch.py robot:=franka sensor:=bota  # with a sensor mounted on it
inertid config --list                                              # all names
inertid config ur10e --sensor ati -o my_arm.yaml                   # a commented parameter file to start from
```

Other arguments, such as `wrench_topic:=...`, and `params_file` take precedence. These settings come from documentation
and have not been tried on the robots themselves. The sign of the wrench is determined from gravity, and a finding in
`/diagnostics` tells you where the data contradict the rest. Where no public text states a sensor's accuracy,
`load.gain_uncertainty` and `load.cross_talk` stay at their default of 1 %: set them to the values of your sensor's data
sheet or certificate, as standard deviations ([how](intervals.md#from-a-data-sheet)).
"""

_PAGE = """\
# {title}

{summary}

```sh
{launch}
# the same settings as a commented parameter file, to edit
inertid config {command} -o my_arm.yaml
```

Other names: {names}. Driver: <{driver}>.

## Before you start

{before}

## What is set

| topic or parameter | value |
| --- | --- |
{values}

## Sources

{facts}
"""

_BY_WRENCH = "ros2 launch inertid_ros load.launch.py {launch}"
_BY_EFFORTS = """\
# once: the arm itself, moving without a load; this is saved in inertid_links.yaml
ros2 launch inertid_ros links.launch.py {launch}
ros2 service call /inertid/save std_srvs/srv/Trigger
# then its loads
ros2 launch inertid_ros load.launch.py {launch} arm_file:=inertid_links.yaml"""


def format_parameter_file(profiles: Sequence[Profile], path: Path) -> str:
    """A commented parameter file for the node: what profiles set, later ones taking precedence, and why.

    The commands in it name the path at which it will be.
    """
    topics = {name: topic for profile in profiles for name, topic in profile.topics.items()}
    parameters = {name: value for profile in profiles for name, value in profile.parameters.items()}
    remaps = " ".join(f"{name}_topic:={topic}" for name, topic in topics.items())
    replay = " ".join(f"--remap {name}:={topic}" for name, topic in topics.items())
    lines = [
        *_comment("Parameters of the node `inertid` for: " + ", ".join(profile.title for profile in profiles)),
        *(f"#     {profile.driver}" for profile in profiles),
        "# Before you start:",
        *(line for profile in profiles for step in profile.before for line in _comment(step, bullet=True)),
        "# Live, beside the driver, and from a recording:",
        f"#     ros2 launch inertid_ros load.launch.py params_file:={path} {remaps}",
        f"#     inertid replay my_bag --params {path} {replay} -o result",
        "# All other parameters: inertid params",
        "/**:",
        "  ros__parameters:",
    ]
    return "\n".join([*lines, *_list_parameters(parameters, profiles)]) + "\n"


def _list_parameters(parameters: dict[str, Any], profiles: Sequence[Profile]) -> list[str]:
    """Lines of the parameters in the order of their declaration, each below the fact that the last profile states."""
    facts = {fact.about: fact for profile in profiles for fact in profile.facts}
    lines: list[str] = []
    group = ""
    for info in (info for info in iterate_settings() if info.name in parameters):
        owner, _, name = info.name.rpartition(".")
        if owner != group:
            lines.append(f"    {owner}:")
            group = owner
        lines += _comment(facts[info.name].text, "      ")
        value = parameters[info.name]
        lines += [f"      # {facts[info.name].source}", f"      {name}: {format_yaml_value(value)}"]
    return lines


def _comment(text: str, indent: str = "", bullet: bool = False) -> list[str]:
    first, later = ("# - ", "#   ") if bullet else ("# ", "# ")
    return textwrap.wrap(
        " ".join(text.split()), _WIDTH, initial_indent=indent + first, subsequent_indent=indent + later
    )


def make_pages() -> dict[str, str]:
    """The pages of the documentation: an overview, and one for each profile, by their path."""
    pages = {}
    index = [_INDEX]
    for kind, heading in _KINDS:
        index.append(f"## {heading}\n\n| name | what | also called |\n| --- | --- | --- |")
        for profile in iterate_profiles(kind):
            name, *others = profile.names
            path = f"{kind}s/{name}.md"
            pages[path] = format_page(profile)
            index.append(f"| `{name}` | [{profile.title}]({path}) | {', '.join(f'`{other}`' for other in others)} |")
        index.append("")
    pages["robots.md"] = "\n".join(index).rstrip("\n") + "\n"
    return pages


def format_page(profile: Profile) -> str:
    """One page on one robot or sensor."""
    name = profile.names[0]
    set_here = {**profile.topics, **profile.parameters}
    commands = _BY_EFFORTS if profile.parameters.get("load.source") == "effort" else _BY_WRENCH
    return _PAGE.format(
        title=profile.title,
        summary="\n".join(textwrap.wrap(profile.summary, 120)),
        driver=profile.driver,
        names=", ".join(f"`{other}`" for other in profile.names[1:]),
        launch=commands.format(launch=f"robot:={name}" if profile.kind == "robot" else f"robot:=ur sensor:={name}"),
        command=name if profile.kind == "robot" else f"ur10e --sensor {name}",
        before="\n".join(f"- {' '.join(step.split())}" for step in profile.before),
        values="\n".join(f"| `{key}` | `{value}` |" for key, value in set_here.items()),
        facts="\n".join(
            f"- {f'`{fact.about}`' if fact.about in set_here else fact.about}: {' '.join(fact.text.split())} "
            f"[Source]({fact.source})"
            for fact in profile.facts
        ),
    )


def main(directory: Path) -> None:
    """Write all pages below a directory."""
    for path, text in make_pages().items():
        make_directory((directory / path).parent)
        write_whole(directory / path, text)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
