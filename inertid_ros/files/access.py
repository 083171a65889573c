"""How files are read and written: regular files of bounded size in, whole files or none out.

Paths come from parameters, which peers may be allowed to set, and documents from anywhere. So nothing is read that
could block or never end, nothing of what is read appears in a message, and nothing is written through a link.
"""

from __future__ import annotations

import fcntl
import os
import re
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from inertid_ros.core.errors import FileAccessError

LARGEST = 16 << 20
"""Bytes of a document or robot description at most: estimates of 30 joints with all covariances have 10 MB."""
_SHOWN = 200
"""Characters of a path in a message at most."""
_REMEDY = "choose a directory that exists and is writable, or make room on the disk"


def read_bounded(path: Path, advice: str = "") -> bytes:
    """Read a regular file whole; FileAccessError if it is none, is too large or cannot be read.

    Pipes and devices are not waited for. The message ends with the advice.
    """
    with _explaining(f"'{shorten(path)}' cannot be read", advice):
        descriptor = os.open(expand(path), os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as stream:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise OSError(0, "it is not a regular file")
            content = stream.read(LARGEST + 1) or b""
            if len(content) > LARGEST:
                raise OSError(0, f"it has more than {LARGEST >> 20} MB")
            return content


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file whole or not at all: after a failure there is either the old file or none, and no leftover.

    The content, text in UTF-8, goes to a new file of an unguessable name in the same directory, which then takes the
    place of the one that is meant. What processes that were killed have left of theirs is removed. FileAccessError if
    it cannot be written.
    """
    with _explaining(f"'{shorten(path)}' cannot be written", _REMEDY):
        target = expand(path)
        _remove_leftovers(target)
        temporary = _name_temporary(target)
        descriptor = _create(temporary)
        try:
            with os.fdopen(descriptor, "wb") as stream:
                stream.write(content.encode() if isinstance(content, str) else content)
                stream.flush()
                os.fsync(descriptor)
                temporary.replace(target)
        except BaseException:
            with suppress(OSError):
                temporary.unlink()
            raise
        _sync_directory(target.parent)


def make_directory(path: Path) -> None:
    """Create a directory, unless it exists, and make sure that files can be created in it.

    FileAccessError if it cannot be created or written to.
    """
    with _explaining(f"directory '{shorten(path)}' cannot be written to", "choose another one with -o"):
        path.mkdir(parents=True, exist_ok=True)
        _probe(path)


def check_directory(path: Path) -> None:
    """Make sure that files can be created in a directory; FileAccessError if not."""
    with _explaining(f"directory '{shorten(path)}' cannot be written to", ""):
        _probe(expand(path))


def shorten(path: Path) -> str:
    """A path as messages show it: of a very long one, its begin and its end."""
    text = str(path)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN // 2]}…{text[-_SHOWN // 2 :]}"


def expand(path: Path) -> Path:
    """The absolute path, with the user's home in the place of ~ where there is such a user."""
    return Path(os.path.expanduser(path)).absolute()  # noqa: PTH111 - that of pathlib raises RuntimeError


def _probe(directory: Path) -> None:
    probe = _name_temporary(directory / "probe")
    os.close(_create(probe))
    probe.unlink()


def _name_temporary(target: Path) -> Path:
    return target.with_name(f".{target.name}.{secrets.token_hex(8)}.part")


def _create(path: Path) -> int:
    """Create a file that was not there, and hold its lock for as long as it is open; returns the descriptor."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
    with suppress(OSError):  # some network file systems have no locks
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return descriptor


def _remove_leftovers(target: Path) -> None:
    """Remove temporary files of the same target that nobody is writing: their locks went with their processes."""
    pattern = re.compile(re.escape(f".{target.name}.") + r"[0-9a-f]{16}\.part")
    for entry in list(os.scandir(target.parent)):
        if pattern.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
            with suppress(OSError):
                descriptor = os.open(entry.path, os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
                try:
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    Path(entry.path).unlink()
                finally:
                    os.close(descriptor)


def _sync_directory(directory: Path) -> None:
    """Let the new name survive a power failure, where the file system can do that."""
    with suppress(OSError):
        descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


@contextmanager
def _explaining(what: str, advice: str) -> Iterator[None]:
    """Say what cannot be done, and why; ValueError is that of a path with a null byte in it."""
    try:
        yield
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no path"
        raise FileAccessError(f"{what}: {reason}" + (f"; {advice}" if advice else "")) from None
