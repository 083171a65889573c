"""Predictions at sample rate, against the equations with true accelerations, and those by extrapolation."""

from __future__ import annotations

import numpy as np
import pytest
from support.chain import drive, load_of, make_chain, process, puma_motion, push_force, simulate_puma
from support.link_chain import estimate_of, make_link_chain, make_motion, simulate_links, true_values
from support.rows import FILTERS, Path, cut, make_equations, make_path, make_rows, make_segment, run_rows

from inertid_ros.core.chain import Chain
from inertid_ros.core.equations.equation import Equation
from inertid_ros.core.records import FloatArray, JointBlock, Output, WrenchBlock
from inertid_ros.core.rows.advance import predict_next
from inertid_ros.core.settings.choices import Method

NAMES = ["load", "effort", "base_wrench", "both"]
METHODS = [Method.FILTERED, Method.INTEGRAL, Method.DIFFERENTIATED]


def predict(
    equation: Equation, joints: int, path: Path, values: FloatArray, method: Method = Method.FILTERED
) -> FloatArray:
    rows = make_rows(equation, joints, method)
    rows.set_values(values)
    return run_rows(rows, make_segment(path, np.zeros((len(path.times), len(equation.channels))))).predicted


def expect(equation: Equation, path: Path, values: FloatArray) -> FloatArray:
    return np.asarray(equation.assemble(equation.compute(*path[1:])) @ values)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", NAMES)
def test_slow_motion_is_predicted_without_delay(name: str, method: Method) -> None:
    """For any unknowns, also such as no body can have."""
    equation, joints = make_equations(3)[name]
    values = np.random.default_rng(1).normal(size=len(equation.unknowns))
    path = make_path(joints, 500.0, 4.0, speed=0.8)
    found, expected = predict(equation, joints, path, values, method), expect(equation, path, values)
    late = path.times > 1.5
    error = np.abs(found - expected)[late].max(axis=0)
    assert np.all(error < 0.02 * np.abs(expected[late]).max(axis=0) + 0.02)


def test_the_derivative_s_share_is_that_of_the_lead_filter() -> None:
    """A rotor alone: b + (1 + q/d)(b - c) of a = F_d dv/dt, b = F_q a, c = F_q b, by its frequency response."""
    equation, joints = make_equations(0)["effort"]
    values = np.zeros(len(equation.unknowns))
    values[list(equation.unknowns).index("joint0.rotor_inertia")] = 1.0
    d, q = FILTERS.smoothing, FILTERS.cutoff + 2.0 * FILTERS.smoothing
    for w in (0.5, 5.0, 30.0):
        times = np.arange(20_000) / 4000.0
        still = np.zeros((len(times), joints))
        velocities = still.copy()
        velocities[:, 0] = np.sin(w * times)
        found = predict(equation, joints, Path(times, still, velocities, still), values)[:, 0]
        s = 1j * w
        once = q / (s + q)
        response = s * d / (s + d) * (once + (1.0 + q / d) * (once - once**2))
        expected = np.imag(response * np.exp(s * times))
        late = times > 2.0
        np.testing.assert_allclose(found[late], expected[late], atol=2e-4 * w)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", NAMES)
def test_predictions_go_on_where_the_filters_are_restarted(name: str, method: Method) -> None:
    """Readings may have lost their meaning; the motion has not."""
    equation, joints = make_equations(1)[name]
    values = np.random.default_rng(1).normal(size=len(equation.unknowns))
    path = make_path(joints, 500.0, 2.0)
    undisturbed = predict(equation, joints, path, values, method)
    rows = make_rows(equation, joints, method)
    rows.set_values(values)
    parts = []
    for start in range(0, len(path.times), 100):
        readings = np.zeros((100, len(equation.channels)))
        part = make_segment(cut(path, slice(start, start + 100)), readings, starts_anew=start == 0)
        parts.append(run_rows(rows, part).predicted)
        rows.restart()
    # A load's twist is corrected for Tustin's rule from its third sample on.
    tolerance = 1e-4 if name == "load" else 1e-11
    scale = np.abs(undisturbed).max()
    np.testing.assert_allclose(np.concatenate(parts), undisturbed, atol=tolerance * scale)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", NAMES)
