"""The bare gripper: identified once, then subtracted from what the sensor carries."""

from __future__ import annotations

from dataclasses import dataclass

from inertid_ros.core.records import FloatArray


@dataclass(frozen=True, slots=True)
class Tool:
    """What hangs on the sensor when nothing is gripped.

    Attributes:
        phi: (10,) parameters in the sensor frame.
        covariance: (10, 10) of them.
        sensor_frame: the frame they are given in.
    """

    phi: FloatArray
    covariance: FloatArray
    sensor_frame: str


def subtract(phi: FloatArray, covariance: FloatArray, tool: Tool) -> tuple[FloatArray, FloatArray]:
    """Return parameters (10,) and covariance (10, 10) of the load alone.

    Parameters about the same origin add up, so phi_load = phi − phi_tool. The two were identified from different data,
    so their covariances add up as well.
    """
    return phi - tool.phi, covariance + tool.covariance
