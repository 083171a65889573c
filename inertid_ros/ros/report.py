"""Once a second: what is wrong, what has begun or ended since, in the log and in /diagnostics."""

from __future__ import annotations

import time

from diagnostic_msgs.msg import DiagnosticArray
from rclpy.node import Node

from inertid_ros.core.convention import Finding
from inertid_ros.core.health import HealthItem
from inertid_ros.number_text import format_count
from inertid_ros.ros.diagnostics import diagnostics_message, input_status, load_status
from inertid_ros.ros.input_watch import InputWatch
from inertid_ros.ros.load_session import LoadSession
from inertid_ros.ros.log import log_at
from inertid_ros.ros.messages import known_body
from inertid_ros.ros.node_health import NodeHealth
from inertid_ros.ros.trouble import TroubleWatch

_OTHER_SOURCES = ("robot_description", "tool", "output")


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
        self.note_use(now)

    def note_use(self, now: float) -> None:
        """Say that wrenches were used, at seconds of a clock that only moves forward."""
        self._used = now

    def make(self, session: LoadSession, withheld: int, now: float) -> DiagnosticArray:
        """Return the diagnostics of this moment, and log what is new in them.

        Args:
            session: the identification.
            withheld: how many wrenches were not published because they were not finite.
            now: seconds of a clock that only moves forward.
        """
        rates = self._inputs.look(session.received, now)
        if rates["wrench"] > 0.0 and not self._node.get_parameter("use_sim_time").value:
            self._inputs.compare_clocks(session.newest_stamp, self._now())
        session.report_undecodable()
        if withheld > self._withheld:
            self.health.report("output", "withheld", count=withheld - self._withheld)
        self._withheld = withheld
        chain_health = () if session.chain is None else session.chain.health
        troubles, begun, ended = self._troubles.look(chain_health + self.health.items(), now, self.health.over)
        self._log_troubles(begun, ended)
        name = self._node.get_fully_qualified_name().lstrip("/")
        statuses = [input_status(name, source, troubles, rate) for source, rate in rates.items()]
        statuses += [input_status(name, source, troubles) for source in _OTHER_SOURCES]
        estimate = session.estimate()
        statuses.append(
            load_status(name, estimate, None if estimate is None else known_body(estimate), now - self._used)
        )
        if estimate is not None:
            self._log_findings(estimate.findings)
        return diagnostics_message(self._now(), statuses)

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
