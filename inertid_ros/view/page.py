"""The page: the scene, and beside it a panel with controls, verdicts, parameters, plots and the guide."""

from __future__ import annotations

from collections.abc import Sequence
from queue import Empty, SimpleQueue
from typing import Any, Literal

import numpy as np

from inertid_ros.core.diagnosis import Level
from inertid_ros.core.records import FloatArray
from inertid_ros.core.robot.robot import Robot
from inertid_ros.guide.dialogue import Instruction
from inertid_ros.view import texts
from inertid_ros.view.drawing import COLOURS, Drawing
from inertid_ros.view.instant import Instant
from inertid_ros.view.shapes import Shape
from inertid_ros.view.tracks import WINDOW, Tracks

SERVICES = {"Reset": "reset", "Capture tool": "capture_tool", "Save": "save"}
"""Buttons for services of the estimator."""
PAUSE, RESUME, PLAY, GUIDE, END = "Pause", "Resume", "Play", "Start the guide", "End the guide"
KEY = "key "
"""What an action begins with that answers the guide."""
_KEYS = 3
"""Answers that the guide offers at most."""
_HEIGHT = 220.0
"""Of a plot [pixels]."""
_LAYOUTS = 4
"""Updates of plots, one of which is of their layout: the browser leaves out the ticks of a plot that gets its size, for
instance as somebody opens it, together with new curves."""
_NOTHING = (np.zeros(1),) * 4
_PARAMETER = ("", "rgba(0, 0, 0, 0)", "rgba(0, 0, 0, 0)", "#1c3faa")
_BAND = {"series": (2, 1), "fill": "rgba(76, 110, 245, 0.25)"}
_CHANNEL = ("", *(f"rgb{COLOURS[name]}" for name in ("measured", "predicted", "residual")))
"""Colours of the curves, of which the first is time."""
TEXTS = 8
"""Pictures between two updates of texts and plots: people read no faster."""


