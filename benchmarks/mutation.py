"""Mutation testing: small mistakes are put into the estimator, the synchroniser, stamps and checks; do tests notice?

    python benchmarks/mutation.py --count 150 --write

Mutants are drawn at random from all that the rules below make. Each is put in the place of its module in a process of
its own, so that no file is changed, and is tried on the tests that mirror that module until one fails. Kernels are
tried in pure Python, for compilation would take a minute for each mutant, where tests of their own are quick so: those
of stamps and time lines, of averages, of folding and tracking, and of checks. Other kernels, such as those of rows, of
joint streams and of products, are left out: nothing below speaks of them. A mutant that uses far more processor time
than the tests need is stopped, and counts as noticed. A run that was ended goes on where it was when it is called
again.
"""

from __future__ import annotations

import argparse
import ast
import copy
import os
import random
import resource
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from multiprocessing import get_context
from multiprocessing.connection import Connection
from types import CodeType
from typing import Any, NamedTuple

import numba
import numpy as np
import pytest
from page import describe_run, end_with_parent, run_benchmark
from pieces import ROOT, Record, add_minutes, run_pieces

CORE = "inertid_ros/core"
_INPUT = tuple(f"test/core/input/test_{name}.py" for name in ("timestamps", "timeline", "joint_names", "distrust"))
_ESTIMATOR = "hypothesis_rules", "hypothesis_choices", "events", "change", "estimator_copy", "hypothesis"
_ESTIMATION = tuple(f"test/core/estimation/test_{name}.py" for name in _ESTIMATOR)
_RULES = "test/core/checks/test_force_fits.py", "test/core/checks/test_convention_rules.py"
_WATCHED, _POSES = (f"test/core/checks/test_{name}.py" for name in ("watched_readings", "convention_poses"))
_FAULTS = ("test/core/checks/test_reading_faults.py", "test/core/checks/test_sensor_faults.py")
_RECALL = ("test/core/test_recall.py",)
_WRIST = "test/core/tasks/test_wrist_rules.py", "test/core/tasks/test_wrist.py"
_LOAD = "test/core/test_chain_load.py"
TESTS: dict[str, tuple[str, ...]] = {
    f"{CORE}/estimation/hypothesis.py": (*_ESTIMATION, *_RECALL, _LOAD),
    f"{CORE}/estimation/change_hypotheses.py": (*_ESTIMATION, *_RECALL, _LOAD),
    f"{CORE}/estimation/change.py": (*_ESTIMATION, *_RECALL, _LOAD),
    f"{CORE}/estimation/information.py": ("test/core/estimation/test_information.py", *_ESTIMATION),
    f"{CORE}/estimation/states.py": ("test/core/estimation/test_states.py", "test/core/estimation/test_estimate.py"),
    f"{CORE}/estimation/remembered.py": _RECALL,
    f"{CORE}/input/synchroniser.py": (
        "test/core/input/test_synchroniser.py",
        *_INPUT[2:],
        "test/core/rows/test_predictions.py",
        "test/core/test_chain.py",
        "test/core/test_bad_input.py",
    ),
    f"{CORE}/input/reading_faults.py": _FAULTS,
    f"{CORE}/input/timeline.py": (*_INPUT[:2], "test/core/input/test_reading_samples.py"),
    f"{CORE}/checks/sensor_faults.py": _FAULTS,
    f"{CORE}/checks/wrench_convention.py": (*_RULES, "test/core/checks/test_wrench_convention.py"),
    f"{CORE}/checks/gravity_hypotheses.py": (*_RULES, "test/core/checks/test_gravity_hypotheses.py"),
    f"{CORE}/tasks/wrist.py": (*_WRIST, *_RECALL, *_FAULTS, "test/core/test_expected_load.py", _LOAD),
}
"""Files that are mutated but for their kernels, and the tests that have to notice, the quickest first."""
KERNEL_TESTS: dict[str, tuple[str, ...]] = {
    f"{CORE}/estimation/folding.py": (
        "test/core/estimation/test_folding.py",
        "test/core/estimation/test_information.py",
    ),
    f"{CORE}/estimation/tracking.py": ("test/core/estimation/test_tracking.py",),
    f"{CORE}/input/timeline.py": (
        *_INPUT[:2],
        "test/core/input/test_reading_samples.py",
        "test/core/input/test_efforts.py",
    ),
    f"{CORE}/input/smoothing.py": ("test/core/input/test_smoothing.py",),
    f"{CORE}/checks/sensor_faults.py": (_WATCHED, _FAULTS[0]),
    f"{CORE}/checks/wrench_convention.py": (_POSES, _RULES[1]),
}
"""Files whose kernels are mutated, and the tests in pure Python that have to notice."""
FILES = sorted({*TESTS, *KERNEL_TESTS})
PRELOADED = ["hypothesis", "numba", "numpy.testing", "pinocchio", "pytest", "scipy.linalg", "scipy.special", "yaml"]
"""Libraries that are imported once for all mutants."""
PATIENCE = 5.0
"""A mutant is stopped after so many times the processor time that its tests need without it, and"""
LEAST_PATIENCE = 20
"""so many seconds of it: imports take some."""
SURVIVES = "survives"
"""What is said of a mutant that no test notices."""
ENOUGH = 0.85
"""Share of mutants that must be noticed."""
SWAPPED: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.USub: ast.UAdd,
}
"""Operators that are exchanged. A mutant of `<` is often none, for numbers are seldom equal: see the survivors."""
REASONS: dict[tuple[str, str], str] = {
    (
        "estimation/change.py",
        "3 → 4: `3` in `return mean, float(np.sqrt(max(np.trace(gram[:3, :3]) / weight - mean`",
    ): ("equivalent: the trace of a matrix with one more row or column is the same"),
    (
        "input/synchroniser.py",
        "1 → 2: `1` in `bounds = [0, *(np.flatnonzero(cuts[1:] == AFTER_GAP) + 1).tolist(), le`",
    ): "a real one: test_a_gap_within_a_block_is_one_between_blocks was written for it, and notices it",
    ("input/synchroniser.py", "Gt → GtE: `stream.newest > newest - _SILENT`"): (
        "a publisher that is exactly a second behind, to the nanosecond, may be silent or not"
    ),
    (
        "estimation/hypothesis.py",
        "True → False: `True` in `self._hypotheses.is_slight = self._hypotheses.is_watched = True`",
    ): "a real one: test_what_grows_is_a_contact_and_what_may_grow_is_at_last was written for it, and notices it",
    ("checks/wrench_convention.py", "Gt → GtE: `abs(mass) > _BEYOND_DOUBT * np.sqrt(variance)`"): (
        "a mass that is exactly ten deviations, to the last digit, may have a sign or not"
    ),
    ("input/smoothing.py", "Lt → LtE: `after < stop - 1`"): (
        "equivalent: no reading that is paired is later than the last joint state"
    ),
    ("input/timeline.py", "1 → 2: `1` in `return -1`"): "equivalent: any number below zero says that all are taken",
    ("checks/sensor_faults.py", "0.0 → 1.0: `0.0` in `found[c] = 0.0`"): "equivalent: it is set again in the next loop",
    ("input/reading_faults.py", "1.0 → 2.0: `1.0` in `self._factor = 1.0`"): (
        "a real one: test_a_unit_that_changes_back_is_the_right_one_again was extended for it, and notices it"
    ),
    ("input/smoothing.py", "Add → Sub: `len(targets) + joint`"): (
        "a real one: test_every_joint_is_averaged_by_itself was written for it, and notices it"
    ),
    ("input/timeline.py", "0 → 1: `0` in `after = find_after(line, samples[0, 0])`"): (
        "a real one: samples of test_interpolation_is_numpy_s began as zeros, and were filled with others for it"
    ),
    (
        "estimation/hypothesis.py",
        "2 → 3: `2` in `covariance = remembered.widen(age, self._wander**2, self._prior)`",
    ): "a real one: test_the_bias_may_have_wandered_meanwhile_by_its_drift was written for it, and notices it",
    ("input/timeline.py", "2 → 3: `2` in `if kept + count > len(self.states) // 2:`"): (
        "equivalent: more memory is taken somewhat earlier, and the same is in it"
    ),
    ("input/timeline.py", "False → True: `False` in `note_reading(channels, scales, values, False, False, False)`"): (
        "equivalent but for the first of the three: of a reading that is left out, only its value is noted"
    ),
    ("estimation/tracking.py", "statement left out: `clock[SINCE_WANDER] += interval`"): (
        "a real one in pure Python alone: test_the_clock_tells_the_time_since_all_that_matters was written for it"
    ),
    ("checks/gravity_hypotheses.py", "GtE → Gt: `stop - start >= _LONG`"): (
        "a real one: six poses in test_forces_that_follow_gravity_pass_once_it_has_turned_all_around notice it since"
    ),
    (
        "checks/gravity_hypotheses.py",
        (
            "USub → UAdd: `-_turn_back(path, poses.positions[:, order])` in "
            "`yield suppose(-_turn_back(path, poses.positions[:, order]) @ gravity,`"
        ),
    ): "equivalent: the mass is free, and takes the other sign",
    ("input/timeline.py", "Add → Sub: `STAMPS + row`"): (
        "test_two_readings_that_agree_are_a_step_and_both_are_taken notices it, which was not in the list of tests"
    ),
    ("estimation/tracking.py", "LtE → Lt: `distance <= enough`"): "a distance that is the limit, to the last digit",
    ("checks/wrench_convention.py", "Lt → LtE: `history[before, 0] < time`"): (
        "equivalent: where the time is that of a row, both ways to it give its positions"
    ),
    ("tasks/wrist.py", "1 → 2: `1` in `segment = integers, np.empty((1, 1)), 0`"): (
        "equivalent: an example by which a kernel is told its types, whatever its size"
    ),
    ("tasks/wrist.py", "Add → Sub: `kept + _KEEP_EVERY`"): (
        "equivalent but for time: rows are taken one by one, and give the same to the last bit"
    ),
    ("estimation/hypothesis.py", "statement left out: `sums.values = remembered.values.copy()`"): (
        "where the joint solution begins to iterate; that it comes to the same was not shown"
    ),
    ("tasks/wrist.py", "call left out: `self.rows.restart()`"): (
        "after a reset filters would go on with what was measured before; no test of this list asks for that"
    ),
    ("input/timeline.py", "2 → 3: `2` in `room = 2 * (kept + count)`"): (
        "equivalent: more memory is taken at a time, and the same is in it"
    ),
    ("estimation/information.py", "Mult → Div: `least *= 10.0`"): (
        "one pass has sufficed for every covariance that was tried; the factor is there so that the loop ends"
    ),
}
"""Why mutants survive, by file and change: those that were looked at, and that no test can or need notice."""


