"""The one source of the simulated driver's parameters: type, default, range, unit and meaning."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from inertid_ros.core.errors import SettingError
from inertid_ros.core.settings.settings import iterate_settings, setting
from inertid_ros.sim.sensors import PUMA_ENCODER_RESOLUTION


@dataclass(frozen=True, slots=True)
class ScenarioSettings:
    """All parameters of a simulated driver; the defaults are the PUMA of the 1986 paper, with its sensors."""

    robot: str = setting("puma560", "Shipped robot (puma560, ddarm) or path of a URDF.")
    links: str = setting(
        "urdf",
        "The true links: those of the URDF (urdf), or those that the 1986 paper estimated (paper, ddarm only). The "
        "robot description that is published is the URDF either way.",
        choices=("urdf", "paper"),
    )
    sensor_frame: str = setting("ft_sensor", "Frame of the URDF in which the wrench is measured and loads are given.")
    gravity: list[float] = setting([0.0, 0.0, -9.80665], "Gravity in the root frame of the URDF.", "m/s^2", length=3)
    motion: str = setting(
        "paper_move",
        "The move of the paper with this robot and a load, its three moves for the links (ddarm), sines in all joints, "
        "or none.",
        choices=("paper_move", "paper_link_moves", "multisine", "hold"),
    )
    rest: float = setting(2.0, "Standstill before the first move.", "s", 0.0, 1e6)
    pause: float = setting(0.5, "Standstill between two of the paper's moves.", "s", 0.0, 1e6)
    repeat: bool = setting(True, "Go back and forth (paper_move) or on (the others) for ever, rather than once.")
    multisine_period: float = setting(10.0, "Period of the slowest sine.", "s", 0.5, 1000.0)
    multisine_harmonics: int = setting(5, "Number of sines in each joint.", "", 1, 50)
    multisine_speed: float = setting(0.5, "Share of the URDF's velocity limits that is used.", "", 0.01, 1.0)
    multisine_acceleration: float = setting(5.0, "Largest acceleration of each joint.", "rad/s^2", 0.01, 1000.0)
    load: str = setting("bar", "Shipped load (bar, aluminium_block, gripper) or path of a load file, or none.")
    tool: str = setting("none", "What is always on the sensor, given like the load.")
    attach_at: float = setting(
        0.0, "When the load is attached, from the start. Negative: by service only.", "s", -1.0, 1e6
    )
    release_at: float = setting(-1.0, "When the load is released. Negative: by service only.", "s", -1.0, 1e6)
    joint_rate: float = setting(200.0, "Joint states a second.", "Hz", 1.0, 2000.0)
    wrench_rate: float = setting(200.0, "Wrenches a second.", "Hz", 1.0, 2000.0)
    encoder_resolution: float = setting(PUMA_ENCODER_RESOLUTION, "Step of the encoders. 0: none.", "rad", 0.0, 1.0)
    tachometer: bool = setting(False, "Whether velocities are measured; without, joint states have none.")
    velocity_noise: float = setting(0.01, "Standard deviation of measured velocities.", "rad/s", 0.0, 10.0)
    effort: bool = setting(False, "Whether efforts are measured; without, joint states have none.")
    effort_noise: list[float] = setting(
        [2.0], "Standard deviation of measured efforts, one for all joints or one for each.", "Nm"
    )
    effort_limit: list[float] = setting(
        [0.0], "Efforts beyond are measured as this, one for all joints or one for each. 0: none.", "Nm"
    )
    effort_delay: float = setting(0.0, "How much later than it acted the effort is stamped.", "s", -0.2, 0.2)
    viscous_friction: list[float] = setting(
        [0.0], "Effort against each unit of velocity, one for all joints or one for each.", "Nm s/rad"
    )
    coulomb_friction: list[float] = setting(
        [0.0], "Effort against the direction of motion, one for all joints or one for each.", "Nm"
    )
    rotor_inertia: list[float] = setting(
        [0.0], "Inertia of the motors at the joints, one for all joints or one for each.", "kg m^2"
    )
    effort_offset: list[float] = setting(
        [0.0], "Effort that is always there, one for all joints or one for each.", "Nm"
    )
    force_noise: float = setting(0.1, "Standard deviation of each force.", "N", 0.0, 1000.0)
    torque_noise: float = setting(0.005, "Standard deviation of each moment.", "Nm", 0.0, 1000.0)
    bias: list[float] = setting(
        [2.0, -1.5, 2.5, 0.1, -0.2, 0.15], "What the sensor reads without a load.", "N, Nm", length=6
    )
    force_drift: float = setting(0.0, "Random walk of the force bias.", "N/sqrt(s)", 0.0, 100.0)
    torque_drift: float = setting(0.0, "Random walk of the moment bias.", "Nm/sqrt(s)", 0.0, 100.0)
    vibration_force: float = setting(0.3, "Amplitude of a vibration in each force.", "N", 0.0, 1000.0)
    vibration_torque: float = setting(0.01, "Amplitude of a vibration in each moment.", "Nm", 0.0, 1000.0)
    vibration_frequency: float = setting(30.0, "Frequency of the vibration.", "Hz", 0.1, 1000.0)
    stamp_jitter: float = setting(
        0.0,
        "How much before or after their turn samples are taken; below half a period. Stamps are true.",
        "s",
        0.0,
        0.5,
    )
    wrench_delay: float = setting(0.0, "How much later than it acted the wrench is stamped.", "s", -0.2, 0.2)
    sign: str = setting(
        "on_load",
        "Whether the wrench on the load or the one on the sensor is measured.",
        choices=("on_load", "on_sensor"),
    )
    seed: int = setting(0, "Seed of all noise, and of the multisine.", "", 0, 2**31 - 1)

    @classmethod
    def from_flat(cls, values: Mapping[str, Any]) -> ScenarioSettings:
        """Build checked settings from names and values; what is not named keeps its default."""
        known = {info.name: info for info in iterate_settings(cls)}
        for name in values:
            if name not in known:
                raise SettingError(name, values[name], "one of the parameters: " + ", ".join(known))
        return cls(**{name: known[name].check(value) for name, value in values.items()})
