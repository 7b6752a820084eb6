"""Plain data as readable YAML that reads back to the same data."""

from __future__ import annotations

from textwrap import indent
from typing import Any

import yaml

from armsim.files.yaml_reader import resolved

WIDTH = 110  # of a list or mapping in one line, as Python prints it
NEVER = 2**30  # columns: long text is not folded
WORDS = frozenset("yYnN")  # booleans in YAML 1.1

_Emitter: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


def yaml_text(data: Any, comment: str = "") -> str:
    """A YAML document.

    Args:
        data: Dicts with text as keys, lists, text, numbers, bool, None.
        comment: Printed above it, line by line.
    """
    root: Any = _Representer(sort_keys=False).represent_data(data)
    root.flow_style = False
    lines = [f"# {line}".rstrip() + "\n" for line in comment.splitlines()]
    return "".join(lines) + yaml.serialize(root, Dumper=_Emitter, width=NEVER, allow_unicode=True)


def block(key: str, data: Any) -> str:
    """A key of a document with its data below it, a key or a list of numbers a line."""
    return f"{key}:\n{indent(yaml_text(data), '  ').rstrip()}"


def in_one_line(data: Any) -> str:
    """Data as YAML in one line, to stand in a document."""
    root: Any = _Representer(sort_keys=False, default_flow_style=True).represent_data(data)
    _flow(root)
    text = yaml.serialize(root, Dumper=_Emitter, width=NEVER, allow_unicode=True, explicit_end=False)
    return text.removesuffix("...\n").rstrip("\n")


def _flow(node: Any) -> None:
    """Write a node and all in it in brackets."""
    if isinstance(node, yaml.CollectionNode):
        node.flow_style = True
        for item in node.value:
            for part in item if isinstance(item, tuple) else (item,):
                _flow(part)


class _Representer(yaml.representer.SafeRepresenter):
    """Flow style for what fits on one line and for lists of numbers; quotes for text that would not read back as text."""

    def ignore_aliases(self, data: Any) -> bool:
        return True

    def text(self, data: str) -> yaml.ScalarNode:
        data = data.encode(errors="surrogateescape").decode(
            errors="backslashreplace"
        )  # bytes of names that are no text
        plain = isinstance(resolved(data), str) and data not in WORDS and data.isprintable()
        return self.represent_scalar("tag:yaml.org,2002:str", data, style=None if plain else '"')

    def list(self, data: Any) -> yaml.SequenceNode:
        numbers = all(isinstance(x, (int, float)) for x in data)
        return self.represent_sequence("tag:yaml.org,2002:seq", data, flow_style=numbers or len(repr(data)) < WIDTH)

    def mapping(self, data: dict[str, Any]) -> yaml.MappingNode:
        return self.represent_mapping("tag:yaml.org,2002:map", data, flow_style=len(repr(data)) < WIDTH)


_Representer.add_representer(str, _Representer.text)
_Representer.add_representer(list, _Representer.list)
_Representer.add_representer(tuple, _Representer.list)
_Representer.add_representer(dict, _Representer.mapping)
