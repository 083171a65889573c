"""Estimates as messages, made by hand so that every state can be tried."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from visualization_msgs.msg import Marker

from inertid_ros.core.diagnosis import Finding
from inertid_ros.core.load_chain import LoadEstimate
from inertid_ros.core.rigid_body.description import describe_body
from inertid_ros.core.rigid_body.inertial import compose
from inertid_ros.ros.diagnostics import describe_load, load_status
from inertid_ros.ros.markers import LONGEST_ARROW, MarkerPainter
from inertid_ros.ros.messages import (
    covariance_message,
    inertia_message,
    is_publishable,
    known_body,
    parameters_message,
    stamp_message,
)
from inertid_ros.text.numbers import format_estimate, format_parameter

PHI = compose(1.8, np.array([0.005, -0.01, 0.06]), np.diag([0.0244, 0.0007, 0.0242]))
STANDARD = np.array([1e-3] + [1e-4] * 3 + [2e-4] * 6)
ALL_KNOWN = ("known",) * 10


def make_estimate(**changes: Any) -> LoadEstimate:
    estimate = LoadEstimate(
        stamp=12_345_678_901,
        sensor_frame="ft_sensor",
        sign="on_load",
        parameters=PHI,
        covariance=np.diag(STANDARD**2),
        feasible=PHI,
        states=ALL_KNOWN,  # type: ignore[arg-type]
        bias=np.array([1.0, 2.0, 3.0, 0.1, 0.2, 0.3]),
        bias_covariance=np.diag([1e-4] * 3 + [1e-6] * 3),
        noise_density=np.full(6, 0.01),
        noise_calibrated=True,
        misfit=1.0,
        mode="free",
        findings=(),
        rows=100,
    )
    return replace(estimate, **changes)


def test_a_known_body_is_given_about_its_centre_of_mass() -> None:
    estimate = make_estimate()
    body = known_body(estimate)
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


def test_entries_that_are_not_known_are_zero() -> None:
    states = ("known",) * 4 + ("known", "known", "uncertain", "not excited yet", "known", "uncertain")
    estimate = make_estimate(states=states)
    body = known_body(estimate)
    assert body is not None
    inertia = inertia_message(estimate, body).inertia
    assert inertia.ixx == pytest.approx(0.0244)
    assert (inertia.ixz, inertia.iyy, inertia.izz) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize("index", range(4))
def test_no_body_is_given_before_mass_and_centre_are_known(index: int) -> None:
    states = ["known"] * 10
    states[index] = "uncertain"
    assert known_body(make_estimate(states=tuple(states))) is None


def test_nothing_carried_is_a_body_of_zeros() -> None:
    feasible = compose(1e-4, np.zeros(3), np.eye(3) * 1e-8)
    estimate = make_estimate(parameters=np.zeros(10), feasible=feasible)
    body = known_body(estimate)
    assert body is not None
    inertia = inertia_message(estimate, body).inertia
    assert (inertia.m, inertia.com.x, inertia.ixx, inertia.izz) == (0.0, 0.0, 0.0, 0.0)


def test_what_is_not_excited_has_no_number_and_no_correlation() -> None:
    covariance = np.diag(STANDARD**2)
    covariance[0, 4] = covariance[4, 0] = 0.5 * STANDARD[0] * STANDARD[4]
    covariance[0, 5] = covariance[5, 0] = 0.5 * STANDARD[0] * STANDARD[5]
    states = ("known",) * 4 + ("not excited yet",) + ("uncertain",) * 5
    estimate = make_estimate(covariance=covariance, states=states)
    message = parameters_message(estimate)
    assert message.data[4] == 0.0
    assert message.data[5] == PHI[5]
    assert message.layout.dim[1].label.split(", ") == list(states)
    published = np.array(covariance_message(estimate).data).reshape(10, 10)
    assert published[4, 4] == covariance[4, 4]
    assert published[0, 4] == published[4, 0] == 0.0
    assert published[0, 5] == covariance[0, 5]
    assert np.all(np.linalg.eigvalsh(published) > 0.0)


@pytest.mark.parametrize("field", ["parameters", "covariance", "feasible", "bias", "bias_covariance"])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_an_estimate_with_a_number_that_is_not_finite_is_stopped(field: str, value: float) -> None:
    estimate = make_estimate()
    assert is_publishable(estimate)
    broken = getattr(estimate, field).copy()
    broken.flat[-1] = value
    assert not is_publishable(replace(estimate, **{field: broken}))


def test_stamps_keep_every_nanosecond() -> None:
    stamp = stamp_message(1_794_800_244_117_123_457)
    assert stamp.sec * 10**9 + stamp.nanosec == 1_794_800_244_117_123_457


def paint(**changes: Any) -> dict[tuple[str, int], Marker]:
    values = {
        "stamp": 0,
        "body": describe_body(PHI, np.diag(STANDARD**2)),
        "inertia_known": True,
        "predicted": np.array([3.0, 0.0, 4.0, 0.0, 0.5, 0.0]),
        "residual": np.zeros(6),
        **changes,
    }
    painted = MarkerPainter("ft_sensor", 0.3).paint(**values)
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
    states = ("known",) * 4 + ("not excited yet",) + ("uncertain",) * 5
    estimate = make_estimate(states=states)
    status = load_status("inertid", estimate, known_body(estimate), 0.1)
    values = {item.key: item.value for item in status.values}
    assert values["m"] == "1.8000 ± 0.0020 kg (95 %), known"
    assert values["Ixx"] == "not excited yet"
    assert values["Iyy"].endswith(", uncertain")
    assert values["centre of mass z"].startswith("0.0600")
    assert "principal moment 1" not in values
    assert "turn the sensor" in status.message


def test_diagnostics_say_which_principal_axes_are_not_unique() -> None:
    estimate = make_estimate()
    values = {item.key: item.value for item in load_status("inertid", estimate, known_body(estimate), 0.1).values}
    assert "about (" in values["principal moment 1"]
    assert "not unique" in values["principal moment 2"]
    assert "not unique" in values["principal moment 3"]


def test_a_finding_decides_the_level_of_the_diagnostics() -> None:
    estimate = make_estimate(findings=(Finding("warning", "a", "first"), Finding("error", "b", "second")))
    status = load_status("inertid", estimate, known_body(estimate), 0.1)
    assert status.level == b"\x02"
    assert status.message == "second"
    assert describe_load(make_estimate()).startswith("mass 1.8000 ± 0.0020 kg (95 %)")
    assert load_status("inertid", None, None, 0.1).message == "no estimate yet"


def test_an_estimate_without_new_wrenches_is_stale() -> None:
    estimate = make_estimate()
    status = load_status("inertid", estimate, known_body(estimate), 7.25)
    assert status.level == b"\x01"
    assert status.message.startswith("stale, no wrench was used for 7.2 s; before that: mass 1.8000")
    assert load_status("inertid", estimate, known_body(estimate), 0.9).level == b"\x00"
    assert load_status("inertid", make_estimate(rows=0), None, 7.25).level == b"\x00"
    worse = make_estimate(findings=(Finding("error", "b", "second"),))
    assert load_status("inertid", worse, known_body(worse), 7.25).message == "second"


def test_numbers_have_the_digits_that_mean_something() -> None:
    assert format_estimate(1.23456, 0.0213, "kg") == "1.235 ± 0.042 kg"
    assert format_estimate(-123.456, 35.0) == "-123 ± 69"
    assert format_estimate(0.5, 0.0) == "0.500000 ± 0.000000"
    assert format_parameter(4, 0.02, 0.001, "uncertain") == "0.0200 ± 0.0020 kg m² (95 %), uncertain"
