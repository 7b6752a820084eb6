"""Numbers as they stand in a file, and the context in which a file is read."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from armsim.files.faults import Report, join
from armsim.files.nodes import Place
from armsim.formulas.formula import Formula, FormulaError, parse_formula
from armsim.records import mutable_record

if TYPE_CHECKING:
    from armsim.files.table import DataTable

MOST_LETTERS = 100_000  # of all formulas of a file; thirty joints take some 10 000


@dataclass(slots=True, eq=False, repr=False)
class Quantity:
    """A number of a file, in its key's unit: SI, or degrees where the file says so.

    Attributes:
        value: The number.
        text: As written, with its unit if it has one.
        place: Where it stands; of a default, the mapping that lacks the key.
        formula: The formula, unless a plain number was written.
        given: Whether it is in the file; False for a default.
        kind: What it was read as, `armsim.document.kinds.Number`, with its bounds.
        unit: The unit written behind it; empty for none.
        degrees: Whether it is an angle of a file whose angles are degrees.
    """

    value: float
    text: str
    place: Place
    formula: Formula | None = None
    given: bool = True
    kind: Any = None
    unit: str = ""
    degrees: bool = False

    @property
    def varies(self) -> bool:
        """Whether its formula has variables, such as the time, so that its value is none of the number's own."""
        return self.formula is not None and self.kind is not None and self.kind.varies(self.formula)

    def __repr__(self) -> str:
        return self.text

    def as_data(self) -> str | float:
        """It as any file may say it: a formula, or a number with a unit, as text; degrees with their unit."""
        if self.degrees and not self.unit and not self.varies:
            return f"{plain_number(self.value)} {self.kind.unit.split(' or ')[0].replace('rad', 'deg')}"
        return self.text if self.formula is not None or self.unit else self.value

    @property
    def shown(self) -> str:
        """It as messages repeat it: as written where it has a unit, else its value."""
        return self.text if self.unit else plain_number(self.value)

    def of(self, unit: str) -> str:
        """It as written, with its own unit, or its key's."""
        return self.text if self.unit else f"{self.text} {unit}"


class FormulaCache:
    """The formulas of a file: equal texts are parsed once, and all of them are so long at most."""

    def __init__(self) -> None:
        self._parsed: dict[str, Formula] = {}
        self._letters = 0

    def parse(self, text: str) -> Formula:
        """Parse a formula.

        Raises:
            FormulaError: A syntax error, or the formulas of this file are too long altogether.
        """
        known = self._parsed.get(text)
        if known is None:
            self._letters += len(text)
            if self._letters > MOST_LETTERS:
                mend = "compute the numbers, or name those that come back as parameters"
                raise FormulaError(f"more than {MOST_LETTERS // 1000} kB of formulas in one file", mend)
            known = self._parsed[text] = parse_formula(text)
        return known


@mutable_record
class Context:
    """What is known where a value of a file is read. Below a key it begins as it is above; what changes there stays there.

    Attributes:
        report: Takes the faults.
        path: Of the value.
        degrees: Whether angles of this file are degrees.
        named: Whether the file may have `parameters`.
        parameters: Those that formulas may use, by name.
        broken: Parameters without a value, which is reported; formulas that use them are skipped.
        joints: Names and types of the joints that have a coordinate of their own, where they are known.
        links: Names of all joints, where they are known.
        frames: The names of the arm's frames, where they are known.
        world: The obstacles of the robot's file, by name.
        contacts: The names of its contacts.
        folder: The file's folder, for paths in it.
        formulas: Of the file.
        tables: CSV files read so far, by path; None where one could not be read.
        turns: Whether the joint turns that the numbers now read belong to, or each of the joints; empty where unknown.
        output: What the controller now read puts out; None where unknown.
        law: Its law.
        task: Names of the axes that its gains are of, and types of joints along or about them; none where they are of joints.
    """

    report: Report
    path: str = ""
    degrees: bool = False
    named: bool = False
    parameters: dict[str, Quantity] = field(default_factory=dict)
    broken: set[str] = field(default_factory=set)
    joints: tuple[tuple[str, str], ...] | None = None
    links: tuple[str, ...] | None = None
    frames: tuple[str, ...] | None = None
    world: Mapping[str, Any] = field(default_factory=dict)
    contacts: tuple[str, ...] = ()
    folder: str = ""
    formulas: FormulaCache = field(default_factory=FormulaCache)
    tables: dict[str, DataTable | None] = field(default_factory=dict)
    turns: tuple[bool, ...] = ()
    output: str | None = None
    law: str = ""
    task: tuple[tuple[str, str], ...] = ()

    @property
    def key(self) -> str:
        """The last key of the path."""
        return self.path.rsplit(".", 1)[-1].partition("[")[0]

    def at(self, path: str) -> Context:
        """What is known at a path."""
        made = object.__new__(Context)
        made.__dict__ = vars(self) | {"path": path}
        return made

    def below(self, key: str) -> Context:
        """What is known at a key below."""
        return self.at(join(self.path, key))

    def item(self, i: int) -> Context:
        """What is known at an item of a list."""
        return self.at(f"{self.path}[{i}]")

    def add(self, place: Place, expected: str, found: str, mend: str) -> None:
        """Report a fault of the value."""
        self.report.add(place, self.path, expected, found, mend)

    def values(self, names: Iterable[str]) -> dict[str, float]:
        """Values by name, of parameters and of the time t, which is 0."""
        return {name: self.parameters[name].value if name in self.parameters else 0.0 for name in names if name != "pi"}


def plain_number(value: float) -> str:
    """The shortest text that YAML reads as this double; integers without a point."""
    if math.isfinite(value) and value == int(value) and abs(value) < 1e16:
        return str(int(value))
    return {math.inf: ".inf", -math.inf: "-.inf"}.get(value, repr(value))
