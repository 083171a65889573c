"""What can be identified live: for each task its inputs, its topics, its parameters and the files it reads."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from inertid_ros.core.chain import Target
from inertid_ros.core.errors import SettingError
from inertid_ros.core.settings.choices import GravitySource, LoadSource, Method, Source
from inertid_ros.core.settings.rules import check_fixed_gravity, check_links_settings, check_tool_name
from inertid_ros.core.settings.settings import Settings
from inertid_ros.files.estimate import read_arm
from inertid_ros.files.parameters import read_static_file

LINKS_PERIOD = 1.0
"""Seconds at least between two estimates of the links: to complete them takes up to 0.1 s of a processor."""


@dataclass(frozen=True, slots=True)
class Task:
    """One thing to identify.

    Attributes:
        name: `load` or `links`, as in the parameter `estimators`.
        target: what the chain identifies.
        inputs: topics of its samples. Those of the last one are answered, each with a prediction.
        groups: groups of parameters whose change restarts it.
        wrenches, efforts: what the topics of predicted and residual wrenches and efforts start with; empty for none.
        unusable: code of the health issue that it cannot be done with this robot.
        requirement: what is missing where there is a robot, but no chain.
        read: reads the files that the settings name, as arguments of the chain; raises InertidError.
        waits_for_frame: whether the frame may come with the first wrench. If so, a robot without that frame is a health
            issue; all else that does not fit keeps the node from being configured.
        has_tool: whether a tool can be captured and subtracted.
        period: seconds at least between two estimates.
        forgotten: what a reset forgets, in words.
    """

    name: str
    target: Target
    inputs: tuple[str, ...]
    groups: tuple[str, ...]
    wrenches: str
    efforts: str
    unusable: str
    requirement: str
    read: Callable[[Settings], dict[str, Any]]
    forgotten: str
    waits_for_frame: bool = False
    has_tool: bool = False
    period: float = 0.0

    @property
    def answered(self) -> str:
        """The topic whose samples are answered."""
        return self.inputs[-1]

    @property
    def uses_links(self) -> bool:
        """Whether it depends on the model of the arm and its efforts."""
        return "links" in self.groups


def list_tasks(settings: Settings) -> list[Task]:
    """The tasks that the parameter `estimators` asks for.

    Raises:
        SettingError: if it asks for none.
    """
    tasks = []
    if "load" in settings.estimators:
        task = _LOAD_BY_WRENCH if settings.load.source is LoadSource.WRENCH else _LOAD_BY_EFFORT
        has_imu = task is _LOAD_BY_WRENCH and settings.gravity_source is GravitySource.IMU
        tasks.append(replace(task, inputs=("joint_states", "imu", "wrench")) if has_imu else task)
    if "links" in settings.estimators:
        tasks.append(_make_links_task(settings.links.source))
    if not tasks:
        raise SettingError("estimators", settings.estimators, "load, links or both")
    return tasks


def check_settings(settings: Settings) -> None:
    """Check what the tasks of these settings demand of them; raises SettingError where they do not fit together."""
    check_tool_name(settings.load)
    for task in list_tasks(settings):
        if task.uses_links:
            check_links_settings(settings.links)
            check_fixed_gravity(settings)
        if task is _LOAD_BY_EFFORT:
            _check_arm_settings(settings)


def _check_arm_settings(settings: Settings) -> None:
    """Check what a load by efforts needs besides usable efforts."""
    load, links = settings.load, settings.links
    if not load.arm_file:
        expected = (
            "the file of the identified arm, as load.source is effort: identify the arm without a load "
            "(links.launch.py), call ~/save, and name inertid_links.yaml here"
        )
        raise SettingError("load.arm_file", load.arm_file, expected)
    if not load.sensor_frame:
        raise SettingError("load.sensor_frame", "", "the frame that the load is fixed to, with load.source effort")
    if not links.source.has_efforts:
        raise SettingError("links.source", links.source, "effort or both with load.source effort")
    if links.method is Method.ENERGY:
        raise SettingError("links.method", links.method, "filtered or differentiated with load.source effort")


def _read_arm(settings: Settings) -> dict[str, Any]:
    return {"arm": read_arm(Path(settings.load.arm_file))}


def _read_static(settings: Settings) -> dict[str, Any]:
    path = settings.links.static_file
    return {"static": read_static_file(Path(path))} if path else {}


def _read_nothing(_: Settings) -> dict[str, Any]:
    return {}


_LOAD_BY_WRENCH = Task(
    name="load",
    target=Target.LOAD,
    inputs=("joint_states", "wrench"),
    groups=("load",),
    wrenches="~/load/wrench",
    efforts="",
    unusable="unusable_frame",
    requirement="sensor frame that can be used",
    read=_read_nothing,
    forgotten="the load and the sensor's bias are forgotten; the tool is kept",
    waits_for_frame=True,
    has_tool=True,
)

_LOAD_BY_EFFORT = Task(
    name="load",
    target=Target.LOAD,
    inputs=("joint_states",),
    groups=("load", "links"),
    wrenches="",
    efforts="~/load/effort",
    unusable="unusable_arm",
    requirement="robot description with the identified arm",
    read=_read_arm,
    forgotten="the load is forgotten",
)


def _make_links_task(source: Source) -> Task:
    """The task of the links, by what is measured: effort, base_wrench or both."""
    by_wrench = source.has_base_wrench
    return Task(
        name="links",
        target=Target.LINKS,
        inputs=("joint_states", "base_wrench") if by_wrench else ("joint_states",),
        groups=("links",),
        wrenches="~/base/wrench" if by_wrench else "",
        efforts="~/links/effort" if source.has_efforts else "",
        unusable="unusable_arm",
        requirement="robot description with an arm",
        read=_read_static,
        forgotten="what was learned of the links is forgotten",
        period=LINKS_PERIOD,
    )
