"""Fortran 2018: a module of pure subroutines."""

from __future__ import annotations

import math
from collections.abc import Sequence
from shutil import which

from armsim.clock import Clock
from armsim.exporting.interface import Case, Entry, Model
from armsim.exporting.language import LARGEST, SMALLEST, Language, Stated, Style, indented
from armsim.exporting.names import words
from armsim.exporting.program import Printable
from armsim.exporting.terms import AND, ARITHMETIC, NAME, NOT, UNFUSED, Operation, Term, signed
from armsim.expr import Table
from armsim.expr.elementary import SMALLEST_NORMAL

COLUMNS = 118  # of a line, without what continues it
CHUNK = 200  # numbers of a table in one statement
RESERVED = words(
    """abs sin cos tan exp log sqrt merge mod real int transfer btest shiftl fma infinity if do end exit call function
    subroutine module program type use only implicit none contains interface result pure intent in out value parameter
    integer logical character complex exponent fraction found given k due numbers real64 real32 int64 print stop
    power_of_two exponent_of mantissa_of rounded"""
)
HELPERS = {
    "exp2": """\
pure function power_of_two(k) result(found)  ! 2**k, for an integer k from -1022 to 1023
    real(real64), intent(in) :: k
    real(real64) :: found
    found = transfer(shiftl(transfer(k + 6755399441055744.0_real64, 0_int64) + 1023_int64, 52), found)
end function
""",
    "exponent": """\
pure function exponent_of(x) result(found)  ! e of x = m 2**e, with m from sqrt(1/2) to sqrt(2)
    real(real64), intent(in) :: x
    real(real64) :: found
    found = real(exponent(x) - merge(1, 0, fraction(x) < 0.7071067811865476_real64), real64)
end function
""",
    "mantissa": """\
pure function mantissa_of(x) result(found)  ! m of x = m 2**e, with m from sqrt(1/2) to sqrt(2)
    real(real64), intent(in) :: x
    real(real64) :: found
    found = fraction(x)
    if (found < 0.7071067811865476_real64) found = 2 * found
end function
""",
}
# sums with the number from which on there are no places behind the point
ROUNDED = """\
pure function rounded(x) result(found)  ! to an integer, half-way cases to the even one
    real({kind}), intent(in) :: x
    real({kind}) :: found
    real({kind}), parameter :: whole = {whole}_{kind}
    found = x
    if (abs(x) < whole) found = sign((abs(x) + whole) - whole, x)
end function
"""


