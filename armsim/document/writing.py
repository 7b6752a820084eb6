"""Documents as YAML: those of a file as it is written, but for what has changed; comments stay."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from armsim.document.base import Document, walk, written
from armsim.files.new_file import check_output, output_file
from armsim.files.nodes import Place, data_of
from armsim.files.plain_data import nodes_of
from armsim.files.yaml_edit import edited, says
from armsim.files.yaml_writer import yaml_text


def save(document: Document, path: str | os.PathLike[str], force: bool = False) -> None:
    """Write a document to a file: one that was read from a file with the comments and the layout of that file.

    Args:
        document: A robot, a scenario or a study.
        path: The file; the names of other files are made relative to its folder.
        force: Whether to replace a file that exists.

    Raises:
        FileFaults: The document is too large, or contains itself.
        UsageError: The file exists, or cannot be written.
    """
    text = text_of(document, os.path.dirname(os.path.abspath(path)))
    check_output(os.fspath(path), force=force)
    with output_file(path) as file:
        file.write(text.encode())


def text_of(document: Document, folder: str | None = None) -> str:
    """The YAML of a document; of one that was read from a file the text of that file, but for what has changed.

    A file that says something else by now is not followed, nor one of which the document is a part.

    Args:
        document: A robot, a scenario or a study, or a part of one.
        folder: From which files are to be named; that of its file unless given.

    Raises:
        FileFaults: The document is too large, or contains itself.
    """
    nodes_of(document, Place(f"<{type(document).__name__.lower()}>"))  # within the bounds of a file
    root = None if document.node is None else data_of(document.node)
    return rewritten(document, said(document, folder), root)


def rewritten(document: Document, data: Any, before: Any = None) -> str:
    """YAML of some data, in the text of a document's file where that is a whole file.

    Args:
        document: The document.
        data: The data.
        before: What the text of the file must say; whatever it says unless given.
    """
    place = None if document.node is None else document.place
    if place is None or not os.path.isfile(place.source):
        return yaml_text(data)
    with open(place.source, encoding="utf-8", errors="replace", newline="") as file:
        text = file.read()
    mark = text[: text.startswith("\ufeff")]
    same = says(text.removeprefix(mark), before, (place.line, place.column))
    return mark + edited(text.removeprefix(mark), data) if same else yaml_text(data)


def said(value: Any, folder: str | None = None) -> Any:
    """What a value tells as plain data, in the words of its file where it was read from one and has not been changed.

    Args:
        value: A document, or what is in one.
        folder: From which files are to be named; that of the file in which they are named unless given.
    """
    if isinstance(value, Document) and value.node is not None:
        keys = dict.fromkeys([*value.keys_in_file, *value.entries])
        told = {key: _said_at(value, key, folder) for key in keys if value.tells(key) or _is_empty(value, key)}
        return {value.tag: told} if value.tag else told
    if hasattr(value, "as_data"):
        value = value.as_data()
    if isinstance(value, Mapping):
        return {key: said(item, folder) for key, item in value.items()}
    return [said(item, folder) for item in value] if isinstance(value, (list, tuple)) else written(value)


def _is_empty(document: Document, key: str) -> bool:
    """Whether a key stands in the file without a value, and still has none."""
    return key in document.keys_in_file and not document.given(key) and document.untouched(key)


def _said_at(document: Document, key: str, folder: str | None) -> Any:
    if key not in document.keys_in_file or not document.untouched(key):
        return said(document.entries[key], folder)
    absolute, node = document.file_at(key), document.value_node(key)
    if folder in (None, os.path.dirname(os.path.abspath(document.place.source))):
        return data_of(node)
    if absolute is None:
        value = document.entries[key]
        return said(value, folder) if any(isinstance(part, Document) for _, part, _ in walk(value)) else data_of(node)
    try:
        return os.path.relpath(absolute, folder).replace(os.sep, "/")
    except ValueError:  # on another drive
        return absolute
