"""What is held, as messages: the answer with its probabilities, the grip with its covariance, a diagnostic status."""

from __future__ import annotations

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from geometry_msgs.msg import PoseWithCovarianceStamped
from scipy.spatial.transform import Rotation

from inertid_ros.core.records import FloatArray
from inertid_ros.objects.grip_check import GripState
from inertid_ros.objects.held import Held
from inertid_ros.objects.recognition import Answer
from inertid_ros.ros.messages import stamp_message

_FINE = (GripState.AS_EXPECTED, GripState.NOT_KNOWN)


def object_message(held: Held, frame: str) -> DiagnosticArray:
    """What is held as one status: its name is the object, or the answer where none is named."""
    status = object_status("", held)
    found = held.recognition
    status.name = found.name if found.answer is Answer.RECOGNISED else str(found.answer)
    status.hardware_id = frame
    message = DiagnosticArray(status=[status])
    message.header.frame_id = frame
    message.header.stamp = stamp_message(held.stamp)
    return message


def grip_message(held: Held, frame: str) -> PoseWithCovarianceStamped | None:
    """Where the frame of a recognised object is in the sensor's frame; None where none is.

    Of a turn that is not determined the variance is of the order of one.
    """
    found = held.recognition
    if found.answer is not Answer.RECOGNISED or found.grip is None:
        return None
    message = PoseWithCovarianceStamped()
    message.header.frame_id = frame
    message.header.stamp = stamp_message(held.stamp)
    pose = message.pose.pose
    pose.position.x, pose.position.y, pose.position.z = found.grip.pose[:3, 3].tolist()
    x, y, z, w = Rotation.from_matrix(found.grip.pose[:3, :3]).as_quat().tolist()
    pose.orientation.x, pose.orientation.y, pose.orientation.z, pose.orientation.w = x, y, z, w
    message.pose.covariance = found.grip.covariance.ravel().tolist()
    return message


def object_status(node: str, held: Held) -> DiagnosticStatus:
    """What is held and whether that is as expected, for /diagnostics: a warning where it is not."""
    found, check = held.recognition, held.check
    values = {"answer": str(found.answer)}
    values |= {f"probability of {name}": f"{share:.6f}" for name, share in found.probabilities.items()}
    if found.grip is not None:
        values |= {"position [m]": _write(found.grip.pose[:3, 3])}
        values |= {"position, standard deviations [m]": _write(np.sqrt(np.diag(found.grip.covariance)[:3]))}
        values |= {"orientation (x, y, z, w)": _write(Rotation.from_matrix(found.grip.pose[:3, :3]).as_quat())}
        values |= {
            "turn not determined about principal axes": " ".join(map(str, np.flatnonzero(found.grip.is_free) + 1))
        }
        for index, other in enumerate(found.grip.alternatives):
            turned = Rotation.from_matrix(other[:3, :3]).as_quat()
            values[f"as good {index + 1}, position, orientation"] = _write(np.concatenate((other[:3, 3], turned)))
    message = f"held: {found.message}"
    if check is not None:
        values |= {"grip": str(check.state), "probability of that": f"{check.probability:.6f}"}
        values |= {"offset [m, rad]": _write(check.offset)}
        message += f"; grip: {check.message}"
    is_fine = check is None or check.state in _FINE
    return DiagnosticStatus(
        level=DiagnosticStatus.OK if is_fine else DiagnosticStatus.WARN,
        name=f"{node}: object",
        message=message,
        hardware_id=node,
        values=[KeyValue(key=key, value=value) for key, value in values.items()],
    )


def _write(numbers: FloatArray) -> str:
    return " ".join(f"{number:.6g}" for number in numbers)
