"""Columns of gears that are made again with better links, with rows made with these from the start as oracle."""

from __future__ import annotations

import copy

import numpy as np
import pytest

from inertid_ros.core.estimation import senses
from inertid_ros.core.estimation.misfit import Blocks
from inertid_ros.core.estimation.senses import KeptRows
from inertid_ros.core.records import FloatArray

LINKS, URDF = np.array([3.0, -2.0, 0.3]), np.array([2.0, 1.0, 0.3])
"""The third is of the first channel alone, whose gear the second has not."""
USED = [np.array([0, 1, 2, 3, 5]), np.array([0, 1, 4, 6])]
DIRECTIONS, GEARS, WIDTH = [3, 4], [5, 6], 8
BLOCK, BLOCKS, REST = 20, 3, 7
SHARES = np.array([0.25, 0.6])


def _make_rows(links: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Rows (N, 2, 8) [links (3), Coulomb frictions (2), gears (2), y] and their senses (N, 2)."""
    random = np.random.default_rng(4)
    count = BLOCK * BLOCKS + REST
    rows, found = np.zeros((count, 2, WIDTH)), np.zeros((count, 2))
    for k, own in enumerate(USED):
        rows[:, k, own[own < 3]] = random.normal(size=(count, int((own < 3).sum())))
        directions = np.clip(3.0 * random.normal(size=count), -1.0, 1.0)
        plain = np.where(np.abs(directions) > 0.5, np.sign(directions), 0.0)
        torques = rows[:, k, :3] @ links
        rows[:, k, DIRECTIONS[k]], rows[:, k, GEARS[k]] = directions, np.abs(torques) * (directions - plain)
        rows[:, k, -1] = random.normal(size=count)
        found[:, k] = plain * np.sign(torques)
    return rows, found


def _sum_up(rows: FloatArray, found: FloatArray, usable: FloatArray) -> FloatArray:
    """Products (3, N) by sense, lower triangles."""
    sums = []
    for sense in (0.0, 1.0, -1.0):
        parts = []
        for k, own in enumerate(USED):
            lines = rows[(found[:, k] == sense) & (usable[:, k] > 0.0), k][:, [*own, -1]]
            parts.append(np.tril(lines.T @ lines).ravel())
        sums.append(np.concatenate(parts))
    return np.array(sums)


def _make_block(sums: FloatArray) -> FloatArray:
    return np.stack((sums.sum(axis=0), sums.sum(axis=0), sums[1], sums[2]))


def _divide(rows: FloatArray) -> list[FloatArray]:
    return np.split(rows, range(BLOCK, BLOCK * BLOCKS + 1, BLOCK))


def test_products_become_those_of_rows_that_knew_the_links(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(senses, "_SAME", 1e-12)
    usable = (np.random.default_rng(5).uniform(size=(BLOCK * BLOCKS + REST, 2)) < 0.8).astype(float)
    old, new = ([*map(_divide, (*_make_rows(links), usable))] for links in (URDF, LINKS))
    kept, blocks = KeptRows(USED, DIRECTIONS, GEARS, 3, WIDTH), Blocks(np.arange(1))
    for rows, found, good in zip(*old, strict=True):
        for row in zip(rows, good, found, strict=True):
            kept.keep(*row)
        if len(rows) == BLOCK:
            blocks.end(_make_block(_sum_up(rows, found, good)))
            kept.end_block()
    present, before = _sum_up(*(part[-1] for part in old)), blocks.parts[0].copy()
    blind = copy.copy(kept)
    judged = kept.judge(LINKS, blocks, present)
    for block, *part in zip(judged.parts, *(part[:-1] for part in new), strict=True):
        expected = _make_block(_sum_up(*part))
        np.testing.assert_allclose(block[1:], expected[1:], atol=1e-12)
    np.testing.assert_allclose(present, _sum_up(*(part[-1] for part in new)), atol=1e-12)
    np.testing.assert_array_equal(blocks.parts[0], before)
    assert kept.judge(LINKS, judged, present.copy()) is judged
    assert blind.judge(URDF, blocks, present.copy()) is blocks


def test_rows_that_count_less_are_moved_as_such(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(senses, "_SAME", 1e-12)
    (rows, found), (wanted, better) = _make_rows(URDF), _make_rows(LINKS)
    usable, kept = np.ones_like(found), KeptRows(USED, DIRECTIONS, GEARS, 3, WIDTH)
    for row in zip(rows, usable, found, strict=True):
        kept.keep(*row)
    kept.discount(SHARES)
    spread = np.repeat(SHARES, [(len(own) + 1) ** 2 for own in USED])
    present = spread * _sum_up(rows, found, usable)
    kept.judge(LINKS, Blocks(np.arange(1)), present)
    np.testing.assert_allclose(present, spread * _sum_up(wanted, better, usable), atol=1e-12)
