"""Base parameters: the combinations of inertial parameters that an arm's motion can tell apart.

Joint forces are linear in the inertial parameters, tau = Y(q, qd, qdd) p. Columns of Y that are combinations of others, whatever
the motion, make parameters that only show in combination (Khalil and Dombre, *Modeling, Identification and Control of Robots*,
section 9.4). Written as polynomials of the motion, the columns are compared coefficient by coefficient.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any

import sympy
from sympy.polys.matrices import DomainMatrix

from armsim.arm.robot import Robot
from armsim.derivation.agreement import REPORT, Disagreement
from armsim.derivation.exact import ExactArm, exact, exact_arm
from armsim.derivation.motion import MotionRing, TooLarge
from armsim.derivation.recursion import in_ring
from armsim.dynamics import inertial_parameters, regressor
from armsim.dynamics.regressor import PARAMETERS, inertial_unit
from armsim.identification.unseen import SMALL, independent, numerical_rank, stacked_regressor
from armsim.loading import build_robot, load_robot_file
from armsim.records import Json, record

ORDER = [
    "ZZ",
    "MX",
    "MY",
    "XX",
    "XY",
    "XZ",
    "YZ",
    "Ia",
    "YY",
    "MZ",
    "M",
]  # of a link: those before stand for those behind
MOST_ROWS = 1000  # of coefficients with symbols in them


@record
class BaseParameter:
    """A combination of inertial parameters.

    Attributes:
        combination: Of the links' parameters `armsim.dynamics.regressor.PARAMETERS`, numbered by link.
        value: In the symbols of the arm.
        number: Its value in the file.
        unit: kg, kg m or kg m².
    """

    combination: sympy.Expr
    value: sympy.Expr
    number: float
    unit: str


@record
class BaseParameters:
    """The base parameters of an arm.

    Attributes:
        robot: Name of the arm.
        parameters: The combinations; as many as the regressor's rank.
        of: How many inertial parameters there are, 11 a link.
        unseen: Parameters that no motion shows.
        rank: Of the regressor at random states, by singular values.
        notes: What the reader should know, a sentence each.
    """

    robot: str
    parameters: list[BaseParameter]
    of: int
    unseen: list[str]
    rank: int
    notes: list[str]

    def summary(self) -> Json:
        """As plain data; expressions as text."""
        listed = [vars(p) | {"combination": str(p.combination), "value": str(p.value)} for p in self.parameters]
        return {
            "robot": self.robot,
            "base_parameters": listed,
            "rank": self.rank,
            "of": self.of,
            "unseen": self.unseen,
            "notes": self.notes,
        }


def base_parameters(
    robot: str | PathLike[str] | Mapping[str, Any],
    symbols: Sequence[str] | None = None,
    overrides: Mapping[str, Any] | None = None,
) -> BaseParameters:
    """The base parameters of a robot file, in symbols where it has them, their number compared with the regressor's rank.

    Args:
        robot: Path or name of a robot file, or its content as plain data.
        symbols: What stays a symbol, as `armsim.derive` takes it.
        overrides: Values in place of the file's, by path.

    Raises:
        FileFaults: The file cannot be used; says where and why.
        UsageError: There is no such symbol.
        Disagreement: Their number is not the regressor's rank: a fault of armsim.
    """
    read = load_robot_file(robot, overrides).document
    arm = exact_arm(read, symbols)
    names = [(i, kind) for i in range(len(arm.arm.links)) for kind in ORDER]
    notes: list[str] = []
    engine = Robot(build_robot(read), "python")  # sooner done than compiled
    try:
        reduced, pivots = _coefficients(arm, names).to_field().rref()
        rows = reduced.to_Matrix()[: len(pivots), :].tolist()
    except TooLarge as large:
        arm = exact_arm(read, [])
        rows = _by_numbers(engine, names)
        notes.append(f"Not in symbols ({large}): the combinations have the file's numbers.")
    values = [exact(x) for x in inertial_parameters(arm.arm)]
    found = []
    for row in rows:
        combination = value = sympy.Integer(0)
        for (i, kind), factor in zip(names, row):
            if factor != 0:
                combination += factor * sympy.Symbol(f"{kind}{i + 1}")
                value += factor * values[len(PARAMETERS) * i + PARAMETERS.index(kind)]
        i, kind = next(name for name, factor in zip(names, row) if factor != 0)
        value = sympy.factor_terms(sympy.expand(value))
        found.append(
            BaseParameter(combination, value, float(value.subs(arm.at)), inertial_unit(arm.arm.links[i], kind))
        )
    shown = {str(x) for p in found for x in p.combination.free_symbols}
    unseen = [f"{kind}{i + 1}" for i, kind in names if f"{kind}{i + 1}" not in shown]
    rank = numerical_rank(stacked_regressor(engine))
    if rank != len(found):
        raise Disagreement.of(
            f"{arm.arm.name}: base parameters", f"{rank}, the regressor's rank", str(len(found)), REPORT
        )
    return BaseParameters(arm.arm.name, found, len(names), unseen, rank, notes)


def _coefficients(arm: ExactArm, names: Sequence[tuple[int, str]]) -> DomainMatrix:
    """The columns of the regressor: a row for each monomial of the motion in a joint's force.

    Raises:
        TooLarge: There are too many.
    """
    if arm.arm.followers:
        raise TooLarge("joints that mimic others")  # their sines and cosines depend on those of the others
    motion = MotionRing(arm, 2 * MOST_ROWS)
    if not all(atom.is_Symbol for atom in motion.atoms):
        raise TooLarge("constants that are no polynomials of the symbols")  # fractions of them have no normal form
    entries = in_ring(arm, regressor, motion)
    atoms, columns = len(motion.atoms), len(names)
    found: dict[Any, dict[int, Any]] = {}
    for k, (link, kind) in enumerate(names):
        for i in range(arm.arm.n):
            for m, x in entries[columns * i + len(PARAMETERS) * link + PARAMETERS.index(kind)].items():
                row = found.setdefault((i, m[atoms:]), {})
                row[k] = row.get(k, 0) + motion.coefficient(m, x)
    rows = _distinct(found.values())
    if len(rows) > MOST_ROWS:
        raise TooLarge(f"{len(rows)} coefficients")
    return DomainMatrix(dict(enumerate(rows)), (len(rows), columns), motion.constants.to_domain())


def _distinct(rows: Any) -> list[dict[int, Any]]:
    known: dict[Any, dict[int, Any]] = {}
    for row in rows:
        kept = {k: x for k, x in row.items() if x}
        if kept:
            known.setdefault(frozenset(kept.items()), kept)
    return list(known.values())


def _by_numbers(robot: Robot, names: Sequence[tuple[int, str]]) -> list[list[Any]]:
    """For each column that is no combination of those before, the combinations with it that later ones are."""
    order = [len(PARAMETERS) * i + PARAMETERS.index(kind) for i, kind in names]
    rows: list[list[Any]] = []
    for factors in independent(stacked_regressor(robot)[:, order])[1].tolist():
        whole = [round(x) for x in factors]
        rows.append([
            sympy.Integer(k) if abs(x - k) < SMALL else sympy.Float(x, 12) for x, k in zip(factors, whole, strict=True)
        ])  # fmt: skip
    return rows
