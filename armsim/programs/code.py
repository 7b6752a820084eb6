"""A module of routines as Python, C or Fortran, by SymPy's printers."""

from __future__ import annotations

import keyword
from collections.abc import Callable, Iterable
from typing import Any

import sympy
from sympy.printing.c import C99CodePrinter
from sympy.printing.fortran import FCodePrinter
from sympy.printing.precedence import PRECEDENCE
from sympy.printing.pycode import PythonCodePrinter

from armsim.programs.module import PrintedModule
from armsim.version import __version__

RESERVED = {"cos", "sin", "sqrt", "pi", "q", "qd", "qdd", "tau", "r", "real64", "double", "constants"}
SMALL = 1000  # fractions of numbers up to it are printed as such, if they are no decimals


def code(module: PrintedModule, language: str) -> str:
    """A module in a language: "python", "c" or "fortran"."""
    return LANGUAGES[language](module)


def _is_small(x: sympy.Expr) -> bool:
    """Whether an expression is a power that is printed as a product, or as one below a 1."""
    return bool(x.is_Pow and x.exp.is_Integer and 2 <= abs(x.exp) <= 4)


class _Products:
    """Of a printer of SymPy's: small powers as products, which bind less than powers do."""

    def _print_Pow(self: Any, expr: Any, **settings: Any) -> str:
        if not _is_small(expr):
            return str(super()._print_Pow(expr, **settings))  # type: ignore[misc]  # the printer's
        base = self.parenthesize(expr.base, PRECEDENCE["Mul"])
        product = "*".join([base] * abs(int(expr.exp)))
        return product if expr.exp > 0 else f"{self._print(sympy.Float(1.0))}/({product})"

    def _print_Mul(self: Any, expr: Any) -> str:
        below = [x for x in expr.args if x.is_Pow and x.exp.is_Rational and x.exp.is_negative]
        if len(below) != 1 or not _is_small(below[0]):  # of several, the printer brackets the product
            return str(super()._print_Mul(expr))  # type: ignore[misc]  # the printer's
        above = sympy.Mul(*(x for x in expr.args if x is not below[0]), evaluate=False)
        return f"{self.parenthesize(above, PRECEDENCE['Mul'], strict=True)}/({self._print(1 / below[0])})"


def _double(x: sympy.Expr, suffix: str = "") -> str:
    """The nearest double."""
    text = repr(float(x))
    return text.replace("e", "d") if suffix and "e" in text else text + suffix


class _Python(_Products, PythonCodePrinter):
    def _print_Float(self, expr: Any) -> str:
        return _double(expr)


class _C(_Products, C99CodePrinter):
    def _print_Float(self, expr: Any) -> str:
        return _double(expr)


class _Fortran(_Products, FCodePrinter):
    def _print_Float(self, expr: Any) -> str:
        return _double(expr, "d0")

    def _print_Integer(self, expr: Any) -> str:
        return f"{int(expr)}.0d0"

    def _print_NumberSymbol(self, expr: Any) -> str:
        return _double(expr, "d0")  # a parameter of its name would have to be declared


def python(module: PrintedModule) -> str:
    """As a Python module that imports nothing but math."""
    printer = _Python({"fully_qualified_modules": True})
    names = identifiers(module, str)

    def line(name: str, value: sympy.Expr) -> str:
        return f"    {names.get(name, name)} = {printer.doprint(_renamed(value, names))}"

    given = ", ".join(f"{names[name]}={value!r}" for name, value in module.parameters.items())
    lines = [f'"""{_title(module)}"""', "", "import math", "", "", f"def constants({given}):"]
    lines += ['    """What the other functions need of the arm, worked out once."""']
    lines += [line(name, value) for name, value in module.constants]
    lines += [f"    return [{', '.join(names.get(name, name) for name in module.shared)}]"]
    for f in module.routines:
        vectors = ", ".join(vector for vector, _ in f.inputs)
        lines += ["", "", f"def {f.name}({vectors}, r):", f'    """{f.doc}"""']
        for vector, scalars in f.inputs:
            lines += [f"    {x} = {vector}[{i}]" for i, x in enumerate(scalars) if x in f.symbols]
        lines += [f"    {names.get(x, x)} = r[{i}]" for i, x in enumerate(module.shared) if x in f.symbols]
        lines += [line(name, value) for name, value in f.body]
        items = [printer.doprint(_renamed(x, names)) for x in f.results]
        if len(f.shape) == 2:
            rows = ["[" + ", ".join(row) + "]" for row in _rows(items, f.shape)]
            lines += ["    return ["] + [f"        {row}," for row in rows] + ["    ]"]
        else:
            lines += ["    return ["] + [f"        {item}," for item in items] + ["    ]"]
    return "\n".join(lines) + "\n"


