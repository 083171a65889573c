"""The page on the simulated driver, written from the one source of its parameters, `ScenarioSettings`."""

from __future__ import annotations

from collections.abc import Iterable

from inertid_ros.core.settings.settings import SettingInfo
from inertid_ros.text.settings_docs import format_table

_PAGE = """\
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

| topic | type | what |
| --- | --- | --- |
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


def driver_page(parameters: Iterable[SettingInfo]) -> str:
    """Return the Markdown page: topics, service and one row per parameter."""
    return _PAGE.format(table=format_table(parameters))
