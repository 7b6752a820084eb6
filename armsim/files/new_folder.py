"""Folders of runs and plans: which may be written, and their creation all at once.

A folder is written under a hidden name, and put on disk, before it gets its own; see `armsim.files.claim`. Where nothing is under
that name, it is renamed to it. An earlier one is exchanged with it, at once where the system can. Into an empty folder the files
are moved one by one, run.yaml or plan.yaml last, so that the folder stays the one that others are in. `recover` tidies up after
processes that were killed in between.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import shutil
from collections.abc import Callable, Iterator

from armsim.errors import UsageError, refusing, spelled
from armsim.files.claim import Claim
from armsim.files.destination import Destination
from armsim.files.exchange import exchanged, rename_numbered, rename_onto_nothing
from armsim.files.folder_kind import FolderKind, entries
from armsim.files.interrupts import interrupts_later
from armsim.files.new_file import made_folder
from armsim.files.recovery import clear, move_in, named, put_beside, recover


def check_target(kind: FolderKind, destination: Destination) -> None:
    """Refuse a folder that must not be written.

    Args:
        kind: What is to be in it.
        destination: It is absent or empty, or, with force, one of this kind without files of others.

    Raises:
        UsageError: It must not be written; says why and what to do.
    """
    if destination.folder is None or not os.path.lexists(destination.folder):
        return
    path, earlier = os.fspath(destination.folder), f"an earlier {kind.noun}"
    if not os.path.isdir(path):
        raise _taken(path, "a file", "name another folder")
    with _writable(path):
        names = entries(path)
    if not names:
        return
    foreign = kind.strangers(path)
    if not kind.holds(path):
        raise _taken(path, f"a folder with other files in it: {named(foreign or names)}", "name another folder")
    if not destination.force:
        mend = f"name another folder, or add {spelled('--force', 'force=True')} to replace the {kind.noun}"
        raise _taken(path, earlier, mend)
    if foreign:
        found = f"{earlier}, and files that armsim did not write: {named(foreign)}"
        raise _taken(path, found, "move them elsewhere, or name another folder")
    if _is_here(path):
        raise _taken(path, f"{earlier} that this shell is in", "leave it first (cd ..), or name another folder")
    if os.path.ismount(path):
        raise _taken(path, f"{earlier} at the root of a file system", "name a folder in it")


def _is_here(path: str) -> bool:
    """Whether a folder is the working folder, or one that it is in."""
    real, here = os.path.realpath(path), os.path.realpath(os.curdir)
    return here == real or here.startswith(os.path.join(real, ""))


def _taken(path: str, found: str, mend: str) -> UsageError:
    return UsageError.of(path, "a folder that is absent or empty", found, mend)


@contextlib.contextmanager
def new_folder(kind: FolderKind, name: str, destination: Destination) -> Iterator[NewFolder]:
    """A folder to write into: under its name when the block ends well, removed when it raises.

    Args:
        kind: What is to be in it.
        name: Of the scenario.
        destination: Where it goes; for example `runs/<scenario>-001`, or the next free number, if none is named.

    Raises:
        UsageError: The folder must not, or cannot be written; or its name was taken meanwhile, and it is kept under another,
            which is told.
    """
    recover(kind, destination.folder)
    check_target(kind, destination)
    given = None if destination.folder is None else os.fspath(destination.folder)
    with _writable(given or kind.numbered):
        target = os.path.realpath(os.path.join(kind.numbered, name) if given is None else given)
        inside = given is not None and os.path.isdir(target) and not entries(target)
    parent = target if inside else os.path.dirname(target)
    with _writable(parent), made_folder(parent):
        made = NewFolder(kind, given, target, inside, destination.force)
        try:
            os.mkdir(made.hidden)
            yield made
            if not made.path:
                with interrupts_later():
                    made.finish()
        finally:
            made.close()


class NewFolder:
    """A folder that is being written.

    Args:
        kind: What is to be in it.
        given: The folder as the user has typed it; None for a numbered one.
        target: The folder; of a numbered one the path before its number.
        inside: Whether the target is there, and empty.
        force: Whether one of this kind may be replaced.

    Attributes:
        hidden: Where to write.
        path: Its path afterwards, as the user may type it.

    Raises:
        OSError: It cannot be written.
    """

    def __init__(self, kind: FolderKind, given: str | None, target: str, inside: bool, force: bool) -> None:
        self._kind, self._given, self._target, self._inside, self._force = kind, given, target, inside, force
        self.path = ""
        self._claim = Claim(target if inside else os.path.dirname(target), os.path.basename(target) or kind.noun)
        self.hidden, self._old, self._whole = map(self._claim.path, ("new", "old", "whole"))

    def file(self, name: str) -> str:
        """The path of a file to write."""
        return os.path.join(self.hidden, name)

    def check_room(self, least: int) -> None:
        """Refuse a disk on which a run cannot have room.

        Args:
            least: What it takes at least [bytes].

        Raises:
            UsageError: There is less.
        """
        free = shutil.disk_usage(self.hidden).free
        if free < least:
            expected, mend = f"room for the rows, at least {size_text(least)}", "make room, or log less often"
            raise UsageError.of(self._given or self._kind.numbered, expected, size_text(free), mend)

    @contextlib.contextmanager
    def or_elsewhere(self, save: Callable[[str], object]) -> Iterator[None]:
        """Save a run for which this block finds no room where temporary files are.

        Args:
            save: Saves it in a folder.

        Raises:
            UsageError: It is kept there, which is told.
            OSError: There is no room there, either.
        """
        try:
            yield
        except OSError as error:
            with contextlib.suppress(OSError):
                kept = self._refuge()
                try:
                    save(kept)
                except (OSError, UsageError):
                    os.rmdir(os.path.dirname(kept))
                else:
                    raise self._elsewhere(error.strerror or str(error), kept) from None
            raise

    def _refuge(self) -> str:
        """A folder where temporary files are, which is not there yet."""
        import tempfile

        return os.path.join(tempfile.mkdtemp(prefix="armsim-"), self._claim.name)

    def _elsewhere(self, found: str, kept: str) -> UsageError:
        """The refusal of a folder in whose place the run is in another one."""
        mend = f"the {self._kind.noun} is whole in {kept}: move it"
        return UsageError.of(self._given or self._kind.numbered, "a folder that can be written", found, mend)

    @contextlib.contextmanager
    def conclude(self) -> Iterator[None]:
        """A block that writes the last of it, as run.yaml, before it gets its name; a Ctrl-C comes too late to stop anything.

        Raises:
            KeyboardInterrupt: There were two.
        """
        try:
            with interrupts_later():
                yield
                self.finish()
        except KeyboardInterrupt:
            if not self.path:
                raise

    def finish(self) -> None:
        """Give it its name, once it is on disk.

        Raises:
            UsageError: The name was taken meanwhile, or cannot be had any longer; tells where it is instead.
            OSError: It cannot be put on disk.
        """
        with self._claim.settled(*map(self.file, os.listdir(self.hidden)), self.hidden):
            try:
                self.path = self._put()
            except (OSError, UsageError) as error:
                found = error.strerror or str(error) if isinstance(error, OSError) else "files that appeared meanwhile"
                raise self._elsewhere(found, self._kept()) from None

    def _put(self) -> str:
        """Give the folder its name, in place of an earlier one, if there is one and may be replaced; its path."""
        target = self._target
        if self._given is None:
            return os.path.join(self._kind.numbered, self._number())
        if self._inside:
            if entries(target):
                raise FileExistsError(errno.EEXIST, "files that appeared meanwhile")
            os.rename(self.hidden, self._whole)
            move_in(self._whole, target)
            return self._given
        with contextlib.suppress(FileExistsError):
            rename_onto_nothing(self.hidden, target)
            return self._given
        check_target(self._kind, Destination(target, self._force))
        if not exchanged(self.hidden, target):
            os.rename(target, self._old)
            try:
                os.rename(self.hidden, target)
            except OSError:
                os.rename(self._old, target)
                raise
        return self._given

    def _number(self) -> str:
        """Give the folder the next free number, and say its name; two processes never get the same."""
        pattern = re.compile(re.escape(os.path.basename(self._target)) + r"-(\d{3,9})")
        taken = [int(match[1]) for name in os.listdir(self._claim.folder) if (match := pattern.fullmatch(name))]
        return os.path.basename(rename_numbered(self.hidden, f"{self._target}-", 3, max(taken, default=0) + 1))

    def _kept(self) -> str:
        """Where it is kept if it cannot have its name."""
        whole = self.hidden if os.path.isdir(self.hidden) else self._whole
        with contextlib.suppress(OSError):
            return put_beside(whole, self._target)
        kept = self._refuge()
        shutil.copytree(whole, kept)
        return kept

    def close(self) -> None:
        """Remove what is left: of a failure all that was written, else the earlier one that it replaced."""
        for left in (self._old, self.hidden) if self.path else (self.hidden,):
            clear(left, self._target if self.path else None)
        self._claim.release()


def size_text(count: int) -> str:
    """A number of bytes in words."""
    return f"{count / 1e9:.3g} GB" if count >= 1e8 else f"{count / 1e6:.3g} MB"


def _writable(path: str) -> contextlib.AbstractContextManager[None]:
    return refusing(path, "a folder that can be written", "name another with -o")
