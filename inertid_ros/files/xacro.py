"""Xacro files wherever a URDF is read, where the package `xacro` is installed: FILE.xacro NAME:=VALUE ..."""

from __future__ import annotations

import re
from pathlib import Path
from xml.parsers.expat import ExpatError

from inertid_ros.core.errors import FileAccessError, RobotDescriptionError
from inertid_ros.files.access import read_bounded

_XACRO = re.compile(r"(?P<file>.*\.xacro)(?P<arguments>(\s+\w+:=\S*)*)\s*", re.DOTALL)
_INSTALL = "install it (pip install xacro, or apt install ros-$ROS_DISTRO-xacro), or expand the file yourself"

_WRONG = (ExpatError, LookupError, OSError, ArithmeticError, NameError, TypeError, ValueError)


def read_source(path: Path, advice: str) -> bytes:
    """The URDF that a path names: the bytes of that file, or what a xacro file and its arguments expand to.

    FileAccessError, which ends with an advice, if it cannot be read, or without the package; RobotDescriptionError if
    it cannot be expanded.
    """
    match = _XACRO.fullmatch(str(path))
    if match is None:
        return read_bounded(path, advice)
    file = Path(match["file"])
    read_bounded(file, advice)  # so that errors of access are those of every file
    file = file.expanduser()
    arguments = dict(argument.split(":=", 1) for argument in match["arguments"].split())
    return _expand(file, arguments).encode()


def _expand(path: Path, arguments: dict[str, str]) -> str:
    try:
        import xacro
        from xacro.substitution_args import ArgException
    except ImportError:
        raise FileAccessError(f"robot description '{path}' needs the package xacro: {_INSTALL}") from None
    try:
        return str(xacro.process_file(str(path), mappings=arguments).toxml())
    except (xacro.XacroException, *_WRONG) as error:
        cause = getattr(error, "exc", None) or error  # xacro wraps most of what goes wrong
        advice = "give its arguments behind the path: NAME:=VALUE"
        if isinstance(cause, (LookupError, OSError)):
            advice = "source the workspace of the packages that it includes (AMENT_PREFIX_PATH)"
        elif isinstance(cause, ExpatError):
            advice = "correct its XML"
        reason = " ".join(str(cause).split())
        if isinstance(cause, ArgException):
            reason = f"argument '{reason}' has no value"
        raise RobotDescriptionError(f"xacro file '{path}' cannot be expanded: {reason}; {advice}") from None
