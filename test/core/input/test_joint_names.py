"""Joints of a message found among those of a URDF, also with another prefix; never by guessing."""

from __future__ import annotations

import numpy as np
import pytest

from inertid_ros.core.diagnosis import Health
from inertid_ros.core.input.inputs import JointNames, rename_joints
from inertid_ros.core.records import JointBlock

PANDA = ("panda_joint1", "panda_joint2", "panda_joint3", "panda_finger_joint1")
UR = ("ur_elbow_joint", "ur_wrist_1_joint", "ur_wrist_2_joint")


@pytest.mark.parametrize(
    ("names", "known", "expected"),
    [
        (("panda_joint2", "other"), PANDA, ("panda_joint2", "other")),
        (("fer_joint1", "fer_joint2"), PANDA, ("panda_joint1", "panda_joint2")),
        (("joint1", "joint3"), PANDA, ("panda_joint1", "panda_joint3")),
        (("ns/arm/joint1",), ("joint1", "joint2"), ("joint1",)),
        (("left_a_joint", "left_b_joint"), ("a_joint", "b_joint"), ("a_joint", "b_joint")),
        (("elbow_joint", "wrist_1_joint"), UR, ("ur_elbow_joint", "ur_wrist_1_joint")),
        (("left_wrist_1_joint", "left_wrist_2_joint"), UR, ("ur_wrist_1_joint", "ur_wrist_2_joint")),
        (("joint1", "joint2"), ("l_joint1", "l_joint2", "r_joint1", "r_joint2"), ("joint1", "joint2")),
        (("fer_joint1", "fer_joint9"), PANDA, ("fer_joint1", "fer_joint9")),
        (("fer_joint1", "wheel"), PANDA, ("fer_joint1", "wheel")),
        (("jointA1",), ("joint1",), ("jointA1",)),
        ((), PANDA, ()),
    ],
)
def test_a_prefix_is_exchanged_if_that_explains_all_names(
    names: tuple[str, ...], known: tuple[str, ...], expected: tuple[str, ...]
) -> None:
    assert rename_joints(names, known) == expected


def test_renaming_is_reported_and_the_rest_of_the_block_is_the_same() -> None:
    health = Health()
    resolver = JointNames(PANDA, health)
    block = JointBlock(("fer_joint1", "fer_joint2"), np.array([5, 6]), np.ones((2, 2)), None)
    renamed = resolver.resolve(block)
    assert renamed.names == ("panda_joint1", "panda_joint2")
    assert renamed.positions is block.positions
    (item,) = health.items()
    assert (item.code, item.count, item.last_stamp) == ("renamed_joints", 2, 6)
    assert resolver.resolve(renamed) is renamed