class Mutant(NamedTuple):
    """One mistake.

    Attributes:
        path: of the file.
        number: among those of the file.
        is_kernel: whether it is in one, and is tried in pure Python.
        line: where.
        change: what is there instead.
        tree: the whole file, with lines as they are, by which compiled kernels are known.
    """

    path: str
    number: int
    is_kernel: bool
    line: int
    change: str
    tree: ast.Module


def _mutate_node(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """All mistakes at a node: what they are, and the node with it."""
    for name in ("op", "ops"):
        given = getattr(node, name, None)
        operator = given[0] if isinstance(given, list) else given
        if operator is not None and type(operator) in SWAPPED:
            other = copy.deepcopy(node)
            swapped = SWAPPED[type(operator)]()
            setattr(other, name, [swapped, *given[1:]] if isinstance(given, list) else swapped)
            yield f"{type(operator).__name__} → {type(swapped).__name__}", other
    if isinstance(node, ast.If | ast.While | ast.IfExp):
        other = copy.deepcopy(node)
        other.test = ast.UnaryOp(ast.Not(), node.test)
        yield "condition negated", other
    if isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield f"{node.value} → {not node.value}", ast.Constant(not node.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        yield f"{node.value} → {node.value + 1}", ast.Constant(node.value + 1)
    if isinstance(node, ast.Assign | ast.AugAssign) and not isinstance(getattr(node, "value", None), ast.Constant):
        yield "statement left out", ast.Pass()
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        yield "call left out", ast.Pass()


class _Replacer(ast.NodeTransformer):
    """Puts a node in the place of another one."""

    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self._old, self._new = old, new

    def visit(self, node: ast.AST) -> ast.AST:
        """Replace, or go on."""
        return self._new if node is self._old else super().generic_visit(node)


def list_mutants() -> list[tuple[str, int]]:
    """All mutants, in functions alone, for tuning constants have no single right value: file and number."""
    return [(path, number) for path in FILES for number, _ in enumerate(_list_changes(path, _parse(path)))]


def _parse(path: str) -> ast.Module:
    return ast.parse((ROOT / path).read_text())


def make_mutant(path: str, number: int) -> Mutant:
    """One of these."""
    tree = _parse(path)
    is_kernel, node, change, new = list(_list_changes(path, tree))[number]
    said = describe_change((ROOT / path).read_text().splitlines(), node, change)
    ast.copy_location(new, node)
    mutated = ast.fix_missing_locations(_Replacer(node, new).visit(tree))
    assert isinstance(mutated, ast.Module)
    return Mutant(path, number, is_kernel, node.lineno, said, mutated)


def list_descriptions(path: str) -> list[str]:
    """What all mutants of a file change."""
    lines = (ROOT / path).read_text().splitlines()
    return [describe_change(lines, node, change) for _, node, change, _ in _list_changes(path, _parse(path))]


def describe_change(lines: list[str], node: ast.expr | ast.stmt, change: str) -> str:
    """What is there instead of a node; that of a number alone would not say where."""
    said = f"{change}: `{ast.unparse(node).splitlines()[0][:70]}`"
    is_short = isinstance(node, ast.Constant | ast.UnaryOp)
    return f"{said} in `{lines[node.lineno - 1].strip()[:70].rstrip()}`" if is_short else said


def _list_changes(path: str, tree: ast.AST) -> Iterator[tuple[bool, ast.expr | ast.stmt, str, ast.AST]]:
    """Whether it is in a kernel, the node, what is said of the change, and what is there instead."""
    for function in _list_functions(tree):
        is_kernel = _is_kernel(function)
        if path not in (KERNEL_TESTS if is_kernel else TESTS):
            continue
        for statement in function.body:
            for node in ast.walk(statement):
                if isinstance(node, ast.expr | ast.stmt):
                    for change, new in _mutate_node(node):
                        yield is_kernel, node, change, new


def _list_functions(node: ast.AST) -> Iterator[ast.FunctionDef]:
    """Functions and methods; those inside of others are parts of these."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef):
            yield child
        else:
            yield from _list_functions(child)


def _is_kernel(function: ast.FunctionDef) -> bool:
    words = {node.id for one in function.decorator_list for node in ast.walk(one) if isinstance(node, ast.Name)}
    return bool(words & {"compiled", "brief"})


class _Loader(SourceFileLoader):
    """Loads a mutant in the place of a module."""

    def __init__(self, name: str, mutant: Mutant) -> None:
        super().__init__(name, str(ROOT / mutant.path))
        self._tree = mutant.tree

    def get_code(self, fullname: str) -> CodeType:
        """The mutant's code."""
        del fullname
        code: CodeType = compile(self._tree, self.path, "exec")
        return code


class _Finder(MetaPathFinder):
    """Finds a mutant before its module is found."""

    def __init__(self, mutant: Mutant) -> None:
        self._name, self._mutant = mutant.path.removesuffix(".py").replace("/", "."), mutant

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """The mutant, if its module is asked for."""
        del path, target
        if name != self._name:
            return None
        return spec_from_file_location(name, ROOT / self._mutant.path, loader=_Loader(name, self._mutant))


def run_tests(
    tests: tuple[str, ...], is_pure: bool, which: tuple[str, int] | None, limit: int, sender: Connection
) -> None:
    """Run tests, with a mutant, by its file and number, or without; send the processor time [s] if they pass."""
    end_with_parent()
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)
    os.chdir(ROOT)
    sys.path.insert(0, str(ROOT))
    jit: Any = numba.config
    jit.DISABLE_JIT = is_pure
    if which is not None:
        sys.meta_path.insert(0, _Finder(make_mutant(*which)))
    options = ["-q", "-x", "-m", "not long", "-p", "no:cacheprovider", "-p", "no:xdist"]
    if pytest.main([*options, *tests]) == 0:
        sender.send(time.process_time())
    os._exit(0)


def time_tests(
    tests: tuple[str, ...], is_pure: bool, which: tuple[str, int] | None = None, limit: int = resource.RLIM_INFINITY
) -> float | None:
    """Processor time [s] of tests in a process of their own, compiled or in pure Python, with a mutant or without.

    None if one fails, or if all take more than a limit [s].
    """
    context = get_context("forkserver")
    context.set_forkserver_preload(PRELOADED)  # that process ends once this one and the tests have
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=run_tests, args=(tests, is_pure, which, limit, sender))
    process.start()
    process.join()
    return float(receiver.recv()) if receiver.poll() else None


