"""What is printed, and where: no name from outside moves the cursor, and a stream that fails leaves no traceback."""

from __future__ import annotations

import errno
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

import click

from armsim.errors import UsageError, visible
from armsim.files.interrupts import ended_by

BOLD, PLAIN = "\x1b[1m", "\x1b[0m"
STYLES = {f"\0{style}": style for style in (BOLD, PLAIN)}  # by how `bold` marks them; whoever forges a mark gets bold
MARKS = re.compile("(" + "|".join(map(re.escape, STYLES)) + ")")
GONE = (errno.EPIPE, errno.EINVAL)  # whoever read has gone, on POSIX; on Windows


def echo(text: str, err: bool = False, nl: bool = True) -> None:
    """Print text, its control characters escaped but for line ends and what `bold` puts there.

    Where the reader has gone, as `head` does, the rest is dropped: the command ends as it would have.

    Args:
        text: The text.
        err: Whether it goes to standard error.
        nl: Whether a line end follows.

    Raises:
        UsageError: Standard output cannot be written, as on a full disk.
    """
    stream = sys.stderr if err else sys.stdout
    shown = "".join(STYLES.get(part) or visible(part, "\n") for part in MARKS.split(text))
    try:
        click.echo(shown, file=stream, nl=nl)
    except OSError as error:
        drop(stream)
        if not err and not _is_gone(error):
            raise unwritable(error) from None


@contextmanager
def status_line() -> Iterator[TextIO]:
    """Standard error, to say how far something is; where nobody can read that any more, it goes nowhere."""
    try:
        yield sys.stderr
        sys.stderr.flush()
    except OSError:
        drop(sys.stderr)


def _is_gone(error: OSError) -> bool:
    """Whether who read a stream has gone: a program, or the terminal, of which a signal tells."""
    return error.errno in GONE or (error.errno == errno.EIO and ended_by() is not None)


def bold(text: str) -> str:
    """Text that `echo` prints bold on a terminal that wants colour, plain elsewhere."""
    begin, end = STYLES
    return f"{begin}{text}{end}" if sys.stdout.isatty() and "NO_COLOR" not in os.environ else text


def unwritable(error: OSError) -> UsageError:
    """The refusal of a standard output that cannot be written."""
    found = error.strerror or str(error)
    return UsageError.of("standard output", "one that can be written", found, "write it elsewhere, or make room")


def drop(stream: TextIO) -> None:
    """Let what is still to be written to a stream go nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def open_streams() -> None:
    """Make the standard streams ones that can be written: closed ones go nowhere, and a sign they lack becomes a `?`."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):  # in order: files take the first number free
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115  open as long as the process
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")


def flush() -> None:
    """Write what is still to be written.

    Raises:
        UsageError: Standard output cannot be written.
    """
    try:
        sys.stdout.flush()
    except OSError as error:
        drop(sys.stdout)
        if not _is_gone(error):
            raise unwritable(error) from None
