"""Run folders: which may be written, and their atomic creation.

Everything is written into a hidden folder beside the target, which is then renamed to the target. A process that is killed
leaves at most the hidden folder.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
from collections.abc import Iterator

from armsim.errors import UsageError

RUN_FORMAT = "armsim/run/1"
RUNS = "runs"  # folder of the numbered runs
TABLES = ("trajectory.csv", "torque.csv", "record.csv", "trajectory.parquet", "torque.parquet")
RUN_FILES = (*TABLES, "run.yaml")


def is_run(folder: str | os.PathLike[str]) -> bool:
    """Whether a folder holds an armsim run."""
    try:
        with open(os.path.join(folder, "run.yaml"), "rb") as file:
            return f"format: {RUN_FORMAT}".encode() in file.read(1000)
    except OSError:
        return False


def check_target(folder: str | os.PathLike[str], force: bool = False) -> None:
    """Refuse a folder that must not be written.

    Args:
        folder: Absent or empty, or, with force, an armsim run.
        force: Whether an armsim run may be replaced.

    Raises:
        UsageError: It must not be written; says why and what to do.
    """
    path = os.fspath(folder)
    if not os.path.lexists(path):
        return
    if not os.path.isdir(path):
        raise _taken(path, "a file", "name another folder")
    if not os.listdir(path):
        return
    if not is_run(path):
        raise _taken(path, "a folder with other files in it", "name another folder")
    if not force:
        raise _taken(path, "an earlier run", "name another folder, or add --force to replace the run")


def _taken(path: str, found: str, mend: str) -> UsageError:
    return UsageError.of(path, "a folder that is absent or empty", found, mend)


@contextlib.contextmanager
def new_run_folder(folder: str | os.PathLike[str] | None, scenario: str, force: bool = False) -> Iterator[RunFolder]:
    """A run folder to write into: renamed to its path when the block ends well, removed when it raises.

    Args:
        folder: Where the run goes; `runs/<scenario>-001`, or the next free number, if None.
        scenario: Name of the scenario.
        force: Whether an armsim run may be replaced.

    Raises:
        UsageError: The folder must not, or cannot be written.
    """
    if folder is not None:
        check_target(folder, force)
    target = None if folder is None else os.path.realpath(os.fspath(folder))
    parent = os.path.abspath(RUNS) if target is None else os.path.dirname(target)
    try:
        os.makedirs(parent, exist_ok=True)
        hidden = _hidden_folder(parent, scenario if target is None else os.path.basename(target), "new")
    except OSError as error:
        raise _unwritable(parent, error) from None
    made = RunFolder(hidden)
    try:
        yield made
        if target is None:
            made.path = os.path.join(RUNS, os.path.basename(_number(hidden, parent, scenario)))
        else:
            _replace(hidden, target, force)
            made.path = os.fspath(folder)  # type: ignore[arg-type]  # there is a target
    except OSError as error:
        raise _unwritable(parent, error) from None
    finally:
        if os.path.isdir(hidden):
            _remove(hidden)


class RunFolder:
    """A run folder that is being written.

    Attributes:
        hidden: Where to write while the block lasts.
        path: Its path afterwards, as the user may type it.
    """

    def __init__(self, hidden: str) -> None:
        self.hidden = hidden
        self.path = ""

    def file(self, name: str) -> str:
        """The path of a file to write."""
        return os.path.join(self.hidden, name)


def _number(hidden: str, parent: str, scenario: str) -> str:
    """Give the folder the next free number; two processes never get the same, because making a folder is exclusive."""
    pattern = re.compile(re.escape(scenario) + r"-(\d{3,9})")
    taken = [int(match[1]) for name in os.listdir(parent) if (match := pattern.fullmatch(name))]
    number = max(taken, default=0) + 1
    while True:
        target = os.path.join(parent, f"{scenario}-{number:03d}")
        try:
            os.mkdir(target)
        except FileExistsError:
            number += 1
            continue
        _onto_empty(hidden, target)
        return target


def _replace(hidden: str, target: str, force: bool) -> None:
    """Rename the folder to the target; of an earlier run there, files that are not the run's own are kept."""
    if not os.path.isdir(target) or not os.listdir(target):
        with contextlib.suppress(OSError):
            os.mkdir(target)
        try:
            _onto_empty(hidden, target)
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise
            raise _taken(target, "files that appeared meanwhile", "name another folder") from None
        return
    check_target(target, force)
    aside = _hidden_folder(os.path.dirname(target), os.path.basename(target), "old")
    _onto_empty(target, aside)
    os.rename(hidden, target)
    for name in os.listdir(aside):
        if name not in RUN_FILES:
            os.rename(os.path.join(aside, name), os.path.join(target, name))
    _remove(aside)


def _onto_empty(source: str, target: str) -> None:
    """Rename a folder onto an empty one."""
    if os.name == "nt":  # rename replaces an empty folder on POSIX only
        os.rmdir(target)
    os.rename(source, target)


def _remove(folder: str) -> None:
    """Remove a folder and the files in it."""
    with contextlib.suppress(OSError):
        for name in os.listdir(folder):
            os.remove(os.path.join(folder, name))
        os.rmdir(folder)


def _hidden_folder(parent: str, name: str, what: str) -> str:
    """Make a hidden folder."""
    path = os.path.join(parent, f".{name}.{os.urandom(6).hex()}.{what}")
    os.mkdir(path)
    return path


def _unwritable(path: str, error: OSError) -> UsageError:
    return UsageError.of(path, "a folder that can be written", error.strerror or str(error), "name another with -o")
