"""What is saved comes back to the last digit, as YAML and as JSON; what is broken is named; older files are read."""

from __future__ import annotations

import copy
import dataclasses
import json
import random
import resource
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from support.link_bags import BY_EFFORT

from inertid_ros.cli.main import main
from inertid_ros.core.chain import Chain, Target
from inertid_ros.core.diagnosis import Finding
from inertid_ros.core.errors import FileAccessError, FileFormatError, InertidError
from inertid_ros.core.estimation.estimate import Fit, LinksEstimate, LoadEstimate, Mode, Sign, WristSensor
from inertid_ros.core.estimation.states import ParameterState
from inertid_ros.core.records import FloatArray
from inertid_ros.core.rigid_body.feasibility import nearest_feasible
from inertid_ros.core.rigid_body.inertial import PARAMETER_NAMES, Tool, compose
from inertid_ros.core.robot.robot import Robot
from inertid_ros.core.settings.choices import Method
from inertid_ros.core.settings.settings import LoadSettings, Settings
from inertid_ros.core.verdict import judge
from inertid_ros.files.document import format_json, read_mapping
from inertid_ros.files.estimate import find_tool_file, read_arm, read_estimate, read_tool
from inertid_ros.files.estimate_writer import list_links, list_live, write_estimate
from inertid_ros.files.provenance import Provenance
from inertid_ros.files.share import share_path
from inertid_ros.sim.scenario import read_urdf
from inertid_ros.text.numbers import format_base_parameters, format_fits, parameter_units

DATA = Path(__file__).parent / "data"
"""Files of version 1, written by the code at commit 1c27e6a from simulated recordings."""
parse_yaml = partial(yaml.load, Loader=yaml.CSafeLoader)
GENERATOR = np.random.default_rng(1)
PROVENANCE = Provenance(
    urdf_sha256="0123456789abcdef" * 4,
    first_stamp=1_700_000_000_123_456_789,
    last_stamp=1_700_000_012_987_654_321,
    samples={"joint_states_received": 12345},
)
SETTINGS = Settings(load=LoadSettings(sensor_frame="ft_sensor", method=Method.INTEGRAL))


def make_covariance(size: int, scale: float) -> FloatArray:
    mixing = GENERATOR.normal(0.0, scale, (size, size))
    return np.asarray(mixing @ mixing.T)


COVARIANCE = make_covariance(10, 1e-5)
PHI = compose(1.106, GENERATOR.normal(0.0, 0.1, 3), np.diag([0.0244, 0.0007, 0.0242])) + GENERATOR.normal(0.0, 1e-5, 10)
TOOL = Tool(GENERATOR.normal(0.0, 1.0, 10), make_covariance(10, 1e-4), "ft_sensor")
SENSOR = WristSensor(
    sign=Sign.ON_SENSOR,
    bias=GENERATOR.normal(0.0, 3.0, 6),
    bias_covariance=make_covariance(6, 1e-2),
    noise_density=GENERATOR.uniform(0.0, 1.0, 6),
    noise_calibrated=True,
    variance_inflation=1.25,
    contact_share=0.125,
    doubt=1.375,
    nuisances=GENERATOR.normal(0.0, 0.01, 45),
    nuisance_deviations=GENERATOR.uniform(0.0, 0.01, 45),
)
LOAD = LoadEstimate(
    stamp=PROVENANCE.last_stamp,
    mode=Mode.TESTING,
    names=PARAMETER_NAMES,
    values=PHI,
    covariance=COVARIANCE,
    repeatability=0.25 * COVARIANCE,
    states=(ParameterState.KNOWN,) * 9 + (ParameterState.UNCERTAIN,),
    findings=(Finding("warning", "something", "in words"),),
    rows=321,
    fit=None,
    frame="ft_sensor",
    feasible=nearest_feasible(PHI, np.asarray(np.linalg.inv(COVARIANCE), dtype=float)),
    tool=TOOL,
    sensor=SENSOR,
)


def save(path: Path, load: LoadEstimate | None = LOAD, **entries: Any) -> Path:
    """A file as ~/save writes it."""
    write_estimate(path, list_live(SETTINGS, PROVENANCE, load=load, **entries))
    return path


