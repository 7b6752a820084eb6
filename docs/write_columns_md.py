"""Write the tables of docs/columns.md from `armsim.plant.column_kinds`: `python docs/write_columns_md.py`."""

from __future__ import annotations

import re
from pathlib import Path

from armsim.model import JOINT_TYPES
from armsim.plant.column_kinds import FILES, KINDS, ColumnKind
from armsim.plant.columns import heading_of, in_degrees

PAGE = Path(__file__).with_name("columns.md")
REVOLUTE, PRISMATIC = JOINT_TYPES["revolute"], JOINT_TYPES["prismatic"]

NAMES = {
    "frames": "left_tip",
    "wrenches": "left_tip",
    "contacts": "left_tip",
    "distances": "R5_floor",
}  # of what is logged


def parts(kind: ColumnKind) -> list[str]:
    """The headings of a kind that is of no joint: of the frame left_tip, say, where it is logged."""
    split = [text.partition("_") for text in (kind.parts or {}).values()]
    return [heading_of(prefix, NAMES.get(kind.logged, ""), unit)[0] for prefix, _, unit in split]


def headings(kind: ColumnKind) -> str:
    """What a kind of column is called, of a joint that turns and of one that slides."""
    if kind.parts is not None:
        return " ".join(f"`{text}`" for text in parts(kind))
    texts = [
        heading_of(kind.prefix, "R1", kind.unit(REVOLUTE))[0],
        heading_of(kind.prefix, "P1", kind.unit(PRISMATIC))[0],
    ]
    return f"`{texts[0]}`" if kind.unit(REVOLUTE) == kind.unit(PRISMATIC) else " ".join(f"`{text}`" for text in texts)


def degrees(kind: ColumnKind) -> str:
    """What it is called with `--deg`."""
    plain = parts(kind) or [heading_of(kind.prefix, "R1", kind.unit(REVOLUTE))[0]]
    turned = [text for text in map(in_degrees, plain) if text]
    return " ".join(f"`{text}`" for text in turned) or "the same"


def owner(kind: ColumnKind) -> str:
    """Whose it is, where not every joint's or the whole arm's."""
    if kind.logged:
        return f"of each of `log.{kind.logged}`: "
    if kind.only:
        return {"follows": "where there is a `control.reference`: ", "sprung": "where any joint has a `spring`: "}[
            kind.only
        ]
    return {"motors": "of every joint with an electric motor: ", "followers": "of every joint with a `mimic`: "}.get(
        kind.of, ""
    )


def table(file: str) -> str:
    """The columns of a file."""
    rows = [
        f"| {headings(kind)} | {degrees(kind)} | {owner(kind)}{kind.doc} |"
        for kind in KINDS.values()
        if kind.file == file
    ]
    return "\n".join(["| heading | with `--deg` | what it is |", "| --- | --- | --- |", *rows])


def with_tables(page: str) -> str:
    """The page with its tables as they are today."""
    for file in FILES:
        mark = rf"(<!-- {file} -->\n).*?(\n<!-- end -->)"
        page = re.sub(mark, lambda m, file=file: f"{m[1]}{table(file)}{m[2]}", page, flags=re.DOTALL)
    return page


if __name__ == "__main__":
    PAGE.write_text(with_tables(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
