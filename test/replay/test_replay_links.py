"""Replay with links: the truth is found, the files hold it, and neither pieces nor processes change it."""

from __future__ import annotations

import dataclasses
import json
import pickle
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rosbags.rosbag2 import Reader
from support.bags import STORE, joint_messages, text_message, write_bag
from support.chain import DDARM
from support.link_bags import (
    BY_BASE,
    BY_BOTH,
    BY_EFFORT,
    FRICTION,
    HEAVIER,
    ddarm_messages,
    simulate_ddarm,
    true_links,
)
from support.recordings import recording

from inertid_ros.cli.main import main
from inertid_ros.core.chain import Chain, Target
from inertid_ros.core.errors import FileFormatError
from inertid_ros.core.rigid_body.inertial import PARAMETER_NAMES, is_feasible
from inertid_ros.core.robot.robot import Robot
from inertid_ros.core.settings.choices import EffortUnit, SignChoice
from inertid_ros.core.settings.settings import LinksSettings, LoadSettings, Settings
from inertid_ros.files.estimate import read_estimate
from inertid_ros.replay.combine import Recorded, combine
from inertid_ros.replay.inputs import Plan
from inertid_ros.replay.recordings import Outcome, find_recordings, replay_recordings
from inertid_ros.replay.replay import replay_bags
from inertid_ros.replay.trace import LinkTrace, Traces

SECONDS = 16.0
BY_NAME = {"effort": BY_EFFORT, "base_wrench": BY_BASE, "both": BY_BOTH}