@cache
def make_links(source: str = "both", coulomb: bool = True) -> LinksEstimate:
    """An estimate of the right shape with numbers out of the air."""
    joints = ["joint1", "joint2", "joint3"]
    settings = {"links.source": source, "links.effort_unit": "newton_metre", "links.joints": joints}
    flat = Settings.from_flat({**settings, "links.coulomb": coulomb})
    empty = Chain(Robot.from_urdf(read_urdf("ddarm")), flat, Target.LINKS).estimate()
    assert isinstance(empty, LinksEstimate)
    rng = np.random.default_rng(3)
    size, rms = empty.base.rank, np.arange(1.0, len(empty.model.channels) + 1.0)
    factor = rng.normal(size=(size, 2 * size))
    return dataclasses.replace(
        empty,
        values=rng.normal(size=size),
        covariance=factor @ factor.T,
        states=(tuple(ParameterState) * size)[:size],
        fit=Fit(empty.model.channels, empty.model.units, np.arange(len(rms)) * 10, 0.01 * rms, rms, None, 0.02 * rms),
    )


def save_links(path: Path, source: str = "both", coulomb: bool = True) -> tuple[LinksEstimate, FloatArray]:
    """Write an arm as ~/save does; its estimate and its full set."""
    estimate = make_links(source, coulomb)
    full = np.random.default_rng(4).normal(size=len(estimate.model.unknowns.names))
    save(path, None, links=list_links(estimate, full, SETTINGS, judge(estimate)))
    return estimate, full


def assert_same(left: Any, right: Any) -> None:
    """Equal to the last bit, through nested records and arrays."""
    if dataclasses.is_dataclass(left):
        assert type(left) is type(right)
        for item in dataclasses.fields(left):
            assert_same(getattr(left, item.name), getattr(right, item.name))
    else:
        np.testing.assert_array_equal(left, right)


def edit(path: Path, changes: dict[str, Any]) -> None:
    """Change entries of a file, by dotted names; ... deletes one."""
    content = parse_yaml(path.read_text(encoding="utf-8"))
    for name, value in changes.items():
        *parents, last = name.split(".")
        section = content
        for parent in parents:
            section = section[parent]
        if value is ...:
            del section[last]
        else:
            section[last] = value
    path.write_text(yaml.dump(content, Dumper=yaml.CSafeDumper), encoding="utf-8")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return save(tmp_path / "load.yaml")


@pytest.mark.parametrize("suffix", ["yaml", "json"])
def test_a_load_comes_back_to_the_last_digit(tmp_path: Path, suffix: str) -> None:
    saved = read_estimate(save(tmp_path / f"load.{suffix}"))
    assert_same(saved.need_load(), LOAD)
    assert_same(read_tool(tmp_path / f"load.{suffix}"), TOOL)
    assert (saved.settings, saved.urdf_sha256, saved.links) == (SETTINGS, PROVENANCE.urdf_sha256, None)


def test_a_load_by_efforts_has_no_sensor_and_the_method_of_the_links(tmp_path: Path) -> None:
    by_effort = dataclasses.replace(LOAD, sensor=None, tool=None)
    file = save(tmp_path / "load.yaml", by_effort)
    assert_same(read_estimate(file).need_load(), by_effort)
    load = parse_yaml(file.read_text())["load"]
    assert (load["source"], load["method"]) == ("effort", SETTINGS.links.method)
    assert not {"bias", "bias_covariance", "noise_density", "noise_calibrated", "wrench_sign", "misfit"} & set(load)


def test_a_tool_comes_back(tmp_path: Path) -> None:
    save(tmp_path / "tool.yaml", None, tool=TOOL)
    assert_same(read_tool(tmp_path / "tool.yaml"), TOOL)
    with pytest.raises(FileFormatError, match="has no load"):
        read_estimate(tmp_path / "tool.yaml").need_load()
    with pytest.raises(FileFormatError, match="has no links"):
        read_arm(tmp_path / "tool.yaml")


def test_an_estimate_without_a_tool_says_how_to_get_one(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="capture_tool"):
        read_tool(save(tmp_path / "load.yaml", dataclasses.replace(LOAD, tool=None)))


