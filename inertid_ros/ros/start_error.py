"""What rcl says of a command line it cannot use, in one line that says what to do."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from inertid_ros.core.errors import InertidError

_WHERE_IN_RCL = re.compile(r"\s*, at [^,\s]+\.c(pp)?:\d+")
_NOTHING_SAID = re.compile(r"\.? Error: error not set")

_REMEDIES = {
    "params file": "check the path, and that it is a ROS parameter file such as `inertid params` prints",
    "parameter override": (
        "write -p name:=value, in a list of numbers all of them with a decimal point ([0.0, 0.0, -9.81]), "
        "and for an empty text \"name:=''\" with both kinds of quotes"
    ),
    "remap rule": "write -r from:=to, with names that ROS allows",
}
_OTHERWISE = "after --ros-args come -p name:=value, -r from:=to, --params-file FILE, --log-level LEVEL"


class StartError(InertidError):
    """The node cannot start with this command line."""


def explain_start_error(text: str) -> str:
    """Return rcl's text without places in its sources, in one line, with what to do about it."""
    what = _NOTHING_SAID.sub("", _WHERE_IN_RCL.sub("", text)).removeprefix("failed to initialize rcl: ")
    remedy = next((remedy for key, remedy in _REMEDIES.items() if key in what), _OTHERWISE)
    return f"ROS arguments cannot be used: {' '.join(what.split())}. To do: {remedy}"


@contextmanager
def explain_missing_values() -> Iterator[None]:
    """Say in plain words that a parameter was given an empty list, or nothing at all, which rclpy cannot declare."""
    try:
        yield
    except ValueError as error:
        if "PARAMETER_NOT_SET" not in str(error):
            raise
        raise StartError(
            "a parameter in the command line or in a parameter file has no value, or an empty list, which ROS cannot "
            "tell from none: leave it out to get its default"
        ) from None