class Page:
    """What is shown, and what people ask for."""

    def __init__(self, server: Any, duration: float | None = None) -> None:
        """Fill the page of viser's server: with buttons for an estimator, or for a recording of so many seconds."""
        self._server, self._gui = server, server.gui
        self._drawing = Drawing(server)
        self._actions: SimpleQueue[str] = SimpleQueue()
        self._written: dict[str, str] = {}
        self._shown: tuple[tuple[str, ...], tuple[str, ...]] = (), ()
        self._updates = 0
        self._boxes: dict[str, Any] = {"headline": self._gui.add_html("")}
        self._slider: Any = None
        self._span = (-WINDOW, 0.0) if duration is None else (0.0, duration)
        if duration is None:
            self._toggle = self._add_group((PAUSE, *SERVICES))
        else:
            self._slider = self._gui.add_slider("time [s]", 0.0, round(duration, 2), 0.01, 0.0)
            self._toggle = self._add_group((PLAY,))
        self._boxes["answer"] = self._gui.add_html("")
        tabs = self._gui.add_tab_group()
        with tabs.add_tab("Estimate"):
            self._boxes |= {name: self._gui.add_html("") for name in ("parameters", "findings")}
        with tabs.add_tab("Plots"):
            self._add_plots()
        if duration is None:
            with tabs.add_tab("Guide"):
                self._add_guide()
        self._boxes["legend"] = self._gui.add_html("")
        self._write("legend", texts.write_legend(COLOURS, 0))

    def _add_group(self, options: Sequence[str]) -> Any:
        group = self._gui.add_button_group("", options)
        group.on_click(lambda _: self._actions.put(group.value))
        return group

    def _add_plots(self) -> None:
        self._parameter = self._gui.add_dropdown("parameter", ("–",))
        self._parameter_plot = self._add_plot(_PARAMETER, (_BAND,))
        self._channel = self._gui.add_dropdown("channel", ("–",))
        self._channel_plot = self._add_plot(_CHANNEL, ())

    def _add_plot(self, colours: Sequence[str], bands: tuple[Any, ...]) -> Any:
        return self._gui.add_uplot(
            _NOTHING,
            tuple({"stroke": colour, "width": 1.5} for colour in colours),
            bands=bands,
            scales={"x": {"time": False, "range": self._span}},  # left to viser, it drifts away from a moving window
            axes=({"label": "time [s]", "labelSize": 20, "size": 28}, {"size": 56}),
            height=_HEIGHT,
            padding=(12, 24, 0, 0),
            cursor={"show": False},
            legend={"show": False},
        )

    def _add_guide(self) -> None:
        self._boxes["guide"] = self._gui.add_html("")
        self._keys: list[Any] = []
        self._key_names: tuple[str, ...] = ()
        for number in range(_KEYS):
            button = self._gui.add_button("", visible=False)
            button.on_click(lambda _, number=number: self._press(number))
            self._keys.append(button)
        self._guide = self._gui.add_button(GUIDE)
        self._guide.on_click(lambda _: self._actions.put(self._guide.label))
        self.instruct(None)

    def _press(self, number: int) -> None:
        if number < len(self._key_names):
            self._actions.put(KEY + self._key_names[number])

    # What people ask for

    @property
    def is_watched(self) -> bool:
        """Whether anybody has opened the page."""
        return bool(self._server.get_clients())

    @property
    def time(self) -> float:
        """Where the slider is [s]."""
        return float(self._slider.value)

    @time.setter
    def time(self, seconds: float) -> None:
        self._slider.value = seconds

    def take_actions(self) -> list[str]:
        """The buttons that were clicked since the last time."""
        actions = []
        try:
            while True:
                actions.append(self._actions.get_nowait())
        except Empty:
            return actions

    # What is shown

    def show_robot(self, robot: Robot, shape: Shape) -> None:
        """Draw a robot."""
        with self._server.atomic():
            self._drawing.show_robot(robot, shape)
        self._write("legend", texts.write_legend(COLOURS, len(shape.missing)))

    def move(self, instant: Instant) -> None:
        """Move the robot and its wrenches: many times a second."""
        with self._server.atomic():
            self._drawing.move(instant)

    def tell(self, instant: Instant, tracks: Tracks) -> None:
        """Show all else: a few times a second."""
        self._updates += 1
        self._drawing.show_load(instant)
        self._write("headline", texts.write_headline(instant))
        self._write("parameters", texts.write_parameters(instant.parameters))
        self._write("findings", texts.write_findings(instant.verdicts))
        parameters, signals = instant.parameters, instant.signals
        if parameters is not None:
            labels = _label(parameters.names, parameters.units)
            index = self._choose(0, self._parameter, labels)
            self._plot(self._parameter_plot, instant.time, tracks.draw_parameter(index, len(labels), instant.time))
        if signals is not None:
            labels = _label(signals.channels, signals.units)
            index = self._choose(1, self._channel, labels)
            self._plot(self._channel_plot, instant.time, tracks.draw_channel(index, len(labels), instant.time))

    def offer(self, toggle: str) -> None:
        """Say what the first button does: pause or resume, play or pause."""
        if self._toggle.options[0] != toggle:
            self._toggle.options = (toggle, *self._toggle.options[1:])

    def answer(self, text: str, level: Level = "info") -> None:
        """Say what came of a button."""
        self._write("answer", texts.write_line(text, level))

    def instruct(self, instruction: Instruction | None) -> None:
        """Show what the guide says, with its answers as buttons; None where nobody is guided."""
        keys: dict[str, str] = {} if instruction is None else dict(instruction.keys)
        self._write("guide", texts.write_instruction(instruction))
        self._drawing.show_goal({} if instruction is None else instruction.targets)
        if tuple(keys) != self._key_names:
            self._key_names = tuple(keys)
        labels = [*keys.values()][:_KEYS]
        for number, button in enumerate(self._keys):
            _assign(button, "visible", number < len(labels))
            if number < len(labels):
                _assign(button, "label", labels[number])
        is_over = instruction is None or instruction.success is not None
        _assign(self._guide, "label", GUIDE if is_over else END)

    def _write(self, name: str, content: str) -> None:
        if self._written.get(name) != content:
            self._written[name] = content
            self._boxes[name].content = content

    def _choose(self, which: Literal[0, 1], dropdown: Any, labels: tuple[str, ...]) -> int:
        """The index that is chosen; where there are other labels than before, the first."""
        if self._shown[which] != labels:
            self._shown = (labels, self._shown[1]) if which == 0 else (self._shown[0], labels)
            dropdown.options = labels
            dropdown.value = labels[0]
        return labels.index(dropdown.value) if dropdown.value in labels else 0

    def _plot(self, plot: Any, now: float, curves: tuple[FloatArray, ...]) -> None:
        """Show curves over time: of a recording since its beginning, else before now."""
        if self._updates % _LAYOUTS == 0:
            plot.height = _HEIGHT + 0.01 * (plot.height == _HEIGHT)  # invisible, but a new size
            return
        times, *values = curves
        shown = times if self._slider is not None else times - now, *values
        if not all(map(np.array_equal, shown, plot.data)):
            plot.data = shown if len(times) else _NOTHING


def _label(names: Sequence[str], units: Sequence[str]) -> tuple[str, ...]:
    return tuple(f"{name} [{unit}]" for name, unit in zip(names, units, strict=True))


def _assign(handle: Any, name: str, value: Any) -> None:
    if getattr(handle, name) != value:
        setattr(handle, name, value)
