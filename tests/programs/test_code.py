"""Modules of routines, printed: what stands there is worth what the expressions are."""

from __future__ import annotations

import shutil
import subprocess

import pytest
import sympy

from armsim.programs.code import code
from armsim.programs.module import PrintedModule, Routine

x, y, k, third = sympy.symbols("x y k third")


@pytest.fixture
def module():
    """One routine with a power of a sum, a quotient, a fraction, and names that languages have taken."""
    body = (("z", (x + y) ** 2 * k - sympy.Rational(1, 3) * y), ("w", 1 / (x + k)))
    results = (sympy.Symbol("z") * third, sympy.Symbol("w") - sympy.Rational(29, 10), sympy.cos(x))
    routine = Routine("f", "A test.", (("q", ("x", "y")),), "out", (3,), body, results)
    constants = [("third", k / 3)]
    return PrintedModule("a test", {"k": 0.7}, constants, ["k", "third"], [routine])


def value() -> list[float]:
    at = {x: 0.3, y: 1.1, k: 0.7}
    z = ((x + y) ** 2 * k - y / 3).subs(at)
    return [float(z * 0.7 / 3), float(1 / (0.3 + 0.7) - 2.9), float(sympy.cos(0.3))]


def test_python_is_worth_what_the_expressions_are(module):
    names: dict = {}
    exec(code(module, "python"), names)
    assert names["f"]([0.3, 1.1], names["constants"]()) == pytest.approx(value(), rel=1e-15)


def test_powers_are_printed_as_products(module):
    for form in ("python", "c", "fortran"):
        text = code(module, form)
        assert "(x + y)*(x + y)" in text
        assert "**" not in text
        assert "pow" not in text


@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")
def test_c_is_worth_what_the_expressions_are(module, tmp_path):
    main = "#include <stdio.h>\nint main(void) { double q[2] = {0.3, 1.1}, r[2], out[3]; a_test_constants(0.7, r);\n"
    main += 'a_test_f(q, r, out); printf("%.17g %.17g %.17g", out[0], out[1], out[2]); return 0; }\n'
    (tmp_path / "main.c").write_text(code(module, "c") + main)
    subprocess.run(["gcc", "-Wall", "-Wextra", "-Werror", "main.c", "-o", "main", "-lm"], cwd=tmp_path, check=True)
    printed = subprocess.run([tmp_path / "main"], capture_output=True, text=True, check=True).stdout
    assert [float(part) for part in printed.split()] == pytest.approx(value(), rel=1e-14)


def test_fortran_lines_are_as_short_as_its_standard_asks(module):
    assert max(map(len, code(module, "fortran").splitlines())) <= 132
