"""The page of a recording in a real browser, where there is one."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.bags import puma_messages, write_bag
from support.live_browser import Browser

from inertid_ros.cli import view
from inertid_ros.cli.command import make_parser
from inertid_ros.cli.main import COMMANDS
from inertid_ros.view.page import Page
from inertid_ros.view.server import locate, serve
from inertid_ros.view.shapes import list_parts

PORT = 18_231


class Stop(Exception):  # noqa: N818 - no error
    """The test is over."""


class WatchedPage(Page):
    """Ends when it is told to."""

    over = False

    def take_actions(self) -> list[str]:
        if self.over:
            raise Stop
        return super().take_actions()


@pytest.fixture
def page(tmp_path: Path) -> Iterator[WatchedPage]:
    pytest.importorskip("viser")
    bag = write_bag(tmp_path / "bag", puma_messages(6.0))
    options = make_parser(COMMANDS).parse_args(["view", str(bag)])
    replay, screening = view.film(options)
    with serve(PORT, "test") as server:
        page = WatchedPage(server, screening.duration)
        page.show_robot(replay.robot, list_parts(replay.description, replay.robot, tmp_path))

        def play() -> None:
            with pytest.raises(Stop):
                view.play(page, screening)

        thread = threading.Thread(target=play)
        thread.start()
        yield page
        page.over = True
        thread.join()


@pytest.mark.long
@pytest.mark.parametrize("width", [1280, 390])
def test_a_recording_is_played_in_the_browser(page: WatchedPage, width: int, tmp_path: Path) -> None:
    browser = Browser(tmp_path / "profile", width)
    try:
        browser.open(locate(PORT))
        says = "document.body.innerText.includes"
        browser.wait(f"{says}('not excited yet')")
        browser.click("Play")
        browser.wait(f"{says}('Trustworthy')")
        browser.wait("document.querySelectorAll('canvas').length >= 1")
        assert page.time > 1.0
        assert not browser.ask(f"{says}('Share')")
        assert browser.ask("document.documentElement.scrollWidth") <= width
        browser.click("Plots")
        browser.wait("document.querySelectorAll('.uplot').length === 2")
        assert not browser.errors
    finally:
        browser.close()
