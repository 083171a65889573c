"""The lifecycle node `inertid`: wires messages, services and parameters to the identification, and computes nothing."""

from __future__ import annotations

import gc
import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray
from rcl_interfaces.msg import SetParametersResult
from rclpy.clock import Clock, ClockType
from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn
from rclpy.parameter import Parameter

from inertid_ros.core.errors import InertidError
from inertid_ros.core.settings.settings import Settings
from inertid_ros.ros.commands import Commands
from inertid_ros.ros.identification import Identification
from inertid_ros.ros.inputs import Inputs
from inertid_ros.ros.lifecycle_guard import refuse_wrong_transitions
from inertid_ros.ros.link_outputs import LinkOutputs
from inertid_ros.ros.load_outputs import LoadOutputs
from inertid_ros.ros.parameters import declare_settings, find_objection, read_settings
from inertid_ros.ros.publishers import Publishers
from inertid_ros.ros.report import Report
from inertid_ros.ros.spinning import create_quiet_timer
from inertid_ros.ros.start_error import explain_missing_values

PROCESS_PERIOD = 0.005
"""Seconds for which samples are collected: a block of them costs little more than a single one."""

DIAGNOSTICS_PERIOD = 1.0
"""Seconds between two diagnostics."""

LINKS_PERIOD = 1.0
"""Seconds at least between two estimates of the links: to find bodies that can exist takes 50 ms or so."""

_MARKER_PERIODS = 3.0


