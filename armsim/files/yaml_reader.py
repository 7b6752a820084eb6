"""YAML as armsim reads it: strict, bounded, and every value with its line and column.

PyYAML parses (in C where it can); what its scalars mean is decided here, so that `1e-3` is a number, `010` is ten and
`on` is text. Syntax errors are worded by PyYAML's parser in Python, so that messages do not depend on libyaml.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NoReturn

import yaml

from armsim.files.faults import Report, refuse
from armsim.files.foreign import foreign
from armsim.files.neighbours import look_around
from armsim.files.nodes import DEEPEST, MOST_NODES, Map, Node, Place, Scalar, Seq, clipped, shown
from armsim.files.regular_file import read_regular, readable

MOST_BYTES = 1_000_000
WORDED_BY_PYTHON = 64_000  # characters; syntax errors of larger files are worded by the parser in use

NUMBER = re.compile(r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
INFINITE = re.compile(r"([-+]?)\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
WORDS: dict[str, bool | None] = {
    "true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False,
    "null": None, "Null": None, "NULL": None, "~": None, "": None,
}  # fmt: skip
UNPRINTABLE = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
TAB = re.compile(r"^[^#\"'\t\n]*\t", re.MULTILINE)

MENDS = (
    ("mapping values are not allowed", "check the indentation of this line, and that each line holds one `key: value`"),
    ("expected <block end>", "start the keys or dashes of one list or mapping in the same column"),
    ("could not find expected ':'", "write `key: value`, with a colon and a space"),
    ("expected ',' or", "put commas between the items, and close every bracket"),
    ("end of stream", "close the quote or bracket that is left open"),
    ("expected the node content", "close the bracket that is left open, or fill in the missing value"),
    ("undefined alias", "write the value itself; an alias needs an anchor of that name above it"),
    ("cannot start any token", "put text that starts with this character in quotes"),
)


class _PythonParser(yaml.reader.Reader, yaml.scanner.Scanner, yaml.parser.Parser):
    """PyYAML's parser in Python."""

    def __init__(self, text: str) -> None:
        yaml.reader.Reader.__init__(self, text)
        yaml.scanner.Scanner.__init__(self)
        yaml.parser.Parser.__init__(self)


_CParser: Any = getattr(yaml, "CParser", None) or getattr(getattr(yaml, "cyaml", None), "CParser", None)


def read_yaml(path: str, report: Report | None = None, streams: bool = True) -> tuple[Node, bytes]:
    """The content of a YAML file.

    Args:
        path: The file; messages show it as given.
        report: Takes duplicate keys and the like, so that they are reported with the other faults of the file.
        streams: Whether it may be a stream that a command line gives; see `armsim.files.regular_file.read_regular`.

    Returns:
        The root node, and the bytes of the file.

    Raises:
        FileFaults: The file cannot be read, or is not YAML that armsim takes.
    """
    with readable(path, "a YAML file", look_around):
        raw = read_regular(path, MOST_BYTES + 1, streams)
    if (other := foreign(path, raw)) is not None:
        raise refuse(Place(path), "", "a robot or scenario file of armsim, in YAML", *other)
    return parse_yaml(raw, path, report), raw


def parse_yaml(raw: bytes | str, source: str, report: Report | None = None) -> Node:
    """The root node of YAML text.

    Args:
        raw: UTF-8 bytes, or text.
        source: What messages call it.
        report: As in `read_yaml`; without it, duplicate keys raise at once.

    Raises:
        FileFaults: It is not YAML that armsim takes.
    """
    place = Place(source)
    if len(raw) > MOST_BYTES:
        raise refuse(
            place, "", f"a file of at most {MOST_BYTES // 1000} kB", "a larger one", "check that it is the right file"
        )
    text = _decoded(raw, place)
    own = Report() if report is None else report
    root = _Composer(text, source, own).root()
    if report is None:
        own.raise_if_any()
    return root


def parse_value(text: str, source: str) -> Node:
    """The value of an option: a YAML scalar, or a list or mapping in one line; all of it stands at `source`."""
    if not text.strip():
        return Scalar(text, text, Place(source))
    report = Report()
    node = _Composer(_decoded(text, Place(source)), source, report, option=True).root()
    report.raise_if_any()
    return node


def parsed_number(text: str) -> float | None:
    """The value of a plain scalar that is a number; None for others."""
    if NUMBER.fullmatch(text):
        return float(text)
    infinite = INFINITE.fullmatch(text)
    if infinite:
        return float("nan") if infinite[1] is None else float(f"{infinite[1]}inf")
    return None


@lru_cache(maxsize=1024)  # keys, types and small numbers come again and again
def resolved(text: str) -> str | float | bool | None:
    """The value of a plain scalar."""
    if text in WORDS:
        return WORDS[text]
    number = parsed_number(text)
    return text if number is None else number


def _decoded(raw: bytes | str, place: Place) -> str:
    if isinstance(raw, str):
        text = raw
    else:
        try:
            text = raw.decode("utf-8")
        except UnicodeDecodeError as error:
            before = raw[: error.start]
            line = before.count(b"\n") + 1
            column = len(before[before.rfind(b"\n") + 1 :].decode("utf-8", "replace")) + 1
            raise refuse(
                Place(place.source, line, column),
                "",
                "text in UTF-8",
                f"the byte 0x{raw[error.start]:02x}",
                "save the file as UTF-8 in your editor",
            ) from None
    text = text.removeprefix("\ufeff")
    bad = UNPRINTABLE.search(text)
    if bad:
        raise refuse(
            _place_of(text, bad.start(), place),
            "",
            "printable text",
            f"the character U+{ord(bad[0]):04X}",
            "take the character out",
        )
    tab = TAB.search(text)
    if tab:
        raise refuse(
            _place_of(text, tab.end() - 1, place),
            "",
            "spaces",
            "a tab",
            "replace every tab by spaces; YAML allows no tabs in its indentation",
        )
    return text


