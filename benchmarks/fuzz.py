"""Random input: mutated messages through the decoders, random blocks through the chain, mutated messages over DDS.

    python benchmarks/fuzz.py --write                    # make fuzz
    python benchmarks/fuzz.py --count 100000             # a hundredth of it

Nothing may raise, nothing that is not finite may come out, and covariances must be positive definite. What a decoder
reads by its layout must be what the middleware reads. The work is cut into pieces with seeds of their own, which are
shared among as many processes as there are processors. A run that was ended goes on where it was when it is called
again.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from datetime import datetime, timezone
from multiprocessing import get_context
from random import Random
from typing import Any, NamedTuple

import numpy as np
from faults import is_definite, prepare
from geometry_msgs.msg import WrenchStamped
from page import find_commit, run_benchmark
from pieces import ROOT, Record, add_minutes, run_pieces
from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import JointState
from support.bench import Bench, is_finite
from support.chain import load_of, make_chain, puma_motion, simulate_puma

from inertid_ros.core.chain import Chain
from inertid_ros.core.records import FloatArray, JointBlock, WrenchBlock
from inertid_ros.ros.inputs import joint_decoder, wrench_decoder

LARGEST = (1e6, 1.7e308)
"""Largest numbers in random blocks."""
BLOCKS = 60
"""Blocks that one chain is given."""
OVER_DDS = 50
"""One message over DDS for so many through the decoder."""
BATCH = 200
"""Messages over DDS that are sent at once."""
SEEDS = 10**9
"""Pieces of work have seeds that are so far apart from one --seed to the next: more than there are messages."""


def make_messages(random: np.random.Generator) -> tuple[bytes, bytes]:
    """A joint state and a wrench, serialised."""
    joints = JointState(name=[f"joint{index + 1}" for index in range(6)], position=random.normal(size=6).tolist())
    joints.velocity, joints.effort = random.normal(size=6).tolist(), random.normal(size=6).tolist()
    joints.header.stamp.sec = 1000
    wrench = WrenchStamped()
    wrench.header.frame_id, wrench.header.stamp.sec = "ft_sensor", 1000
    wrench.wrench.force.z = 17.0
    return serialize_message(joints), serialize_message(wrench)


def mutate(data: bytes, random: Random) -> bytes:
    """A message with some bytes replaced; one in five is cut, one in twenty is longer."""
    mangled = bytearray(data)
    for _ in range(random.randrange(1, 5)):
        mangled[random.randrange(len(data))] = random.getrandbits(8)
    kind = random.random()
    if kind < 0.2:
        return bytes(mangled[: random.randrange(len(data))])
    return bytes(mangled) + random.randbytes(random.randrange(1, 40)) if kind < 0.25 else bytes(mangled)


def fuzz_decoders(count: int, seed: int) -> Counter[str]:
    """Mutate messages, and compare what is read with what the middleware reads, once in a hundred."""
    random, found = Random(seed), Counter[str]()
    decoders: tuple[tuple[Any, Any, bytes], ...] = tuple(
        (make(), kind, data)
        for make, kind, data in zip(
            (joint_decoder, wrench_decoder),
            (JointState, WrenchStamped),
            make_messages(np.random.default_rng(seed)),
            strict=True,
        )
    )
    for number in range(count):
        decoder, kind, good = decoders[number % 2]
        if number % 20 < 2:
            decoder.decode(good)
        data = mutate(good, random)
        try:
            block = decoder.decode(data)
        except Exception as error:  # noqa: BLE001 - that is what is looked for
            found[f"decoder: {type(error).__name__}"] += 1
            continue
        if number % 100 < 2 and not _is_same(block, data, kind):
            found["decoder: not what the middleware reads"] += 1
    return found


def _is_same(block: JointBlock | WrenchBlock | None, data: bytes, kind: Any) -> bool:
    try:
        message = deserialize_message(data, kind)
    except Exception:  # noqa: BLE001 - whatever the middleware raises, it means unreadable
        return block is None
    if block is None:
        return False
    numbers = _list_floats(message)
    read = [block.wrenches] if isinstance(block, WrenchBlock) else [block.positions, block.velocities, block.efforts]
    flat = [value for part in read if part is not None for value in part.ravel().tolist()]
    return bool(np.array_equal(numbers, flat, equal_nan=True))


def _list_floats(item: Any) -> list[float]:
    """All floats of a message, however deep."""
    if isinstance(item, float):
        return [item]
    if isinstance(item, (str, bytes, int)):
        return []
    parts = [getattr(item, name) for name in item.__slots__] if hasattr(item, "__slots__") else item
    return [number for part in parts for number in _list_floats(part)]


def make_garbage(random: np.random.Generator, shape: tuple[int, ...], largest: float) -> FloatArray:
    """Numbers of either sign whose logarithms are uniform, from a thousandth up."""
    return np.asarray(random.choice([-1.0, 1.0], shape) * 10.0 ** random.uniform(-3.0, np.log10(largest), shape))


def fuzz_chain(seed: int, largest: float, blocks: int = BLOCKS) -> set[str]:
    """Drive a chain by a simulated arm, some or all of whose blocks are replaced by garbage; returns what is wrong."""
    random, wrong = np.random.default_rng(seed), set[str]()
    simulator = simulate_puma(puma_motion(rest=0.3, rounds=2), 1, velocity_noise=2e-3)
    chain = make_chain(method=str(random.choice(["filtered", "filtered", "differentiated", "integral"])))
    start, share = random.uniform(0.0, 2.0), random.choice([0.02, 0.3, 1.0])
    for _ in range(blocks):
        end = start + random.choice([0.005, 0.02, 0.1])
        spoiled = random.random() < share
        joints, wrenches = simulator.joints(start, end), simulator.wrenches(start, end)
        assert joints.velocities is not None
        parts = [joints.positions, joints.velocities, wrenches.wrenches]
        for index, part in enumerate(parts):
            if spoiled and random.random() < 0.5:
                chosen = random.random(part.shape) < random.choice([0.05, 1.0])
                parts[index] = np.where(chosen, make_garbage(random, part.shape, largest), part)
        chain.push(joints._replace(positions=parts[0], velocities=parts[1]))
        chain.push(wrenches._replace(wrenches=parts[2]))
        for output in (chain.process(), chain.answer()):
            if output is not None and not np.isfinite(output.predicted).all():
                wrong.add("prediction not finite")
        if random.random() < 0.15:
            wrong |= set(_find_faults(chain))
        start = end
    return wrong


def _find_faults(chain: Chain) -> Iterator[str]:
    estimate = load_of(chain)
    if not estimate.is_finite:
        yield "estimate not finite"
    if not (is_definite(estimate.covariance) and is_definite(estimate.repeatability)):
        yield "covariance not positive definite"


def fuzz_chains(count: int, seed: int) -> Counter[str]:
    """Random blocks through chains, so many in all."""
    found = Counter[str]()
    for number in range(-(-count // BLOCKS)):
        largest = LARGEST[number % 2]
        try:
            wrong = fuzz_chain(seed + number, largest)
        except Exception as error:  # noqa: BLE001 - that is what is looked for
            wrong = {f"{type(error).__name__}: {error}"}
        found.update(f"chain, up to {largest:g}: {one}" for one in wrong)
    return found


def fuzz_node(count: int, seed: int) -> Counter[str]:
    """Mutated messages over DDS to a live node."""
    random, found = Random(seed), Counter[str]()
    bench = Bench(int(os.environ["ROS_DOMAIN_ID"]))
    try:
        bench.start()
        bench.describe()
        bench.feed(2.0)
        good = make_messages(np.random.default_rng(seed))
        for start in range(0, count, BATCH):
            kinds = [index % 2 for index in range(BATCH)]
            bench.play([(("/joint_states", "/wrench")[kind], mutate(good[kind], random)) for kind in kinds])
            if start % (50 * BATCH) == 0:
                for topic, received in bench.received.items():
                    if not all(map(is_finite, received)):
                        found[f"node: {topic} not finite"] += 1
                    received.clear()
        if "internal_error" in bench.history("output"):
            found["node: internal error"] += 1
    except Exception as error:  # noqa: BLE001 - that is what is looked for
        found[f"node: {type(error).__name__}: {error}"] += 1
    finally:
        bench.close()
    return found


def main() -> int:
    """Run all three; 1 if anything was found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--count",
        type=int,
        default=10_000_000,
        help="messages through the decoders; a fiftieth of it each over DDS, and blocks",
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=os.cpu_count(), help="at a time (default: one a core)")
    add_minutes(parser)
    return run_benchmark(parser, make_page, "fuzz.md")


