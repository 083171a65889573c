"""What can be chosen by a parameter; a choice is written as its own name in parameter files, results and messages."""

from __future__ import annotations

from inertid_ros.core.records import Name


class Method(Name):
    """How rows are made; energy is for efforts alone."""

    FILTERED = "filtered"
    DIFFERENTIATED = "differentiated"
    INTEGRAL = "integral"
    ENERGY = "energy"


class Source(Name):
    """What is measured of an arm: the joints' efforts, the wrench under its base, or both."""

    EFFORT = "effort"
    BASE_WRENCH = "base_wrench"
    BOTH = "both"

    @property
    def has_efforts(self) -> bool:
        """Whether efforts are used."""
        return self is not Source.BASE_WRENCH

    @property
    def has_base_wrench(self) -> bool:
        """Whether a base sensor is used."""
        return self is not Source.EFFORT


class LoadSource(Name):
    """What a load is identified from: the wrench of a wrist sensor, or the joints' efforts."""

    WRENCH = "wrench"
    EFFORT = "effort"


class GravitySource(Name):
    """Where the direction of gravity in the root frame comes from: the parameter, or an IMU on the base."""

    PARAMETER = "parameter"
    IMU = "imu"


class SignChoice(Name):
    """Which wrench a wrist sensor's driver publishes, or that gravity is to decide."""

    AUTO = "auto"
    ON_LOAD = "on_load"
    ON_SENSOR = "on_sensor"


class BaseSign(Name):
    """Which wrench a base sensor's driver publishes."""

    ON_ROBOT = "on_robot"
    ON_GROUND = "on_ground"


class EffortUnit(Name):
    """Unit of the efforts in joint_states."""

    UNDECLARED = ""
    NEWTON_METRE = "newton_metre"
    AMPERE = "ampere"


class Reliability(Name):
    """QoS of what is sent at the rate of the input."""

    RELIABLE = "reliable"
    BEST_EFFORT = "best_effort"
