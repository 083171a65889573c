"""The links' chain as the node sees it: messages in, results out, built anew whenever robot or settings change."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from inertid_ros.core.equations.model import LinkModel
from inertid_ros.core.errors import InertidError, NotIdentifiedError
from inertid_ros.core.estimation.full_set import complete_links
from inertid_ros.core.estimation.link_records import LinkEstimate, LinkOutput
from inertid_ros.core.link_chain import LinkChain
from inertid_ros.core.records import FloatArray, JointBlock
from inertid_ros.core.settings.links_check import check_links_settings
from inertid_ros.core.settings.settings import Settings
from inertid_ros.files.static_poses import read_static_file
from inertid_ros.ros.chain_session import ChainSession
from inertid_ros.ros.decode import wrench_decoder
from inertid_ros.ros.node_health import NodeHealth
from inertid_ros.ros.robot_source import SOURCE, RobotSource
from inertid_ros.ros.saving import Usage, make_links_provenance, save_links


class LinkSession(ChainSession):
    """Keeps a chain going for as long as there is a robot description that has the arm.

    Attributes:
        chain: the chain, or None while the robot is missing or cannot be used.
    """

    def __init__(self, settings: Settings, source: RobotSource, health: NodeHealth, log: Callable[[str], None]) -> None:
        """Start with what the source has by now.

        Raises:
            InertidError: if the settings do not fit together, or do not fit the robot that is already known.
        """
        check_links_settings(settings.links)
        super().__init__(settings, source, health, log, "" if settings.links.source == "effort" else "base_wrench")
        self._usage = Usage()
        self._wrenches = wrench_decoder()
        self.chain: LinkChain | None = None
        self._build()

    @property
    def model(self) -> LinkModel | None:
        """The arm; None while it is not known."""
        return None if self.chain is None else self.chain.model

    @property
    def base_frame(self) -> str:
        """Frame of the base wrenches; empty before there is a robot."""
        robot = self._source.robot
        return self._settings.links.base_frame or ("" if robot is None else robot.frame_names[0])

    # Robot and settings

    def change_settings(self, settings: Settings, restart: bool) -> None:
        """Take other settings; `restart` tells whether they change the identification."""
        self._settings = settings
        if restart:
            self.rebuild()

    def rebuild(self) -> None:
        """Build the chain anew, or report why it cannot be built. A pause outlives it."""
        try:
            self._build()
        except InertidError as error:
            self._give_up(error)
        except Exception as error:  # noqa: BLE001 - whatever it is, the node must live on
            self._report_bug(error)

    def _build(self) -> None:
        self.chain = None
        if self._source.robot is None:
            return
        path = self._settings.links.static_file
        static = read_static_file(Path(path).expanduser()) if path else None
        chain = LinkChain(self._source.robot, self._settings, static)
        self._health.end(SOURCE, "unusable_arm")
        chain.pause(self._paused)
        self.chain = chain
        self._usage = Usage()
        self._count_chain()

    def _give_up(self, error: InertidError) -> None:
        """Identify nothing until robot or settings change."""
        self.chain = None
        self._health.begin(SOURCE, "unusable_arm", str(error))

    # Data

    def take_base_wrench(self, data: bytes) -> None:
        """Take a serialised WrenchStamped of the base sensor."""
        self.received["base_wrench"] += 1
        self._wrenches.add(data)

    def process(self, joints: Sequence[JointBlock]) -> LinkOutput | None:
        """Carry joint states and the wrenches that have arrived through the chain; None where nothing came out."""
        wrenches = self._wrenches.take()
        if self.chain is None or not (joints or wrenches):
            return None
        try:
            for joint_block in joints:
                self.chain.push_joints(joint_block)
                self._usage.joint_samples += len(joint_block.stamps)
            for wrench_block in wrenches:
                self.chain.push_base_wrenches(wrench_block)
                self._usage.wrench_samples += len(wrench_block.stamps)
            output = self.chain.process()
            if output is not None and not np.isfinite(output.predicted).all():
                raise FloatingPointError("a prediction is not finite")
        except InertidError as error:
            self._give_up(error)
            return None
        except Exception as error:  # noqa: BLE001 - whatever it is, the node must live on
            self._report_bug(error)
            self.rebuild()
            return None
        if output is None or len(output.stamps) == 0:
            return None
        self._usage.first_stamp = self._usage.first_stamp or int(output.stamps[0])
        self.is_warm = True
        return output

    def estimate(self) -> LinkEstimate | None:
        """Return what is known of the links; None where there is nothing to publish."""
        if self.chain is None:
            return None
        estimate = self._ask(self.chain.estimate)
        if estimate is None or (np.isfinite(estimate.values).all() and np.isfinite(estimate.covariance).all()):
            return estimate
        self._health.report("output", "withheld", "the estimate of the links")
        return None

    def find_links(self, estimate: LinkEstimate) -> FloatArray | None:
        """Return the full set (F,) with every link a body that can exist; None if there is none to be found."""
        try:
            full = complete_links(estimate)
        except (InertidError, np.linalg.LinAlgError) as error:
            self._health.report("output", "withheld", f"the links: {error}")
            return None
        return full if np.isfinite(full).all() else None

    def report_undecodable(self) -> None:
        """Hand over how many messages could not be read since the last call."""
        if self._wrenches.undecodable:
            self._health.report("base_wrench", "undecodable", count=self._wrenches.undecodable)
            self._wrenches.undecodable = 0

    # Commands; each raises an InertidError that says why it could not be done

    def pause(self, paused: bool) -> None:
        """Stop or resume learning."""
        self._paused = paused
        if self.chain is not None:
            self.chain.pause(paused)

    def reset(self) -> None:
        """Forget what was learned of the links."""
        if self.chain is None:
            raise NotIdentifiedError("there is no robot description with an arm yet: see /diagnostics")
        self.chain.reset()
        self._usage = Usage()

    def save(self) -> Path:
        """Write all that is known and return the path."""
        estimate = self.estimate()
        full = None if estimate is None or estimate.mode == "waiting" else self.find_links(estimate)
        if estimate is None or full is None:
            raise NotIdentifiedError("nothing is known of the links yet: see /diagnostics")
        provenance = make_links_provenance(self._settings, self._source.text, self.base_frame, estimate, self._usage)
        return save_links(self._settings, estimate, full, provenance)
