"""Robots and sensors people have: topics and parameters that suit a vendor's driver, and where that is written.

A profile is a file of `config/robots` or `config/sensors`. That of a sensor is added to that of the robot it is mounted
on, and takes precedence.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from inertid_ros.core.errors import FileFormatError, SettingError
from inertid_ros.core.settings.settings import Settings
from inertid_ros.files.document import read_mapping
from inertid_ros.files.share import share_path

Kind = Literal["robot", "sensor"]

TOPICS = ("joint_states", "wrench", "base_wrench", "imu", "robot_description")
"""The topics that a driver may call differently."""
_KEYS = {"title", "names", "driver", "summary", "topics", "parameters", "before", "facts"}


@dataclass(frozen=True, slots=True)
class Fact:
    """What is publicly written of a topic, of a parameter, or of something else, and where."""

    about: str
    text: str
    source: str


@dataclass(frozen=True, slots=True)
class Profile:
    """What suits one vendor's driver.

    Attributes:
        kind: robot or sensor.
        names: what it is called; the first is that of its file.
        title, driver, summary: for people; the driver by its address.
        topics: by the node's own name of the topic.
        parameters: by dotted name, as in a parameter file.
        before: what to do before it can be used.
        facts: at least one about each topic and parameter.
    """

    kind: Kind
    names: tuple[str, ...]
    title: str
    driver: str
    summary: str
    topics: Mapping[str, str]
    parameters: Mapping[str, Any]
    before: tuple[str, ...]
    facts: tuple[Fact, ...]


def read_profile(path: Path, kind: Kind) -> Profile:
    """Read one profile; FileAccessError, FileFormatError or SettingError if it cannot be used."""
    content = read_mapping(path)
    unknown = set(content.content) - _KEYS | set(content.section("topics").content) - set(TOPICS)
    if unknown:
        raise FileFormatError(f"{content.where} has unknown entries: {', '.join(sorted(unknown))}")
    facts = tuple(Fact(**fact) for fact in content.value("facts", list))
    profile = Profile(
        kind,
        tuple(content.value("names", list)),
        content.value("title", str),
        content.value("driver", str),
        content.value("summary", str),
        content.value("topics", dict),
        content.value("parameters", dict),
        tuple(content.value("before", list)),
        facts,
    )
    Settings.from_flat(profile.parameters)
    missing = {*profile.topics, *profile.parameters} - {fact.about for fact in facts}
    if missing:
        raise FileFormatError(f"{content.where} has no fact about {', '.join(sorted(missing))}")
    return profile


def iterate_profiles(kind: Kind) -> Iterator[Profile]:
    """Walk over the shipped profiles, by name."""
    for path in sorted(share_path("config", f"{kind}s").glob("*.yaml")):
        yield read_profile(path, kind)


def find_profile(name: str, kind: Kind) -> Profile:
    """The shipped profile of a name, in any case; SettingError, which lists all names, if there is none."""
    profiles = list(iterate_profiles(kind))
    for profile in profiles:
        if name.lower() in profile.names:
            return profile
    names = ", ".join(name for profile in profiles for name in profile.names)
    raise SettingError(kind, name, f"one of {names}")


def find_profiles(robot: str, sensor: str) -> list[Profile]:
    """The profiles of a robot and of the sensor on it, each unless its name is empty; later ones take precedence."""
    named: tuple[tuple[str, Kind], ...] = ((robot, "robot"), (sensor, "sensor"))
    return [find_profile(name, kind) for name, kind in named if name]
