"""The page of a practice: errors trial by trial, what was promised, and how the commands changed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from inertid_ros.control.convergence import FREQUENCIES, Convergence
from inertid_ros.control.practice import Practice
from inertid_ros.report.drawing import AMBER, BAND, BLUE, GREY, LINE_COLOURS, Figure
from inertid_ros.report.markup import Html, badge, element, remark, table
from inertid_ros.report.page import make_document

_GRADES = {"learned": "good", "practise": "caution", "stuck": "bad"}
_ERRORS = "Velocity errors of the trials, as measured; the last one is blue."
_COMMANDS = "Efforts that were fed forward in each trial, and in black those for the next."
_GAIN = (
    "Largest part of a command's error that the next trial still has, at each frequency: the median of arms drawn "
    "from the estimate, and the band up to their 95 % quantile. Below 1, errors shrink in every trial."
)


def make_practice_page(
    names: Sequence[str], practices: Sequence[Practice], verdict: tuple[str, str], convergence: Convergence
) -> str:
    """HTML of the whole page, for the joints named."""
    word, text = verdict
    sections = (
        element(
            "section",
            element("h2", badge(word, _GRADES[word]), " ", text),
            element("p", f"By the estimate of the arm, {convergence.describe()}."),
            kind=f"verdict {_GRADES[word]}",
        ),
        element("section", element("h2", "Trial by trial"), _tabulate(names, practices), _draw_trials(practices)),
        element("section", element("h2", "Velocity errors"), _draw_errors(names, practices)),
        element("section", element("h2", "Commands"), _draw_commands(names, practices)),
        element("section", element("h2", "Convergence"), _draw_gain(convergence)),
    )
    subtitle = f"{len(practices)} trial{'s' if len(practices) > 1 else ''} of {', '.join(names)}"
    title = "Learning by practice"
    return make_document(title, (element("h1", title), element("p", subtitle, kind="subtitle"), *sections))


def _tabulate(names: Sequence[str], practices: Sequence[Practice]) -> Html:
    heads = ["trial", *(f"{name} [rad/s or m/s]" for name in names), "largest distance", "of the first", "noise"]
    first = np.linalg.norm(practices[0].velocity_error)
    rows = []
    for number, practice in enumerate(practices, start=1):
        part = np.linalg.norm(practice.velocity_error) / first
        far = ", ".join(f"{value:.4f}" for value in practice.position_error)
        noise = ", ".join(f"{value:.4f}" for value in practice.noise)
        rows.append([number, *(f"{value:.4f}" for value in practice.velocity_error), far, f"{100 * part:.0f} %", noise])
    about = remark("Root mean square of the velocity error during the motion, and what noise alone would leave of it.")
    return Html(table(heads, rows, "numbers") + about)


def _draw_trials(practices: Sequence[Practice]) -> Html:
    figure = Figure(280)
    numbers = np.arange(1.0, len(practices) + 1.0)
    for name, colour, values in (
        ("velocity error", BLUE, [float(np.linalg.norm(practice.velocity_error)) for practice in practices]),
        ("noise", GREY, [float(np.linalg.norm(practice.noise)) for practice in practices]),
    ):
        figure.draw_line(0, numbers, np.array(values), name, colour, 2.0, "%{y:.4f}", mode="lines+markers")
    figure.x(0).update(title={"text": "trial"}, dtick=1)
    figure.y(0).update(type="log", title={"text": "norm over the joints"})
    return figure.show("plot-trials", "Error of each trial, all joints together.")


def _draw_errors(names: Sequence[str], practices: Sequence[Practice]) -> Html:
    figure = Figure(170 * len(names) + 80, [str(name) for name in names], spacing=(0.0, 0.08))
    for number, practice in enumerate(practices):
        colour = BLUE if practice is practices[-1] else LINE_COLOURS[number % (len(LINE_COLOURS) - 1) + 1]
        error = practice.trial.velocities - practice.desired.velocities
        for joint in range(len(names)):
            figure.draw_line(
                joint, practice.trial.times, error[:, joint], f"trial {number + 1}", colour, 1.0, "",
                legendgroup=str(number), showlegend=joint == 0,
            )  # fmt: skip
    figure.x(len(names) - 1)["title"] = {"text": "time [s]"}
    return figure.show("plot-errors", _ERRORS)


def _draw_commands(names: Sequence[str], practices: Sequence[Practice]) -> Html:
    figure = Figure(170 * len(names) + 80, [str(name) for name in names], spacing=(0.0, 0.08))
    commands = [(f"trial {k}", item.trial.times, item.trial.feedforward) for k, item in enumerate(practices, 1)]
    commands.append(("next", practices[-1].trial.times, practices[-1].command))
    for number, (name, times, values) in enumerate(commands):
        colour = "#000000" if name == "next" else LINE_COLOURS[number % len(LINE_COLOURS)]
        sent = times >= 0.0
        for joint in range(len(names)):
            figure.draw_line(
                joint, times[sent], values[sent, joint], name, colour, 1.2, "", legendgroup=name, showlegend=joint == 0
            )
    figure.x(len(names) - 1)["title"] = {"text": "time [s]"}
    return figure.show("plot-commands", _COMMANDS)


def _draw_gain(convergence: Convergence) -> Html:
    figure = Figure(260)
    likely, most = convergence.gains.T
    figure.draw_line(0, FREQUENCIES, likely, "median", BLUE, 2.0, "%{y:.2f}")
    figure.draw_line(0, FREQUENCIES, most, "95 %", BLUE, 0.5, "%{y:.2f}", fill="tonexty", fillcolor=BAND)
    ones = np.ones(len(FREQUENCIES))
    figure.draw_line(0, FREQUENCIES, ones, "errors stay as they are", AMBER, 1.0, "")
    figure.x(0).update(type="log", title={"text": "frequency [Hz]"})
    return figure.show("plot-gain", _GAIN)
