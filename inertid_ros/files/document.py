"""The one reader of YAML and JSON, with errors that say where they are, and the one writer: whole files or none."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from inertid_ros.core.errors import FileAccessError, FileFormatError
from inertid_ros.core.records import FloatArray

_REMEDY = "choose a directory that exists and is writable, or make room on the disk"
_KINDS = {dict: "a mapping", list: "a list", str: "a text", int: "a whole number", object: "anything"}


@dataclass(frozen=True, slots=True)
class Section:
    """A mapping in a file, which knows its place there.

    All methods raise FileFormatError if an entry is missing or is not what it should be.
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
        """Return finite numbers listed in a given shape, or one number for the shape ()."""
        return self._check(name, self.value(name, list if shape else object), shape)

    def number(self, name: str) -> float:
        """Return a finite number."""
        return float(self.numbers(name, ()))

    def named_numbers(self, name: str, names: Sequence[str]) -> FloatArray:
        """Return finite numbers, each under its own name."""
        section = self.section(name)
        return self._check(name, [section.value(item, object) for item in names], (len(names),))

    def covariance(self, name: str, size: int) -> FloatArray:
        """Return a symmetric matrix without negative eigenvalues, up to rounding errors."""
        matrix = self.numbers(name, (size, size))
        values = np.linalg.eigvalsh(matrix)
        rounding = 1e-9 * abs(values[-1])
        if np.abs(matrix - matrix.T).max() > rounding or values[0] < -rounding:
            raise FileFormatError(
                f"{self.where}: '{name}' is not a covariance: it must be symmetric and positive semidefinite"
            )
        return matrix

    def _check(self, name: str, listed: Any, shape: tuple[int, ...]) -> FloatArray:
        try:
            numbers = np.array(listed, dtype=float)
        except (TypeError, ValueError):
            raise FileFormatError(
                f"{self.where}: '{name}' has entries that are not numbers, or rows of different lengths"
            ) from None
        if numbers.shape != shape:
            expected = " x ".join(str(size) for size in shape)
            expected = f"{expected} numbers" if shape else "one number"
            raise FileFormatError(f"{self.where}: '{name}' has the shape {numbers.shape}, expected {expected}")
        if not np.all(np.isfinite(numbers)):
            raise FileFormatError(f"{self.where}: '{name}' has numbers that are not finite")
        return numbers


def read_mapping(path: Path) -> Section:
    """Read a YAML or JSON file that holds a mapping.

    A file is JSON if its name ends in .json, or if it begins with a brace and is valid JSON. FileAccessError if it
    cannot be read, FileFormatError if it is neither, or not a mapping.
    """
    try:
        text = path.expanduser().read_text(encoding="utf-8-sig")
    except OSError as error:
        raise FileAccessError(f"'{path}' cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise FileFormatError(f"'{path}' is not text in UTF-8: {error}") from None
    content = _parse(path, text)
    if not isinstance(content, dict):
        raise FileFormatError(f"'{path}' does not contain a mapping")
    return Section(f"'{path}'", content)


def _parse(path: Path, text: str) -> Any:
    is_json = path.suffix == ".json"
    if is_json or text.lstrip().startswith("{"):
        try:
            return json.loads(text)
        except ValueError as error:
            if is_json:
                raise FileFormatError(f"'{path}' is not JSON: {error}") from None
    try:
        return yaml.safe_load(text.removesuffix("\n---\n"))  # with which `ros2 topic echo` ends
    except (yaml.YAMLError, ValueError) as error:  # ValueError: a date or number that cannot exist
        raise FileFormatError(f"'{path}' is not YAML: {error}") from None


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file whole or not at all: after a failure there is either the old file or none, and no leftover.

    The content, text in UTF-8, goes to a temporary file in the same directory, which then takes the place of the one
    that is meant. FileAccessError if it cannot be written.
    """
    target = path.expanduser()
    temporary = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        with temporary.open("wb") as stream:
            stream.write(content.encode() if isinstance(content, str) else content)
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(target)
    except OSError as error:
        raise FileAccessError(f"'{path}' cannot be written: {error.strerror}; {_REMEDY}") from None
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def make_directory(path: Path) -> None:
    """Create a directory, unless it exists, and make sure that files can be created in it.

    FileAccessError if it cannot be created or written to.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
        probe = path / f".probe.{os.getpid()}"
        probe.touch()
        probe.unlink()
    except OSError as error:
        reason = f"{error.strerror}; choose another one with -o"
        raise FileAccessError(f"directory '{path}' cannot be written to: {reason}") from None


def write_json(path: Path, document: Mapping[str, Any]) -> None:
    """Write a document as JSON, whole or not at all; FileAccessError if that fails."""
    write_whole(path, format_json(document) + "\n")


def format_json(document: Mapping[str, Any]) -> str:
    """Text of a document as JSON, arrays as lists, numbers with all their digits."""
    return json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False, default=_list_array)


def write_yaml(path: Path, parts: Sequence[tuple[str, Mapping[str, Any]]]) -> None:
    """Write mappings as YAML one after the other, each below its comment, whole or not at all.

    FileAccessError if the file cannot be written.
    """
    text = "\n".join(
        "".join(f"# {line}\n" for line in comment.splitlines())
        + yaml.dump(part, Dumper=_Dumper, sort_keys=False, default_flow_style=None, width=1000, allow_unicode=True)
        for comment, part in parts
    )
    write_whole(path, text)


def _list_array(value: Any) -> Any:
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} has no place in JSON")


class _Dumper(yaml.SafeDumper):
    """Writes one entry per line, a row of numbers on one line, and multi-line text as a block."""


def _represent_mapping(dumper: yaml.SafeDumper, mapping: dict[str, Any]) -> yaml.MappingNode:
    return dumper.represent_mapping("tag:yaml.org,2002:map", mapping, flow_style=False)


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Dumper.add_representer(dict, _represent_mapping)
_Dumper.add_representer(str, _represent_text)
