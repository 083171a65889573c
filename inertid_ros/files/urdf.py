"""URDFs: read and written in the file's own encoding, and edited without touching any other byte."""

from __future__ import annotations

import codecs
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from xml.parsers import expat

from inertid_ros.core.errors import RobotDescriptionError
from inertid_ros.core.robot.robot import parse_urdf
from inertid_ros.files.access import write_whole
from inertid_ros.files.xacro import read_source

_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
    (codecs.BOM_UTF8, "utf-8"),
)
_UNMARKED = ((b"<\0", "utf-16-le"), (b"\0<", "utf-16-be"))
_DECLARATION = re.compile(rb"""^<\?xml[^>]*encoding\s*=\s*["']([A-Za-z0-9._-]+)["']""")
_ATTRIBUTE = re.compile(rb"""\s([^\s=/>]+)\s*=\s*("[^"]*"|'[^']*')""")
_START_TAG = re.compile(rb"""<(?:[^>"']|"[^"]*"|'[^']*')*>""")


@dataclass(frozen=True, slots=True)
class UrdfFile:
    """The text of a URDF with its own line ends, and how its file encodes it.

    The encoding is found by byte order mark, else by XML declaration, else it is UTF-8; the mark may be empty.
    """

    text: str
    encoding: str = "utf-8"
    mark: bytes = b""

    @classmethod
    def read(cls, path: Path, named_by: str = "the path") -> UrdfFile:
        """Read a URDF, or a xacro file with its arguments; messages of errors say which option or parameter named it.

        FileAccessError if it cannot be read, RobotDescriptionError if it is not a URDF.
        """
        content = read_source(path, f"check {named_by}")
        mark, encoding = _find_encoding(content)
        try:
            text = content[len(mark) :].decode(encoding)
        except (UnicodeDecodeError, LookupError):
            raise RobotDescriptionError(
                f"robot description '{path}' is not text in {encoding}: name a URDF, or correct its XML declaration"
            ) from None
        parse_urdf(text, f"robot description '{path}'")
        return cls(text, encoding, mark)

    def write(self, path: Path, text: str) -> None:
        """Write another text in the same encoding, whole or not at all; FileAccessError if that fails."""
        write_whole(path, self.mark + text.encode(self.encoding))


def _find_encoding(content: bytes) -> tuple[bytes, str]:
    """Byte order mark and encoding of XML (appendix F of its specification)."""
    for mark, encoding in _MARKS:
        if content.startswith(mark):
            return mark, encoding
    for start, encoding in _UNMARKED:
        if content.startswith(start):
            return b"", encoding
    declared = _DECLARATION.match(content)
    encoding = declared[1].decode().lower() if declared else "utf-8"
    # A declaration that can be read byte by byte is not in UTF-16, whatever it says: the file was converted since.
    return b"", "utf-8" if encoding.startswith(("utf-16", "utf-32")) else encoding


@dataclass(slots=True)
class Element:
    """An element with its children; its start tag goes from `start` to `inner`, all of it to `end`, in bytes."""

    name: str
    attributes: Mapping[str, str]
    start: int
    inner: int
    end: int
    children: list[Element] = field(default_factory=list)

    @property
    def closes_itself(self) -> bool:
        """Whether it is written as one tag."""
        return self.end == self.inner

    def find(self, name: str) -> Element | None:
        """The first child of this name."""
        return next((child for child in self.children if child.name == name), None)


class UrdfText:
    """Collects changes of a URDF's text."""

    def __init__(self, text: str) -> None:
        """Parse a text.

        RobotDescriptionError if it is not well-formed XML, or has elements that are not written out.
        """
        self._text = text.encode()
        self._changes: list[tuple[int, int, bytes]] = []
        self.root = _parse(self._text)

    def find(self, kind: str, name: str) -> Element:
        """The link or joint of a name; RobotDescriptionError if there is none."""
        for element in self.root.children:
            if element.name == kind and element.attributes.get("name") == name:
                return element
        raise RobotDescriptionError(f"the robot description has no {kind} '{name}'")

    def set_attributes(self, element: Element, values: Mapping[str, str]) -> None:
        """Give attributes of an element other values, or add them."""
        missing = dict(values)
        for match in _ATTRIBUTE.finditer(self._text, element.start, element.inner):
            value = missing.pop(match[1].decode(), None)
            if value is not None:
                self._replace(match.start(2), match.end(2), f'"{value}"')
        tail = element.inner - (2 if element.closes_itself else 1)
        for name, value in missing.items():
            self._replace(tail, tail, f' {name}="{value}"')

    def add_child(self, element: Element, text: str, first: bool = False) -> None:
        """Put an element right behind the last child of another, or in front of the first one."""
        if element.closes_itself:
            self._replace(element.inner - 2, element.inner, f">{text}</{element.name}>")
            return
        place = element.inner if first or not element.children else element.children[-1].end
        self._replace(place, place, text)

    def finish(self) -> str:
        """The text with all changes."""
        parts, last = [], 0
        for start, end, text in sorted(self._changes, key=lambda change: change[:2]):
            parts += [self._text[last:start], text]
            last = end
        return b"".join([*parts, self._text[last:]]).decode()

    def _replace(self, start: int, end: int, text: str) -> None:
        self._changes.append((start, end, text.encode()))


def make_tag(name: str, attributes: Mapping[str, str]) -> str:
    """An element without content."""
    return " ".join([f"<{name}", *(f'{key}="{value}"' for key, value in attributes.items())]) + "/>"


def _parse(text: bytes) -> Element:
    """The root element of a text in UTF-8, whatever its declaration says."""
    parser = expat.ParserCreate("utf-8")
    roots: list[Element] = []
    stack: list[Element] = []

    def open_element(name: str, attributes: dict[str, str]) -> None:
        start = parser.CurrentByteIndex
        tag = _START_TAG.match(text, start)
        if tag is None or not text.startswith(name.encode(), start + 1):
            raise RobotDescriptionError(f"element <{name}> of the robot description comes from an entity: write it out")
        element = Element(name, attributes, start, tag.end(), tag.end())
        (stack[-1].children if stack else roots).append(element)
        stack.append(element)

    def close_element(_: str) -> None:
        element = stack.pop()
        if not text.endswith(b"/>", element.start, element.inner):
            element.end = text.index(b">", parser.CurrentByteIndex) + 1

    parser.StartElementHandler = open_element
    parser.EndElementHandler = close_element
    try:
        parser.Parse(text, True)
    except expat.ExpatError as error:
        raise RobotDescriptionError(f"the robot description is not well-formed XML: {error}") from None
    return roots[0]
