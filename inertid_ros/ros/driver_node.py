"""A node that stands in for the driver of a robot with a wrist sensor: the simulator behind clock and topics of ROS."""

from __future__ import annotations

from typing import Any

import numpy as np
from geometry_msgs.msg import WrenchStamped
from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.qos import DurabilityPolicy, QoSProfile
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, Header, String
from std_srvs.srv import SetBool
from trajectory_msgs.msg import JointTrajectory

from inertid_ros.control.controllers import Follower
from inertid_ros.core.errors import InertidError, SettingError
from inertid_ros.core.records import JointBlock, WrenchBlock
from inertid_ros.motions.trajectory import parse_message
from inertid_ros.ros.parameters import declare_settings
from inertid_ros.ros.runtime import create_quiet_timer
from inertid_ros.sim.scenario import ScenarioSettings, build_simulator, read_load, read_urdf
from inertid_ros.sim.sensors import AHEAD, Playback

TICK = 0.005
"""Seconds between two looks at the clock; all samples that were due since are then sent."""
LONGEST_PAUSE = 1.0
"""If the clock has gone on for longer than this many seconds between two looks, what was due is left out."""
NANOSECONDS = 1e9


class SimulatedDriver(Node):
    """Publishes `joint_states`, `wrench`, `base_wrench` and `robot_description`; `~/attach` takes the load up and down.

    A driven arm follows `joint_trajectory`, with the efforts in it fed forward, and obeys `effort_commands`.

    Time 0 of the simulation is the first time the node's clock is looked at; if the clock is set back, it restarts.
    """

    def __init__(self, **options: Any) -> None:
        """Declare the parameters, build the simulator and start.

        Args:
            options: what rclpy's Node takes besides the name.

        Raises:
            InertidError: if the parameters describe nothing that can be simulated.
        """
        super().__init__("simulated_driver", automatically_declare_parameters_from_overrides=True, **options)
        settings = ScenarioSettings(**declare_settings(self, ScenarioSettings, read_only=True))
        self._settings = settings
        self._build()
        self._load = read_load(settings.load)
        self._load_name = settings.load
        self._start = 0
        self._sent_until = 0.0
        samples = QoSProfile(depth=50)
        self._joint_publisher = self.create_publisher(JointState, "joint_states", samples)
        self._wrench_publisher = self.create_publisher(WrenchStamped, "wrench", samples)
        self._base_publisher = self.create_publisher(WrenchStamped, "base_wrench", samples)
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self._description_publisher = self.create_publisher(String, "robot_description", latched)
        self._description_publisher.publish(String(data=read_urdf(settings.robot)))
        self.create_service(SetBool, "~/attach", self._attach)
        if self._follower is not None:
            self.create_subscription(JointTrajectory, "joint_trajectory", self._follow, 10)
            self.create_subscription(Float64MultiArray, "effort_commands", self._obey, 10)
        create_quiet_timer(self, TICK, self._send_due)
        self.get_logger().info(
            f"simulating {settings.robot} ({settings.motion}): joints at {settings.joint_rate:g} Hz, "
            f"wrench at {settings.wrench_rate:g} Hz, load '{settings.load}', seed {settings.seed}"
        )

    def _build(self) -> None:
        """Build the simulator, and what gives its samples when they are due."""
        self._simulator = build_simulator(self._settings)
        drive = self._simulator.drive
        self._follower = drive.controller if drive and isinstance(drive.controller, Follower) else None
        ahead = AHEAD if drive is None else 0.0  # what a driven arm will do is not known before it is told to
        self._joints = Playback(self._simulator.joints, ahead)
        self._wrenches = Playback(self._simulator.wrenches, ahead)
        self._base_wrenches = Playback(self._simulator.base_wrenches, ahead)

    def _seconds_since_start(self) -> float:
        """Read the clock, and restart if it was set back."""
        now = int(self.get_clock().now().nanoseconds)
        if now < self._start + self._sent_until * NANOSECONDS:
            self.get_logger().warning("the clock was set back: restarting")
            self._start = 0
        if self._start == 0:
            self._start = now
            if self._follower is not None and self._sent_until > 0.0:
                self._build()  # a driven arm cannot go back to where it was
            self._skip_to(0.0)
        return (now - self._start) / NANOSECONDS

    def _skip_to(self, time: float) -> None:
        """Continue at another time of the simulation."""
        self._sent_until = time
        for stream in (self._joints, self._wrenches, self._base_wrenches):
            stream.skip_to(time)

    def _send_due(self) -> None:
        """Publish the samples whose time has come since the last call."""
        now = self._seconds_since_start()
        if now - self._sent_until > LONGEST_PAUSE:
            self.get_logger().warning(f"the clock went on by {now - self._sent_until:.3f} s: left out what was due")
            if self._follower is not None:
                self._start = 0  # nor can it leave anything out
                now = self._seconds_since_start()
            self._skip_to(now)
        self._sent_until = now
        self._send_joints(self._joints.advance(now))
        self._send_wrenches(self._wrench_publisher, self._wrenches.advance(now))
        if self._base_publisher.get_subscription_count() > 0:
            self._send_wrenches(self._base_publisher, self._base_wrenches.advance(now))
        else:
            self._base_wrenches.skip_to(now)

    def _send_joints(self, block: JointBlock) -> None:
        """Publish one message for each sample."""
        message = JointState(name=block.names)
        for i, stamp in enumerate(block.stamps.tolist()):
            self._set_stamp(message.header, stamp)
            message.position = block.positions[i].tolist()
            if block.velocities is not None:
                message.velocity = block.velocities[i].tolist()
            if block.efforts is not None:
                message.effort = block.efforts[i].tolist()
            self._joint_publisher.publish(message)

    def _send_wrenches(self, publisher: Publisher, block: WrenchBlock) -> None:
        """Publish one message for each sample."""
        message = WrenchStamped()
        message.header.frame_id = block.frame
        force, torque = message.wrench.force, message.wrench.torque
        for stamp, wrench in zip(block.stamps.tolist(), block.wrenches.tolist(), strict=True):
            self._set_stamp(message.header, stamp)
            force.x, force.y, force.z, torque.x, torque.y, torque.z = wrench
            publisher.publish(message)

    def _set_stamp(self, header: Header, stamp: int) -> None:
        """Write nanoseconds since the start of the simulation into the header of a message."""
        header.stamp.sec, header.stamp.nanosec = divmod(self._start + stamp, 1_000_000_000)

    def _follow(self, message: JointTrajectory) -> None:
        """Follow a trajectory from its stamp on, or at once."""
        try:
            found = parse_message(message, "joint_trajectory").arrange(self._simulator.joint_names, "the arm")
            begin = (found.stamp - self._start) / NANOSECONDS if found.stamp else self._sent_until
            if begin < self._sent_until:
                raise SettingError("header.stamp", found.stamp, "a time that is not over, or 0 for at once")
            assert self._follower is not None
            self._follower.follow(found, begin)
        except InertidError as error:
            self.get_logger().error(f"the trajectory is not followed: {error}")
            return
        self.get_logger().info(f"following a trajectory of {found.duration:.2f} s")

    def _obey(self, message: Float64MultiArray) -> None:
        """Let the motors do what is said, from the next sample on."""
        efforts = np.array(message.data, dtype=np.float64)
        if efforts.shape != (len(self._simulator.joint_names),) or not np.isfinite(efforts).all():
            count = len(self._simulator.joint_names)
            self.get_logger().error(f"effort_commands has {list(message.data)}, expected {count} finite numbers")
            return
        assert self._follower is not None
        self._follower.push(efforts, self._sent_until)

    def _attach(self, request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        """Attach the load, or release it, from the next sample on."""
        response.success = True
        if not request.data:
            self._simulator.release(self._sent_until)
            response.message = "load released"
        elif self._load is not None:
            self._simulator.attach(self._load, self._sent_until)
            response.message = f"load '{self._load_name}' attached"
        else:
            response.success = False
            response.message = "there is no load: start the driver with parameter 'load' set"
        self._joints.recompute()
        self._wrenches.recompute()
        self._base_wrenches.recompute()
        self.get_logger().info(response.message)
        return response
