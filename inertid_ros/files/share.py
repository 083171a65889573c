"""Finds the files that are shipped beside the code: urdf/, config/, launch/, rviz/ and foxglove/.

They are in one of three places, depending on how the package was installed: at the root of the source tree (a clone, an
editable or a symlinked install), in the `share/inertid_ros` of the prefix the code was installed into (pip, colcon), or
where the ament index says. They are tried in this order, so that code and files are always of the same version.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from inertid_ros.core.errors import FileAccessError

PACKAGE = "inertid_ros"


def share_path(*parts: str) -> Path:
    """Return the path of a shipped file or directory, given part by part: "urdf", "puma560.urdf".

    FileAccessError if it is in none of the places; the message names them.
    """
    roots = list(iterate_share_roots(Path(__file__).resolve().parents[1]))
    for root in roots:
        path = root.joinpath(*parts)
        if path.exists():
            return path
    looked = ", ".join(str(root) for root in roots) or "no share directory at all"
    raise FileAccessError(
        f"'{'/'.join(parts)}' is not among the files of {PACKAGE}; looked in: {looked}. "
        "Check the name, or install the package again."
    )


def iterate_share_roots(package_directory: Path) -> Iterator[Path]:
    """Walk over the directories that hold shipped files, best first, given where the code of the package is."""
    source_tree = package_directory.parent
    if (source_tree / "package.xml").is_file() and (source_tree / "setup.py").is_file():
        yield source_tree
    for prefix in package_directory.parents:
        beside = prefix / "share" / PACKAGE
        if beside.is_dir():
            yield beside
    yield from _iterate_ament_index()


def _iterate_ament_index() -> Iterator[Path]:
    try:
        from ament_index_python.packages import get_package_share_directory
    except ImportError:
        return
    try:
        yield Path(get_package_share_directory(PACKAGE))
    except (LookupError, OSError):
        # Not registered, or no index at all: AMENT_PREFIX_PATH is not set where ROS comes as wheels.
        return