@pytest.fixture(scope="module")
def bag(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_bag(
        tmp_path_factory.mktemp("links") / "bag", ddarm_messages(simulate_ddarm(1), SECONDS, base=True, wrist=True)
    )


def replay(bag: Path, plan: Plan) -> LinkTrace:
    trace = replay_bags([bag], dataclasses.replace(plan, moments=0), lambda: None, lambda _: None).links
    assert trace is not None
    return trace


def run(bags: list[Path], settings: Settings, output: Path, processes: int = 1) -> Outcome:
    plan = Plan(settings=settings)
    return replay_recordings(find_recordings(bags, plan), plan, output, lambda _: None, processes)


def find_truth(trace: LinkTrace) -> np.ndarray[Any, Any]:
    """The base parameters of the simulated arm."""
    unknowns = trace.estimate.model.unknowns
    full = np.zeros(len(unknowns.names))
    full[unknowns.inertial] = true_links().ravel()
    if unknowns.viscous.stop > unknowns.viscous.start:
        parts = (unknowns.viscous, unknowns.coulomb, unknowns.rotor_inertia, unknowns.offset)
        values = (FRICTION.viscous_friction, FRICTION.coulomb_friction, FRICTION.rotor_inertia, FRICTION.effort_offset)
        for part, value in zip(parts, values, strict=True):
            full[part] = value
    return np.asarray(trace.estimate.base.combination @ full)


@pytest.mark.parametrize("source", ["effort", "base_wrench", "both"])
def test_truth_is_found_and_beats_the_urdf(bag: Path, source: str) -> None:
    trace = replay(bag, Plan(settings=BY_NAME[source]))
    assert trace.notes == ()
    assert len(trace.channels) == {"effort": 3, "base_wrench": 6, "both": 9}[source]
    estimate, truth = trace.estimate, find_truth(trace)
    names = [estimate.base.names[column] for column in estimate.base.columns]
    of_links = np.array([not name.startswith("base.") for name in names])  # the simulated sensor has a bias of its own
    off = np.abs(estimate.values - truth) / np.sqrt(np.diag(estimate.covariance))
    assert np.median(off[of_links]) < 2.0
    assert estimate.fit is not None
    assert trace.urdf.rows.rms.sum() > 3.0 * estimate.fit.residual_rms.sum()
    for phi in trace.parameters[estimate.model.unknowns.inertial].reshape(-1, 10):
        assert is_feasible(phi)


def test_replay_is_the_chain(bag: Path) -> None:
    simulator = simulate_ddarm(1)
    chain = Chain(Robot.from_urdf(DDARM), BY_EFFORT, Target.LINKS)
    chain.push(simulator.joints(0.0, SECONDS))
    chain.process()
    expected = chain.estimate()
    assert expected is not None
    scale = np.sqrt(np.diag(expected.covariance))
    found = replay(bag, Plan(settings=BY_EFFORT, block_size=700)).estimate
    np.testing.assert_allclose(found.values / scale, expected.values / scale, atol=1e-6)
    assert found.rows == expected.rows


def test_load_and_links_do_not_disturb_each_other(bag: Path) -> None:
    load = LoadSettings(sensor_frame="ft_sensor", wrench_sign=SignChoice.ON_LOAD)
    traces = {
        names: replay_bags(
            [bag],
            Plan(settings=dataclasses.replace(BY_EFFORT, estimators=list(names), load=load), moments=0),
            lambda: None,
            lambda _: None,
        )
        for names in (("load",), ("links",), ("load", "links"))
    }
    both, load_alone, links_alone = (traces[names] for names in (("load", "links"), ("load",), ("links",)))
    assert load_alone.links is None
    assert links_alone.load is None
    assert both.load is not None
    assert both.links is not None
    assert load_alone.load is not None
    assert links_alone.links is not None
    np.testing.assert_array_equal(both.load.estimate.values, load_alone.load.estimate.values)
    scale = np.sqrt(np.diag(links_alone.links.estimate.covariance))
    np.testing.assert_allclose(  # blocks hold other numbers of joint states beside wrenches: another order of sums
        both.links.estimate.values / scale, links_alone.links.estimate.values / scale, atol=1e-9
    )


@pytest.fixture(scope="module")
def outcome(bag: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Outcome, Path]:
    output = tmp_path_factory.mktemp("out")
    return run([bag], BY_EFFORT, output), output


def test_file_holds_links_joints_and_base_parameters(outcome: tuple[Outcome, Path]) -> None:
    content = json.loads((outcome[1] / "estimate.json").read_text())
    links = content["links"]
    assert content["load"] is None
    assert (links["source"], links["method"], links["effort_unit"]) == ("effort", "filtered", "newton_metre")
    assert list(links["parameters"]) == links["link_names"]
    assert all(list(phi) == list(PARAMETER_NAMES) for phi in links["parameters"].values())
    assert all(list(entry) == ["viscous", "coulomb", "rotor_inertia", "offset"] for entry in links["joints"].values())
    base = links["base_parameters"]
    count = len(base["names"])
    covariance = np.array(base["covariance"])
    assert covariance.shape == (count, count)
    np.testing.assert_allclose(np.sqrt(np.diag(covariance)), base["standard_deviations"])
    assert len(base["combinations"]) == len(base["states"]) == len(base["values"]) == count
    assert all(text.startswith(name) for text, name in zip(base["combinations"], base["names"], strict=True))
    assert set(links["fit"]["channels"]) == set(links["joint_names"])
    rms, measured = (
        np.array([entry[key] for entry in links["fit"]["channels"].values()]) for key in ("rms", "measured_rms")
    )
    overall = np.sqrt((rms**2).sum() / (measured**2).sum())
    assert links["fit"]["relative_rms"] == pytest.approx(overall, rel=1e-6)
    assert overall < 0.05 < links["urdf_residual"]["relative_rms"]
    assert links["residual"]["raw"]["count"] == pytest.approx(SECONDS * 1000.0, abs=10)


def test_file_gives_the_arm_back_and_refuses_another(outcome: tuple[Outcome, Path]) -> None:
    written = json.loads((outcome[1] / "estimate.json").read_text())["links"]
    links = read_estimate(outcome[1]).need_links()
    model = links.make_model(Robot.from_urdf(DDARM), BY_EFFORT)
    assert links.values.tolist() == written["base_parameters"]["values"]
    assert model.arm.joint_names == tuple(written["joint_names"])
    without = dataclasses.replace(BY_EFFORT, links=dataclasses.replace(BY_EFFORT.links, rotor_inertia=False))
    longer = DDARM.replace("0.45", "0.55")
    assert longer != DDARM
    for other, settings, words in (
        (longer, BY_EFFORT, "first difference"),
        (DDARM, without, "first difference"),
        (DDARM, BY_BASE, "links.source is base_wrench"),
        (DDARM.replace('"joint2"', '"elbow"'), BY_EFFORT, "joint joint2, which the robot description does not have"),
    ):
        with pytest.raises(FileFormatError, match=words):
            links.make_model(Robot.from_urdf(other), settings)
    links.make_model(Robot.from_urdf(DDARM.replace("mass value=", "mass  value=")), BY_EFFORT)


def read_topics(path: Path) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    with Reader(path) as reader:
        for connection, _, data in reader.messages():
            found.setdefault(connection.topic, []).append(STORE.deserialize_cdr(data, connection.msgtype))
    return found


def test_predictions_are_joint_states_and_base_wrenches(bag: Path, tmp_path: Path) -> None:
    run([bag], BY_BOTH, tmp_path)
    topics = read_topics(tmp_path / "predictions.mcap")
    assert set(topics) == {
        "/inertid/links/effort_predicted",
        "/inertid/links/effort_residual",
        "/inertid/links/effort_deviation",
        "/inertid/base/wrench_predicted",
        "/inertid/base/wrench_residual",
    }
    assert len({len(messages) for messages in topics.values()}) == 1
    measured = {}
    with Reader(bag) as reader:
        connections = [connection for connection in reader.connections if connection.topic == "/base_wrench"]
        for _, _, data in reader.messages(connections):
            message: Any = STORE.deserialize_cdr(data, "geometry_msgs/msg/WrenchStamped")
            measured[message.header.stamp.sec, message.header.stamp.nanosec] = message.wrench.force.z
    for predicted, residual in zip(
        topics["/inertid/base/wrench_predicted"], topics["/inertid/base/wrench_residual"], strict=True
    ):
        stamp = predicted.header.stamp.sec, predicted.header.stamp.nanosec
        total = predicted.wrench.force.z + residual.wrench.force.z
        assert total == pytest.approx(measured[stamp], rel=1e-9)
    messages = topics["/inertid/links/effort_deviation"]
    deviations = np.array([message.effort for message in messages[len(messages) // 2 :]])
    assert np.all(deviations > 0.0)
    assert np.all(np.median(deviations, axis=0) < 5.0), "of torques of some 100 Nm"
    last = topics["/inertid/links/effort_residual"][-1]
    assert last.name == list(Robot.from_urdf(DDARM).joint_names)
    assert len(last.effort) == 3
    assert len(last.position) == 0


@pytest.fixture(scope="module")
def bags(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("bags")
    return [
        write_bag(folder / f"bag_{seed}", ddarm_messages(simulate_ddarm(seed, start=100.0 * seed), 8.0))
        for seed in range(2)
    ]


def test_information_of_recordings_adds_up_in_processes_too(bags: list[Path], tmp_path: Path) -> None:
    one, two = run(bags, BY_EFFORT, tmp_path / "one"), run(bags, BY_EFFORT, tmp_path / "two", 2)
    first, second = (outcome.document["links"]["base_parameters"] for outcome in (one, two))
    np.testing.assert_allclose(second["values"], first["values"], rtol=1e-9)
    np.testing.assert_allclose(second["covariance"], first["covariance"], rtol=1e-9, atol=1e-15)
    singles = [recorded.traces.links for recorded in one.recordings if recorded.traces.links is not None]
    assert len(singles) == 2
    rows = sum(int(single.estimate.fit.rows[0]) for single in singles if single.estimate.fit is not None)
    assert one.document["links"]["fit"]["channels"]["joint1"]["rows"] == rows
    combined = one.found.links
    assert combined is not None
    assert combined.estimate.values.tolist() == list(first["values"])
    for index, name in enumerate(combined.channels):
        total, *parts = (item.estimator._channel(index) for item in (combined, *singles))
        expected = sum(part.matrix.T @ part.matrix for part in parts)
        found = total.matrix.T @ total.matrix
        np.testing.assert_allclose(found, expected, atol=1e-9 * np.abs(expected).max(), err_msg=name)


def test_what_is_part_of_a_sum_keeps_what_a_report_compares_and_no_more(bags: list[Path]) -> None:
    wholes = [replay(bag, Plan(settings=BY_EFFORT)) for bag in bags]
    found = combine([Recorded("", Traces(None, whole)) for whole in wholes])
    assert found.links is not None
    for whole, recorded in zip(wholes, found.recordings, strict=True):
        assert recorded.traces.links is not None
        spent = recorded.traces.links.estimator
        values = found.links.estimate.fitted
        np.testing.assert_array_equal(spent.find_rms(values), whole.estimator.find_rms(values))
        assert 2 * len(pickle.dumps(spent)) < len(pickle.dumps(whole.estimator))
        for one, other in ((found.links.estimator, spent), (spent, whole.estimator)):
            with pytest.raises(ValueError, match="part of a sum"):
                one.add(other)


def test_recordings_of_other_joints_are_not_added_up(bags: list[Path], tmp_path: Path) -> None:
    first = run(bags[:1], BY_EFFORT, tmp_path).recordings[0]
    assert first.traces.links is not None
    other = dataclasses.replace(first.traces.links, channels=("joint1", "joint2", "elbow"))
    found = combine([first, first._replace(traces=Traces(None, other))])
    (line,) = found.failures
    assert re.search(r"different joints .*elbow.*links\.joints", line)
    assert found.links is other


def test_part_of_a_bag_is_what_was_recorded_then(bag: Path, tmp_path: Path) -> None:
    arguments = ["--params", str(write_parameters(tmp_path))]
    assert main(["replay", str(bag), *arguments, "-o", str(tmp_path / "part"), "--start", "4", "--end", "10"]) == 0
    content = json.loads((tmp_path / "part" / "estimate.json").read_text())
    (record,) = content["recordings"]
    assert record["duration"] == pytest.approx(6.0, abs=0.02)
    assert record["topics"][0]["count"] == pytest.approx(6000, abs=2)
    whole = replay(bag, Plan(settings=BY_EFFORT))
    assert (record["first_stamp"] - whole.origin.first_stamp) * 1e-9 == pytest.approx(4.0, abs=0.02)


def write_parameters(folder: Path, text: str = "effort_unit: newton_metre") -> Path:
    path = folder / "links.yaml"
    path.write_text(f"inertid:\n  ros__parameters:\n    estimators: [links]\n    links: {{{text}}}\n")
    return path


def fail(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    """The one line that a command prints when it fails."""
    assert main([str(argument) for argument in arguments]) != 0
    (line,) = capsys.readouterr().err.strip().splitlines()
    return line


def test_bad_input_is_one_line_with_what_to_do(tmp_path: Path, bag: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good, out = write_parameters(tmp_path), tmp_path / "out"
    block = simulate_ddarm(1).joints(0.0, 3.0)
    messages = [text_message(DDARM, int(block.stamps[0])), *joint_messages(block._replace(efforts=None))]
    silent = write_bag(tmp_path / "silent", messages)
    assert "carries no effort" in (line := fail(capsys, "replay", silent, "--params", good, "-o", out, "--force"))
    assert "publish effort" in line
    unit = tmp_path / "unit"
    unit.mkdir()
    missing = write_parameters(unit, "source: effort")
    line = fail(capsys, "replay", bag, "--params", missing, "-o", out, "--force")
    assert "links.effort_unit" in line
    assert "newton_metre or ampere" in line
    urdf = tmp_path / "other.urdf"
    for number in (1, 2, 3):
        urdf.write_text((urdf.read_text() if number > 1 else DDARM).replace(f'"joint{number}"', f'"axis_{number}"'))
    line = fail(capsys, "replay", bag, "--params", good, "--urdf", urdf, "-o", out, "--force")
    assert "joint1" in line
    assert "axis_1" in line
    base = tmp_path / "base"
    base.mkdir()
    line = fail(
        capsys, "replay", silent, "--params", write_parameters(base, "source: base_wrench"), "-o", out, "--force"
    )
    assert "has no topic /base_wrench" in line
    line = fail(capsys, "replay", bag, "--params", good, "-o", out, "--force", "--start", "5", "--end", "3")
    assert "--start" in line
    line = fail(capsys, "replay", bag, "--params", good, "-o", out, "--force", "--start", "500")
    assert "no message between 500 and inf s" in line


REAL = {
    "lwr4": (["lwr4_1"], "lwr4_2", [], [], 0.03),
    "ur10e": (["ur10e_40sec_12harm", "ur10e_30sec_12harm"], "ur10e_14harm50sec", [], [], 0.06),
    "panda": (["panda_exciting"], "panda_exciting", ["--end", "14.4"], ["--start", "14.4"], 0.04),
}


@pytest.mark.parametrize("name", REAL)
def test_real_arms_are_predicted_on_motions_never_used(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    training, test, early, late, limit = REAL[name]
    folders = [recording(item) for item in training]
    delay = "effort_unit: newton_metre, effort_delay: 0.01" if name == "ur10e" else "effort_unit: newton_metre"
    options = ["--params", str(write_parameters(tmp_path, delay)), "--urdf", str(folders[0] / "robot.urdf")]
    assert main(["replay", *map(str, folders), *options, "-o", str(tmp_path), "--jobs", "1", *early]) == 0
    shown = capsys.readouterr().out
    assert ("'fer_joint1' is taken for 'panda_joint1'" in shown) == (name == "panda")
    assert main(["validate", str(tmp_path / "estimate.json"), str(recording(test)), "--json", *late]) == 0
    content = json.loads(capsys.readouterr().out)
    assert content["relative_rms"] <= limit
    assert content["links"]["relative_to_urdf"]["ratio"] < 0.3
    assert content["links"]["raw"]["relative_rms"] < 0.1


def test_heavier_links_come_out_heavier(outcome: tuple[Outcome, Path]) -> None:
    """What no other parameter is mixed with is found as it was made: 1.3 times the URDF's."""
    base = outcome[0].document["links"]["base_parameters"]
    found = {
        name: value / urdf
        for name, text, value, urdf, state in zip(
            base["names"], base["combinations"], base["values"], base["urdf"], base["states"], strict=True
        )
        if text == name and state == "known" and abs(urdf) > 0.1
    }
    assert found
    for name, ratio in found.items():
        assert ratio == pytest.approx(HEAVIER, rel=0.05), name


def test_settings_of_links_alone_need_no_wrench(tmp_path: Path) -> None:
    bag = write_bag(tmp_path / "bag", ddarm_messages(simulate_ddarm(2), 4.0))
    outcome = run(
        [bag], Settings(estimators=["links"], links=LinksSettings(effort_unit=EffortUnit.NEWTON_METRE)), tmp_path
    )
    assert outcome.trouble == ()
    assert outcome.document["recordings"][0]["topics"][0]["topic"] == "/joint_states"


def test_efforts_of_the_wrong_sign_are_called_out_and_not_to_be_used(
    tmp_path: Path, bag: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    parameters = tmp_path / "wrong.yaml"
    links = "effort_unit: ampere, torque_constants: [-1.0, -1.0, -1.0], joints: [joint1, joint2, joint3]"
    parameters.write_text(f"/**: {{ros__parameters: {{estimators: [links], links: {{{links}}}}}}}")
    assert main(["replay", str(bag), "--params", str(parameters), "-o", str(tmp_path / "out")]) == 1
    assert "opposite sign of what gravity needs" in capsys.readouterr().err
    report = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "Do not use these numbers yet" in report
    assert "opposite sign of what gravity needs" in report


def test_half_a_second_is_not_to_be_trusted(tmp_path: Path, bag: Path) -> None:
    parameters = tmp_path / "arm.yaml"
    parameters.write_text("/**: {ros__parameters: {estimators: [links], links: {effort_unit: newton_metre}}}")
    main(["replay", str(bag), "--params", str(parameters), "--end", "0.8", "-o", str(tmp_path / "out")])
    report = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "Trustworthy" not in report
