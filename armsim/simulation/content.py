"""What a plant or a file consists of, as text: equal texts mean equal graphs, which is what a kernel's key needs."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from hashlib import sha256
from typing import Any

from armsim.expr import Table
from armsim.formulas.formula import Formula
from armsim.plant import Plant


def content_of(x: Any) -> str:
    """The content of a plant or of a part of one; empty if it has a part without content, such as a function."""
    parts: list[str] = []
    try:
        _describe(x, parts)
    except TypeError:
        return ""
    return "".join(parts)


def _describe(x: Any, parts: list[str]) -> None:
    kind = type(x)
    if isinstance(x, float):
        parts.append(f"{float(x)!r},")  # the shortest text that reads as the same double; -0.0 and 0.0 differ
    elif x is None or kind in (int, bool, str):
        parts.append(f"{x!r},")
    elif kind in (list, tuple):
        parts.append("[")
        for item in x:
            _describe(item, parts)
        parts.append("]")
    elif kind is dict:
        parts.append("{")
        for key, value in x.items():
            parts.append(f"{key!r}:")
            _describe(value, parts)
        parts.append("}")
    elif kind is Table:
        parts.append(f"Table({len(x.x)},{x.hold},{x.digest})")
    elif kind is Formula:
        parts.append(f"Formula({x.text!r})")
    elif is_dataclass(x):
        parts.append(f"{kind.__module__}.{kind.__name__}(")
        for field in fields(x):
            _describe(getattr(x, field.name), parts)
        parts.append(")")
    elif isinstance(x, tuple):  # a named one
        parts.append(kind.__name__)
        _describe(tuple(x), parts)
    elif hasattr(x, "as_quat"):  # SciPy's rotation
        _describe(x.as_quat(), parts)
    elif hasattr(x, "tobytes") and x.dtype.kind in "bif":  # NumPy's array, of no expressions
        parts.append(f"array({x.dtype.str},{x.shape},{sha256(x.tobytes()).hexdigest()})")
    else:
        raise TypeError(f"no text for {kind.__name__}")


def tables_of(plant: Plant) -> list[Table]:
    """The tables that a plant may look up, but for slopes of theirs: those in it, and the corners of its inputs."""
    return [*tables_in(plant), *(plant.loads.corner_tables if plant.integrator.locates else [])]


def tables_in(x: Any) -> list[Table]:
    """The tables in a plant, or in a part of one."""
    if isinstance(x, Table):
        return [x]
    if is_dataclass(x):
        x = [getattr(x, field.name) for field in fields(x)]
    elif isinstance(x, dict):
        x = x.values()
    elif not isinstance(x, (list, tuple)):
        return []
    return [table for part in x for table in tables_in(part)]
