"""The time loop in vector lanes: open numbers, accumulators, lanes that leave their bounds, other processors."""

from __future__ import annotations

import math
import platform
import re

import numpy as np
import pytest

from armsim.clock import Clock
from armsim.compile import LoopBody, SteppingLoop
from armsim.compile.target import Target, llvm
from armsim.expr import absolute, exp, fma, loop, maximum, shared, sin, sqrt, trace, where

X86 = platform.machine() in ("x86_64", "AMD64")
GROWTH, SPRING = 0, 1  # open numbers


def newton(a):
    """The square root by as many iterations as it takes, different ones in every lane."""
    (x,) = loop([0.5 * (a + 1.0)], lambda x: [0.5 * (x + a / x)], lambda x: absolute(x * x - a) <= 1e-14 * a, 60)
    return x


def oscillator() -> LoopBody:
    """A grown oscillator under a held force: x, v, held; its largest |x| and the sum of x² are kept."""

    def force(t, x, k):
        return sin(3.0 * t) - k * x

    pull = shared(lambda t, x, k: [force(t, x, k)], "pull")

    def cycle(t, x, v, held, most, total, growth, spring):
        stiffness = sqrt(spring * spring + 1.0)  # of open numbers alone: computed before the loop
        (a,) = pull(t, x, stiffness)
        (b,) = pull(t + 0.05, x + 0.05 * v, stiffness)
        after = fma(0.1, 0.5 * (a + b) + held, v) * growth
        root = newton(1.0 + absolute(x))
        state = [fma(0.1, after, x), where(x > 5.0, 0.5 * after, after), held]
        return [*state, maximum(absolute(x), most), fma(x, x, total), t, x, root, exp(-absolute(v))]

    def sample(t, x, v, held, growth, spring):
        return [x, v, 0.1 * spring - 0.05 * x]

    def finish(t, x, v, held, most, total, growth, spring):
        return [most, total / (t + 1.0), held]

    names = ["t", "x", "v", "held"]
    opened = ["growth", "spring"]
    return LoopBody(
        cycle=trace(cycle, [*names, "most", "total", *opened], "cycle"),
        sample=trace(sample, [*names, *opened], "sample"),
        states=3,
        kept=2,
        bounds=(1e3, 1e6, math.inf),
        begin=trace(
            lambda growth, spring: [0.1 * spring, growth - 1.0, 0.0, where(spring > 0.0, 1.0, 0.0)], opened, "begin"
        ),
        finish=trace(finish, [*names, "most", "total", *opened], "finish"),
    )


