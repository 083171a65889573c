"""What `inertid publish` does: read a bag and play it into ROS."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import rclpy
from rich.console import Console
from rich.text import Text

from inertid_ros.bags.bag import Bag
from inertid_ros.bags.latched_topics import find_latched
from inertid_ros.cli.progress_bar import ProgressBar
from inertid_ros.core.errors import InertidError, RecordingError, SettingError
from inertid_ros.ros.bag_publisher import BagPublisher, RecordedMessage
from inertid_ros.ros.runtime import ros_session

FASTEST = 1000.0
BLOCK = 100
"""Messages read at once: the bar goes on by so many."""


def run(options: argparse.Namespace) -> int:
    """Play until the end or until Ctrl-C; returns 0, or 1 after saying in a line what is wrong."""
    console = Console(stderr=True)
    try:
        if not 0.0 < options.rate <= FASTEST:
            raise SettingError("--rate", options.rate, f"above 0, up to {FASTEST:g} times real time")
        with Bag(options.bag) as bag, ros_session([]):
            _play(bag, options, console)
        _say(console, bag.trouble, "red")
    except InertidError as error:
        _say(console, [f"inertid publish: {error}"], "red")
        return 1
    except KeyboardInterrupt:
        return 130
    return 1 if bag.trouble else 0


def _play(bag: Bag, options: argparse.Namespace, console: Console) -> None:
    if not bag.topics or bag.end <= bag.start:
        raise RecordingError(f"bag '{bag.path}' has no messages: check that it was recorded to its end")
    kinds = {topic: info.kind for topic, info in bag.topics.items()}
    publisher = BagPublisher(kinds, find_latched(bag.path))
    try:
        _say(console, publisher.left_out, "yellow")
        duration = (bag.end - bag.start) / 1e9
        _say(console, [f"playing {len(publisher.topics)} topics, {duration:.1f} s at {options.rate:g} times real time"])
        if not publisher.wait_for_listeners():
            _say(console, ["nobody listens to any of its topics yet: playing all the same"], "yellow")
        count = sum(bag.topics[topic].count for topic in publisher.topics)
        with ProgressBar("playing", 0 if options.loop else count, console=console) as progress:
            while rclpy.ok():
                publisher.play(_iterate(bag, publisher.topics, progress), options.rate)
                if not options.loop or bag.trouble:
                    break
    finally:
        _say(console, [f"published {publisher.published} messages"])
        publisher.close()


def _iterate(bag: Bag, topics: tuple[str, ...], progress: ProgressBar) -> Iterator[RecordedMessage]:
    """Walk over the messages in the order of recording, and show how far it is."""
    for block in bag.blocks(topics, BLOCK):
        for source, stamp, data in block:
            yield source.topic, stamp, bytes(data)
        progress.advance(len(block))


def _say(console: Console, lines: list[str], style: str = "") -> None:
    for line in lines:
        console.print(Text(line, style=style), soft_wrap=True)
