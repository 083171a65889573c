"""An identified arm as a URDF: what changes, what does not, and that it is the arm that was identified."""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pinocchio as pin
import pytest
from support.bags import find_storage, text_message, write_bag
from support.recordings import recording

from inertid_ros.bags.bag import Topics
from inertid_ros.cli.main import main
from inertid_ros.core.errors import FileFormatError, NotIdentifiedError, RobotDescriptionError
from inertid_ros.core.records import FloatArray
from inertid_ros.core.rigid_body.feasible_links import make_plausible
from inertid_ros.core.rigid_body.inertial import PARAMETER_NAMES, compose, decompose, from_pinocchio, is_feasible
from inertid_ros.core.robot.robot import ArmModel, Robot
from inertid_ros.core.settings.settings import Settings
from inertid_ros.files import urdf_inertials as module
from inertid_ros.files.estimate import FORMAT, VERSION, read_estimate
from inertid_ros.files.parameters import list_settings
from inertid_ros.files.provenance import hash_urdf
from inertid_ros.files.urdf_inertials import Drives, export_urdf, read_inertial

ROOT = Path(__file__).parents[2]
GRAVITY = np.array([0.0, 0.0, -9.81])
ALLOWED = re.compile(r"<inertial\b[^>]*?/>|<inertial\b.*?</inertial\s*>|<dynamics\b[^>]*?/>", re.DOTALL)


def strip(text: str) -> str:
    """All that must not change."""
    return ALLOWED.sub("", text)


def make_body(generator: np.random.Generator, mass: float, box: FloatArray) -> FloatArray:
    """An ellipsoid in a box (2, 3)."""
    ellipsoid = pin.Inertia.FromEllipsoid(mass, *np.minimum(generator.uniform(0.12, 0.3, 3), max(box[1].min(), 0.13)))
    place = pin.SE3(pin.exp3(generator.normal(0.0, 1.0, 3)), box[0] + 0.3 * box[1] * generator.uniform(-1.0, 1.0, 3))
    return from_pinocchio(place.act(ellipsoid))


def take_arm(text: str, joints: tuple[str, ...] = ()) -> ArmModel:
    return ArmModel.of(Robot.from_urdf(text), GRAVITY, joints)


def identify(arm: ArmModel, seed: int) -> tuple[dict[str, FloatArray], Drives]:
    """Random bodies and friction for an arm."""
    generator = np.random.default_rng(seed)
    bodies = {
        link: make_body(generator, generator.uniform(20.0, 30.0), box)
        for link, box in zip(arm.link_names, arm.boxes, strict=True)
    }
    joints = {
        joint: dict(zip(("viscous", "coulomb"), generator.uniform(0.1, 2.0, 2).tolist(), strict=True))
        for joint in arm.joint_names
    }
    return bodies, joints


def check_bodies(text: str, bodies: dict[str, FloatArray], joints: Drives) -> None:
    """The URDF must hold what was identified, and every link of it must be a possible body."""
    arm = take_arm(text, tuple(joints))
    expected = np.concatenate([bodies[link] for link in arm.link_names])
    np.testing.assert_allclose(arm.parameters, expected, rtol=1e-9, atol=1e-11)
    root = ElementTree.fromstring(text)
    for link in root.findall("link"):
        inertial = link.find("inertial")
        if inertial is not None and link.get("name") in bodies:
            assert is_feasible(read_inertial(inertial))
    for joint in root.findall("joint"):
        dynamics = joints.get(joint.get("name", ""))
        if dynamics is not None and "viscous" in dynamics:
            written = joint.find("dynamics")
            assert written is not None
            assert float(written.get("damping", "")) == dynamics["viscous"]
            assert float(written.get("friction", "")) == dynamics["coulomb"]


@pytest.mark.parametrize("name", ["puma560", "ddarm"])
def test_shipped_arms_change_in_inertial_and_dynamics_only(name: str) -> None:
    text = (ROOT / "urdf" / f"{name}.urdf").read_text()
    bodies, joints = identify(take_arm(text), seed=1)
    exported = export_urdf(text, bodies, joints)
    assert strip(exported.text) == strip(text)
    assert exported.notes == ()
    check_bodies(exported.text, bodies, joints)


