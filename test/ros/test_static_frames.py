"""A sensor that the URDF does not have, at a place that static transforms tell."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from diagnostic_msgs.msg import DiagnosticStatus
from geometry_msgs.msg import TransformStamped
from rclpy.qos import DurabilityPolicy, QoSProfile
from support.bench import Bench
from support.chain import BAR, PUMA

from inertid_ros.core.errors import RobotDescriptionError
from inertid_ros.core.robot.robot import Robot
from inertid_ros.ros.static_frames import REMEDY, StaticFrames, TFMessage

ADAPTER = pin.SE3(pin.rpy.rpyToMatrix(0.3, -0.2, 1.5), np.array([0.01, -0.02, 0.05]))
SENSOR = pin.SE3(pin.rpy.rpyToMatrix(3.0, 0.1, 0.2), np.array([0.0, 0.03, 0.02]))


def make_transform(parent: str, child: str, pose: pin.SE3) -> TransformStamped:
    transform = TransformStamped(child_frame_id=child)
    transform.header.frame_id = parent
    place, turn = transform.transform.translation, transform.transform.rotation
    place.x, place.y, place.z = pose.translation.tolist()
    turn.x, turn.y, turn.z, turn.w = pin.Quaternion(pose.rotation).coeffs().tolist()
    return transform


TRANSFORMS = [make_transform("adapter", "sensor", SENSOR), make_transform("ft_sensor", "adapter", ADAPTER)]


def test_frames_are_where_the_transforms_say_in_whatever_order_they_come() -> None:
    frames = StaticFrames()
    assert frames.take(TRANSFORMS)
    assert not frames.take(TRANSFORMS), "nothing new"
    model = Robot.from_urdf(frames.add_to(PUMA)).model
    data = model.createData()
    pin.framesForwardKinematics(model, data, np.array([0.3, -0.5, 0.2, 1.0, 0.4, -0.7]))
    flange, sensor = (data.oMf[model.getFrameId(name)] for name in ("ft_sensor", "sensor"))
    np.testing.assert_allclose((flange.inverse() * sensor).homogeneous, (ADAPTER * SENSOR).homogeneous, atol=1e-12)


def test_what_is_no_pose_or_hangs_on_nothing_or_is_known_is_left_out() -> None:
    frames = StaticFrames()
    bad = make_transform("ft_sensor", "bad", SENSOR)
    bad.transform.rotation.w = float("nan")
    zero = TransformStamped(child_frame_id="zero")
    zero.header.frame_id = "ft_sensor"
    zero.transform.rotation.w = 0.0
    odd = make_transform("ft_sensor", "a <b> & c", SENSOR)
    assert frames.take(
        [bad, zero, odd, make_transform("moon", "crater", SENSOR), make_transform("link1", "link2", SENSOR)]
    )
    robot = Robot.from_urdf(frames.add_to(PUMA))
    assert set(robot.frame_names) - set(Robot.from_urdf(PUMA).frame_names) == {"a <b> & c"}
    assert StaticFrames().add_to(PUMA) == PUMA
    spaced = PUMA.replace("</robot>", "</robot >\n<!-- </link> -->")
    assert "a <b> & c" in Robot.from_urdf(frames.add_to(spaced)).frame_names


def in_sensor(message: Any) -> Any:
    """The same wrench, as a sensor at the other place reads it."""
    pose = ADAPTER * SENSOR
    force, torque = message.wrench.force, message.wrench.torque
    wrench = pose.actInv(pin.Force(np.array([force.x, force.y, force.z]), np.array([torque.x, torque.y, torque.z])))
    force.x, force.y, force.z = wrench.linear.tolist()
    torque.x, torque.y, torque.z = wrench.angular.tolist()
    message.header.frame_id = "sensor"
    return message


def expect_load(bench: Bench) -> None:
    """The bar, at the other place."""
    found, pose = bench.parameters(), ADAPTER * SENSOR
    assert found[0] == pytest.approx(BAR[0], abs=0.03)
    np.testing.assert_allclose(found[1:4] / found[0], pose.actInv(BAR[1:4] / BAR[0]), atol=2e-3)


def test_a_load_is_identified_there_as_soon_as_the_frame_is_known(bench: Bench) -> None:
    node = bench.start(load__sensor_frame="")
    bench.describe()
    bench.feed(0.5, wrench=in_sensor)
    status = bench.status("robot_description")
    assert status.level == DiagnosticStatus.ERROR
    assert "frame 'sensor' is not in the robot description" in status.message
    assert REMEDY in "".join(value.value for value in status.values) + status.message
    assert node._identification is not None
    node._identification.take_frames(TRANSFORMS)
    bench.feed(6.0, wrench=in_sensor)
    expect_load(bench)
    generation = node._identification.generation
    node._identification.take_frames([make_transform("ft_sensor", "camera", SENSOR)])
    assert node._identification.generation == generation, "what is identified goes on"


def make_watched(pose: pin.SE3, tick: int, child: str = "sensor", parent: str = "ft_sensor") -> TransformStamped:
    """A transform of /tf, ten of which come in a second."""
    transform = make_transform(parent, child, pose)
    transform.header.stamp.sec, transform.header.stamp.nanosec = divmod(tick * 100_000_000, 1_000_000_000)
    return transform


def test_a_frame_of_tf_counts_once_it_was_seen_not_to_move() -> None:
    frames, names = StaticFrames(), Robot.from_urdf(PUMA).frame_names
    found = [frames.watch([make_watched(SENSOR, tick)], names) for tick in range(40)]
    assert found.index(True) == 19, "two seconds of ten per second"
    assert found.count(True) == 1
    assert frames.is_watched("sensor")
    frames.check("sensor")
    assert "sensor" in Robot.from_urdf(frames.add_to(PUMA)).frame_names


def test_many_transforms_at_once_do_not_shorten_the_time() -> None:
    frames, names = StaticFrames(), Robot.from_urdf(PUMA).frame_names
    assert not frames.watch([make_watched(SENSOR, 0)] * 100, names)


def test_links_of_the_urdf_are_not_looked_at_on_tf() -> None:
    frames, names = StaticFrames(), Robot.from_urdf(PUMA).frame_names
    for tick in range(40):
        frames.watch([make_watched(pin.SE3(np.eye(3), np.array([0.0, 0.0, tick])), tick, "link2", "link1")], names)
    assert not frames.is_watched("link2")


@pytest.mark.parametrize(
    "moved",
    [
        make_watched(SENSOR * pin.SE3(np.eye(3), np.array([0.0, 2e-4, 0.0])), 40),
        make_watched(SENSOR * pin.SE3(pin.rpy.rpyToMatrix(0.0, 2e-4, 0.0), np.zeros(3)), 40),
        make_watched(SENSOR, 40, parent="link5"),
    ],
    ids=["by a length", "by an angle", "to another link"],
)
def test_a_frame_of_tf_that_moves_is_none_any_more(moved: TransformStamped) -> None:
    frames, names = StaticFrames(), Robot.from_urdf(PUMA).frame_names
    for tick in range(40):
        frames.watch([make_watched(SENSOR, tick)], names)
    assert frames.watch([moved], (*names, "sensor"))
    assert "sensor" not in Robot.from_urdf(frames.add_to(PUMA)).frame_names
    with pytest.raises(RobotDescriptionError, match="'sensor' of /tf moves on 'ft_sensor'"):
        frames.check("sensor")
    assert not any(frames.watch([make_watched(SENSOR, tick)], names) for tick in range(41, 90)), "for good"


def test_a_load_is_identified_in_a_frame_of_tf_until_that_moves(bench: Bench) -> None:
    node = bench.start(load__sensor_frame="")
    bench.describe()
    bench.feed(0.5, wrench=in_sensor)
    identification = node._identification
    assert identification is not None
    assert identification.watches_frames
    for tick in range(20):
        identification.watch_frames([make_watched(ADAPTER * SENSOR, tick)])
    bench.feed(6.0, wrench=in_sensor)
    expect_load(bench)
    assert identification.watches_frames, "it may still move"
    identification.watch_frames([make_watched(SENSOR, 21)])
    bench.feed(0.5, wrench=in_sensor)
    status = bench.status("robot_description")
    assert status.level == DiagnosticStatus.ERROR
    assert "frame 'sensor' of /tf moves on 'ft_sensor'" in status.message


@pytest.mark.skipif(TFMessage is None, reason="tf2_msgs is not installed: there are no wheels of it")
def test_the_transforms_come_from_their_topic(bench: Bench) -> None:
    latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    publisher = bench.probe.create_publisher(TFMessage, "/tf_static", latched)
    publisher.publish(TFMessage(transforms=TRANSFORMS))
    bench.start(load__sensor_frame="")
    bench.describe()
    bench.feed(6.0, wrench=in_sensor)
    expect_load(bench)


@pytest.mark.skipif(TFMessage is None, reason="tf2_msgs is not installed: there are no wheels of it")
def test_a_frame_comes_from_the_topic_tf_until_it_moves(bench: Bench) -> None:
    publisher = bench.probe.create_publisher(TFMessage, "/tf", 100)
    bench.start(load__sensor_frame="")
    bench.describe()
    assert publisher.get_subscription_count() == 0, "no frame is missing yet"
    bench.feed(0.5, wrench=in_sensor)
    assert bench.spin_until(lambda: publisher.get_subscription_count() == 1)
    for tick in range(30):
        publisher.publish(TFMessage(transforms=[make_watched(ADAPTER * SENSOR, tick)]))
        bench.spin()
    bench.feed(6.0, wrench=in_sensor)
    expect_load(bench)

    def is_refused() -> bool:
        publisher.publish(TFMessage(transforms=[make_watched(SENSOR, 31)]))
        return "frame 'sensor' of /tf moves on 'ft_sensor'" in bench.status("robot_description").message

    assert bench.spin_until(is_refused)
