"""Modules of routines, printed: what stands there is worth what the expressions are."""

from __future__ import annotations

import random
import shutil
import subprocess

import pytest
import sympy

from armsim.derivation.code import code
from armsim.derivation.module import PrintedModule, Routine

x, y, k, third = sympy.symbols("x y k third")


@pytest.fixture
def module():
    """One routine with a power of a sum, a quotient, a fraction, and names that languages have taken."""
    body = (("z", (x + y) ** 2 * k - sympy.Rational(1, 3) * y), ("w", 1 / (x + k)))
    results = (sympy.Symbol("z") * third, sympy.Symbol("w") - sympy.Rational(29, 10), sympy.cos(x))
    routine = Routine("f", "A test.", (("q", ("x", "y")), ("r", ("k", "third"))), "out", (3,), body, results)
    given = (("numbers", ("k",)),)
    constants = Routine("constants", "A test.", given, "r", (2,), (("third", k / 3),), (k, third))
    return PrintedModule("a test", {"k": 0.7}, constants, [routine])


def value() -> list[float]:
    at = {x: 0.3, y: 1.1, k: 0.7}
    z = ((x + y) ** 2 * k - y / 3).subs(at)
    return [float(z * 0.7 / 3), float(1 / (0.3 + 0.7) - 2.9), float(sympy.cos(0.3))]


def test_python_is_worth_what_the_expressions_are(module):
    names: dict = {}
    exec(code(module, "python"), names)
    assert names["f"]([0.3, 1.1], names["constants"](names["Numbers"]())) == pytest.approx(value(), rel=1e-15)


def test_powers_are_printed_as_products(module):
    for form in ("python", "c", "fortran"):
        text = code(module, form)
        assert "t1 * t1" in text
        assert "**" not in text
        assert "pow" not in text


@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")
def test_c_is_worth_what_the_expressions_are(module, tmp_path):
    main = "#include <stdio.h>\nint main(void) { double q[2] = {0.3, 1.1}, r[2], out[3]; a_test_numbers k;\n"
    main += "a_test_defaults(&k); a_test_constants(&k, r); "
    main += 'a_test_f(q, r, out); printf("%.17g %.17g %.17g", out[0], out[1], out[2]); return 0; }\n'
    (tmp_path / "main.c").write_text(code(module, "c") + main)
    subprocess.run(["gcc", "-Wall", "-Wextra", "-Werror", "main.c", "-o", "main", "-lm"], cwd=tmp_path, check=True)
    printed = subprocess.run([tmp_path / "main"], capture_output=True, text=True, check=True).stdout
    assert [float(part) for part in printed.split()] == pytest.approx(value(), rel=1e-14)


def test_fortran_lines_are_as_short_as_its_standard_asks(module):
    assert max(map(len, code(module, "fortran").splitlines())) <= 132


def tree(rng: random.Random, depth: int) -> sympy.Expr:
    """A random expression: sums, products, quotients, powers, roots and sines of symbols, numbers and pi."""
    if depth == 0:
        return rng.choice([x, y, k, sympy.pi, sympy.Integer(2), sympy.Rational(1, 3), sympy.Rational(1, 400), -x])
    a, b = tree(rng, depth - 1), tree(rng, rng.randrange(depth))
    exponent = rng.choice([-6, -4, -3, -2, -1, 2, 3, 4, 5])
    return rng.choice(
        [
            lambda: a + b,
            lambda: a - b,
            lambda: a * b,
            lambda: a / (b * b + 1),
            lambda: a / (sympy.pi * sympy.pi),
            lambda: -a / (b**2 + 1) ** 2,
            lambda: (a**2 + 1) ** exponent,
            lambda: b * (a**2 + 1) ** exponent * sympy.pi ** rng.choice([-3, -2, -1, 2]),
            lambda: sympy.sqrt(a**2 + 2) * b,
            lambda: 1 / sympy.sqrt(a**2 + 2) / k**exponent,
            lambda: sympy.cos(a) * k**-2 - (x * k) ** exponent / sympy.Integer(70000),
        ]
    )()


AT = {x: 0.3, y: 1.1, k: 0.7}
COUNT = 120


@pytest.fixture(scope="module")
def trees():
    """A routine of as many random expressions, and what they are worth."""
    rng = random.Random(30)
    found: list[sympy.Expr] = []
    while len(found) < COUNT:
        made = tree(rng, rng.randint(1, 4))
        if sympy.count_ops(made) < 100 and abs(made.evalf(30, subs=AT)) < 1e12:
            found.append(made)
    routine = Routine("f", "Random.", (("q", ("x", "y")), ("r", ("k",))), "out", (COUNT,), (), tuple(found))
    constants = Routine("constants", "Random.", (("numbers", ("k",)),), "r", (1,), (), (k,))
    expected = [float(made.evalf(30, subs=AT)) for made in found]
    return PrintedModule("trees", {"k": 0.7}, constants, [routine]), expected


def test_random_expressions_are_worth_the_same_in_python(trees):
    module, expected = trees
    names: dict = {}
    exec(code(module, "python"), names)
    assert names["f"]([0.3, 1.1], names["constants"](names["Numbers"]())) == pytest.approx(expected, rel=1e-9)


C_MAIN = """
#include <stdio.h>
int main(void)
{
    double q[2] = {0.3, 1.1}, r[1], out[%d];
    trees_constants(&(trees_numbers){0.7}, r);
    trees_f(q, r, out);
    for (int i = 0; i < %d; i++) printf("%%.17g\\n", out[i]);
    return 0;
}
"""
FORTRAN_MAIN = """
program main
    use trees
    implicit none
    double precision :: r(1), values(%d)
    integer :: i
    call trees_constants(trees_numbers(0.7d0), r)
    call trees_f([0.3d0, 1.1d0], r, values)
    do i = 1, %d
        print '(es25.17e3)', values(i)
    end do
end program
"""


@pytest.mark.parametrize(
    ("form", "compiler", "main"),
    [("c", ["gcc", "-O0", "main.c"], C_MAIN), ("fortran", ["gfortran", "-O0", "main.f90"], FORTRAN_MAIN)],
)
@pytest.mark.handful(1)
def test_random_expressions_are_worth_the_same_compiled(form, compiler, main, trees, tmp_path):
    if shutil.which(compiler[0]) is None:
        pytest.skip(f"{compiler[0]} is not installed")
    module, expected = trees
    (tmp_path / compiler[-1]).write_text(code(module, form) + main % (COUNT, COUNT))
    subprocess.run([*compiler, "-o", "main", "-lm"], cwd=tmp_path, check=True)
    printed = subprocess.run([tmp_path / "main"], capture_output=True, text=True, check=True).stdout
    assert [float(line) for line in printed.split()] == pytest.approx(expected, rel=1e-9)