class Part(NamedTuple):
    """One kind of input.

    Attributes:
        name: in the table.
        fuzz: takes how many, and a seed; gives what was found.
        share: one for so many messages through the decoders.
        piece: how many in a piece of work, which has a seed of its own.
    """

    name: str
    fuzz: Callable[[int, int], Counter[str]]
    share: int
    piece: int

    def cut(self, count: int, seed: int) -> list[tuple[str, int, int]]:
        """Name, count and seed of each piece."""
        total = count // self.share
        starts = range(0, total, self.piece)
        return [(self.name, min(self.piece, total - start), SEEDS * seed + start) for start in starts]


PARTS = (
    Part("messages mutated, over DDS to a live node", fuzz_node, OVER_DDS, 50_000),
    Part("random blocks through the chain", fuzz_chains, OVER_DDS, 100 * BLOCKS),
    Part("messages mutated, through the decoders", fuzz_decoders, 1, 250_000),
)


def prepare_quietly() -> None:
    """Prepare a process, without the middleware's word on each message that it cannot read."""
    prepare()
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())


def run_piece(name: str, count: int, seed: int) -> tuple[Counter[str], float, float]:
    """What was found in a piece, and the processor time and the time [s] that it took."""
    (part,) = [part for part in PARTS if part.name == name]
    began, passed = time.process_time(), time.monotonic()
    return part.fuzz(count, seed), time.process_time() - began, time.monotonic() - passed


