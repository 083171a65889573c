"""The chain of a load known by efforts alone, as the node sees it: joint states in, results out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from inertid_ros.core.errors import InertidError, NotIdentifiedError, SettingError
from inertid_ros.core.estimation.link_records import LinkOutput
from inertid_ros.core.load_chain import LoadEstimate
from inertid_ros.core.payload_chain import IdentifiedArm, PayloadChain
from inertid_ros.core.records import JointBlock
from inertid_ros.core.settings.links_check import check_links_settings
from inertid_ros.core.settings.settings import Settings
from inertid_ros.files.arm import read_arm
from inertid_ros.ros.chain_session import ChainSession
from inertid_ros.ros.messages import is_publishable
from inertid_ros.ros.node_health import NodeHealth
from inertid_ros.ros.robot_source import SOURCE, RobotSource
from inertid_ros.ros.saving import Usage, make_provenance, save_load


class PayloadSession(ChainSession):
    """Keeps a chain going for as long as there is a robot description that has the identified arm.

    Attributes:
        chain: the chain, or None while the robot is missing or cannot be used.
    """

    def __init__(self, settings: Settings, source: RobotSource, health: NodeHealth, log: Callable[[str], None]) -> None:
        """Start with what the source has by now.

        Raises:
            InertidError: if the arm cannot be read, or settings, arm and robot do not fit together.
        """
        super().__init__(settings, source, health, log, "")
        check_links_settings(settings.links)
        self._usage = Usage()
        self.chain: PayloadChain | None = None
        self._arm = _read_arm(settings)
        self._build()

    def change_settings(self, settings: Settings, restart: bool) -> None:
        """Take other settings; `restart` tells whether they change the identification."""
        self._settings = settings
        if restart:
            self.rebuild()

    def rebuild(self) -> None:
        """Build the chain anew, or report why it cannot be built. A pause outlives it."""
        try:
            self._arm = _read_arm(self._settings)
            self._build()
        except InertidError as error:
            self.chain = None
            self._health.begin(SOURCE, "unusable_arm", str(error))
        except Exception as error:  # noqa: BLE001 - whatever it is, the node must live on
            self.chain = None
            self._report_bug(error)

    def _build(self) -> None:
        self.chain = None
        if self._source.robot is None:
            return
        chain = PayloadChain(self._source.robot, self._settings, self._arm)
        self._health.end(SOURCE, "unusable_arm")
        chain.pause(self._paused)
        self.chain = chain
        self._usage = Usage()
        self._count_chain()

    def process(self, joints: Sequence[JointBlock]) -> LinkOutput | None:
        """Carry joint states through the chain; None where nothing came out."""
        if self.chain is None or not joints:
            return None
        try:
            for block in joints:
                self.chain.push_joints(block)
                self._usage.joint_samples += len(block.stamps)
            output = self.chain.process()
            if output is not None and not np.isfinite(output.predicted).all():
                raise FloatingPointError("a prediction is not finite")
        except Exception as error:  # noqa: BLE001 - whatever it is, the node must live on
            self._report_bug(error)
            self.rebuild()
            return None
        if output is None or len(output.stamps) == 0:
            return None
        self._usage.first_stamp = self._usage.first_stamp or int(output.stamps[0])
        self.is_warm = True
        return output

    def estimate(self) -> LoadEstimate | None:
        """Return what is known of the load; None where there is nothing to publish."""
        if self.chain is None:
            return None
        estimate = self._ask(self.chain.estimate)
        if estimate is None or is_publishable(estimate):
            return estimate
        self._health.report("output", "withheld", "the estimate")
        return None

    def report_undecodable(self) -> None:
        """There is no input of its own that could not be read."""

    def pause(self, paused: bool) -> None:
        """Stop or resume learning."""
        self._paused = paused
        if self.chain is not None:
            self.chain.pause(paused)

    def reset(self) -> None:
        """Forget the load."""
        if self.chain is None:
            raise NotIdentifiedError("there is no robot description with the identified arm yet: see /diagnostics")
        self.chain.reset()
        self._usage = Usage()

    def save(self) -> Path:
        """Write all that is known and return the path."""
        estimate = self.estimate()
        if estimate is None or estimate.rows == 0:
            raise NotIdentifiedError("nothing is known of the load yet: see /diagnostics")
        provenance = make_provenance(self._settings, self._source.text, estimate, self._usage)
        return save_load(self._settings, estimate, None, provenance)


def _read_arm(settings: Settings) -> IdentifiedArm:
    path = settings.load.arm_file
    if not path:
        raise SettingError("load.arm_file", path, "the file of an identified arm, with load.source effort")
    return read_arm(Path(path).expanduser())
