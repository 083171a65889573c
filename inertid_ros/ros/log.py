"""Logging at a level that is only known at run time."""

from __future__ import annotations

from typing import Any

from inertid_ros.core.diagnosis import Level


def log_at(logger: Any, level: Level, text: str) -> None:
    """Log; rclpy demands that a line of code always logs at the same level, hence one line for each."""
    if level == "error":
        logger.error(text)
    elif level == "warning":
        logger.warning(text)
    else:
        logger.info(text)
