"""Every operation of graphs in every language, on numbers where a rewrite shows: ties, signed zeros, infinities, denormals."""

from __future__ import annotations

import ctypes
import itertools
import math
import random
import sys
from fractions import Fraction
from functools import lru_cache
from importlib.util import find_spec

import numpy as np
import pytest

import armsim
from armsim.compile.single import SingleKernel
from armsim.exporting.interface import Argument, Case, Entry, Model, Named
from armsim.exporting.language import Style
from armsim.exporting.languages import LANGUAGES
from armsim.expr import absolute, both, cos, exp, fma, log, negated, replay, rounded, sin, sqrt, trace, where
from armsim.expr.replay import OPERATIONS

from .conftest import STRICT, Steps, c_library, needs, succeeds

INF = math.inf
DOUBLES = [0.0, -0.0, 0.5, -1.5, 2.5, 0.1, 1 / 3, -7.0, 2.0**51 + 0.5, -(2.0**52 + 1), 5e-324, -3e-308, 1e-170, 1.7e308]
SINGLES = [0.0, -0.0, 0.5, -1.5, 2.5, 0.1, 1 / 3, -7.0, 4194304.5, -8388609.0, 1e-44, -2e-38, 1e-30, 3e38]
VALUES = {False: [*DOUBLES, INF, -INF], True: [*SINGLES, INF, -INF]}
COUNTED = {  # operations that this table tests, by a name of the graph's
    "add": lambda a, b, c: a + b,
    "sub": lambda a, b, c: a - b,
    "mul": lambda a, b, c: a * b,
    "div": lambda a, b, c: a / b,
    "neg": lambda a, b, c: 1.0 / -a,
    "abs": lambda a, b, c: absolute(a) - absolute(-b),
    "sqrt": lambda a, b, c: sqrt(a) * sqrt(a),
    "round": lambda a, b, c: rounded(a) + 0.25,
    "sin": lambda a, b, c: absolute(sin(within(a))),  # the sign of its zero is nobody's promise
    "cos": lambda a, b, c: cos(within(a)),
    "exp": lambda a, b, c: exp(within(a)),
    "log": lambda a, b, c: log(absolute(within(a)) + 1e-30),
    "fma": lambda a, b, c: absolute(fma(a, b, c)),  # a language without it has another zero where both round to one
    "lt": lambda a, b, c: where(a < b, c, b),
    "le": lambda a, b, c: where(a <= b, c, a),
    "and": lambda a, b, c: where(both(a < b, b <= c), a, c),
    "not": lambda a, b, c: where(both(negated(a < b), a < c), b, a),
    "where": lambda a, b, c: where(a < c, 1.0 / a, b),
}
REWRITTEN = {  # what algebra says is simpler, and arithmetic says is something else
    "(a + b) - b": lambda a, b, c: (a + b) - b,
    "(a - b) + b": lambda a, b, c: (a - b) + b,
    "a + (b - a)": lambda a, b, c: a + (b - a),
    "(a / b) * b": lambda a, b, c: (a / b) * b,
    "(a * b) / b": lambda a, b, c: (a * b) / b,
    "1 / (1 / a)": lambda a, b, c: 1.0 / (1.0 / a),
    "a / 3": lambda a, b, c: a / 3.0,
    "a - a": lambda a, b, c: a - a,
    "a / a": lambda a, b, c: a / a,
    "a b - a c": lambda a, b, c: a * b - a * c,
    "a a - b b": lambda a, b, c: a * a - b * b,
    "(a + b) + c": lambda a, b, c: (a + b) + c,
    "a (b c)": lambda a, b, c: a * (b * c),
    "-(a - b) c": lambda a, b, c: -(a - b) * c,
    "a / (b / c)": lambda a, b, c: a / (b / c),
    "a / b / c": lambda a, b, c: a / b / c,
    "a rounded twice": lambda a, b, c: rounded(a + 0.1) - a,
    "steps of 1/1000": lambda a, b, c: 0.001 * rounded(within(a) / 0.001) - within(a),
}
TEXTS = COUNTED | REWRITTEN
OTHERWISE = {"bit", "exp2", "exponent", "mantissa"}  # operations in the texts of sine, exponential and logarithm
OTHERWISE |= {"lookup"}  # tests/exporting/test_printer.py
OTHERWISE |= {"implicit"}  # the value itself but where it is differentiated: tests/expr


