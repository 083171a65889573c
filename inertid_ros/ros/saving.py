"""What `~/save` and `~/capture_tool` write, and where."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from inertid_ros.core.estimation.link_records import LinkEstimate
from inertid_ros.core.load_chain import LoadEstimate, LoadOutput
from inertid_ros.core.records import FloatArray
from inertid_ros.core.rigid_body.tool import Tool
from inertid_ros.core.settings.settings import Settings
from inertid_ros.files.links_estimate import LinksProvenance, collect_links, write_links
from inertid_ros.files.load_estimate import Provenance, SavedEstimate, write_estimate, write_tool

LOAD_FILE = "inertid_load.yaml"
LINKS_FILE = "inertid_links.yaml"
TOOL_FILE = "inertid_tool.yaml"


@dataclass(slots=True)
class Usage:
    """Which samples an estimate is made of: stamp of the first [ns], and how many."""

    first_stamp: int = 0
    joint_samples: int = 0
    wrench_samples: int = 0

    def count(self, output: LoadOutput) -> None:
        """Count the wrenches that came out of the chain."""
        if self.wrench_samples == 0:
            self.first_stamp = int(output.stamps[0])
        self.wrench_samples += len(output.stamps)


def make_provenance(settings: Settings, description: str, estimate: LoadEstimate, usage: Usage) -> Provenance:
    """Say where an estimate comes from."""
    x, y, z = settings.gravity
    return Provenance(
        urdf_sha256=hashlib.sha256(description.encode()).hexdigest(),
        sensor_frame=estimate.sensor_frame,
        wrench_sign=estimate.sign or "",
        method=settings.load.method,
        gravity=(x, y, z),
        first_stamp=usage.first_stamp,
        last_stamp=estimate.stamp,
        joint_samples=usage.joint_samples,
        wrench_samples=usage.wrench_samples,
    )


def make_links_provenance(
    settings: Settings, description: str, base_frame: str, estimate: LinkEstimate, usage: Usage
) -> LinksProvenance:
    """Say where an estimate of the links comes from."""
    x, y, z = settings.gravity
    return LinksProvenance(
        urdf_sha256=hashlib.sha256(description.encode()).hexdigest(),
        base_frame="" if settings.links.source == "effort" else base_frame,
        gravity=(x, y, z),
        first_stamp=usage.first_stamp,
        last_stamp=estimate.stamp,
        joint_samples=usage.joint_samples,
        base_wrench_samples=usage.wrench_samples,
    )


def save_links(settings: Settings, estimate: LinkEstimate, full: FloatArray, provenance: LinksProvenance) -> Path:
    """Write the links into the directory of the settings and return the path; FileAccessError if that fails."""
    path = _directory(settings) / LINKS_FILE
    write_links(path, collect_links(provenance, settings.links, estimate, full))
    return path


def save_load(settings: Settings, estimate: LoadEstimate, tool: Tool | None, provenance: Provenance) -> Path:
    """Write an estimate into the directory of the settings and return the path; FileAccessError if that fails."""
    path = _directory(settings) / LOAD_FILE
    saved = SavedEstimate(
        provenance=provenance,
        phi=estimate.parameters,
        covariance=estimate.covariance,
        feasible_phi=estimate.feasible,
        states=estimate.states,
        bias=estimate.bias,
        bias_covariance=estimate.bias_covariance,
        tool=tool,
    )
    write_estimate(path, saved)
    return path


def save_tool(settings: Settings, tool: Tool, provenance: Provenance) -> Path:
    """Write a tool into the directory of the settings and return the path; FileAccessError if that fails."""
    path = _directory(settings) / TOOL_FILE
    write_tool(path, tool, provenance)
    return path


def _directory(settings: Settings) -> Path:
    return Path(settings.save_directory).expanduser().absolute()
