"""What is printed of gradients of measures."""

from __future__ import annotations

from armsim.batches.gradients import Gradients
from armsim.reports.table import Report, ReportTable, measured, number, wrapped


def report(found: Gradients, digits: int = 5) -> Report:
    """The measures, their derivatives in units, and in percent for a percent of the number.

    Args:
        found: The gradients.
        digits: Significant digits.
    """
    lines: Report = [wrapped(f"{found.scenario} by {found.method}, steps of {found.dt:g} s"), ""]
    values = zip(found.measures, found.values.tolist(), found.units, strict=True)
    lines.append(ReportTable(["measure", "value"], [[name, measured(x, unit, digits)] for name, x, unit in values]))
    titles = [str(i + 1) for i in range(len(found.measures))] if _wide(found) else list(found.measures)
    if titles != list(found.measures):
        lines += ["", wrapped(", ".join(f"{i} is {name}" for i, name in zip(titles, found.measures, strict=True)))]
    numbers = list(zip(found.paths, found.numbers.tolist(), found.path_units, strict=True))
    for what, matrix in (("derivative by", found.by), ("% for 1 % of", found.relative)):
        rows = [
            [path, measured(x, unit, digits), *(number(y, digits) for y in column)]
            for (path, x, unit), column in zip(numbers, matrix.T.tolist(), strict=True)
        ]
        lines += ["", ReportTable([what, "at", *titles], rows)]
    if found.still:
        names = ", ".join(found.still)
        lines += ["", wrapped(f"no small change changes {names}: it counts steps, or depends on none of these numbers")]
    return lines


def _wide(found: Gradients) -> bool:
    """Whether names of measures are too long for the titles of a table."""
    return sum(len(name) + 2 for name in found.measures) > 40
