"""The lifecycle node `inertid`: wires messages, services and parameters to the identification, and computes nothing."""

from __future__ import annotations

import gc
import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Any

from rcl_interfaces.msg import SetParametersResult
from rclpy.clock import Clock, ClockType
from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn
from rclpy.parameter import Parameter

from inertid_ros.core.settings import Settings
from inertid_ros.ros.commands import Commands
from inertid_ros.ros.inputs import Inputs
from inertid_ros.ros.lifecycle_guard import refuse_wrong_transitions
from inertid_ros.ros.load_session import LoadSession
from inertid_ros.ros.outputs import Outputs
from inertid_ros.ros.parameters import declare_settings, find_objection, read_settings
from inertid_ros.ros.report import Report
from inertid_ros.ros.spinning import create_quiet_timer
from inertid_ros.setting_changes import restarts_identification

PROCESS_PERIOD = 0.005
"""Seconds for which samples are collected: a block of them costs little more than a single one."""

DIAGNOSTICS_PERIOD = 1.0
"""Seconds between two diagnostics."""

_MARKER_PERIODS = 3.0


class EstimatorNode(LifecycleNode):
    """Identifies the load on a wrist force/torque sensor, live."""

    def __init__(self, **options: Any) -> None:
        """Declare the parameters; everything else is created by configure.

        Raises:
            SettingError: if a parameter was given a value that cannot be used.
        """
        super().__init__("inertid", automatically_declare_parameters_from_overrides=True, **options)
        self._session: LoadSession | None = None
        self._active = False
        self._undo = ExitStack()
        self._steady = Clock(clock_type=ClockType.STEADY_TIME)
        declare_settings(self)
        self.add_on_set_parameters_callback(self._check_parameters)
        self.add_post_set_parameters_callback(self._apply_parameters)
        refuse_wrong_transitions(self)

    @property
    def settings(self) -> Settings:
        """The parameters as they are now."""
        return read_settings(self)

    # Lifecycle: what configure creates, cleanup destroys, whatever the way there.

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Create everything; a robot description may come later."""
        return self._transition(state, self._create, super().on_configure)

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Start to listen and to publish."""
        return self._transition(state, lambda: self._set_active(True), super().on_activate)

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Stop both; what is known stays."""
        return self._transition(state, lambda: self._set_active(False), super().on_deactivate)

    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Destroy everything; what is known is forgotten."""
        return self._transition(state, self._destroy, super().on_cleanup)

    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Destroy everything, from any state."""
        return self._transition(state, self._destroy, super().on_shutdown)

    def on_error(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Come back to unconfigured after a transition that failed."""
        return self._transition(state, self._destroy, super().on_error)

    def _transition(
        self,
        state: LifecycleState,
        act: Callable[[], None],
        inherited: Callable[[LifecycleState], TransitionCallbackReturn],
    ) -> TransitionCallbackReturn:
        """Do what belongs to a transition; rclpy itself would swallow an error without a word."""
        try:
            result = inherited(state)
            act()
        except Exception:  # noqa: BLE001 - whatever it is, on_error must follow
            self.get_logger().error(f"transition from {state.label} failed:\n{traceback.format_exc()}")
            return TransitionCallbackReturn.ERROR
        return result

    def _create(self) -> None:
        settings = self.settings
        with ExitStack() as undo:
            self._report = Report(self)
            session = LoadSession(settings, self._report.health, self.get_logger().error)
            self._outputs = Outputs(self, settings.output_reliability)
            undo.callback(self._outputs.destroy)
            undo.callback(Commands(self, session).destroy)
            undo.callback(Inputs(self, self._on_joint_state, self._on_wrench, session.take_description).destroy)
            undo.callback(self.destroy_timer, self._start_timer(PROCESS_PERIOD, self._publish_wrenches))
            undo.callback(self.destroy_timer, self._start_timer(DIAGNOSTICS_PERIOD, self._publish_diagnostics))
            self._set_estimate_rate(settings.estimate_rate)
            undo.callback(lambda: self.destroy_timer(self._estimate_timer))
            self._undo = undo.pop_all()
        self._session = session
        self._frozen = 0

    def _destroy(self) -> None:
        self._active = False
        self._session = None
        self._undo.close()

    def _set_active(self, active: bool) -> None:
        self._active = active
        if active:
            self._report.restart()

    def _start_timer(self, period: float, callback: Callable[[], None]) -> Any:
        """Call back by real time, also while simulated time stands still or jumps."""
        return create_quiet_timer(self, period, callback, self._steady)

    def _set_estimate_rate(self, rate: float) -> None:
        self._estimate_timer = self._start_timer(1.0 / rate, self._publish_estimate)
        self._marker_lifetime = _MARKER_PERIODS / rate

    # Parameters

    def _check_parameters(self, parameters: Sequence[Parameter]) -> SetParametersResult:
        objection = find_objection(parameters, configured=self._session is not None)
        return SetParametersResult(successful=objection is None, reason=objection or "")

    def _apply_parameters(self, parameters: Sequence[Parameter]) -> None:
        if self._session is None:
            return
        names = [parameter.name for parameter in parameters]
        settings = self.settings
        self._session.change_settings(settings, restart=any(restarts_identification(name) for name in names))
        if "estimate_rate" in names:
            self.destroy_timer(self._estimate_timer)
            self._set_estimate_rate(settings.estimate_rate)

    # Data

    def _on_joint_state(self, data: bytes) -> None:
        if self._active and self._session is not None:
            self._session.take_joint_state(data)

    def _on_wrench(self, data: bytes) -> None:
        if self._active and self._session is not None:
            self._session.take_wrench(data)

    def _publish_wrenches(self) -> None:
        output = None if self._session is None else self._session.process()
        if output is None or self._session is None:
            return
        self._report.note_use(time.monotonic())
        self._outputs.publish_wrenches(self._session.sensor_frame, output)
        for event in output.events:
            self.get_logger().info(event.message)

    def _publish_estimate(self) -> None:
        if not self._active or self._session is None:
            return
        estimate = self._session.estimate()
        if estimate is not None:
            self._outputs.publish_estimate(estimate, self._marker_lifetime)

    def _publish_diagnostics(self) -> None:
        if not self._active or self._session is None:
            return
        message = self._report.make(self._session, self._outputs.withheld, time.monotonic())
        self._outputs.publish_diagnostics(message)
        if self._session.is_warm and self._frozen != self._session.generation:
            # What lives now lives as long as the chain: a later collection need not look at it (20 ms against 0.01 ms).
            self._frozen = self._session.generation
            gc.collect()
            gc.freeze()
