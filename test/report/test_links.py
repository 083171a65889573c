"""The report on links: what it says in words, what it draws, and that a browser shows it."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from support.browser import load
from support.link_bags import simulate_ddarm
from support.report_traces import found_in, link_trace, puma_trace, record_links

from inertid_ros.bags.bag import Topics
from inertid_ros.core.verdict import find_share
from inertid_ros.files.estimate import read_estimate
from inertid_ros.files.estimate_writer import write_estimate
from inertid_ros.motions.motion import JointPath, Motion, Repeat, paper_ddarm_link_moves, round_trip
from inertid_ros.replay.combine import make_document
from inertid_ros.report.convergence import draw_link_states, iterate_link_convergence
from inertid_ros.report.page import make_page, write_report
from inertid_ros.report.plot import draw_links
from inertid_ros.report.signals import SignalView, draw_distribution, draw_residual, draw_signals, draw_spectrum
from inertid_ros.report.verdict import find_unmoved, grade, list_link_sentences


class Stiff:
    """A motion in which one joint stands still."""

    def __init__(self, motion: Motion, joint: int) -> None:
        self._motion = motion
        self._joint = joint
        self.duration = motion.duration
        self.joint_count = motion.joint_count

    def at(self, times: np.ndarray) -> JointPath:  # type: ignore[type-arg]
        path = self._motion.at(times)
        positions, velocities, accelerations = (values.copy() for values in path)
        positions[:, self._joint] = 0.3
        velocities[:, self._joint] = accelerations[:, self._joint] = 0.0
        return JointPath(positions, velocities, accelerations)


def test_good_data_is_to_be_trusted() -> None:
    verdict = link_trace().verdict
    assert grade(verdict) == "good"
    assert re.fullmatch(
        r"Trustworthy: 25 of 25 base parameters are known; the residual is \d\.\d % of what was measured "
        r"\(URDF alone: \d\d\.\d %\)\.",
        verdict.headline,
    )


def test_a_joint_that_never_moved_is_named() -> None:
    motion = Stiff(Repeat(round_trip(paper_ddarm_link_moves())), 2)
    trace = record_links(simulate_ddarm(1, motion).joints(0.0, 8.0))
    assert find_unmoved(trace) == ["joint3"]
    assert grade(trace.verdict) == "caution"
    texts = {sentence.subject: sentence.text for sentence in list_link_sentences(trace, trace.verdict)}
    assert texts["Motion"].startswith("joint3 never moved, so the numbers for it are meaningless. To do: move it")
    assert "joint3" in texts["Base parameters"]


def test_fit_is_that_of_the_rows_over_all_joints() -> None:
    """What the URDF leaves is found from the information, and is what a chain that predicts with it leaves."""
    trace, fit = link_trace(), link_trace().estimate.fit
    assert fit is not None
    assert fit.urdf_rms is not None
    rms, measured = fit.residual_rms, fit.measured_rms
    assert find_share(fit, rms) == pytest.approx(np.linalg.norm(rms) / np.linalg.norm(measured), rel=1e-3)
    np.testing.assert_allclose(fit.urdf_rms, trace.urdf.rows.rms, rtol=0.02)


def test_convergence_ends_at_the_estimate() -> None:
    trace = link_trace()
    figures = dict(iterate_link_convergence(trace))
    assert list(figures) == ["joint1 and link1", "joint2 and link2", "joint3 and link3"]
    last = sorted(
        float(line["y"][-1]) for figure in figures.values() for line in figure.data if line["name"] == "estimate"
    )
    np.testing.assert_allclose(last, sorted(trace.estimate.values), rtol=1e-9)
    (strip,) = draw_link_states(trace).data
    assert np.asarray(strip["z"]).shape == (len(trace.estimate.names), len(trace.convergence.times))


def test_efforts_are_drawn_with_what_the_urdf_predicts() -> None:
    view = SignalView.of(link_trace())
    names = [line["name"] for line in draw_signals(view).data]
    assert names == ["measured"] * 3 + ["URDF alone"] * 3 + ["predicted"] * 3
    assert len(draw_residual(view).data) == 3
    assert [line["name"] for line in draw_spectrum(view).data] == ["joint1", "joint2", "joint3"]
    assert len([bar for bar in draw_distribution(view).data if bar["type"] == "bar"]) == 3


def test_early_predictions_do_not_set_the_range() -> None:
    trace = link_trace()
    predicted = replace(trace.signals.predicted, high=trace.signals.predicted.high + 1e4)
    figure = draw_signals(SignalView.of(replace(trace, signals=replace(trace.signals, predicted=predicted))))
    assert trace.signals.by_urdf is not None
    largest = max(np.nanmax(trace.signals.measured.high), np.nanmax(trace.signals.by_urdf.high))
    assert largest < figure.y(0)["range"][1] < 3.0 * largest


def test_page_has_load_and_links_where_both_were_identified() -> None:
    text = make_page(found_in(puma_trace(), link_trace()))
    for section in ("load", "wrench", "links", "effort", "input"):
        assert text.count(f'<section id="{section}">') == 1
    assert text.count('<section class="verdict') == 2
    assert "Load on ft_sensor, links link1 to link3" in text


def test_browser_shows_every_plot(tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    write_report(found_in(None, link_trace()), page)
    document, errors = load(page, tmp_path / "profile")
    assert not errors
    drawn = {part.split('"')[0]: part for part in re.split(r'<div id="plot-', document)[1:]}
    plots = {"links-0", "links-1", "links-2", "link-states", "efforts", "effort-residual", "effort-spectrum"}
    assert set(drawn) == plots | {"effort-distribution"}
    for name, part in drawn.items():
        assert re.search(r'class="(trace |hm|points|js-line)', part), name


def test_page_escapes_names_and_is_bounded() -> None:
    trace = link_trace()
    nasty = replace(trace, channels=("<script>alert(1)</script>", "b", "c"))
    text = make_page(found_in(None, nasty))
    assert "<script>alert(1)" not in text
    library = len(re.findall("(?s)<script>.*?</script>", text)[0])
    assert len(text) - library < 3_000_000


def test_picture_has_every_parameter_and_channel(tmp_path: Path) -> None:
    path = tmp_path / "estimate.json"
    write_estimate(path, make_document(found_in(None, link_trace()), Topics()))
    links = read_estimate(path).need_links()
    figure = draw_links(links, "bag.mcap")
    labels = [label.get_text().split("\n") for axis in figure.axes for label in axis.get_xticklabels()]
    assert {label[0] for label in labels} == set(links.names) | {"joint1", "joint2", "joint3"}
    assert sum(len(label) == 2 and " ± " in label[1] for label in labels) == len(links.names)
    units = [axis.get_title().partition("[")[2] for axis in figure.axes]
    assert units == ["kg m]", "kg m²]", "Nm s/rad]", "Nm]", ""]
    assert "from effort in bag.mcap" in figure.get_supxlabel()