def within(x):
    """x between -6 and 6: where sine is promised, and exponentials are finite."""
    return where(absolute(x) < 6.0, x, 0.75)


def shown(y, signed):
    """A result as a number that tells zeros, infinities and NaN apart."""
    zero = where(1.0 / y > 0.0, 3e30, -3e30) if signed else 3e30
    finite = where(both(y <= 0.0, y >= 0.0), zero, y)
    return where(absolute(y) < INF, finite, where(absolute(y) <= INF, where(y > 0.0, 9e30, -9e30), 7e30))


@lru_cache
def function(plain: bool = False):
    """All of them, of three numbers; plain for CasADi, where a choice is a sum of two terms, one of which is 0."""
    texts = [text for name, text in TEXTS.items() if not (plain and name == "1 / (1 / a)")]
    return trace(lambda a, b, c: [shown(text(a, b, c), not plain) for text in texts], ["a", "b", "c"], "all")


def by_fractions(a, b, c):
    """a b + c with one rounding."""
    if not (math.isfinite(a) and math.isfinite(b)):
        return a * b + c
    if not math.isfinite(c):
        return c
    exact = Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c))
    try:
        return np.float64(float(exact))
    except OverflowError:
        return np.float64(INF if exact > 0 else -INF)


def oracle(style: Style, plain: bool, given):
    """What IEEE arithmetic makes of it: that of numpy's scalars, sines and the like in twice the precision or armsim's own."""
    kind = np.float32 if style.single else np.float64

    def once(call):
        return lambda *x: kind(call(*(kind(v) for v in x)))

    truths = {
        "lt": lambda a, b: bool(a < b),
        "le": lambda a, b: bool(a <= b),
        "and": lambda a, b: a and b,
        "not": lambda a: not a,
        "where": lambda truth, a, b: kind(a if truth else b),
    }
    fused = by_fractions if style.fma == "exact" else lambda a, b, c: kind(a * b) + c
    named = {"round": np.rint, "abs": np.abs, "sqrt": np.sqrt, "fma": fused}
    operations = {name: once(call) for name, call in {**OPERATIONS, **named}.items()} | truths
    with np.errstate(all="ignore"):
        return [float(x) for x in replay(function(plain), [kind(x) for x in given], operations)]


@lru_cache
def model(style: Style, plain: bool = False) -> Model:
    """The test program's: a call for every pair of values."""
    rng = random.Random(7)
    values = VALUES[style.single]
    text = function(plain)
    argument = Argument("x", "numbers", tuple(map(Named, "abc")))
    result = Argument("y", "results", tuple(Named(f"y{i}") for i in range(len(text.outputs))))
    entry = Entry("all", "All.", text, (argument,), result)
    given = [(a, b, rng.choice(values)) for a, b in itertools.product(values, values)]
    return Model("all", ["all"], [entry], cases=[Case(entry, (x,), tuple(oracle(style, plain, x))) for x in given])


def test_every_operation_of_graphs_is_in_the_table():
    assert set(OPERATIONS) == set(COUNTED) | OTHERWISE
    assert {node.op for node in function().live()} >= set(COUNTED)


PROGRAMS = {
    "c": (["gcc", "-std=c99", "-O0", *STRICT, "all.c", "test_all.c", "-o", "test", "-lm"], ["./test"]),
    "fortran": (["gfortran", "-std=f2018", "-O0", "-ffp-contract=off", "-c", "all.f90"], ["./test"]),
    "python": ([], [sys.executable, "test_all.py"]),
    "javascript": ([], ["node", "test_all.mjs"]),
    "casadi": ([], [sys.executable, "test_all.py"]),
}
LINKED = ["gfortran", "-O0", "-fno-range-check", "all.o", "test_all.f90", "-o", "test", "-lm"]
without_casadi = pytest.mark.skipif(find_spec("casadi") is None, reason="casadi is not installed")