def c(module: PrintedModule) -> str:
    """As C99; matrices are arrays row by row."""
    printer = _C()
    names = identifiers(module, str)
    prefix = _plain(module.name)

    def line(name: str, value: sympy.Expr) -> str:
        return f"    const double {names.get(name, name)} = {printer.doprint(_renamed(value, names))};"

    size = max(len(module.shared), 1)
    lines = [f"/* {_title(module)} */", "", "#include <math.h>", ""]
    lines += ["/* What the other functions need of the arm, worked out once. */"]
    given = "".join(f"double {names[name]}, " for name in module.parameters)
    lines += [f"void {prefix}_constants({given}double r[{size}])", "{"]
    lines += [line(name, value) for name, value in module.constants]
    lines += [f"    r[{i}] = {names.get(x, x)};" for i, x in enumerate(module.shared)] or ["    r[0] = 0.0;"]
    lines += ["}"]
    for f in module.routines:
        vectors = "".join(f"const double {vector}[{len(scalars)}], " for vector, scalars in f.inputs)
        items = len(f.results)
        lines += ["", f"/* {f.doc} */"]
        lines += [f"void {prefix}_{f.name}({vectors}const double r[{size}], double {f.output}[{items}])", "{"]
        for vector, scalars in f.inputs:
            lines += [f"    const double {x} = {vector}[{i}];" for i, x in enumerate(scalars) if x in f.symbols]
            if not f.symbols & set(scalars):
                lines += [f"    (void){vector};"]
        used = [f"    const double {names.get(x, x)} = r[{i}];" for i, x in enumerate(module.shared) if x in f.symbols]
        lines += used or ["    (void)r;"]
        lines += [line(name, value) for name, value in f.body]
        lines += [f"    {f.output}[{i}] = {printer.doprint(_renamed(x, names))};" for i, x in enumerate(f.results)]
        lines += ["}"]
    return "\n".join(lines) + "\n"


