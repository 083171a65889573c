"""Which settings fit together, and which may change while the node runs."""

from __future__ import annotations

import re

from inertid_ros.core.errors import SettingError
from inertid_ros.core.settings.choices import EffortUnit, GravitySource, Method
from inertid_ros.core.settings.settings import LinksSettings, LoadSettings, Settings

IMMEDIATE = ("estimate_rate", "save_directory", "load.tool")
"""Take effect at once."""

FIXED = ("estimators", "gravity_source", "autostart", "output_reliability", "state_file", "load.source", "links.source")
"""Are read when the node is configured, and rejected later."""

PATHS = ("urdf", "save_directory", "state_file", "load.tool_file", "load.arm_file", "links.static_file")
"""Name files and directories: read-only from the start, unless allow_path_changes is set."""


def check_tool_name(load: LoadSettings) -> None:
    """Refuse a name that cannot be part of a file's; SettingError."""
    if not re.fullmatch(r"[\w.-]*", load.tool):
        raise SettingError("load.tool", load.tool, "a name of letters, digits and _ . -")


def check_links_settings(links: LinksSettings) -> None:
    """Refuse what would give wrong numbers in silence; SettingError naming the parameter and what to do."""
    unit, constants = links.effort_unit, links.torque_constants
    if links.source.has_efforts:
        if links.static_file:
            raise SettingError("links.static_file", links.static_file, "none unless links.source is base_wrench")
        if not unit:
            expected = (
                "newton_metre or ampere: joint_states does not state the unit of its effort, and a wrong one gives "
                "wrong masses without any other symptom"
            )
            raise SettingError("links.effort_unit", unit, expected)
        if unit is EffortUnit.AMPERE and (not links.joints or len(constants) != len(links.joints)):
            expected = "one torque constant [Nm/A] for each of links.joints, which must be given too"
            raise SettingError("links.torque_constants", constants, expected)
        if unit is EffortUnit.NEWTON_METRE and constants:
            raise SettingError("links.torque_constants", constants, "none with links.effort_unit newton_metre")
    if links.source.has_base_wrench and links.method is Method.ENERGY:
        measured = "links.source both" if links.source.has_efforts else "a base wrench alone"
        raise SettingError("links.method", links.method, f"filtered or differentiated with {measured}")


def check_fixed_gravity(settings: Settings) -> None:
    """Refuse gravity that turns where the whole arm is weighed in it; SettingError."""
    if settings.gravity_source is not GravitySource.PARAMETER:
        expected = (
            "parameter for links, and for a load by efforts: these need the same gravity all the time, hold the base "
            "still and set gravity; a load on a wrist sensor alone takes an IMU"
        )
        raise SettingError("gravity_source", settings.gravity_source, expected)


def restarts_identification(name: str, estimator: str) -> bool:
    """Whether a change of this parameter restarts an estimator, `load` or `links`."""
    owner = name.rpartition(".")[0]
    return name not in IMMEDIATE and name not in FIXED and owner in ("", estimator)


def describe_changes() -> str:
    """Say it in words."""
    return (
        f"{_list(IMMEDIATE)} take effect at once. {_list(FIXED)} are read when the node is configured, and rejected "
        f"later. {_list(PATHS)} are read-only unless `allow_path_changes` is true at the start. "
        "Changing a parameter of `load` or of `links` restarts the identification of that, any other one both."
    )


def _list(names: tuple[str, ...]) -> str:
    quoted = [f"`{name}`" for name in names]
    return ", ".join(quoted[:-1]) + " and " + quoted[-1]
