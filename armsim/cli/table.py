"""Tables for a terminal of 80 columns."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import click


def bold(text: str) -> str:
    """Bold on a terminal that wants colour, plain elsewhere."""
    return click.style(text, bold=True) if sys.stdout.isatty() and "NO_COLOR" not in os.environ else text


def number(value: float | None, digits: int = 5) -> str:
    """A number to some significant digits; a dash for none."""
    if value is None or value != value:
        return "-"
    if value == 0 or abs(value) < 1e-12:
        return "0"
    return f"{value:.{digits}g}"


def table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Lines of columns: the first is left-aligned, the others right-aligned."""
    lines = [headings, *rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(headings))]
    text = []
    for k, line in enumerate(lines):
        cells = [cell.ljust(w) if i == 0 else cell.rjust(w) for i, (cell, w) in enumerate(zip(line, widths, strict=True))]
        joined = "  ".join(cells).rstrip()
        text.append(bold(joined) if k == 0 else joined)
    return "\n".join(text)
