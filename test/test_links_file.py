"""A saved arm comes back to the last digit; what is broken is named."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from inertid_ros.core.errors import FileAccessError, FileFormatError
from inertid_ros.core.estimation.link_records import LinkEstimate
from inertid_ros.core.estimation.parameter_state import ParameterState
from inertid_ros.core.link_chain import LinkChain
from inertid_ros.core.robot.robot import Robot
from inertid_ros.core.settings.settings import LinksSettings, Settings
from inertid_ros.files.links_estimate import LinksProvenance, SavedLinks, collect_links, read_links, write_links
from inertid_ros.sim.scenario import read_urdf
from inertid_ros.text.parameters import channel_units, format_base_parameters, format_fits, parameter_units

JOINTS = ["joint1", "joint2", "joint3"]
PROVENANCE = LinksProvenance("ab" * 32, "base_link", (0.1, 0.0, -9.8), 5, 7_000_000_000, 1000, 999)


def make_estimate(source: str = "both", coulomb: bool = True) -> LinkEstimate:
    """An estimate of the right shape with numbers out of the air."""
    settings = {"links.source": source, "links.effort_unit": "newton_metre", "links.joints": JOINTS}
    chain = LinkChain(Robot.from_urdf(read_urdf("ddarm")), Settings.from_flat({**settings, "links.coulomb": coulomb}))
    empty = chain.estimate()
    assert empty is not None
    rng = np.random.default_rng(3)
    size, rms = empty.base.rank, np.arange(1.0, len(empty.model.channels) + 1.0)
    factor = rng.normal(size=(size, 2 * size))
    states: tuple[ParameterState, ...] = ("known", "uncertain", "not excited yet")
    return dataclasses.replace(
        empty,
        values=rng.normal(size=size),
        covariance=factor @ factor.T,
        states=(states * size)[:size],
        residual_rms=0.01 * rms,
        measured_rms=rms,
        rows=np.arange(len(rms)) * 10,
    )


def make_saved(source: str = "both", coulomb: bool = True) -> SavedLinks:
    estimate = make_estimate(source, coulomb)
    full = np.random.default_rng(4).normal(size=len(estimate.model.unknowns.names))
    settings = LinksSettings(source=source, effort_unit="newton_metre", coulomb=coulomb)
    return collect_links(PROVENANCE, settings, estimate, full)


@pytest.mark.parametrize("source", ["effort", "base_wrench", "both"])
def test_an_arm_comes_back_to_the_last_digit(tmp_path: Path, source: str) -> None:
    saved = make_saved(source, coulomb=False)
    write_links(tmp_path / "arm.yaml", saved)
    again = read_links(tmp_path / "arm.yaml")
    for field in dataclasses.fields(SavedLinks):
        np.testing.assert_equal(getattr(again, field.name), getattr(saved, field.name), field.name)
    assert list(saved.parameters) == ["link1", "link2", "link3"]
    kinds = [] if source == "base_wrench" else ["viscous", "rotor_inertia", "offset"]
    assert [list(joint) for joint in again.joints.values()] == [kinds] * 3
    assert (again.base_offset is None) == (source == "effort")
    assert again.effort_unit == ("" if source == "base_wrench" else "newton_metre")


def test_values_stand_under_their_own_names() -> None:
    estimate = make_estimate()
    full = np.arange(float(len(estimate.model.unknowns.names)))
    saved = collect_links(PROVENANCE, LinksSettings(source="both"), estimate, full)
    by_name = dict(zip(estimate.model.unknowns.names, full.tolist(), strict=True))
    assert saved.parameters["link2"]["Iyz"] == by_name["link2.Iyz"]
    assert saved.joints["joint3"]["rotor_inertia"] == by_name["joint3.rotor_inertia"]
    assert saved.base_offset is not None
    assert saved.base_offset[5] == by_name["base.nz"]
    assert saved.combinations[0].startswith(saved.names[0])


@pytest.mark.parametrize(
    ("spoil", "named"),
    [
        (lambda content: content.pop("links"), "lacks 'links'"),
        (lambda content: content.update(format="something"), "format"),
        (lambda content: content["links"]["parameters"]["link2"].pop("Ixy"), "Ixy"),
        (lambda content: content["links"]["base_parameters"]["values"].pop(), "values"),
        (lambda content: content["links"]["base_parameters"]["covariance"][0].__setitem__(0, -1.0), "covariance"),
        (lambda content: content["links"]["joints"]["joint1"].update(viscous="much"), "joint1"),
    ],
)
def test_what_is_broken_is_named(tmp_path: Path, spoil: Any, named: str) -> None:
    path = tmp_path / "arm.yaml"
    write_links(path, make_saved())
    content = yaml.safe_load(path.read_text(encoding="utf-8"))
    spoil(content)
    path.write_text(yaml.safe_dump(content), encoding="utf-8")
    with pytest.raises(FileFormatError, match=named):
        read_links(path)


def test_a_place_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileAccessError, match="nowhere"):
        write_links(tmp_path / "nowhere" / "arm.yaml", make_saved())


def test_units_and_numbers_for_people() -> None:
    estimate = make_estimate()
    units = dict(
        zip((estimate.base.names[c] for c in estimate.base.columns), parameter_units(estimate.model), strict=True)
    )
    assert units["link3.mcx"] == "kg m"
    assert units["joint1.viscous"] == "Nm s/rad"
    assert units["base.fx"] == "N"
    assert channel_units(estimate.model)[2:7] == ("N", "Nm", "Nm", "Nm", "Nm")
    assert format_fits(estimate)["joint1"] == "1 % of 7 Nm rms, 60 rows"
    texts = format_base_parameters(estimate)
    assert list(texts) == list(estimate.base.texts)
    first, _, third, *_ = texts.values()
    assert third == "not excited yet"
    assert first.endswith("(95 %), known")
