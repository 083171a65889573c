"""The parameter file and the parameter table, written from the one source in core/settings."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from typing import Any

import numpy as np

from inertid_ros.core.settings.rules import describe_changes
from inertid_ros.core.settings.settings import SettingInfo, iterate_settings

_WIDTH = 110

_YAML_HEADER = """\
# Every parameter of the node `inertid`, with its meaning, range and default. For a new arm, copy this file, keep what
# differs from the default and set load.sensor_frame; then
#     ros2 launch inertid_ros load.launch.py params_file:=my_arm.yaml
# In a list of numbers write all of them with a decimal point: ROS accepts no list of mixed types. It accepts no empty
# list either: leave the parameter out.
# This file is generated: inertid params > config/template.yaml
/**:
  ros__parameters:
"""

_MARKDOWN_HEADER = """\
# Parameters

Generated from `inertid_ros/core/settings` with `inertid params --markdown > docs/parameters.md`.

{changes}

"""

_TABLE_HEADER = """\
| parameter | type | default | range | unit | meaning |
| --- | --- | --- | --- | --- | --- |
"""


def format_yaml_value(value: Any) -> str:
    """Write a value so that YAML 1.1, YAML 1.2 and ROS's own parser read the same back, type included."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return np.format_float_positional(value, trim="0")
    if isinstance(value, list):
        return "[" + ", ".join(format_yaml_value(item) for item in value) + "]"
    if isinstance(value, str):
        return f'"{value}"'
    return str(value)


def template_yaml() -> str:
    """Return a ROS parameter file with every parameter at its default, commented."""
    lines = [_YAML_HEADER.rstrip("\n")]
    group = ""
    for info in iterate_settings():
        owner, _, name = info.name.rpartition(".")
        indent = "    " if not owner else "      "
        if owner != group:
            lines.append(f"    {owner}:")
            group = owner
        comment = f"{info.description} {_describe_limits(info)}".strip()
        lines += textwrap.wrap(comment, _WIDTH, initial_indent=indent + "# ", subsequent_indent=indent + "# ")
        lines.append(f"{indent}{'# ' if info.default == [] else ''}{name}: {format_yaml_value(info.default)}")
    return "\n".join(lines) + "\n"


def parameter_table() -> str:
    """Return a Markdown page with one row per parameter."""
    return _MARKDOWN_HEADER.format(changes=describe_changes()) + format_table(iterate_settings())


def format_table(infos: Iterable[SettingInfo]) -> str:
    """Return a Markdown table with one row per parameter."""
    rows = [
        f"| `{info.name}` | {info.type.replace('_', ' ')} | `{format_yaml_value(info.default)}` "
        f"| {info.describe_range()} | {info.unit} | {info.description} |"
        for info in infos
    ]
    return _TABLE_HEADER + "\n".join(rows) + "\n"


def _describe_limits(info: SettingInfo) -> str:
    limits = info.describe_range()
    if limits == "any":
        return ""
    return f"({limits}{' ' + info.unit if info.unit else ''})"
