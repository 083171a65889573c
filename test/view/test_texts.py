"""What the page says: everything, and nothing that a browser would run."""

from __future__ import annotations

import numpy as np

from inertid_ros.guide.dialogue import Instruction
from inertid_ros.view import texts
from inertid_ros.view.instant import Instant, Parameters, Verdict

HOSTILE = "<img src=x onerror=alert(1)>"
PARAMETERS = Parameters(
    (HOSTILE, "mcx"), ("kg", "kg m"), np.array([1.8, 5.0]), np.array([0.01, 9.0]), ("known", "not excited yet")
)


def test_text_from_elsewhere_is_text() -> None:
    verdicts = {HOSTILE: Verdict("error", HOSTILE, (HOSTILE,)), "load": Verdict("info", HOSTILE)}
    for written in (
        texts.write_headline(Instant(mode=HOSTILE, verdicts=verdicts)),
        texts.write_parameters(PARAMETERS),
        texts.write_findings(verdicts),
        texts.write_instruction(Instruction("pose", HOSTILE, (HOSTILE,))),
        texts.write_line(HOSTILE),
    ):
        assert "<img" not in written
        assert "&lt;img" in written


def test_what_is_not_known_has_no_number() -> None:
    written = texts.write_parameters(PARAMETERS)
    assert "1.800 ± 0.020 kg" in written
    assert "5.0" not in written
    assert "not excited yet" in written


def test_the_verdict_is_the_headline_and_inputs_are_listed_below() -> None:
    verdicts = {
        "load": Verdict("warning", "Use with care.", ("it wobbles",)),
        "wrench": Verdict("info", "200 Hz, fine"),
    }
    headline = texts.write_headline(Instant(12.34, mode="tracking", verdicts=verdicts))
    assert "Use with care." in headline
    assert "12.3 s, tracking" in headline
    below = texts.write_findings(verdicts)
    assert "it wobbles" in below
    assert "200 Hz, fine" in below
    assert "Use with care." not in below
    assert "Waiting" in texts.write_headline(Instant())
