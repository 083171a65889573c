"""All that can be unknown of an arm: its links' inertial parameters, its drives' friction, its sensors' offsets.

The standard parameters are [10 inertial parameters of each link | viscous friction | Coulomb friction | rotor inertia |
effort offset, one of each for each joint | offset of the base sensor (6)], where what is switched off or not measured
is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from inertid_ros.core.equations.equation import WRENCH_NAMES
from inertid_ros.core.robot.robot import ArmModel
from inertid_ros.core.settings.choices import Source


@dataclass(frozen=True, slots=True)
class LinkUnknowns:
    """Names of the standard parameters, and which part of them is what; a part that is left out is an empty slice."""

    names: tuple[str, ...]
    inertial: slice
    viscous: slice
    coulomb: slice
    rotor_inertia: slice
    offset: slice
    base_offset: slice

    @classmethod
    def of(
        cls,
        arm: ArmModel,
        source: Source,
        viscous: bool = True,
        coulomb: bool = True,
        rotor_inertia: bool = True,
        offset: bool = True,
        base_offset: bool = True,
    ) -> LinkUnknowns:
        """List the unknowns of an arm; friction, rotors and effort offsets only show in efforts."""
        names = list(arm.parameter_names)
        parts = [slice(0, len(names))]
        drives = {"viscous": viscous, "coulomb": coulomb, "rotor_inertia": rotor_inertia, "offset": offset}
        for kind, wanted in drives.items():
            start = len(names)
            if wanted and source.has_efforts:
                names += [f"{joint}.{kind}" for joint in arm.joint_names]
            parts.append(slice(start, len(names)))
        start = len(names)
        if base_offset and source.has_base_wrench:
            names += [f"base.{name}" for name in WRENCH_NAMES]
        inertial, viscous_part, coulomb_part, rotor_part, offset_part = parts
        base_part = slice(start, len(names))
        return cls(tuple(names), inertial, viscous_part, coulomb_part, rotor_part, offset_part, base_part)


def channel_names(arm: ArmModel, source: Source) -> tuple[str, ...]:
    """What is measured: the base wrench (6), the efforts (n), or both in this order."""
    base = tuple(f"base.{name}" for name in WRENCH_NAMES)
    return (base if source.has_base_wrench else ()) + (arm.joint_names if source.has_efforts else ())


def group_channels(names: Sequence[str], units: Sequence[str]) -> dict[str, list[int]]:
    """Channels that can be added up: wrist or base force and moment, torques of joints, forces of prismatic joints."""
    groups: dict[str, list[int]] = {}
    for index, (name, unit) in enumerate(zip(names, units, strict=True)):
        kinds = ("base_force", "base_torque") if name.startswith("base.") else ("effort_force", "effort")
        kind = ("force", "torque") if name in WRENCH_NAMES else kinds
        groups.setdefault(kind[unit == "Nm"], []).append(index)
    return groups
