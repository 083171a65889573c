"""What commands show: bars in a terminal, and tables that no pipe wraps."""

from __future__ import annotations

import pytest

from inertid_ros.cli.console import ProgressBar, make_console


def test_a_bar_says_what_is_done_how_far_and_how_fast(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    with ProgressBar("replaying", 200, "samples") as bar:
        for _ in range(2):
            bar.advance(50)
            bar._progress.refresh()
    out, err = capsys.readouterr()
    assert out == ""
    assert "replaying" in err
    assert "50 %" in err
    assert "samples/s" in err


def test_a_pipe_is_as_wide_as_every_table_unless_columns_are_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    assert make_console().width == 240
    monkeypatch.setenv("COLUMNS", "70")
    assert make_console().width == 70
