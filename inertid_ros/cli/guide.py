"""`inertid guide`: leads through identifying a payload on a running robot, by keyboard alone."""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import rclpy
from rclpy.executors import Executor
from rclpy.logging import LoggingSeverity
from rclpy.node import Node
from rclpy.task import Future
from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from inertid_ros.cli.command import FAILED, OK, STOPPED, say
from inertid_ros.cli.demo.view import STYLES
from inertid_ros.cli.demo.view import Snapshot as View
from inertid_ros.cli.keyboard import Keyboard
from inertid_ros.cli.observer import Call, Observer
from inertid_ros.core.errors import InertidError
from inertid_ros.core.rigid_body.inertial import PARAMETER_NAMES
from inertid_ros.files.access import expand
from inertid_ros.files.document import read_mapping
from inertid_ros.guide.dialogue import ENTER, Instruction, Moment
from inertid_ros.guide.procedure import Procedure, guide
from inertid_ros.ros.main import compile_kernels, make_estimator, prepare_kernels
from inertid_ros.ros.runtime import end_nodes, make_executor, ros_session
from inertid_ros.ros.saving import LOAD_FILE
from inertid_ros.text.numbers import format_parameter

DISCOVERY = 3.0
"""Seconds in which a running estimator is found; after that one is started here."""
REFRESH = 0.1
"""Seconds between two looks at the robot and at the keyboard."""


def run(options: argparse.Namespace) -> int:
    """Lead through the procedure; 0 if a load was saved that can be used."""
    compile_kernels(STOPPED)
    end: Instruction | None = None
    show: Callable[[Instruction, View], None] = JsonLines() if options.json else Screen()
    with ros_session(options.ros_arguments or []), Keyboard(options.yes) as keyboard:
        observer = Observer(options.node)
        executor = make_executor(observer.node)
        executor.add_node(observer.node)
        nodes = [observer.node]
        try:
            nodes += start_estimator(observer, executor)
            procedure = guide(True if options.tool else False if options.yes else None)
            end = lead(procedure, observer, keyboard.read, show, lambda: spin(executor))
            if end.success:
                show_snippets(observer, options.json)
        finally:
            if isinstance(show, Screen):
                show.close()
            end_nodes(executor, *nodes)
    if end is None:  # ros_session leaves the block quietly on SIGINT and SIGTERM
        raise KeyboardInterrupt
    return OK if end.success else FAILED


def spin(executor: Executor) -> None:
    """Serve the nodes until the next look; KeyboardInterrupt if the process is asked to stop."""
    executor.spin_until_future_complete(Future(), timeout_sec=REFRESH)
    if not rclpy.ok():
        raise KeyboardInterrupt


def ask(question: str, keyboard: Keyboard, pass_time: Callable[[], None]) -> None:
    """Wait until a question is answered with yes; everything goes on meanwhile."""
    say(f"{question} [enter] go on, [q] quit")
    while keyboard.read([ENTER], True) != ENTER:
        pass_time()


def start_estimator(observer: Observer, executor: Executor) -> list[Node]:
    """Start an estimator in this process unless one is found; returns those that were started."""
    found_by = time.monotonic() + DISCOVERY
    while not observer.hears_estimator:
        if time.monotonic() > found_by:
            say("no estimator is running: one is started here")
            prepare_kernels()
            node = make_estimator()
            node.get_logger().set_level(LoggingSeverity.ERROR)  # the rest is shown anyway
            executor.add_node(node)
            return [node]
        spin(executor)
    return []


def lead(
    procedure: Procedure,
    observer: Observer,
    read_key: Callable[[list[str], bool], str],
    show: Callable[[Instruction, View], None],
    pass_time: Callable[[], None],
) -> Instruction:
    """Go through a procedure, look after look, and return its last instruction."""
    guided = Guided(procedure, observer)
    while guided.instruction.success is None:
        pass_time()
        show(guided.instruction, observer.latest)
        guided.go_on(read_key(list(guided.instruction.keys), guided.instruction.asks))
    show(guided.instruction, observer.latest)
    return guided.instruction