def _place_of(text: str, index: int, place: Place) -> Place:
    return Place(place.source, text.count("\n", 0, index) + 1, index - text.rfind("\n", 0, index))


class _Composer:
    """Composes nodes from parser events, within bounds of size and depth."""

    def __init__(self, text: str, source: str, report: Report, option: bool = False) -> None:
        self.text = text
        self.source = source
        self.report = report
        self.option = option
        self.anchors: dict[str | None, Node] = {}
        self.count = 0

    def root(self) -> Node:
        """The only document's root."""
        parser = _PythonParser(self.text) if _CParser is None else _CParser(self.text)
        self._next: Callable[[], Any] = parser.get_event
        try:
            self._next()  # the stream begins
            if isinstance(self._next(), yaml.StreamEndEvent):
                mend = "fill it in; `armsim list -v` names files to start from"
                self._refuse(Place(self.source, 1, 1), "a mapping of keys and values", "an empty file", mend)
            root = self._node(self._next(), 1, "")
            self._next()  # the document ends
            event = self._next()
            if not isinstance(event, yaml.StreamEndEvent):
                place = self._place(event)
                self._refuse(place, "one document", "a second one", "take out the line `---` and what follows it")
        except yaml.YAMLError as error:
            self._syntax(error)
        return root

    def _place(self, event: Any) -> Place:
        if self.option:
            return Place(self.source)
        mark = event.start_mark
        return Place(self.source, mark.line + 1, mark.column + 1)

    def _refuse(self, place: Place, expected: str, found: str, mend: str, path: str = "") -> NoReturn:
        raise refuse(Place(self.source) if self.option else place, path, expected, found, mend)

    def _node(self, event: Any, depth: int, path: str) -> Node:
        place = self._place(event)
        self.count += 1
        if isinstance(event, yaml.AliasEvent):
            aliased = self.anchors.get(event.anchor)
            if aliased is None:
                self._refuse(
                    place,
                    "an alias of an anchor above it",
                    f"*{clipped(str(event.anchor))}",
                    "write the value itself, or an anchor of that name",
                    path,
                )
            self.count += aliased.size
        if self.count > MOST_NODES:
            self._refuse(
                place,
                f"at most {MOST_NODES} values, aliases written out",
                "more of them",
                "check that it is the right file",
            )
        if isinstance(event, yaml.AliasEvent):
            return self.anchors[event.anchor]
        if event.tag not in (None, "!"):
            self._refuse(
                place,
                "a value without a tag",
                clipped(event.tag),
                "take the tag out; put text in quotes",
                path,
            )
        if isinstance(event, yaml.ScalarEvent):
            made: Node = self._scalar(event, place)
        else:
            if depth >= DEEPEST:
                self._refuse(place, f"at most {DEEPEST} levels of nesting", "a deeper one", "take levels out")
            made = self._seq(depth, path, place) if isinstance(event, yaml.SequenceStartEvent) else self._map(
                depth, path, place
            )  # fmt: skip
        if event.anchor is not None:
            self.anchors[event.anchor] = made
        return made

    def _scalar(self, event: Any, place: Place) -> Scalar:
        text = event.value
        plain = event.style in (None, "") and event.tag is None
        return Scalar(resolved(text) if plain else text, text, place)

    def _seq(self, depth: int, path: str, place: Place) -> Seq:
        items: list[Node] = []
        while not isinstance(event := self._next(), yaml.SequenceEndEvent):
            items.append(self._node(event, depth + 1, f"{path}[{len(items)}]"))
        return Seq(items, place)

    def _map(self, depth: int, path: str, place: Place) -> Map:
        entries: dict[str, tuple[Place, Node]] = {}
        while not isinstance(event := self._next(), yaml.MappingEndEvent):
            key = self._node(event, depth + 1, path)
            if not isinstance(key, Scalar):
                self._refuse(key.place, "a key in one word", shown(key), "write `key: value`", path)
            name = key.text
            inner = f"{path}.{clipped(name)}" if path else clipped(name)
            value = self._node(self._next(), depth + 1, inner)
            if name in entries:
                first = entries[name][0]
                self.report.add(
                    self._place(event),
                    inner,
                    f"each key once in a mapping (the first `{clipped(name)}` is on line {first.line})"
                    if first.line
                    else "each key once in a mapping",
                    f"a second `{clipped(name)}`",
                    "take one of them out",
                )
            else:
                entries[name] = (key.place, value)
        return Map(entries, place)

    def _syntax(self, error: yaml.YAMLError) -> NoReturn:
        """Raise the fault of a file that is not YAML."""
        if _CParser is not None and len(self.text) <= WORDED_BY_PYTHON:
            parser, depth = _PythonParser(self.text), 0  # whose time grows with the square of the depth
            try:
                while depth <= DEEPEST and parser.check_event():
                    event = parser.get_event()
                    depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            except yaml.YAMLError as worded:
                error = worded
        mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
        problem = getattr(error, "problem", None) or getattr(error, "context", None) or str(error)
        place = Place(self.source, mark.line + 1, mark.column + 1) if mark is not None else Place(self.source, 1, 1)
        mend = "check the indentation, colons, quotes and brackets here and just above"
        for sign, advice in MENDS:
            if sign in problem:
                mend = advice
                break
        self._refuse(place, "YAML", clipped(problem.removeprefix("found "), 90), mend)
