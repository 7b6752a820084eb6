"""How results show themselves in a notebook: tables in HTML, numbers to a few digits, data frames."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from types import ModuleType

from armsim.errors import UsageError, visible
from armsim.escaping import in_html

SHORT = 5  # significant digits
Cell = str | float | None


def cell(value: Cell) -> str:
    """A cell as text: a number to `SHORT` digits; empty for None and NaN."""
    if isinstance(value, str):
        return visible(value)
    return "" if value is None or value != value else f"{value:.{SHORT}g}"


def html_table(title: str, headings: Sequence[str], rows: Iterable[Sequence[Cell]], notes: Iterable[str] = ()) -> str:
    """A table in HTML, its numbers aligned to the right.

    Args:
        title: Above it.
        headings: One per column.
        rows: As many cells in each; the first is the row's name.
        notes: Lines below it.
    """
    head = "".join(f"<th>{in_html(heading)}</th>" for heading in headings)
    lines = [f"<tr>{head}</tr>"]
    for first, *others in rows:
        values = "".join(f'<td style="text-align: right">{in_html(cell(value))}</td>' for value in others)
        lines.append(f"<tr><th>{in_html(cell(first))}</th>{values}</tr>")
    below = "".join(f"<div>{in_html(note)}</div>" for note in notes)
    return f"<div><b>{in_html(title)}</b><table>{''.join(lines)}</table>{below}</div>"


def counted(count: int, noun: str) -> str:
    """A number of things: "1 row", "2 rows"."""
    return f"{count} {noun}{'s' * (count != 1)}"


def pandas() -> ModuleType:
    """The package pandas.

    Raises:
        UsageError: It is not installed.
    """
    try:
        import pandas as found
    except ImportError:
        raise UsageError.of(
            "to_pandas", "pandas, which has data frames", "it is not installed", "pip install pandas"
        ) from None
    return found