def test_foreseen_prediction_is_the_one_that_comes(name: str, method: Method) -> None:
    """For every next sample, at stamps that jitter, after a restart too; and foreseeing changes nothing."""
    equation, joints = make_equations(2)[name]
    values = np.random.default_rng(1).normal(size=len(equation.unknowns))
    path = make_path(joints, 200.0, 0.6, jitter=1e-3)
    expected = predict(equation, joints, path, values, method)
    scale = np.abs(expected).max()
    rows = make_rows(equation, joints, method)
    rows.set_values(values)
    segment = make_segment(path, np.zeros((len(path.times), len(equation.channels))))
    for k in range(len(path.times)):
        one = segment._replace(starts_anew=k == 0, stamps=segment.stamps[k : k + 1], samples=segment.samples[k : k + 1])
        predict_next(rows.floats, rows.integers, one.samples)
        foreseen = one.predicted[0].copy()
        predict_next(rows.floats, rows.integers, one.samples)
        again = one.predicted[0].copy()
        came = run_rows(rows, one).predicted[0]
        np.testing.assert_array_equal(foreseen, again)
        np.testing.assert_allclose(foreseen, came, atol=1e-12 * scale)
        if k < 60:
            np.testing.assert_array_equal(came, expected[k])
        if k == 60:
            rows.restart()


def hold_back(chain: Chain, joints: JointBlock, wrenches: WrenchBlock) -> tuple[Output, Output]:
    """What a chain answers while the joint states of the last sample are not there yet, and what then comes out."""
    chain.push(joints.take(slice(0, -1)))
    chain.push(wrenches)
    chain.process()
    answer = chain.answer()
    assert answer is not None
    chain.push(joints.take(slice(-1, None)))
    return answer, process(chain)


def at_constant_velocity(names: tuple[str, ...], rate: float = 100.0) -> JointBlock:
    """So that what is extrapolated comes true; the last state comes with the last reading."""
    count = 101
    stamps = 1_700_000_000_000_000_000 + (np.arange(count) * (1e9 / rate)).astype(np.int64)
    speeds = np.linspace(0.2, 0.6, len(names))
    times = (stamps - stamps[0]) * 1e-9
    return JointBlock(names, stamps, 0.3 + times[:, None] * speeds, np.tile(speeds, (count, 1)))


@pytest.mark.parametrize("with_velocity", [True, False])
def test_answer_of_a_load_is_the_prediction_that_comes(with_velocity: bool) -> None:
    chain = make_chain()
    joints = at_constant_velocity(tuple(f"joint{k}" for k in range(1, 7)))
    if not with_velocity:
        joints = joints._replace(velocities=None)
    stamps = joints.stamps[10:-1] + 3_000_000
    wrenches = WrenchBlock("ft_sensor", stamps, np.random.default_rng(0).normal(size=(len(stamps), 6)))
    chain.freeze(np.random.default_rng(1).normal(size=16))
    assert chain.answer() is None
    answer, came = hold_back(chain, joints, wrenches)
    first = int(np.searchsorted(came.stamps, answer.stamps[0]))
    np.testing.assert_array_equal(came.stamps[first], answer.stamps[0])
    np.testing.assert_array_equal(came.measured[first], answer.measured[0])
    np.testing.assert_allclose(answer.predicted[0], came.predicted[first], rtol=1e-9)
    assert answer.usable.all()
    assert answer.rows.stamps.size == 0
    assert answer.events == ()