def test_what_is_at_a_bound_is_named() -> None:
    text = (ROOT / "urdf" / "puma560.urdf").read_text()
    bodies, joints = identify(take_arm(text), seed=1)
    thin, far = list(bodies)[1], list(bodies)[3]
    bodies[thin] = make_plausible(compose(3.0, np.zeros(3), 1e-6 * np.eye(3)))
    bodies[far] = compose(0.8, np.array([0.0, 0.0, 0.7]), 0.01 * np.eye(3))
    notes = export_urdf(text, bodies, joints).notes
    assert len(notes) == 2
    assert notes[0].startswith(f"{thin} is at the bound of what is physically consistent")
    assert notes[1].startswith(f"{far} is at the bound of where it can be, from (")
    assert "its centre of mass 0.70 m from its joint" in notes[1]


def test_panda_with_locked_fingers() -> None:
    """The hand is fixed to link 7 and the fingers are not identified: they keep their masses."""
    text = (recording("panda_exciting") / "robot.urdf").read_text()
    wanted = tuple(f"panda_joint{number}" for number in range(1, 8))
    bodies, joints = identify(take_arm(text, wanted), seed=2)
    exported = export_urdf(text, bodies, joints)
    assert strip(exported.text) == strip(text)
    check_bodies(exported.text, bodies, joints)
    assert 'D="1" K="7000"' in exported.text
    for name in ("panda_hand", "panda_leftfinger"):
        before, after = (
            re.search(rf'<link name="{name}">.*?</link>', item, re.DOTALL) for item in (text, exported.text)
        )
        assert before is not None
        assert after is not None
        assert before[0] == after[0]


def make_tree(seed: int, child_mass: float) -> str:
    """Three joints, each moving a link with two more fixed to it, one behind the other."""
    generator = np.random.default_rng(seed)

    def pose() -> str:
        xyz, rpy = (" ".join(map(repr, generator.uniform(-size, size, 3).tolist())) for size in (0.3, 3.0))
        return f'<origin xyz="{xyz}" rpy="{rpy}"/>'

    def inertial(mass: float) -> str:
        moments = mass * np.array([0.02, 0.03, 0.04])
        numbers = " ".join(
            f'{name}="{value!r}"' for name, value in zip(("ixx", "iyy", "izz"), moments.tolist(), strict=True)
        )
        return f'<inertial>{pose()}<mass value="{mass}"/><inertia {numbers} ixy="0" ixz="0" iyz="0"/></inertial>'

    parts, parent = ['<robot name="tree">', '<link name="base"/>'], "base"
    for number in range(3):
        names = [f"link{number}", f"tool{number}", f"tip{number}"]
        parts += [f'<link name="{name}">{inertial(3.0 if name[0] == "l" else child_mass)}</link>' for name in names]
        for child, kind in zip(names, ("continuous", "fixed", "fixed"), strict=True):
            parts.append(
                f'<joint name="to_{child}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>{pose()}'
                '<axis xyz="0 0 1"/></joint>'
            )
            parent = child
    return "\n".join([*parts, "</robot>"])


@pytest.mark.parametrize("seed", range(4))
def test_what_is_fixed_to_a_link_keeps_its_mass_where_it_can(seed: int) -> None:
    text = make_tree(seed, child_mass=0.005)
    bodies, joints = identify(take_arm(text), seed)
    exported = export_urdf(text, bodies, joints)
    assert exported.notes == ()
    assert exported.text.count('<mass value="0.005"/>') == 6
    check_bodies(exported.text, bodies, joints)


@pytest.mark.parametrize("seed", range(4))
def test_what_is_too_heavy_for_the_identified_link_is_made_lighter(seed: int) -> None:
    text = make_tree(seed, child_mass=40.0)
    bodies, joints = identify(take_arm(text), seed)
    exported = export_urdf(text, bodies, joints)
    assert len(exported.notes) == 3
    assert "link0 is too light for tool0, tip0" in exported.notes[0]
    assert strip(exported.text) == strip(text)
    check_bodies(exported.text, bodies, joints)
    for link in ElementTree.fromstring(exported.text).findall("link")[1:]:
        inertial = link.find("inertial")
        assert inertial is not None
        assert is_feasible(read_inertial(inertial))


