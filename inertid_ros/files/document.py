"""YAML files that are written whole or not at all, and whose errors say where they are."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from inertid_ros.core.errors import FileAccessError, FileFormatError
from inertid_ros.core.records import FloatArray

_KINDS = {dict: "a mapping", list: "a list", str: "a text", int: "a whole number", object: "anything"}


@dataclass(frozen=True, slots=True)
class Section:
    """A mapping in a file, which knows where it stands.

    All methods raise FileFormatError where an entry is missing or is not what it should be.
    """

    where: str
    content: Mapping[str, Any]

    def value(self, name: str, kind: type) -> Any:
        """Return an entry of the given kind."""
        if name not in self.content:
            raise FileFormatError(f"{self.where} lacks '{name}'")
        value = self.content[name]
        if not isinstance(value, kind):
            raise FileFormatError(f"{self.where}: '{name}' is {value!r}, not {_KINDS[kind]}")
        return value

    def section(self, name: str) -> Section:
        """Return a mapping inside this one."""
        return Section(f"{self.where}, {name}", self.value(name, dict))

    def numbers(self, name: str, shape: tuple[int, ...]) -> FloatArray:
        """Return finite numbers listed in a given shape."""
        return self._check(name, self.value(name, list), shape)

    def named_numbers(self, name: str, names: Sequence[str]) -> FloatArray:
        """Return finite numbers, each under its own name."""
        section = self.section(name)
        return self._check(name, [section.value(item, object) for item in names], (len(names),))

    def covariance(self, name: str, size: int) -> FloatArray:
        """Return a symmetric matrix without negative eigenvalues, but for rounding."""
        matrix = self.numbers(name, (size, size))
        values = np.linalg.eigvalsh(matrix)
        rounding = 1e-9 * abs(values[-1])
        if np.abs(matrix - matrix.T).max() > rounding or values[0] < -rounding:
            raise FileFormatError(f"{self.where}: '{name}' is no covariance: it must be symmetric and not negative")
        return matrix

    def _check(self, name: str, listed: list[Any], shape: tuple[int, ...]) -> FloatArray:
        try:
            numbers = np.array(listed, dtype=float)
        except (TypeError, ValueError):
            raise FileFormatError(
                f"{self.where}: '{name}' has entries that are no numbers, or rows of different length"
            ) from None
        if numbers.shape != shape:
            expected = " x ".join(str(size) for size in shape)
            raise FileFormatError(f"{self.where}: '{name}' has the shape {numbers.shape}, expected {expected} numbers")
        if not np.all(np.isfinite(numbers)):
            raise FileFormatError(f"{self.where}: '{name}' has numbers that are not finite")
        return numbers


def read_yaml(path: Path) -> Section:
    """Read a file that holds a mapping.

    Raises:
        FileAccessError: if it cannot be read.
        FileFormatError: if it is not YAML, or no mapping.
    """
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise FileAccessError(f"'{path}' cannot be read: {error.strerror}") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise FileFormatError(f"'{path}' is not YAML: {error}") from None
    if not isinstance(content, dict):
        raise FileFormatError(f"'{path}' holds no mapping")
    return Section(f"'{path}'", content)


def read_json(path: Path) -> Section:
    """Read a JSON file that holds a mapping.

    Raises:
        FileAccessError: if it cannot be read.
        FileFormatError: if it is not JSON, or no mapping.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise FileAccessError(f"'{path}' cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise FileFormatError(f"'{path}' is not JSON ({error}): name an estimate.json that a replay wrote") from None
    if not isinstance(content, dict):
        raise FileFormatError(f"'{path}' holds no mapping: name an estimate.json that a replay wrote")
    return Section(f"'{path}'", content)


def write_yaml(path: Path, parts: Sequence[tuple[str, Mapping[str, Any]]]) -> None:
    """Write mappings one after the other, each below its comment.

    The text goes to a file beside the one that is meant, which then takes its place: whatever happens, there is either
    the old file or the whole new one.

    Raises:
        FileAccessError: if it cannot be written.
    """
    text = "\n".join(
        "".join(f"# {line}\n" for line in comment.splitlines())
        + yaml.dump(part, Dumper=_Dumper, sort_keys=False, default_flow_style=None, width=1000, allow_unicode=True)
        for comment, part in parts
    )
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with temporary.open("w", encoding="utf-8") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(path)
    except OSError as error:
        remedy = "name a place in a directory that exists and can be written to"
        raise FileAccessError(f"'{path}' cannot be written: {error.strerror}; {remedy}") from None
    finally:
        if temporary.exists():
            temporary.unlink()


class _Dumper(yaml.SafeDumper):
    """Writes an entry a line, but rows of numbers in one, and text of several lines as it is."""


def _represent_mapping(dumper: yaml.SafeDumper, mapping: dict[str, Any]) -> yaml.MappingNode:
    return dumper.represent_mapping("tag:yaml.org,2002:map", mapping, flow_style=False)


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Dumper.add_representer(dict, _represent_mapping)
_Dumper.add_representer(str, _represent_text)