@pytest.mark.parametrize("sign", ["on_robot", "on_ground"])
def test_answer_of_links_on_a_base_sensor_is_the_prediction_that_comes(sign: str) -> None:
    chain = make_link_chain(source="base_wrench", joints=["joint1", "joint2", "joint3"], base_wrench_sign=sign)
    chain.freeze(true_values(estimate_of(chain)))
    joints = at_constant_velocity(("joint1", "joint2", "joint3"))
    stamps = joints.stamps[10:-1] + 3_000_000
    frame = estimate_of(chain).model.arm.model.frames[1].name
    wrenches = WrenchBlock(frame, stamps, np.random.default_rng(0).normal(size=(len(stamps), 6)))
    answer, came = hold_back(chain, joints, wrenches)
    np.testing.assert_array_equal(came.stamps[0], answer.stamps[0])
    np.testing.assert_array_equal(came.measured[0], answer.measured[0])
    np.testing.assert_allclose(answer.predicted[0], came.predicted[0], rtol=1e-9)


def test_answer_changes_nothing_and_is_near_what_comes_in_any_motion() -> None:
    """Asked after every block, a chain gives the same results as one that is never asked."""
    motion = puma_motion()
    simulator = simulate_puma(motion, 3)
    asked, unasked = make_chain(), make_chain()
    answers: dict[int, FloatArray] = {}
    predicted: dict[int, FloatArray] = {}
    for start in np.arange(0.0, motion.duration, 0.005).tolist():
        joints, wrenches = simulator.joints(start, start + 0.005), simulator.wrenches(start, start + 0.005)
        for chain in (asked, unasked):
            chain.push(joints)
            chain.push(wrenches)
        outputs = asked.process(), unasked.process()
        if (answer := asked.answer()) is not None:
            answers |= dict(zip(answer.stamps.tolist(), answer.predicted, strict=True))
        if outputs[0] is not None and outputs[1] is not None:
            np.testing.assert_array_equal(outputs[0].predicted, outputs[1].predicted)
            predicted |= dict(zip(outputs[0].stamps.tolist(), outputs[0].predicted, strict=True))
    np.testing.assert_array_equal(load_of(asked).covariance, load_of(unasked).covariance)
    stamps = sorted(answers.keys() & predicted.keys())[-600:]
    assert len(stamps) == 600
    error = np.array([answers[stamp] - predicted[stamp] for stamp in stamps])
    size = np.array([predicted[stamp] for stamp in stamps])
    assert np.all(np.sqrt(np.mean(error**2, axis=0)) < 0.05 * np.sqrt(np.mean(size**2, axis=0)) + 0.01)


def test_contact_does_not_spoil_the_residual() -> None:
    """Hypotheses are tested again and again in contact, with restarted filters: the residual is still the push."""
    motion = puma_motion(rounds=4)
    simulator, chain = simulate_puma(motion, 5), make_chain()
    drive(chain, simulator, 0.0, 8.0)
    wrenches = simulator.wrenches(8.0, 11.0)
    times = (wrenches.stamps - wrenches.stamps[0]) * 1e-9
    push = np.zeros((len(times), 6))
    push[:, 0], push[:, 4] = 15.0 + 10.0 * np.sin(5.0 * times), -2.0 * np.sin(3.0 * times)
    quiet = make_chain()
    drive(quiet, simulator, 0.0, 8.0)
    for one, block in ((chain, push_force(wrenches, push)), (quiet, wrenches)):
        one.push(simulator.joints(8.0, 11.0))
        one.push(block)
    pushed, free = process(chain), process(quiet)
    assert load_of(chain).mode == "contact"
    late = pushed.stamps >= wrenches.stamps[0]
    assert late.sum() >= (free.stamps >= wrenches.stamps[0]).sum() - 1, "the first one after the step is set aside"
    left = pushed.residual[late] - push[np.searchsorted(wrenches.stamps, pushed.stamps[late])]
    np.testing.assert_allclose(left, free.residual[np.searchsorted(free.stamps, pushed.stamps[late])], atol=0.1)


def test_links_predict_what_is_measured_while_they_learn() -> None:
    chain = make_link_chain(source="both")
    output = drive(chain, simulate_links(make_motion()), 0.0, 12.0)
    late = output.stamps > output.stamps[0] + 6_000_000_000
    left, measured = output.residual[late], output.measured[late]
    assert np.all(np.sqrt(np.mean(left**2, axis=0)) < 0.1 * np.sqrt(np.mean(measured**2, axis=0)) + 1.5)
