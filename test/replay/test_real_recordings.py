"""Every recording of a real robot replays."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.recordings import recording

from inertid_ros.core.settings.choices import EffortUnit
from inertid_ros.core.settings.settings import LinksSettings, LoadSettings, Settings
from inertid_ros.replay.inputs import Plan
from inertid_ros.replay.recordings import find_recordings, replay_recordings


@pytest.mark.parametrize(
    ("name", "mass", "tolerance"), [("wrist_ft_static_poses", 0.932, 0.005), ("wrist_ft_free_motion", 0.932, 0.02)]
)
def test_recording_replays(name: str, mass: float, tolerance: float, tmp_path: Path) -> None:
    folder = recording(name)
    plan = Plan(
        settings=Settings(gravity=[0.0, 0.0, -9.82085], load=LoadSettings(sensor_frame="ft_sensor")),
        description=(folder / "robot.urdf").read_text(encoding="utf-8"),
    )
    outcome = replay_recordings(find_recordings([folder], plan), plan, tmp_path, lambda _: None)
    assert not outcome.trouble
    assert outcome.document["load"]["mass"] == pytest.approx(mass, abs=tolerance)
    assert outcome.document["load"]["wrench_sign"] == "on_sensor"


@pytest.mark.parametrize(
    ("name", "left", "urdf"),
    [
        ("lwr4_1", 0.02, 0.09),
        ("lwr4_2", 0.02, 0.09),
        ("ur10_exciting", 0.06, 0.4),
        ("ur10e_40sec_12harm", 0.05, 0.35),
        ("ur10e_30sec_12harm", 0.05, 0.35),
        ("ur10e_14harm50sec", 0.05, 0.35),
        ("ur10e_14harm50secLoad", 0.05, 0.35),
        ("panda_exciting", 0.02, 0.1),
    ],
)
def test_recording_of_efforts_replays(name: str, left: float, urdf: float, tmp_path: Path) -> None:
    folder = recording(name)
    plan = Plan(
        settings=Settings(estimators=["links"], links=LinksSettings(effort_unit=EffortUnit.NEWTON_METRE)),
        description=(folder / "robot.urdf").read_text(encoding="utf-8"),
    )
    outcome = replay_recordings(find_recordings([folder], plan), plan, tmp_path, lambda _: None)
    assert not outcome.trouble
    links = outcome.document["links"]
    assert links["fit"]["relative_rms"] < left
    assert links["urdf_residual"]["relative_rms"] > urdf
    assert "not excited yet" not in links["base_parameters"]["states"]
    assert (tmp_path / "report.html").stat().st_size < 9_000_000
