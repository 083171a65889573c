"""/diagnostics of the links: what is known of them, how well they explain each channel, and what speaks against it."""

from __future__ import annotations

from diagnostic_msgs.msg import DiagnosticStatus, KeyValue

from inertid_ros.core.estimation.link_records import LinkEstimate
from inertid_ros.ros.diagnostics import LEVELS, STALE
from inertid_ros.text.parameters import count_states, format_base_parameters, format_fits


def links_status(node: str, estimate: LinkEstimate | None, age: float) -> DiagnosticStatus:
    """Sum up what is known of the links; findings decide the level.

    Args:
        node: name of the node.
        estimate: what is known, or None while there is nothing.
        age: seconds since the last sample was used.
    """
    status = DiagnosticStatus(name=f"{node}: links", hardware_id=node, level=DiagnosticStatus.OK)
    if estimate is None:
        status.message = "no estimate yet"
        return status
    status.message = describe_links(estimate)
    values = {finding.code: finding.message for finding in estimate.findings}
    if estimate.mode != "waiting" and age > STALE:
        status.level = DiagnosticStatus.WARN
        status.message = f"stale, no sample was used for {age:.1f} s; before that: {status.message}"
        values["stale"] = f"{age:.1f} s since the last sample that was used"
    for finding in estimate.findings:
        if LEVELS[finding.level] > status.level:
            status.level, status.message = LEVELS[finding.level], finding.message
    values["mode"] = estimate.mode
    values |= {f"unexplained of {channel}": text for channel, text in format_fits(estimate).items()}
    values |= format_base_parameters(estimate)
    status.values = [KeyValue(key=key, value=value) for key, value in values.items()]
    return status


def describe_links(estimate: LinkEstimate) -> str:
    """Say in one line what is known of the links."""
    advice = "" if "not excited yet" not in estimate.states else "; move all joints, and faster, to excite the rest"
    return count_states(estimate.states) + advice