@pytest.mark.parametrize("source", ["effort", "base_wrench", "both"])
def test_an_arm_comes_back_to_the_last_digit(tmp_path: Path, source: str) -> None:
    estimate, full = save_links(tmp_path / "arm.yaml", source, coulomb=False)
    links, by_name = (
        read_estimate(tmp_path / "arm.yaml").need_links(),
        dict(zip(estimate.model.unknowns.names, full.tolist(), strict=True)),
    )
    assert_same(links.values, estimate.values)
    assert_same(links.covariance, estimate.covariance)
    assert (links.states, links.names, links.source) == (estimate.states, estimate.names, source)
    assert links.combinations == tuple(estimate.base.texts)
    assert list(links.bodies) == ["link1", "link2", "link3"]
    assert links.bodies["link2"][8] == by_name["link2.Iyz"]
    kinds = [] if source == "base_wrench" else ["viscous", "rotor_inertia", "offset"]
    assert [list(joint) for joint in links.joints.values()] == [kinds] * 3
    assert links.fit == pytest.approx(dict.fromkeys(estimate.model.channels, 0.01))
    assert list(links.noise.values()) == pytest.approx(0.02 * np.arange(1.0, len(links.noise) + 1.0))
    arm = read_arm(tmp_path / "arm.yaml")
    assert_same(arm.values, estimate.fitted)
    assert_same(arm.covariance, estimate.repeatability)
    content = parse_yaml((tmp_path / "arm.yaml").read_text())["links"]
    assert (content["base_offset"] is None) == (source == "effort")
    if source != "effort":
        assert content["base_offset"][5] == by_name["base.nz"]


def test_the_file_is_for_people_too(path: Path) -> None:
    text = path.read_text()
    assert text.startswith("# What inertid_ros has identified")
    assert "parameters: [1.10" in text
    assert "paste:" in text
    assert parse_yaml(text)["recordings"] == [PROVENANCE.list_samples()]


def test_people_find_the_body_with_its_uncertainty(tmp_path: Path) -> None:
    save(tmp_path / "load.yaml", dataclasses.replace(LOAD, states=(ParameterState.KNOWN,) * 10))
    load = parse_yaml((tmp_path / "load.yaml").read_text(encoding="utf-8"))["load"]
    assert load["mass"] == PHI[0]
    assert load["mass_std"] == pytest.approx(np.sqrt(COVARIANCE[0, 0]))
    assert load["com"] == (PHI[1:4] / PHI[0]).tolist()
    assert np.shape(load["inertia_std"]) == (3, 3)
    assert load["axes_unique"] == [True, True, True]


def test_what_is_not_known_is_no_number(path: Path) -> None:
    content = parse_yaml(path.read_text(encoding="utf-8"))
    assert content["load"]["com"] is not None
    assert content["load"]["inertia"] is None
    assert content["load"]["principal_moments_std"] is None
    assert content["paste"]["urdf_inertial"] == "not known yet: inertia"
    save(path, dataclasses.replace(LOAD, states=(ParameterState.NOT_EXCITED,) * 10))
    content = parse_yaml(path.read_text(encoding="utf-8"))
    assert content["load"]["mass"] is content["load"]["com"] is content["load"]["mass_std"] is None
    assert "not known yet" in content["paste"]["ur_script"]


def test_comments_explain_frames(path: Path) -> None:
    comments = " ".join(line[2:] for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("# "))
    assert "UR and Franka expect the frame of the flange" in comments


def test_failure_halfway_keeps_the_old_file(path: Path) -> None:
    before = path.read_bytes()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))  # as when the disk is full
    try:
        with pytest.raises(FileAccessError, match="File too large"):
            save(path, dataclasses.replace(LOAD, tool=None))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert path.read_bytes() == before
    assert [item.name for item in path.parent.iterdir()] == ["load.yaml"]


def test_unwritable_places_are_named(path: Path) -> None:
    for place in (path.parent / "missing" / "load.yaml", path / "load.yaml", path.parent):
        with pytest.raises(FileAccessError, match=r"cannot be written: .*; "):
            save(place)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileAccessError, match=r"nowhere.yaml' cannot be read: No such file"):
        read_estimate(tmp_path / "nowhere.yaml")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": "something else"}, "is not an estimate"),
        ({"format": ...}, "is not an estimate"),
        ({"version": 3}, "has version 3, this package reads 1 and 2"),
        ({"load.covariance": ...}, "load lacks 'covariance'"),
        ({"load.covariance": np.ones((9, 10)).tolist()}, r"'covariance' has the shape \(9, 10\), expected 10 x 10"),
        ({"load.covariance": [*np.ones((9, 10)).tolist(), [1.0]]}, "'covariance' has entries that are not numbers"),
        ({"load.covariance": (-np.eye(10)).tolist()}, "'covariance' is not a covariance"),
        ({"load.covariance": np.diag([1.0] * 9 + [-1e-12]).tolist()}, "'covariance' is not a covariance"),
        ({"load.covariance": np.triu(np.ones((10, 10))).tolist()}, "'covariance' is not a covariance"),
        ({"load.parameters": [1.0] * 9}, r"'parameters' has the shape \(9,\)"),
        ({"load.parameters": [float("nan")] * 10}, "'parameters' has numbers that are not finite"),
        ({"load.feasible": ["heavy"] * 10}, "'feasible' has entries that are not numbers"),
        ({"load.states": ["known"] * 9 + ["guessed"]}, "'states' has to be 10 of known"),
        ({"load.mode": "asleep"}, "'mode' is not one of waiting"),
        ({"load": [1, 2]}, "'load' is not a mapping"),
        ({"load.bias": [0.0] * 5}, r"'bias' has the shape \(5,\), expected 6"),
        ({"load.last_stamp": "early"}, "'last_stamp' is not a whole number"),
        ({"tool.sensor_frame": ...}, "tool lacks 'sensor_frame'"),
        ({"urdf_sha256": ...}, "lacks 'urdf_sha256'"),
    ],
)
def test_broken_content_is_named(path: Path, changes: dict[str, Any], message: str) -> None:
    edit(path, changes)
    with pytest.raises(FileFormatError, match=message):
        read_estimate(path)