class EstimatorNode(LifecycleNode):
    """Identifies the load on a wrist force/torque sensor and the links of the arm, or one of them, live."""

    def __init__(self, **options: Any) -> None:
        """Declare the parameters; everything else is created by configure.

        Raises:
            SettingError: if a parameter was given a value that cannot be used.
            StartError: if one was given none.
        """
        with explain_missing_values():
            super().__init__("inertid", automatically_declare_parameters_from_overrides=True, **options)
        self._identification: Identification | None = None
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
        except InertidError as error:
            self.get_logger().error(f"transition from {state.label} refused: {error}")
            return TransitionCallbackReturn.FAILURE
        except Exception:  # noqa: BLE001 - whatever it is, on_error must follow
            self.get_logger().error(f"transition from {state.label} failed:\n{traceback.format_exc()}")
            return TransitionCallbackReturn.ERROR
        return result

    def _create(self) -> None:
        settings = self.settings
        with ExitStack() as undo:
            self._report = Report(self)
            identification = Identification(settings, self._report.health, self.get_logger().error)
            undo.callback(self._create_outputs(settings).destroy)
            undo.callback(Commands(self, identification).destroy)
            undo.callback(Inputs(self, self._list_inputs(identification), identification.take_description).destroy)
            undo.callback(self.destroy_timer, self._start_timer(PROCESS_PERIOD, self._publish_samples))
            undo.callback(self.destroy_timer, self._start_timer(DIAGNOSTICS_PERIOD, self._publish_diagnostics))
            self._estimate_timers: list[Any] = []
            self._set_estimate_rate(settings.estimate_rate)
            undo.callback(self._stop_timers)
            self._undo = undo.pop_all()
        self._identification = identification
        self._frozen = 0

    def _create_outputs(self, settings: Settings) -> Publishers:
        publishers = Publishers(self, settings.output_reliability)
        self._diagnostics = publishers.create(DiagnosticArray, "/diagnostics")
        wanted = settings.estimators
        self._load_outputs = LoadOutputs(publishers, settings.load.source) if "load" in wanted else None
        self._link_outputs = LinkOutputs(publishers, settings.links.source) if "links" in wanted else None
        return publishers

    def _list_inputs(self, identification: Identification) -> dict[str, Callable[[bytes], None]]:
        """What takes the samples of each topic, as long as the node is active."""
        inputs: dict[str, Callable[[bytes], None]] = {"joint_states": identification.take_joint_state}
        if identification.load is not None:
            inputs["wrench"] = identification.load.take_wrench
        if identification.links is not None and "base_wrench" in identification.links.received:
            inputs["base_wrench"] = identification.links.take_base_wrench
        return {topic: self._while_active(take) for topic, take in inputs.items()}

    def _while_active(self, take: Callable[[bytes], None]) -> Callable[[bytes], None]:
        def take_if_active(data: bytes) -> None:
            if self._active:
                take(data)

        return take_if_active

    def _destroy(self) -> None:
        self._active = False
        self._identification = None
        self._undo.close()

    def _set_active(self, active: bool) -> None:
        self._active = active
        if active:
            self._report.restart()

    def _start_timer(self, period: float, callback: Callable[[], None]) -> Any:
        """Call back by real time, also while simulated time stands still or jumps."""
        return create_quiet_timer(self, period, callback, self._steady)

    def _set_estimate_rate(self, rate: float) -> None:
        if self._load_outputs is not None:
            self._estimate_timers.append(self._start_timer(1.0 / rate, self._publish_load))
        if self._link_outputs is not None:
            self._estimate_timers.append(self._start_timer(max(1.0 / rate, LINKS_PERIOD), self._publish_links))
        self._marker_lifetime = _MARKER_PERIODS / rate

    def _stop_timers(self) -> None:
        while self._estimate_timers:
            self.destroy_timer(self._estimate_timers.pop())

    # Parameters

    def _check_parameters(self, parameters: Sequence[Parameter]) -> SetParametersResult:
        settings = None if self._identification is None else self.settings
        objection = find_objection(parameters, settings)
        return SetParametersResult(successful=objection is None, reason=objection or "")

    def _apply_parameters(self, parameters: Sequence[Parameter]) -> None:
        if self._identification is None:
            return
        names = [parameter.name for parameter in parameters]
        settings = self.settings
        self._identification.change_settings(settings, names)
        if "estimate_rate" in names:
            self._stop_timers()
            self._set_estimate_rate(settings.estimate_rate)

    # Data

    def _publish_samples(self) -> None:
        if self._identification is None:
            return
        load, payload, links = self._identification.process()
        if load is not None and self._load_outputs is not None and self._identification.load is not None:
            self._report.note_use("load", time.monotonic())
            self._load_outputs.publish_wrenches(self._identification.load.sensor_frame, load)
            for event in load.events:
                self.get_logger().info(event.message)
        carrier = self._identification.payload
        if payload is not None and self._load_outputs is not None and carrier is not None and carrier.chain is not None:
            self._report.note_use("load", time.monotonic())
            self._load_outputs.publish_efforts(carrier.chain.model, payload)
        session = self._identification.links
        if links is not None and self._link_outputs is not None and session is not None and session.model is not None:
            self._report.note_use("links", time.monotonic())
            self._link_outputs.publish_samples(session.model, session.base_frame, links)

    def _publish_load(self) -> None:
        session = None if self._identification is None else self._identification.load or self._identification.payload
        estimate = session.estimate() if self._active and session is not None else None
        if estimate is not None and self._load_outputs is not None:
            self._load_outputs.publish_estimate(estimate, self._marker_lifetime)

    def _publish_links(self) -> None:
        session = None if self._identification is None else self._identification.links
        estimate = session.estimate() if self._active and session is not None else None
        if estimate is not None and session is not None and self._link_outputs is not None:
            full = session.find_links(estimate) if self._link_outputs.are_bodies_wanted else None
            self._link_outputs.publish_estimate(estimate, full)

    def _publish_diagnostics(self) -> None:
        identification = self._identification
        if not self._active or identification is None:
            return
        withheld = sum(0 if one is None else one.withheld for one in (self._load_outputs, self._link_outputs))
        self._diagnostics.publish(self._report.make(identification, withheld, time.monotonic()))
        if identification.is_warm and self._frozen != identification.generation:
            # What lives now lives as long as the chain: a later collection need not look at it (20 ms against 0.01 ms).
            self._frozen = identification.generation
            gc.collect()
            gc.freeze()
