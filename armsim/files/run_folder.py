"""Run folders: which may be written, and their creation all at once.

A run is written under a hidden name, and put on disk, before it gets its own; see `armsim.files.claim`. Where nothing is under
that name, it is renamed to it. An earlier run is exchanged with it, at once where the system can. Into an empty folder the files
are moved one by one, run.yaml last, so that the folder stays the one that others are in. `recover` tidies up after processes that
were killed in between.
"""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import re
import shutil
from collections.abc import Callable, Iterator

from armsim.errors import UsageError, spelled
from armsim.files.claim import Claim
from armsim.files.exchange import exchanged, flush, rename_onto_nothing
from armsim.files.interrupts import interrupts_later
from armsim.files.recovery import RUN_FILES, RUNS, clear, entries, move_in, named, put_beside, recover
from armsim.files.regular_file import read_regular

RUN_FORMAT = "armsim/run/1"


def is_run(folder: str | os.PathLike[str]) -> bool:
    """Whether a folder holds an armsim run."""
    try:
        return f"format: {RUN_FORMAT}".encode() in read_regular(os.path.join(folder, "run.yaml"), 1000)
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
    try:
        names = entries(path)
    except OSError as error:
        raise _unwritable(path, error) from None
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
    made = RunFolder(folder, scenario, force)
    try:
        yield made
        if not made.path:
            with interrupts_later():
                made.finish()
    except OSError as error:
        raise _unwritable(made.parent, error) from None
    finally:
        made.close()


class RunFolder:
    """A run folder that is being written.

    Attributes:
        hidden: Where to write.
        parent: The folder that this is in.
        path: Its path afterwards, as the user may type it.

    Raises:
        UsageError: It cannot be written.
    """

    def __init__(self, folder: str | os.PathLike[str] | None, scenario: str, force: bool = False) -> None:
        self._given = None if folder is None else os.fspath(folder)
        self._force, self._scenario = force, scenario
        self._claim: Claim | None = None
        self._parents: list[str] = []  # that are made for it
        self._flushed = False
        self.path = ""
        self.parent = self._given or RUNS
        try:
            self._target = os.path.realpath(os.path.join(RUNS, scenario) if self._given is None else self._given)
            self._inside = self._given is not None and os.path.isdir(self._target) and not entries(self._target)
            self.parent = self._target if self._inside else os.path.dirname(self._target)
            self._make_parents()
            self._claim = Claim(self.parent, os.path.basename(self._target) or "run")
            self.hidden = self._claim.path("new")
            os.mkdir(self.hidden)
        except OSError as error:
            self.close()
            raise _unwritable(self.parent, error) from None

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
            where = self._given or RUNS
            raise UsageError.of(
                where,
                f"room for the rows, at least {size_text(least)}",
                size_text(free),
                "make room, or log less often",
            )

    def keep_elsewhere(self, error: OSError, save: Callable[[str], object]) -> None:
        """Save a run that this folder has no room for where temporary files are; return if it cannot be there, either.

        Args:
            error: Why it cannot be here.
            save: Saves it in a folder.

        Raises:
            UsageError: It is kept there, which is told.
        """
        import tempfile

        with contextlib.suppress(OSError):
            place = tempfile.mkdtemp(prefix="armsim-")
            kept = os.path.join(place, self._scenario)
            try:
                save(kept)
            except (OSError, UsageError):
                os.rmdir(place)
                return
            raise self._elsewhere(error, kept) from None

    def _elsewhere(self, found: OSError | str, kept: str) -> UsageError:
        """The refusal of a folder in whose place the run is in another one."""
        if isinstance(found, OSError):
            found = found.strerror or str(found)
        where = self._given or RUNS
        return UsageError.of(where, "a folder that can be written", found, f"the run is whole in {kept}: move it")

    def flush(self) -> None:
        """Have what is written on disk.

        Raises:
            OSError: It cannot be.
        """
        for name in os.listdir(self.hidden):
            flush(self.file(name))
        flush(self.hidden)
        self._flushed = True

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
        if not self._flushed:
            self.flush()
        try:
            self._put()
        except (OSError, UsageError) as error:
            found = error.strerror or str(error) if isinstance(error, OSError) else "files that appeared meanwhile"
            raise self._elsewhere(found, self._kept()) from None
        with contextlib.suppress(OSError):
            flush(self.parent)

    def _put(self) -> None:
        if self._given is None:
            self.path = os.path.join(RUNS, self._number())
        elif self._inside:
            whole = self._hidden("whole")
            if entries(self._target):
                raise FileExistsError(errno.EEXIST, "files that appeared meanwhile")
            os.rename(self.hidden, whole)
            move_in(whole, self._target)
            self.path = self._given
        else:
            self._replace()
            self.path = self._given

    def _number(self) -> str:
        """Give the folder the next free number, and say its name; two processes never get the same."""
        pattern = re.compile(re.escape(self._scenario) + r"-(\d{3,9})")
        taken = [int(match[1]) for name in os.listdir(self.parent) if (match := pattern.fullmatch(name))]
        for number in itertools.count(max(taken, default=0) + 1):
            name = f"{self._scenario}-{number:03d}"
            with contextlib.suppress(FileExistsError):
                rename_onto_nothing(self.hidden, os.path.join(self.parent, name))
                return name
        raise AssertionError("there is always a next number")

    def _replace(self) -> None:
        """Put the folder under its name, in place of an earlier run, if there is one and may be replaced."""
        target = self._target
        with contextlib.suppress(FileExistsError):
            rename_onto_nothing(self.hidden, target)
            return
        check_target(target, self._force)
        if not exchanged(self.hidden, target):
            aside = self._hidden("old")
            os.rename(target, aside)
            try:
                os.rename(self.hidden, target)
            except OSError:
                os.rename(aside, target)
                raise
        with contextlib.suppress(OSError):
            flush(self.parent)

    def _kept(self) -> str:
        """Where the run is kept that cannot have its name."""
        whole = next(path for path in (self.hidden, self._hidden("whole")) if os.path.isdir(path))
        with contextlib.suppress(OSError):
            return put_beside(whole, self._target)
        import tempfile

        kept = os.path.join(tempfile.mkdtemp(prefix="armsim-"), os.path.basename(self._target))
        shutil.copytree(whole, kept)
        return kept

    def _make_parents(self) -> None:
        missing = []
        path = self.parent
        while not os.path.lexists(path):
            missing.append(path)
            path = os.path.dirname(path)
        for path in reversed(missing):
            with contextlib.suppress(FileExistsError):
                os.mkdir(path)
                self._parents.append(path)

    def _hidden(self, what: str) -> str:
        assert self._claim is not None
        return self._claim.path(what)

    def close(self) -> None:
        """Remove what is left: of a failure all that was written, else the earlier run that it replaced."""
        if self._claim is not None:
            for what in ("old", "new") if self.path else ("new",):
                if os.path.isdir(self._hidden(what)):
                    clear(self._hidden(what), self._target if self.path else None)
            self._claim.release()
        if not self.path:
            with contextlib.suppress(OSError):
                for path in reversed(self._parents):
                    os.rmdir(path)


def size_text(count: int) -> str:
    """A number of bytes in words."""
    return f"{count / 1e9:.3g} GB" if count >= 1e8 else f"{count / 1e6:.3g} MB"


def _unwritable(path: str, error: OSError) -> UsageError:
    return UsageError.of(path, "a folder that can be written", error.strerror or str(error), "name another with -o")
