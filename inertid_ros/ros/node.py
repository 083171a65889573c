"""The lifecycle node `inertid`: wires messages, services and parameters to the identification, and computes nothing."""

from __future__ import annotations

import gc
import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from typing import Any

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray
from rcl_interfaces.msg import SetParametersResult
from rclpy.clock import Clock, ClockType
from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn
from rclpy.parameter import Parameter
from rclpy.serialization import serialize_message

from inertid_ros.core.errors import InertidError
from inertid_ros.core.settings.settings import Settings
from inertid_ros.objects.held import Held
from inertid_ros.ros.answers import Publishers, SampleOutputs
from inertid_ros.ros.diagnostics import diagnostics_message
from inertid_ros.ros.feedforward import Feedforward
from inertid_ros.ros.identification import Identification
from inertid_ros.ros.inputs import Inputs
from inertid_ros.ros.lane import Lane
from inertid_ros.ros.monitor import Monitor, Situation
from inertid_ros.ros.outputs import Composed, EstimateOutputs
from inertid_ros.ros.pace import PERIOD, Pace
from inertid_ros.ros.parameters import declare_settings, find_objection, read_settings
from inertid_ros.ros.runtime import (
    SHUTDOWN_ERRORS,
    create_quiet_timer,
    explain_missing_values,
    refuse_wrong_transitions,
)
from inertid_ros.ros.services import Services
from inertid_ros.ros.session import Judged, Session
from inertid_ros.ros.worker import Result, Worker

