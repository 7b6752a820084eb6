"""The same bits on every machine, in every width, in any floating-point environment."""

from __future__ import annotations

import contextlib
import ctypes
import math
import platform
import random

import numpy as np
import pytest

from armsim import expr
from armsim.compile import BatchKernel
from armsim.compile.target import Target, host, llvm
from armsim.dynamics import forward_dynamics
from armsim.expr import Table, fma, shared, trace, where
from armsim.simulation.engine import NativeEngine
from armsim.simulation.loop_plan import LoopPlan

X86 = platform.machine().lower() in ("x86_64", "amd64")
only_x86 = pytest.mark.skipif(not X86, reason="is about x86-64 processors")
DT = 1 / 2000


def bits(values) -> list[int]:
    return np.ascontiguousarray(values, dtype=float).view(np.int64).ravel().tolist()


def older_targets() -> list[Target]:
    """Processors without AVX and FMA, with AVX but no FMA, with both but no AVX-512; as far as this one can do as they do."""
    has = llvm().get_host_cpu_features()
    names = [("x86-64", "")]
    if all(has.get(feature) for feature in ("avx2", "fma", "bmi", "bmi2", "f16c", "lzcnt", "movbe")):
        names += [("x86-64-v3", "-fma"), ("x86-64-v3", "")]
    return [Target(*name, optimisation=1) for name in names]


@only_x86
@pytest.mark.handful(1)
def test_a_processor_without_avx_or_fma_gives_the_same_bits_during_a_transient(plant, drive):
    """And so does code that LLVM has not optimised, which is what most tests run."""
    body, q, qd, sample_every = plant
    targets = Target(optimisation=1), Target(optimisation=0), *older_targets()
    engines = [NativeEngine(LoopPlan.of(body, DT), target) for target in targets]
    for steps in (50, 300, 2000):
        runs = [drive(engine, body, q, qd, steps, (1, 2000), 50, sample_every) for engine in engines]
        assert runs[0].reached == steps
        for other in runs[1:]:
            assert other.reached == runs[0].reached
            assert bits(other.state) == bits(runs[0].state)
            assert bits(other.rows) == bits(runs[0].rows)
            assert bits(other.peaks) == bits(runs[0].peaks)


@pytest.mark.handful(3)
def test_the_plants_of_these_tests_do_move(plant, drive):
    body, q, qd, sample_every = plant
    result = drive(NativeEngine(LoopPlan.of(body, DT)), body, q, qd, 300, (1, 2000), 50, sample_every)
    assert result.reached == 300
    assert np.abs(result.state[: len(q)] - q).max() > 1e-3


def everything():
    """A function that uses every operation."""
    rng = random.Random(1)
    held = Table([0.0, 0.2, 0.5], [1.0, -1.0, 2.0], "zero")
    joined = Table(sorted(rng.uniform(-3, 3) for _ in range(20)), [rng.uniform(-1, 1) for _ in range(20)], "linear")

    def body(x, y, z):
        inner = shared(lambda a: [expr.sin(a) * z, expr.exp(-(a * a))], "inner")
        first = inner(x) + inner(y + 1.0) + inner(z * 0.5)
        near = expr.both(x < y, expr.negated(z <= 0.25))
        return [
            *first,
            expr.lookup(held, x) + expr.lookup(joined, y),
            where(near, expr.cos(x * 1000.0), expr.log(1.0 + z * z)),
            fma(x, y, z) - x * y,
            abs(x) / expr.sqrt(y * y + 1.0),
            expr.clip(x + y - z, -0.5, 0.5),
            expr.tan(y),
            expr.log(x),
        ]

    return trace(body, ["x", "y", "z"])


@pytest.mark.parametrize("lanes", [1, 2, 4, 8, 16])
@pytest.mark.handful(3)
def test_every_width_gives_the_same_bits(lanes, evaluate):
    rng = np.random.default_rng(2)
    columns = rng.uniform(-3, 3, (3, 160))
    columns[:, :3] = [[0.0, math.inf, math.nan]] * 3
    f = everything()
    wide, narrow = (
        evaluate(f, columns, lanes=lanes),
        evaluate(f, columns, Target("x86-64", "") if X86 else None, lanes=1),
    )
    # which NaN comes out is not said by IEEE 754; that one does is
    assert (np.isnan(wide) == np.isnan(narrow)).all()
    assert bits(np.nan_to_num(wide, nan=7.0)) == bits(np.nan_to_num(narrow, nan=7.0))