ODD = """<?xml version='1.0' encoding="ISO-8859-1"?>\r
<!-- Gelenkarm, übrig: <inertial/> -->\r
<robot name="odd" xmlns:xacro="http://www.ros.org/wiki/xacro">\r
  <xacro:left over='"'/>\r
  <link name="base"/>\r
  <link name='one' />\r
\t<link name="two"  ><visual><geometry><box size="1 1 1"/></geometry></visual>\r
  </link   >\r
  <link name="three">\r
    <inertial><!-- ü <mass value="9"/> -->\r
      <inertia\r
        izz = '1' iyy="1"\tixx="1" ixy="0" ixz="0" iyz="0" note="a > b"></inertia>\r
      <mass value = "1"/>\r
    </inertial>\r
  </link>\r
  <joint name="j1" type="continuous"><parent link="base"/><child link="one"/><axis xyz="0 1 0"/></joint>\r
  <joint type="revolute" name="j2">\r
    <parent link="one"/><child link="two"/>\r
    <dynamics\tfriction = '3' mu=" damping='7'" />\r
    <axis xyz="1 0 0"/><limit lower="-1" upper="1" effort="1" velocity="1"/>\r
  </joint>\r
  <joint name="j3" type="prismatic"><parent link="two"/><child link="three"/><axis xyz="0 0 1"/>\r
    <limit lower="-1" upper="1" effort="1" velocity="1"/><!-- end --></joint>\r
  <transmission name="t"><joint name="j1"><dynamics kept="1"/></joint></transmission>\r
</robot>\r
<!-- after the end -->\r
"""


def test_odd_text_survives() -> None:
    bodies, joints = identify(take_arm(ODD), seed=3)
    exported = export_urdf(ODD, bodies, joints).text
    check_bodies(exported, bodies, joints)
    opened = ODD.replace("<link name='one' />", "<link name='one' ></link>")
    assert strip(exported) == strip(opened)
    assert exported.count("\n") == exported.count("\r\n") == ODD.count("\r\n")
    for kept in ('<!-- ü <mass value="9"/> -->', 'note="a > b"></inertia>', "mu=\" damping='7'\"", 'kept="1"'):
        assert kept in exported


def test_friction_that_was_not_identified_stays() -> None:
    bodies, _ = identify(take_arm(ODD), seed=3)
    exported = export_urdf(ODD, bodies, {"j1": {}, "j2": {"viscous": 2.5}, "j3": {}})
    assert re.findall(r"<dynamics[^>]*>", exported.text) == [
        "<dynamics\tfriction = '3' mu=\" damping='7'\"  damping=\"2.5\"/>",
        '<dynamics kept="1"/>',
    ]


def test_other_arms_are_refused() -> None:
    text = (ROOT / "urdf" / "ddarm.urdf").read_text()
    bodies, joints = identify(take_arm(text), seed=4)
    with pytest.raises(RobotDescriptionError, match=r"link1, link2, link3.* contains arm1"):
        export_urdf(text, {"arm1": bodies["link1"]}, joints)
    with pytest.raises(RobotDescriptionError, match="'elbow' is not in the robot description"):
        export_urdf(text, bodies, {"elbow": {}})


def test_what_is_not_physical_is_not_written() -> None:
    text = (ROOT / "urdf" / "ddarm.urdf").read_text()
    bodies, joints = identify(take_arm(text), seed=4)
    with pytest.raises(NotIdentifiedError, match="'link2' is not physically consistent"):
        export_urdf(text, {**bodies, "link2": -bodies["link2"]}, joints)
    with pytest.raises(NotIdentifiedError, match="'joint2' has negative friction"):
        export_urdf(text, bodies, {**joints, "joint2": {"viscous": -0.1}})


def test_elements_out_of_entities_are_refused() -> None:
    text = (ROOT / "urdf" / "ddarm.urdf").read_text()
    entity = '<!DOCTYPE robot [<!ENTITY floor "&#60;link name=\'floor\'/>">]>\n<robot name="ddarm">'
    changed = text.replace('<robot name="ddarm">', entity).replace('<link name="floor"/>', "&floor;")
    bodies, joints = identify(take_arm(text), seed=4)
    with pytest.raises(RobotDescriptionError, match="comes from an entity"):
        export_urdf(changed, bodies, joints)


def test_text_that_predicts_other_torques_is_not_written(monkeypatch: pytest.MonkeyPatch) -> None:
    text = (ROOT / "urdf" / "ddarm.urdf").read_text()
    bodies, joints = identify(take_arm(text), seed=4)
    monkeypatch.setattr(module, "_format", lambda numbers: " ".join(f"{float(number):.6g}" for number in numbers))
    with pytest.raises(RobotDescriptionError, match="would predict other torques"):
        export_urdf(text, bodies, joints)


