"""A derivation to be read: as text, LaTeX or Markdown, from one list of blocks."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Sequence
from itertools import takewhile
from typing import Any

import sympy

from armsim.derivation.literature import published
from armsim.derivation.module import Routine
from armsim.derivation.program import Operations, Program
from armsim.errors import visible
from armsim.escaping import in_latex, in_markdown
from armsim.model import BASE
from armsim.records import record
from armsim.text_columns import WIDTH, aligned

Derivation = Any  # `armsim.derivation.derive.Derivation`, which calls upon this module
LONGEST = 40  # terms of an entry that is written out
GREEK = {"tau": r"\tau", "w": r"\omega", "a": r"\alpha", "qdd": r"\ddot q", "qd": r"\dot q"}


@record
class Block:
    """A part of a document.

    Attributes:
        title: Its heading; empty to go on under the last one.
        text: A paragraph.
        equations: Left and right sides.
        table: Rows, the heading first.
    """

    title: str = ""
    text: str = ""
    equations: Sequence[tuple[str, Any, str]] = ()
    table: Sequence[Sequence[str]] = ()


def document(derivation: Derivation, form: str, everything: bool = False) -> str:
    """A derivation as text.

    Args:
        derivation: The derivation.
        form: Of `DOCUMENTS`.
        everything: Whether entries of more than `LONGEST` terms are written out.
    """
    return DOCUMENTS[form](list(blocks(derivation, everything)))


def blocks(d: Derivation, everything: bool) -> list[Block]:
    """The parts of the document, in order."""
    found = [Block(f"{visible(d.name)}: M(q) qdd + C(q, qd) qd + g(q) = tau", " ".join(d.notes)), _coordinates(d)]
    if d.equations is not None:
        found += _closed(d, everything)
    else:
        found.append(_constants(d))
    routines = d.module.routines
    found.append(_program(d, "Inverse dynamics", d.inverse, routines[0], d.tau))
    found += [_program(d, "Forward dynamics", d.forward, routines[1], d.qdd), _counts(d)]
    found.append(Block("Checked", equations=(), table=[("what", "how"), *((c.what, c.how) for c in d.checks)]))
    return found


def typeset(d: Derivation) -> str:
    """The constants and M, C, g as a formula for notebooks."""
    parts = takewhile(lambda block: block.title != "Energies", _closed(d, False))
    lines = _math([equation for block in parts for equation in block.equations])
    return rf"$$\begin{{aligned}}{''.join(lines)}\end{{aligned}}$$"


def _coordinates(d: Derivation) -> Block:
    arm = d.exact.arm
    rows: list[tuple[str, ...]] = [("joint", "", "type", "position", "force", "carrier")]
    for joint, q, parent in zip(arm.links, arm.positions(d.q), arm.parents):
        force = joint.kind.force if joint.mimic is None else ""
        carrier = BASE if parent < 0 else arm.links[parent].name
        rows.append((joint.name, shown(q), joint.type, joint.kind.length, force, carrier))
    if arm.parents == tuple(range(-1, len(arm.links) - 1)):
        rows = [row[:-1] for row in rows]
    symbols = ", ".join(f"{name} = {value:g}" for name, value in d.symbols.items())
    text = f"Symbols, with their values in the file: {symbols}." if symbols else "Without symbols: all are numbers."
    return Block("Coordinates", text, table=rows)


def _constants(d: Derivation) -> Block:
    return Block("Constants", equations=[(c["name"], factored(c["value"]), c["meaning"]) for c in d.constants])


def _closed(d: Derivation, everything: bool) -> list[Block]:
    w = d.written
    parts = {x: w.grouped(x) for x in "MCgTVPJ"}  # which names all constants that they need
    constants = [
        (name, factored(value), w.meaning(name)) for name, value in w.grouping.constants.items() if name != str(value)
    ]

    def entries(letter: str, wanted: Callable[[int, int, Any], bool] = lambda i, j, x: True) -> list[Any]:
        rows, columns = w.shapes[letter]
        found = []
        for k, x in enumerate(parts[letter]):
            i, j = divmod(k, columns)
            index = f"{i + 1}" if columns == 1 else f"{i + 1}{j + 1}" if max(rows, columns) < 10 else f"{i + 1},{j + 1}"
            count = len(sympy.Add.make_args(x))
            if wanted(i, j, x):
                shown = x if everything or count <= LONGEST else f"({count} terms)"
                found.append((letter + index * (rows * columns > 1), shown, ""))
        return found

    blocks = [
        Block("Constants", equations=constants) if constants else Block(),
        Block("Mass matrix", "Symmetric; the lower triangle.", entries("M", lambda i, j, x: j <= i)),
        Block("Coriolis matrix", "Of Christoffel symbols: dM/dt - 2 C is skew-symmetric.", entries("C")),
        Block("Gravity", equations=entries("g")),
        Block("Energies", "Kinetic T and potential V.", [*entries("T"), *entries("V")]),
        Block("Tool in the world", "Rotation R and position p.", _pose(parts["P"])),
        Block(
            "Jacobian of the tool",
            "In world axes, angular velocity first; entries that are not zero.",
            entries("J", lambda i, j, x: x != 0),
        ),
    ]
    names = {str(x) for part in parts.values() for e in part for x in e.free_symbols}
    angles = [(name, w.angle(name), "") for name in sorted(names, key=_order) if w.angle(name) is not None]
    return [Block("Sines and cosines", equations=angles), *(b for b in blocks if b.title)]


def _pose(entries: Sequence[sympy.Expr]) -> list[tuple[str, Any, str]]:
    rotation = [(f"R{i + 1}{j + 1}", entries[4 * i + j], "") for i in range(3) for j in range(3)]
    return [*rotation, *((f"p{i + 1}", entries[4 * i + 3], "") for i in range(3))]


def _program(d: Derivation, title: str, program: Program, routine: Routine, outputs: Sequence[sympy.Symbol]) -> Block:
    """Assignments of a routine, constants that are worked out from others among them; numbers for the first routine alone."""
    known = {c["name"] for c in d.constants}
    lines = [
        (name, value, "constant")
        for name, value in d.module.constants.body
        if name in routine.symbols and name not in known and (value.free_symbols or routine is d.module.routines[0])
    ]
    lines += [(name, value, "") for name, value in routine.body]
    lines += [(str(x), value, "") for x, value in zip(outputs, routine.results) if str(x) != str(value)]
    return Block(title, f"{counted(program.operations)}; in {program.form} form.", lines)


def counted(operations: Operations) -> str:
    """Counts in words."""
    divisions = f", {operations.divisions} of them divisions" if operations.divisions else ""
    return (
        f"{operations.multiplications} multiplications{divisions}, {operations.additions} additions, "
        f"{operations.trigonometric} sines and cosines"
    )


def _counts(d: Derivation) -> Block:
    counts = d.operations
    rows: list[tuple[str, ...]] = [("of", "by", "mul", "add", "trig")]
    for what in ("inverse_dynamics", "constants", "forward_dynamics"):
        ours = counts[what]
        label = "its constants" if what == "constants" else what.replace("_", " ")
        numbers = (ours["multiplications"], ours["additions"], ours["trigonometric"])
        rows.append((label, "armsim", *map(str, numbers)))
        for other in published(d.exact.arm):
            theirs = other.constants if what == "constants" else other if other.what == what else None
            if theirs is not None:
                rows.append(("", other.source, str(theirs.multiplications), str(theirs.additions), ""))
    return Block("Counts", "Additions include subtractions, multiplications divisions; negation is free.", table=rows)


def text(parts: Sequence[Block]) -> str:
    """As plain text of 80 columns."""
    lines: list[str] = []
    for i, block in enumerate(parts):
        lines += ["", block.title] if i else [block.title]
        if block.text:
            lines += textwrap.wrap(block.text, WIDTH, initial_indent="  ", subsequent_indent="  ")
        width = max((len(name) for name, _, _ in block.equations), default=0)
        for name, value, note in block.equations:
            line = f"{name:{width}} = {shown(value)}"
            if note and len(line) + len(note) <= WIDTH - 8:
                line = f"{line:42}  {note}" if len(line) < 42 else f"{line}  {note}"
            elif note:
                line = f"{line}  {note}"
            hang = " " * (width + 5)
            lines += textwrap.wrap(
                line,
                WIDTH,
                initial_indent="  ",
                subsequent_indent=hang,
                drop_whitespace=True,
                break_long_words=False,
                break_on_hyphens=False,
            )
        lines += [f"  {line}" for line in aligned(block.table)]
    return "\n".join(lines) + "\n"


def shown(value: Any) -> str:
    """An expression in a line: numbers as decimals, products of small fractions as quotients."""
    if isinstance(value, sympy.Basic):
        return re.sub(r"(\.\d*?[1-9])0+(?!\d)|(\.)0+(?!\d)", lambda m: m[1] or "", str(_decimal(value)))
    return str(value)


def factored(value: sympy.Expr) -> sympy.Expr:
    """A constant with its common factors taken out, unless that makes long numbers of short ones."""
    found = sympy.factor_terms(value)
    return value if any(_long(x) for x in found.atoms(sympy.Rational)) else found


def _decimal(value: sympy.Basic) -> sympy.Basic:
    """With decimals for long fractions."""
    return value.xreplace({x: sympy.Float(str(float(x)), 15) for x in value.atoms(sympy.Rational) if _long(x)})


def _long(x: sympy.Rational) -> bool:
    return abs(x.p) > 99 or x.q > 99


def latex(parts: Sequence[Block]) -> str:
    r"""As LaTeX to be \input; it takes the package amsmath."""
    lines = [r"% \usepackage{amsmath}"]
    for i, block in enumerate(parts):
        title = _title(block.title)
        lines += [rf"\{'section' if i == 0 else 'subsection'}*{{{title}}}"]
        if block.text:
            lines.append(in_latex(block.text))
        if block.equations:
            lines += [r"\begin{align*}", *_math(block.equations), r"\end{align*}"]
        if block.table:
            lines.append(r"\begin{tabular}{" + "l" * len(block.table[0]) + "}")
            lines += [" & ".join(in_latex(cell) for cell in row) + r" \\" for row in block.table]
            lines.append(r"\end{tabular}")
    return "\n".join(lines) + "\n"


def markdown(parts: Sequence[Block]) -> str:
    """As Markdown with formulas between dollar signs."""
    lines: list[str] = []
    for i, block in enumerate(parts):
        lines += [f"{'#' if i == 0 else '##'} {in_markdown(block.title)}", ""]
        if block.text:
            lines += [in_markdown(block.text), ""]
        if block.equations:
            lines += ["$$", r"\begin{aligned}", *_math(block.equations), r"\end{aligned}", "$$", ""]
        if block.table:
            heading, *rows = block.table
            lines += [_row(heading), _row(["---"] * len(heading)), *(_row(row) for row in rows), ""]
    return "\n".join(lines).rstrip() + "\n"


DOCUMENTS: dict[str, Callable[[Sequence[Block]], str]] = {"text": text, "latex": latex, "markdown": markdown}


def _math(equations: Sequence[tuple[str, Any, str]]) -> list[str]:
    lines = []
    for name, value, note in equations:
        terms = _terms(value)
        rows = [""]
        for term in terms:
            if rows[-1] and len(rows[-1]) + len(term) > 110:
                rows.append("")
            rows[-1] += term if rows[-1] else term.lstrip()
        left = symbol(name)
        remark = rf" && \text{{{in_latex(note)}}}" if note else ""
        for k, row in enumerate(rows):
            end = (remark if k == len(rows) - 1 else "") + r" \\"
            lines.append(f"{left} &= {row}{end}" if k == 0 else rf"&\quad {row}{end}")
    lines[-1] = lines[-1].removesuffix(r" \\")
    return lines


def _terms(value: Any) -> list[str]:
    """The terms of a sum in LaTeX, each with its sign."""
    if not isinstance(value, sympy.Basic):
        return [rf"\text{{{value}}}"]
    value = _decimal(value)
    names = {x: symbol(str(x)) for x in value.free_symbols}
    found = []
    for i, term in enumerate(value.as_ordered_terms() if value.is_Add else [value]):
        written = sympy.latex(term, symbol_names=names)
        found.append(written if i == 0 else f" {written}" if written.startswith("-") else f" + {written}")
    return found


def symbol(name: str) -> str:
    r"""A name in LaTeX: \dot q_{1} for qd1, c_{12} for c12."""
    match = re.fullmatch(r"(qdd|qd|tau|[A-Za-z])(\d+(?:m\d+)*|m\d+)(_*)", name)
    if match is None:
        written: str = sympy.latex(sympy.Symbol(name))
        return rf"\mathit{{{written}}}" if written == name and len(name) > 1 and name.isalpha() else written
    letter, index, _ = match.groups()
    return f"{GREEK.get(letter, letter)}_{{{index.replace('m', '-')}}}"


def _order(name: str) -> tuple[int, str]:
    return len(name), name


def _title(title: str) -> str:
    name, colon, _ = title.rpartition(": ")
    return (
        rf"{in_latex(name)}: $M(q)\,\ddot q + C(q, \dot q)\,\dot q + g(q) = \tau$"
        if name and colon
        else in_latex(title)
    )


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(map(in_markdown, cells))} |"
