"""What is written of an estimate: entry by entry as docs/estimate_schema.md has it, as YAML or JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import numpy as np

from inertid_ros.core.equations.model import LinkModel
from inertid_ros.core.estimation.estimate import Estimate, Fit, LinksEstimate, LoadEstimate, WristSensor
from inertid_ros.core.estimation.full_set import complete_by_ridge, find_predictor
from inertid_ros.core.estimation.nuisances import split_nuisances
from inertid_ros.core.records import FloatArray, Name
from inertid_ros.core.rigid_body.description import RigidBodyEstimate, describe_body
from inertid_ros.core.rigid_body.inertial import PARAMETER_NAMES, Tool
from inertid_ros.core.settings.settings import Settings
from inertid_ros.core.verdict import Verdict, judge
from inertid_ros.files.document import Section, write_json, write_yaml
from inertid_ros.files.estimate import FORMAT, VERSION, SavedEstimate, parse_estimate
from inertid_ros.files.parameters import list_settings
from inertid_ros.files.provenance import Provenance
from inertid_ros.files.vendor_snippets import find_missing, make_snippets

DRIVES = ("viscous", "coulomb", "rotor_inertia", "offset")
"""What may be identified of a joint."""

_COMMENTS = {
    "format": """\
What inertid_ros has identified, in SI units. The ten parameters are mass, mass times centre of mass, and the inertia
about the origin of the frame: the sensor's for a load, the link's own for a link.""",
    "load": """\
What is carried, without the tool. 'feasible' is the nearest physically consistent body; 'inertia' is about the centre
of mass, in the axes of the frame.""",
    "tool": "What is mounted on the sensor when nothing is gripped. load.tool_file may name this file.",
    "links": """\
The arm. 'parameters' are physically consistent links, as near to the URDF's as the data allow. 'base_parameters' are
the combinations that the data determine, each named by the parameter that represents it. load.arm_file may name this
file.""",
    "paste": """\
The feasible body for other software, in the sensor frame. UR and Franka expect the frame of the flange: where that is
another, move the centre of mass and turn the inertia first. What sits between the flange and the sensor's measuring
element is not in these numbers.
A UR counts the tool as payload, so it is included there; setting the payload also zeroes the UR's own force sensor.
Before PolyScope 5.10 the call is set_payload, without the inertia. Franka has the hand configured elsewhere.""",
    "recordings": "The samples it was made from. Stamps are those of the messages, in nanoseconds.",
    "settings": "All parameters of the node, as used.",
}


def list_load(estimate: LoadEstimate, settings: Settings, verdict: Verdict) -> dict[str, Any]:
    """All that is known of a load, and the verdict on it; of a wrist sensor only where there is one."""
    sensor = estimate.sensor
    of_sensor = {} if sensor is None else {"wrench_sign": sensor.sign}
    found = {
        "sensor_frame": estimate.frame,
        "source": "effort" if sensor is None else "wrench",
        "method": settings.links.method if sensor is None else settings.load.method,
        **of_sensor,
        **asdict(describe_body(estimate.values, estimate.covariance)),
        "parameter_names": estimate.names,
        "parameters": estimate.values,
        "deviations": estimate.deviations,
        "states": estimate.states,
        "covariance": estimate.covariance,
        "repeatability": estimate.repeatable_deviations,
        "repeatability_covariance": estimate.repeatability,
        "feasible": estimate.feasible,
    }
    if sensor is not None:
        found |= {
            "bias": sensor.bias,
            "bias_covariance": sensor.bias_covariance,
            "misfit": sensor.variance_inflation,
            "contact_share": sensor.contact_share,
            "doubt": sensor.doubt,
            "noise_density": sensor.noise_density,
            "noise_calibrated": sensor.noise_calibrated,
        }
        found |= {} if sensor.nuisances is None else {"systematic": _list_nuisances(sensor)}
    return found | _list_state(estimate, verdict)


def _list_nuisances(sensor: WristSensor) -> dict[str, Any]:
    """What is systematically wrong: delay [s], tilt about two horizontal axes [rad], gains and cross-talk, mounting."""
    parts = (("", sensor.nuisances), ("_deviation", sensor.nuisance_deviations))
    found: dict[str, Any] = {}
    for ending, numbers in parts:
        if numbers is not None:
            delay, tilt, gains, mounting = split_nuisances(numbers)
            named = {"delay": delay, "tilt": tilt, "gains": gains, "rotation": mounting[:3], "offset": mounting[3:]}
            found |= {name + ending: value for name, value in named.items()}
    return found


def list_tool(tool: Tool) -> dict[str, Any]:
    """What is subtracted."""
    return {"sensor_frame": tool.sensor_frame, "parameters": tool.phi, "covariance": tool.covariance}


def list_links(estimate: LinksEstimate, full: FloatArray, settings: Settings, verdict: Verdict) -> dict[str, Any]:
    """All that is known of an arm, with the feasible completion (F,) of its standard parameters, and the verdict."""
    model = estimate.model
    base, offset, predictor = model.base, model.unknowns.base_offset, find_predictor(estimate)
    return {
        "source": model.source,
        "method": settings.links.method,
        "effort_unit": settings.links.effort_unit or None,
        "units": dict(zip(model.channels, model.units, strict=True)),
        "joint_names": model.arm.joint_names,
        "link_names": model.arm.link_names,
        "parameters": name_links(model, full),
        "ridge_parameters": name_links(model, complete_by_ridge(estimate)),
        "joints": name_drives(model, full),
        "base_offset": full[offset] if offset.stop > offset.start else None,
        "base_parameters": {
            "names": estimate.names,
            "combinations": base.texts,
            "values": estimate.values,
            "standard_deviations": estimate.deviations,
            "states": estimate.states,
            "urdf": model.prior,
            "covariance": estimate.covariance,
            "repeatability_covariance": estimate.repeatability,
            "fitted": estimate.fitted,
            "predictor": predictor.values,
            "predictor_covariance": predictor.covariance,
        },
        "fit": None if estimate.fit is None else list_fit(estimate.fit),
        **_list_state(estimate, verdict),
    }


def list_fit(fit: Fit) -> dict[str, Any]:
    """What an estimate leaves of the filtered rows it was made from, channel by channel."""
    numbers = fit.rows, fit.residual_rms, fit.noise, fit.measured_rms
    columns = zip(fit.channels, *(part.tolist() for part in numbers), strict=True)
    return {
        "channels": {
            name: {
                "relative_rms": left / size if size > 0.0 else 0.0,
                "rms": left,
                "noise": noise,
                "measured_rms": size,
                "rows": rows,
            }
            for name, rows, left, noise, size in columns
        }
    }


def name_links(model: LinkModel, full: FloatArray) -> dict[str, dict[str, float]]:
    """The ten parameters of each link, of the standard parameters (F,)."""
    rows = full[model.unknowns.inertial].reshape(-1, len(PARAMETER_NAMES)).tolist()
    return {
        link: dict(zip(PARAMETER_NAMES, row, strict=True)) for link, row in zip(model.arm.link_names, rows, strict=True)
    }


def name_drives(model: LinkModel, full: FloatArray) -> dict[str, dict[str, float]]:
    """What was identified of each joint besides, of the standard parameters (F,)."""
    parts = {kind: full[getattr(model.unknowns, kind)].tolist() for kind in DRIVES}
    return {
        joint: {kind: values[index] for kind, values in parts.items() if values}
        for index, joint in enumerate(model.arm.joint_names)
    }


def list_live(
    settings: Settings,
    provenance: Provenance,
    *,
    load: LoadEstimate | None = None,
    tool: Tool | None = None,
    links: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The document of a node: a load less its tool, or a tool alone, or what `list_links` lists."""
    tool = tool if load is None else load.tool
    return {
        "load": None if load is None else list_load(load, settings, judge(load)) | _hide_unknown(load),
        "tool": None if tool is None else list_tool(tool),
        "links": links,
        **({} if load is None else {"paste": make_snippets(load.feasible, load.states, _is_carried(load), load.tool)}),
        "recordings": [provenance.list_samples()],
        "settings": list_settings(settings),
        "urdf_sha256": provenance.urdf_sha256,
        "versions": provenance.versions,
    }


