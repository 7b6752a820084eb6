"""What `armsim export` prints."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from armsim.records import Json, attributes
from armsim.reports.table import Report
from armsim.text_columns import aligned

if TYPE_CHECKING:
    from armsim.exporting.export import Exported

TESTS = {  # how a folder's test program is run, by the suffix of the source
    ".h": "make test",
    ".f90": "make test",
    ".py": "python {test}",
    ".mjs": "node {test}",
}


def report(done: Exported) -> Report:
    """The files with what is in them, and how to try them; of a description what others lose."""
    if not done.functions:
        return [*done.files, *(f"  {note}" for note in done.notes)]
    lines: Report = [*aligned([[path, _what(path, done)] for path in done.files])]
    if done.numbers:
        names = ", ".join(item.name for item in done.numbers[:4]) + (", ..." if len(done.numbers) > 4 else "")
        lines += ["", f"open: {names}"]
    folder = os.path.dirname(done.files[0])
    test = next((os.path.basename(path) for path in done.files if os.path.basename(path).startswith("test_")), "")
    suffix = os.path.splitext(done.files[0])[1]
    lines += ["", f"test: {done.test}"]
    return [*lines, f"next: cd {folder} && {TESTS[suffix].format(test=test)}"]


def _what(path: str, done: Exported) -> str:
    name, suffix = os.path.splitext(os.path.basename(path))
    if name.startswith("test_"):
        return "compares them with reference values"
    if suffix in (".so", ".dylib", ".dll"):
        return "the same, compiled for this machine"
    if suffix == ".c":
        return "the source"
    if name in ("Makefile", "CMakeLists"):
        return "what builds them"
    return f"functions: {', '.join(done.functions)}"


def as_data(done: Exported) -> Json:
    """It as plain data."""
    numbers = [{"path": item.name, "unit": item.unit, "value": item.value} for item in done.numbers]
    return {
        **attributes(done, "name", "functions", "files"),
        "open": numbers,
        **attributes(done, "states", "test", "notes"),
    }
