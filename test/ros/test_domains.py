"""Tests meet nobody but those whom they have started."""

from __future__ import annotations

import itertools

import pytest
import rclpy
from rclpy.context import Context
from support import domains
from support.domains import claim_domain


def test_a_domain_in_which_somebody_is_is_left_to_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those who have not claimed it, that is: who have is seen by the lock."""
    with claim_domain() as domain:
        pass
    context = Context()
    rclpy.init(context=context, domain_id=domain)
    node = rclpy.create_node("somebody", context=context)
    monkeypatch.setattr(domains, "_turns", itertools.count(domain - 1))
    with claim_domain() as another:
        assert another != domain
    node.destroy_node()
    rclpy.shutdown(context=context)
