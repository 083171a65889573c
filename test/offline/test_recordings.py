"""Every recording of a real robot that has a wrench replays."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.recordings import recording

from inertid_ros.core.settings import LoadSettings, Settings
from inertid_ros.offline.plan import Plan
from inertid_ros.offline.recordings import find_recordings, replay_recordings


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
