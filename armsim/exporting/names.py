"""Identifiers: names of joints, paths and files as languages take them."""

from __future__ import annotations

import re
from collections.abc import Iterable

LONGEST = 50  # letters; Fortran takes 63, and functions add theirs


def words(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


def identifier(text: str, reserved: Iterable[str] = ()) -> str:
    """A text as an identifier: "payload.mass" as payload_mass, "2R" as x2R, a reserved word with a `_` behind it."""
    name = re.sub(r"[^A-Za-z0-9]+", "_", text).strip("_") or "x"
    name = name if name[0].isalpha() else f"x{name}"
    name = name[:LONGEST]
    return f"{name}_" if name.lower() in reserved else name


def identifiers(texts: Iterable[str], reserved: Iterable[str] = ()) -> list[str]:
    """Texts as identifiers that differ, in any case: "a-b" and "A_b" as a_b and A_b_2."""
    taken = set(reserved)
    found = []
    for text in texts:
        name = first = identifier(text, reserved)
        count = 1
        while name.lower() in taken:
            count += 1
            name = f"{first}_{count}"
        taken.add(name.lower())
        found.append(name)
    return found
