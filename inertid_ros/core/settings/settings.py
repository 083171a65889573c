"""The one source of every parameter: type, default, range, unit and meaning.

The node declares and validates its ROS parameters from here, `config/template.yaml` and the table in the README are
generated from here, and offline tools read the same YAML through here. Dotted names are nested dataclasses.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from enum import EnumMeta
from typing import Any, Literal, get_type_hints

import numpy as np

from inertid_ros.core.errors import SettingError
from inertid_ros.core.settings.choices import (
    BaseSign,
    EffortUnit,
    GravitySource,
    LoadSource,
    Method,
    Reliability,
    SignChoice,
    Source,
)

LONGEST = 4096
"""Characters of a text, and items of a list, at most: paths cannot be longer on Linux, and peers may set parameters."""

SettingType = Literal["bool", "int", "float", "str", "float_list", "str_list"]


_TYPES: dict[Any, SettingType] = {
    bool: "bool", int: "int", float: "float", str: "str", list[float]: "float_list", list[str]: "str_list",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class SettingInfo:
    """What is known of one parameter besides its value.

    Default and choices are as parameter files have them; `choice` is the enumeration that a value becomes, if any.
    """

    name: str
    type: SettingType
    choice: EnumMeta | None
    default: Any
    description: str
    unit: str
    minimum: float | None
    maximum: float | None
    choices: tuple[str, ...]
    length: int | None
    is_direction: bool

    def describe_range(self) -> str:
        """Say in words which values are allowed."""
        if self.choices:
            return "one of " + ", ".join(choice or '""' for choice in self.choices)
        if self.minimum is not None and self.maximum is not None:
            return f"{self.minimum:g} to {self.maximum:g}"
        if self.length is not None:
            return f"{self.length} finite numbers" + (", not all zero" if self.is_direction else "")
        return "any"

    def check(self, value: Any) -> Any:
        """Return the value in its own type, or raise SettingError naming the range.

        An integer is taken where a float is expected, and any sequence for a list; nothing else is converted.
        """
        kind: Any = {"bool": bool, "int": int, "float": float, "str": str}.get(self.type, list)
        if kind is float and isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**63:
            value = float(value)
        if kind is list and hasattr(value, "__iter__") and not isinstance(value, (str, bytes)):
            value = list(value)
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise SettingError(self.name, value, f"a {self.type.replace('_', ' ')} ({self.describe_range()})")
        if self.type == "float_list":
            try:
                value = [float(item) for item in value]
            except (TypeError, ValueError, OverflowError):
                raise SettingError(self.name, value, self.describe_range()) from None
        if isinstance(value, (str, list)) and not _is_plain(value):
            raise SettingError(self.name, value[:20], f"at most {LONGEST} printable characters or items")
        if not self._is_allowed(value):
            raise SettingError(self.name, value, self.describe_range())
        return self.choice(value) if self.choice is not None else value

    def _is_allowed(self, value: Any) -> bool:
        """Whether a value of the right type is within the range."""
        items = value if isinstance(value, list) else [value]
        if self.choices and not all(item in self.choices for item in items):
            return False
        if self.type not in ("int", "float", "float_list"):
            return True
        low, high = (limit if limit is not None else value for limit in (self.minimum, self.maximum))
        if not np.isfinite(items).all() or not low <= value <= high:
            return False
        return self.length in (None, len(items)) and (not self.is_direction or any(items))


def _is_plain(value: str | list[Any]) -> bool:
    """Whether a text, or a list of texts or numbers, is not too long, and has no line breaks or control characters."""
    texts = [value] if isinstance(value, str) else [item for item in value if isinstance(item, str)]
    return len(value) <= LONGEST and all(len(text) <= LONGEST and text.isprintable() for text in texts)


def setting(
    default: Any,
    description: str,
    unit: str = "",
    minimum: float | None = None,
    maximum: float | None = None,
    choices: tuple[str, ...] = (),
    length: int | None = None,
    is_direction: bool = False,
) -> Any:
    """Declare one parameter as a dataclass field; the arguments are those of SettingInfo."""
    metadata = {name: value for name, value in locals().items() if name != "default"}
    if isinstance(default, list):
        return field(default_factory=default.copy, metadata=metadata)
    return field(default=default, metadata=metadata)


@dataclass(frozen=True, slots=True)
class LoadSettings:
    """How the load on a wrist sensor is identified."""

    source: LoadSource = setting(
        LoadSource.WRENCH,
        "What the load is identified from: a wrist sensor (wrench), or, for robots without one, the effort of "
        "joint_states and an arm that was identified before (effort; see load.arm_file, links.effort_unit).",
    )
    arm_file: str = setting(
        "",
        "Estimate of the links without load, written by inertid replay or ~/save. Only with load.source effort, which "
        "needs it.",
    )
    sensor_frame: str = setting(
        "",
        "Frame of the URDF in which the wrench is measured, or in which a load identified from effort is given. Empty: "
        "the frame_id of the wrench messages.",
    )
    wrench_sign: SignChoice = setting(
        SignChoice.AUTO,
        "Which wrench the driver publishes: the one the sensor exerts on the load (on_load), the one the load exerts "
        "on the sensor (on_sensor), or whichever of the two gives the load a positive mass (auto).",
    )
    method: Method = setting(
        Method.FILTERED,
        "Regressor without accelerations by filtering (filtered), with filtered and differentiated joint positions as "
        "in the 1986 paper (differentiated), or integrated over a window, eq. 25-27 of it (integral).",
        choices=(Method.FILTERED, Method.DIFFERENTIATED, Method.INTEGRAL),
    )
    filter_cutoff: float = setting(
        20.0, "First low-pass of the filtered method, the one that removes accelerations.", "rad/s", 1.0, 1000.0
    )
    smoothing_cutoff: float = setting(
        30.0, "Second low-pass of the filtered method, on both sides of the equation.", "rad/s", 1.0, 3000.0
    )
    differentiation_cutoff: float = setting(
        207.0, "Low-pass of the differentiated method (207 rad/s is the paper's 33 Hz).", "rad/s", 1.0, 3000.0
    )
    integral_window: float = setting(0.3, "Window of the integral method.", "s", 0.04, 10.0)
    wrench_delay: float = setting(
        0.0, "How much later than the joint states the wrench is stamped or filtered.", "s", -0.2, 0.2
    )
    delay_uncertainty: float = setting(
        0.005,
        "Standard deviation of the delay between joint states and wrench, which is estimated; 0: load.wrench_delay is "
        "exact.",
        "s",
        0.0,
        0.1,
    )
    tilt_uncertainty: float = setting(
        0.009,
        "Standard deviation of the base's tilt against gravity about each horizontal axis, which is estimated; 0: the "
        "base is level.",
        "rad",
        0.0,
        0.2,
    )
    gain_uncertainty: float = setting(
        0.01,
        "Standard deviation of the gain of each axis of the sensor (its data sheet's accuracy), which is estimated as "
        "far as that is possible; 0: exact.",
        "",
        0.0,
        0.2,
    )
    cross_talk: float = setting(
        0.01,
        "Standard deviation of what each axis of the sensor reads of each other one, which is estimated; between force "
        "and torque by 0.1 m. 0: none.",
        "",
        0.0,
        0.2,
    )
    rotation_uncertainty: float = setting(
        0.009,
        "Standard deviation of the sensor's rotation against its frame in the URDF, about each axis, which is "
        "estimated; 0: it is mounted exactly so.",
        "rad",
        0.0,
        0.2,
    )
    offset_uncertainty: float = setting(
        0.002,
        "Standard deviation of the sensor's place against its frame in the URDF, along each axis, which is estimated; "
        "0: it is exactly there.",
        "m",
        0.0,
        0.1,
    )
    noise_floor_force: float = setting(
        0.002, "Smallest force noise density believed, whatever standstill shows.", "N/sqrt(Hz)", 1e-9, 100.0
    )
    noise_floor_torque: float = setting(
        1e-4, "Smallest moment noise density believed, whatever standstill shows.", "Nm/sqrt(Hz)", 1e-9, 100.0
    )
    force_limit: float = setting(
        0.0, "End of the sensor's range of force; 0: recognised by readings that stay at one end.", "N", 0.0, 1e5
    )
    torque_limit: float = setting(
        0.0, "End of the sensor's range of moment; 0: recognised by readings that stay at one end.", "Nm", 0.0, 1e5
    )
    bias_drift_force: float = setting(
        0.002, "How fast the force bias of the sensor may wander.", "N/sqrt(s)", 0.0, 100.0
    )
    bias_drift_torque: float = setting(
        1e-4, "How fast the moment bias of the sensor may wander.", "Nm/sqrt(s)", 0.0, 100.0
    )
    gate: float = setting(
        6.0,
        "A wrench further than this many standard deviations from the prediction is a contact or a new load.",
        "",
        3.0,
        100.0,
    )
    contact_force: float = setting(
        1.0, "A force closer than this to the prediction is never taken for a contact or a new load.", "N", 0.0, 1000.0
    )
    contact_torque: float = setting(
        0.1, "A moment closer than this to the prediction is never taken for a contact or a new load.", "Nm", 0.0, 100.0
    )
    tool: str = setting(
        "",
        "Name of the tool that is mounted: ~/capture_tool remembers it under this name, as inertid_tool_NAME.yaml in "
        "save_directory, and the name selects it again. Empty: that of load.tool_file.",
    )
    tool_file: str = setting(
        "", "YAML written by ~/save or ~/capture_tool whose tool is subtracted from the start. Empty: none."
    )


@dataclass(frozen=True, slots=True)
class LinksSettings:
    """How the links of the arm are identified."""

    source: Source = setting(
        Source.EFFORT,
        "What is measured: the effort of joint_states, the wrench of a sensor under the base (base_wrench), or both.",
    )
    joints: list[str] = setting(
        [],
        "The joints of the arm. Empty: those of the first joint_states message that can be used; all others are taken "
        "as locked at zero.",
    )
    effort_unit: EffortUnit = setting(
        EffortUnit.UNDECLARED,
        "Unit of effort in joint_states, to be declared whenever effort is used: newton_metre (newton for prismatic "
        "joints), or ampere, which needs links.torque_constants.",
    )
    torque_constants: list[float] = setting(
        [], "Torque at the joint per ampere, one for each of links.joints. Only with ampere.", "Nm/A"
    )
    base_frame: str = setting(
        "", "Frame of the URDF in which the base wrench is measured. Empty: the root of the URDF."
    )
    base_wrench_sign: BaseSign = setting(
        BaseSign.ON_ROBOT,
        "Which wrench the base sensor's driver publishes: the one the ground exerts on the robot (on_robot), or the "
        "one the robot exerts on the ground (on_ground).",
    )
    static_file: str = setting(
        "",
        "Poses at rest along the path of the motion, written by inertid reactions --poses: what the base sensor reads "
        "there is subtracted, and with it gravity and the sensor's offset. Only with links.source base_wrench. Empty: "
        "the offset is identified.",
    )
    method: Method = setting(
        Method.FILTERED,
        "Regressor without accelerations by filtering (filtered), with filtered and differentiated joint positions "
        "(differentiated), integrated over a window (integral), or balance of energy over a window (energy, with "
        "effort only).",
    )
    viscous: bool = setting(True, "Identify viscous friction of each joint.")
    coulomb: bool = setting(True, "Identify Coulomb friction of each joint.")
    rotor_inertia: bool = setting(True, "Identify the rotor's inertia of each joint, as seen at the joint.")
    offset: bool = setting(True, "Identify a constant offset of each effort.")
    coulomb_velocity: float = setting(
        0.02, "Below this velocity Coulomb friction is taken as proportional to velocity.", "rad/s or m/s", 1e-6, 10.0
    )
    filter_cutoff: float = setting(
        20.0, "First low-pass of the filtered method, the one that removes accelerations.", "rad/s", 1.0, 1000.0
    )
    smoothing_cutoff: float = setting(
        30.0, "Second low-pass of the filtered method, on both sides of the equation.", "rad/s", 1.0, 3000.0
    )
    differentiation_cutoff: float = setting(60.0, "Low-pass of the differentiated method.", "rad/s", 1.0, 3000.0)
    integral_window: float = setting(0.3, "Window of the integral method.", "s", 0.04, 10.0)
    energy_window: float = setting(0.3, "Window of the energy method.", "s", 0.04, 10.0)
    effort_delay: float = setting(
        0.0,
        "How much later than the positions of the same message the effort was measured or filtered.",
        "s",
        -0.2,
        0.2,
    )
    delay_uncertainty: float = setting(
        0.005,
        "Standard deviation of the delay of the readings, which is estimated; 0: links.effort_delay is exact.",
        "s",
        0.0,
        0.1,
    )
    tilt_uncertainty: float = setting(
        0.009,
        "Standard deviation of the base's tilt against gravity about each horizontal axis, which is estimated from "
        "efforts; 0: the base is level.",
        "rad",
        0.0,
        0.2,
    )
    gain_uncertainty: float = setting(
        0.02,
        "Standard deviation of the gain of each channel (torque constants, torque sensors, base sensor), which is "
        "estimated as far as that is possible; 0: exact.",
        "",
        0.0,
        0.2,
    )
    friction_uncertainty: float = setting(
        0.5,
        "Standard deviation of how friction at low velocity differs from viscous and Coulomb friction (Stribeck), as "
        "a part of the friction, which is estimated; 0: not at all.",
        "",
        0.0,
        2.0,
    )
    place_uncertainty: float = setting(
        0.001,
        "Standard deviation of where joints are, along each axis, from where the URDF has them; 0: exact, as after a "
        "kinematic calibration.",
        "m",
        0.0,
        0.1,
    )
    axis_uncertainty: float = setting(
        0.002,
        "Standard deviation of the directions of joint axes, and of the zeros of joints, from those of the URDF, about "
        "each axis; 0: exact.",
        "rad",
        0.0,
        0.2,
    )
    noise_floor_effort: float = setting(
        0.01, "Smallest standard deviation of a filtered effort that is believed.", "Nm or N", 1e-9, 1000.0
    )
    noise_floor_force: float = setting(
        0.01, "Smallest standard deviation of a filtered base force that is believed.", "N", 1e-9, 1000.0
    )
    noise_floor_torque: float = setting(
        0.01, "Smallest standard deviation of a filtered base moment that is believed.", "Nm", 1e-9, 1000.0
    )


@dataclass(frozen=True, slots=True)
class ObjectSettings:
    """What may be held, and what should be."""

    library: str = setting(
        "", "Directory of objects that `inertid object add` wrote, among which what is held is recognised. Empty: none."
    )
    grip_tolerance: list[float] = setting(
        [],
        "Standard deviations [m, rad] by which grips differ from those in which the objects were identified: centre of "
        "mass and axes count as well then. Empty: objects are gripped in any way.",
    )
    expected: str = setting(
        "",
        "Name of the object that should be held: its grip is checked, and its mass is believed to 1 % from the moment "
        "that a load is attached, unless the data contradict it. Empty: any.",
    )
    expected_grip: list[float] = setting(
        [],
        "Where the frame of that object should be in the sensor frame: x, y, z [m], roll, pitch, yaw [rad]. Empty: "
        "where it was when the object was identified, on the same sensor.",
    )


@dataclass(frozen=True, slots=True)
class Settings:
    """All parameters of the node; the offline tools take the same."""

    estimators: list[str] = setting(
        ["load"], "What is identified: the load on a wrist sensor, the links of the arm.", choices=("load", "links")
    )
    urdf: str = setting(
        "",
        "Path of the URDF, or of a xacro file with its arguments (arm.xacro NAME:=VALUE ...). Empty: the topic "
        "robot_description.",
    )
    gravity: list[float] = setting(
        [0.0, 0.0, -9.80665], "Gravity in the root frame of the URDF.", "m/s^2", length=3, is_direction=True
    )
    gravity_source: GravitySource = setting(
        GravitySource.PARAMETER,
        "Where the direction of gravity comes from: the parameter gravity (parameter), or, for mobile bases and mounts "
        "that tilt, the topic imu (imu), of an IMU whose frame is fixed to the root of the URDF; its length is still "
        "that of gravity, whose direction need only be right to 75 degrees then. For a load on a wrist sensor only.",
    )
    autostart: bool = setting(True, "Configure and activate without being asked.")
    estimate_rate: float = setting(
        10.0,
        "How often estimates and markers are published; those of the links once a second at most.",
        "Hz",
        0.1,
        50.0,
    )
    output_reliability: Reliability = setting(
        Reliability.RELIABLE,
        "QoS of predicted and residual wrenches and efforts, which are sent at the rate of the input: reliable is "
        "received by every subscriber, best_effort costs less.",
    )
    save_directory: str = setting("", "Where ~/save and ~/capture_tool write. Empty: the current directory.")
    state_file: str = setting(
        "",
        "File in which all that is known (tool, load, biases, links) is kept, to go on with after a restart once the "
        "first data confirm it. Empty: none.",
    )
    allow_path_changes: bool = setting(
        False,
        "Whether others may change, while the node runs, the parameters that name files and directories, and with that "
        "have it read and write others: anybody in the ROS graph can set parameters.",
    )
    load: LoadSettings = field(default_factory=LoadSettings)
    links: LinksSettings = field(default_factory=LinksSettings)
    objects: ObjectSettings = field(default_factory=ObjectSettings)

    @classmethod
    def from_flat(cls, values: Mapping[str, Any]) -> Settings:
        """Build checked settings from dotted names; a name that is no parameter raises SettingError."""
        known = {info.name: info for info in iterate_settings()}
        parts: dict[str, dict[str, Any]] = {"": {}, "load": {}, "links": {}, "objects": {}}
        for name, value in values.items():
            if name not in known:
                raise make_unknown_error(name, value, known)
            owner, _, own_name = name.rpartition(".")
            parts[owner][own_name] = known[name].check(value)
        return cls(
            **parts[""],
            load=LoadSettings(**parts["load"]),
            links=LinksSettings(**parts["links"]),
            objects=ObjectSettings(**parts["objects"]),
        )


def make_unknown_error(name: str, value: Any, known: Iterable[str]) -> SettingError:
    """The error of a name that is no parameter, mostly a misspelt one: it suggests the nearest."""
    near = get_close_matches(name, known, 1, 0.0)[0]
    return SettingError(name, value, f"a parameter of this node, such as '{near}'; `inertid params` lists all")


def iterate_settings(owner: type = Settings, prefix: str = "") -> Iterator[SettingInfo]:
    """Walk over all parameters in the order of their declaration, nested ones by dotted name."""
    hints = get_type_hints(owner)
    for item in dataclasses.fields(owner):
        hint = hints[item.name]
        if dataclasses.is_dataclass(hint):
            yield from iterate_settings(hint, f"{prefix}{item.name}.")  # type: ignore[arg-type]
            continue
        factory: Any = item.default_factory
        default = factory() if item.default is dataclasses.MISSING else item.default
        choice = hint if isinstance(hint, EnumMeta) else None
        if choice is not None:
            default, hint = str(default), str
        choices = tuple(map(str, item.metadata["choices"] or choice or ()))
        yield SettingInfo(prefix + item.name, _TYPES[hint], choice, default, **{**item.metadata, "choices": choices})
