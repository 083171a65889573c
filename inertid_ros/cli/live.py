"""What runs in ROS: `inertid node`, `driver` and `demo`, and `inertid publish` for machines without `ros2 bag`."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from inertid_ros.cli.command import FAILED, OK, complain, say, show_progress
from inertid_ros.core.errors import RecordingError, SettingError
from inertid_ros.ros.main import check_ros

if TYPE_CHECKING:
    from inertid_ros.bags.bag import Bag
    from inertid_ros.ros.bag_publisher import RecordedMessage

FASTEST = 1000.0
"""Times real time; more is taken for a typing error."""
BLOCK = 100
"""Messages that are read at once, and by which the progress bar advances."""


def run_estimator(options: argparse.Namespace) -> int:
    """Run the estimator until it is stopped."""
    from inertid_ros.ros.main import run_estimator

    return run_estimator(options.ros_arguments)


def run_driver(options: argparse.Namespace) -> int:
    """Run the simulated driver until it is stopped."""
    from inertid_ros.ros.main import run_driver

    return run_driver(options.ros_arguments)


def run_demo(options: argparse.Namespace) -> int:
    """Run the demonstration of a robot; 0 if the truth is inside the stated uncertainty."""
    check_ros()
    from inertid_ros.cli.demo import links, load

    return links.main(options.view) if options.robot == "ddarm" else load.main(options.view)


def publish(options: argparse.Namespace) -> int:
    """Play a bag until its end or until Ctrl-C; 0 if the whole bag could be read."""
    check_ros()
    from inertid_ros.bags.bag import Bag
    from inertid_ros.ros.runtime import ros_session

    if not 0.0 < options.rate <= FASTEST:
        raise SettingError("--rate", options.rate, f"more than 0 and at most {FASTEST:g} times real time")
    with Bag(options.bag) as bag, ros_session([]):
        _play(bag, options)
    complain(options, bag.trouble)
    return FAILED if bag.trouble else OK


def _play(bag: Bag, options: argparse.Namespace) -> None:
    import rclpy

    from inertid_ros.ros.bag_publisher import BagPublisher

    if not bag.topics or bag.end <= bag.start:
        raise RecordingError(f"bag '{bag.path}' has no messages: check that it was recorded to its end")
    kinds = {topic: info.kind for topic, info in bag.topics.items()}
    publisher = BagPublisher(kinds, {topic for topic, info in bag.topics.items() if info.is_latched})
    try:
        say(*publisher.left_out)
        duration = (bag.end - bag.start) / 1e9
        say(f"playing {len(publisher.topics)} topics, {duration:.1f} s at {options.rate:g} times real time")
        if not publisher.wait_for_listeners():
            say("nobody has subscribed to any of its topics yet: playing anyway")
        count = sum(bag.topics[topic].count for topic in publisher.topics)
        with show_progress("playing", 0 if options.loop else count) as progress:
            while rclpy.ok():
                publisher.play(_iterate(bag, publisher.topics, progress), options.rate)
                if not options.loop or bag.trouble:
                    break
    finally:
        say(f"published {publisher.published} messages")
        publisher.close()


def _iterate(bag: Bag, topics: tuple[str, ...], progress: Callable[[int], None]) -> Iterator[RecordedMessage]:
    """Walk over the messages in the order of recording, and show the progress."""
    for block in bag.blocks(topics, BLOCK):
        yield from block.list_messages()
        progress(block.count)
