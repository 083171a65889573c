"""Estimates as messages, made by hand so that every state can be tried."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from rclpy.serialization import serialize_message
from scipy.spatial.transform import Rotation
from std_msgs.msg import Header
from support.malloc import read_malloc
from visualization_msgs.msg import Marker

from inertid_ros.core.diagnosis import Finding
from inertid_ros.core.estimation.estimate import LoadEstimate, Mode, Sign, WristSensor
from inertid_ros.core.estimation.states import ParameterState
from inertid_ros.core.rigid_body.description import describe_body
from inertid_ros.core.rigid_body.inertial import PARAMETER_NAMES, compose, is_feasible
from inertid_ros.core.rigid_body.picture import LONGEST_ARROW
from inertid_ros.ros.diagnostics import task_status
from inertid_ros.ros.markers import MarkerPainter
from inertid_ros.ros.messages import (
    covariance_message,
    inertia_message,
    parameters_message,
    stamp_message,
)
from inertid_ros.ros.monitor import TaskStatus
from inertid_ros.text.numbers import format_estimate, format_parameter

PHI = compose(1.8, np.array([0.005, -0.01, 0.06]), np.diag([0.0244, 0.0007, 0.0242]))
STANDARD = np.array([1e-3] + [1e-4] * 3 + [2e-4] * 6)
KNOWN, UNCERTAIN, NOT_EXCITED = ParameterState.KNOWN, ParameterState.UNCERTAIN, ParameterState.NOT_EXCITED
SENSOR = WristSensor(
    sign=Sign.ON_LOAD,
    bias=np.array([1.0, 2.0, 3.0, 0.1, 0.2, 0.3]),
    bias_covariance=np.diag([1e-4] * 3 + [1e-6] * 3),
    noise_density=np.full(6, 0.01),
    noise_calibrated=True,
    variance_inflation=1.0,
)


def make_estimate(**changes: Any) -> LoadEstimate:
    estimate = LoadEstimate(
        stamp=12_345_678_901,
        mode=Mode.TRACKING,
        names=PARAMETER_NAMES,
        values=PHI,
        covariance=np.diag(STANDARD**2),
        repeatability=np.diag(0.25 * STANDARD**2),
        states=(KNOWN,) * 10,
        findings=(),
        rows=100,
        fit=None,
        frame="ft_sensor",
        feasible=PHI,
        tool=None,
        sensor=SENSOR,
    )
    return replace(estimate, **changes)


def status_of(estimate: LoadEstimate | None, age: float = 0.1) -> Any:
    return task_status("inertid", TaskStatus("load", estimate, age))


def test_a_known_body_is_given_about_its_centre_of_mass() -> None:
    estimate = make_estimate()
    body = estimate.known_body
    assert body is not None
    message = inertia_message(estimate, body)
    assert message.header.frame_id == "ft_sensor"
    assert (message.header.stamp.sec, message.header.stamp.nanosec) == (12, 345_678_901)
    assert message.inertia.m == pytest.approx(1.8)
    assert [message.inertia.com.x, message.inertia.com.y, message.inertia.com.z] == pytest.approx([0.005, -0.01, 0.06])
    assert message.inertia.ixx == pytest.approx(0.0244)
    assert message.inertia.iyy == pytest.approx(0.0007)
    assert message.inertia.izz == pytest.approx(0.0242)
    assert message.inertia.ixy == pytest.approx(0.0, abs=1e-12)


def inertia_of(message: Any) -> list[float]:
    inertia = message.inertia
    return [inertia.ixx, inertia.ixy, inertia.ixz, inertia.iyy, inertia.iyz, inertia.izz]


@pytest.mark.parametrize("seed", range(20))
def test_the_inertia_is_that_of_a_body_or_all_zero(seed: int) -> None:
    """Whatever is known of single parameters: entries set to zero one by one would make no body."""
    rng = np.random.default_rng(seed)
    deviations = STANDARD * np.concatenate((np.ones(4), rng.uniform(0.1, 14.0, 6)))
    states = (KNOWN,) * 4 + tuple(rng.choice([KNOWN, UNCERTAIN, NOT_EXCITED], 6))
    body = compose(
        1.8, np.array([0.3, -0.2, 0.1]), np.array([[0.02, 0.004, 0.0], [0.004, 0.015, 0.003], [0.0, 0.003, 0.01]])
    )
    estimate = make_estimate(covariance=np.diag(deviations**2), states=states, feasible=body)
    known = estimate.known_body
    assert known is not None
    message = inertia_message(estimate, known)
    entries = inertia_of(message)
    assert message.inertia.m == pytest.approx(1.8)
    if any(entries):
        xx, xy, xz, yy, yz, zz = entries
        assert is_feasible(compose(1.8, np.zeros(3), np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])))
        assert entries == pytest.approx([0.02, 0.004, 0.0, 0.015, 0.003, 0.01])
    assert any(entries) == (known.inertia_std is not None and known.inertia_std.max() < 0.1 * 0.0221)


def test_the_inertia_is_judged_about_the_centre_of_mass() -> None:
    """Far from the origin the mass makes the inertia there: it is known, and the body's own is not."""
    body = compose(1.8, np.array([0.5, 0.0, 0.0]), np.diag([1e-3, 1e-3, 1e-3]))
    estimate = make_estimate(values=body, feasible=body, covariance=np.diag([1e-4] + [1e-5] * 3 + [5e-4] * 6) ** 2)
    known = estimate.known_body
    assert known is not None
    assert inertia_of(inertia_message(estimate, known)) == [0.0] * 6


