"""`inertid view`: the page of a running estimator, or of a recording."""

from __future__ import annotations

import argparse
import dataclasses
import time
from contextlib import suppress
from itertools import count
from pathlib import Path

from inertid_ros.bags.bag import Bag
from inertid_ros.cli.command import OK, complain, make_plan, say, show_progress
from inertid_ros.replay.replay import Replay
from inertid_ros.ros.main import check_ros
from inertid_ros.view.film import ESTIMATES, Film, Screening
from inertid_ros.view.page import PAUSE, PLAY, TEXTS, Page
from inertid_ros.view.server import ViewError, locate, serve
from inertid_ros.view.shapes import list_parts

PERIOD = 1.0 / 30.0
"""Seconds between two pictures."""


def run(options: argparse.Namespace) -> int:
    """Serve the page until Ctrl-C."""
    if options.bag is None:
        check_ros()
        given = [f"--{name}" for name in ("params", "urdf", "start", "end", "remap") if getattr(options, name)]
        if given:
            raise ViewError(f"{', '.join(given)} are for a bag: beside an estimator, use -p and -r after --ros-args")
        from inertid_ros.cli.view_live import watch

        with suppress(KeyboardInterrupt):  # before rclpy has taken over
            watch(options.port, options.node, options.ros_arguments or [])
        return OK
    if options.ros_arguments:
        raise ViewError("--ros-args are for a running estimator: with a bag, use --params and --remap")
    with serve(options.port, f"inertid {options.bag.name}") as server:
        replay, screening = film(options)
        page = Page(server, screening.duration)
        shape = list_parts(replay.description, replay.robot, options.urdf or Path("robot.urdf"))
        complain(options, shape.missing)
        page.show_robot(replay.robot, shape)
        with suppress(KeyboardInterrupt):
            say(f"open {locate(options.port)} in a browser; Ctrl-C ends")
            play(page, screening)
    return OK


def film(options: argparse.Namespace) -> tuple[Replay, Screening]:
    """Replay the bag, and keep what is to be seen of it."""
    plan = dataclasses.replace(make_plan(options), moments=ESTIMATES)
    with Bag(options.bag) as bag:
        replay = Replay(plan, bag)
        filmed = Film.watch(replay)
        with show_progress("replaying", bag.count(tuple(plan.inputs.values()))) as progress:
            replay.run(bag, progress)
    traces = replay.finish()
    complain(options, replay.trouble)
    return replay, filmed.develop(traces.either)


def play(page: Page, screening: Screening) -> None:
    """Show the moment at which the slider is, and move it while the recording is played; until Ctrl-C."""
    is_playing, shown, before = False, -1.0, time.monotonic()
    for picture in count():
        for action in page.take_actions():
            is_playing = action == PLAY
            if is_playing and page.time >= screening.duration:
                page.time = 0.0
        now = time.monotonic()
        if is_playing:
            page.time = min(page.time + now - before, round(screening.duration, 2))
            is_playing = page.time < round(screening.duration, 2)
        before = now
        page.offer(PAUSE if is_playing else PLAY)
        if page.time != shown:
            shown = page.time
            instant = screening.look(shown)
            page.move(instant)
        if picture % TEXTS == 0:
            page.tell(instant, screening.tracks)
        time.sleep(max(0.0, PERIOD - (time.monotonic() - now)))
