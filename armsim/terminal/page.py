"""A page of Markdown as text for a terminal."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator

from armsim.terminal.streams import bold
from armsim.text_columns import aligned

ITEM = re.compile(r"(?P<indent> *)(?P<mark>- |\d+\. )")
INLINE = (
    (re.compile(r"!\[([^\]]*)\]\([^)]*\)"), r"(picture: \1)"),
    (re.compile(r"\[([^\]]*)\]\([^)]*\)"), r"\1"),
    (re.compile(r"<sub>(.*?)</sub>"), r"_\1"),
    (re.compile(r"\*\*(.+?)\*\*", re.DOTALL), r"\1"),
)


def page(text: str, width: int) -> str:
    """Markdown as text: paragraphs filled, tables laid out, code as it stands, without links and comments.

    Args:
        text: Headings, paragraphs, lists, tables, fenced and indented code.
        width: Characters of a line; code may be wider.
    """
    return "\n\n".join(_laid_out(block, width) for block in _blocks(text)) + "\n"


def _blocks(text: str) -> Iterator[list[str]]:
    """The lines of each heading, item, paragraph, table and piece of code."""
    block: list[str] = []
    fenced = False
    for line in re.sub(r"^<!--.*?-->\n", "", text, flags=re.DOTALL | re.MULTILINE).splitlines():
        begins = line.startswith(("```", "#")) or ITEM.match(line) is not None
        if block and not fenced and (begins or not line.strip() or block[0].startswith("#")):
            yield block
            block = []
        if fenced or line.strip():
            block.append(line)
        if line.startswith("```"):
            fenced = not fenced
            if not fenced:
                yield block
                block = []
    if block:
        yield block


def _laid_out(block: list[str], width: int) -> str:
    first = block[0]
    if first.startswith("```"):
        return textwrap.indent("\n".join(block[1:-1]), "    ")
    if first.startswith("    "):
        return "\n".join(block)
    if first.startswith("#"):
        marks, _, title = _plain(first).partition(" ")
        rule = {1: "=", 2: "-"}.get(len(marks))
        return bold(title) + (f"\n{rule * len(title)}" if rule else "")
    if first.startswith("|"):
        rows = [[_plain(cell.strip()).replace(r"\|", "|") for cell in _cells(line)] for line in block]
        return "\n".join(aligned([rows[0], *rows[2:]], width=width, ruled=True))
    text = _plain(" ".join(line.strip() for line in block))
    item = ITEM.match(first)
    indent = item["indent"] if item else ""
    hang = indent + " " * len(item["mark"] if item else "")
    return textwrap.fill(
        text, width, initial_indent=indent, subsequent_indent=hang, break_long_words=False, break_on_hyphens=False
    )


def _plain(text: str) -> str:
    for pattern, replacement in INLINE:
        text = pattern.sub(replacement, text)
    return text


def _cells(line: str) -> list[str]:
    return re.split(r"(?<!\\)\|", line.strip())[1:-1]