@pytest.mark.parametrize(
    ("language", "fma", "single"),
    [
        pytest.param("c", "exact", False, marks=needs("gcc")),
        pytest.param("c", "none", False, marks=needs("gcc")),
        pytest.param("c", "none", True, marks=needs("gcc")),
        pytest.param("fortran", "exact", False, marks=needs("gfortran")),
        pytest.param("fortran", "none", True, marks=needs("gfortran")),
        ("python", "exact", False),
        ("python", "none", False),
        pytest.param("javascript", "exact", False, marks=needs("node")),
        pytest.param("javascript", "none", False, marks=needs("node")),
        pytest.param("casadi", "none", False, marks=without_casadi),
    ],
)
@pytest.mark.handful(1)
def test_no_language_rewrites_what_is_computed(language, fma, single, tmp_path):
    style = Style(fma, single)
    for name, text in LANGUAGES[language](style).files(model(style, language == "casadi")).items():
        (tmp_path / name).write_text(text)
    build, run = PROGRAMS[language]
    for command in (build, LINKED if language == "fortran" else []):
        if command:
            succeeds(command, tmp_path)
    assert succeeds(run, tmp_path) == "all: 256 calls, 0 wrong numbers\n"


def test_machine_code_does_not_either():
    call, results = SingleKernel(function()).call, (ctypes.c_double * len(TEXTS))()
    for case in model(Style("exact")).cases:
        given = (ctypes.c_double * 3)(*case.given[0])
        call(ctypes.addressof(given), ctypes.addressof(results))
        assert dict(zip(TEXTS, results)) == dict(zip(TEXTS, case.found)), case.given


COUNTED_PD = {"law": "pd", "output": "torque", "kp": [200, 100], "kd": [20, 10], "target": [0.5, 0.1], "period": 2e-3}
QUANTISED = {
    "format": "armsim/scenario/1",
    "name": "quantised",
    "robot": "two_link",
    "duration": 1,
    "integrator": {"method": "semi_implicit_euler", "dt": 1e-3},
    "initial": {"q": [0.3, -0.2]},
    "control": {**COUNTED_PD, "encoder": {"counts": 100}},
    "log": {"every": 1e-2},
}


def steps_of(step, begin) -> np.ndarray:
    """The states of thirty steps."""
    states = [list(begin())]
    for k in range(30):
        states.append(list(step(k, states[-1])))
    return np.array(states)


@pytest.fixture(scope="module")
def quantised():
    """Machine code's steps of a scenario with encoders of a hundred counts."""
    steps = Steps.of(QUANTISED)

    def step(k, _):
        state = steps.reach(k + 1)
        assert state
        return state

    return steps_of(step, lambda: steps.start)


@without_casadi
@pytest.mark.parametrize("expanded", [False, True])
def test_casadi_reads_an_encoder_in_counts_when_its_graph_is_expanded_too(expanded, quantised, tmp_path):
    armsim.export(QUANTISED, "casadi", tmp_path)
    made: dict = {}
    exec((tmp_path / "quantised.py").read_text(), made)
    step, begin = made["step"](), made["begin"]()
    if expanded:
        import casadi

        k, state = casadi.SX.sym("k"), casadi.SX.sym("state", quantised.shape[1])
        step = casadi.Function("again", [k, state], [step(k, state)])
    found = steps_of(lambda k, state: step(k, state).full().ravel(), lambda: begin.call([])[0].full().ravel())
    np.testing.assert_allclose(found, quantised, rtol=1e-9, atol=1e-9)


@needs("gcc")
def test_single_precision_reads_an_encoder_in_counts(quantised, tmp_path):
    armsim.export(QUANTISED, "c", tmp_path, single=True)
    library = c_library(tmp_path, "quantised")
    size = quantised.shape[1]

    def step(k, state):
        x = (ctypes.c_float * size)(*state)
        library.quantised_step(ctypes.c_int64(k), x, x)
        return x

    def begin():
        x = (ctypes.c_float * size)()
        library.quantised_begin(x)
        return x

    np.testing.assert_allclose(steps_of(step, begin), quantised, rtol=1e-3, atol=1e-3)


def test_noise_is_refused_in_single_precision(tmp_path):
    noisy = QUANTISED | {"control": {**COUNTED_PD, "encoder": {"counts": 100, "noise": 1e-3}}}
    with pytest.raises(armsim.UsageError, match="whose random numbers take doubles"):
        armsim.export(noisy, "c", tmp_path / "out", single=True)
    assert not (tmp_path / "out").exists()
    with_doubles = armsim.export(noisy, "python", tmp_path / "out")
    assert (with_doubles.test.calls, with_doubles.test.wrong) == (8, 0)
