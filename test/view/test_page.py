"""The page of a recording: how it is played, and in a real browser, where there is one."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import pytest
from support.bags import puma_messages, write_bag
from support.live_browser import Browser

from inertid_ros.cli import view
from inertid_ros.cli.command import make_parser
from inertid_ros.cli.main import COMMANDS, main
from inertid_ros.view.page import PAUSE, PLAY, Page
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
        browser.wait(
            "(() => {const plots = Object.values(window.__viserTestpoints.uplots).map(one => one.chart);"
            "return plots.length === 2 && plots.every(plot => plot.axes[0]._found?.[1] > 0)})()"
        )
        assert not browser.errors
    finally:
        browser.close()


class Clock:
    """Time that passes only where one waits for it."""

    now = 0.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += max(seconds, 0.25)


class ScriptedPage(Page):
    """Buttons are clicked at some of its pictures, and after the last one somebody presses Ctrl-C."""

    clicks: ClassVar[dict[int, str]] = {2: PLAY, 6: PAUSE, 9: PLAY, 40: PLAY}
    seen: ClassVar[list[tuple[float, str]]] = []

    def take_actions(self) -> list[str]:
        picture = len(self.seen)
        self.seen.append((self.time, self._toggle.options[0]))
        if picture > 45:
            raise KeyboardInterrupt
        return [self.clicks[picture]] if picture in self.clicks else []


def test_a_recording_is_played_at_its_own_pace_from_where_it_was_paused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A picture every quarter of a second, of a recording of 3 s."""
    pytest.importorskip("viser")
    bag = write_bag(tmp_path / "bag", puma_messages(3.0))
    monkeypatch.setattr(view, "time", Clock())
    monkeypatch.setattr(view, "Page", ScriptedPage)
    ScriptedPage.seen.clear()
    assert main(["view", str(bag), "--port", str(PORT)]) == 0
    assert f":{PORT} in a browser" in capsys.readouterr().err
    times, offered = zip(*ScriptedPage.seen, strict=True)
    assert times[:4] == (0.0, 0.0, 0.0, 0.25), "from the picture after the click on"
    assert times[6] == times[9] == 1.0
    assert offered[3:10] == (PAUSE, PAUSE, PAUSE, PAUSE, PLAY, PLAY, PLAY)
    end = times[40]
    assert 2.8 < end < 3.1
    assert times[25:41] == (end,) * 16
    assert offered[40] == PLAY
    assert times[41:43] == (0.25, 0.5), "once more from the beginning"


def test_options_of_a_recording_are_not_those_of_an_estimator(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["view", "--params", "arm.yaml", "--start", "1"]) == 1
    assert "--params, --start are for a bag" in capsys.readouterr().err
    assert main(["view", "bag", "--ros-args", "-p", "gravity:=[0.0]"]) == 1
    assert "--ros-args are for a running estimator" in capsys.readouterr().err
