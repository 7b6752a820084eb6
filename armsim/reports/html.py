"""Reports in HTML, for pages and notebooks."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

from armsim.escaping import in_html
from armsim.reports.table import Line, ReportTable
from armsim.terminal.streams import MARKS


def html(report: Iterable[Line]) -> str:
    """A report in HTML: its text in letters of one width, its tables with numbers aligned to the right."""
    parts = []
    for tables, lines in groupby(report, lambda line: isinstance(line, ReportTable)):
        if tables:
            parts += [_table(line) for line in lines if isinstance(line, ReportTable)]
        elif text := MARKS.sub("", "\n".join(map(str, lines))).strip("\n"):
            parts += ["<pre>", in_html(text, "\n"), "</pre>"]
    return "".join(parts)


def _table(table: ReportTable) -> str:
    lines = []
    for kind, (first, *others) in zip("h" + "d" * len(table.rows), [table.headings, *table.texts], strict=True):
        cells = "".join(f'<t{kind} style="text-align: right">{in_html(cell)}</t{kind}>' for cell in others)
        lines.append(f'<tr><th style="text-align: left">{in_html(first)}</th>{cells}</tr>')
    return f"<table>{''.join(lines)}</table>"