def carried_out(stepper: SteppingLoop, values: np.ndarray, steps: int, cuts=()):
    """Runs without divergence: states, accumulators, results, rows and checks, one row of each a run."""
    lanes, runs = stepper.lanes, len(values)
    blocks = -(-runs // lanes)
    padded = np.concatenate([values, np.repeat(values[:1], blocks * lanes - runs, axis=0)])

    def room(numbers: int) -> np.ndarray:
        return np.zeros((blocks, numbers, lanes))

    opened = np.ascontiguousarray(padded.reshape(blocks, lanes, -1).transpose(0, 2, 1))
    state, after, kept, results, checks = room(3), room(3), room(2), room(3), room(1)
    reached, rows = np.zeros(blocks, dtype=np.int64), []
    stepper.begin(blocks, 0, 0, opened.ctypes.data, state.ctypes.data, checks.ctypes.data)
    first = 0
    for last in [*cuts, steps]:
        some = np.zeros((blocks, -(-last // 7) + 1, 4, lanes))
        addresses = [x.ctypes.data for x in (state, after, some, kept, opened)]
        memory = blocks, reached.ctypes.data, some.shape[1] * 4, *addresses
        stepper.run(memory, first, last, Clock(1, 20, sample_every=3, log_every=7))
        count = -(-last // 7) - -(-first // 7)
        rows.append(some[:, :count])
        first = last
    stepper.finish(blocks, 0, 0, *(x.ctypes.data for x in (state, kept, opened, results)), steps / 20.0, steps % 3 == 0)
    parts = [x.transpose(0, 2, 1).reshape(blocks * lanes, -1)[:runs] for x in (state, kept, results, checks)]
    whole = np.concatenate(rows, axis=1).transpose(0, 3, 1, 2).reshape(blocks * lanes, -1, 4)[:runs]
    return reached.tolist(), [*parts, whole]


def values(runs: int) -> np.ndarray:
    random = np.random.default_rng(3)
    return np.stack([random.uniform(0.9, 1.01, runs), random.uniform(0.1, 4.0, runs)], axis=1)


def on_floats(growth: float, spring: float, steps: int):
    """The same text on Python's floats."""
    from armsim.expr import replay

    body = oscillator()
    opened = [growth, spring]
    *state, check = replay(body.begin, opened)
    kept, rows = [0.0, 0.0], []
    for k in range(steps):
        t = k / 20.0
        if k % 3 == 0:
            state = replay(body.sample, [t, *state, *opened])
        found = replay(body.cycle, [t, *state, *kept, *opened])
        state, kept, row = found[:3], found[3:5], found[5:]
        rows += [row] if k % 7 == 0 else []
    t = steps / 20.0
    ended = replay(body.sample, [t, *state, *opened]) if steps % 3 == 0 else state
    return state, kept, replay(body.finish, [t, *ended, *kept, *opened]), [check], rows


@pytest.mark.parametrize("lanes", [1, 2, 4, 8, 16])
@pytest.mark.handful(3)
def test_lanes_do_what_the_text_does_on_floats(lanes):
    given = values(19)
    reached, found = carried_out(SteppingLoop(oscillator(), lanes=lanes), given, 50)
    assert set(reached) == {50}
    for run in (0, 1, 7, 18):
        for part, expected in zip(found, on_floats(*given[run].tolist(), 50), strict=True):
            assert part[run].tolist() == expected


@pytest.mark.parametrize("cuts", [(1,), (7, 8), (13, 14, 21, 40)])
def test_lanes_resumed_at_any_step_go_on_as_if_in_one_go(cuts):
    given = values(11)
    stepper = SteppingLoop(oscillator(), lanes=4)
    whole, pieces = carried_out(stepper, given, 45), carried_out(stepper, given, 45, cuts)
    assert all(np.array_equal(a, b) for a, b in zip(whole[1], pieces[1], strict=True))


def test_a_block_stops_where_its_first_lane_leaves_and_keeps_the_states_before_and_after():
    given = values(8)
    given[3, GROWTH] = 6.0
    stepper = SteppingLoop(oscillator(), lanes=4)
    state, after, rows = (np.zeros((2, n, 4)) for n in (3, 3, 400))
    kept, opened = np.zeros((2, 2, 4)), np.ascontiguousarray(given.reshape(2, 4, 2).transpose(0, 2, 1))
    reached, checks = np.zeros(2, dtype=np.int64), np.zeros((2, 1, 4))
    stepper.begin(2, 0, 0, opened.ctypes.data, state.ctypes.data, checks.ctypes.data)
    addresses = [x.ctypes.data for x in (state, after, rows, kept, opened)]
    stepper.run((2, reached.ctypes.data, 400, *addresses), 0, 50, Clock(1, 20, sample_every=3, log_every=10**9))
    assert reached[1] == 50
    left = int(reached[0])
    assert 0 < left < 50
    within = (np.abs(after[0][:2]) <= [[1e3], [1e6]]).all(axis=0)
    assert within.tolist() == [True, True, True, False]
    assert (np.abs(state[0][:2]) <= [[1e3], [1e6]]).all()
    for lane in range(4):
        assert state[0][:, lane].tolist() == on_floats(*given[lane].tolist(), left)[0]
        assert after[0][:, lane].tolist() == on_floats(*given[lane].tolist(), left + 1)[0]


@pytest.mark.skipif(not X86, reason="other processors than x86-64")
@pytest.mark.parametrize(("cpu", "lanes"), [("x86-64", 2), ("x86-64", 4), ("haswell", 4), ("haswell", 8)])
@pytest.mark.handful(2)
def test_other_instruction_sets_give_the_same_bits(cpu, lanes):
    from armsim.compile.target import host

    needed = {"haswell": "+avx2"}.get(cpu, "")
    if needed not in host()._processor[1]:
        pytest.skip(f"this processor has no {needed[1:]}")
    features = "+avx2,+fma,+bmi,+bmi2" if cpu == "haswell" else ""
    given = values(9)
    other = carried_out(SteppingLoop(oscillator(), Target(cpu, features, optimisation=1), lanes), given, 50)[1]
    own = carried_out(SteppingLoop(oscillator(), lanes=1), given, 50)[1]
    assert all(np.array_equal(a, b) for a, b in zip(other, own, strict=True))


@pytest.mark.parametrize("lanes", [1, 2, 4])
def test_the_loop_is_compiled_for_arm64_with_its_vector_instructions(lanes):
    arm64 = Target("cortex-a76", "+neon", "aarch64-unknown-linux-gnu")
    stepper = SteppingLoop(oscillator(), arm64, lanes)
    text = arm64.machine().emit_assembly(llvm().parse_assembly(stepper.ir))
    fused = r"\bfmla\s+v\d+\.2d" if lanes > 1 else r"\bfmadd\s+d\d+"
    assert re.search(fused, text)
    assert "fpcr" in text.lower()  # the floating-point environment is set
    code = arm64.object_code(stepper.ir)
    assert code[:4] == b"\x7fELF"
    assert int.from_bytes(code[18:20], "little") == 183  # EM_AARCH64


def test_what_depends_on_open_numbers_alone_is_computed_before_the_loop():
    text = SteppingLoop(oscillator(), lanes=4).ir
    run = text[text.index("define i64 @run(") : text.index("define void @run_blocks(")]
    before, within = run.split("\nhead:")
    assert "@llvm.sqrt" in before
    assert "@llvm.sqrt" not in within
