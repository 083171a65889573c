"""Robots to simulate."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

TREE_URDF = """
<robot name="tree">
  <link name="pedestal">
    <inertial><origin xyz="0.1 0 0.2" rpy="0 0 0.3"/><mass value="7"/>
      <inertia ixx="0.3" ixy="0.01" ixz="0" iyy="0.2" iyz="0" izz="0.25"/></inertial>
  </link>
  <joint name="slide" type="prismatic"><parent link="pedestal"/><child link="carriage"/>
    <origin xyz="0.2 -0.1 0.3" rpy="0.3 0.2 -0.4"/><axis xyz="0 0.6 0.8"/>
    <limit lower="-1" upper="1" effort="10" velocity="1"/></joint>
  <link name="carriage">
    <inertial><origin xyz="0.05 0.02 -0.1" rpy="0.1 0 0"/><mass value="2"/>
      <inertia ixx="0.03" ixy="0.002" ixz="0.001" iyy="0.02" iyz="0" izz="0.025"/></inertial>
  </link>
  <joint name="swing" type="continuous"><parent link="carriage"/><child link="arm"/>
    <origin xyz="0 0.1 0.2" rpy="-0.5 0 0.1"/><axis xyz="0 1 0"/></joint>
  <link name="arm">
    <inertial><origin xyz="0.2 0 0" rpy="0 0.2 0"/><mass value="1.5"/>
      <inertia ixx="0.01" ixy="0" ixz="0.001" iyy="0.02" iyz="0" izz="0.02"/></inertial>
  </link>
  <joint name="mount" type="fixed"><parent link="arm"/><child link="ft_sensor"/>
    <origin xyz="0.4 0.03 -0.02" rpy="0.7 -0.3 1.1"/></joint>
  <link name="ft_sensor"/>
  <joint name="mast" type="revolute"><parent link="pedestal"/><child link="camera"/>
    <origin xyz="-0.3 0 0.5" rpy="0 0.4 0"/><axis xyz="0 0 1"/>
    <limit lower="-2" upper="2" effort="10" velocity="3"/></joint>
  <link name="camera">
    <inertial><origin xyz="0.1 0 0.1" rpy="0 0 0"/><mass value="0.5"/>
      <inertia ixx="0.001" ixy="0" ixz="0" iyy="0.002" iyz="0" izz="0.002"/></inertial>
  </link>
</robot>
"""
"""Two branches, all kinds of joints, a heavy root link, and a sensor that is turned against everything."""


@pytest.fixture
def puma_urdf() -> str:
    """Text of the shipped PUMA."""
    return (ROOT / "urdf" / "puma560.urdf").read_text(encoding="utf-8")


@pytest.fixture
def ddarm_urdf() -> str:
    """Text of the shipped direct drive arm."""
    return (ROOT / "urdf" / "ddarm.urdf").read_text(encoding="utf-8")


@pytest.fixture(params=["puma560", "ddarm", "tree"])
def any_urdf(request: pytest.FixtureRequest) -> str:
    """Text of one robot after the other."""
    if request.param == "tree":
        return TREE_URDF
    return (ROOT / "urdf" / f"{request.param}.urdf").read_text(encoding="utf-8")