class Guided:
    """A procedure under way with an estimator, whose services it asks for; `instruction` is what to do now."""

    def __init__(self, procedure: Procedure, observer: Observer) -> None:
        """Begin."""
        self._procedure, self._observer = procedure, observer
        self._call: Call | None = None
        self.instruction = next(procedure)

    def go_on(self, key: str = "") -> None:
        """Look, and tell the procedure what key was pressed."""
        answer = None if self._call is None else self._call.take_answer()
        self.instruction = self._procedure.send(Moment(self._observer.listen(), key, answer))
        if self.instruction.call:
            self._call = self._observer.call(self.instruction.call)


def find_news(instruction: Instruction, states: tuple[str, ...]) -> tuple[object, ...]:
    """What must differ for an instruction to be written again: not the numbers in its details."""
    return instruction.text, re.sub(r"[\d.]+", "", "\n".join(instruction.details)), tuple(instruction.keys), states


class JsonLines:
    """Writes one JSON object per line whenever there is something new."""

    def __init__(self) -> None:
        """Nothing was written yet."""
        self._news: tuple[object, ...] = ()

    def __call__(self, instruction: Instruction, view: View) -> None:
        """Write an instruction with the parameters as they are known by now."""
        news = find_news(instruction, view.states)
        if news != self._news:
            self._news = news
            print(json.dumps({**asdict(instruction), "parameters": list_parameters(view)}), flush=True)


class Screen:
    """Shows instructions: redrawn in a terminal, line by line elsewhere."""

    def __init__(self) -> None:
        """Take over the screen if it is a terminal."""
        self._console = Console(highlight=False, markup=False)
        self._live = Live(console=self._console, auto_refresh=False, transient=True)
        self._news: tuple[object, ...] = ()
        self._shown: list[str] = []
        if self._console.is_terminal:
            self._live.start()

    def close(self) -> None:
        """Give the screen back."""
        self._live.stop()

    def __call__(self, instruction: Instruction, view: View) -> None:
        """Show an instruction, and the parameters as they are known by now."""
        lines = [Text(instruction.text, style="bold"), *(Text(f"  {line}") for line in instruction.details)]
        lines += [Text(f"  [{key}] {meaning}", style="cyan") for key, meaning in instruction.keys.items()]
        news = find_news(instruction, view.states)
        if self._live.is_started and instruction.success is None:
            shown = [str(line) for line in (*lines, list_parameters(view))]
            if shown != self._shown:  # a line that is slow is not redrawn for nothing
                self._shown = shown
                self._live.update(Group(*lines, Text("  [q] quit", style="cyan"), make_progress(view)), refresh=True)
        elif news != self._news:
            known = [f"{name}: {entry['text']}" for name, entry in list_parameters(view).items()]
            self._console.print(*lines, *(known if news[-1:] != self._news[-1:] else []), sep="\n", soft_wrap=True)
        self._news = news


def list_parameters(view: View) -> dict[str, dict[str, Any]]:
    """Value, standard deviation and state of each parameter by now, also in words; empty before the first estimate."""
    if not view.states or not view.covariance.size:
        return {}
    deviations = np.sqrt(np.diag(view.covariance)).tolist()
    described = zip(PARAMETER_NAMES, view.values.tolist(), deviations, view.states, strict=True)
    return {
        name: {
            "value": value,
            "deviation": deviation,
            "state": state,
            "text": format_parameter(i, value, deviation, state),
        }
        for i, (name, value, deviation, state) in enumerate(described)
    }


def make_progress(view: View) -> Table:
    """The parameters with their states."""
    table = Table.grid(padding=(0, 2))
    for name, entry in list_parameters(view).items():
        table.add_row(f"  {name}", Text(entry["text"], style=STYLES[entry["state"]]))
    return table


def show_snippets(observer: Observer, as_json: bool) -> None:
    """Print what can be pasted elsewhere from the file that the estimator wrote, if it is on this machine."""
    path = expand(Path(observer.parameters["save_directory"])) / LOAD_FILE
    try:
        snippets = dict(read_mapping(path).section("paste").content)
    except InertidError as error:
        say(f"the file is where the estimator runs, with lines to paste elsewhere: {error}")
        return
    if as_json:
        print(json.dumps({"step": "paste", **snippets}), flush=True)
        return
    for receiver, text in snippets.items():
        print(f"\n{receiver}:\n{text if isinstance(text, str) else json.dumps(text)}", file=sys.stdout)
