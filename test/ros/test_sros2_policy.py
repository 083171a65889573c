"""The SROS 2 policy has exactly what the node needs: no more and no less."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

from support.bench import Bench

POLICY = Path(__file__).parents[2] / "config" / "sros2_policy.xml"
OPTIONAL = {"/clock", "/imu", "/tf", "/tf_static"}
"""With simulated time, with gravity_source imu, and where tf2_msgs is installed."""
BY_EFFORT = {f"/inertid/load/effort_{what}" for what in ("predicted", "residual", "deviation")}
"""Of a load by efforts, which takes the place of the wrist sensor's."""


def allowed(kind: str, direction: str) -> set[str]:
    """Full names of what the policy allows."""
    (profile,) = ElementTree.parse(POLICY).getroot().iter("profile")
    groups = [group for group in profile.findall(f"{kind}s") if group.get(direction) == "ALLOW"]
    names = {str(item.text) for group in groups for item in group.findall(kind)}
    return {name.replace("~", "/inertid") if name.startswith("~") else f"/{name.lstrip('/')}" for name in names}


def test_the_policy_is_what_the_node_creates(bench: Bench) -> None:
    node = bench.start(
        estimators=["load", "links"], links__source="both", links__effort_unit="newton_metre", use_sim_time=True
    )
    name = node.get_name(), node.get_namespace()
    published = {topic for topic, _ in node.get_publisher_names_and_types_by_node(*name)}
    subscribed = {topic for topic, _ in node.get_subscriber_names_and_types_by_node(*name)}
    served = {service for service, _ in node.get_service_names_and_types_by_node(*name)}
    assert allowed("topic", "publish") == published | BY_EFFORT
    assert allowed("topic", "subscribe") == subscribed | OPTIONAL
    assert allowed("service", "reply") == served
    assert allowed("service", "request") == set()
    assert node.get_client_names_and_types_by_node(*name) == []
