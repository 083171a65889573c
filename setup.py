"""Build script, for colcon as well as for pip.

`package.xml` is the one source of the name, the version and the maintainer. colcon puts the commands where `ros2 run`
looks for them (see setup.cfg); pip puts them into the `bin` of the environment.
"""

from __future__ import annotations

import os
from pathlib import Path
from xml.etree import ElementTree

from setuptools import find_packages, setup

# Paths have to stay relative to this file: colcon builds from a directory of links to the sources.
os.chdir(Path(__file__).parent)

DATA_DIRECTORIES = ("urdf", "config", "launch", "rviz", "foxglove")

# The ROS 2 Jazzy wheels for machines without ROS. They belong to one distribution: the unprefixed names are another.
JAZZY = [
    "ros-jazzy-ament-index-python",
    "ros-jazzy-builtin-interfaces",
    "ros-jazzy-diagnostic-msgs",
    "ros-jazzy-geometry-msgs",
    "ros-jazzy-lifecycle-msgs",
    "ros-jazzy-rcl-interfaces",
    "ros-jazzy-rclpy",
    "ros-jazzy-rmw-fastrtps-cpp",
    "ros-jazzy-rosgraph-msgs",
    "ros-jazzy-sensor-msgs",
    "ros-jazzy-std-msgs",
    "ros-jazzy-std-srvs",
    "ros-jazzy-trajectory-msgs",
    "ros-jazzy-visualization-msgs",
]

VISER = "viser>=1.1"  # to anything older, pip would resort without a word where another pin excludes 1.1


def read_package_xml() -> dict[str, str]:
    """Return name, version, description, license, maintainer and its e-mail."""
    root = ElementTree.parse("package.xml").getroot()
    texts = {tag: " ".join(root.findtext(tag, "").split()) for tag in ("name", "version", "description", "license")}
    maintainer = next(root.iter("maintainer"))
    return {**texts, "maintainer": str(maintainer.text), "maintainer_email": maintainer.attrib["email"]}


def find_data_files(share: str) -> list[tuple[str, list[str]]]:
    """Return (target directory, files) for every data file, directory by directory as it is in the sources."""
    by_directory: dict[str, list[str]] = {}
    for top in DATA_DIRECTORIES:
        for path in sorted(Path(top).rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                by_directory.setdefault(path.parent.as_posix(), []).append(path.as_posix())
    return [(f"{share}/{directory}", files) for directory, files in by_directory.items()]


about = read_package_xml()
share = f"share/{about['name']}"

setup(
    **about,
    long_description=Path("README.md").read_text(encoding="utf-8"),
    long_description_content_type="text/markdown",
    keywords=["ROS 2", "robotics", "system identification", "inertial parameters", "force/torque sensor", "payload"],
    classifiers=[
        "Development Status :: 4 - Beta",
        "Intended Audience :: Developers",
        "Intended Audience :: Science/Research",
        "License :: OSI Approved :: MIT License",
        "Operating System :: POSIX :: Linux",
        *(f"Programming Language :: Python :: 3.{minor}" for minor in range(10, 14)),
        "Topic :: Scientific/Engineering",
        "Typing :: Typed",
    ],
    python_requires=">=3.10",
    packages=find_packages(include=["inertid_ros", "inertid_ros.*"]),
    package_data={"inertid_ros": ["py.typed"]},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{about['name']}"]),
        (share, ["package.xml"]),
        *find_data_files(share),
    ],
    install_requires=["matplotlib", "numba", "numpy", "pin", "plotly", "PyYAML", "rich", "rosbags", "scipy"],
    extras_require={
        "cluster": ["distributed"],
        "docs": ["mkdocs"],
        "jazzy": JAZZY,
        "jazzytest": ["ros-jazzy-test-msgs"],
        "test": [
            "distributed",
            "hypothesis",
            "mkdocs",
            "mypy",
            "pytest",
            "pytest-timeout",
            "pytest-xdist",
            "ruff",
            "setuptools",
            "types-PyYAML",
            VISER,
            "xacro",
        ],
        "view": [VISER],
        "xacro": ["xacro"],
    },
    entry_points={
        "console_scripts": [
            "inertid = inertid_ros.cli.main:main",
            "estimator = inertid_ros.ros.main:run_estimator",
            "simulated_driver = inertid_ros.ros.main:run_driver",
        ],
    },
    zip_safe=True,
)
