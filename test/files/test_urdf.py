"""Every command and node reads URDFs the same way: by XML's rules, whatever their encoding."""

from __future__ import annotations

import ast
import codecs
from collections.abc import Callable
from pathlib import Path

import pytest
from support.bags import puma_messages, write_bag

from inertid_ros.cli.main import main
from inertid_ros.core.errors import FileAccessError, RobotDescriptionError
from inertid_ros.core.robot.robot import Robot
from inertid_ros.files.provenance import hash_urdf
from inertid_ros.files.share import share_path
from inertid_ros.files.urdf import UrdfFile
from inertid_ros.sim.scenario import read_urdf

PUMA = share_path("urdf", "puma560.urdf").read_text(encoding="utf-8")
BODY = PUMA[PUMA.index("<robot") :]
NAMED = BODY.replace('<robot name="puma560"', '<!-- Größe --><robot name="puma560"', 1)
ENCODED = {
    "utf-8": f'<?xml version="1.0"?>\n{NAMED}'.encode(),
    "utf-8 with mark": codecs.BOM_UTF8 + NAMED.encode(),
    "utf-16 little endian": codecs.BOM_UTF16_LE
    + f'<?xml version="1.0" encoding="UTF-16"?>\n{NAMED}'.encode("utf-16-le"),
    "utf-16 big endian": codecs.BOM_UTF16_BE + f'<?xml version="1.0" encoding="UTF-16"?>\n{NAMED}'.encode("utf-16-be"),
    "utf-16 without mark": f'<?xml version="1.0"?>\n{NAMED}'.encode("utf-16-le"),
    "utf-32": codecs.BOM_UTF32_LE + NAMED.encode("utf-32-le"),
    "latin 1": f"<?xml version='1.0' encoding='ISO-8859-1'?>\n{NAMED}".encode("latin-1"),
    "converted from utf-16": f'<?xml version="1.0" encoding="utf-16"?>\n{NAMED}'.encode(),
    "windows line ends": f'<?xml version="1.0"?>\n{NAMED}'.replace("\n", "\r\n").encode(),
}


@pytest.fixture(params=ENCODED)
def file(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path = tmp_path / "arm.urdf"
    path.write_bytes(ENCODED[request.param])
    return path


def test_all_encodings_give_the_same_robot(file: Path) -> None:
    found = UrdfFile.read(file)
    assert "Größe" in found.text
    assert Robot.from_urdf(found.text).model == Robot.from_urdf(PUMA).model
    assert read_urdf(str(file)) == found.text


def test_the_same_text_is_written_as_the_same_bytes(file: Path, tmp_path: Path) -> None:
    found = UrdfFile.read(file)
    found.write(tmp_path / "copy.urdf", found.text)
    assert (tmp_path / "copy.urdf").read_bytes() == file.read_bytes()


def test_line_ends_do_not_change_the_hash(tmp_path: Path) -> None:
    unix, windows = tmp_path / "unix.urdf", tmp_path / "windows.urdf"
    unix.write_bytes(PUMA.encode())
    windows.write_bytes(PUMA.replace("\n", "\r\n").encode())
    assert hash_urdf(UrdfFile.read(unix).text) == hash_urdf(UrdfFile.read(windows).text)


def identifiability(urdf: Path, _: Path) -> list[object]:
    return ["identifiability", urdf]


def excite(urdf: Path, output: Path) -> list[object]:
    return ["excite", urdf, "--target", "load", "--candidates", "400", "--duration", "1", "-o", output]


def replay(urdf: Path, output: Path) -> list[object]:
    bag = write_bag(output.with_name("bag"), puma_messages(6.0)[1:])
    return ["replay", bag, "--urdf", urdf, "-o", output]


@pytest.mark.parametrize("command", [identifiability, excite, replay])
def test_every_command_reads_utf_16(tmp_path: Path, command: Callable[[Path, Path], list[object]]) -> None:
    urdf = tmp_path / "arm.urdf"
    urdf.write_bytes(ENCODED["utf-16 little endian"])
    assert main(list(map(str, command(urdf, tmp_path / "out")))) == 0


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", "not well-formed XML"),
        (b"solid mesh", "not well-formed XML"),
        (b"\x00\xff\xfe", "is not text"),
        (b"<?xml version='1.0' encoding='klingon'?><robot/>", "is not text in klingon"),
        (b"<sdf version='1.9'/>", "its root element is not <robot>: it is an SDF file"),
        (b"<mujoco/>", "MJCF"),
        (b"<project/>", "its root element is not <robot>: name a URDF"),
        (b"<robot name='x'><link name='${prefix}a'/></robot>", "unprocessed xacro file"),
        (
            b"<robot xmlns:xacro='http://www.ros.org/wiki/xacro' name='x'><xacro:include filename='a.xacro'/></robot>",
            "unprocessed xacro file: run `xacro",
        ),
    ],
)
def test_a_file_of_another_kind_is_named_with_what_it_is(tmp_path: Path, content: bytes, expected: str) -> None:
    path = tmp_path / "arm.urdf"
    path.write_bytes(content)
    with pytest.raises(RobotDescriptionError, match=rf"arm\.urdf.*{expected}"):
        UrdfFile.read(path)


def test_expanded_xacro_that_keeps_the_namespace_is_a_urdf(tmp_path: Path) -> None:
    path = tmp_path / "arm.urdf"
    path.write_text(BODY.replace("<robot ", "<robot xmlns:xacro='http://www.ros.org/wiki/xacro' ", 1))
    assert Robot.from_urdf(UrdfFile.read(path).text).joint_names == Robot.from_urdf(PUMA).joint_names


def test_a_file_that_cannot_be_read_names_what_named_it(tmp_path: Path) -> None:
    with pytest.raises(FileAccessError, match=r"none\.urdf' cannot be read: No such file.*check --urdf"):
        UrdfFile.read(tmp_path / "none.urdf", "--urdf")


def test_there_is_one_reader() -> None:
    """Nobody reads a file whole but access.py, which bounds it: document.py and urdf.py use that."""
    package = Path(__file__).parents[2] / "inertid_ros"
    readers = {
        path.relative_to(package).as_posix()
        for path in package.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and node.attr in {"read_text", "read_bytes"}
    }
    sources = {"core/compiled.py", "text/architecture_picture.py", "text/constants_docs.py"}
    shipped = {"cli/demo/engine.py", "report/library.py"} | sources
    assert readers == shipped, "what this package itself has written"