def fortran(module: PrintedModule) -> str:
    """As a Fortran 95 module in free form."""
    printer = _Fortran({"source_format": "free", "standard": 95, "name_mangling": False})
    names = identifiers(module, str.lower)

    def line(name: str, value: sympy.Expr) -> str:
        written = printer.doprint(_renamed(value, names), assign_to=names.get(name, name))
        return "\n".join("    " + part for part in written.splitlines())

    def declared(kind: str, scalars: Iterable[str]) -> list[str]:
        listed = ", ".join(scalars)
        return [_wrapped(f"    double precision{kind} :: {listed}")] if listed else []

    size = max(len(module.shared), 1)
    given = [names[name] for name in module.parameters]
    lines = [f"! {_title(module)}", f"module {_plain(module.name)}", "  implicit none", "contains"]
    lines += ["", "  ! What the other subroutines need of the arm, worked out once."]
    lines += [_wrapped(f"  subroutine constants({', '.join([*given, 'r'])})")]
    lines += declared(", intent(in)", given) + [f"    double precision, intent(out) :: r({size})"]
    lines += declared("", (names.get(name, name) for name, _ in module.constants if name not in module.parameters))
    lines += [line(name, value) for name, value in module.constants]
    lines += [f"    r({i}) = {names.get(x, x)}" for i, x in enumerate(module.shared, 1)] or ["    r(1) = 0.0d0"]
    lines += ["  end subroutine constants"]
    for f in module.routines:
        vectors = ", ".join(vector for vector, _ in f.inputs)
        lines += ["", f"  ! {f.doc}", f"  subroutine {f.name}({vectors}, r, {f.output})"]
        lines += [f"    double precision, intent(in) :: {vector}({len(s)})" for vector, s in f.inputs]
        lines += [f"    double precision, intent(in) :: r({size})"]
        lines += [f"    double precision, intent(out) :: {f.output}({', '.join(map(str, f.shape))})"]
        scalars = [(vector, i, x) for vector, s in f.inputs for i, x in enumerate(s, 1) if x in f.symbols]
        shared = [(i, x) for i, x in enumerate(module.shared, 1) if x in f.symbols]
        lines += declared("", [x for _, _, x in scalars] + [names.get(x, x) for _, x in shared])
        lines += declared("", [names.get(name, name) for name, _ in f.body])
        lines += [f"    {x} = {vector}({i})" for vector, i, x in scalars]
        lines += [f"    {names.get(x, x)} = r({i})" for i, x in shared]
        lines += [line(name, value) for name, value in f.body]
        for i, x in enumerate(f.results):
            place = (i + 1,) if len(f.shape) == 1 else (i // f.shape[1] + 1, i % f.shape[1] + 1)
            lines += [line(f"{f.output}({','.join(map(str, place))})", x)]
        lines += [f"  end subroutine {f.name}"]
    return "\n".join([*lines, "", f"end module {_plain(module.name)}"]) + "\n"


LANGUAGES: dict[str, Callable[[PrintedModule], str]] = {"python": python, "c": c, "fortran": fortran}


def identifiers(module: PrintedModule, fold: Callable[[str], str]) -> dict[str, str]:
    """Names that a language takes for the parameters and constants of a module.

    Args:
        module: The module.
        fold: What makes equal names of those that the language takes to be equal.
    """
    local = {name for f in module.routines for name, _ in f.body}
    local |= {x for f in module.routines for _, scalars in f.inputs for x in scalars}
    taken = {fold(name) for name in local | {f.output for f in module.routines}}
    found: dict[str, str] = {}
    for name in dict.fromkeys([*module.parameters, *(name for name, _ in module.constants), *module.shared]):
        new = _plain(name)
        while fold(new) in taken or new in RESERVED or keyword.iskeyword(new) or new in C99CodePrinter.reserved_words:
            new += "_"
        taken.add(fold(new))
        found[name] = new
    return found


def _renamed(value: sympy.Expr, names: dict[str, str]) -> sympy.Expr:
    """An expression with a language's names, and doubles for fractions but those of small numbers that are no decimals."""
    changed: dict[Any, Any] = {x: sympy.Symbol(names[str(x)]) for x in value.free_symbols if str(x) in names}
    for x in value.atoms(sympy.Rational):
        if abs(x.p) > SMALL or x.q > SMALL or (not x.is_Integer and x.q % 3):
            changed[x] = sympy.Float(float(x), 17)
    return value.xreplace(changed)


def _plain(name: str) -> str:
    """A name of letters, digits and underscores that begins with a letter."""
    plain = "".join(x if x.isascii() and x.isalnum() else "_" if x in "_-. " else f"u{ord(x):x}" for x in name)
    return plain if plain[:1].isalpha() else f"a{plain}"


def _rows(items: list[str], shape: tuple[int, ...]) -> list[list[str]]:
    return [items[i * shape[1] : (i + 1) * shape[1]] for i in range(shape[0])]


def _title(module: PrintedModule) -> str:
    return f"Kinematics and dynamics of {_plain(module.name)}, derived by armsim {__version__}."


def _wrapped(line: str) -> str:
    """A long statement on several lines."""
    parts, lines = line.split(", "), [""]
    for i, part in enumerate(parts):
        part += ", " if i + 1 < len(parts) else ""
        if len(lines[-1]) + len(part) > 100:
            lines[-1] += "&"
            lines.append("      ")
        lines[-1] += part
    return "\n".join(lines)