def try_mutant(record: Record, path: str, number: int, is_kernel: bool, change: str) -> str:
    """What a mutant of a file does: survives the tests of it, or is noticed by one; the record has their times."""
    del change  # is said in the record
    tests = find_tests(path, is_kernel)
    limit = LEAST_PATIENCE + int(PATIENCE * sum(record[test, is_kernel] for test in tests))
    return "is noticed" if time_tests(tests, is_kernel, (path, number), limit) is None else SURVIVES


def find_tests(path: str, is_kernel: bool) -> tuple[str, ...]:
    """The tests that have to notice mistakes in a file's kernels, or in the rest of it."""
    return (KERNEL_TESTS if is_kernel else TESTS)[path]


def try_unchanged(test: str, is_pure: bool) -> float | None:
    """Processor time [s] of tests without any mutant; None if one fails."""
    return time_tests((test,), is_pure)


def find_interval(hits: int, count: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a share."""
    z, share = 1.96, hits / count
    middle = (share + z**2 / (2 * count)) / (1 + z**2 / count)
    half = z * np.sqrt(share * (1 - share) / count + z**2 / (4 * count**2)) / (1 + z**2 / count)
    return float(middle - half), float(middle + half)


def make_page(options: argparse.Namespace) -> tuple[str, list[Mutant]]:
    """The page, and the survivors if there are too many; RuntimeError if tests fail without any mutant."""
    every = list_mutants()
    chosen = random.Random(options.seed).sample(every, min(options.count, len(every)))
    tried = [make_mutant(*which) for which in chosen]
    pieces = [(mutant.path, mutant.number, mutant.is_kernel, mutant.change) for mutant in tried]
    tests = sorted({(test, own.is_kernel) for own in tried for test in find_tests(own.path, own.is_kernel)})
    record = Record(ROOT / "build" / "mutation.jsonl", ["test/**/*.py"])
    with ThreadPoolExecutor(options.processes) as pool:
        run_pieces(pool, options.processes, try_unchanged, tests, record, options.until)
        if failing := [test for test in tests if record[test] is None]:
            raise RuntimeError(f"{', '.join(test for test, _ in failing)}: fail without any mutant")
        run_pieces(pool, options.processes, partial(try_mutant, record), pieces, record, options.until)
    survivors = [mutant for mutant, piece in zip(tried, pieces, strict=True) if record[piece] == SURVIVES]
    is_enough = len(survivors) <= (1.0 - ENOUGH) * len(tried)
    command = f"python benchmarks/mutation.py --count {len(chosen)} --seed {options.seed} --write"
    return format_page(command, len(every), tried, survivors), [] if is_enough else survivors


def format_page(command: str, total: int, tried: list[Mutant], survivors: list[Mutant]) -> str:
    """The page of the documentation."""
    count, killed = len(tried), len(tried) - len(survivors)
    low, high = find_interval(killed, count)
    rows = []
    for path in FILES:
        own = [mutant for mutant in tried if mutant.path == path]
        left = sum(mutant.path == path for mutant in survivors)
        rows += [f"| `{path}` | {len(own)} | {len(own) - left} |"] if own else []
    about = (__doc__ or "").strip().split("\n\n")
    return "\n".join(
        [
            "# Mutation testing",
            "",
            describe_run(command),
            "",
            f"{about[0]}\n\n{about[-1]}",
            "",
            f"**{killed} of {count} mutants are noticed, {100.0 * killed / count:.0f} %**, a random sample of {total};",
            f"the 95 % interval is {100.0 * low:.0f} to {100.0 * high:.0f} %.",
            "",
            "| file | mutants | noticed |",
            "| --- | --- | --- |",
            *rows,
            "",
            "## Survivors",
            "",
            *[f"- {describe_survivor(mutant)}" for mutant in survivors],
            "",
        ]
    )


def describe_survivor(mutant: Mutant) -> str:
    """Where it is, what it changes, and why nothing notices it."""
    path = mutant.path.removeprefix(f"{CORE}/")
    return f"`{path}`, line {mutant.line}, {mutant.change}: {REASONS.get((path, mutant.change), '**not explained**')}"


def main() -> int:
    """Try mutants, and print or write the page; 1 if less than 85 % are noticed."""
    end_with_parent()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=150, help="mutants (default 150)")
    parser.add_argument("--seed", type=int, default=0, help="of the choice (default 0)")
    parser.add_argument("--processes", type=int, default=os.cpu_count(), help="at a time (default: one a core)")
    add_minutes(parser)
    return run_benchmark(parser, make_page, "mutation.md")


if __name__ == "__main__":
    sys.exit(main())
