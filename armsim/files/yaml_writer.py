"""Plain data as YAML that people can read, and that reads back to the same data.

PyYAML's own writer leaves numbers like `1e-05` in a form that it reads back as text; here every float has a point and a
signed exponent, which every reader of YAML takes for a number.
"""

from __future__ import annotations

import math
import re
from typing import Any

from armsim.files.yaml_reader import resolved

WIDTH = 110
PLAIN = re.compile(r"[A-Za-z_/.][\w/.\-+*() ]*")
# words that are something else than text to readers of YAML 1.1, or look like it
SPECIAL = re.compile(r"(?i)(y|n|yes|no|on|off|true|false|null|~|[-+]?\.inf|\.nan|.*\s|.*\s#.*)")
ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def yaml_text(data: Any, comment: str = "") -> str:
    """A YAML document.

    Args:
        data: Dicts with text as keys, lists, text, numbers, bool, None.
        comment: Printed above it, line by line.
    """
    lines = [f"# {line}".rstrip() for line in comment.splitlines()]
    if isinstance(data, (dict, list)) and data:
        _block(data, 0, lines)
    else:
        lines.append(_flow(data))
    return "\n".join(lines) + "\n"


def number_text(x: float) -> str:
    """A number in the fewest digits that read back to the same double."""
    if isinstance(x, int):
        return str(x)
    if math.isnan(x):
        return ".nan"
    if math.isinf(x):
        return ".inf" if x > 0 else "-.inf"
    text = repr(x)
    mantissa, e, exponent = text.partition("e")
    if not e:
        return text.removesuffix(".0") if text != "-0.0" else text
    return f"{mantissa}{'' if '.' in mantissa else '.0'}e{exponent if exponent[0] in '+-' else f'+{exponent}'}"


def _block(data: Any, indent: int, lines: list[str]) -> None:
    """A mapping or a list, one item per line; what fits goes on one line."""
    margin = " " * indent
    pairs = [(f"{_text(str(k))}:", v) for k, v in data.items()] if isinstance(data, dict) else [("-", v) for v in data]
    for head, value in pairs:
        flat = _flow(value)
        fits = len(margin) + len(head) + len(flat) < WIDTH
        if not isinstance(value, (dict, list)) or not value or (fits and _is_shallow(value)):
            lines.append(f"{margin}{head} {flat}")
        elif head == "-":
            inner: list[str] = []
            _block(value, indent + 2, inner)
            lines.append(f"{margin}- {inner[0].lstrip()}")
            lines.extend(inner[1:])
        else:
            lines.append(f"{margin}{head}")
            _block(value, indent + 2, lines)


def _is_shallow(value: Any) -> bool:
    """Whether it reads well on one line: at most lists of numbers in it, or one mapping of them."""
    items = value.values() if isinstance(value, dict) else value
    return all(not isinstance(item, dict) or len(value) == 1 for item in items) and all(
        not isinstance(item, (dict, list)) or _is_shallow(item) for item in items
    )


def _flow(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_text(str(k))}: {_flow(v)}" for k, v in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_flow(v) for v in value) + "]"
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return number_text(value)
    return _text(str(value))


def _text(text: str) -> str:
    """Text, in quotes where YAML would take it for something else."""
    if PLAIN.fullmatch(text) and isinstance(resolved(text), str) and not SPECIAL.fullmatch(text) and text[0] != ".":
        return text
    escaped = "".join(ESCAPES.get(c, c if c.isprintable() else _escape(c)) for c in text)
    return f'"{escaped}"'


def _escape(c: str) -> str:
    code = ord(c)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
