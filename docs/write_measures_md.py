"""Write the tables of docs/measures.md from `armsim.measures.catalog`: `python docs/write_measures_md.py`."""

from __future__ import annotations

import re
from pathlib import Path

from armsim.measures.catalog import AGGREGATES, KINDS
from armsim.measures.kind import MeasureKind, name_of_frame

PAGE = Path(__file__).with_name("measures.md")


def names(name: str, kind: MeasureKind) -> str:
    """What a kind of measure is called: of the arm or the tool, and of a joint or a frame."""
    others = {
        "arm": [],
        "either": [f"{name}_R2"],
        "frame": [name_of_frame(name, "left_tip")],
        "contact": [f"{name}_tool_floor"],
    }[kind.of]
    return " ".join(f"`{each}`" for each in (name, *others))


def tables() -> dict[str, str]:
    """The tables by their marks."""
    docs = {name: kind.doc.replace("|", r"\|") for name, kind in KINDS.items()}
    kinds = [f"| {names(name, kind)} | {kind.unit} | {docs[name]} |" for name, kind in KINDS.items()]
    aggregates = [f"| `{name}(f)` | {kind.doc} |" for name, kind in AGGREGATES.items()]
    return {
        "kinds": "\n".join(["| name | unit | what it is |", "| --- | --- | --- |", *kinds]),
        "aggregates": "\n".join(["| aggregate | what it is |", "| --- | --- |", *aggregates]),
    }


def with_tables(page: str) -> str:
    """The page with its tables as they are today."""
    for mark, table in tables().items():
        page = re.sub(
            rf"(<!-- {mark} -->\n).*?(<!-- end -->)",
            lambda m, table=table: f"{m[1]}{table}\n{m[2]}",
            page,
            flags=re.DOTALL,
        )
    return page


if __name__ == "__main__":
    PAGE.write_text(with_tables(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
