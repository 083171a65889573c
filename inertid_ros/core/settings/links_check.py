"""Settings of the links that do not fit together are refused before they give wrong numbers in silence."""

from __future__ import annotations

from inertid_ros.core.errors import SettingError
from inertid_ros.core.settings.settings import LinksSettings


def check_links_settings(links: LinksSettings) -> None:
    """Refuse what would give wrong numbers in silence.

    Raises:
        SettingError: naming the parameter and what to do.
    """
    if links.static_file and links.source != "base_wrench":
        raise SettingError("links.static_file", links.static_file, "none unless links.source is base_wrench")
    if links.source == "base_wrench":
        if links.method == "energy":
            raise SettingError("links.method", links.method, "filtered or differentiated with a base wrench alone")
        return
    if not links.effort_unit:
        raise SettingError(
            "links.effort_unit",
            links.effort_unit,
            "newton_metre or ampere: joint_states does not say in which unit its effort is, and a wrong one gives "
            "wrong masses without any other sign of it",
        )
    if links.effort_unit == "ampere" and (not links.joints or len(links.torque_constants) != len(links.joints)):
        raise SettingError(
            "links.torque_constants",
            links.torque_constants,
            "one torque constant [Nm/A] for each of links.joints, which must be given too",
        )
    if links.effort_unit == "newton_metre" and links.torque_constants:
        raise SettingError("links.torque_constants", links.torque_constants, "none with links.effort_unit newton_metre")
    if links.source == "both" and links.method == "energy":
        raise SettingError("links.method", links.method, "filtered or differentiated with links.source both")
