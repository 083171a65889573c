"""The links in a real graph: from messages to the parameters of an arm, beside a load or without one."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from diagnostic_msgs.msg import DiagnosticStatus
from rclpy.lifecycle import TransitionCallbackReturn
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState
from std_srvs.srv import SetBool, Trigger
from support.bench import RATE, START, Bench
from support.stepped_chain import SteppedChain

from inertid_ros.core.chain import Chain, Target
from inertid_ros.core.estimation.estimate import LinksEstimate
from inertid_ros.core.estimation.full_set import complete_links
from inertid_ros.core.records import FloatArray, JointBlock, Output, WrenchBlock
from inertid_ros.core.robot.robot import Robot
from inertid_ros.core.settings.settings import Settings
from inertid_ros.files.estimate import read_estimate
from inertid_ros.ros.inputs import joint_decoder, wrench_decoder
from inertid_ros.sim.scenario import read_load, read_urdf

RIGID = {"links.viscous": False, "links.coulomb": False, "links.rotor_inertia": False, "links.offset": False}
DDARM = {"robot": "ddarm", "load": "none", "motion": "paper_link_moves", "tachometer": True, "effort": True}
JOINTS = ["joint1", "joint2", "joint3"]


def start_links(bench: Bench, estimators: Any = ("links",), **settings: Any) -> Any:
    given = {"links.effort_unit": "newton_metre", **RIGID, **settings}
    return bench.start(estimators=list(estimators), **{name.replace(".", "__"): value for name, value in given.items()})


def stamp_of(message: Any) -> int:
    return int(message.header.stamp.sec) * 10**9 + int(message.header.stamp.nanosec)


def effort_of(message: JointState) -> dict[str, float]:
    return dict(zip(message.name, message.effort, strict=True))


def restart_numbers(bench: Bench, topic: str) -> Any:
    """Forget what came before and return the next message."""
    bench.received[topic].clear()
    assert bench.spin_until(lambda: bool(bench.received[topic]))
    return bench.newest(topic)


class Recorder:
    """Notes what was sent, and runs it through a chain of its own."""

    def __init__(self) -> None:
        self.joints: list[JointBlock] = []
        self.wrenches: list[WrenchBlock] = []
        self._joint_decoder, self._wrench_decoder = joint_decoder(), wrench_decoder()

    def note(self, message: Any) -> Any:
        is_joint = isinstance(message, JointState)
        decoder: Any = self._joint_decoder if is_joint else self._wrench_decoder
        decoder.add(serialize_message(message))
        (self.joints if is_joint else self.wrenches).extend(decoder.take())
        return message

    def efforts(self) -> dict[int, FloatArray]:
        """Efforts (n,) by stamp."""
        blocks = [block for block in self.joints if block.efforts is not None]
        return {s: row for block in blocks for s, row in zip(block.stamps.tolist(), block.efforts, strict=True)}  # type: ignore[arg-type]

    def run(self, robot: str, **settings: Any) -> tuple[Chain, list[Output]]:
        flat = {"estimators": ["links"], "links.effort_unit": "newton_metre", **RIGID, **settings}
        chain = Chain(Robot.from_urdf(read_urdf(robot)), Settings.from_flat(flat), Target.LINKS)
        blocks: list[JointBlock | WrenchBlock] = [*self.joints, *self.wrenches]
        for block in blocks:
            chain.push(block)
        output = chain.process()
        return chain, [] if output is None else [output]


def test_what_is_published_is_what_the_chain_finds(bench: Bench) -> None:
    bench.simulate(**DDARM)
    recorder = Recorder()
    node = start_links(bench)
    assert "/wrench" not in {subscription.topic_name for subscription in node.subscriptions}
    assert not any("/load/" in publisher.topic_name for publisher in node.publishers)
    bench.describe(read_urdf("ddarm"))
    bench.feed(6.0, joints=recorder.note)
    bench.settle()
    chain, (output,) = recorder.run("ddarm")
    estimate = chain.estimate()
    assert isinstance(estimate, LinksEstimate)
    base = restart_numbers(bench, "links/base_parameters")
    np.testing.assert_allclose(base.data, estimate.values, rtol=1e-6, atol=1e-7)
    assert base.layout.dim[0].label.split("; ") == list(estimate.base.texts)
    assert base.layout.dim[1].label.split(", ") == list(estimate.states)
    assert [dim.size for dim in base.layout.dim] == [15, 1]
    covariance = np.array(restart_numbers(bench, "links/base_covariance").data).reshape(15, 15)
    np.testing.assert_allclose(covariance, estimate.covariance, rtol=1e-4, atol=1e-12)
    links = restart_numbers(bench, "links/parameters")
    assert links.layout.dim[0].label.split() == list(estimate.model.arm.parameter_names)
    np.testing.assert_allclose(links.data, complete_links(estimate)[:30], rtol=1e-3, atol=1e-4)
    standing = dict(zip(links.layout.dim[0].label.split(), links.layout.dim[1].label.split(", "), strict=True))
    assert standing["link1.m"] == "not identifiable"
    assert standing["link3.m"] == "only in combinations"
    assert standing["link3.Izz"] == "known"

    predicted = {stamp_of(message): effort_of(message) for message in bench.received["links/effort_predicted"]}
    residual = {stamp_of(message): effort_of(message) for message in bench.received["links/effort_residual"]}
    sent = recorder.efforts()
    assert predicted.keys() == residual.keys() <= sent.keys()
    assert len(predicted) > 0.97 * len(sent)
    for stamp, values in predicted.items():
        assert list(values) == list(residual[stamp]) == JOINTS
        np.testing.assert_allclose([values[j] + residual[stamp][j] for j in JOINTS], sent[stamp], rtol=0, atol=1e-9)
    at = np.searchsorted(output.stamps, sorted(predicted))
    in_order = [[predicted[stamp][joint] for joint in JOINTS] for stamp in sorted(predicted)]
    np.testing.assert_allclose(in_order, output.predicted[at], rtol=0, atol=1e-6)
    bench.assert_all_finite()
    deviations = {stamp_of(message): effort_of(message) for message in bench.received["links/effort_deviation"]}
    assert deviations.keys() <= predicted.keys()
    assert len(deviations) > 100
    assert output.deviation is not None
    newest = [deviations[max(deviations)][joint] for joint in JOINTS]
    np.testing.assert_allclose(newest, output.deviation, rtol=0.05)


def test_diagnostics_say_how_well_each_joint_is_explained(bench: Bench) -> None:
    bench.simulate(**DDARM)
    start_links(bench)
    bench.describe(read_urdf("ddarm"))
    assert bench.status("links").message == "no estimate yet"
    bench.feed(14.0)
    status = bench.status("links")
    assert status.level == DiagnosticStatus.OK
    assert status.message.startswith("Trustworthy: 15 of 15 base parameters are known; the residual is ")
    values = {item.key: item.value for item in status.values}
    fit = re.fullmatch(r"(\S+) % of (\S+) Nm rms, (\d+) rows", values["unexplained of joint1"])
    assert fit is not None
    assert 0.2 < float(fit[1]) < 3.0
    assert 20.0 < float(fit[2]) < 200.0
    assert int(fit[3]) > 200, "not older than it may be"
    assert values["mode"] == "tracking"
    assert values["link3.Izz"].endswith("kg m² (95 %), known")
    assert bench.status("effort").message == "fine"


def test_the_energy_method_predicts_every_joint(bench: Bench) -> None:
    bench.simulate(**DDARM)
    start_links(bench, **{"links.method": "energy"})
    bench.describe(read_urdf("ddarm"))
    bench.feed(6.0)
    values = {item.key: item.value for item in bench.status("links").values}
    for joint in JOINTS:
        assert re.fullmatch(r"\S+ % of \S+ Nm rms, \d+ rows", values[f"unexplained of {joint}"])
    assert list(bench.newest("links/effort_predicted").name) == JOINTS
    bench.assert_all_finite()


def test_load_and_links_are_identified_together(bench: Bench) -> None:
    bench.simulate(**{**DDARM, "load": "none", "tool": "none"}, sign="on_sensor")
    start_links(bench, ("load", "links"))
    bench.describe(read_urdf("ddarm"))
    bench.feed(8.0)
    assert bench.parameters()[0] == pytest.approx(0.0, abs=0.03)
    base = np.array(restart_numbers(bench, "links/base_parameters").data)
    model = Chain(
        Robot.from_urdf(read_urdf("ddarm")),
        Settings.from_flat({"links.joints": JOINTS, "links.effort_unit": "newton_metre", **RIGID}),
        Target.LINKS,
    ).model
    assert model is not None
    deviations = np.sqrt(np.diag(np.reshape(restart_numbers(bench, "links/base_covariance").data, (15, 15))))
    assert np.all(np.abs(base - model.prior) < 4.5 * deviations)
    assert len(bench.received["load/wrench_predicted"]) > 5.0 * RATE
    assert len(bench.received["links/effort_predicted"]) > 5.0 * RATE
    before = restart_numbers(bench, "links/base_parameters").data
    assert bench.set_parameter("load.contact_force", 2.0).successful, "a parameter of the load"
    assert bench.parameters()[0] == 0.0
    np.testing.assert_array_equal(restart_numbers(bench, "links/base_parameters").data, before)


def test_the_load_does_not_change_when_links_are_identified_too(bench: Bench) -> None:
    bench.simulate(tachometer=True, effort=True)
    start_links(bench, ("load", "links"))
    bench.describe()
    bench.feed(6.0)
    truth = read_load("bar")
    assert truth is not None
    assert bench.parameters()[0] == pytest.approx(truth[0], abs=0.03)
    assert bench.status("load").level == DiagnosticStatus.OK


def test_a_base_sensor_alone_needs_neither_efforts_nor_a_wrist_sensor(bench: Bench) -> None:
    bench.simulate(load="none", motion="multisine", tachometer=True, sign="on_sensor", bias=[0.0] * 6)
    recorder = Recorder()
    settings = {"links.source": "base_wrench", "links.base_wrench_sign": "on_ground", "links.effort_unit": ""}
    node = start_links(bench, **settings)
    topics = {publisher.topic_name for publisher in node.publishers}
    assert "/inertid/base/wrench_residual" in topics
    assert "/inertid/links/effort_residual" not in topics
    bench.describe()
    bench.feed(5.0, joints=recorder.note, base_wrench=recorder.note)
    bench.settle()
    sent = {int(s): row for block in recorder.wrenches for s, row in zip(block.stamps, block.wrenches, strict=True)}
    predicted = {stamp_of(m): m for m in bench.received["base/wrench_predicted"]}
    residual = {stamp_of(m): m for m in bench.received["base/wrench_residual"]}
    assert predicted.keys() == residual.keys() <= sent.keys()
    assert len(predicted) > 0.97 * len(sent)
    for stamp, message in predicted.items():
        assert message.header.frame_id == "base_link"
        total = message.wrench.force.z + residual[stamp].wrench.force.z
        assert total == pytest.approx(sent[stamp][2], abs=1e-9)
    assert predicted[max(predicted)].wrench.force.z < -100.0, "the weight, as a load on the ground"
    _, (output,) = recorder.run("puma560", **settings)
    at = np.searchsorted(output.stamps, sorted(predicted))
    forces = [predicted[stamp].wrench.force.z for stamp in sorted(predicted)]
    np.testing.assert_allclose(forces, output.predicted[at, 2], rtol=0, atol=1e-6)


def test_one_joint_without_effort_leaves_the_others_alone(bench: Bench) -> None:
    def spoil(message: JointState) -> JointState:
        message.effort[1] = math.nan
        return message

    bench.simulate(**DDARM)
    start_links(bench)
    bench.describe(read_urdf("ddarm"))
    bench.feed(6.0, joints=spoil)
    bench.settle()
    assert {tuple(message.name) for message in bench.received["links/effort_residual"]} == {("joint1", "joint3")}
    assert {tuple(message.name) for message in bench.received["links/effort_predicted"]} == {tuple(JOINTS)}
    status = bench.status("effort")
    assert status.level == DiagnosticStatus.WARN
    assert "joint2" in status.message
    values = {item.key: item.value for item in bench.status("links").values}
    assert values["unexplained of joint2"] == "no rows"
    bench.assert_all_finite()


def test_joint_states_without_effort_are_called_out(bench: Bench) -> None:
    bench.simulate(**{**DDARM, "effort": False})
    start_links(bench)
    bench.describe(read_urdf("ddarm"))
    bench.feed(2.0)
    status = bench.status("effort")
    assert status.level == DiagnosticStatus.ERROR
    assert "no effort" in status.message
    assert bench.received["links/effort_predicted"] == []


@pytest.mark.parametrize("estimators", [("links",), ("load", "links")])
def test_effort_in_an_unknown_unit_is_refused(
    bench: Bench, estimators: tuple[str, ...], capfd: pytest.CaptureFixture[str]
) -> None:
    node = bench.start("unconfigured", estimators=list(estimators))
    before = [len(list(kind)) for kind in (node.publishers, node.subscriptions, node.services, node.timers)]
    assert node.trigger_configure() == TransitionCallbackReturn.FAILURE
    assert bench.state() == "unconfigured"
    text = capfd.readouterr().err
    assert "links.effort_unit" in text
    assert "newton_metre or ampere" in text
    assert "Traceback" not in text
    assert [len(list(kind)) for kind in (node.publishers, node.subscriptions, node.services, node.timers)] == before
    assert bench.set_parameter("links.effort_unit", "newton_metre").successful
    assert node.trigger_configure() == TransitionCallbackReturn.SUCCESS
    result = bench.set_parameter("links.effort_unit", "")
    assert not result.successful
    assert "links.effort_unit" in result.reason


def test_a_joint_that_the_robot_does_not_have_is_refused(
    bench: Bench, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    urdf = tmp_path / "arm.urdf"
    urdf.write_text(read_urdf("ddarm"), encoding="utf-8")
    node = bench.start(
        "unconfigured",
        estimators=["links"],
        urdf=str(urdf),
        links__effort_unit="newton_metre",
        links__joints=["joint1", "elbow"],
    )
    assert node.trigger_configure() == TransitionCallbackReturn.FAILURE
    assert "joint 'elbow' is not in the robot description" in capfd.readouterr().err


def test_a_robot_that_comes_later_without_the_joints_is_reported(bench: Bench) -> None:
    bench.simulate(**DDARM)
    start_links(bench, **{"links.joints": ["elbow"]})
    bench.describe(read_urdf("ddarm"))
    status = bench.status("robot_description")
    assert status.level == DiagnosticStatus.ERROR
    assert "elbow" in status.message
    assert bench.set_parameter("links.joints", JOINTS).successful
    bench.feed(1.0)
    assert bench.status("robot_description").level == DiagnosticStatus.OK
    assert bench.received["links/effort_predicted"]


def test_efforts_and_base_wrench_together_give_both_predictions(bench: Bench) -> None:
    bench.simulate(**DDARM, bias=[0.0] * 6)
    recorder = Recorder()
    start_links(bench, **{"links.source": "both"})
    bench.describe(read_urdf("ddarm"))
    bench.feed(4.0, joints=recorder.note, base_wrench=recorder.note)
    bench.settle()
    efforts = bench.received["links/effort_predicted"]
    wrenches = {stamp_of(message): message.wrench for message in bench.received["base/wrench_predicted"]}
    assert [stamp_of(message) for message in efforts] == list(wrenches)
    _, (output,) = recorder.run("ddarm", **{"links.source": "both"})
    at = np.searchsorted(output.stamps, list(wrenches))
    np.testing.assert_allclose([list(m.effort) for m in efforts], output.predicted[at, 6:], rtol=0, atol=1e-6)
    moments = [[wrench.torque.x, wrench.torque.y, wrench.torque.z] for wrench in wrenches.values()]
    np.testing.assert_allclose(moments, output.predicted[at, 3:6], rtol=0, atol=1e-6)


class FailingChain(SteppedChain):
    """Fails in its own way, as long as it is told to."""

    failure = ""

    def process(self) -> Output | None:
        output = super().process()
        if self.target is not Target.LINKS:
            return output
        if type(self).failure == "raises":
            raise ZeroDivisionError("out of the blue")
        if type(self).failure == "not finite" and output is not None:
            output.predicted[:] = np.nan
        return output


@pytest.mark.parametrize("failure", ["raises", "not finite"])
def test_a_bug_in_the_chain_of_the_links_is_survived_and_leaves_the_load_alone(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, failure: str, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("inertid_ros.ros.session.Chain", FailingChain)
    monkeypatch.setattr(FailingChain, "failure", failure)
    bench.simulate(**DDARM)
    start_links(bench, ("load", "links"))
    bench.describe(read_urdf("ddarm"))
    bench.feed(2.0)
    assert bench.received["links/effort_predicted"] == []
    assert len(bench.received["load/wrench_predicted"]) > 1.5 * RATE
    assert "report this as a bug" in bench.status("output").message
    assert "Traceback" in capfd.readouterr().err
    monkeypatch.setattr(FailingChain, "failure", "")
    bench.feed(2.0)
    bench.settle()
    assert len(bench.received["links/effort_predicted"]) > 1.5 * RATE
    bench.assert_all_finite()


def test_pause_reset_and_save_are_of_the_links_too(bench: Bench, tmp_path: Path) -> None:
    bench.simulate(**DDARM)
    start_links(bench, save_directory=str(tmp_path))
    refused = bench.call(Trigger, "/inertid/save", Trigger.Request())
    assert not refused.success
    assert "links" in refused.message
    bench.describe(read_urdf("ddarm"))
    bench.feed(6.0)
    bench.settle()
    assert bench.call(SetBool, "/inertid/pause", SetBool.Request(data=True)).success
    before = restart_numbers(bench, "links/base_parameters").data
    bench.feed(1.0)
    np.testing.assert_array_equal(restart_numbers(bench, "links/base_parameters").data, before)
    answer = bench.call(Trigger, "/inertid/save", Trigger.Request())
    assert answer.success, answer.message
    saved = read_estimate(tmp_path / "inertid_links.yaml").need_links()
    np.testing.assert_array_equal(saved.values, before)
    content = yaml.safe_load((tmp_path / "inertid_links.yaml").read_text())
    assert content["links"]["effort_unit"] == "newton_metre"
    assert content["recordings"][0]["first_stamp"] >= START
    assert list(saved.bodies) == ["link1", "link2", "link3"]
    links = restart_numbers(bench, "links/parameters").data
    np.testing.assert_array_equal(saved.bodies["link2"], links[10:20])
    assert bench.call(Trigger, "/inertid/reset", Trigger.Request()).success
    after = np.array(restart_numbers(bench, "links/base_parameters").data)
    assert saved.values[0] != pytest.approx(after[0], abs=1e-6)
    assert restart_numbers(bench, "links/base_parameters").layout.dim[1].label.count("not excited yet") == 15
