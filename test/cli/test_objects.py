"""`inertid object` and `inertid recognise` on estimates and bags."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from support.objects import box, hold, make_known, random_rotation

from inertid_ros.cli.main import main
from inertid_ros.core.estimation.estimate import LoadEstimate
from inertid_ros.files.document import write_json
from inertid_ros.files.objects import write_object

BOOK, MUG = box(0.62, 0.15, 0.23, 0.03), box(0.35, 0.08, 0.08, 0.1, (0.0, 0.0, 0.03))


def save(path: Path, load: LoadEstimate) -> str:
    """Write what `inertid replay` writes of a load, as far as it is read."""
    entry = {
        "last_stamp": load.stamp,
        "mode": load.mode,
        "parameters": load.values,
        "covariance": load.covariance,
        "repeatability_covariance": load.repeatability,
        "states": load.states,
        "findings": [],
        "rows": load.rows,
        "sensor_frame": load.frame,
        "feasible": load.feasible,
    }
    write_json(path, {"format": "inertid_ros estimate", "version": 2, "urdf_sha256": "", "load": entry})
    return str(path)


def test_objects_are_added_listed_and_recognised(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    library = ["--library", str(tmp_path / "objects")]
    for name, phi in (("book", BOOK), ("mug", MUG)):
        taught = save(tmp_path / f"{name}.json", hold(phi))
        assert main(["object", "add", name, taught, *library, "--origin", "0", "0", "0.12"]) == 0
        assert f"{name}.yaml: {name}, {phi[0]:.4f} ± 0.0059 kg" in capsys.readouterr().out
    assert main(["object", "list", *library]) == 0
    assert "mug" in capsys.readouterr().out
    held = save(tmp_path / "held.json", hold(MUG, random_rotation(1), seed=1))
    assert main(["recognise", held, *library]) == 0
    assert "held: mug (" in capsys.readouterr().out
    slipped = save(tmp_path / "slipped.json", hold(MUG, place=np.array([0.015, 0.0, 0.12]), seed=1))
    assert main(["recognise", slipped, *library, "--expect", "mug", "--json"]) == 0
    (content,) = json.loads(capsys.readouterr().out)["held"].values()
    assert content["name"] == "mug"
    assert content["check"]["state"] == "slipped"
    assert np.array(content["grip"]["pose"]).shape == (4, 4)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["object", "list", "--library", "nowhere"], "there is no library 'nowhere'"),
        (["object", "add", "mug"], "the object's name, and the estimate"),
        (["recognise", "held.json", "--library", "elsewhere"], "there is no library 'elsewhere'"),
        (["recognise", "held.json", "--library", "objects", "--expect", "cup"], "one of the library: mug"),
        (["recognise", "missing.json", "--library", "objects"], "cannot be read"),
        (["recognise", "links.json", "--library", "objects"], "has no load"),
    ],
)
def test_what_cannot_be_done_is_said(
    arguments: list[str],
    expected: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    write_object(tmp_path / "objects", make_known("mug", MUG))
    save(tmp_path / "held.json", hold(MUG))
    write_json(tmp_path / "links.json", {"format": "inertid_ros estimate", "version": 2, "urdf_sha256": ""})
    assert main(arguments) == 1
    assert expected in capsys.readouterr().err
