"""All that is identified: the sessions that the parameter `estimators` names, on one robot and one stream of joints."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from inertid_ros.core.errors import NotIdentifiedError, SettingError
from inertid_ros.core.estimation.link_records import LinkOutput
from inertid_ros.core.diagnosis import HealthItem
from inertid_ros.core.load_chain import LoadOutput
from inertid_ros.core.settings.changes import restarts_identification
from inertid_ros.core.settings.settings import Settings
from inertid_ros.ros.decode import joint_decoder
from inertid_ros.ros.link_session import LinkSession
from inertid_ros.ros.load_session import LoadSession
from inertid_ros.ros.node_health import NodeHealth
from inertid_ros.ros.payload_session import PayloadSession
from inertid_ros.ros.robot_source import RobotSource


class Identification:
    """Load and links, or one of them. Joint states are decoded once for both.

    Attributes:
        load: the session of the load on a wrist sensor, or None if that is not asked for.
        payload: the session of the load known by efforts, likewise.
        links: the session of the links, likewise.
    """

    def __init__(self, settings: Settings, health: NodeHealth, log: Callable[[str], None]) -> None:
        """Start without a robot, unless the parameter `urdf` names a file.

        Args:
            settings: all parameters.
            health: where to report.
            log: takes the traceback of an error that should not happen.

        Raises:
            InertidError: if the settings of what is asked for cannot be used.
        """
        if not settings.estimators:
            raise SettingError("estimators", settings.estimators, "load, links or both")
        self._health = health
        self._source = RobotSource(health)
        self._source.use_file(settings.urdf)
        self._joint_states = joint_decoder()
        self._joint_count = 0
        self._newest_joint = 0
        wanted = settings.estimators
        by_effort = settings.load.source == "effort"
        self.load = None if by_effort or "load" not in wanted else LoadSession(settings, self._source, health, log)
        self.payload = PayloadSession(settings, self._source, health, log) if by_effort and "load" in wanted else None
        self.links = LinkSession(settings, self._source, health, log) if "links" in wanted else None
        self._sessions: dict[str, LoadSession | PayloadSession | LinkSession] = {}
        carried = self.load or self.payload
        if carried is not None:
            self._sessions["load"] = carried
        if self.links is not None:
            self._sessions["links"] = self.links

    # Robot and settings

    def take_description(self, text: str) -> None:
        """Take a robot description from the topic."""
        if self._source.publish(text):
            for session in self._sessions.values():
                session.rebuild()

    def change_settings(self, settings: Settings, changed: Iterable[str]) -> None:
        """Take other settings, of which some have changed; only what they concern starts anew."""
        names = list(changed)
        self._source.use_file(settings.urdf)
        for name, session in self._sessions.items():
            concerned = [name, "links"] if session is self.payload else [name]
            restart = any(restarts_identification(one, owner) for one in names for owner in concerned)
            session.change_settings(settings, restart)

    # Data

    def take_joint_state(self, data: bytes) -> None:
        """Take a serialised JointState."""
        self._joint_count += 1
        self._joint_states.add(data)

    def process(self) -> tuple[LoadOutput | None, LinkOutput | None, LinkOutput | None]:
        """Carry what has arrived through the chains of load, payload and links; None where nothing came out."""
        joints = self._joint_states.take()
        if joints:
            self._newest_joint = int(joints[-1].stamps[-1])
        load = None if self.load is None else self.load.process(joints)
        payload = None if self.payload is None else self.payload.process(joints)
        return load, payload, None if self.links is None else self.links.process(joints)

    # What the diagnostics ask for

    @property
    def received(self) -> dict[str, int]:
        """How many messages came, by input."""
        counts = {"joint_states": self._joint_count}
        for session in self._sessions.values():
            counts |= session.received
        return counts

    @property
    def newest_stamp(self) -> tuple[str, int]:
        """An input that is compared with the clock, and its newest stamp [ns]; 0 before the first."""
        return ("joint_states", self._newest_joint) if self.load is None else ("wrench", self.load.newest_stamp)

    @property
    def health(self) -> tuple[HealthItem, ...]:
        """What was wrong with the input so far, as the chains saw it."""
        chains = (session.chain for session in self._sessions.values())
        return tuple(item for chain in chains if chain is not None for item in chain.health)

    @property
    def generation(self) -> int:
        """Counts the chains built."""
        return sum(session.generation for session in self._sessions.values())

    @property
    def is_warm(self) -> bool:
        """Whether the newest chains have all put out something."""
        return all(session.is_warm for session in self._sessions.values())

    def report_undecodable(self) -> None:
        """Hand over how many messages could not be read since the last call."""
        if self._joint_states.undecodable:
            self._health.report("joint_states", "undecodable", count=self._joint_states.undecodable)
            self._joint_states.undecodable = 0
        for session in self._sessions.values():
            session.report_undecodable()

    # Commands; each raises an InertidError that says why it could not be done

    def pause(self, paused: bool) -> None:
        """Stop or resume learning."""
        for session in self._sessions.values():
            session.pause(paused)

    def reset(self) -> None:
        """Forget all that was learned."""
        live = [session for session in self._sessions.values() if session.chain is not None]
        for session in live or self._sessions.values():
            session.reset()

    def save(self) -> tuple[list[Path], list[str]]:
        """Write all that is known; returns the paths, and what was not written and why."""
        results = [_save(session) for session in self._sessions.values()]
        refusals = [result for result in results if isinstance(result, str)]
        if len(refusals) == len(results):
            raise NotIdentifiedError("; ".join(refusals))
        return [result for result in results if isinstance(result, Path)], refusals


def _save(session: LoadSession | PayloadSession | LinkSession) -> Path | str:
    """Return where a session wrote what it knows, or why it knows nothing."""
    try:
        return session.save()
    except NotIdentifiedError as error:
        return str(error)