@pytest.mark.parametrize("index", range(4))
def test_no_body_is_given_before_mass_and_centre_are_known(index: int) -> None:
    states = [KNOWN] * 10
    states[index] = UNCERTAIN
    assert make_estimate(states=tuple(states)).known_body is None


def test_nothing_carried_is_a_body_of_zeros() -> None:
    feasible = compose(1e-4, np.zeros(3), np.eye(3) * 1e-8)
    estimate = make_estimate(values=np.zeros(10), feasible=feasible)
    body = estimate.known_body
    assert body is not None
    inertia = inertia_message(estimate, body).inertia
    assert (inertia.m, inertia.com.x, inertia.ixx, inertia.izz) == (0.0, 0.0, 0.0, 0.0)


def test_what_is_not_excited_has_no_number_and_no_correlation() -> None:
    covariance = np.diag(STANDARD**2)
    covariance[0, 4] = covariance[4, 0] = 0.5 * STANDARD[0] * STANDARD[4]
    covariance[0, 5] = covariance[5, 0] = 0.5 * STANDARD[0] * STANDARD[5]
    states = (KNOWN,) * 4 + (NOT_EXCITED,) + (UNCERTAIN,) * 5
    estimate = make_estimate(covariance=covariance, states=states)
    message = parameters_message(estimate)
    assert message.data[4] == 0.0
    assert message.data[5] == PHI[5]
    assert message.layout.dim[1].label.split(", ") == list(states)
    published = np.array(covariance_message(estimate, estimate.covariance).data).reshape(10, 10)
    assert published[4, 4] == covariance[4, 4]
    assert published[0, 4] == published[4, 0] == 0.0
    assert published[0, 5] == covariance[0, 5]
    assert np.all(np.linalg.eigvalsh(published) > 0.0)


def test_stamps_keep_every_nanosecond() -> None:
    stamp = stamp_message(1_794_800_244_117_123_457)
    assert stamp.sec * 10**9 + stamp.nanosec == 1_794_800_244_117_123_457


def paint(**changes: Any) -> dict[tuple[str, int], Marker]:
    values = {
        "header": Header(frame_id="ft_sensor"),
        "lifetime": 0.3,
        "body": describe_body(PHI, np.diag(STANDARD**2)),
        "inertia_known": True,
        "predicted": np.array([3.0, 0.0, 4.0, 0.0, 0.5, 0.0]),
        "residual": np.zeros(6),
        **changes,
    }
    painted = MarkerPainter().paint(**values)
    assert all(marker.header.frame_id == "ft_sensor" for marker in painted.markers)
    return {(marker.ns, marker.id): marker for marker in painted.markers}


def test_the_ellipsoid_is_drawn_between_its_bounds_at_the_centre_of_mass() -> None:
    markers = paint()
    lower, middle, upper = (markers[name, 0].scale for name in ("inertia_lower", "inertia", "inertia_upper"))
    for axis in "xyz":
        assert getattr(lower, axis) < getattr(middle, axis) < getattr(upper, axis)
    position = markers["inertia", 0].pose.position
    assert [position.x, position.y, position.z] == pytest.approx([0.005, -0.01, 0.06])
    orientation = markers["inertia", 0].pose.orientation
    assert np.linalg.norm([orientation.x, orientation.y, orientation.z, orientation.w]) == pytest.approx(1.0)
    spread = markers["com", 1].scale
    assert spread.x == pytest.approx(4 * 1e-4 / 1.8, rel=0.01)
    assert markers["com", 0].lifetime.nanosec == 300_000_000


def test_the_ellipsoid_is_turned_into_the_principal_axes() -> None:
    body = describe_body(PHI, np.diag(STANDARD**2))
    assert body.principal_axes is not None
    orientation = paint()["inertia", 0].pose.orientation
    turned = Rotation.from_quat([orientation.x, orientation.y, orientation.z, orientation.w]).as_matrix()
    np.testing.assert_allclose(turned, body.principal_axes, atol=1e-12)


def test_markers_are_deleted_that_were_drawn_before() -> None:
    painter = MarkerPainter()
    body = describe_body(PHI, np.diag(STANDARD**2))
    drawn = painter.paint(Header(), 1.5, body, True, np.ones(6), np.ones(6)).markers
    assert {marker.action for marker in drawn} == {Marker.ADD}
    assert (drawn[0].lifetime.sec, drawn[0].lifetime.nanosec) == (1, 500_000_000)
    assert {marker.action for marker in painter.paint(Header(), 1.5, None, True, None, None).markers} == {Marker.DELETE}


