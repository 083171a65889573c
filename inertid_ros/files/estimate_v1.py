"""Estimates that version 1 of the format wrote: a replay's estimate.json, and the YAML of ~/save and ~/capture_tool."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from inertid_ros.core.rigid_body.inertial import PARAMETER_NAMES
from inertid_ros.files.document import Section

_MODES = {"free": "tracking", "disturbed": "testing", "learning": "tracking"}
_UNKNOWN = {"mode": "waiting", "rows": 0, "findings": []}
"""What the YAML did not hold."""


def upgrade(content: Section) -> Section:
    """The same with the entries of version 2.

    Raises:
        FileFormatError: if an entry is missing or is not what it should be.
    """
    if content.content["format"] == "inertid_ros replay":
        return Section(content.where, _upgrade_replay(content.content))
    provenance = content.section("provenance")
    found: dict[str, Any] = {"urdf_sha256": provenance.value("urdf_sha256", str)}
    if "load" in content.content:
        found["load"] = _upgrade_load(content, provenance)
    if "links" in content.content:
        links = dict(content.value("links", dict))
        found["links"] = links | _UNKNOWN | {"last_stamp": provenance.value("last_stamp", int)}
    else:
        tool = content.value("tool", object)
        found["tool"] = None if tool is None else _upgrade_tool(content.section("tool"))
    return Section(content.where, found)


def _upgrade_replay(content: Mapping[str, Any]) -> dict[str, Any]:
    found = dict(content)
    for name in ("load", "links"):
        if isinstance(found.get(name), dict):
            mode = found[name].get("mode")
            found[name] = found[name] | {"mode": _MODES.get(mode, mode)}
    return found


def _upgrade_load(content: Section, provenance: Section) -> dict[str, Any]:
    load, bias = content.section("load"), content.section("sensor_bias")
    states = load.section("states")
    return {
        **_UNKNOWN,
        "sensor_frame": provenance.value("sensor_frame", str),
        "wrench_sign": provenance.value("wrench_sign", str) or None,
        "parameters": load.named_numbers("parameters", PARAMETER_NAMES).tolist(),
        "states": [states.value(name, str) for name in PARAMETER_NAMES],
        "covariance": load.value("covariance", list),
        "feasible": load.named_numbers("feasible", PARAMETER_NAMES).tolist(),
        "bias": bias.value("values", list),
        "bias_covariance": bias.value("covariance", list),
        "misfit": 1.0,
        "noise_density": [0.0] * 6,
        "noise_calibrated": False,
        "last_stamp": provenance.value("last_stamp", int),
    }


def _upgrade_tool(tool: Section) -> dict[str, Any]:
    return dict(tool.content) | {"parameters": tool.named_numbers("parameters", PARAMETER_NAMES).tolist()}
