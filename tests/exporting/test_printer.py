"""The printer: texts of traced functions in every language, run, against the same functions on floats."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from importlib.util import find_spec

import pytest

import armsim
from armsim.exporting.interface import Argument, Case, Entry, Model, Named
from armsim.exporting.language import Style
from armsim.exporting.languages import LANGUAGES
from armsim.exporting.names import identifier, identifiers
from armsim.exporting.reference import with_cases
from armsim.expr import (
    Table,
    absolute,
    both,
    cos,
    exp,
    fma,
    log,
    lookup,
    loop,
    negated,
    scan,
    shared,
    sin,
    sqrt,
    trace,
    where,
)

from .conftest import AHEAD, STRICT, needs, succeeds

HOLD = Table([-1.0, 0.0, 0.5], [3.0, -2.0, 5.0], "zero")
LINES = Table([-0.5, 0.25, 0.75, 2.0], [1.0, -1.0, 4.0, 0.5], "linear")
C99 = ["gcc", "-std=c99", "-O1", *STRICT, "mixed.c", "test_mixed.c", "-o", "test", "-lm"]
F2018 = ["gfortran", "-std=f2018", "-O1", "-ffp-contract=off", "mixed.f90", "test_mixed.f90", "-o", "test", "-lm"]


def expressions(x, count: int) -> list:
    """As many random results of nested operations on inputs; every operation takes the results of others."""
    rng = random.Random(4)
    known, truths = list(x), [x[0] < x[1], x[2] <= x[3]]
    squeezed = shared(lambda a, b: [a / (b * b + 1), sin(a) - b], "squeezed")

    def counted(a, b):
        _, s, found = loop([0.0, a, b], lambda k, s, f: [k + 1, f, s * 0.5 - f], lambda k, s, f: k >= 3 + f * 0, 5)
        return s - found

    def swept(a, b):
        _, rows = scan([a, b], lambda s: ([s[1] * 0.5, s[0] - s[1]], [s[0] * b, 2.0]), count=3)
        end, back = scan(a, lambda s, x, y: (s * 0.25 + x[0] * x[1] + y, s), rows, [a, b, 1.0], backward=True)
        return end - back[1] + rows[2][0] + linked(a, b)

    def linked(a, b):
        """A tree of four, with a table of lengths, outward and inward."""
        _, out = scan(
            b, lambda s, x, y, up: (s * 0.5, ([up[0] * x + y, 1.0], s)), [0.5, -0.25, 0.125, 1.5], [a, b, a - b, 2.0],
            links=[[-1, 0, 0, 2]], before=[a, b],
        )  # fmt: skip
        total, back = scan(
            0.0, lambda s, x, y, z: (s + x[0][0], ([y[0] - z[0] * x[0][1] + x[1]], 0.0)), out,
            links=[[1, -1, 3, -1], [-1, 2, -1, -1]], before=[0.75], backward=True,
        )  # fmt: skip
        return total + back[0][0][0]

    def choices(a, b, c, truth):
        return [
            lambda: a + (b - c),
            lambda: a - (b - c),
            lambda: (a - b) - c,
            lambda: a * (b * c),
            lambda: a / ((b * b + 0.5) / (c * c + 1)),
            lambda: -(a - b) * c,
            lambda: -a - b,
            lambda: fma(a, -b, c),
            lambda: fma(a, b, -(c * a)),
            lambda: where(truth, where(negated(truth), a, b), c) - a,
            lambda: where(both(truth, a < c), a, b * b),
            lambda: absolute(a - b) / (absolute(c) + 2),
            lambda: sqrt(a * a + 1) * cos(b),
            lambda: exp(-(a * a) / 8) + log(c * c + 0.25),
            lambda: lookup(HOLD, a) - lookup(LINES, a * 0.5),
            lambda: squeezed(a, b)[1] + squeezed(b, a)[0],
            lambda: counted(a, b),
            lambda: swept(a, b),
        ]

    for _ in range(count):
        a, b, c = (rng.choice(known[-12:] + [2.5, -0.75]) for _ in range(3))
        a = a if not isinstance(a, float) else known[0]
        truth = rng.choice(truths[-4:])
        made = rng.choice(choices(a, b, c, truth))()
        made = made / (absolute(made) / 4 + 1)  # within 4, so that nothing overflows
        known.append(made)
        truths.append(rng.choice([made < a, a <= made, negated(both(truth, made < 0.5))]))
    return known[len(x) :]


@pytest.fixture(scope="module")
def mixed() -> Model:
    """A model of one function with all that graphs have."""
    names = ["a", "b", "Value", "int"]
    function = trace(lambda *x: expressions(x, 150), names, "mixed")
    given = Argument("x", "numbers", tuple(map(Named, names)))
    result = Argument("y", "results", tuple(Named(f"y{i}") for i in range(150)))
    return with_cases(Model("mixed", ["mixed"], [Entry("all", "All.", function, (given,), result)]))


def programs(mixed: Model, folder, language: str, style: Style) -> None:
    assert len(mixed.cases) == 2
    for name, text in LANGUAGES[language](style).files(mixed).items():
        (folder / name).write_text(text)


@pytest.mark.parametrize("fma", ["exact", "none"])
@pytest.mark.parametrize(
    ("language", "build", "run"),
    [
        pytest.param("c", C99, ["./test"], marks=needs("gcc")),
        pytest.param("fortran", F2018, ["./test"], marks=needs("gfortran")),
        pytest.param("python", [], [sys.executable, "test_mixed.py"]),
        pytest.param("javascript", [], ["node", "test_mixed.mjs"], marks=needs("node")),
    ],
)
@pytest.mark.handful(2)
def test_every_operation_gives_what_it_gives_on_floats(language, build, run, fma, mixed, tmp_path):
    programs(mixed, tmp_path, language, Style(fma))
    if build:
        succeeds(build, tmp_path)
    assert succeeds(run, tmp_path) == "mixed: 2 calls, 0 wrong numbers\n"


@pytest.mark.parametrize(
    ("language", "build", "run"),
    [
        pytest.param("c", C99, ["./test"], marks=needs("gcc")),
        pytest.param("fortran", F2018, ["./test"], marks=needs("gfortran")),
        pytest.param("python", [], [sys.executable, "test_mixed.py"]),
        pytest.param("javascript", [], ["node", "test_mixed.mjs"], marks=needs("node")),
    ],
)
def test_tables_are_looked_up_at_breakpoints_between_them_and_beyond(language, build, run, tmp_path):
    at = [x + step for x in (-1.0, -0.5, 0.0, 0.25, 0.5, 0.75, 2.0) for step in (-0.125, -1e-16, 0.0, 1e-16, 0.125)]
    function = trace(lambda *x: [lookup(table, y) for y in x for table in (HOLD, LINES)], [f"x{i}" for i in range(35)])
    given = Argument("x", "abscissae", tuple(Named(f"x{i}") for i in range(35)))
    entry = Entry("all", "All.", function, (given,), Argument("y", "values", tuple(Named(f"y{i}") for i in range(70))))
    model = Model("mixed", ["mixed"], [entry])
    case = Case(entry, (tuple(at),), tuple(table.at(x) for x in at for table in (HOLD, LINES)))
    for name, text in LANGUAGES[language](Style("exact")).files(replace(model, cases=(case,))).items():
        (tmp_path / name).write_text(text)
    if build:
        succeeds(build, tmp_path)
    assert succeeds(run, tmp_path) == "mixed: 1 calls, 0 wrong numbers\n"


def test_fused_multiply_adds_of_javascript_and_python_round_once(tmp_path):
    rng = random.Random(2)
    triples = [tuple(rng.uniform(-2, 2) * 2.0 ** rng.randint(-40, 40) for _ in range(3)) for _ in range(500)]
    for _ in range(1500):  # products that are nearly half a unit in the last place of the sum, on either side of it
        near = [rng.choice([-1, 1]) * (1 + rng.randint(-3, 3) * 2.0**-52) for _ in range(2)]
        scale = 2.0 ** rng.randint(-200, 200)
        triples.append((near[0], near[1] * 2.0**-53 * scale, rng.uniform(-2, 2) * scale))
    expected = [float(Fraction(a) * Fraction(b) + Fraction(c)) for a, b, c in triples]
    function = trace(lambda a, b, c: [fma(a, b, c)], ["a", "b", "c"], "once")
    python: dict = {}
    exec(LANGUAGES["python"]().text(function, "once"), python)
    assert [python["once"](*x)[0] for x in triples] == expected
    if shutil.which("node") is None:
        pytest.skip("node not installed")
    call = f"console.log(JSON.stringify({json.dumps(triples)}.map(x => once(...x)[0])));"
    (tmp_path / "once.mjs").write_text(f"{LANGUAGES['javascript']().text(function, 'once')}\n{call}\n")
    assert json.loads(succeeds(["node", "once.mjs"], tmp_path), parse_int=float) == expected


@pytest.mark.skipif(find_spec("casadi") is None, reason="casadi is not installed")
def test_casadi_builds_functions_that_give_what_floats_give(mixed, tmp_path):
    programs(mixed, tmp_path, "casadi", Style("none"))
    assert succeeds([sys.executable, "test_mixed.py"], tmp_path) == "mixed: 2 calls, 0 wrong numbers\n"


@needs("gcc")
def test_single_precision_agrees_to_its_rounding(mixed, tmp_path):
    few = trace(lambda *x: expressions(x, 12), ["a", "b", "c", "d"], "few")
    given = Argument("x", "numbers", tuple(Named(name) for name in "abcd"))
    result = Argument("y", "results", tuple(Named(f"y{i}") for i in range(12)))
    model = with_cases(Model("mixed", ["mixed"], [Entry("all", "All.", few, (given,), result)]))
    programs(model, tmp_path, "c", Style("none", single=True))
    assert "double" not in (tmp_path / "mixed.c").read_text()
    succeeds([*C99[:4], "-Wdouble-promotion", *C99[4:]], tmp_path)
    assert succeeds(["./test"], tmp_path) == "mixed: 2 calls, 0 wrong numbers\n"


@needs("gcc")
def test_a_test_program_counts_the_numbers_that_are_wrong(mixed, tmp_path):
    programs(mixed, tmp_path, "c", Style("exact"))
    source = tmp_path / "mixed.c"
    source.write_text(source.read_text().replace("y[3] = ", "y[3] = 1e-9 + "))
    succeeds(C99, tmp_path)
    done = subprocess.run(["./test"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (1, "mixed: 2 calls, 2 wrong numbers")


def test_a_bare_function_is_printed_with_its_own_names():
    function = trace(lambda q1, q2, m: [m * sin(q1 + q2) * (m - q1) / (q2 - m)], ["q1", "q2", "m"], "f")
    text = LANGUAGES["c"](Style("none")).text(function, "torque")
    assert text.splitlines() == [
        "static inline void torque(double q1, double q2, double m, double *found)",
        "{",
        "    found[0] = m * sin(q1 + q2) * (m - q1) / (q2 - m);",
        "}",
    ]


def test_names_are_identifiers_that_differ_in_any_case():
    assert identifiers(["payload.mass", "2R", "R-1", "r_1", "int", "Größe"], ["int"]) == [
        "payload_mass",
        "x2R",
        "R_1",
        "r_1_2",
        "int_",
        "Gr_e",
    ]
    assert len(identifier("x" * 300)) < 63  # Fortran's longest


def test_nothing_is_imported_from_casadi_to_print_for_it():
    code = "import sys; from armsim.exporting.languages import LANGUAGES; sys.exit('casadi' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_loops_of_a_million_iterations_are_refused_for_casadi(tmp_path, told):
    with pytest.raises(armsim.UsageError) as refused:
        armsim.export(AHEAD, "casadi", tmp_path / "out", ["step"])
    told(refused.value)
    assert not (tmp_path / "out").exists()
