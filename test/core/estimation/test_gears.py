"""Friction of gears under load, with dense rows as oracle."""

from __future__ import annotations

import numpy as np
import pytest

from inertid_ros.core.estimation.gears import Channel, GearedChannel
from inertid_ros.core.estimation.information import SquareRootInformation
from inertid_ros.core.estimation.misfit import Blocks
from inertid_ros.core.estimation.systematic_links import Nuisances, solve_jointly
from inertid_ros.core.records import FloatArray

LINKS = np.array([3.0, -2.0])
COULOMB, NOISE, ROWS = 0.5, 0.02, 1200
GEAR = 3
"""Columns are [links (2), Coulomb friction, gear, tilts (2), delay, y]."""


def _make_lines(gear: float, believed: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Lines (N, 8) with the column of the gear made of believed links, their senses, and directions."""
    random = np.random.default_rng(8)
    lines = np.zeros((ROWS, 8))
    lines[:, :2] = random.normal(size=(ROWS, 2))
    directions = np.clip(5.0 * random.normal(size=ROWS), -1.0, 1.0)
    lines[:, 2] = directions
    torques = lines[:, :2] @ believed
    plain = np.where(np.abs(directions) > 0.5, np.sign(directions), 0.0)
    lines[:, GEAR] = np.abs(torques) * (directions - plain)
    truth = lines[:, :2] @ LINKS
    lines[:, 7] = truth + COULOMB * directions + gear * np.abs(truth) * directions + NOISE * random.normal(size=ROWS)
    return lines, plain * np.sign(torques), directions


def _sum_up(lines: FloatArray, senses: FloatArray) -> Blocks:
    blocks = Blocks(np.arange(1))
    for part, sense in zip(lines.reshape(12, -1, 8), senses.reshape(12, -1), strict=True):
        chosen = part, part, part[sense == 1.0], part[sense == -1.0]
        blocks.end(np.array([np.tril(own.T @ own).ravel() for own in chosen]))
    return blocks


def _make_channel(lines: FloatArray) -> Channel:
    return Channel(np.asarray(np.linalg.qr(lines, mode="r")), np.arange(7), ROWS, NOISE**2, 0.0)


def test_columns_are_those_of_dense_rows_with_other_links() -> None:
    """Rows were taken with one set of links, the column is wanted for another that turns no torque round."""
    lines, senses, directions = _make_lines(0.1, LINKS)
    wanted = 1.3 * LINKS
    blocks = _sum_up(lines, senses)
    (products,) = blocks.list_products([8])
    geared = GearedChannel(_make_channel(lines), products, len(blocks.kept), [GEAR], 2)
    for values in (-LINKS, wanted):  # each as if it were the first
        geared.load(values)
    dense = lines.copy()
    dense[:, GEAR] += senses * (lines[:, :2] @ wanted)
    moves = np.abs(directions) == 1.0
    expected = np.abs(lines[:, :2] @ wanted) * directions
    np.testing.assert_allclose(dense[moves, GEAR], expected[moves])
    found = geared.channel.matrix
    np.testing.assert_allclose(found.T @ found, dense.T @ dense, rtol=1e-9, atol=1e-8)
    for total in (geared.parts.sum(axis=0), geared.kept.sum(axis=0)):
        np.testing.assert_allclose(total, np.tril(dense.T @ dense), rtol=1e-9, atol=1e-8)


@pytest.mark.parametrize("gear", [0.0, 0.15])
def test_friction_under_load_is_found_with_links_that_were_wrong(gear: float) -> None:
    """What rows believed is off by a tenth; where there is no such friction, intervals are those without it."""
    believed = np.array([3.2, -1.9])
    lines, senses, _ = _make_lines(gear, believed)
    frictions = (np.array([2]),)
    prior, start = SquareRootInformation(np.full(3, 100.0)), np.append(believed, 0.0)
    widths = []
    for size in (0.1, 0.0):
        nuisances = Nuisances(4, frictions=frictions, gears=1, gear=size, links=2)
        found = solve_jointly([_make_channel(lines)], prior, start, nuisances, _sum_up(lines, senses))
        widths.append(np.sqrt(np.diag(found.covariance)))
        if size > 0.0:
            assert np.all(np.abs(found.values - [*LINKS, COULOMB]) < 4.0 * widths[0])
            assert found.nuisances[0] == pytest.approx(gear, abs=0.01)
    if gear == 0.0:
        np.testing.assert_array_less(widths[0], 1.2 * widths[1])
    else:
        np.testing.assert_array_less(2.0 * widths[0], widths[1])


def test_without_rows_nothing_changes() -> None:
    channel = _make_channel(np.zeros((1, 8)))
    (products,) = Blocks(np.arange(1)).list_products([8])
    geared = GearedChannel(channel, products, 0, [GEAR], 2)
    geared.load(LINKS)
    assert geared.channel is channel
    assert geared.kept.shape == geared.parts.shape == (0, 8, 8)
