"""Loops in machine code: lanes that end at different times, calls around and within, every kind of kernel."""

from __future__ import annotations

import ctypes
import math
import platform

import numpy as np
import pytest

from armsim import expr
from armsim.clock import Clock
from armsim.compile import BatchKernel, LoopBody, SteppingLoop
from armsim.compile.single import SingleKernel
from armsim.compile.target import Target
from armsim.expr import absolute, either, loop, maximum, replay, shared, trace, when

WIDTHS = [1, 2, 4, 8, 16]
X86 = platform.machine().lower() in ("x86_64", "amd64")


def bits(values) -> list[int]:
    return np.ascontiguousarray(values, dtype=float).view(np.int64).ravel().tolist()


def newton(x):
    """The cube root of x, the rounds it took, and what is left of x: between one round and a hundred."""

    def step(y, k):
        return [y - (y * y * y - x) / (3.0 * y * y), k + 1.0]

    return loop([1.0 + 0.0 * x, 0.0], step, lambda y, k: absolute(y * y * y - x) <= 1e-12 * x, 100)


CUBES = trace(newton, ["x"])


@pytest.mark.parametrize("lanes", WIDTHS)
def test_lanes_that_end_after_different_rounds_have_the_bits_of_the_text(lanes, evaluate):
    x = 10 ** np.random.default_rng(1).uniform(-9, 9, 64)
    found = evaluate(CUBES, x, lanes=lanes)
    assert found.T.tolist() == [list(newton(value)) for value in x.tolist()]
    assert len(set(found[1])) > 10
    assert np.allclose(found[0], np.cbrt(x), rtol=1e-12)


@pytest.mark.parametrize("lanes", WIDTHS)
def test_a_lane_that_is_done_keeps_its_state_while_its_body_would_run_away(lanes, evaluate):
    # squared once more each round; the first lanes are done at once and would overflow, then turn into NaN
    def text(x, rounds):
        def step(y, z, k):
            return [y * y * y, z - y, k + 1.0]

        return loop([x, 0.0 * x, 0.0], step, lambda y, z, k: k >= rounds, 400)

    f = trace(text, ["x", "rounds"])
    rounds = np.tile([0.0, 1.0, 2.0, 12.0], 8)
    found = evaluate(f, [np.full(32, 10.0), rounds], lanes=lanes)
    assert found[2].tolist() == rounds.tolist()
    assert found[0, :3].tolist() == [10.0, 1e3, 1e9]
    assert found[1, :3].tolist() == [0.0, -10.0, -1010.0]
    assert np.isnan(found[1, 3]) or np.isinf(found[1, 3])


@pytest.mark.parametrize("lanes", WIDTHS)
def test_a_lane_that_never_ends_does_not_touch_the_others(lanes, evaluate):
    x = np.linspace(1, 100, 32)
    alone = evaluate(CUBES, x, lanes=lanes)
    disturbed = x.copy()
    disturbed[[3, 17]] = [math.nan, -math.inf]
    found = evaluate(CUBES, disturbed, lanes=lanes)
    others = ~np.isin(np.arange(32), [3, 17])
    assert bits(found[:, others]) == bits(alone[:, others])
    assert found[1, [3, 17]].tolist() == [100.0, 100.0]


def branches(x, y):
    """A branch with a loop and another branch in it, and one after it that takes what it gives."""

    def inside(z):
        (small,) = when(z < 3.0, lambda w: [w * y - z], z)
        return [newton(z)[0] + small]

    (first,) = when(x > 2.0, inside, x)
    return when(first * y > 3.0, lambda a, b: [a / y + b, a], first, x)


@pytest.mark.parametrize("lanes", WIDTHS)
def test_lanes_take_their_own_way_through_branches_in_branches(lanes, evaluate):
    columns = np.random.default_rng(5).uniform(0.1, 4, (2, 64))
    f = trace(branches, ["x", "y"])
    expected = [list(branches(*row)) for row in columns.T.tolist()]
    assert evaluate(f, columns, lanes=lanes).T.tolist() == expected
    assert (
        "define internal void @loop" in BatchKernel(f, lanes=lanes).ir
    )  # Newton's alone: branches are printed in place
    assert "@loop1" not in BatchKernel(f, lanes=lanes).ir


def nest(x, y):
    """Loops within shared functions within loops, with captured values, tables of sines and conditions."""
    inner = shared(lambda a: [newton(a)[0], expr.sin(a + y)], "inner")

    def step(total, k):
        root, sine = inner(absolute(total) + k)
        deeper = loop([root, 0.0], lambda z, i: [z * 0.5 + sine, i + 1.0], lambda z, i: either(z < 1.0, i > 4.0), 20)
        return [total + deeper[0] * x, k + 1.0]

    return loop([y, 1.0], step, lambda total, k: either(total > 30.0, k > 7.0), 50)


@pytest.mark.parametrize("lanes", WIDTHS)
@pytest.mark.handful(2)
def test_loops_within_functions_within_loops_have_the_bits_of_the_text(lanes, evaluate):
    columns = np.random.default_rng(2).uniform(0.1, 6, (2, 32))
    f = trace(nest, ["x", "y"])
    expected = [list(nest(*row)) for row in columns.T.tolist()]
    assert evaluate(f, columns, lanes=lanes).T.tolist() == expected
    assert [replay(f, row) for row in columns.T.tolist()] == expected


@pytest.mark.skipif(not X86, reason="is about x86-64 processors")
def test_a_processor_without_avx_or_fma_has_the_same_bits(evaluate):
    f = trace(nest, ["x", "y"])
    columns = np.random.default_rng(3).uniform(0.1, 6, (2, 64))
    assert bits(evaluate(f, columns, Target("x86-64", ""), 1)) == bits(evaluate(f, columns))


def test_a_single_call_has_the_same_bits():
    f = trace(nest, ["x", "y"])
    kernel = SingleKernel(f)
    args, found = (ctypes.c_double * 2)(1.5, 2.5), (ctypes.c_double * 2)()
    assert kernel.call(ctypes.addressof(args), ctypes.addressof(found)) == -1
    assert list(found) == list(nest(1.5, 2.5))


def test_a_loop_in_every_step_of_the_time_loop_needs_its_room_only_once():
    # room for the results of calls is set aside at the entry: a million steps would overflow the stack otherwise
    cycle = trace(lambda t, x, most: [newton(x)[0] + 8.0, maximum(x, most), x], ["t", "x", "most"])
    stepper = SteppingLoop(LoopBody(cycle, None, states=1, kept=1, bounds=(1e9,)))
    state, after, peaks = ((ctypes.c_double * 1)(x) for x in (1000.0, 0.0, 0.0))
    rows, reached = (ctypes.c_double * 2)(), (ctypes.c_int64 * 1)()
    memory = 1, *(ctypes.addressof(x) if x else 0 for x in (reached, None, state, after, rows, peaks, None))
    stepper.run(memory, 0, 1_000_000, Clock(1, 1000, log_every=500_000))
    assert reached[0] == 1_000_000
    x = 10.0
    for _ in range(200):
        x = math.cbrt(x) + 8.0 if hasattr(math, "cbrt") else x ** (1 / 3) + 8.0
    assert math.isclose(state[0], x, rel_tol=1e-12)
    assert peaks[0] == rows[0] == 1000.0


def test_equal_loops_of_one_function_are_printed_once_each_and_stay_apart():
    f = trace(lambda x, y: [newton(x)[0], newton(y)[0]], ["x", "y"])
    ir = BatchKernel(f, lanes=1).ir
    assert ir.count("define internal void @loop") == 2
