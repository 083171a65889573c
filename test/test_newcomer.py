"""What a newcomer types: every command of README and docs exists as it is written, and those that can run here do."""

from __future__ import annotations

import ast
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

import pytest
from support.newcomer import ROOT, Line, fill_folder, list_commands

from inertid_ros.cli.main import parse

LINES = list_commands()
INERTID = [line for line in LINES if line.words[0] == "inertid"]
QUICK = ("config", "csv", "params", "identifiability", "completion")
"""Commands that take no longer than their imports."""
LIVE = ("node", "driver", "publish", "view", "guide")
"""Commands that run until they are stopped, or wait for a robot."""
ON_A_ROBOT = {
    "move": "needs a controller; test/cli/test_move.py has one",
    "practise": "needs trials of an arm that was driven; test/cli/test_control.py has some",
}
"""Commands that need more than a recording."""
MADE = ("result", "motion", "motion.yaml")
"""What other pages take from the README."""
ELSEWHERE = {
    "ros2": "needs a ROS with its command line; the Jazzy job of CI has one",
    "rosdep": "likewise",
    "cd": "installs into a workspace",
    "make": "is what runs this",
    ".venv/bin/inertid": "has a test of its own, test/cli/test_links_demo.py",
}


def test_every_command_is_looked_at() -> None:
    assert len(INERTID) > 30
    assert {line.words[0] for line in LINES if line not in INERTID} == set(ELSEWHERE)


@pytest.mark.parametrize("line", INERTID, ids=lambda line: line.text[:60])
def test_the_options_exist(line: Line) -> None:
    assert parse(line.words[1:]).command == line.words[1]


def iterate_launch_arguments(name: str) -> Iterator[tuple[str, list[str]]]:
    """Walk over the arguments of a launch file with their choices."""
    files = [ROOT / "launch" / name, ROOT / "inertid_ros" / "ros" / "launching.py"]
    for node in (node for file in files for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "DeclareLaunchArgument":
            keywords = {keyword.arg: keyword.value for keyword in node.keywords}
            yield ast.literal_eval(node.args[0]), ast.literal_eval(keywords.get("choices", ast.List([])))


@pytest.mark.parametrize(
    "line", [line for line in LINES if "ros2 launch" in line.text], ids=lambda line: line.text[:70]
)
def test_the_launch_arguments_exist(line: Line) -> None:
    package, file, *given = line.words[2:]
    assert package == "inertid_ros"
    known = dict(iterate_launch_arguments(file))
    for name, value in (argument.split(":=", 1) for argument in given):
        assert value in known[name] if known[name] else name in known


def run(line: Line, folder: Path) -> None:
    """Run a command as it is written; what takes long or runs for ever is cut short."""
    command = [sys.executable, "-m", "inertid_ros.cli.main", *line.words[1:]]
    if line.words[1] == "excite":
        command += ["--candidates", "400"]
    if line.words[1] == "view" and find_spec("viser") is None:
        return  # an extra
    if "--scheduler" in line.words and find_spec("distributed") is None:
        return  # likewise
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}:{os.environ.get('PYTHONPATH', '')}"}
    if line.words[1] not in LIVE:
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{line.page}: {line.text}\n{done.stdout[-2000:]}\n{done.stderr}"
        return
    process = subprocess.Popen(command, cwd=folder, env=environment)
    try:
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(8.0)
        for _ in range(4):  # what is still starting on a busy machine may not notice the first
            process.send_signal(signal.SIGINT)
            with suppress(subprocess.TimeoutExpired):
                process.wait(30.0)
                break
        # Interrupted while it imports, Python may die by the signal itself: 130 as well, for a shell.
        assert process.returncode in (0, 130, -signal.SIGINT), f"{line.page}: {line.text}"
    finally:
        process.kill()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("newcomer")
    fill_folder(folder)
    run(Line("README.md", "inertid replay my_bag --params my_arm.yaml -o result"), folder)
    run(Line("README.md", "inertid excite my_arm.urdf --target load -o motion"), folder)
    shutil.copy(folder / "motion" / "trajectory.yaml", folder / "motion.yaml")
    return folder


def test_quick_commands_run(tmp_path: Path) -> None:
    """The rest of them needs what others write, or is as quick with other options."""
    (tmp_path / "my_arm.urdf").write_text((ROOT / "urdf" / "ddarm.urdf").read_text(encoding="utf-8"))
    seen: dict[str, Line] = {}
    for line in INERTID:
        if line.words[1] in QUICK and "result" not in line.text:
            seen.setdefault(line.words[1], line)
    assert set(seen) == {"config", "identifiability"}
    for line in seen.values():
        run(line, tmp_path)


@pytest.mark.long
@pytest.mark.usefixtures("ros_domain")
@pytest.mark.parametrize("page", sorted({line.page for line in INERTID}))
def test_every_command_that_can_run_here_does(page: str, folder: Path, tmp_path: Path) -> None:
    """In the order of the page, which is that of a reader, who starts with his own files and those of the README."""
    lines = [line for line in INERTID if line.page == page and line.words[1] not in ON_A_ROBOT]
    made_here = {line.words[line.words.index("-o") + 1] for line in lines if "-o" in line.words}
    for path in folder.iterdir():
        if (page != "README.md" or path.name not in MADE) and path.name not in made_here:
            (tmp_path / path.name).symlink_to(path)
    for line in lines:
        run(line, tmp_path)
