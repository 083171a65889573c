"""Snippets are read back the way their receivers read them."""

from __future__ import annotations

import re

import numpy as np
import pinocchio as pin
import pytest

from inertid_ros.core.records import FloatArray
from inertid_ros.core.rigid_body.inertial import Tool, compose, decompose, from_pinocchio
from inertid_ros.files import vendor_snippets as paste

KNOWN = ("known",) * 10
STATIC = ("known",) * 4 + ("not excited yet",) * 6
ROTATION = pin.exp3(np.array([0.4, -0.9, 0.6]))
LOAD = compose(1.106, np.array([0.03, -0.02, 0.11]), ROTATION @ np.diag([0.0244, 0.0007, 0.0242]) @ ROTATION.T)
TOOL = compose(0.9, np.array([0.001, 0.002, 0.05]), np.diag([1e-3, 2e-3, 1.5e-3]))


def read_arguments(line: str) -> list[FloatArray]:
    """The numbers of a call: mass, centre of gravity and, if there, inertia."""
    matched = re.fullmatch(r"set_target_payload\((\S+), \[(.*?)\](?:, \[(.*?)\])?\)(  # .*)?\n", line)
    assert matched is not None, line
    return [np.array([float(number) for number in part.split(",")]) for part in matched.groups()[:3] if part]


def test_urdf_snippet_is_the_same_body_to_pinocchio() -> None:
    snippet = paste.write_urdf_inertial(LOAD, ())
    joint = '<joint name="j" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>'
    limit = '<limit lower="-1" upper="1" velocity="1" effort="1"/></joint>'
    model = pin.buildModelFromXML(
        f'<robot name="r"><link name="a"/><link name="b">{snippet}</link>{joint}{limit}</robot>'
    )
    np.testing.assert_allclose(from_pinocchio(model.inertias[1]), LOAD, rtol=1e-7, atol=1e-10)


def test_ur_takes_diagonal_first_and_about_the_centre_of_gravity() -> None:
    mass, cog, moments = read_arguments(paste.write_ur_payload(LOAD, ()))
    expected_mass, com, inertia = decompose(LOAD)
    assert mass[0] == pytest.approx(expected_mass, rel=1e-5)
    np.testing.assert_allclose(cog, com, rtol=1e-5)
    entries = [inertia[0, 0], inertia[1, 1], inertia[2, 2], inertia[0, 1], inertia[0, 2], inertia[1, 2]]
    np.testing.assert_allclose(moments, entries, rtol=1e-5)


def test_ur_does_without_inertia() -> None:
    line = paste.write_ur_payload(LOAD, ("inertia",))
    mass, cog = read_arguments(line)
    assert mass[0] == pytest.approx(1.106)
    np.testing.assert_allclose(cog, [0.03, -0.02, 0.11])
    assert "not known yet: inertia" in line


def test_franka_takes_columns_about_the_centre_of_mass() -> None:
    numbers = paste.list_franka_load(LOAD, ())
    assert isinstance(numbers, dict)
    assert list(numbers) == ["mass", "center_of_mass", "load_inertia"]
    mass, com, inertia = decompose(LOAD)
    assert numbers["mass"] == mass
    assert numbers["center_of_mass"] == com.tolist()
    np.testing.assert_array_equal(np.array(numbers["load_inertia"]).reshape(3, 3).T, inertia)


def test_only_a_ur_counts_the_tool() -> None:
    snippets = paste.make_snippets(LOAD, KNOWN, True, Tool(TOOL, 1e-10 * np.eye(10), "ft_sensor"))
    mass, cog, _ = read_arguments(snippets["ur_script"])
    assert mass[0] == pytest.approx(2.006)
    np.testing.assert_allclose(cog, (LOAD + TOOL)[1:4] / 2.006, rtol=1e-5)
    assert snippets["franka_set_load"]["mass"] == pytest.approx(1.106)
    assert '<mass value="1.106"/>' in snippets["urdf_inertial"]


def test_payload_of_an_infeasible_tool_is_feasible() -> None:
    thin = TOOL.copy()
    thin[4:] = 0.0
    for covariance in (np.diag([1e-8] * 4 + [1e6] * 6), np.zeros((10, 10))):
        snippets = paste.make_snippets(LOAD, KNOWN, True, Tool(thin, covariance, "ft_sensor"))
        _, _, moments = read_arguments(snippets["ur_script"])
        assert np.all(
            np.linalg.eigvalsh(np.array([[moments[i] for i in row] for row in ((0, 3, 4), (3, 1, 5), (4, 5, 2))])) > 0.0
        )


@pytest.mark.parametrize(
    ("states", "is_carried", "missing"),
    [
        (KNOWN, True, ()),
        (STATIC, True, ("inertia",)),
        (("known",) * 9 + ("uncertain",), True, ("inertia",)),
        (("known", "uncertain") + ("known",) * 8, True, ("centre of mass", "inertia")),
        (("uncertain",) + ("known",) * 9, True, ("mass", "centre of mass", "inertia")),
        (KNOWN, False, ("centre of mass", "inertia")),
    ],
)
def test_what_depends_on_something_unknown_is_unknown(
    states: tuple[str, ...], is_carried: bool, missing: tuple[str, ...]
) -> None:
    assert paste.find_missing(states, is_carried) == missing


def test_no_numbers_where_something_is_missing() -> None:
    snippets = paste.make_snippets(LOAD, ("uncertain",) * 10, True, None)
    assert set(snippets.values()) == {"not known yet: mass, centre of mass, inertia"}
    static = paste.make_snippets(LOAD, STATIC, True, None)
    assert static["urdf_inertial"] == static["franka_set_load"] == "not known yet: inertia"


def test_bare_tool_is_payload() -> None:
    nothing = compose(1e-4, np.zeros(3), 1e-9 * np.eye(3))
    snippets = paste.make_snippets(nothing, KNOWN, False, Tool(TOOL, 1e-10 * np.eye(10), "ft_sensor"))
    assert read_arguments(snippets["ur_script"])[0][0] == pytest.approx(0.9001)
    assert snippets["urdf_inertial"] == "not known yet: centre of mass, inertia"