@pytest.mark.parametrize(
    ("spoil", "named"),
    [
        (lambda links: links["parameters"]["link2"].pop("Ixy"), "Ixy"),
        (lambda links: links["base_parameters"]["values"].pop(), "values"),
        (lambda links: links["base_parameters"]["covariance"][0].__setitem__(0, -1.0), "covariance"),
        (lambda links: links["joints"]["joint1"].update(viscous="much"), "joint1"),
        (lambda links: links.pop("joint_names"), "joint_names"),
    ],
)
def test_what_is_broken_of_an_arm_is_named(tmp_path: Path, spoil: Callable[[Any], Any], named: str) -> None:
    path = tmp_path / "arm.yaml"
    save_links(path)
    content = parse_yaml(path.read_text(encoding="utf-8"))
    spoil(content["links"])
    path.write_text(yaml.dump(content, Dumper=yaml.CSafeDumper), encoding="utf-8")
    with pytest.raises(FileFormatError, match=named):
        read_estimate(path)


@pytest.mark.parametrize("content", [b"a: [1, 2", b"- 1\n- 2\n", b"", b"\x00", b"\xff\xfe\x00\x81"])
def test_what_is_no_mapping_is_refused(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises(FileFormatError, match=r"load\.yaml"):
        read_tool(path)


def test_a_load_of_version_1_is_read() -> None:
    old, replayed = (read_estimate(DATA / name) for name in ("load_1.yaml", "replay_load_1.json"))
    load, other = old.need_load(), replayed.need_load()
    assert old.tool is not None
    assert old.settings is None
    assert load.frame == other.frame == "ft_sensor"
    assert load.sensor is not None
    assert other.sensor is not None
    np.testing.assert_allclose(load.values + old.tool.phi, other.values, rtol=1e-12)
    np.testing.assert_array_equal(load.sensor.bias, other.sensor.bias)
    assert load.states == other.states == (ParameterState.KNOWN,) * 10
    assert load.sensor.sign is other.sensor.sign is Sign.ON_LOAD
    assert (load.mode, other.mode) == (Mode.WAITING, Mode.TRACKING)
    assert replayed.need_settings().load.sensor_frame == "ft_sensor"
    assert load.values[0] + old.tool.phi[0] == pytest.approx(1.8, abs=0.01)
    with pytest.raises(FileFormatError, match="version 1 and has no settings"):
        old.need_settings()


def test_a_tool_of_version_1_is_read() -> None:
    assert_same(read_tool(DATA / "tool_1.yaml"), read_tool(DATA / "load_1.yaml"))
    assert read_tool(DATA / "tool_1.yaml").sensor_frame == "ft_sensor"


def test_links_of_version_1_are_read() -> None:
    old, replayed = (read_estimate(DATA / name).need_links() for name in ("links_1.yaml", "replay_links_1.json"))
    assert (old.names, old.states, old.joint_names) == (replayed.names, replayed.states, replayed.joint_names)
    assert_same(old.values, replayed.values)
    assert_same(old.covariance, replayed.covariance)
    assert_same(list(old.bodies.values()), list(replayed.bodies.values()))
    assert old.joints == replayed.joints
    assert (old.urdf, old.fit) == (None, {})
    assert replayed.fit["joint1"] < replayed.urdf_fit["joint1"]
    robot = Robot.from_urdf(read_urdf("ddarm"))
    for links in (old, replayed):
        assert links.make_model(robot, BY_EFFORT).base.rank == len(links.values)
    assert_same(read_arm(DATA / "links_1.yaml"), read_arm(DATA / "replay_links_1.json"))


@pytest.mark.parametrize("name", ["load_1.yaml", "replay_load_1.json", "links_1.yaml", "replay_links_1.json"])
def test_commands_take_files_of_version_1(name: str, tmp_path: Path) -> None:
    assert main(["plot", str(DATA / name), "--png", str(tmp_path / "plot.png"), "--dpi", "30"]) == 0
    assert (tmp_path / "plot.png").stat().st_size > 1000
    if "links" in name:
        urdf = str(share_path("urdf", "ddarm.urdf"))
        assert main(["export-urdf", str(DATA / name), "--urdf", urdf, "-o", str(tmp_path / "new.urdf")]) == 0


def test_commands_take_what_a_node_saves(tmp_path: Path) -> None:
    """The estimate of a real replay, written as a node does, is as good as estimate.json."""
    replayed = read_estimate(DATA / "replay_links_1.json")
    content = json.loads((DATA / "replay_links_1.json").read_text())
    provenance = dataclasses.replace(PROVENANCE, urdf_sha256=replayed.urdf_sha256)
    links = {**content["links"], "mode": "tracking"}
    write_estimate(tmp_path / "arm.yaml", list_live(replayed.need_settings(), provenance, links=links))
    urdf = str(share_path("urdf", "ddarm.urdf"))
    written = []
    for file in (tmp_path / "arm.yaml", DATA / "replay_links_1.json"):
        output = tmp_path / f"{file.stem}.urdf"
        assert main(["export-urdf", str(file), "--urdf", urdf, "-o", str(output)]) == 0
        assert main(["plot", str(file), "--png", str(tmp_path / "plot.png"), "--dpi", "30"]) == 0
        written.append(output.read_bytes())
    assert written[0] == written[1]


def test_units_and_numbers_for_people() -> None:
    estimate = make_links()
    units = dict(zip(estimate.names, parameter_units(estimate.model), strict=True))
    assert units["link3.mcx"] == "kg m"
    assert units["joint1.viscous"] == "Nm s/rad"
    assert units["base.fx"] == "N"
    assert estimate.model.units[2:7] == ("N", "Nm", "Nm", "Nm", "Nm")
    assert format_fits(estimate)["joint1"] == "1 % of 7 Nm rms, 60 rows"
    texts = format_base_parameters(estimate)
    assert list(texts) == list(estimate.base.texts)
    first, _, third, *_ = texts.values()
    assert third == "not excited yet"
    assert first.endswith("(95 %), known")


@pytest.mark.parametrize("seed", range(10))
def test_a_damaged_estimate_is_read_or_refused_by_name(tmp_path: Path, seed: int) -> None:
    """Random entries are replaced by anything that JSON can hold."""
    content = dict(read_mapping(save(tmp_path / "whole.json")).content)
    content["recordings"][0]["inputs"] = [{"path": "bag", "sha256": ""}]
    content["topics"] = {"wrench": "/wrench"}
    choose = random.Random(seed)
    values: list[Any] = [
        None,
        True,
        -1,
        10**400,
        1e308,
        "x",
        "a\x1b[2J\nb",
        [],
        [[]],
        [1, "x"],
        {},
        {"x": {}},
        [{}],
        [None],
    ]
    for _ in range(100):
        spoilt = copy.deepcopy(content)
        _spoil(spoilt, choose, copy.deepcopy(choose.choice(values)))
        (tmp_path / "spoilt.json").write_text(format_json(spoilt), encoding="utf-8")
        try:
            found = read_estimate(tmp_path / "spoilt.json")
        except InertidError as error:
            assert str(error).isprintable()  # noqa: PT017 - either will do
        else:
            assert found.where


def _spoil(content: Any, choose: random.Random, value: Any) -> None:
    """Put a value in the place of something at random, at any depth."""
    keys = list(content) if isinstance(content, dict) else list(range(len(content)))
    key = choose.choice(keys)
    if isinstance(content[key], (dict, list)) and content[key] and choose.random() < 0.7:
        _spoil(content[key], choose, value)
    else:
        content[key] = value


def test_a_tool_by_name_is_where_it_was_captured_and_takes_precedence(tmp_path: Path) -> None:
    values = {"save_directory": str(tmp_path), "load.tool_file": "~/other.yaml"}
    assert find_tool_file(Settings()) is None
    assert find_tool_file(Settings.from_flat(values)) == Path("~/other.yaml")
    named = find_tool_file(Settings.from_flat({**values, "load.tool": "gripper"}))
    assert named == tmp_path / "inertid_tool_gripper.yaml"
