"""What `~/save` and `~/capture_tool` write, and where."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from inertid_ros.core.estimation.estimate import LinksEstimate, LoadEstimate
from inertid_ros.core.estimation.full_set import complete_links, judge_completion
from inertid_ros.core.rigid_body.inertial import Tool
from inertid_ros.core.settings.settings import Settings
from inertid_ros.core.verdict import judge
from inertid_ros.files.access import check_directory, expand
from inertid_ros.files.estimate import find_tool_file
from inertid_ros.files.estimate_writer import list_links, list_live, write_estimate
from inertid_ros.files.provenance import Provenance, hash_urdf

LOAD_FILE = "inertid_load.yaml"
LINKS_FILE = "inertid_links.yaml"
TOOL_FILE = "inertid_tool.yaml"


@dataclass(slots=True)
class Usage:
    """Which samples an estimate is made of.

    Attributes:
        first_stamp, last_stamp: of the samples used [ns].
        joints_received, wrenches_received: how many samples came in, usable or not.
        samples_used: how many could be synchronised and came out of the chain.
    """

    first_stamp: int = 0
    last_stamp: int = 0
    joints_received: int = 0
    wrenches_received: int = 0
    samples_used: int = 0

    def count(self, used: int, first: int, newest: int) -> None:
        """Count samples that came out of the chain, and note the stamps [ns] of the first and the last of them."""
        self.first_stamp = self.first_stamp if self.samples_used else first
        self.last_stamp = newest
        self.samples_used += used

    def describe(self, description: str, wrenches: str) -> Provenance:
        """The same with the robot's description; `wrenches` is the topic of the wrenches, empty for none."""
        received = {f"{wrenches}_received": self.wrenches_received} if wrenches else {}
        return Provenance(
            urdf_sha256=hash_urdf(description),
            first_stamp=self.first_stamp,
            last_stamp=self.last_stamp,
            samples={"joint_states_received": self.joints_received, **received, "samples_used": self.samples_used},
        )


def save_load(settings: Settings, description: str, estimate: LoadEstimate, usage: Usage) -> Path:
    """Write an estimate of the load and return the path; FileAccessError if that fails."""
    provenance = usage.describe(description, "" if estimate.sensor is None else "wrench")
    path = _directory(settings) / LOAD_FILE
    write_estimate(path, list_live(settings, provenance, load=estimate))
    return path


def save_tool(settings: Settings, description: str, tool: Tool, usage: Usage) -> Path:
    """Write a tool and return the path; FileAccessError if that fails."""
    named = find_tool_file(settings) if settings.load.tool else None
    path = named or _directory(settings) / TOOL_FILE
    write_estimate(path, list_live(settings, usage.describe(description, "wrench"), tool=tool))
    return path


def save_links(settings: Settings, description: str, estimate: LinksEstimate, usage: Usage) -> Path:
    """Write an estimate of the links with its feasible completion, and return the path.

    Raises:
        InertidError: if there is no feasible completion, or the file cannot be written.
    """
    provenance = usage.describe(description, "base_wrench" if settings.links.source.has_base_wrench else "")
    completed = complete_links(estimate)
    verdict = judge(estimate, judge_completion(estimate, completed))
    links = list_links(estimate, completed, settings, verdict)
    path = _directory(settings) / LINKS_FILE
    write_estimate(path, list_live(settings, provenance, links=links))
    return path


def check_save_directory(settings: Settings) -> None:
    """Make sure that files can be written; FileAccessError if not."""
    check_directory(Path(settings.save_directory))


def _directory(settings: Settings) -> Path:
    return expand(Path(settings.save_directory))