def make_page(options: argparse.Namespace) -> tuple[str, list[str]]:
    """The page, and what was found."""
    count, seed, processes = options.count, options.seed, options.processes
    record = Record(ROOT / "build" / "fuzz.jsonl", ["benchmarks/fuzz.py", "benchmarks/faults.py", "test/support/*.py"])
    pieces = {part: part.cut(count, seed) for part in PARTS}
    with ProcessPoolExecutor(processes, get_context("spawn"), prepare_quietly) as pool:
        run_pieces(
            pool, processes, run_piece, [piece for own in pieces.values() for piece in own], record, options.until
        )
    failures, rows, took = list[str](), list[str](), 0.0
    for part, own in pieces.items():
        results = [record[piece] for piece in own]
        found = sum((Counter(one) for one, _, _ in results), Counter[str]())
        failures += found
        described = "; ".join(f"{what}: {times}" for what, times in found.items()) or "none"
        rows.append(
            f"| {part.name} | {count // part.share:,} | {sum(cost for _, cost, _ in results):.0f} | {described} |"
        )
        took += sum(passed for _, _, passed in results)
    lines = [
        "# Random input",
        "",
        f"Made by `make fuzz` on {datetime.now(timezone.utc):%Y-%m-%d} at commit {find_commit()}, seed",
        f"{seed}, in {took / 60.0:.0f} min of one process: nothing raises,",
        "nothing that is not finite comes out, covariances are positive definite, and decoders read what the",
        "middleware reads. Numbers in random blocks go up to 1e6 and to 1.7e308.",
        "",
        "| what | count | processor time [s] | failures |",
        "| --- | --- | --- | --- |",
        *rows,
    ]
    return "\n".join([*lines, ""]), failures


if __name__ == "__main__":
    sys.exit(main())
