"""One package for colcon and pip: nothing forgotten, nothing that can drift apart."""

from __future__ import annotations

import ast
import importlib
import os
import re
import shutil
import subprocess
import sys
import zipfile
from configparser import ConfigParser
from importlib.util import find_spec
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml
from support.bags import puma_messages, write_bag

import inertid_ros

ROOT = Path(__file__).parents[1]
DATA_DIRECTORIES = ("urdf", "config", "launch", "rviz", "foxglove")
COMMANDS = ("estimator", "inertid", "simulated_driver")

# Import names that are not the names of what has to be installed: for rosdep, and for pip.
ROSDEP_KEYS = {
    name: f"python3-{name}"
    for name in ("hypothesis", "matplotlib", "numba", "numpy", "plotly", "pytest", "rich", "scipy", "yaml")
}
PIP_NAMES = {"pinocchio": "pin", "rosbags": "rosbags", "yaml": "PyYAML"}
# What only some use: extras for pip.
OPTIONAL = {"cluster": "distributed", "view": "viser", "xacro": "xacro"}
# What there are no wheels of; without it, static transforms are not listened to.
WITHOUT_WHEEL = {"control_msgs", "tf2_msgs"}
# What rosdep has no key for: package.xml says so in a comment, and pip installs it.
WITHOUT_KEY = {"distributed", "rosbags", "viser"}
# Comes with rosbags, which unpacks with them too.
BROUGHT_BY_ROSBAGS = {"backports", "compression", "lz4"}
# Comes with viser, which serves with it.
BROUGHT_BY_VISER = {"websockets"}
# Comes with distributed, which is configured by it.
BROUGHT_BY_DISTRIBUTED = {"dask"}
# Only a file of it is used: plotly.js.
NOT_IMPORTED = {"plotly"}
# Started by launch files, not imported; and the middleware that wheels do not bring by themselves.
STARTED = {"robot_state_publisher", "rviz2"}
MIDDLEWARE = "ros-jazzy-rmw-fastrtps-cpp"
# Imported by what only launch files import: whoever launches has it, and there are no wheels of it.
LAUNCHING = ROOT / "inertid_ros" / "ros" / "launching.py"

# setuptools makes wheels by itself since 70.1; before, with the help of another package.
HAS_WHEEL = find_spec("setuptools.command.bdist_wheel") is not None or find_spec("wheel") is not None


def read_package_xml() -> ElementTree.Element:
    return ElementTree.parse(ROOT / "package.xml").getroot()


def declared(*kinds: str) -> set[str]:
    return {str(element.text) for kind in kinds for element in read_package_xml().iter(kind)}


def find_data_files(source: Path) -> set[str]:
    """Names of the files that have to be shipped, relative to the source."""
    files = (path for top in DATA_DIRECTORIES for path in (source / top).rglob("*") if path.is_file())
    return {path.relative_to(source).as_posix() for path in files}


def third_party_imports(*directories: str, without: Path | None = None) -> set[str]:
    """Names of all packages imported under the directories that belong neither to Python nor to this repository."""
    names: set[str] = set()
    paths = (path for directory in directories for path in (ROOT / directory).rglob("*.py"))
    for path in (path for path in paths if path != without):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                names.add(str(node.module).split(".")[0])
    helpers = {path.parent.name for path in (ROOT / "test").glob("*/__init__.py")}
    helpers |= {path.stem for path in (ROOT / "benchmarks").glob("*.py")}
    brought = BROUGHT_BY_ROSBAGS | BROUGHT_BY_VISER | BROUGHT_BY_DISTRIBUTED
    return names - set(sys.stdlib_module_names) - helpers - brought - {"inertid_ros", "setuptools"}


def normalise(requirement: str) -> str:
    """Name of a requirement in the one spelling that pip compares."""
    return re.sub(r"[-_.]+", "-", re.split(r"[\s=<>!~;\[]", requirement)[0]).lower()


