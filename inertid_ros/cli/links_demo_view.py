"""What the links' demonstration shows: base parameters against the truth, torques against what is predicted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from rich.console import Group
from rich.table import Table
from rich.text import Text

from inertid_ros.cli.demo_verdict import judge
from inertid_ros.cli.demo_view import STATE_STYLES
from inertid_ros.cli.links_demo_arm import Torques
from inertid_ros.cli.terminal_plot import plot_curves
from inertid_ros.core.records import FloatArray
from inertid_ros.text.numbers import format_estimate
from inertid_ros.text.parameters import count_states

MEASURED, MODELLED, IDENTIFIED = "white", "red", "green"
_WIDTH, _HEIGHT = 72, 6


@dataclass(frozen=True, slots=True)
class LinksSnapshot:
    """What is shown at one moment.

    Attributes:
        time: seconds since the first estimate.
        phase: what is going on, in words.
        texts: the B combinations.
        modelled: (B,) by the CAD model.
        truth: (B,).
        values, covariance, states: what the estimator says.
        lines: the newest lines of its log.
    """

    time: float
    phase: str
    texts: tuple[str, ...]
    modelled: FloatArray
    truth: FloatArray
    values: FloatArray
    covariance: FloatArray
    states: tuple[str, ...]
    lines: tuple[str, ...]


def make_table(snapshot: LinksSnapshot, title: str) -> Table:
    """Return the base parameters against CAD model and truth."""
    table = Table(title=title, title_justify="left")
    table.add_column("parameter", overflow="fold")
    for heading in ("CAD", "truth", "estimate ± 95 %", "inside"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("state", min_width=15)
    inside = judge(snapshot.values, snapshot.covariance, snapshot.truth).inside
    deviations = np.sqrt(np.diag(snapshot.covariance))
    for index, state in enumerate(snapshot.states):
        excited = state != "not excited yet"
        estimate = format_estimate(snapshot.values[index], deviations[index]) if excited else "-"
        mark = ("yes" if inside[index] else "no") if excited else "-"
        numbers = f"{snapshot.modelled[index]:.4f}", f"{snapshot.truth[index]:.4f}"
        table.add_row(Text(snapshot.texts[index]), *numbers, estimate, mark, Text(state, style=STATE_STYLES[state]))
    return table


def make_line(snapshot: LinksSnapshot) -> str:
    """Return the same in one line."""
    return f"{snapshot.time:5.1f} s  {snapshot.phase}: {count_states(snapshot.states)}"


def draw_torques(joints: Sequence[str], torques: Torques, samples: slice) -> Group:
    """Draw some samples of each joint's torque over those that either set of parameters predicts (their figure 8)."""
    parts: list[Text] = []
    for index, joint in enumerate(joints):
        measured, modelled, identified = (values[samples, index] for values in torques)
        title = Text.assemble(
            f"{joint} [{measured.min():.0f} to {measured.max():.0f} Nm]: ",
            ("measured", MEASURED), ", ", ("CAD", MODELLED), ", ", ("identified", IDENTIFIED),
        )  # fmt: skip
        curves = [(MODELLED, modelled), (MEASURED, measured), (IDENTIFIED, identified)]
        parts += [title, plot_curves(curves, _WIDTH, _HEIGHT)]
    return Group(*parts)