def write_estimate(path: Path, document: Mapping[str, Any]) -> None:
    """Write entries of the schema below the header that says what the file is: JSON or YAML, by the suffix.

    FileAccessError if it cannot be written; there is either the old file or none then.
    """
    header = {"format": FORMAT, "version": VERSION}
    if path.suffix == ".json":
        write_json(path, header | dict(document))
        return
    parts = [(_COMMENTS.get(name, ""), {name: _make_plain(part)}) for name, part in document.items()]
    write_yaml(path, [(_COMMENTS["format"], header), *parts])


def read_back(document: Mapping[str, Any]) -> SavedEstimate:
    """What `read_estimate` would read if the entries were written."""
    header = {"format": FORMAT, "version": VERSION}
    return parse_estimate(Section("the estimate", _make_plain(header | dict(document))))


def _is_carried(load: LoadEstimate) -> bool:
    return describe_body(load.values, load.covariance).com is not None


def _hide_unknown(load: LoadEstimate) -> dict[str, None]:
    """Null for all of the body that is not known: people copy numbers from the file of a node."""
    missing = find_missing(load.states, _is_carried(load))
    needs = {"mass": "mass", "com": "centre of mass"}  # by the first word of a name; all others need the inertia
    names = [item.name for item in fields(RigidBodyEstimate)]
    return {name: None for name in names if needs.get(name.split("_")[0], "inertia") in missing}


def _list_state(estimate: Estimate, verdict: Verdict) -> dict[str, Any]:
    return {
        "verdict": asdict(verdict),
        "mode": estimate.mode,
        "rows": estimate.rows,
        "last_stamp": estimate.stamp,
        "findings": [asdict(finding) for finding in estimate.findings],
    }


def _make_plain(value: Any) -> Any:
    """The same without arrays, tuples and choices, which YAML does not have."""
    if isinstance(value, Mapping):
        return {str(name): _make_plain(part) for name, part in value.items()}
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    if isinstance(value, Name):
        return value.value
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_make_plain(part) for part in value]
    return value
