"""All that is identified: one session for each task, on one robot and one stream of joint states."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from inertid_ros.core.diagnosis import HealthItem
from inertid_ros.core.errors import FileAccessError, NotIdentifiedError
from inertid_ros.core.robot.robot import Robot
from inertid_ros.core.settings.rules import restarts_identification
from inertid_ros.core.settings.settings import Settings
from inertid_ros.files.estimate import find_tool_file
from inertid_ros.files.provenance import hash_urdf
from inertid_ros.files.state import Kept, State
from inertid_ros.messages.decode import StreamDecoder
from inertid_ros.ros.health import NodeHealth
from inertid_ros.ros.inputs import DescriptionSource, make_decoder
from inertid_ros.ros.keeper import StateKeeper
from inertid_ros.ros.saving import check_save_directory
from inertid_ros.ros.session import Session
from inertid_ros.ros.task import check_settings, list_tasks
from inertid_ros.ros.worker import Result


class Identification:
    """The sessions that the parameter `estimators` asks for.

    Attributes:
        sessions: one for each task.
        keeper: keeps what is known beyond a restart.
        received: how many messages came, by topic.
        decoders: of each topic; a message is decoded once for all sessions.
    """

    def __init__(self, settings: Settings, health: NodeHealth, logger: Any) -> None:
        """Start without a robot, unless the parameter `urdf` names a file.

        Args:
            settings: all parameters.
            health: where to report.
            logger: takes events, and the traceback of an error that should not happen.

        Raises:
            InertidError: if the settings of what is asked for cannot be used.
        """
        check_settings(settings)
        self._health = health
        self._check_save_directory(settings)
        self._source = DescriptionSource(health)
        self._source.use_file(settings.urdf)
        self.keeper = StateKeeper(settings.state_file, health)
        self.received: dict[str, int] = {}
        self.sessions = [
            Session(task, settings, self._source, health, logger, self.keeper, self.received)
            for task in list_tasks(settings)
        ]
        self._tool_file = str(find_tool_file(settings) or "")
        topics = dict.fromkeys(topic for session in self.sessions for topic in session.task.inputs)
        self.decoders: dict[str, StreamDecoder[Any]] = {topic: make_decoder(topic) for topic in topics}
        self.received.update(dict.fromkeys(topics, 0))

    # Robot and settings

    def take_description(self, text: str) -> None:
        """Take a robot description from the topic."""
        if self._source.publish(text):
            for session in self.sessions:
                session.rebuild()

    def take_frames(self, transforms: Iterable[Any]) -> None:
        """Take static transforms; what could not be identified for want of a frame is tried again."""
        if self._source.take_frames(transforms):
            for session in self.sessions:
                if session.chain is None:
                    session.rebuild()

    def watch_frames(self, transforms: Iterable[Any]) -> None:
        """Take transforms of /tf; what misses a frame is tried again, and what uses one that moves is given up."""
        if self._source.watch_frames(transforms) and self.robot is not None:
            for session in self.sessions:
                if session.chain is None or session.frame not in self.robot.frame_names:
                    session.rebuild()

    @property
    def watches_frames(self) -> bool:
        """Whether /tf is to be listened to."""
        return any(session.watches_frame for session in self.sessions)

    def change_settings(self, settings: Settings, changed: Iterable[str]) -> None:
        """Take other settings, of which some have changed; only what they concern restarts."""
        names = list(changed)
        self._tool_file = str(find_tool_file(settings) or "")
        self._check_save_directory(settings)
        self._source.use_file(settings.urdf)
        for session in self.sessions:
            restart = any(restarts_identification(name, group) for name in names for group in session.task.groups)
            session.change_settings(settings, restart)

    @property
    def robot(self) -> Robot | None:
        """The robot, None before its description has come."""
        return self._source.robot

    # Data

    def list_takers(self, topic: str) -> list[Session]:
        """The sessions that take the messages of a topic."""
        return [session for session in self.sessions if topic in session.task.inputs]

    def _check_save_directory(self, settings: Settings) -> None:
        try:
            check_save_directory(settings)
            self._health.end("output", "unwritable_directory")
        except FileAccessError as error:
            self._health.begin("output", "unwritable_directory", str(error))

    # What the diagnostics ask for

    @property
    def health(self) -> tuple[HealthItem, ...]:
        """What was wrong with the input so far, as the chains saw it."""
        return tuple(item for session in self.sessions if session.chain is not None for item in session.chain.health)

    @property
    def generation(self) -> int:
        """Counts the chains built."""
        return sum(session.generation for session in self.sessions)

    @property
    def is_warm(self) -> bool:
        """Whether the newest chains have all put out something."""
        return all(session.is_warm for session in self.sessions)

    def report_undecodable(self) -> None:
        """Report how many messages could not be decoded since the last call."""
        for topic, decoder in self.decoders.items():
            if decoder.undecodable:
                self._health.report(topic, "undecodable", count=decoder.undecodable)
                decoder.undecodable = 0

    def report_lost(self, topic: str, count: int) -> None:
        """Report samples that the middleware has lost."""
        if count > 0:
            self._health.report(topic, "lost", count=count)

    # Commands; each raises an InertidError that says why it could not be done

    def pause(self, paused: bool) -> None:
        """Stop or resume learning."""
        for session in self.sessions:
            session.pause(paused)

    def reset(self) -> None:
        """Forget all that was learned."""
        live = [session for session in self.sessions if session.chain is not None]
        for session in live or self.sessions:
            session.reset()

    def prepare_state(self) -> Callable[[], str] | None:
        """Return what writes the state file, in any thread, if that is due, for `keeper.report`."""
        if not self.keeper.is_on:
            return None
        text, changes = self._source.text, tuple(session.changes for session in self.sessions)
        ready = [session for session in self.sessions if session.has_found_state]
        known = {session.task.name: session.prepare_memory() for session in ready}
        tools = [session.tool for session in ready if session.task.has_tool]
        before = self.keeper.find_state(text) if text else None
        has_any = before is not None or any((*known.values(), *tools))
        if not text or not ready or not has_any or not self.keeper.is_due(changes):
            return None
        state = State(hash_urdf(text)) if before is None else before
        if tools:
            state = replace(state, tool=tools[0], tool_file=self._tool_file)
        jobs = {name: memory for name, memory in known.items() if callable(memory)}
        kept = {name: memory for name, memory in known.items() if isinstance(memory, Kept)}
        for name in known:
            part = kept.get(name)
            state = replace(state, load=part) if name == "load" else replace(state, links=part)
        self.keeper.state = state
        return self.keeper.prepare(state, jobs)

    def prepare_save(self) -> Callable[[], tuple[list[Path], list[str]]]:
        """Return what writes all that is known now, in any thread.

        It returns the paths, and what was not written and why; NotIdentifiedError if that is all.
        """
        jobs = [_attempt(session.prepare_save) for session in self.sessions]
        return partial(_save, jobs)


def _save(jobs: Sequence[Callable[[], Path] | str]) -> tuple[list[Path], list[str]]:
    results = [job if isinstance(job, str) else _attempt(job) for job in jobs]
    refusals = [result for result in results if isinstance(result, str)]
    if len(refusals) == len(results):
        raise NotIdentifiedError("; ".join(refusals))
    return [result for result in results if isinstance(result, Path)], refusals


def _attempt(act: Callable[[], Result]) -> Result | str:
    """What comes of an action, or why nothing is known."""
    try:
        return act()
    except NotIdentifiedError as error:
        return str(error)
