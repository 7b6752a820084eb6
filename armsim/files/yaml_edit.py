"""YAML text with other data, in which all that stays the same stays as it is written: numbers, comments, order and layout."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import takewhile
from typing import Any

import yaml

from armsim.files.yaml_reader import resolved
from armsim.files.yaml_writer import in_one_line, yaml_text

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
Span = tuple[int, int]  # from here up to there in a text


def edited(text: str, data: Any) -> str:
    """YAML text with other data. An alias stays where it still says what its anchor says; elsewhere its data are written out.

    Args:
        text: YAML that armsim has read.
        data: What it is to say: dicts with text as keys, lists, text, numbers, bool, None.
    """
    root: Any = yaml.compose(text, Loader=_Aliased)
    if _plain(root) == data:
        return text
    edit = _Edit(text)
    edit.change(root, data)
    found = edit.text()
    return found if says(found, data) else yaml_text(data)


def says(text: str, data: Any, place: tuple[int, int] | None = None) -> bool:
    """Whether YAML text says some data, whatever it is for None; with a place, whether its root stands there, from 1."""
    try:
        root = yaml.compose(text, Loader=_Loader)
    except yaml.YAMLError:
        return False
    here = None if root is None else (root.start_mark.line + 1, root.start_mark.column + 1)
    return root is not None and place in (None, here) and (data is None or bool(_plain(root) == data))


class _Alias(yaml.ScalarNode):
    """A place that says what its `value` says, the node with the anchor."""


class _Aliased(yaml.SafeLoader):
    """Keeps the places of aliases."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        event: Any = self.peek_event()
        alias = isinstance(event, yaml.AliasEvent)
        node = super().compose_node(parent, index)
        return _Alias("", node, event.start_mark, event.end_mark) if alias else node


class _Edit:
    """Changes of a text.

    Attributes:
        parts: What takes the place of each span that changes.
        data: What each node is to say that has been visited, by its identity.
    """

    def __init__(self, text: str) -> None:
        self.before = text
        self.line = "\r\n" if "\r\n" in text else "\n"
        self.parts: list[tuple[Span, str]] = []
        self.data: dict[int, Any] = {}

    def text(self) -> str:
        """The text with its changes."""
        text = self.before
        for (start, end), part in sorted(self.parts, reverse=True):
            text = text[:start] + part + text[end:]
        return text

    def change(self, node: Any, data: Any) -> None:
        """Make a node say something, and visit all nodes in it."""
        self.data[id(node)] = data
        if isinstance(node, _Alias):
            if self.data.get(id(node.value)) != data:
                self.parts.append((self._span(node), in_one_line(data)))
        elif (
            isinstance(node, yaml.MappingNode)
            and isinstance(data, dict)
            and any(key.value in data for key, _ in node.value)
        ):
            self._change_mapping(node, data)
        elif isinstance(node, yaml.SequenceNode) and isinstance(data, list) and node.value and data:
            self._change_list(node, data)
        elif _plain(node) != data:
            start, end = self._span(node)
            anchor = re.compile(r"&\S+\s*").match(self.before, start, end)
            start = anchor.end() if anchor else start
            self.parts.append(((start, end), " " * (start == end) + in_one_line(data)))

    def _change_mapping(self, node: yaml.MappingNode, data: dict[str, Any]) -> None:
        for key, value in node.value:
            if key.value in data:
                self.change(value, data[key.value])
        known = {key.value for key, _ in node.value}
        spans = [(self._span(key)[0], self._span(value)[1]) for key, value in node.value]
        more = [f"{in_one_line(key)}: {in_one_line(value)}" for key, value in data.items() if key not in known]
        self._splice(
            node, spans, [i for i, (key, _) in enumerate(node.value) if key.value not in data], len(spans), more
        )

    def _change_list(self, node: yaml.SequenceNode, data: list[Any]) -> None:
        before = [_plain(item) for item in node.value]
        shorter = min(len(before), len(data))
        head = _same(zip(before, data, strict=False))
        tail = min(_same(zip(before[::-1], data[::-1], strict=False)), shorter - head)
        old, new = list(range(head, len(before) - tail)), data[head : len(data) - tail]
        at = head + min(len(old), len(new))
        kept = [*zip(node.value[:at], data, strict=False)]
        for item, value in [*kept, *zip(node.value[len(before) - tail :], data[len(data) - tail :], strict=True)]:
            self.change(item, value)
        dash = "" if node.flow_style else "- "
        spans = [(self._dash(node, item), self._span(item)[1]) for item in node.value]
        self._splice(node, spans, old[len(new) :], at, [dash + in_one_line(value) for value in new[len(old) :]])

    def _splice(self, node: Any, spans: Sequence[Span], removed: Sequence[int], at: int, more: Sequence[str]) -> None:
        """Take entries of a mapping or a list out, and put others before the one at an index."""
        kept = [i for i in range(len(spans)) if i not in removed]
        last = kept[-1] if kept else -1
        for i in removed:
            start, end = spans[i]
            line = self.before.rfind("\n", 0, start) + 1
            if node.flow_style or self.before[line:start].strip():  # beside the dash of a list's item
                if i < last:
                    self.parts.append(((start, spans[i + 1][0]), ""))
                elif i == last + 1:  # with all that follow
                    self.parts.append(((spans[last][1], spans[-1][1]), ""))
            else:
                after = self._line_end(end)
                self.parts.append(((line, min(after + len(self.line), len(self.before))), ""))
        if not more:
            return
        anchor = max((i for i in kept if i < at), default=None)
        if node.flow_style:
            text = (
                "".join(f", {entry}" for entry in more)
                if anchor is not None
                else "".join(f"{entry}, " for entry in more)
            )
            place = spans[0][0] if anchor is None else spans[anchor][1]
        else:
            first = spans[0][0]
            indent = " " * (first - self.before.rfind("\n", 0, first) - 1)
            text = "".join(f"{self.line}{indent}{entry}" for entry in more)
            place = self._line_end(spans[anchor][1]) if anchor is not None else first
            if anchor is None:
                text = "".join(f"{entry}{self.line}{indent}" for entry in more)
        self.parts.append(((place, place), text))

    def _dash(self, node: yaml.SequenceNode, item: yaml.Node) -> int:
        """Where an item of a list begins: at its dash, if it has one."""
        start = int(item.start_mark.index)
        return start if node.flow_style else self.before.rfind("-", 0, start)

    def _span(self, node: Any) -> Span:
        """Where a node stands; one without brackets ends with the last that is in it, lines of text before their last break."""
        start, end = int(node.start_mark.index), int(node.end_mark.index)
        if isinstance(node, yaml.CollectionNode) and node.value and not node.flow_style:
            last = node.value[-1]
            end = self._span(last[1] if isinstance(last, tuple) else last)[1]
        while end > start and self.before[end - 1] in "\r\n":
            end -= 1
        return start, end

    def _line_end(self, index: int) -> int:
        found = self.before.find(self.line, index)
        return len(self.before) if found < 0 else found


def _same(pairs: Any) -> int:
    """How many pairs there are before two differ."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _plain(node: Any) -> Any:
    """What a node says."""
    if isinstance(node, _Alias):
        return _plain(node.value)
    if isinstance(node, yaml.MappingNode):
        return {str(key.value): _plain(value) for key, value in node.value}
    if isinstance(node, yaml.SequenceNode):
        return [_plain(item) for item in node.value]
    return node.value if node.style else resolved(node.value)
