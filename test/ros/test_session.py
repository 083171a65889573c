"""What the session does when the chain itself fails."""

from __future__ import annotations

import numpy as np
import pytest
from support.bench import Bench

from inertid_ros.core.chain import Chain
from inertid_ros.core.records import Output
from inertid_ros.ros.node import EstimatorNode


class FailingChain(Chain):
    """Fails in its own way, as long as it is told to."""

    failure = ""

    def process(self) -> Output | None:
        output = super().process()
        if type(self).failure == "raises":
            raise ZeroDivisionError("out of the blue")
        if type(self).failure == "not finite" and output is not None:
            output.predicted[:] = np.nan
        return output


@pytest.mark.parametrize("failure", ["raises", "not finite"])
def test_a_bug_in_the_chain_is_reported_and_survived(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, failure: str, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("inertid_ros.ros.session.Chain", FailingChain)
    monkeypatch.setattr(FailingChain, "failure", failure)
    node = bench.start()
    assert isinstance(node, EstimatorNode)
    bench.describe()
    bench.feed(1.0)
    assert bench.received["load/wrench_predicted"] == []
    status = bench.status("output")
    assert status.level == b"\x02"
    assert "report this as a bug" in status.message
    assert "Traceback" in capfd.readouterr().err
    monkeypatch.setattr(FailingChain, "failure", "")
    bench.feed(4.0)
    assert bench.parameters()[0] == pytest.approx(1.8, abs=0.03)
    assert bench.received["load/wrench_predicted"]
