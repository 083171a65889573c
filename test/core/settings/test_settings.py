"""One source of parameters: what it accepts, and with which words it refuses."""

from __future__ import annotations

import math

import pytest

from inertid_ros.core.errors import SettingError
from inertid_ros.core.settings.choices import Method
from inertid_ros.core.settings.settings import Settings, iterate_settings


def test_every_parameter_is_described_and_its_default_is_allowed() -> None:
    infos = list(iterate_settings())
    assert len({info.name for info in infos}) == len(infos)
    for info in infos:
        assert info.description.endswith("."), info.name
        assert info.check(info.default) == info.default


def test_dotted_names_reach_the_nested_settings() -> None:
    settings = Settings.from_flat({"load.method": "integral", "gravity": [0, 0, -9.8], "load.filter_cutoff": 20})
    assert settings.load.method is Method.INTEGRAL
    assert settings.gravity == [0.0, 0.0, -9.8]
    assert settings.load.filter_cutoff == 20.0


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("load.filter_cutoff", 0.0, "1 to 1000"),
        ("load.filter_cutoff", math.nan, "1 to 1000"),
        ("load.filter_cutoff", "fast", "a float"),
        ("load.filter_cutoff", True, "a float"),
        ("load.method", "magic", "one of filtered, differentiated, integral"),
        ("gravity", [0.0, -9.8], "3 finite numbers"),
        ("gravity", [0.0, 0.0, math.inf], "3 finite numbers"),
        ("gravity", "down", "3 finite numbers"),
        ("gravity", [0.0, 0.0, 0.0], "not all zero"),
        ("estimators", ["legs"], "one of load"),
        ("autostart", 1, "a bool"),
        ("load.sensor_frmae", "tool0", "such as 'load.sensor_frame'"),
    ],
)
def test_bad_values_are_refused_with_name_value_and_range(name: str, value: object, expected: str) -> None:
    with pytest.raises(SettingError) as error:
        Settings.from_flat({name: value})
    message = str(error.value)
    assert f"'{name}'" in message
    assert repr(value) in message
    assert expected in message
