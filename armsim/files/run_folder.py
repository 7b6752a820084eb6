"""Run folders: which may be written, and their creation all at once.

A run is written under a hidden name, and put on disk, before it gets its own; see `armsim.files.claim`. Where nothing is under
that name, it is renamed to it. An earlier run is exchanged with it, at once where the system can. Into an empty folder the files
are moved one by one, run.yaml last, so that the folder stays the one that others are in. `recover` tidies up after processes that
were killed in between.
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
from armsim.files.exchange import exchanged, flush, rename_numbered, rename_onto_nothing
from armsim.files.interrupts import interrupts_later
from armsim.files.new_file import made_folder
from armsim.files.recovery import (
    ABOUT,
    RUN_FILES,
    RUN_FORMAT,
    RUNS,
    clear,
    entries,
    move_in,
    named,
    put_beside,
    recover,
)
from armsim.files.regular_file import read_regular


def is_run(folder: str | os.PathLike[str]) -> bool:
    """Whether a folder holds an armsim run."""
    try:
        return f"format: {RUN_FORMAT}".encode() in read_regular(os.path.join(folder, ABOUT), 1000)
    except OSError:
        return False


def check_target(folder: str | os.PathLike[str], force: bool = False) -> None:
    """Refuse a folder that must not be written.

    Args:
        folder: Absent or empty, or, with force, an armsim run without files of others.
        force: Whether an armsim run may be replaced.

    Raises:
        UsageError: It must not be written; says why and what to do.
    """
    path = os.fspath(folder)
    if not os.path.lexists(path):
        return
    if not os.path.isdir(path):
        raise _taken(path, "a file", "name another folder")
    with _writable(path):
        names = entries(path)
    if not names:
        return
    foreign = [name for name in names if name not in RUN_FILES]
    if not is_run(path):
        raise _taken(path, f"a folder with other files in it: {named(foreign or names)}", "name another folder")
    if not force:
        raise _taken(
            path, "an earlier run", f"name another folder, or add {spelled('--force', 'force=True')} to replace the run"
        )
    if foreign:
        found = f"an earlier run, and files that armsim did not write: {named(foreign)}"
        raise _taken(path, found, "move them elsewhere, or name another folder")
    if _is_here(path):
        raise _taken(path, "an earlier run that this shell is in", "leave it first (cd ..), or name another folder")
    if os.path.ismount(path):
        raise _taken(path, "an earlier run at the root of a file system", "name a folder in it")


def _is_here(path: str) -> bool:
    """Whether a folder is the working folder, or one that it is in."""
    real, here = os.path.realpath(path), os.path.realpath(os.curdir)
    return here == real or here.startswith(os.path.join(real, ""))


def _taken(path: str, found: str, mend: str) -> UsageError:
    return UsageError.of(path, "a folder that is absent or empty", found, mend)


@contextlib.contextmanager
def new_run_folder(folder: str | os.PathLike[str] | None, scenario: str, force: bool = False) -> Iterator[RunFolder]:
    """A run folder to write into: under its name when the block ends well, removed when it raises.

    Args:
        folder: Where the run goes; `runs/<scenario>-001`, or the next free number, if None.
        scenario: Name of the scenario.
        force: Whether an armsim run may be replaced.

    Raises:
        UsageError: The folder must not, or cannot be written; or its name was taken meanwhile, and the run is kept under another,
            which is told.
    """
    recover(folder)
    if folder is not None:
        check_target(folder, force)
    given = None if folder is None else os.fspath(folder)
    with _writable(given or RUNS):
        target = os.path.realpath(os.path.join(RUNS, scenario) if given is None else given)
        inside = given is not None and os.path.isdir(target) and not entries(target)
    parent = target if inside else os.path.dirname(target)
    with _writable(parent), made_folder(parent):
        made = RunFolder(given, scenario, target, inside, force)
        try:
            os.mkdir(made.hidden)
            yield made
            if not made.path:
                with interrupts_later():
                    made.finish()
        finally:
            made.close()


class RunFolder:
    """A run folder that is being written.

    Args:
        given: The folder as the user has typed it; None for a numbered one.
        scenario: Name of the scenario.
        target: The folder; of a numbered one the path before its number.
        inside: Whether the target is there, and empty.
        force: Whether an armsim run may be replaced.

    Attributes:
        hidden: Where to write.
        path: Its path afterwards, as the user may type it.

    Raises:
        OSError: It cannot be written.
    """

    def __init__(self, given: str | None, scenario: str, target: str, inside: bool, force: bool) -> None:
        self._given, self._scenario, self._target, self._inside, self._force = given, scenario, target, inside, force
        self.path, self._parent = "", target if inside else os.path.dirname(target)
        self._claim = Claim(self._parent, os.path.basename(target) or "run")
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
            raise UsageError.of(self._given or RUNS, expected, size_text(free), mend)

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

        return os.path.join(tempfile.mkdtemp(prefix="armsim-"), self._scenario)

    def _elsewhere(self, found: str, kept: str) -> UsageError:
        """The refusal of a folder in whose place the run is in another one."""
        mend = f"the run is whole in {kept}: move it"
        return UsageError.of(self._given or RUNS, "a folder that can be written", found, mend)

    def flush(self) -> None:
        """Have what is written on disk.

        Raises:
            OSError: It cannot be.
        """
        for name in os.listdir(self.hidden):
            flush(self.file(name))
        flush(self.hidden)

    def conclude(self, last: Callable[[], None]) -> None:
        """Write the last of it, and give it its name; a Ctrl-C then comes too late to stop anything.

        Args:
            last: Writes what makes it a run, run.yaml.

        Raises:
            KeyboardInterrupt: There were two.
        """
        try:
            with interrupts_later():
                last()
                self.finish()
        except KeyboardInterrupt:
            if not self.path:
                raise

    def finish(self) -> None:
        """Give it its name, once it is on disk.

        Raises:
            UsageError: The name was taken meanwhile, or cannot be had any longer; tells where the run is instead.
            OSError: It cannot be put on disk.
        """
        self.flush()
        try:
            self.path = self._put()
        except (OSError, UsageError) as error:
            found = error.strerror or str(error) if isinstance(error, OSError) else "files that appeared meanwhile"
            raise self._elsewhere(found, self._kept()) from None
        with contextlib.suppress(OSError):
            flush(self._parent)

    def _put(self) -> str:
        """Give the folder its name, in place of an earlier run, if there is one and may be replaced; its path."""
        target = self._target
        if self._given is None:
            return os.path.join(RUNS, self._number())
        if self._inside:
            if entries(target):
                raise FileExistsError(errno.EEXIST, "files that appeared meanwhile")
            os.rename(self.hidden, self._whole)
            move_in(self._whole, target)
            return self._given
        with contextlib.suppress(FileExistsError):
            rename_onto_nothing(self.hidden, target)
            return self._given
        check_target(target, self._force)
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
        pattern = re.compile(re.escape(self._scenario) + r"-(\d{3,9})")
        taken = [int(match[1]) for name in os.listdir(self._parent) if (match := pattern.fullmatch(name))]
        return os.path.basename(rename_numbered(self.hidden, f"{self._target}-", 3, max(taken, default=0) + 1))

    def _kept(self) -> str:
        """Where the run is kept that cannot have its name."""
        whole = self.hidden if os.path.isdir(self.hidden) else self._whole
        with contextlib.suppress(OSError):
            return put_beside(whole, self._target)
        kept = self._refuge()
        shutil.copytree(whole, kept)
        return kept

    def close(self) -> None:
        """Remove what is left: of a failure all that was written, else the earlier run that it replaced."""
        for left in (self._old, self.hidden) if self.path else (self.hidden,):
            clear(left, self._target if self.path else None)
        self._claim.release()


def size_text(count: int) -> str:
    """A number of bytes in words."""
    return f"{count / 1e9:.3g} GB" if count >= 1e8 else f"{count / 1e6:.3g} MB"


def _writable(path: str) -> contextlib.AbstractContextManager[None]:
    return refusing(path, "a folder that can be written", "name another with -o")
