"""Xacro files wherever a URDF is read, where the package `xacro` is installed: FILE.xacro NAME:=VALUE ..."""

from __future__ import annotations

import re
from pathlib import Path
from xml.parsers.expat import ExpatError

from inertid_ros.core.errors import FileAccessError, RobotDescriptionError

_XACRO = re.compile(r"(?P<file>.*\.xacro)(?P<arguments>(\s+\w+:=\S*)*)\s*", re.DOTALL)
_INSTALL = "install it (pip install xacro, or apt install ros-$ROS_DISTRO-xacro), or expand the file yourself"


def read_source(path: Path) -> bytes:
    """The URDF that a path names: the bytes of that file, or what a xacro file and its arguments expand to.

    OSError if it cannot be read, FileAccessError without the package, RobotDescriptionError if it cannot be expanded.
    """
    match = _XACRO.fullmatch(str(path))
    if match is None:
        return path.expanduser().read_bytes()
    file = Path(match["file"]).expanduser()
    with file.open("rb"):
        pass  # so that errors of access are those of every file
    arguments = dict(argument.split(":=", 1) for argument in match["arguments"].split())
    return _expand(file, arguments).encode()


def _expand(path: Path, arguments: dict[str, str]) -> str:
    try:
        import xacro
    except ImportError:
        raise FileAccessError(f"robot description '{path}' needs the package xacro: {_INSTALL}") from None
    try:
        return str(xacro.process_file(str(path), mappings=arguments).toxml())
    except LookupError as error:  # of packages, above all
        reason = f"{error}; source the workspace of the packages that it includes"
    except OSError as error:
        reason = f"{error}; with ROS from wheels there is no package index unless AMENT_PREFIX_PATH names one"
    except ExpatError as error:
        reason = f"not well-formed XML: {error}"
    except (xacro.XacroException, ArithmeticError, NameError, TypeError, ValueError) as error:
        reason = f"{error}; give its arguments behind the path: {path.name} NAME:=VALUE"
    raise RobotDescriptionError(f"xacro file '{path}' cannot be expanded: {' '.join(reason.split())}")
