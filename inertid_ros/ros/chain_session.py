"""What the sessions of load and links have in common: settings, a robot, a chain that comes and goes."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from typing import TypeVar

from inertid_ros.core.settings.settings import Settings
from inertid_ros.ros.node_health import NodeHealth
from inertid_ros.ros.robot_source import RobotSource

Answer = TypeVar("Answer")


class ChainSession:
    """One chain, built anew whenever robot or settings change.

    Attributes:
        received: how many messages came, by input of its own.
        generation: counts the chains built.
        is_warm: whether the newest chain has put out something.
    """

    def __init__(
        self, settings: Settings, source: RobotSource, health: NodeHealth, log: Callable[[str], None], received: str
    ) -> None:
        """Start without a chain.

        Args:
            settings: all parameters.
            source: where the robot comes from.
            health: where to report.
            log: takes the traceback of an error that should not happen.
            received: name of its own input; empty for none.
        """
        self._settings = settings
        self._source = source
        self._health = health
        self._log = log
        self._paused = False
        self.received = {received: 0} if received else {}
        self.generation = 0
        self.is_warm = False

    def _count_chain(self) -> None:
        self.generation += 1
        self.is_warm = False

    def rebuild(self) -> None:
        """Build the chain anew."""
        raise NotImplementedError

    def _ask(self, ask: Callable[[], Answer]) -> Answer | None:
        """What the chain answers; None where it fails, and then it is built anew: the node must live on."""
        try:
            return ask()
        except Exception as error:  # noqa: BLE001 - whatever it is
            self._report_bug(error)
            self.rebuild()
            return None

    def _report_bug(self, error: Exception) -> None:
        self._log(f"internal error, the identification is started anew:\n{traceback.format_exc()}")
        self._health.report("output", "internal_error", f"{type(error).__name__}: {error}")
