"""What `~/save` and `~/capture_tool` write, and where."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from inertid_ros.core.estimation.estimate import LinksEstimate, LoadEstimate
from inertid_ros.core.estimation.full_set import complete_links
from inertid_ros.core.records import JointBlock, Output, WrenchBlock
from inertid_ros.core.rigid_body.tool import Tool
from inertid_ros.core.settings.settings import Settings
from inertid_ros.files.links_estimate import LinksProvenance, collect_links, write_links
from inertid_ros.files.load_estimate import Provenance, SavedEstimate, write_estimate, write_tool
from inertid_ros.files.provenance import hash_text

LOAD_FILE = "inertid_load.yaml"
LINKS_FILE = "inertid_links.yaml"
TOOL_FILE = "inertid_tool.yaml"


@dataclass(slots=True)
class Usage:
    """Which samples an estimate is made of.

    Attributes:
        first_stamp: of the first sample used [ns].
        joints_received, wrenches_received: how many samples came in, usable or not.
        samples_used: how many could be synchronised and came out of the chain.
    """

    first_stamp: int = 0
    joints_received: int = 0
    wrenches_received: int = 0
    samples_used: int = 0

    def count_received(self, block: JointBlock | WrenchBlock) -> None:
        """Count what came in."""
        if isinstance(block, JointBlock):
            self.joints_received += len(block.stamps)
        else:
            self.wrenches_received += len(block.stamps)

    def count_used(self, output: Output) -> None:
        """Count what came out of the chain."""
        if self.samples_used == 0:
            self.first_stamp = output.stamps.item(0)
        self.samples_used += len(output.stamps)


def save_load(settings: Settings, description: str, estimate: LoadEstimate, usage: Usage) -> Path:
    """Write an estimate of the load and return the path; FileAccessError if that fails."""
    path = _directory(settings) / LOAD_FILE
    sensor = estimate.sensor
    saved = SavedEstimate(
        provenance=_make_provenance(settings, description, estimate, usage),
        phi=estimate.values,
        covariance=estimate.covariance,
        feasible_phi=estimate.feasible,
        states=tuple(state.value for state in estimate.states),
        bias=None if sensor is None else sensor.bias,
        bias_covariance=None if sensor is None else sensor.bias_covariance,
        tool=estimate.tool,
    )
    write_estimate(path, saved)
    return path


def save_tool(settings: Settings, description: str, estimate: LoadEstimate, tool: Tool, usage: Usage) -> Path:
    """Write a tool and return the path; FileAccessError if that fails."""
    path = _directory(settings) / TOOL_FILE
    write_tool(path, tool, _make_provenance(settings, description, estimate, usage))
    return path


def save_links(settings: Settings, description: str, base_frame: str, estimate: LinksEstimate, usage: Usage) -> Path:
    """Write an estimate of the links with its feasible completion, and return the path.

    Raises:
        InertidError: if there is no feasible completion, or the file cannot be written.
    """
    path = _directory(settings) / LINKS_FILE
    x, y, z = settings.gravity
    provenance = LinksProvenance(
        urdf_sha256=hash_text(description),
        base_frame=base_frame,
        gravity=(x, y, z),
        first_stamp=usage.first_stamp,
        last_stamp=estimate.stamp,
        joint_samples=usage.joints_received,
        base_wrench_samples=usage.wrenches_received,
    )
    write_links(path, collect_links(provenance, settings.links, estimate, complete_links(estimate)))
    return path


def _make_provenance(settings: Settings, description: str, estimate: LoadEstimate, usage: Usage) -> Provenance:
    """Say where an estimate of the load comes from; without a wrist sensor, the equations are those of the links."""
    x, y, z = settings.gravity
    sensor = estimate.sensor
    return Provenance(
        urdf_sha256=hash_text(description),
        sensor_frame=estimate.frame,
        wrench_sign="" if sensor is None or sensor.sign is None else sensor.sign.value,
        method=settings.links.method if sensor is None else settings.load.method,
        gravity=(x, y, z),
        first_stamp=usage.first_stamp,
        last_stamp=estimate.stamp,
        joint_samples=usage.joints_received,
        wrench_samples=usage.wrenches_received,
    )


def _directory(settings: Settings) -> Path:
    return Path(settings.save_directory).expanduser().absolute()
