"""`inertid excite`: what it writes, what it shows, and what it says when something is wrong."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rosbags.highlevel import AnyReader
from support.chain import BAR

from inertid_ros.cli.main import main
from inertid_ros.core.estimation.estimate import LoadEstimate, Mode
from inertid_ros.core.estimation.states import ParameterState
from inertid_ros.core.rigid_body.inertial import PARAMETER_NAMES
from inertid_ros.core.settings.settings import Settings
from inertid_ros.files.estimate_writer import list_live, write_estimate
from inertid_ros.files.provenance import Provenance
from inertid_ros.files.share import share_path

PUMA_FILE = str(share_path("urdf", "puma560.urdf"))
QUICK = ("--target", "load", "--candidates", "400", "--duration", "2")


@pytest.fixture(autouse=True)
def wide_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")


def read_bag(folder: Path) -> Any:
    with AnyReader([folder]) as reader:
        ((connection, _, data),) = list(reader.messages())
        assert (connection.topic, connection.msgtype) == ("/joint_trajectory", "trajectory_msgs/msg/JointTrajectory")
        return reader.deserialize(data, connection.msgtype)


def test_excite_writes_the_same_motion_twice_and_shows_deviations(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "out"
    assert main(["excite", PUMA_FILE, *QUICK, "-o", str(output)]) == 0
    shown = capsys.readouterr().out
    assert "predicted standard deviations after 2 s" in shown
    assert "paper's move" in shown
    assert all(f"{name} [" in shown for name in PARAMETER_NAMES)
    with (output / "trajectory.csv").open(newline="") as stream:
        heading, *rows = list(csv.reader(stream))
    assert heading[:2] == ["time", "joint1 position"]
    assert heading[-1] == "joint6 acceleration"
    table = np.array(rows, dtype=float)
    trajectory = read_bag(output / "trajectory")
    assert trajectory.joint_names == [f"joint{k}" for k in range(1, 7)]
    moments = [point.time_from_start.sec + 1e-9 * point.time_from_start.nanosec for point in trajectory.points]
    np.testing.assert_allclose(table[:, 0], moments, atol=1e-9)
    for start, kind in ((1, "positions"), (7, "velocities"), (13, "accelerations")):
        np.testing.assert_array_equal(table[:, start : start + 6], [getattr(p, kind) for p in trajectory.points])
    assert moments[-1] == 2.0
    np.testing.assert_allclose(table[[0, -1], 7:], 0.0, atol=1e-12)
    np.testing.assert_allclose(np.gradient(table[:, 1], table[:, 0])[1:-1], table[1:-1, 7], atol=0.01)


@pytest.mark.parametrize("kind", ["yaml", "json"])
def test_excite_starts_from_an_estimate(tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str) -> None:
    estimate = tmp_path / f"estimate.{kind}"
    covariance = np.diag(np.full(10, 1e-6))
    states = (ParameterState.KNOWN,) * 10
    load = LoadEstimate(
        2,
        Mode.TRACKING,
        PARAMETER_NAMES,
        BAR,
        covariance,
        covariance,
        states,
        (),
        3,
        None,
        "ft_sensor",
        BAR,
        None,
        None,
    )
    write_estimate(
        estimate, list_live(Settings(), Provenance(urdf_sha256="0" * 64, first_stamp=1, last_stamp=2), load=load)
    )
    assert (
        main(["excite", PUMA_FILE, *QUICK, "--duration", "0.5", "--start", str(estimate), "-o", str(tmp_path / "out")])
        == 0
    )
    shown = capsys.readouterr().out
    assert "at the start" in shown
    assert "1.00e-03" in shown


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["nowhere.urdf"], "'nowhere.urdf' cannot be read"),
        ([PUMA_FILE, "--duration", "1000"], "'--duration' is 1000.0: expected 0.5 to 60 s"),
        ([PUMA_FILE, "--sensor-frame", "nose"], "frame 'nose' is not in the robot description"),
        ([PUMA_FILE, "--limits", "nowhere.yaml"], "'nowhere.yaml' cannot be read"),
        ([PUMA_FILE, "--start", "nowhere.yaml"], "'nowhere.yaml' cannot be read"),
        ([PUMA_FILE, "--torque-noise", "0"], "'--torque-noise' is 0.0: expected a density above 0"),
        ([PUMA_FILE, "--candidates", "3"], "'--candidates' is 3: expected 400 or more"),
    ],
)
def test_excite_says_what_is_wrong_and_fails(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], expected: str
) -> None:
    assert main(["excite", *QUICK, *arguments, "-o", str(tmp_path / "out")]) == 1
    shown = capsys.readouterr()
    assert shown.out == ""
    (line,) = shown.err.splitlines()
    assert line.startswith("inertid excite: ")
    assert expected in line


def test_excite_does_not_overwrite_and_notices_before_it_searches(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "trajectory.csv").write_text("precious")
    assert main(["excite", PUMA_FILE, "--target", "load", "-o", str(tmp_path)]) == 1
    assert "already exists: choose another directory" in capsys.readouterr().err
    assert (tmp_path / "trajectory.csv").read_text() == "precious"
    (tmp_path / "file").write_text("")
    assert main(["excite", PUMA_FILE, "--target", "load", "-o", str(tmp_path / "file")]) == 1
    assert "cannot be written to" in capsys.readouterr().err