def test_what_is_not_known_is_deleted() -> None:
    markers = paint(body=None)
    assert {name for (name, _), m in markers.items() if m.action == Marker.DELETE} >= {
        "com",
        "inertia",
        "inertia_upper",
    }
    markers = paint(inertia_known=False)
    assert markers["com", 0].action == Marker.ADD
    assert markers["inertia", 0].action == Marker.DELETE
    light = describe_body(1e-3 * PHI, np.diag(STANDARD**2))
    assert paint(body=light)["com", 0].action == Marker.DELETE


def test_arrows_are_as_long_as_the_wrench_is_large_up_to_a_limit() -> None:
    markers = paint()
    tip = markers["wrench_predicted", 0].points[1]
    assert [tip.x, tip.y, tip.z] == pytest.approx([0.03, 0.0, 0.04])
    assert markers["wrench_residual", 0].action == Marker.DELETE
    tip = paint(predicted=np.full(6, 1e4))["wrench_predicted", 1].points[1]
    assert np.linalg.norm([tip.x, tip.y, tip.z]) == pytest.approx(LONGEST_ARROW)
    assert paint(predicted=None)["wrench_predicted", 0].action == Marker.DELETE


def test_diagnostics_show_values_with_uncertainty_and_states() -> None:
    states = (KNOWN,) * 4 + (NOT_EXCITED,) + (UNCERTAIN,) * 5
    spread = np.diag((STANDARD * np.array([1.0] * 4 + [50.0] * 6)) ** 2)
    status = status_of(make_estimate(states=states, covariance=spread))
    values = {item.key: item.value for item in status.values}
    assert values["m"] == "1.8000 ± 0.0020 kg (95 %), known"
    assert values["Ixx"] == "not excited yet"
    assert values["Iyy"].endswith(", uncertain")
    assert values["centre of mass z"].startswith("0.0600")
    assert "principal moment 1" not in values
    assert status.message == "Known in part: mass and centre of mass are known, inertia is not known yet."
    assert "turn the sensor" in values["not_known"]


def test_diagnostics_say_which_principal_axes_are_not_unique() -> None:
    estimate = make_estimate()
    values = {item.key: item.value for item in status_of(estimate).values}
    assert "about (" in values["principal moment 1"]
    assert "not unique" in values["principal moment 2"]
    assert "not unique" in values["principal moment 3"]


def test_a_finding_decides_the_level_of_the_diagnostics() -> None:
    estimate = make_estimate(findings=(Finding("warning", "a", "first"), Finding("error", "b", "second")))
    status = status_of(estimate)
    assert status.level == b"\x02"
    assert status.message == "Do not use these numbers yet: second."
    assert status_of(make_estimate()).message == "Trustworthy: mass, centre of mass and inertia are known."
    assert status_of(None).message == "no estimate yet"


def test_an_estimate_without_new_wrenches_is_stale() -> None:
    estimate = make_estimate()
    status = status_of(estimate, 7.25)
    assert status.level == b"\x01"
    assert status.message.endswith("inertia are known; stale, no wrench was used for 7.2 s.")
    assert status_of(estimate, 0.9).level == b"\x00"
    assert status_of(make_estimate(rows=0), 7.25).level == b"\x00"
    worse = make_estimate(findings=(Finding("error", "b", "second"),))
    assert status_of(worse, 7.25).message == "Do not use these numbers yet: second."


def test_a_load_by_efforts_has_no_sensor_to_speak_of() -> None:
    """No bias, no noise, no sign and no wrench may be invented where there is no wrist sensor."""
    states = (KNOWN,) * 4 + (NOT_EXCITED,) * 6
    status = status_of(make_estimate(sensor=None, states=states), 7.25)
    texts = [status.message, *(f"{item.key} {item.value}" for item in status.values)]
    for word in ("bias", "noise", "standstill", "sign", "wrench", "sensor"):
        assert not [text for text in texts if word in text], word
    assert status.message.endswith("stale, no sample was used for 7.2 s.")
    assert "move all joints" in " ".join(texts)


def test_numbers_have_the_digits_that_mean_something() -> None:
    assert format_estimate(1.23456, 0.0213, "kg") == "1.235 ± 0.042 kg"
    assert format_estimate(-123.456, 35.0) == "-123 ± 69"
    assert format_estimate(0.5, 0.0) == "0.500000 ± 0.000000"
    assert format_parameter(4, 0.02, 0.001, "uncertain") == "0.0200 ± 0.0020 kg m² (95 %), uncertain"


def test_messages_leave_no_memory_behind() -> None:
    """Not in the libraries either that compose them: an hour has 36000 estimates."""
    estimate, painter = make_estimate(), MarkerPainter()
    body = estimate.known_body
    assert body is not None

    def compose_all() -> None:
        painted = painter.paint(Header(), 1.5, body, True, np.ones(6), np.ones(6))
        messages = parameters_message(estimate), covariance_message(estimate, estimate.covariance), painted
        for message in (*messages, inertia_message(estimate, body)):
            serialize_message(message)

    compose_all()
    before = read_malloc()
    for _ in range(500):
        compose_all()
    assert read_malloc() - before < 5e6 * 500 / 36_000, "bytes, of the 5 MB that a node may grow in an hour"
