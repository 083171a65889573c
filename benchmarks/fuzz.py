"""Random input: mutated messages through the decoders, random blocks through the chain, mutated messages over DDS.

    python benchmarks/fuzz.py --count 10000000 --write   # make fuzz COUNT=10000000

Nothing may raise, nothing that is not finite may come out, and covariances must be positive definite. What a decoder
reads by its layout must be what the middleware reads.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import numpy as np
from faults import DOMAIN, is_definite, prepare_node
from geometry_msgs.msg import WrenchStamped
from page import find_commit, run_benchmark
from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import JointState

sys.path.insert(0, str(Path(__file__).parents[1] / "test"))

from support.bench import Bench, numbers_in
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


def make_messages(random: np.random.Generator) -> tuple[bytes, bytes]:
    """A joint state and a wrench, serialised."""
    joints = JointState(name=[f"joint{index + 1}" for index in range(6)], position=random.normal(size=6).tolist())
    joints.velocity, joints.effort = random.normal(size=6).tolist(), random.normal(size=6).tolist()
    joints.header.stamp.sec = 1000
    wrench = WrenchStamped()
    wrench.header.frame_id, wrench.header.stamp.sec = "ft_sensor", 1000
    wrench.wrench.force.z = 17.0
    return serialize_message(joints), serialize_message(wrench)


def mutate(data: bytes, random: np.random.Generator) -> bytes:
    """A message with some bytes replaced; one in five is cut, one in twenty is longer."""
    mangled = bytearray(data)
    for place in random.integers(0, len(data), random.integers(1, 5)).tolist():
        mangled[place] = int(random.integers(0, 256))
    kind = random.random()
    if kind < 0.2:
        return bytes(mangled[: random.integers(0, len(data))])
    return bytes(mangled) + random.bytes(int(random.integers(1, 40))) if kind < 0.25 else bytes(mangled)


def fuzz_decoders(count: int, seed: int) -> Counter[str]:
    """Mutate messages, and compare what is read with what the middleware reads, once in a hundred."""
    random, found = np.random.default_rng(seed), Counter[str]()
    decoders: tuple[tuple[Any, Any, bytes], ...] = tuple(
        (make(), kind, data)
        for make, kind, data in zip(
            (joint_decoder, wrench_decoder), (JointState, WrenchStamped), make_messages(random), strict=True
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
    numbers = numbers_in(message)
    read = [block.wrenches] if isinstance(block, WrenchBlock) else [block.positions, block.velocities, block.efforts]
    flat = [value for part in read if part is not None for value in part.ravel().tolist()]
    return bool(np.array_equal(numbers, flat, equal_nan=True))


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
    for number in range(count // BLOCKS):
        largest = LARGEST[number % 2]
        try:
            wrong = fuzz_chain(seed + number, largest)
        except Exception as error:  # noqa: BLE001 - that is what is looked for
            wrong = {f"{type(error).__name__}: {error}"}
        found.update(f"chain, up to {largest:g}: {one}" for one in wrong)
    return found


def fuzz_node(count: int, seed: int) -> Counter[str]:
    """Mutated messages over DDS to a live node."""
    random, found = np.random.default_rng(seed), Counter[str]()
    prepare_node()
    bench = Bench(DOMAIN)
    try:
        bench.start()
        bench.describe()
        bench.feed(2.0)
        good = make_messages(random)
        for start in range(0, count, BATCH):
            kinds = [index % 2 for index in range(BATCH)]
            bench.play([(("/joint_states", "/wrench")[kind], mutate(good[kind], random)) for kind in kinds])
            if start % (50 * BATCH) == 0:
                for topic, received in bench.received.items():
                    if not all(np.isfinite(numbers_in(message)).all() for message in received):
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
    parser.add_argument("--count", type=int, default=1_000_000, help="messages through the decoders")
    parser.add_argument("--seed", type=int, default=0)
    return run_benchmark(parser, make_page, "fuzz.md")


def make_page(options: argparse.Namespace) -> tuple[str, list[str]]:
    """The page, and what was found."""
    count, seed = options.count, options.seed
    parts: list[tuple[str, Callable[[int, int], Counter[str]], int]] = [
        ("messages mutated, through the decoders", fuzz_decoders, count),
        ("random blocks through the chain", fuzz_chains, count // OVER_DDS),
        ("messages mutated, over DDS to a live node", fuzz_node, count // OVER_DDS),
    ]
    lines = [
        "# Random input",
        "",
        f"Made by `make fuzz` on {datetime.now(timezone.utc):%Y-%m-%d} at commit {find_commit()}, seed {seed}: nothing",
        "raises, nothing that is not finite comes out, covariances are positive definite, and decoders read what the",
        "middleware reads. Numbers in random blocks go up to 1e6 and to 1.7e308.",
        "",
        "| what | count | seconds | failures |",
        "| --- | --- | --- | --- |",
    ]
    failures: list[str] = []
    for name, fuzz, number in parts:
        began = time.monotonic()
        found = fuzz(number, seed)
        failures += found
        described = "; ".join(f"{what}: {times}" for what, times in found.items()) or "none"
        lines.append(f"| {name} | {number:,} | {time.monotonic() - began:.0f} | {described} |")
        sys.stderr.write(lines[-1] + "\n")
    return "\n".join([*lines, ""]), failures


if __name__ == "__main__":
    sys.exit(main())
