"""The committed parameter file and table say what core/settings say."""

from __future__ import annotations

from pathlib import Path

import yaml

from inertid_ros.core.settings.rules import FIXED, IMMEDIATE, restarts_identification
from inertid_ros.core.settings.settings import Settings, iterate_settings
from inertid_ros.text.settings_docs import parameter_table, template_yaml

ROOT = Path(__file__).parents[2]


def flatten(tree: dict[str, object], prefix: str = "") -> dict[str, object]:
    flat: dict[str, object] = {}
    for name, value in tree.items():
        if isinstance(value, dict):
            flat |= flatten(value, f"{prefix}{name}.")
        else:
            flat[prefix + name] = value
    return flat


def test_the_committed_template_is_the_generated_one() -> None:
    assert (ROOT / "config" / "template.yaml").read_text() == template_yaml()


def test_the_committed_table_is_the_generated_one() -> None:
    assert (ROOT / "docs" / "parameters.md").read_text() == parameter_table()


def test_the_template_holds_every_parameter_at_its_default() -> None:
    """ROS cannot read an empty list, so those stand there as comments."""
    template = template_yaml()
    flat = flatten(yaml.safe_load(template)["/**"]["ros__parameters"])
    empty = {info.name for info in iterate_settings() if info.default == []}
    assert list(flat) == [info.name for info in iterate_settings() if info.name not in empty]
    assert Settings.from_flat(flat) == Settings()
    for info in iterate_settings():
        if info.name in empty:
            assert f"      # {info.name.rpartition('.')[2]}: []\n" in template
        else:
            assert type(flat[info.name]) is type(info.default)


def test_every_shipped_parameter_file_is_accepted() -> None:
    files = sorted((ROOT / "config").glob("*.yaml"))
    assert {"puma560.yaml", "ddarm.yaml", "template.yaml"} <= {file.name for file in files}
    for file in files:
        Settings.from_flat(flatten(yaml.safe_load(file.read_text())["/**"]["ros__parameters"]))


def test_the_table_explains_every_parameter_and_when_it_may_change() -> None:
    table = parameter_table()
    for info in iterate_settings():
        assert f"| `{info.name}` |" in table
        assert info.description in table
    known = {info.name for info in iterate_settings()}
    assert set(FIXED) | set(IMMEDIATE) < known
    assert restarts_identification("load.method", "load")
    assert not restarts_identification("load.method", "links")
    assert restarts_identification("links.method", "links")
    assert restarts_identification("gravity", "load")
    assert restarts_identification("gravity", "links")
    assert not any(restarts_identification(name, part) for name in FIXED + IMMEDIATE for part in ("load", "links"))
