"""`inertid plot`: a picture of an estimate."""

from __future__ import annotations

import json
import re
import struct
from pathlib import Path

import numpy as np
import pytest
from support.report_traces import puma_trace

from inertid_ros import __version__
from inertid_ros.cli.main import main
from inertid_ros.files.estimate import read_estimate
from inertid_ros.files.estimate_writer import list_live, write_estimate
from inertid_ros.files.provenance import Provenance
from inertid_ros.report.plot import draw_load, outline


def png_size(path: Path) -> tuple[int, int]:
    content = path.read_bytes()
    assert content[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", content[16:24])
    return width, height


@pytest.fixture
def estimate_json(tmp_path: Path) -> Path:
    return save(tmp_path / "estimate.json")


def save(path: Path) -> Path:
    trace = puma_trace()
    write_estimate(
        path,
        list_live(trace.settings, Provenance(urdf_sha256="0" * 64, first_stamp=1, last_stamp=2), load=trace.estimate),
    )
    return path


def test_an_estimate_of_a_replay_becomes_a_picture(
    estimate_json: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["plot", str(estimate_json), "--png", str(tmp_path / "a.png"), "--dpi", "100"]) == 0
    assert capsys.readouterr().out == f"wrote {tmp_path / 'a.png'}\n"
    assert png_size(tmp_path / "a.png") == (900, 620)


def test_a_saved_estimate_of_the_node_is_the_same_to_draw(estimate_json: Path, tmp_path: Path) -> None:
    from_yaml, from_json = (read_estimate(path).need_load() for path in (save(tmp_path / "saved.yaml"), estimate_json))
    assert from_yaml.states == from_json.states
    np.testing.assert_array_equal(from_yaml.values, from_json.values)
    np.testing.assert_array_equal(from_yaml.covariance, from_json.covariance)
    assert main(["plot", str(tmp_path / "saved.yaml"), "--png", str(tmp_path / "b.png")]) == 0
    assert png_size(tmp_path / "b.png") == (1800, 1240)


@pytest.mark.parametrize("missing", ["load", "states", "parameters", "covariance"])
def test_a_file_that_lacks_something_is_refused_by_name(
    missing: str, estimate_json: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document = json.loads(estimate_json.read_text(encoding="utf-8"))
    (document if missing == "load" else document["load"]).pop(missing)
    estimate_json.write_text(json.dumps(document), encoding="utf-8")
    assert main(["plot", str(estimate_json), "--png", str(tmp_path / "a.png")]) == 1
    message = capsys.readouterr().err
    assert ("has no load" if missing == "load" else f"'{missing}'") in message
    assert message.count("\n") == 1


@pytest.mark.parametrize("name", ["missing.json", "missing.yaml"])
def test_a_file_that_is_not_there_is_named(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plot", str(tmp_path / name), "--png", str(tmp_path / "a.png")]) == 1
    assert name in capsys.readouterr().err


def test_a_place_that_cannot_be_written_is_named(
    estimate_json: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["plot", str(estimate_json), "--png", str(tmp_path / "nowhere" / "a.png")]) == 1
    assert "nowhere" in capsys.readouterr().err


@pytest.mark.parametrize("dpi", ["0", "-3", "100000", "x"])
def test_a_resolution_that_makes_no_picture_is_refused(
    dpi: str, estimate_json: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(["plot", str(estimate_json), "--png", str(tmp_path / "a.png"), f"--dpi={dpi}"])
    assert f"argument --dpi: '{dpi}' is not a whole number from 20 to 1200" in capsys.readouterr().err


def test_numbers_follow_their_uncertainty_and_have_units_and_a_source() -> None:
    figure = draw_load(puma_trace().estimate, "bag.mcap")
    labels = [label.get_text() for axis in figure.axes for label in axis.get_xticklabels()]
    (mass,) = (label for label in labels if label.startswith("m\n"))
    value, spread = re.fullmatch(r"m\n(\d\.\d+)\n± (0\.0*[1-9]\d)", mass, re.ASCII).groups()  # type: ignore[union-attr]
    assert len(value) == len(spread)
    titles = [axis.get_title() for axis in figure.axes[:3]]
    assert titles == ["mass [kg]", "mass moments [kg m]", "inertia about the sensor's origin [kg m²]"]
    assert "from wrench in bag.mcap" in figure.get_supxlabel()


def test_a_result_directory_is_drawn_and_its_node_named(
    estimate_json: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["plot", str(tmp_path), "--png", str(tmp_path / "a.png"), "--dpi", "50"]) == 0
    assert "wrote" in capsys.readouterr().out
    assert read_estimate(tmp_path).origin == f"a running node, inertid_ros {__version__}"
    document = json.loads(estimate_json.read_text(encoding="utf-8"))
    document["recordings"] = [{"inputs": [{"path": f"/bags/{name}.mcap", "sha256": ""}]} for name in "abcd"]
    estimate_json.write_text(json.dumps(document), encoding="utf-8")
    assert read_estimate(tmp_path).origin.startswith("a.mcap, b.mcap, c.mcap and 1 more, ")


def test_outline_is_the_shadow_of_the_ellipsoid() -> None:
    generator = np.random.default_rng(11)
    axes = np.linalg.qr(generator.normal(size=(3, 3)))[0]
    semi_axes = np.array([1.0, 2.0, 4.0])
    points = generator.normal(size=(200_000, 3))
    points = points / np.linalg.norm(points, axis=1)[:, None] * semi_axes @ axes.T
    shadow = outline((axes * semi_axes**2 @ axes.T)[:2, :2])
    for angle in np.linspace(0.0, np.pi, 7):
        direction = np.array([np.cos(angle), np.sin(angle)])
        assert (direction @ shadow).max() == pytest.approx((points[:, :2] @ direction).max(), rel=2e-3)