@pytest.mark.parametrize("lanes", [1, 2, 4, 8, 16])
@pytest.mark.parametrize("algorithm", ["crba", "aba"])
@pytest.mark.handful(1)
def test_forward_dynamics_has_the_same_bits_in_every_width_and_on_numbers(lanes, algorithm, arms, evaluate):
    arm = arms.serial("RPRR")

    def body(*x):
        return forward_dynamics(arm, x[:4], x[4:8], x[8:], algorithm=algorithm)

    columns = np.random.default_rng(3).uniform(-2, 2, (12, 32))
    found = evaluate(trace(body, [f"x{i}" for i in range(12)]), columns, lanes=lanes)
    assert found.T.tolist() == [list(body(*row)) for row in columns.T.tolist()]


@contextlib.contextmanager
def control_word(word: int):
    """Set the processor's floating-point control word, as another library might, and say what stands there at the end."""
    code = """
    declare void @llvm.x86.sse.stmxcsr(ptr)
    declare void @llvm.x86.sse.ldmxcsr(ptr)
    define i32 @get() {
      %p = alloca i32
      call void @llvm.x86.sse.stmxcsr(ptr %p)
      %v = load i32, ptr %p
      ret i32 %v
    }
    define void @set(i32 %v) {
      %p = alloca i32
      store i32 %v, ptr %p
      call void @llvm.x86.sse.ldmxcsr(ptr %p)
      ret void
    }"""
    from armsim.compile.target import Library

    library = Library(host().object_code(code), host())
    get, put = library.function("get", ctypes.c_uint32), library.function("set", None, ctypes.c_uint32)
    before = get()
    left = []
    put(word)
    try:
        yield lambda: left.append(get())
        assert [value & 0xFFC0 for value in left] == [word & 0xFFC0]
    finally:
        put(before)


UPWARD, DOWNWARD, FLUSH_TO_ZERO = 0x1F80 | 0x4000, 0x1F80 | 0x2000, 0x1F80 | 0x8040


@only_x86
@pytest.mark.parametrize("word", [UPWARD, DOWNWARD, FLUSH_TO_ZERO])
def test_a_rounding_mode_left_by_another_library_changes_no_bit_and_is_put_back(word, plants, drive):
    body, q, qd, _ = plants("continuous")
    engine = NativeEngine(LoopPlan.of(body, DT))

    def run():
        found = drive(engine, body, q, qd, 200, (1, 2000), 50)
        return found.state, found.rows, found.peaks

    clean = run()
    with control_word(word) as read:
        disturbed = run()
        read()
    assert [bits(part) for part in disturbed] == [bits(part) for part in clean]


@only_x86
@pytest.mark.parametrize("word", [UPWARD, FLUSH_TO_ZERO])
def test_the_environment_changes_no_bit_of_a_batch_and_is_put_back(word):
    kernel = BatchKernel(trace(lambda x: [x * 0.1 + 0.3, x * 1e-290, expr.exp(x)], ["x"]))
    args = np.linspace(1e-20, 700, kernel.lanes * 4)
    clean, disturbed = (np.empty((args.size, 3)) for _ in range(2))
    kernel([(args.ctypes.data, 8)], clean.ctypes.data, args.size)
    with control_word(word) as read:
        kernel([(args.ctypes.data, 8)], disturbed.ctypes.data, args.size)
        read()
    assert bits(disturbed) == bits(clean)
    assert 0 < clean[0, 1] < 2.3e-308  # a subnormal that was not flushed


@only_x86
def test_fesetround_of_the_c_library_changes_no_bit(evaluate):
    libm = ctypes.CDLL(None)
    f = everything()
    columns = np.random.default_rng(4).uniform(0.1, 3, (3, 32))
    clean = evaluate(f, columns)
    assert libm.fegetround() == 0
    libm.fesetround(0x800)  # upward, x86
    try:
        disturbed = evaluate(f, columns)
        left = libm.fegetround()
    finally:
        libm.fesetround(0)
    assert left == 0x800
    assert bits(disturbed) == bits(clean)


def test_a_target_says_all_that_its_code_depends_on():
    assert Target("x86-64", "").key != Target("x86-64", "+avx").key != host().key
    assert Target(optimisation=0).key != Target(optimisation=1).key
    found = [Target("x86-64", features).register for features in ("", "+avx", "+avx,+avx512f")]
    assert found == [2, 4, 8]
