"""Texts in columns: how tables of terminals, documentation, pictures and derivations are laid out."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from itertools import zip_longest

WIDTH = 80  # characters of a line
NARROWEST = 8  # characters that a column keeps


def aligned(rows: Sequence[Sequence[str]], ways: str = "<", width: int = 0, ruled: bool = False) -> list[str]:
    """Lines of cells, in columns two spaces apart.

    Args:
        rows: As many cells in each.
        ways: "<" for a column that is aligned to the left, ">" for one to the right; the last way holds for all that follow.
        width: Characters of a line: the widest columns are made narrower, and their cells filled, until lines fit; 0 for any.
        ruled: Whether a rule stands below the first row.
    """
    widths = column_widths(rows)
    while width and row_width(widths) > width and max(widths) > NARROWEST:
        widths[widths.index(max(widths))] -= 1
    forms = map("{{:{}{}}}".format, ways.ljust(len(widths), ways[-1]), widths)
    form, lines = "  ".join(forms), list[str]()
    for row in rows:
        cells = [
            [cell] if len(cell) <= wide else textwrap.wrap(cell, wide, break_on_hyphens=False)
            for cell, wide in zip(row, widths, strict=True)
        ]
        lines += [form.format(*parts).rstrip() for parts in zip_longest(*cells, fillvalue="")]
        if ruled and row is rows[0]:
            lines.append("  ".join("-" * wide for wide in widths))
    return lines


def column_widths(rows: Sequence[Sequence[str]]) -> list[int]:
    """Characters of the longest cell of each column."""
    return [max(map(len, column)) for column in zip(*rows, strict=True)]


def row_width(widths: Sequence[int]) -> int:
    """Characters of a line of columns."""
    return sum(widths) + 2 * (len(widths) - 1)
