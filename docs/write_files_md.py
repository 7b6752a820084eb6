"""Write the tables of docs/files.md from the declarations of the formats: `python docs/write_files_md.py`."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from armsim.document.bodies import BODIES, Payloads
from armsim.document.composite import ByName, List, OneOf, Parameters, PerJoint, Subdocument
from armsim.document.control import RobotReference
from armsim.document.dry_friction import DryFriction
from armsim.document.joint import FRAMES, Frame
from armsim.document.kinds import REQUIRED, Choice, Flag, Kind, Number, Text
from armsim.document.robot import ROOT as ROBOT
from armsim.document.scenario import ROOT as SCENARIO
from armsim.document.scenario import Signal
from armsim.document.study import Minimised
from armsim.formulas.bounds import BOUNDS, Bounds
from armsim.formulas.quantity import plain_number
from armsim.formulas.units import ROWS

PAGE = Path(__file__).with_name("files.md")
HEAD = "| key | value | default | meaning |\n| --- | --- | --- | --- |"


def tables(section: Subdocument[Any], path: str = "") -> Iterator[str]:
    """The table of a document, and those of the documents within it."""
    fields = section.of.fields
    rows = [row(name, kind) for name, kind in fields.items()]
    if path:
        yield f"### `{path}`\n\n{inspect.getdoc(section.of)}\n\n{HEAD}\n" + "\n".join(rows)
    else:
        yield f"{HEAD}\n" + "\n".join(rows)
    for name, kind in fields.items():
        inner = f"{path}.{name}" if path else name
        if isinstance(kind, List) and isinstance(kind.item, Subdocument):
            yield from tables(kind.item, f"{inner}[]")
        elif isinstance(kind, List) and isinstance(kind.item, OneOf):
            yield f"### `{inner}[]`\n\n" + shapes()
        elif name == "tool":
            pass  # as `base`
        elif isinstance(kind, Subdocument) and kind.of is Frame:
            yield next(tables(kind, inner)).replace("### `base`", "### `base` and `tool`")
        elif isinstance(kind, Subdocument):
            yield from tables(kind, inner)
        elif isinstance(kind, (ByName, Payloads)):
            yield from tables(kind.item, f"{inner}.NAME" if isinstance(kind, ByName) else f"{inner}[]")
        elif isinstance(kind, PerJoint) and isinstance(kind.item, Signal) and name == "torque":
            title = f"### `{inner}[]` and `{inner.replace('torque', 'voltage')}[]`, from a file"
            yield next(tables(kind.item.csv, inner)).replace(f"### `{inner}`", title)


def shapes() -> str:
    """One table of the keys of all bodies."""
    rows: dict[str, list[str]] = {}
    for shape, body in BODIES.items():
        for name, kind in body.of.fields.items():
            rows.setdefault(row(name, kind), []).append(f"`{shape}`")
    everywhere = f"all of these: {', '.join(f'`{shape}`' for shape in BODIES)}"
    lines = [f"| {everywhere if len(of) == len(BODIES) else ', '.join(of)} {text}" for text, of in rows.items()]
    lines.sort(key=lambda line: not line.startswith("| all"))
    return "| body | key | value | default | meaning |\n| --- | --- | --- | --- | --- |\n" + "\n".join(lines)


def row(name: str, kind: Kind[Any]) -> str:
    """The line of one key."""
    return f"| `{name}` | {value(kind)} | {default(kind)} | {meaning(name, kind)} |"


def meaning(name: str, kind: Kind[Any]) -> str:
    """What a key means."""
    doc = kind.doc
    if isinstance(kind, Subdocument) and name in FRAMES:
        doc = f"the joint's frame, **required** {doc}"
    return doc.replace("|", "\\|")


def value(kind: Kind[Any]) -> str:
    """What a key takes."""
    if isinstance(kind, Number):
        units = (kind.unit or "number").split(" or ")
        units[1:1] = [units[0].replace("rad", "°")] if kind.angle else []
        if isinstance(kind, DryFriction):
            return f"{' or '.join(units)}; or keys {' and '.join(f'`{side}`' for side in kind.sides.of.fields)}"
        return f"{', '.join(units[:-1])} or {units[-1]}" if len(units) > 1 else units[0]
    if isinstance(kind, Flag):
        return "`true` `false`"
    if isinstance(kind, Choice):
        return " ".join(f"`{option}`" for option in kind.options)
    if isinstance(kind, Text):
        return "name" if kind.name else "text"
    if isinstance(kind, List) and isinstance(kind.item, Number):
        many = f"{kind.length or 'list'} {'×' if kind.length else 'of'} {value(kind.item)}"
        return f"{value(kind.item)}, or {many}" if kind.single else many
    if isinstance(kind, List):
        return "keys, below, or a list" if kind.single else "list"
    if isinstance(kind, PerJoint):
        inner = kind.item.number.unit if isinstance(kind.item, Signal) else value(kind.item)
        return f"{inner}; {'one, or one per joint' if kind.one_for_all else 'one per joint'}"
    if isinstance(kind, Parameters):
        return "name: number"
    if isinstance(kind, Payloads):
        return "`{mass, center}`, a body, or a list"
    if isinstance(kind, OneOf):
        return "a body"
    if isinstance(kind, ByName):
        return "name: keys, below"
    if isinstance(kind, RobotReference):
        return "text, or keys"
    if isinstance(kind, Minimised):
        return f"formula of {kind.what}s, or name: weight"
    assert isinstance(kind, Subdocument)
    return "keys, below"


def default(kind: Kind[Any]) -> str:
    """What is taken where a key is left out."""
    if kind.default is REQUIRED:
        return "**required**"
    given: Any = kind.default
    if isinstance(kind, Subdocument) and given == {} and not kind.note:
        return "as below"
    if kind.note or given in (None, {}, ()):
        return kind.note.replace("required", "**required**") or "none"
    if isinstance(given, tuple):
        return f"`[{', '.join(plain_number(x) for x in given)}]`"
    if isinstance(given, float):
        return f"`{plain_number(given)}`"
    return f"`{str(given).lower() if isinstance(given, bool) else given}`"


def bounds() -> str:
    """The table of the bounds of numbers: units with the same bounds in a line."""
    units: dict[Bounds, list[str]] = {}
    for unit, pair in BOUNDS.items():
        units.setdefault(pair, []).append(unit or "no unit")
    lines = [f"| {'; '.join(of)} | {pair.largest:g} | {pair.least:g} |" for pair, of in units.items()]
    return "| unit | largest magnitude | least, where 0 is refused |\n| --- | --- | --- |\n" + "\n".join(lines)


def units() -> str:
    """The table of the units that may stand behind a number."""
    lines = "\n".join(f"| {what} | {names} |" for what, names in ROWS)
    return f"| of | units |\n| --- | --- |\n{lines}"


def with_tables(page: str) -> str:
    """The page with its tables as the declarations have them today; all else is written by hand."""
    made = {"robot keys": "\n\n".join(tables(ROBOT)), "scenario keys": "\n\n".join(tables(SCENARIO))}
    for name, body in (made | {"bounds": bounds(), "units": units()}).items():
        end = name.split()[-1]
        pattern = rf"(<!-- {name}, by docs/write_files_md.py -->\n).*?(<!-- end of {end} -->)"
        page, count = re.subn(pattern, lambda m, body=body: f"{m[1]}\n{body}\n{m[2]}", page, flags=re.DOTALL)  # type: ignore[misc]
        assert count == 1, f"{PAGE.name} has lost the place of its {name}"
    return page


if __name__ == "__main__":
    PAGE.write_text(with_tables(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
