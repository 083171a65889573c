"""The section `links` of the file that `~/save` writes: an identified arm.

parameters         ten of each link, in the link's own frame: bodies that can exist, nearest to the URDF
joints             friction, rotor inertia and offset of each joint; what is not identified is left out
base_offset        what the base sensor shows without an arm (only with a base sensor)
base_parameters    what the data determine: combinations of the above with their covariance
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path

from inertid_ros import __version__
from inertid_ros.core.estimation.link_records import LinkEstimate
from inertid_ros.core.records import FloatArray
from inertid_ros.core.rigid_body.inertial import PARAMETER_NAMES
from inertid_ros.core.settings.settings import LinksSettings
from inertid_ros.files.document import Section
from inertid_ros.files.load_estimate import read_sections, write_sections


@dataclass(frozen=True, slots=True)
class LinksProvenance:
    """Where an estimate of the links comes from.

    Attributes:
        urdf_sha256: of the robot description's text, hexadecimal.
        base_frame: frame of the base sensor; empty where there is none.
        gravity: (x, y, z) in the root frame of the URDF [m/s²].
        first_stamp: of the first sample used [ns].
        last_stamp: of the last sample used [ns].
        joint_samples: how many joint states were used.
        base_wrench_samples: how many base wrenches were used.
        package_version: of this package.
    """

    urdf_sha256: str
    base_frame: str
    gravity: tuple[float, float, float]
    first_stamp: int
    last_stamp: int
    joint_samples: int
    base_wrench_samples: int
    package_version: str = __version__


@dataclass(frozen=True, slots=True)
class SavedLinks:
    """An identified arm, as it is written and read.

    Attributes:
        provenance: where it comes from.
        source: effort, base_wrench or both.
        method: filtered, differentiated or energy.
        effort_unit: of joint_states; empty where efforts are not used. Here all is in SI units.
        parameters: for each link its ten parameters by name.
        joints: for each joint viscous, coulomb, rotor_inertia and offset, as far as they are identified.
        base_offset: (6,) of the base sensor, or None without one.
        names: the parameter that stands for each of B base parameters.
        combinations: the same, written out.
        values: (B,).
        covariance: (B, B).
        states: of each.
    """

    provenance: LinksProvenance
    source: str
    method: str
    effort_unit: str
    parameters: dict[str, dict[str, float]]
    joints: dict[str, dict[str, float]]
    base_offset: FloatArray | None
    names: tuple[str, ...]
    combinations: tuple[str, ...]
    values: FloatArray
    covariance: FloatArray
    states: tuple[str, ...]


def collect_links(
    provenance: LinksProvenance, settings: LinksSettings, estimate: LinkEstimate, full: FloatArray
) -> SavedLinks:
    """Put together what is saved of an arm: its full set (F,) and its base parameters."""
    model = estimate.model
    offset = full[model.unknowns.base_offset]
    by_name = dict(zip(model.unknowns.names, full.tolist(), strict=True))
    arm, kinds = model.arm, ("viscous", "coulomb", "rotor_inertia", "offset")
    return SavedLinks(
        provenance=provenance,
        source=settings.source,
        method=settings.method,
        effort_unit="" if settings.source == "base_wrench" else settings.effort_unit,
        parameters={link: {name: by_name[f"{link}.{name}"] for name in PARAMETER_NAMES} for link in arm.link_names},
        joints={
            joint: {kind: by_name[f"{joint}.{kind}"] for kind in kinds if f"{joint}.{kind}" in by_name}
            for joint in arm.joint_names
        },
        base_offset=offset if len(offset) else None,
        names=tuple(model.base.names[column] for column in model.base.columns.tolist()),
        combinations=model.base.texts,
        values=estimate.values,
        covariance=estimate.covariance,
        states=estimate.states,
    )


def write_links(path: str | Path, saved: SavedLinks) -> None:
    """Write an arm; whatever happens, there is either the old file or the whole new one.

    Raises:
        FileAccessError: if it cannot be written there.
    """
    provenance = dataclasses.asdict(saved.provenance) | {"gravity": list(saved.provenance.gravity)}
    links = {
        "source": saved.source,
        "method": saved.method,
        "effort_unit": saved.effort_unit or None,
        "joint_names": list(saved.joints),
        "link_names": list(saved.parameters),
        "parameters": saved.parameters,
        "joints": saved.joints,
        "base_offset": None if saved.base_offset is None else saved.base_offset.tolist(),
        "base_parameters": {
            "names": list(saved.names),
            "combinations": list(saved.combinations),
            "values": saved.values.tolist(),
            "states": list(saved.states),
            "covariance": saved.covariance.tolist(),
        },
    }
    write_sections(path, {"provenance": provenance, "links": links})


def read_links(path: str | Path) -> SavedLinks:
    """Read a file that write_links wrote.

    Raises:
        FileAccessError: if it cannot be read.
        FileFormatError: if it is no such file; the message names the entry.
    """
    content = read_sections(path)
    section, links = content.section("provenance"), content.section("links")
    x, y, z = section.numbers("gravity", (3,)).tolist()
    texts = ("urdf_sha256", "base_frame", "package_version")
    counts = ("first_stamp", "last_stamp", "joint_samples", "base_wrench_samples")
    provenance = LinksProvenance(
        gravity=(x, y, z),
        **{name: section.value(name, str) for name in texts},
        **{name: section.value(name, int) for name in counts},
    )
    base = links.section("base_parameters")
    size = len(base.value("names", list))
    parameters = links.section("parameters")
    bodies = {link: parameters.named_numbers(link, PARAMETER_NAMES).tolist() for link in parameters.content}
    return SavedLinks(
        provenance=provenance,
        source=links.value("source", str),
        method=links.value("method", str),
        effort_unit="" if links.value("effort_unit", object) is None else links.value("effort_unit", str),
        parameters={link: dict(zip(PARAMETER_NAMES, body, strict=True)) for link, body in bodies.items()},
        joints={joint: _read_numbers(links.section("joints"), joint) for joint in links.value("joints", dict)},
        base_offset=None if links.value("base_offset", object) is None else links.numbers("base_offset", (6,)),
        names=tuple(base.value("names", list)),
        combinations=tuple(base.value("combinations", list)),
        values=base.numbers("values", (size,)),
        covariance=base.covariance("covariance", size),
        states=tuple(base.value("states", list)),
    )


def _read_numbers(section: Section, name: str) -> dict[str, float]:
    names = tuple(section.value(name, dict))
    return dict(zip(names, section.named_numbers(name, names).tolist(), strict=True))