class Fortran(Language):
    """A module of pure subroutines; a fused multiply-add is that of the C library."""

    name = "fortran"
    few = 4
    singles = True
    reserved = RESERVED
    tool = "gfortran"
    suffix = "f90"
    field = "numbers%{}"
    whole = "{}_int64"
    unless = ("if (.not. ({})) then", "end if")
    repeat = ("do {0} = 1, {1}", "end do")
    leave = ("if ({}) exit",)

    def __init__(self, style: Style | None = None) -> None:
        super().__init__(style)
        self.kind = "real32" if self.style.single else "real64"
        self.real = f"real({self.kind})"
        self.operations = {
            **ARITHMETIC,
            **{name: Operation(f"{name}({{}})") for name in ("abs", "sin", "cos", "exp", "log", "sqrt")},
            "fma": UNFUSED if self.style.fma == "none" else Operation("fma({}, {}, {})"),
            "and": Operation("{} .and. {}", AND, (AND, NOT)),
            "not": Operation(".not. {}", NOT, (NAME,)),
            "where": Operation("merge({1}, {2}, {0})"),
            "bit": Operation("btest(transfer({}, 0_int64), {})"),
            "exp2": Operation("power_of_two({})"),
            "exponent": Operation("exponent_of({})"),
            "mantissa": Operation("mantissa_of({})"),
            "round": Operation("rounded({})"),
        }

    def literal(self, value: float) -> Term:
        digits = f"{abs(value):.20e}" if 0 < abs(value) < SMALLEST_NORMAL else repr(abs(value))  # gfortran rounds twice
        text = f"{digits}_{self.kind}"
        if math.isinf(value) or (self.style.single and abs(value) >= LARGEST):
            text = "infinity"
        elif self.style.single and abs(value) < SMALLEST:
            text = f"0.0_{self.kind}"
        return signed(text, value)

    def item(self, array: str, i: int) -> str:
        return f"{array}({i + 1})"

    def call(self, name: str, function: str, args: Sequence[str], results: int) -> list[str]:
        given = ", ".join(args)
        return [f"call {function}({given if len(args) <= self.few else f'[{given}]'}, {name})"]

    def series(self, name: str, items: Sequence[str], size: int) -> list[str]:
        return [f"{name} = [{', '.join(items)}]"] if items else []

    def table_of(self, name: str, items: Sequence[str]) -> list[str]:
        parts = ((first, items[first : first + CHUNK]) for first in range(0, len(items), CHUNK))
        return [f"{name}({i + 1}:{i + len(part)}) = [{', '.join(part)}]" for i, part in parts]

    def sweep(self, counter: str, count: int, backward: bool, work: Sequence[str]) -> list[str]:
        values = f"{count - 1}, 0, -1" if backward else f"0, {count - 1}"
        return [f"do {counter} = {values}", *indented(work), "end do"]

    def place(self, array: str, row: str, width: int, column: int) -> str:
        return f"{array}({width} * {row} + {column + 1})"

    @property
    def _infinity(self) -> str:
        """The declaration of infinity."""
        bits, whole = ("7F800000", "int32") if self.style.single else ("7FF0000000000000", "int64")
        return f"{self.real}, parameter :: infinity = transfer(int(z'{bits}', {whole}), 1.0_{self.kind})"

    def _statements(self, stated: Stated) -> list[str]:
        """The statements of a function, below declarations of all that they name."""
        body = stated.body
        found = []
        for declared, names in (
            (self.real, [name for name, _ in stated.loads]),
            (self.real, [name for name, truth in body.locals if not truth]),
            ("logical", [name for name, truth in body.locals if truth]),
            (self.real, [f"{name}({size})" for name, size in body.arrays]),
            ("integer", body.counters),
        ):
            found += [f"{declared} :: {', '.join(names[i : i + 16])}" for i in range(0, len(names), 16)]
        return [*found, *(f"{name} = {place}" for name, place in stated.loads), *body.lines]

    def function(self, name: str, stated: Stated) -> str:
        few = len(stated.names) <= self.few
        given = stated.names if few else ["given"]
        declared = given if few else [f"given({len(stated.names)})"]
        lines = [f"{self.real}, intent(in) :: {', '.join(declared)}"] if given else []
        lines += [f"{self.real}, intent(out) :: found({len(stated.results)})", *self._statements(stated)]
        lines += [f"{self.item('found', i)} = {text}" for i, text in enumerate(stated.results)]
        head = f"pure subroutine {name}({', '.join([*given, 'found'])})"
        return _wrapped([head, *indented(lines), "end subroutine", ""])

    def table(self, table: Table, name: str) -> str:
        n = len(table.x)
        lines = [f"{self.real}, intent(in) :: x", f"{self.real} :: found", "integer :: low, high, middle"]
        for letter, numbers in (("x", table.x), ("y", table.y)):
            parts = range(0, n, CHUNK)
            for part in parts:
                own = numbers[part : part + CHUNK]
                lines.append(f"{self.real}, parameter :: {letter}{part}({len(own)}) = [{self.listed(own)}]")
            whole = ", ".join(f"{letter}{part}" for part in parts)
            lines.append(f"{self.real}, parameter :: {letter}s({n}) = [{whole}]")
        lines += [
            "low = 1",
            f"high = {n + 1}",
            "do while (high - low > 1)",
            "    middle = (low + high) / 2",
            "    if (xs(middle) <= x) then",
            "        low = middle",
            "    else",
            "        high = middle",
            "    end if",
            "end do",
            "found = ys(low)",
        ]
        if table.hold == "linear" and n > 1:
            rise = "(x - xs(low)) / (xs(low + 1) - xs(low)) * (ys(low + 1) - ys(low))"
            lines.append(f"if (x > xs(1) .and. low < {n}) found = ys(low) + {rise}")
        return _wrapped(
            [f"pure function {name}(x) result(found)  ! {table.hold} hold", *indented(lines), "end function", ""]
        )

    def clock(self, clock: Clock) -> list[str]:
        time = f"real(k * {clock.num}, real64) / {float(clock.den)!r}_real64"
        time = f"real({time}, {self.kind})" if self.style.single else time
        ones = f"1.0_{self.kind}, 0.0_{self.kind}"
        return [time, f"merge({ones}, mod(k, {clock.sample_every or 1}_int64) == 0)"]

    def entry(self, model: Model, entry: Entry, stated: Stated) -> str:
        parameters = [argument.name for argument in (*entry.arguments, entry.result)]
        lines = [f"! {entry.what}"]
        for argument in entry.arguments:
            size = f"({len(argument.items)})" if argument.kind == "array" else ""
            kind = {"clock": "integer(int64)", "numbers": f"type({model.name}_numbers)"}.get(argument.kind, self.real)
            lines.append(f"{kind}, intent(in) :: {argument.name}{size}  ! {argument.described}")
        result = entry.result
        size, n = f"{len(result.items)}", result.columns
        places = [self.item(result.name, i) for i in range(len(result.items))]
        if n:
            size = f"{len(result.items) // n}, {n}"
            places = [f"{result.name}({i // n + 1}, {i % n + 1})" for i in range(len(result.items))]
        lines.append(f"{self.real}, intent(out) :: {result.name}({size})  ! {result.described}")
        lines += self._statements(stated)
        lines += [f"{place} = {text}" for place, text in zip(places, stated.results, strict=True)]
        head = f"pure subroutine {model.name}_{entry.name}({', '.join(parameters)})"
        return _wrapped([head, *indented(lines), "end subroutine", ""])

    def helpers(self, program: Printable) -> list[str]:
        whole = "8388608.0" if self.style.single else "4503599627370496.0"
        texts = {**HELPERS, "round": ROUNDED.format(kind=self.kind, whole=whole)}
        return self.needed(program, texts)

    def source(self, model: Model, program: Printable) -> str:
        public = [f"{model.name}_{entry.name}" for entry in model.entries]
        public += [f"{model.name}_numbers"] if model.numbers else []
        kinds = "int32, int64, real32, real64" if self.style.single else "int64, real64"
        lines = [f"! {line}" for line in model.about]
        lines += [f"module {model.name}", f"    use, intrinsic :: iso_fortran_env, only: {kinds}", "    implicit none"]
        lines += ["    private", f"    public :: {', '.join(public)}", ""]
        parts = [*self.helpers(program), *self.called(program), *self.entries(model, program)]
        if any("infinity" in part for part in parts):
            lines += [f"    {self._infinity}", ""]
        if model.numbers:
            lines += [
                "    ! numbers that were left open, in the units of the file",
                f"    type :: {model.name}_numbers",
            ]
            for field, item in zip(self.fields(model.numbers), model.numbers, strict=True):
                lines.append(f"        {self.real} :: {field} = {self.literal(item.value).text}  ! {item.described}")
            lines += ["    end type", ""]
        if self.style.fma != "none" and "fma" in program.operations:
            lines += indented(_fma(self.style.single))
        lines.append("contains\n")
        return "\n".join(
            [_wrapped(lines), *("\n".join(indented(part.split("\n"))) for part in parts), "end module", ""]
        )

    def test_commands(self, name: str) -> list[list[str]]:
        flags = ["-O0", "-std=f2018", "-ffp-contract=off"]
        files = [f"{name}.f90", f"test_{name}.f90", "-o", "tested"]
        return [["gfortran", *flags, *files, "-lm"], ["./tested"]] if which("gfortran") else []

    def files(self, model: Model) -> dict[str, str]:
        return super().files(model) | {"Makefile": _makefile(model)}

    def test(self, model: Model) -> str:
        lines = [f"! compares {model.name} with reference values; stops with 1 if something differs"]
        lines += [
            f"program test_{model.name}",
            "    use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64",
        ]
        lines += [f"    use {model.name}", "    implicit none", "    integer :: wrong = 0"]
        lines += [f"    type({model.name}_numbers) :: numbers"] if model.numbers else []
        cases = [line for case in model.cases for line in indented(self._case(model, case))]
        lines += [f"    {self._infinity}"] if any("infinity" in line for line in cases) else []
        lines += cases
        calls = f"'{model.name}: {len(model.cases)} calls, ', wrong, ' wrong numbers'"
        lines += [f"    print '(a, i0, a)', {calls}", "    if (wrong > 0) stop 1", "contains"]
        unlike = "found(i) == expected(i)"
        if not self.style.own:
            unlike = f"abs(found(i) - expected(i)) <= {self.style.tolerance!r}_{self.kind} * (1 + abs(expected(i)))"
        lines += indented(
            [
                "subroutine compare(name, found, expected)",
                "    character(*), intent(in) :: name",
                f"    {self.real}, intent(in) :: found(:), expected(:)",
                "    integer :: i",
                "    do i = 1, size(found)",
                f"        if ({unlike}) cycle",
                "        print *, name, i, found(i), 'instead of', expected(i)",
                "        wrong = wrong + 1",
                "    end do",
                "end subroutine",
            ]
        )
        return _wrapped([*lines, "end program", ""])

    def array(self, values: Sequence[float]) -> str:
        return f"[{self.real} :: {self.listed(values)}]"

    def _case(self, model: Model, case: Case) -> list[str]:
        given, expected = self.given(model, case), self.array(case.found)
        name, size = f"{model.name}_{case.entry.name}", len(case.found)
        return [
            "block",
            f"    {self.real} :: found({size})",
            f"    call {name}({given + ', ' * bool(given)}found)",
            f"    call compare('{case.entry.name}', found, {expected})",
            "end block",
        ]


