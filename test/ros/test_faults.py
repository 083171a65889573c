"""Some of the faults whose full matrix is in docs/faults.md."""

from __future__ import annotations

import itertools

import pytest
from fault_catalogue import FAULTS
from faults import CLOCKS, Trial, measure_memory
from support.bench import Bench

SOME = (
    "wrench frozen",
    "second publisher of 0 times the wrench, 1 : 1",
    "one velocity of 1000",
    "velocities in degrees",
)


def test_the_matrix_has_a_hundred_faults_with_names_of_their_own() -> None:
    assert len({fault.name for fault in FAULTS}) == len(FAULTS) >= 100


@pytest.mark.parametrize(("name", "clock"), zip(SOME, itertools.cycle(CLOCKS), strict=False))
def test_fault_is_named_survived_and_recovered_from(
    bench: Bench, name: str, clock: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("support.bench.CHUNK", 0.04)
    (fault,) = [fault for fault in FAULTS if fault.name == name]
    before = measure_memory()
    for outcome in Trial(bench, fault, clock).run():
        assert not outcome.wrong, outcome.situation
    assert measure_memory() - before < 100.0, "compiled code takes most of it at first"
