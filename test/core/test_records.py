"""Some samples of a block, with all that belongs to them."""

from __future__ import annotations

import numpy as np

from inertid_ros.core.records import JointBlock, WrenchBlock


def test_some_joint_samples_keep_everything_that_was_measured() -> None:
    numbers = np.random.default_rng(0).normal(size=(3, 10, 2))
    block = JointBlock(("a", "b"), np.arange(10), *numbers)
    part = block.take(slice(2, 5))
    assert part.names == ("a", "b")
    assert part.stamps.tolist() == [2, 3, 4]
    np.testing.assert_array_equal([part.positions, part.velocities, part.efforts], numbers[:, 2:5])


def test_what_was_not_measured_stays_so() -> None:
    part = JointBlock(("a",), np.arange(3), np.zeros((3, 1)), None).take(slice(1))
    assert part.velocities is None
    assert part.efforts is None


def test_some_wrenches_keep_their_frame() -> None:
    wrenches = np.random.default_rng(1).normal(size=(10, 6))
    part = WrenchBlock("ft_sensor", np.arange(10), wrenches).take(slice(8, 10))
    assert part.frame == "ft_sensor"
    assert part.stamps.tolist() == [8, 9]
    np.testing.assert_array_equal(part.wrenches, wrenches[8:])
