"""What `inertid excite` has to do for a target: whose joints move, what counts, and what is shown of it."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from rich.console import RenderableType

from inertid_ros.core.errors import SettingError
from inertid_ros.motions.design.load_information import WrenchNoise
from inertid_ros.motions.design.motion_information import MotionInformation
from inertid_ros.motions.design.motion_limits import MotionLimits
from inertid_ros.motions.design.reference import Reference
from inertid_ros.motions.windowed_sines import WindowedSines


@dataclass(frozen=True, slots=True)
class ExciteTask:
    """A target that is ready to be searched for.

    Attributes:
        joint_names: that move.
        information: that motions bring.
        limits: that they hold.
        reference: what the result is compared with.
        describe: what to show of the result beside the reference.
    """

    joint_names: tuple[str, ...]
    information: MotionInformation
    limits: MotionLimits
    reference: Reference
    describe: Callable[[WindowedSines], Sequence[RenderableType]]


def get_wrench_noise(options: argparse.Namespace, usual: WrenchNoise) -> WrenchNoise:
    """The noise that the options name, else the usual one."""
    given = {"force": options.force_noise, "torque": options.torque_noise}
    for name, density in given.items():
        if density is not None:
            check_density(f"--{name}-noise", density)
    return usual._replace(**{name: density for name, density in given.items() if density is not None})


def check_density(name: str, density: float) -> None:
    """Refuse what is no density of a noise."""
    if not 0.0 < density < np.inf:
        raise SettingError(name, density, "a density above 0")


def refuse(options: argparse.Namespace, names: Sequence[str], target: str) -> None:
    """Refuse options that mean nothing for this target."""
    for name in names:
        value = getattr(options, name)
        if value is not None:
            raise SettingError(f"--{name.replace('_', '-')}", value, f"no such option with --target {target}")
