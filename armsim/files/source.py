"""Files that are read: where they are, and their hashes."""

from __future__ import annotations

import hashlib
import os
from io import BufferedReader

from armsim.files.faults import Fault, listed, refuse
from armsim.files.neighbours import nearest_file, robot_of, scenarios_of
from armsim.files.nodes import Place
from armsim.files.regular_file import open_named, readable
from armsim.files.shipped import looks_like_a_file, shipped_names, shipped_path
from armsim.records import record

MOST_BYTES = 2**32  # of a table


@record
class Source:
    """A file that was read.

    Attributes:
        path: As messages show it.
        sha256: Of its bytes, in hexadecimal digits.
        remarks: What was left out of a file of another program, assumed, or looks wrong in it.
    """

    path: str
    sha256: str
    remarks: tuple[Fault, ...] = ()


def find_file(kind: str, path_or_name: str) -> str:
    """The path of a file given by path, or of a shipped one given by name.

    Args:
        kind: "robots" or "configs".
        path_or_name: What the user wrote.

    Raises:
        FileFaults: It is neither; the message names the nearest shipped one.
    """
    if looks_like_a_file(path_or_name) or os.path.isfile(path_or_name):
        return path_or_name
    path = shipped_path(kind, path_or_name)
    if path is None:
        noun, other = ("robot", "configs") if kind == "robots" else ("scenario", "robots")
        expected = f"a {noun} file, or the name of a shipped {noun}"
        known, found = shipped_names(kind), "neither of them"
        inside = os.path.join(path_or_name, f"{noun}.yaml")
        close = inside if os.path.isfile(inside) else nearest_file(path_or_name, known)
        mend = f"did you mean `{close}`?" if close else f"shipped {noun}s are: {listed(known)}"
        namesake = shipped_path(other, path_or_name)
        if namesake is not None and kind == "robots":
            robot = robot_of(namesake)
            found = "the name of a scenario"
            mend = "copy its robot into a file of its own, and name that"
            if robot is not None:
                mend = f"name its robot, {os.path.splitext(os.path.basename(robot))[0]}"
        elif namesake is not None:
            found, its = "the name of a robot", scenarios_of(namesake)
            mend = (
                f"take one of its scenarios: {listed(its)}" if its else f"write one with `robot: {path_or_name}` in it"
            )
        elif shipped_path("studies", path_or_name) is not None:
            found = "the name of a study"
            mend = "run it by `armsim sweep` or `armsim tune`, or name its scenario"
        raise refuse(Place(path_or_name), "", expected, found, mend)
    return path


def open_table(path: str, what: str, most: float = MOST_BYTES) -> BufferedReader:
    """A file of numbers, opened: a regular one, as pipes and devices may have no end.

    Args:
        path: The file; messages show it as given.
        what: Its kind, for example "a CSV file".
        most: Bytes it may have.

    Raises:
        FileFaults: It is not there, no regular file, too large, or cannot be read.
    """
    with readable(path, what):
        file = open(open_named(path), "rb")  # noqa: SIM115  the caller closes it
    if os.fstat(file.fileno()).st_size <= most:
        return file
    file.close()
    mend = "log less often, or cut the file into parts"
    raise refuse(Place(path), "", f"{what} of at most {MOST_BYTES // 2**30} GiB", "a larger one", mend)


def beside(folder: str, path: str) -> str:
    """A path that is written relative to a file in `folder`, as messages show it."""
    return os.path.normpath(os.path.join(folder, path)) if folder else path


def digest(raw: bytes) -> str:
    """The SHA-256 of bytes, in hexadecimal digits."""
    return hashlib.sha256(raw).hexdigest()
