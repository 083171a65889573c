"""Once a second: which health issues there are, which have begun or ended since, rates of the inputs, new findings."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from rclpy.node import Node

from inertid_ros.core.diagnosis import Finding, HealthItem
from inertid_ros.core.estimation.estimate import LinksEstimate, LoadEstimate
from inertid_ros.objects.held import Held
from inertid_ros.ros.health import NodeHealth
from inertid_ros.ros.identification import Identification
from inertid_ros.ros.runtime import log_at
from inertid_ros.text.numbers import format_count

LINGER = 1.5
"""Seconds after its last occurrence for which an issue counts as current: longer than the period of diagnostics."""
SILENCE = 3.0
"""Seconds without a message from which on an input is silent."""
FAR = 1.0
"""Seconds between a stamp and the clock from which on it is worth a note."""


@dataclass(frozen=True, slots=True)
class Issue:
    """One health issue and whether it is current."""

    item: HealthItem
    is_current: bool


class IssueTracker:
    """Compares the counts from one look to the next. Time is the caller's, in seconds, and only moves forward."""

    def __init__(self) -> None:
        """Start without memory."""
        self._seen: dict[tuple[str, str], tuple[tuple[int, int], float]] = {}
        self._current: set[tuple[str, str]] = set()

    def look(
        self,
        items: Iterable[HealthItem],
        now: float,
        over: Collection[tuple[str, str]] = (),
        lasting: Collection[tuple[str, str]] = (),
    ) -> tuple[tuple[Issue, ...], tuple[HealthItem, ...], tuple[HealthItem, ...]]:
        """Return all issues, those that have begun since the last look, and those that have ended.

        Args:
            items: all that was counted so far.
            now: the time [s].
            over: source and code of those that are known to have ended.
            lasting: those that are known to go on.
        """
        issues: list[Issue] = []
        begun: list[HealthItem] = []
        ended: list[HealthItem] = []
        for item in items:
            key = item.source, item.code
            mark = item.count, item.last_stamp
            seen = self._seen.get(key)
            if seen is None or seen[0] != mark:
                self._seen[key] = seen = (mark, now)
            is_current = key in lasting or (now - seen[1] < LINGER and key not in over)
            if is_current and key not in self._current:
                begun.append(item)
                self._current.add(key)
            elif not is_current and key in self._current:
                ended.append(item)
                self._current.discard(key)
            issues.append(Issue(item, is_current))
        self._current &= {(issue.item.source, issue.item.code) for issue in issues}
        return tuple(issues), tuple(begun), tuple(ended)


class InputMonitor:
    """Rates of the inputs, silence, and stamps that are far from the clock."""

    def __init__(self, health: NodeHealth, now: float) -> None:
        """Start to count at time `now` [s]."""
        self._health = health
        self._counts: dict[str, int] = {}
        self._heard: dict[str, float] = {}
        self._start = now
        self._time = now

    def look(self, received: Mapping[str, int], now: float) -> dict[str, float]:
        """Return the rate [Hz] of each input since the last look, and report those that are silent.

        Args:
            received: how many messages came so far.
            now: seconds of a clock that only moves forward.
        """
        elapsed = max(now - self._time, 1e-3)
        self._time = now
        rates = {}
        for source, count in received.items():
            new = count - self._counts.get(source, 0)
            self._counts[source] = count
            rates[source] = new / elapsed
            if new:
                self._heard[source] = now
                self._health.end(source, "silent")
            elif now - self._heard.get(source, self._start) >= SILENCE:
                self._health.begin(source, "silent")
        return rates

    def compare_clocks(self, source: str, newest_stamp: int, clock: int) -> None:
        """Report an input's newest stamp far from the node's clock, both in nanoseconds."""
        ahead = (newest_stamp - clock) / 1e9
        if abs(ahead) > FAR:
            size = f"{abs(ahead):.0f} s {'ahead of' if ahead > 0 else 'behind'} the clock"
            self._health.begin(source, "clock_apart", size)
        else:
            self._health.end(source, "clock_apart")


class TaskStatus(NamedTuple):
    """What is known of one task, for how many seconds no sample has been used, and what is held, if that is known."""

    name: str
    estimate: LoadEstimate | LinksEstimate | None
    age: float
    held: Held | None = None


class Situation(NamedTuple):
    """All that the diagnostics of one moment are made of; nothing in it changes later.

    Attributes:
        stamp: of the node's clock [ns].
        issues: of all sources.
        rates: of each input [Hz].
        others: sources that have no rate.
        tasks: what is known.
    """

    stamp: int
    issues: tuple[Issue, ...]
    rates: dict[str, float]
    others: tuple[str, ...]
    tasks: tuple[TaskStatus, ...]


class Monitor:
    """Collects the health issues of node and chains.

    Attributes:
        health: where the node's own issues are reported.
    """

    def __init__(self, node: Node, now: float) -> None:
        """Observe a node, by its clock and its log, from monotonic time `now` [s] on."""
        self._node = node
        self.health = NodeHealth(self._read_clock)
        self._issues = IssueTracker()
        self._findings: set[str] = set()
        self._unpublished: dict[str, int] = {}
        self.restart(now)

    def restart(self, now: float) -> None:
        """Start to count again: the node was not listening."""
        self._inputs = InputMonitor(self.health, now)

    def look(
        self,
        identification: Identification,
        unpublished: Mapping[str, int],
        now: float,
    ) -> Situation:
        """Return the situation at this moment, and log what is new in it.

        Args:
            identification: what is identified, and the latest estimates.
            unpublished: how many wrenches and efforts were not published so far, by the code of the reason.
            now: seconds of the monotonic clock.
        """
        sessions = identification.sessions
        rates = self._inputs.look(identification.received, now)
        source = sessions[0].task.answered
        if rates[source] > 0.0 and not self._node.get_parameter("use_sim_time").value:
            self._inputs.compare_clocks(source, identification.decoders[source].newest, self._read_clock())
        identification.report_undecodable()
        for code, count in unpublished.items():
            if (new := count - self._unpublished.get(code, 0)) > 0:
                self.health.report("output", code, count=new)
            self._unpublished[code] = count
        tasks = tuple(
            TaskStatus(
                session.task.name,
                session.latest and session.latest.estimate,
                now - session.find_used_at(),
                session.held,
            )
            for session in sessions
        )
        items = merge_items(identification.health + self.health.items())
        issues, begun, ended = self._issues.look(items, now, self.health.over, self.health.lasting)
        self._log_issues(begun, ended)
        self._log_findings(
            [finding for task in tasks if task.estimate is not None for finding in task.estimate.findings]
        )
        others = ["robot_description", "output"]
        others += ["state"] if identification.keeper.is_on else []
        others += ["tool"] if any(session.task.has_tool for session in sessions) else []
        others += ["objects"] if any(item.source == "objects" for item in items) else []
        others += ["effort"] if any(session.task.uses_links for session in sessions) else []
        return Situation(self._read_clock(), issues, rates, tuple(others), tasks)

    def _read_clock(self) -> int:
        return int(self._node.get_clock().now().nanoseconds)

    def _log_issues(self, begun: tuple[HealthItem, ...], ended: tuple[HealthItem, ...]) -> None:
        logger = self._node.get_logger()
        for item in begun:
            detail = f": {item.detail}" if item.detail else ""
            log_at(logger, item.level, f"{item.source}: {item.message}{detail}. To do: {item.remedy}")
        for item in ended:
            logger.info(f"{item.source}: resolved: {item.message} ({format_count(item.count)})")

    def _log_findings(self, findings: list[Finding]) -> None:
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