def run_setup(source: Path, *arguments: str) -> None:
    done = subprocess.run(
        [sys.executable, "setup.py", "-q", *arguments], cwd=source, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what is built, so that building leaves no trace in the repository."""
    target = tmp_path_factory.mktemp("source")
    for directory in ("inertid_ros", "resource", *DATA_DIRECTORIES):
        if (ROOT / directory).is_dir():
            shutil.copytree(ROOT / directory, target / directory, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("setup.py", "setup.cfg", "package.xml", "pyproject.toml", "LICENSE", "README.md"):
        shutil.copy(ROOT / name, target)
    return target


@pytest.fixture(scope="module")
def metadata(source: Path) -> Path:
    """What setup.py says of the package, as setuptools writes it down."""
    run_setup(source, "egg_info")
    return source / "inertid_ros.egg-info"


@pytest.fixture(scope="module")
def requirements(metadata: Path) -> dict[str, set[str]]:
    """Normalised names of the requirements: under "" those always needed, under the name of an extra its own."""
    groups: dict[str, set[str]] = {}
    group = ""
    for line in (metadata / "requires.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            group = line.strip("[]")
        elif line:
            groups.setdefault(group, set()).add(normalise(line))
    return groups


def test_versions_agree(metadata: Path) -> None:
    version = read_package_xml().findtext("version")
    assert version == inertid_ros.__version__
    assert f"\nVersion: {version}\n" in (metadata / "PKG-INFO").read_text(encoding="utf-8")


def test_the_citation_is_of_this_version() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert (citation["title"], citation["version"]) == ("inertid_ros", inertid_ros.__version__)
    assert citation["license"] == read_package_xml().findtext("license")


def test_the_metadata_is_complete(metadata: Path) -> None:
    text = (metadata / "PKG-INFO").read_text(encoding="utf-8")
    for entry in ("Summary: Online", "Maintainer:", "Maintainer-email:", "Keywords:", "Requires-Python: >=3.10"):
        assert f"\n{entry}" in text
    assert "\nClassifier: Programming Language :: Python :: 3.13\n" in text
    assert "\n# inertid_ros\n" in text


def test_every_workflow_and_template_is_yaml_and_tests_all_versions() -> None:
    for path in [*(ROOT / ".github").rglob("*.yml"), ROOT / ".pre-commit-config.yaml"]:
        assert yaml.safe_load(path.read_text(encoding="utf-8")), path
    tests = yaml.safe_load((ROOT / ".github" / "workflows" / "tests.yml").read_text(encoding="utf-8"))
    assert tests["jobs"]["wheels"]["strategy"]["matrix"]["python"] == ["3.10", "3.11", "3.12", "3.13"]


def test_package_xml_is_what_ament_expects() -> None:
    root = read_package_xml()
    assert root.get("format") == "3"
    assert root.findtext("name") == "inertid_ros"
    assert root.findtext("export/build_type") == "ament_python"
    assert root.findtext("license") == "MIT"
    assert (ROOT / "LICENSE").read_text(encoding="utf-8").startswith("MIT License")
    assert (ROOT / "resource" / "inertid_ros").is_file()


def test_package_xml_declares_exactly_what_is_used() -> None:
    used = {ROSDEP_KEYS.get(name, name) for name in third_party_imports("inertid_ros", "launch")}
    used |= {ROSDEP_KEYS[name] for name in NOT_IMPORTED}
    assert declared("depend", "exec_depend") - STARTED == used - WITHOUT_KEY
    tested = {ROSDEP_KEYS.get(name, name) for name in third_party_imports("test")}
    assert tested - WITHOUT_KEY <= declared("depend", "exec_depend", "test_depend")


def test_package_xml_tells_how_to_install_what_rosdep_cannot() -> None:
    text = (ROOT / "package.xml").read_text(encoding="utf-8")
    assert all(f"pip install {name}" in text for name in WITHOUT_KEY)


def test_started_programs_are_named_in_a_launch_file() -> None:
    launch_files = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "launch").glob("*.launch.py"))
    assert {name for name in STARTED if f'"{name}"' in launch_files} == STARTED


def test_pip_requirements_are_exactly_what_is_used(requirements: dict[str, set[str]]) -> None:
    used = third_party_imports("inertid_ros", without=LAUNCHING) - set(OPTIONAL.values()) - WITHOUT_WHEEL
    used |= NOT_IMPORTED
    assert all(requirements[extra] == {name} for extra, name in OPTIONAL.items())
    from_ros = used - set(ROSDEP_KEYS) - set(PIP_NAMES)
    assert requirements[""] == {normalise(PIP_NAMES.get(name, name)) for name in used - from_ros}
    assert requirements["jazzy"] - {MIDDLEWARE} == {normalise(f"ros-jazzy-{name}") for name in from_ros - WITHOUT_WHEEL}


def test_everything_required_is_pinned(requirements: dict[str, set[str]]) -> None:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pins = [line for line in lines if line and not line.startswith("#")]
    assert all(re.fullmatch(r"[a-z0-9-]+==[0-9][0-9a-z.]*", pin) for pin in pins)
    names = [normalise(pin) for pin in pins]
    assert len(set(names)) == len(names)
    assert set().union(*requirements.values()) <= set(names)


def test_everything_pinned_has_hashes() -> None:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pins = [line for line in lines if line and not line.startswith("#")]
    locked = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    assert re.findall(r"^([a-z0-9-]+==\S+) \\\n    --hash=sha256:[0-9a-f]{64}", locked, re.MULTILINE) == pins


def test_the_licence_of_everything_pinned_is_listed() -> None:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pins = sorted(tuple(line.split("==")) for line in lines if line and not line.startswith("#"))
    table = (ROOT / "docs" / "licences.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([a-z0-9-]+) \| ([0-9][0-9a-z.]*) \| (.+) \|$", table, re.MULTILINE)
    assert [row[:2] for row in rows] == pins
    assert all("unknown" not in licence for _, _, licence in rows)


def test_commands_exist(metadata: Path) -> None:
    parser = ConfigParser()
    parser.read(metadata / "entry_points.txt", encoding="utf-8")
    assert sorted(parser["console_scripts"]) == sorted(COMMANDS)
    for target in parser["console_scripts"].values():
        module, function = target.split(":")
        assert callable(getattr(importlib.import_module(module), function))


def test_colcon_install_has_all_files_and_the_commands_for_ros2_run(source: Path, tmp_path: Path) -> None:
    """The call is the one colcon makes; it leaves out only where colcon keeps its own records."""
    record = tmp_path / "record.txt"
    arguments = ("--prefix", str(tmp_path), "--record", str(record), "--single-version-externally-managed")
    run_setup(source, "build", "--build-base", str(tmp_path / "build"), "install", *arguments)
    share = tmp_path / "share" / "inertid_ros"
    installed = {path.relative_to(share).as_posix() for path in share.rglob("*") if path.is_file()}
    assert installed == find_data_files(source) | {"package.xml"}
    assert (tmp_path / "share" / "ament_index" / "resource_index" / "packages" / "inertid_ros").is_file()
    assert sorted(path.name for path in (tmp_path / "lib" / "inertid_ros").iterdir()) == sorted(COMMANDS)
    assert list(tmp_path.glob("**/inertid_ros/py.typed"))


@pytest.mark.skipif(not HAS_WHEEL, reason="this setuptools needs the package wheel")
def test_wheel_has_all_files_and_leaves_the_commands_to_pip(source: Path, tmp_path: Path) -> None:
    run_setup(source, "bdist_wheel", "--bdist-dir", str(tmp_path / "work"), "--dist-dir", str(tmp_path))
    (wheel,) = tmp_path.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    data = f"inertid_ros-{inertid_ros.__version__}.data"
    shipped = {name.removeprefix(f"{data}/data/share/inertid_ros/") for name in names if "/share/inertid_ros/" in name}
    assert shipped == find_data_files(source) | {"package.xml"}
    assert not [name for name in names if name.startswith((f"{data}/scripts", "test"))]


def test_nothing_but_this_package_is_installed(metadata: Path) -> None:
    assert (metadata / "top_level.txt").read_text(encoding="utf-8").split() == ["inertid_ros"]


def test_ci_runs_what_developers_run() -> None:
    script = ROOT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    assert script.read_text(encoding="utf-8").rstrip().endswith("make test")


@pytest.mark.long
@pytest.mark.skipif(not HAS_WHEEL, reason="this setuptools needs the package wheel")
def test_the_wheel_works_outside_the_tree(source: Path, tmp_path: Path) -> None:
    """Unpacked where pip puts it, and used from elsewhere: code, shipped files, kernels and a whole replay."""
    run_setup(source, "bdist_wheel", "--bdist-dir", str(tmp_path / "work"), "--dist-dir", str(tmp_path))
    (wheel,) = tmp_path.glob("*.whl")
    prefix, outside = tmp_path / "prefix", tmp_path / "outside"
    install = ["-m", "pip", "install", "-q", "--no-deps", "--no-index", "--ignore-installed", "--prefix"]
    subprocess.run([sys.executable, *install, prefix, wheel], check=True)
    (code,) = prefix.glob("lib/*/site-packages")
    outside.mkdir()
    write_bag(outside / "my_bag", puma_messages(4.0))
    environment = {**os.environ, "PYTHONPATH": str(code), "NUMBA_CACHE_DIR": str(tmp_path / "cache")}

    def run(*arguments: str) -> str:
        command = [sys.executable, *arguments]
        done = subprocess.run(command, cwd=outside, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert str(code) in run("-c", "import inertid_ros; print(inertid_ros.__file__)")
    inertid = ("-m", "inertid_ros.cli.main")
    assert "ur10e" in run(*inertid, "config", "--list")
    assert run(*inertid, "replay", "my_bag", "-o", "result").rstrip().endswith("written to result")
    assert run(*inertid, "csv", "result").count("\n") == 11
    assert "ok  the truth is inside the stated uncertainty" in run(
        *inertid, "demo"
    )  # with kernels that have to be compiled first
