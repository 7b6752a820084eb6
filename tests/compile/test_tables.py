"""Tables in machine code: found by the name of their numbers, whoever compiled the code."""

from __future__ import annotations

import ctypes
import gc

import pytest

from armsim.clock import Clock
from armsim.compile import BatchKernel, LoopBody, SteppingLoop
from armsim.compile.kernel import compiled
from armsim.compile.target import host
from armsim.errors import CompileError
from armsim.expr import Table, lookup, loop, shared, trace

X = [0.0, 1.0, 3.0]


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.setenv("ARMSIM_CACHE_DIR", str(tmp_path / "kernels"))


def kernel(table: Table) -> BatchKernel:
    return BatchKernel(trace(lambda t: [lookup(table, t)], ["t"]), lanes=1)


def stepping(table: Table, key: str, given: list[Table]) -> SteppingLoop:
    """A loop that counts up what a table has at the time."""
    cycle = trace(lambda t, x: [x + lookup(table, t)], ["t", "x"])
    return SteppingLoop(LoopBody(cycle, None, 1, 0, (1e9,)), key=key, tables=lambda: given)


def summed(made: SteppingLoop, steps: int) -> float:
    state, none, reached = (ctypes.c_double * 1)(0.0), (ctypes.c_double * 1)(), (ctypes.c_int64 * 1)()
    memory = 1, *(ctypes.addressof(x) if x else 0 for x in (reached, None, state, none, none, none, None))
    made.run(memory, 0, steps, Clock(1, 2))
    assert reached[0] == steps
    return state[0]


def test_the_code_of_a_long_table_is_as_short_as_that_of_a_short_one():
    short, long = (kernel(Table(range(n), range(n), "linear")) for n in (2, 100_000))
    assert abs(len(short.ir) - len(long.ir)) <= 20  # the digits of the lengths


def test_tables_of_equal_numbers_are_held_and_joined_side_by_side(evaluate):
    y = [2.0, 4.0, -2.0]
    tables = [Table(X, y, hold) for hold in ("zero", "linear", "zero", "linear")]
    f = trace(lambda t: [lookup(table, t) for table in tables], ["t"])
    assert evaluate(f, [[0.5, 2.0]]).T.tolist() == [[2, 3, 2, 3], [4, 1, 4, 1]]


def test_tables_within_functions_and_loops_are_found(evaluate):
    inner, outer = Table(X, [5.0, 6.0, 7.0], "zero"), Table(X, [1.0, 2.0, 3.0], "zero")

    def body(t):
        called = shared(lambda u: [lookup(inner, u)], "inner")
        twice = called(t)[0] + called(t + 1.0)[0]
        return [twice, *loop([0.0], lambda x: [x + lookup(outer, t)], lambda x: x > 2.5, 9)]

    assert evaluate(trace(body, ["t"]), [[0.0, 1.0]]).T.tolist() == [[11, 3], [12, 4]]


def test_cached_code_finds_the_tables_that_it_is_given():
    table = Table(X, [1.0, 2.0, 4.0], "zero")
    made = [stepping(table, "sum", [Table(X, [9.0, 9.0, 9.0], "zero"), Table(X, [1.0, 2.0, 4.0], hold)])
            for hold in ("zero", "linear")]  # fmt: skip
    assert [summed(one, 8) for one in made] == [1 + 1 + 2 * 4 + 4 * 2] * 2
    assert [one.code.cached for one in made] == [False, True]


def test_cached_code_finds_the_slope_of_a_table_with_the_table():
    table = Table(X, [0.0, 2.0, 8.0], "linear")
    for _ in range(2):
        assert summed(stepping(table.slope, "slope", [Table(X, [0.0, 2.0, 8.0], "linear")]), 4) == 2 + 2 + 3 + 3


def test_tables_live_as_long_as_the_code():
    n = 10_000
    ir = kernel(Table(range(n), [1.0] * n, "zero")).ir
    library = compiled(lambda: ir, host(), ir, lambda: [Table(range(n), [1.0] * n, "zero")])
    gc.collect()
    _spoiling = [Table(range(n), [7.0] * n, "zero") for _ in range(4)]
    t, y = (ctypes.c_double * 1)(5.5), (ctypes.c_double * 1)()
    mapped = library.function("map", None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)
    mapped((ctypes.c_int64 * 2)(ctypes.addressof(t), 8), y, 1)
    assert y[0] == 1.0


def test_code_without_its_tables_is_refused():
    known = kernel(Table(X, X, "zero"))
    with pytest.raises(CompileError, match=r"tables that it was not given: [0-9a-f]{64}"):
        compiled(lambda: known.ir, host(), known.ir)