def write_estimate(path: Path, text: str, bodies: dict[str, FloatArray], joints: dict[str, dict[str, float]]) -> None:
    """The parts of an estimate.json that the command reads."""
    base = {"names": ["m"], "combinations": ["m"], "values": [1.0], "covariance": [[1.0]], "states": ["known"]}
    links = {
        "source": "effort",
        "joint_names": list(joints),
        "base_parameters": base,
        "parameters": {link: dict(zip(PARAMETER_NAMES, body.tolist(), strict=True)) for link, body in bodies.items()},
        "joints": joints,
    }
    document = {
        "format": FORMAT,
        "version": VERSION,
        "links": links,
        "settings": list_settings(Settings()),
        "urdf_sha256": hash_urdf(text),
        "recordings": [],
    }
    path.write_text(json.dumps(document))


def test_command_writes_the_file_and_says_what_it_cannot_hold(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, output, estimate = tmp_path / "odd.urdf", tmp_path / "new.urdf", tmp_path / "estimate.json"
    source.write_bytes(ODD.encode("iso-8859-1"))
    bodies, dynamics = identify(take_arm(ODD), seed=5)
    joints = {name: dict(item) for name, item in dynamics.items()}
    joints["j2"].update(rotor_inertia=4.71, offset=-0.3)
    write_estimate(estimate, ODD, bodies, joints)
    assert main(["export-urdf", str(tmp_path), "--urdf", str(source), "-o", str(output)]) == 0
    printed = capsys.readouterr().out
    assert "j2: rotor inertia 4.71 has no element in URDF" in printed
    assert "j2: effort offset -0.3" in printed
    assert "another text" not in printed
    assert output.read_bytes() == export_urdf(ODD, bodies, dynamics).text.encode("iso-8859-1")
    source.write_bytes(ODD.replace("after the end", "changed").encode("iso-8859-1"))
    assert main(["export-urdf", str(estimate), "--urdf", str(source), "-o", str(output)]) == 0
    assert "made with another text of the URDF" in capsys.readouterr().out


def test_command_takes_the_description_of_the_bag(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (ROOT / "urdf" / "ddarm.urdf").read_text()
    bag = write_bag(tmp_path / "bag", [text_message(text, 0)])
    bodies, dynamics = identify(take_arm(text), seed=7)
    estimate, output = tmp_path / "estimate.json", tmp_path / "new.urdf"
    write_estimate(estimate, text, bodies, {name: {} for name in dynamics})
    content = json.loads(estimate.read_text())
    content["recordings"] = [{"inputs": [{"path": str(find_storage(bag)), "sha256": ""}]}]
    content["topics"] = asdict(Topics())
    estimate.write_text(json.dumps(content))
    assert main(["export-urdf", str(estimate), "-o", str(output)]) == 0
    assert "another text" not in capsys.readouterr().out
    check_bodies(output.read_text(), bodies, {})


def test_command_explains_what_is_wrong(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output, estimate = tmp_path / "new.urdf", tmp_path / "estimate.json"
    bodies, dynamics = identify(take_arm(ODD), seed=5)
    write_estimate(estimate, ODD, bodies, {name: {} for name in dynamics})
    assert main(["export-urdf", str(estimate), "-o", str(output)]) == 1
    assert "name the URDF with --urdf" in capsys.readouterr().err
    assert main(["export-urdf", str(estimate), "--urdf", str(tmp_path / "none.urdf"), "-o", str(output)]) == 1
    assert "cannot be read" in capsys.readouterr().err
    estimate.write_text(json.dumps({"format": FORMAT, "version": VERSION, "urdf_sha256": ""}))
    assert main(["export-urdf", str(estimate), "-o", str(output)]) == 1
    assert "has no links" in capsys.readouterr().err
    assert not output.exists()


def test_links_are_read_back(tmp_path: Path) -> None:
    path = tmp_path / "estimate.json"
    bodies, dynamics = identify(take_arm(ODD), seed=6)
    joints = {name: {"viscous": 1.5, "coulomb": 0.5, "offset": 0.25} for name in dynamics}
    write_estimate(path, ODD, bodies, joints)
    links = read_estimate(path).need_links()
    assert links.joints == joints
    for link, body in bodies.items():
        np.testing.assert_array_equal(links.bodies[link], body)
        assert decompose(links.bodies[link])[0] > 0.0
    content = json.loads(path.read_text())
    del content["links"]["parameters"]["one"]["mcx"]
    path.write_text(json.dumps(content))
    with pytest.raises(FileFormatError, match="one lacks 'mcx'"):
        read_estimate(path).need_links()
