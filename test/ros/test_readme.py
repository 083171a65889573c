"""The README against the running node: topics, services, parameters, commands and links."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support.bench import Bench

from inertid_ros.cli.command import make_parser
from inertid_ros.cli.main import COMMANDS
from inertid_ros.core.settings.settings import iterate_settings

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def _rows(heading: str) -> list[list[str]]:
    """Cells of the first table whose heading row starts with a word."""
    table = README.split(f"\n| {heading} |", 1)[1].split("\n\n", 1)[0]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[2:]]


def _names(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def _name_type(kind: type) -> str:
    """Package and name of a message or service type."""
    return f"{kind.__module__.split('.')[0]}/{kind.__name__}"


def test_topics_and_services_are_the_node_s(bench: Bench) -> None:
    bench.start(estimators=["load", "links"], links__source="both", links__effort_unit="newton_metre")
    node = bench.estimator
    assert node is not None
    published = {publisher.topic_name: publisher.msg_type for publisher in node.publishers}
    subscribed = {subscription.topic_name: subscription.msg_type for subscription in node.subscriptions}
    services = {service.srv_name: service.srv_type for service in node.services}
    for name, kind, _ in _rows("topic"):
        there = subscribed if "(in)" in name else published
        topic = _names(name)[0].replace("~/", "/inertid/")
        if topic == "imu":
            continue  # see the next test
        assert _name_type(there[topic if topic.startswith("/") else f"/{topic}"]) == kind
    listed = {_names(name)[0].replace("~/", "/inertid/") for name, _, _ in _rows("topic") if "(in)" not in name}
    ours = {name for name in published if name.startswith("/inertid/") and not name.endswith("transition_event")}
    assert ours | {"/diagnostics"} == listed
    for cell, kind, _ in _rows("service"):
        for name in _names(cell):
            short = name.replace("~/", "")
            (kind_there,) = [kind for path, kind in services.items() if path.rsplit("/", 1)[-1] == short]
            assert _name_type(kind_there) == f"{kind}"


def test_the_imu_is_listened_to_where_gravity_comes_from_it(bench: Bench) -> None:
    bench.start(gravity_source="imu")
    assert bench.estimator is not None
    subscribed = {subscription.topic_name: subscription.msg_type for subscription in bench.estimator.subscriptions}
    (kind,) = [kind for name, kind, _ in _rows("topic") if _names(name) == ["imu"]]
    assert _name_type(subscribed["/imu"]) == kind


def test_parameters_have_the_defaults_they_are_said_to_have() -> None:
    infos = {info.name: info for info in iterate_settings()}
    for cell, default, _ in _rows("parameter"):
        info = infos[_names(cell)[0]]
        if info.name == "gravity":
            assert default == "`[0, 0, -9.80665]`"
            assert info.default == [0.0, 0.0, -9.80665]
        elif info.name == "estimators":
            assert default == "`[load]`"
            assert info.default == ["load"]
        elif default.startswith("`") and "frame_id" not in default:
            assert _names(default) == [str(info.default)]
        else:
            assert info.default == ""


def test_commands_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    contributing = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    targets = set(re.findall(r"\bmake ((?:demo|docs|lint|test)[\w-]*)", README + contributing))
    assert {"demo", "test", "test-all"} <= targets
    for target in targets:
        assert f"\n{target}:" in makefile
    commands = next(action for action in make_parser(COMMANDS)._actions if action.dest == "command").choices
    assert commands is not None
    for command in re.findall(r"`inertid (\w+)", README):
        assert command in commands
    for launch_file in re.findall(r"ros2 launch inertid_ros ([\w.]+)", README):
        assert (ROOT / "launch" / launch_file).is_file()


PAGES = (
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    *sorted(path.relative_to(ROOT).as_posix() for path in ROOT.glob("docs/**/*.md")),
)


@pytest.mark.parametrize("page", PAGES)
def test_linked_and_named_files_exist(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", text):
        assert target.startswith("https://") or ((ROOT / page).parent / target).exists(), target
    folders = "|".join(sorted(path.name for path in (ROOT / "inertid_ros").iterdir() if path.is_dir()))
    for name in re.findall(rf"`(?:inertid_ros/)?((?:{folders})/[\w/]+\.py)`", text):
        assert (ROOT / "inertid_ros" / name).is_file(), name


def test_linked_headings_exist() -> None:
    """A heading is linked in lower case, with hyphens for spaces and without punctuation."""
    for page in PAGES:
        text = (ROOT / page).read_text(encoding="utf-8")
        for target, anchor in re.findall(r"\]\(([^)#:]*)#([^)]+)\)", text):
            path = (ROOT / page).parent / target if target else ROOT / page
            headings = re.findall(r"^#+ (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
            slugs = {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}
            assert anchor in slugs, f"{page} links {target}#{anchor}"


def test_the_architecture_names_every_folder() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    named = set(re.findall(r"^\| `([\w/]+)` \|", text, re.MULTILINE))
    package = ROOT / "inertid_ros"
    there = {path.parent.relative_to(package).as_posix() for path in package.rglob("__init__.py")} - {"."}
    assert named == there


@pytest.mark.parametrize("page", ["architecture", "glossary", "constants", "how_it_works", "intervals", "parameters"])
def test_the_readme_links_the_documentation(page: str) -> None:
    assert f"(docs/{page}.md)" in README
