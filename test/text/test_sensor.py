"""What is systematically wrong with a sensor, for people."""

from __future__ import annotations

import numpy as np

from inertid_ros.core.estimation.estimate import Sign, WristSensor
from inertid_ros.text.numbers import EXACT, format_largest_gain, format_nuisances


def make_sensor(nuisances: object, deviations: object) -> WristSensor:
    return WristSensor(Sign.ON_LOAD, np.zeros(6), np.eye(6), np.ones(6), True, 1.0, nuisances, deviations)  # type: ignore[arg-type]


def test_each_has_its_unit_and_interval() -> None:
    values = np.zeros(45)
    values[0], values[1], values[3 + 14], values[3 + 20] = -0.0039, np.radians(0.5), 0.012, 0.004
    values[39], values[44] = np.radians(1.5), 0.003
    texts = format_nuisances(make_sensor(values, np.full(45, 1e-4)))
    assert texts["wrench against joint states"] == "3.90 ± 0.20 ms early"
    assert texts["tilt of gravity, first horizontal axis"] == "0.500 ± 0.011 °"
    assert texts["rotation of the sensor about x"] == "1.500 ± 0.011 °"
    assert texts["offset of the sensor along z"] == "3.00 ± 0.20 mm"
    assert texts["gain of fz"] == "1.200 ± 0.020 %"
    assert texts["cross-talk, most significant: nx of fz"] == "4.00 ± 0.20 mNm/N"
    assert len(texts) == 16
    assert format_largest_gain(make_sensor(values, np.full(45, 1e-4))) == "fz 1.200 ± 0.020 %"


def test_what_was_not_looked_for_has_no_number() -> None:
    sensor = make_sensor(np.zeros(45), np.zeros(45))
    assert set(format_nuisances(sensor).values()) == {EXACT}
    assert format_largest_gain(sensor) == EXACT


def test_what_is_not_known_is_left_out() -> None:
    assert format_nuisances(make_sensor(None, None)) == {}
    assert format_largest_gain(make_sensor(None, None)) == ""