DIAGNOSTICS_PERIOD = 1.0
"""Seconds between two diagnostics."""


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
        self._lanes: dict[str, Lane] = {}
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
        except Exception as error:  # noqa: BLE001 - whatever it is, on_error must follow
            if isinstance(error, SHUTDOWN_ERRORS) and not self.context.ok():
                return TransitionCallbackReturn.ERROR  # Ctrl-C meanwhile: the process ends
            self.get_logger().error(f"transition from {state.label} failed:\n{traceback.format_exc()}")
            return TransitionCallbackReturn.ERROR
        return result

    def _create(self) -> None:
        settings = self.settings
        with ExitStack() as undo:
            self._monitor = Monitor(self, time.monotonic())
            identification = Identification(settings, self._monitor.health, self.get_logger())
            publishers = Publishers(self, settings.output_reliability)
            undo.callback(publishers.destroy)
            self._create_outputs(publishers, identification)
            self._worker = Worker(self, self._report_failed_job)
            undo.callback(self._worker.close)
            undo.callback(Services(self, identification, self._worker).destroy)
            forward = Feedforward(
                self, publishers, self._worker, identification.sessions, lambda: (self.settings, identification.robot)
            )
            undo.callback(forward.destroy)
            takers = identification.take_description, identification.take_frames, identification.watch_frames
            topics, on_lost = identification.received, identification.report_lost
            self._pace = Pace(time.monotonic())
            # Samples are answered at once, in the subscription's own callback.
            self._lanes = {
                topic: Lane(topic, identification, self._sample_outputs, self._pace, self.context) for topic in topics
            }
            on_sample = {topic: lane.take for topic, lane in self._lanes.items()}
            self._inputs = Inputs(self, on_sample, *takers, on_lost)
            undo.callback(self._inputs.destroy)
            undo.callback(self.destroy_timer, self._start_timer(DIAGNOSTICS_PERIOD, self._publish_diagnostics))
            self._ticker = self._start_timer(PERIOD, self._tick)
            undo.callback(self.destroy_timer, self._ticker)
            self._estimate_timers: list[Any] = []
            undo.callback(self._stop_timers)
            self._set_estimate_rate(identification, settings.estimate_rate)
            self._undo = undo.pop_all()
        self._identification = identification
        self._frozen = 0

    def _create_outputs(self, publishers: Publishers, identification: Identification) -> None:
        self._diagnostics = publishers.create(DiagnosticArray, "/diagnostics")
        self._sample_outputs: dict[str, SampleOutputs] = {}
        self._estimate_outputs: dict[str, EstimateOutputs] = {}
        for session in identification.sessions:
            samples = SampleOutputs(publishers, session.task)
            self._sample_outputs[session.task.name] = samples
            outputs = EstimateOutputs(publishers, session.task, samples)
            self._estimate_outputs[session.task.name] = outputs
            session.on_event = outputs.publish_event

    def _open(self, active: bool) -> None:
        """Take samples, and publish, or do neither."""
        self._active = active
        for lane in self._lanes.values():
            lane.is_open = active

    def _destroy(self) -> None:
        self._open(False)
        self._identification = None
        self._undo.close()

    def destroy_node(self) -> None:
        """Stop the worker, then destroy the node; what was exempted from collection when it was warm is no more."""
        self._open(False)
        if self._identification is not None:
            self._worker.close()
        super().destroy_node()
        gc.unfreeze()

    def _set_active(self, active: bool) -> None:
        self._open(active)
        if active and self._identification is not None:
            now = time.monotonic()
            self._monitor.restart(now)
            for session in self._identification.sessions:
                session.used_at = now

    def _start_timer(self, period: float, callback: Callable[[], None]) -> Any:
        """Call back by real time, also while simulated time stands still or jumps."""
        return create_quiet_timer(self, period, callback, self._steady)

    def _set_estimate_rate(self, identification: Identification, rate: float) -> None:
        for session in identification.sessions:
            period = max(1.0 / rate, session.task.period)
            publish = partial(self._publish_estimate, session, period)
            self._estimate_timers.append(self._start_timer(period, publish))

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
            self._set_estimate_rate(self._identification, settings.estimate_rate)

    def _tick(self) -> None:
        self._pace.tick(time.monotonic(), 1e-9 * self._ticker.time_until_next_call())

    # All else is judged and composed by the worker, from a copy of what is known at the moment

    def _publish_estimate(self, session: Session, period: float) -> None:
        outputs, revision, known = self._estimate_outputs[session.task.name], session.revision, session.known
        if not self._active or not outputs.wanted or session.can_wait:
            return
        if (last := outputs.find_last(known)) is not None:
            self._publish(last)
            return
        prepared = session.prepare_estimate()
        if prepared is None:
            return

        def publish(result: tuple[tuple[Judged, Composed], float]) -> None:
            (judged, composed), cost = result
            if session.revision == revision and session.accept_estimate(judged, cost) is not None:
                outputs.keep(known, composed)
                self._publish(composed)

        self._worker.submit(session.task.name, partial(_measure, outputs.prepare(prepared, period)), publish)

    def _publish_diagnostics(self) -> None:
        identification = self._identification
        if not self._active or identification is None:
            return
        judge = [None if self._is_renewed(one) else one.prepare_estimate() for one in identification.sessions]
        self._inputs.watch_frames(identification.watches_frames)
        keep = identification.prepare_state()
        if keep is not None:
            self._worker.submit("state", keep, identification.keeper.report)
        self._worker.submit("situation", partial(_judge_all, judge), partial(self._look, identification))
        if identification.is_warm and self._frozen != identification.generation:
            # What lives now lives as long as the chain: a later collection need not look at it (20 ms against 0.01 ms).
            self._frozen = identification.generation
            gc.collect()
            gc.freeze()

    def _is_renewed(self, session: Session) -> bool:
        """Whether the diagnostics need not judge the estimate: somebody listens to it anyway, or it is fresh."""
        is_heard = bool(self._estimate_outputs[session.task.name].wanted)
        return session.latest is not None and (is_heard or session.is_fresh)

    def _look(self, identification: Identification, judged: Sequence[tuple[Judged, float] | None]) -> None:
        for session, one in zip(identification.sessions, judged, strict=True):
            if one is not None:
                session.accept_estimate(*one)
            if (look := session.prepare_look()) is not None:
                publish = partial(self._publish_held, session, session.revision)
                self._worker.submit(f"{session.task.name}, held", look, publish)
        outputs = self._sample_outputs.values()
        unpublished = {"withheld": sum(one.withheld for one in outputs), "thinned": sum(one.thinned for one in outputs)}
        situation = self._monitor.look(identification, unpublished, time.monotonic())
        self._worker.submit("diagnostics", partial(self._compose_diagnostics, situation), self._publish)

    def _publish_held(self, session: Session, revision: int, held: Held) -> None:
        if session.revision == revision:
            session.accept_held(held)
            self._estimate_outputs[session.task.name].publish_held(held, session.frame)

    def _compose_diagnostics(self, situation: Situation) -> Composed:
        name = self.get_fully_qualified_name().lstrip("/")
        return [(self._diagnostics, serialize_message(diagnostics_message(name, situation)))]

    def _publish(self, composed: Composed) -> None:
        for publisher, message in composed:
            if isinstance(message, Exception):
                self._report_failed_job(message)
            elif message is not None:
                publisher.publish(message)

    def _report_failed_job(self, error: Exception) -> None:
        if isinstance(error, (InertidError, np.linalg.LinAlgError)):
            self._monitor.health.report("output", "withheld", str(error))
        else:
            self.get_logger().error(f"internal error:\n{''.join(traceback.format_exception(error))}")
            self._monitor.health.report("output", "internal_error", f"{type(error).__name__}: {error}")


def _judge_all(prepared: Sequence[Callable[[], Judged] | None]) -> list[tuple[Judged, float] | None]:
    return [None if judge is None else _measure(judge) for judge in prepared]


def _measure(job: Callable[[], Result]) -> tuple[Result, float]:
    """Return the result of a job and the processor time [s] that it took."""
    start = time.thread_time()
    return job(), time.thread_time() - start
