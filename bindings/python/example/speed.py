"""Measures requests per second of `Scoreboard.judge` with batches of 1,000 requests, and cycles per second of `Model` without
and with `Stimulus`: `python speed.py [REQUESTS]` prints these numbers.

The requests are those of `bindings/c/examples/speed.rs`: ADD of 32 lanes to 64 words.
"""

import statistics
import sys
import time

import atoms
import numpy as np

BATCH, LANES, WORDS, ROUNDS = 1000, 32, 64, 7


def batches(requests):
    rng = np.random.default_rng(1)
    memory = [0] * WORDS
    for first in range(0, requests, BATCH):
        words = rng.integers(WORDS, size=(BATCH, LANES), dtype=np.uint32)
        operands = np.zeros((BATCH, LANES, 4), np.uint32)
        operands[:, :, 0] = rng.integers(100, size=(BATCH, LANES))
        results = np.zeros_like(operands)
        for at, (word, operand) in enumerate(zip(words.tolist(), operands[:, :, 0].tolist())):
            for lane in range(LANES):
                results[at, lane, 0] = memory[word[lane]]
                memory[word[lane]] += operand[lane]
        cycles = np.arange(first, first + BATCH, dtype=np.uint64) * 2 + 1
        tags = np.zeros(BATCH, np.uint64)
        request = {
            "cycle": cycles,
            "tag": tags,
            "op": np.full(BATCH, atoms.OPS["ADD"], np.uint64),
            "size": np.full(BATCH, atoms.SIZES["u32"], np.uint64),
            "ra": words * 4,
            "b": operands,
        }
        yield {"warp_request": request, "warp_response": {"cycle": cycles + 1, "tag": tags, "rd": results}}


def measure(all_batches):
    scoreboard = atoms.Scoreboard("default")
    scoreboard.cta_write(0, slot=0, base_row=0, size_bytes=4096)
    begun = time.perf_counter()
    for batch in all_batches:
        assert scoreboard.judge(**batch) == []
    took = time.perf_counter() - begun
    assert scoreboard.judged == BATCH * len(all_batches)
    return scoreboard.judged / took


def cycles(number, stimulus=None, coverage=None):
    model, out = atoms.Model(), None
    begun = time.perf_counter()
    for _ in range(number):
        pins = stimulus.step(out) if stimulus else {}
        out = model.step(**pins)
        if coverage:
            coverage.sample(pins, out)
    return number / (time.perf_counter() - begun)


if __name__ == "__main__":
    all_batches = list(batches(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000))
    judged = statistics.median(measure(all_batches) for _ in range(ROUNDS))
    driven = cycles(20_000, atoms.Stimulus(requests=20_000))
    covered = cycles(20_000, atoms.Stimulus(requests=20_000), atoms.Coverage())
    print(f"{judged:.0f} {cycles(20_000):.0f} {driven:.0f} {covered:.0f}")
