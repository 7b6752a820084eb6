"""What an armsim that was killed left where it wrote a folder, and how a folder is moved, kept and removed without loss.

Nothing is removed here but the files that such folders consist of.
"""

from __future__ import annotations

import contextlib
import os

from armsim.files.claim import Remains, abandoned, is_hidden_name
from armsim.files.exchange import rename_numbered, rename_onto_nothing
from armsim.files.folder_kind import KINDS, OF_THE_SYSTEM, PLAN, FolderKind, entries

FILES = {name for kind in KINDS for name in kind.files}
LAST = tuple(kind.files[-1] for kind in KINDS)
NAMED = 5  # files of others that a message names


def recover(kind: FolderKind, folder: str | os.PathLike[str] | None) -> list[str]:
    """Tidy up after processes that were killed while they wrote a folder, or beside it.

    Args:
        kind: What it holds.
        folder: The folder; None for a numbered one.

    Returns:
        What has changed under visible names, and what others must look after, in words.
    """
    told: list[str] = []
    try:
        target = os.path.realpath(kind.numbered if folder is None else folder)
    except OSError:
        return told
    places = [target] if folder is None else [os.path.dirname(target), target]
    for place in places:
        with abandoned(place) as dead:
            for left in dead:
                with contextlib.suppress(OSError):
                    _recover(left, place, kind.noun, told)
    return told


def _recover(left: Remains, place: str, noun: str, told: list[str]) -> None:
    """Tidy up what one process left."""
    target = os.path.join(place, left.target)
    if left.whole:
        try:
            _drop_placeholders(left.whole, place)
            move_in(left.whole, place)
            told.append(f"{place}: a {noun} that was stopped while its files were moved here is whole now")
        except FileExistsError:
            kept = put_beside(left.whole, place)
            told.append(f"{kept}: the rest of a {noun} that was stopped while it was moved to {place}")
    if left.old and not os.path.lexists(target):
        rename_onto_nothing(left.new or left.old, target)
        told.append(f"{target}: a {noun} that was stopped while it replaced an earlier one is under its name now")
    elif left.old and left.new:
        kept = put_beside(left.old, target)
        told.append(f"{kept}: an earlier {noun} that was to be replaced when armsim was stopped")
        if any(kind.holds(left.new) for kind in KINDS):  # whole and on disk: only then is the old one moved aside
            told.append(f"{put_beside(left.new, target)}: the {noun} that was to replace it")
    for path in (left.old, left.new):
        if os.path.isfile(path):
            os.remove(path)
        elif os.path.isdir(path):
            clear(path, target)
            if os.path.isdir(path):
                told.append(f"{path}: has files that armsim did not write: {named(entries(path))}; move them elsewhere")


def _drop_placeholders(whole: str, target: str) -> None:
    """Remove the empty files with which `rename_onto_nothing` took the names of files that it did not come to rename."""
    for name in os.listdir(whole):
        path = os.path.join(target, name)
        if os.path.isfile(path) and not os.path.getsize(path) and os.path.getsize(os.path.join(whole, name)):
            os.remove(path)


def move_in(whole: str, target: str) -> None:
    """Move the files of a folder into another, those that make it whole last; none of them if one of the same name is there.

    Raises:
        OSError: They cannot be moved.
    """
    moved: list[tuple[str, str]] = []
    try:
        for name in sorted(os.listdir(whole), key=lambda name: (name in LAST, name)):
            step = os.path.join(whole, name), os.path.join(target, name)
            rename_onto_nothing(*step)
            moved.append(step)
    except OSError:
        for source, there in reversed(moved):
            os.rename(there, source)
        raise
    os.rmdir(whole)


def put_beside(folder: str, target: str) -> str:
    """Rename a folder to a free name beside a target; its path."""
    return rename_numbered(folder, f"{target}-kept-")


def clear(folder: str, target: str | None) -> None:
    """Remove a folder of a kind. Files of others, which came while it was being replaced, move to the target; those that
    cannot, stay."""
    with contextlib.suppress(OSError):
        for name in sorted(os.listdir(folder), key=LAST.__contains__):  # after a kill it still says what it was
            path = os.path.join(folder, name)
            with contextlib.suppress(OSError):
                if name == PLAN.run and PLAN.holds(folder) and not os.path.islink(path):
                    clear(path, target)
                elif name in FILES or name in OF_THE_SYSTEM or is_hidden_name(name):
                    os.remove(path)
                elif target is not None:
                    rename_onto_nothing(path, os.path.join(target, name))
        os.rmdir(folder)


def named(names: list[str]) -> str:
    """Names in words, not too many."""
    more = f", and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more
