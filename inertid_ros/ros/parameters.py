"""ROS parameters from the one source in core/settings.py: declaration, validation, what may change when."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import Any

from rcl_interfaces.msg import FloatingPointRange, IntegerRange, ParameterDescriptor
from rclpy.node import Node
from rclpy.parameter import Parameter

from inertid_ros.core.errors import SettingError
from inertid_ros.core.settings.rules import FIXED, PATHS
from inertid_ros.core.settings.settings import SettingInfo, Settings, iterate_settings, make_unknown_error
from inertid_ros.ros.task import check_settings

_KNOWN = {info.name: info for info in iterate_settings()}
_OF_EVERY_NODE = ("use_sim_time", "start_type_description_service", "qos_overrides.")


def describe(info: SettingInfo) -> ParameterDescriptor:
    """Return what ROS tools show of a parameter.

    The type is dynamic, so that 30 is accepted for 30.0; SettingInfo.check does the rest.
    """
    unit = f" [{info.unit}]" if info.unit else ""
    descriptor = ParameterDescriptor(
        description=info.description + unit, additional_constraints=info.describe_range(), dynamic_typing=True
    )
    if info.minimum is not None and info.maximum is not None:
        if info.type == "float":
            descriptor.floating_point_range = [FloatingPointRange(from_value=info.minimum, to_value=info.maximum)]
        else:
            descriptor.integer_range = [IntegerRange(from_value=int(info.minimum), to_value=int(info.maximum))]
    return descriptor


def declare_settings(node: Node, owner: type = Settings, read_only: bool = False) -> dict[str, Any]:
    """Declare all parameters on a node made with automatically_declare_parameters_from_overrides.

    Args:
        node: the node.
        owner: the dataclass whose fields are the parameters.
        read_only: whether they cannot be changed later.

    Returns:
        the checked values by name.

    Raises:
        SettingError: if a value given there cannot be used, or is of no parameter of the node.
    """
    values: dict[str, Any] = {}
    name = "allow_path_changes"
    is_allowed = node.has_parameter(name) and node.get_parameter(name).value is True
    locked = (name,) if is_allowed else (name, *PATHS)
    for info in iterate_settings(owner):
        values[info.name] = info.default
        if node.has_parameter(info.name):
            values[info.name] = info.check(plain_value(node.get_parameter(info.name)))
            node.undeclare_parameter(info.name)
        descriptor = describe(info)
        descriptor.read_only = read_only or info.name in locked
        node.declare_parameter(info.name, values[info.name], descriptor, ignore_override=True)
    for name in node.list_parameters([], 0).names:
        if name not in values and not name.startswith(_OF_EVERY_NODE):
            raise make_unknown_error(name, plain_value(node.get_parameter(name)), values)
    return values


def read_settings(node: Node) -> Settings:
    """Return the settings as they are now."""
    return Settings.from_flat({name: plain_value(node.get_parameter(name)) for name in _KNOWN})


def find_objection(parameters: Sequence[Parameter], current: Settings | None) -> str | None:
    """Say why some parameters cannot be set as asked, or None if they can.

    Args:
        parameters: what is asked for; names that are no settings pass.
        current: the settings now, if the node is in any state but unconfigured.
    """
    changes: dict[str, Any] = {}
    for parameter in parameters:
        info = _KNOWN.get(parameter.name)
        if info is None:
            continue
        if current is not None and info.name in FIXED:
            return f"parameter '{info.name}' can only be changed while the node is unconfigured: clean it up first"
        try:
            changes[info.name] = info.check(plain_value(parameter))
        except SettingError as error:
            return str(error)
    return None if current is None else _find_contradiction(current, changes)


def _find_contradiction(current: Settings, changes: Mapping[str, Any]) -> str | None:
    """Say why the settings would not fit together any more, for all that is identified."""
    values = {info.name: attrgetter(info.name)(current) for info in _KNOWN.values()}
    try:
        check_settings(Settings.from_flat({**values, **changes}))
    except SettingError as error:
        return str(error)
    return None


def plain_value(parameter: Parameter) -> Any:
    """Return a parameter's value with arrays as lists."""
    value = parameter.value
    return value if isinstance(value, (bool, int, float, str)) or value is None else list(value)
