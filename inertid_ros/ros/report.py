"""Once a second: what is wrong, what has begun or ended since, in the log and in /diagnostics."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import replace

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from rclpy.node import Node

from inertid_ros.core.diagnosis import Finding
from inertid_ros.core.diagnosis import HealthItem
from inertid_ros.ros.diagnostics import diagnostics_message, input_status, load_status
from inertid_ros.ros.identification import Identification
from inertid_ros.ros.input_watch import InputWatch
from inertid_ros.ros.link_diagnostics import links_status
from inertid_ros.ros.log import log_at
from inertid_ros.ros.messages import known_body
from inertid_ros.ros.node_health import NodeHealth
from inertid_ros.ros.trouble import TroubleWatch
from inertid_ros.text.numbers import format_count


class Report:
    """Collects the troubles of node and chain.

    Attributes:
        health: where the node's own troubles are reported.
    """

    def __init__(self, node: Node) -> None:
        """Report for a node, by its clock and its log."""
        self._node = node
        self.health = NodeHealth(self._now)
        self._troubles = TroubleWatch()
        self._findings: set[str] = set()
        self._withheld = 0
        self.restart()

    def restart(self) -> None:
        """Start to count anew: the node was not listening."""
        now = time.monotonic()
        self._inputs = InputWatch(self.health, now)
        self._used = {"load": now, "links": now}

    def note_use(self, estimator: str, now: float) -> None:
        """Say that `load` or `links` used samples, at seconds of a clock that only moves forward."""
        self._used[estimator] = now

    def make(self, identification: Identification, withheld: int, now: float) -> DiagnosticArray:
        """Return the diagnostics of this moment, and log what is new in them.

        Args:
            identification: what is identified.
            withheld: how many wrenches and efforts were not published because they were not finite.
            now: seconds of a clock that only moves forward.
        """
        rates = self._inputs.look(identification.received, now)
        source, newest = identification.newest_stamp
        if rates[source] > 0.0 and not self._node.get_parameter("use_sim_time").value:
            self._inputs.compare_clocks(source, newest, self._now())
        identification.report_undecodable()
        if withheld > self._withheld:
            self.health.report("output", "withheld", count=withheld - self._withheld)
        self._withheld = withheld
        items = merge_items(identification.health + self.health.items())
        troubles, begun, ended = self._troubles.look(items, now, self.health.over)
        self._log_troubles(begun, ended)
        name = self._node.get_fully_qualified_name().lstrip("/")
        statuses = [input_status(name, source, troubles, rate) for source, rate in rates.items()]
        others = ["robot_description", "output"]
        others += [] if identification.load is None else ["tool"]
        others += [] if identification.links is None and identification.payload is None else ["effort"]
        statuses += [input_status(name, source, troubles) for source in others]
        statuses += self._sum_up(identification, name, now)
        return diagnostics_message(self._now(), statuses)

    def _sum_up(self, identification: Identification, name: str, now: float) -> list[DiagnosticStatus]:
        """What is known of load and links; what is new among their findings is logged."""
        statuses: list[DiagnosticStatus] = []
        findings: tuple[Finding, ...] = ()
        carried = identification.load or identification.payload
        if carried is not None:
            load = carried.estimate()
            body = None if load is None else known_body(load)
            statuses.append(load_status(name, load, body, now - self._used["load"]))
            findings += () if load is None else load.findings
        if identification.links is not None:
            links = identification.links.estimate()
            statuses.append(links_status(name, links, now - self._used["links"]))
            findings += () if links is None else links.findings
        self._log_findings(findings)
        return statuses

    def _now(self) -> int:
        return int(self._node.get_clock().now().nanoseconds)

    def _log_troubles(self, begun: tuple[HealthItem, ...], ended: tuple[HealthItem, ...]) -> None:
        logger = self._node.get_logger()
        for item in begun:
            detail = f": {item.detail}" if item.detail else ""
            log_at(logger, item.level, f"{item.source}: {item.message}{detail}. To do: {item.remedy}")
        for item in ended:
            logger.info(f"{item.source}: fine again (was: {item.message}, {format_count(item.count)})")

    def _log_findings(self, findings: tuple[Finding, ...]) -> None:
        for finding in findings:
            if finding.code not in self._findings:
                log_at(self._node.get_logger(), finding.level, finding.message)
        self._findings = {finding.code for finding in findings}


def merge_items(items: Iterable[HealthItem]) -> tuple[HealthItem, ...]:
    """Make one of what two chains say of the same input: they count the same messages, so counts do not add up."""
    merged: dict[tuple[str, str], HealthItem] = {}
    for item in items:
        key = item.source, item.code
        other = merged.get(key, item)
        merged[key] = replace(
            max(item, other, key=lambda one: one.last_stamp),
            count=max(item.count, other.count),
            first_stamp=min(item.first_stamp, other.first_stamp),
        )
    return tuple(merged.values())
