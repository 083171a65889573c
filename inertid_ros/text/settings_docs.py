"""Parameter file, parameter table and the page on the simulated driver, written from the one source of all settings."""

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

_DRIVER_PAGE = """\
# Simulated driver

Generated from `inertid_ros/sim/scenario.py` with `inertid params --driver > docs/simulated_driver.md`.

`inertid driver` (or `ros2 run inertid_ros simulated_driver`) stands in for a robot with a wrist force/torque sensor:
a moving arm with encoders, noise, bias and vibration, that picks up a load and puts it down on request.

```
inertid driver --ros-args -p robot:=ddarm -p load:=none -p motion:=multisine
```

For link identification, the three moves of the paper, with the noise of its torques and tachometers, and links that
differ from the URDF as much as what the paper estimated differs from its CAD model:

```
inertid driver --ros-args -p robot:=ddarm -p links:=paper -p load:=none -p motion:=paper_link_moves \\
    -p tachometer:=true -p effort:=true
```

With `motion:=driven` nothing is prescribed: the arm is what efforts make of it (forward dynamics with friction, rotors
and the effort limits of the URDF). It holds its pose by feedback, follows trajectories, with the efforts in them fed
forward, and obeys raw efforts ([feedforward and practice](control.md)):

```
inertid driver --ros-args -p robot:=ddarm -p links:=paper -p load:=none -p motion:=driven -p pose:=[0.5,5.0,4.0] \\
    -p joint_rate:=1000.0 -p tachometer:=true -p effort:=true -p effort_noise:=[0.0]
```

| topic | type | what |
| --- | --- | --- |
| `joint_trajectory` (in) | trajectory_msgs/JointTrajectory | to a driven arm: followed from its stamp on, or at once |
| `effort_commands` (in) | std_msgs/Float64MultiArray | to a driven arm: one effort per joint, obeyed for 0.1 s |
| `joint_states` | sensor_msgs/JointState | positions, velocities with `tachometer`, motor efforts with `effort` |
| `wrench` | geometry_msgs/WrenchStamped | what the wrist sensor measures, in `sensor_frame` |
| `base_wrench` | geometry_msgs/WrenchStamped | what a sensor below the base measures, in the URDF's root frame; \
only while there is a subscriber |
| `robot_description` | std_msgs/String | the URDF, latched for late subscribers |

| service | type | what |
| --- | --- | --- |
| `~/attach` | std_srvs/SetBool | true: pick up the load, false: put it down, from the next sample on |

```
ros2 service call /simulated_driver/attach std_srvs/srv/SetBool "{{data: true}}"
```

Efforts are those of the motors: what moves the links, the tool and the load, plus rotor inertia times acceleration,
viscous friction times velocity, Coulomb friction in the direction of motion (none at rest), an offset and white noise.

The base wrench is the one that the ground exerts on the robot's root link with `sign` `on_load`, and its negative with
`on_sensor`: the rate of change of momentum minus the weight of all links (the root link too), tool and load, about the
root frame's origin. Friction and rotors have no effect on it. Bias, noise, drift, vibration and delay are of the same
size as those of the wrist sensor; all but bias and delay are drawn independently.

## Parameters

They are read once, at the start. In a list of numbers write all of them with a decimal point: ROS accepts no list of
mixed types.

{table}"""

_TABLE_HEADER = """\
| parameter | default | values | meaning |
| --- | --- | --- | --- |
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


def driver_page(parameters: Iterable[SettingInfo]) -> str:
    """Return the Markdown page: topics, service and one row per parameter."""
    return _DRIVER_PAGE.format(table=format_table(parameters))


def format_table(infos: Iterable[SettingInfo]) -> str:
    """Return a Markdown table with one row per parameter."""
    rows = [
        f"| `{info.name}` | `{format_yaml_value(info.default)}` | {_describe_values(info)} | {info.description} |"
        for info in infos
    ]
    return _TABLE_HEADER + "\n".join(rows) + "\n"


def _describe_values(info: SettingInfo) -> str:
    """Type, unit and range."""
    limits, unit = info.describe_range(), f" [{info.unit}]" if info.unit else ""
    return f"{info.type.replace('_', ' ')}{unit}{'' if limits == 'any' else f': {limits}'}"


def _describe_limits(info: SettingInfo) -> str:
    limits = info.describe_range()
    if limits == "any":
        return ""
    return f"({limits}{' ' + info.unit if info.unit else ''})"