def _fma(single: bool) -> list[str]:
    """The interface of the C library's fused multiply-add."""
    kind, name = ("c_float", "fmaf") if single else ("c_double", "fma")
    return [
        "interface",
        "    ! a b + c with one rounding, of the C library",
        f'    pure function fma(a, b, c) bind(c, name="{name}") result(found)',
        f"        use, intrinsic :: iso_c_binding, only: {kind}",
        f"        real({kind}), value :: a, b, c",
        f"        real({kind}) :: found",
        "    end function",
        "end interface",
        "",
    ]


def _wrapped(lines: Sequence[str]) -> str:
    """Lines, those that are too long continued."""
    found = []
    for line in lines:
        own = line
        comment = own.lstrip().startswith("!") or "  ! " in own[:COLUMNS]
        indent = " " * (len(own) - len(own.lstrip()) + 4)
        while len(own) > COLUMNS:
            cut = own.rfind(" ", len(indent) + 1, COLUMNS)
            if cut < 0:
                break
            found.append(own[:cut] if comment else f"{own[:cut]} &")
            own = f"{indent[:-4]}!     {own[cut + 1 :]}" if comment else indent + own[cut + 1 :]
        found.append(own)
    return "\n".join(found)


def _makefile(model: Model) -> str:
    return f"""\
# make: the module; make test: compares with reference values
FC = gfortran
FFLAGS ?= -O2
FLAGS = -std=f2018 -ffp-contract=off

{model.name}.o: {model.name}.f90
\t$(FC) $(FFLAGS) $(FLAGS) -c -o $@ $<

test: test_{model.name}.f90 {model.name}.o
\t$(FC) $(FFLAGS) $(FLAGS) -o test_{model.name} $^ -lm
\t./test_{model.name}

clean:
\trm -f {model.name}.o {model.name}.mod test_{model.name}

.PHONY: test clean
"""
