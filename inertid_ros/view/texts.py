"""What is said in the page: verdicts, parameters with their states, what to do next. HTML, with all text escaped."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from inertid_ros.core.diagnosis import Level
from inertid_ros.core.estimation.states import ParameterState
from inertid_ros.guide.dialogue import Instruction
from inertid_ros.text.numbers import format_estimate
from inertid_ros.view.instant import Instant, Parameters, Verdict

IDENTIFIED = ("load", "links")
"""Names of the verdicts on what is identified; all others are on inputs."""

_LEVELS: Mapping[Level, str] = {"info": "#2b8a3e", "warning": "#b35c00", "error": "#c92a2a"}
_STATES = {
    ParameterState.KNOWN.value: _LEVELS["info"],
    ParameterState.UNCERTAIN.value: _LEVELS["warning"],
    ParameterState.NOT_EXCITED.value: "#868e96",
}
_STYLE = "font-size:13px;line-height:1.35;padding:2px 10px;overflow-wrap:anywhere"
_TABLE = "border-spacing:0;width:100%;font-size:12px;overflow-wrap:normal"
"""Names and values stay in one piece in the panel of a phone, which has 246 pixels for them."""
_CELL = "padding:1px 6px 1px 0;vertical-align:top"


def write_headline(instant: Instant) -> str:
    """The verdict on what is identified, and what the estimator does."""
    names = [name for name in IDENTIFIED if name in instant.verdicts]
    lines = [_write_verdict(name, instant.verdicts[name]) for name in names]
    if not lines:
        lines = ["Waiting for the estimator: start one (inertid node), or name the one that runs (--node)."]
    mode = f"<div>{instant.time:.1f} s{', ' + escape(instant.mode) if instant.mode else ''}</div>"
    return _wrap("".join(lines) + (mode if names else ""))


def write_parameters(parameters: Parameters | None) -> str:
    """A table of all parameters with 95 % intervals and states."""
    if parameters is None:
        return _wrap("No estimate yet.")
    rows = [
        f'<tr><td style="{_CELL}">{escape(name)}</td>'
        f'<td style="{_CELL};white-space:nowrap">{escape(_write_value(value, deviation, unit, state))}</td>'
        f'<td style="{_CELL};color:{_STATES.get(state, "inherit")}">{escape(state)}</td></tr>'
        for name, unit, value, deviation, state in zip(*parameters, strict=True)
    ]
    return _wrap(f'<table style="{_TABLE}">{"".join(rows)}</table>')


def _write_value(value: float, deviation: float, unit: str, state: str) -> str:
    return "–" if state == ParameterState.NOT_EXCITED else format_estimate(value, deviation, unit)


def write_findings(verdicts: Mapping[str, Verdict]) -> str:
    """What is said for and against the estimate, whose verdicts are in the headline, and of its inputs."""
    parts = [f"<li>{escape(remark)}</li>" for verdict in verdicts.values() for remark in verdict.remarks]
    listed = f'<ul style="margin:2px 0 4px 16px;padding:0">{"".join(parts)}</ul>' if parts else ""
    inputs = [_write_verdict(name, verdict) for name, verdict in verdicts.items() if name not in IDENTIFIED]
    return _wrap(listed + "".join(inputs))


def _write_verdict(name: str, verdict: Verdict) -> str:
    title = f'<b style="color:{_LEVELS[verdict.level]}">{escape(name)}</b>'
    return f'<div style="margin-bottom:3px">{title} {escape(verdict.headline)}</div>'


def write_instruction(instruction: Instruction | None) -> str:
    """What to do next, by the guided procedure."""
    if instruction is None:
        return _wrap("Leads you through identifying a payload, pose by pose. You move the robot.")
    details = "".join(f"<div>{escape(line)}</div>" for line in instruction.details)
    return _wrap(f"<b>{escape(instruction.text)}</b>{details}")


def write_line(text: str, level: Level = "info") -> str:
    """One line, such as the answer of a service; empty for none."""
    return _wrap(f'<span style="color:{_LEVELS[level]}">{escape(text)}</span>') if text else ""


def write_legend(colours: Mapping[str, tuple[int, int, int]], missing: int) -> str:
    """What the colours of the scene mean, and how many parts of the robot could not be drawn."""
    marks = [
        f'<span style="white-space:nowrap"><span style="color:rgb{colour}">■</span> {escape(name)}</span>'
        for name, colour in colours.items()
    ]
    lost = f"<div>{missing} meshes of the robot could not be read, see the terminal.</div>" if missing else ""
    return _wrap(f"{' '.join(marks)}{lost}")


def _wrap(content: str) -> str:
    return f'<div style="{_STYLE}">{content}</div>'
