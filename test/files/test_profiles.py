"""Robots and sensors people have: every profile can be used, is documented, and says where its facts are from."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from inertid_ros.bags.bag import Topics
from inertid_ros.cli.main import main
from inertid_ros.core.errors import FileFormatError, SettingError
from inertid_ros.core.settings.choices import EffortUnit, LoadSource
from inertid_ros.core.settings.settings import Settings
from inertid_ros.files.parameters import list_settings, read_settings
from inertid_ros.files.profile_pages import format_parameter_file, make_pages
from inertid_ros.files.profiles import Profile, find_profile, find_profiles, iterate_profiles, read_profile

ROOT = Path(__file__).parents[2]
PROFILES = [*iterate_profiles("robot"), *iterate_profiles("sensor")]


def changed(settings: Settings) -> dict[str, object]:
    """Settings that differ from their default."""
    default = list_settings(Settings())
    return {name: value for name, value in list_settings(settings).items() if value != default[name]}


def test_the_vendors_asked_for_are_there() -> None:
    for name in ("ur", "franka", "lbr", "xarm", "kinova", "ur10e", "UR5e"):
        assert find_profile(name, "robot")
    for name in ("ati", "robotiq_ft300", "onrobot_hex", "bota", "sensone"):
        assert find_profile(name, "sensor")


def test_no_name_means_two_things() -> None:
    names = [name for profile in PROFILES for name in profile.names]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("profile", PROFILES, ids=lambda profile: profile.names[0])
def test_a_profile_names_its_file_its_driver_and_its_sources(profile: Profile) -> None:
    assert (ROOT / "config" / f"{profile.kind}s" / f"{profile.names[0]}.yaml").is_file()
    assert all(address.startswith("https://") for address in (profile.driver, *(fact.source for fact in profile.facts)))
    assert all(topic.startswith("/") for topic in profile.topics.values())
    # The topics are those of recordings too.
    assert Topics.from_remappings([f"{name}:={topic}" for name, topic in profile.topics.items()])


@pytest.mark.parametrize("profile", PROFILES, ids=lambda profile: profile.names[0])
def test_the_written_file_sets_exactly_what_the_profile_says(profile: Profile, tmp_path: Path) -> None:
    path = tmp_path / "arm.yaml"
    path.write_text(format_parameter_file([profile], path), encoding="utf-8")
    settings = read_settings(path)
    assert settings == Settings.from_flat(profile.parameters)
    assert changed(settings)
    text = path.read_text(encoding="utf-8")
    assert all(topic in text for topic in profile.topics.values())


def test_what_a_robot_without_wrist_sensor_measures_is_replaced_by_a_sensor_mounted_on_it(tmp_path: Path) -> None:
    path = tmp_path / "arm.yaml"
    assert main(["config", "franka", "-o", str(path)]) == 0
    alone = read_settings(path)
    assert alone.load.source is LoadSource.EFFORT
    assert alone.links.effort_unit is EffortUnit.NEWTON_METRE
    path.unlink()
    assert main(["config", "fr3", "--sensor", "ft300", "-o", str(path)]) == 0
    with_sensor = read_settings(path)
    assert with_sensor.load.source is LoadSource.WRENCH
    assert with_sensor.load.sensor_frame == "robotiq_ft_frame_id"
    text = path.read_text(encoding="utf-8")
    assert "joint_states_topic:=/franka/joint_states" in text
    assert "wrench_topic:=/robotiq_force_torque_sensor_broadcaster/wrench" in text


@pytest.mark.parametrize("sensor", iterate_profiles("sensor"), ids=lambda profile: profile.names[0])
def test_no_setting_for_an_arm_s_own_sensor_remains_where_another_is_mounted(sensor: Profile) -> None:
    own = {name for robot in iterate_profiles("robot") for name in robot.parameters if name.startswith("load.")}
    assert own - set(sensor.parameters) == set()


def test_an_accuracy_is_that_of_a_data_sheet_as_a_standard_deviation() -> None:
    arm = Settings.from_flat(find_profile("ur5e", "robot").parameters).load
    assert (arm.gain_uncertainty, arm.cross_talk) == pytest.approx((4.0 / 50.0 / 2.0, 0.3 / 10.0 / 2.0))
    mounted = Settings.from_flat(find_profile("sensone", "sensor").parameters).load
    assert mounted.gain_uncertainty == pytest.approx(0.02 / 2.0)


def test_a_parameter_file_names_itself_and_no_other_is_overwritten(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "cell_7.yaml"
    assert main(["config", "ur", "-o", str(path)]) == 0
    assert f"--params {path} " in path.read_text(encoding="utf-8")
    path.write_text("mine", encoding="utf-8")
    assert main(["config", "ur", "-o", str(path)]) == 1
    assert "already exists" in capsys.readouterr().err
    assert path.read_text(encoding="utf-8") == "mine"


def test_the_list_has_every_name_and_a_wrong_one_is_told_the_right_ones(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["config", "--list"]) == 0
    listed = capsys.readouterr().out
    assert all(name in listed for profile in PROFILES for name in profile.names)
    assert main(["config", "ur99"]) == 1
    assert "expected one of franka, fr3" in capsys.readouterr().err
    assert main(["config"]) == 1
    assert "inertid config --list" in capsys.readouterr().err
    assert main(["config", "ur", "--sensor", "kistler"]) == 1
    assert "ati, netft" in capsys.readouterr().err
    with pytest.raises(SettingError):
        find_profiles("ati", "")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("names:", "nicknames: []\nnames:", "unknown entries: nicknames"),
        ("  wrench: /force", "  force: /force", "unknown entries: force"),
        ("load.sensor_frame: tool0", "load.sensor_frame: tool0\n  load.gate: 7.0", "no fact about load.gate"),
        ("load.sensor_frame: tool0", "load.frame: tool0", "load.frame"),
        ("title: Universal Robots", "title: 7", "not a text"),
    ],
)
def test_a_broken_profile_is_refused(old: str, new: str, message: str, tmp_path: Path) -> None:
    text = (ROOT / "config" / "robots" / "ur.yaml").read_text(encoding="utf-8")
    assert old in text
    path = tmp_path / "ur.yaml"
    path.write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises((FileFormatError, SettingError), match=message):
        read_profile(path, "robot")


def test_the_pages_are_up_to_date(tmp_path: Path) -> None:
    pages = make_pages()
    for path, text in pages.items():
        assert (ROOT / "docs" / path).read_text(encoding="utf-8") == text, f"{path}: write the pages again"
    there = {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").glob("*/*.md")}
    assert there == set(pages) - {"robots.md"}
    subprocess.run([sys.executable, "-m", "inertid_ros.files.profile_pages", tmp_path], check=True, cwd=ROOT)
    assert (tmp_path / "robots" / "ur.md").read_text(encoding="utf-8") == pages["robots/ur.md"]
