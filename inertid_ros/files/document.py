"""The one reader of YAML and JSON, with errors that say where they are and not what is there, and the one writer."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from inertid_ros.core.errors import FileFormatError
from inertid_ros.core.records import FloatArray
from inertid_ros.files.access import read_bounded, write_whole

DEEPEST = 40
"""Mappings and lists inside each other at most: estimates have 6."""
_ROUNDING = 1e-6
"""Asymmetry and negative eigenvalues of correlations that are rounding errors: those of 60 unknowns that are nearly
dependent are far below."""
_KINDS = {dict: "a mapping", list: "a list", str: "a text in one line", int: "a whole number", object: "anything"}
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_DEEPER = yaml.SequenceStartEvent, yaml.MappingStartEvent
_BACK = yaml.SequenceEndEvent, yaml.MappingEndEvent


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
        if not isinstance(value, kind) or (isinstance(value, str) and not value.isprintable()):
            raise FileFormatError(f"{self.where}: '{name}' is not {_KINDS[kind]}")
        return value

    def section(self, name: str) -> Section:
        """Return a mapping inside this one."""
        return Section(f"{self.where}, {name}", self.value(name, dict))

    def item(self, name: str, item: Any) -> Section:
        """Return an item of a list that is a mapping."""
        return Section(self.where, {name: item}).section(name)

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
        """Return a symmetric matrix, no variance negative, without negative eigenvalues, up to rounding errors.

        Units differ: what is rounding is judged by correlations.
        """
        matrix = self.numbers(name, (size, size))
        variances = np.diag(matrix)
        scale = np.sqrt(np.where(variances > 0.0, variances, 1.0))
        correlations = matrix / scale / scale[:, None]
        if (
            variances.min(initial=0.0) < 0.0
            or np.abs(correlations - correlations.T).max(initial=0.0) > _ROUNDING
            or np.linalg.eigvalsh(correlations).min(initial=0.0) < -_ROUNDING
        ):
            raise FileFormatError(
                f"{self.where}: '{name}' is not a covariance: it must be symmetric and positive semidefinite"
            )
        return matrix

    def _check(self, name: str, listed: Any, shape: tuple[int, ...]) -> FloatArray:
        try:
            numbers = np.array(listed, dtype=float)
        except (TypeError, ValueError, OverflowError):
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
        text = read_bounded(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileFormatError(f"'{path}' is not text in UTF-8, at byte {error.start}") from None
    content = _parse(path, text)
    if not isinstance(content, dict):
        raise FileFormatError(f"'{path}' does not contain a mapping")
    return Section(f"'{path}'", content)


class _RefusedError(Exception):
    """Says why a text is not read; nothing of the text is in it."""


def _parse(path: Path, text: str) -> Any:
    is_json = path.suffix == ".json"
    try:
        if is_json or text.lstrip().startswith("{"):
            try:
                return _parse_json(text)
            except _RefusedError:
                if is_json:
                    raise
        return _parse_yaml(text.removesuffix("\n---\n"))  # with which `ros2 topic echo` ends
    except _RefusedError as error:
        raise FileFormatError(f"'{path}' is not {'JSON' if is_json else 'YAML'}{error}") from None


_TOO_DEEP = f": more than {DEEPEST} mappings or lists inside each other"


def _parse_json(text: str) -> Any:
    try:
        content = json.loads(text)
    except json.JSONDecodeError as error:
        raise _RefusedError(f": {error}") from None
    except (ValueError, RecursionError):  # a number with thousands of digits; thousands of lists
        raise _RefusedError(" that can be read") from None
    level = [content]
    for _ in range(DEEPEST):
        parts = (part.values() if isinstance(part, dict) else part for part in level if isinstance(part, (dict, list)))
        level = [item for part in parts for item in part]
    if level:
        raise _RefusedError(_TOO_DEEP)
    return content


def _parse_yaml(text: str) -> Any:
    """Parse YAML that is not too deep and has no aliases, with which a few bytes can mean gigabytes."""
    depth = 0
    try:
        for event in yaml.parse(text, Loader=_LOADER):
            depth += isinstance(event, _DEEPER) - isinstance(event, _BACK)
            if depth > DEEPEST:
                raise _RefusedError(_TOO_DEEP)
            if isinstance(event, yaml.AliasEvent):
                raise _RefusedError(" that can be read: it has aliases (*name), which ROS does not read either")
        return yaml.load(text, Loader=_LOADER)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = "" if mark is None else f", from line {mark.line + 1}, column {mark.column + 1} on"
        raise _RefusedError(place) from None
    except _RefusedError:
        raise
    except Exception:  # noqa: BLE001 - characters that YAML does not have, and whatever tags make of a text
        raise _RefusedError(": it has values that cannot be what their tags or digits say") from None


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


class _Dumper(getattr(yaml, "CSafeDumper", yaml.SafeDumper)):  # type: ignore[misc]
    """Writes one entry per line, a row of numbers on one line, multi-line text as a block, and no aliases."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002
        """Write out what occurs twice."""
        return True


def _represent_mapping(dumper: yaml.SafeDumper, mapping: dict[str, Any]) -> yaml.MappingNode:
    return dumper.represent_mapping("tag:yaml.org,2002:map", mapping, flow_style=False)


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Dumper.add_representer(dict, _represent_mapping)
_Dumper.add_representer(str, _represent_text)
