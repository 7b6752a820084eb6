"""Every error that armsim raises on purpose descends from `ArmsimError`; the command line catches only these."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Self

from armsim.records import record

LF = "\n"
INTERNAL = 70  # exit code of what is armsim's fault, as sysexits.h has it
_shell: ContextVar[bool] = ContextVar("shell", default=False)


@contextmanager
def spoken_in_shell() -> Iterator[None]:
    """Messages made within speak of options of the command line, not of Python; see `spelled`."""
    token = _shell.set(True)
    try:
        yield
    finally:
        _shell.reset(token)


def spelled(shell: str, python: str) -> str:
    """What a message asks for as its reader would write it.

    Args:
        shell: On the command line: `--force`.
        python: In Python: `force=True`.
    """
    return shell if _shell.get() else python


def visible(text: str, kept: str = "") -> str:
    r"""Text with its control characters escaped: `\x1b`, `\u202e`.

    So no name from outside moves a terminal's cursor, turns a line round or begins one.

    Args:
        text: Any text.
        kept: Characters that stay, for example line ends.
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in kept else _escape(ord(c)) for c in text)


def _escape(code: int) -> str:
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


@record
class Refusal:
    """A refusal as text: where, and one line each for expected, found and mend unless None; control characters are escaped.

    Attributes:
        where: The file, option, argument or key that is at fault, or what happened.
        expected: What would have been right.
        found: What is there.
        mend: What the user can do.
    """

    where: str
    expected: str | None = None
    found: str | None = None
    mend: str | None = None

    def __str__(self) -> str:
        parts = {"expected:": self.expected, "found:": self.found, "mend:": self.mend}
        lines = [f"{name:9} {visible(text, LF)}" for name, text in parts.items() if text is not None]
        return "\n  ".join([visible(self.where), *(line.replace(LF, LF + " " * 12) for line in lines)])


class ArmsimError(Exception):
    """Something the user can mend. Its text says what was expected, what was found and how to mend it."""

    exit_code = 2

    def _render_traceback_(self) -> list[str]:
        """What IPython shows in place of a traceback."""
        return [f"{type(self).__name__}: {self}"]

    @classmethod
    def of(cls, where: str, expected: str | None = None, found: str | None = None, mend: str | None = None) -> Self:
        """The error with a `Refusal`'s text."""
        return cls(str(Refusal(where, expected, found, mend)))


class FileFaults(ArmsimError):
    """The faults of one or more of the user's files, all at once.

    Attributes:
        faults: The `armsim.files.faults.Fault` of each, in the order of the file.
    """

    def __init__(self, faults: Iterable[Any]) -> None:
        self.faults = tuple(faults)
        super().__init__(self.faults)  # its arguments, of which process pools make it again

    def __str__(self) -> str:
        return LF.join(map(str, self.faults))


class UsageError(ArmsimError):
    """Invalid arguments of a call or a command."""


@contextmanager
def refusing(where: str, expected: str, mend: str) -> Iterator[None]:
    """What the system refuses in this block is a `UsageError`, which tells why."""
    try:
        yield
    except OSError as error:
        raise UsageError.of(where, expected, error.strerror or str(error), mend) from None


class ShapeError(ArmsimError, ValueError):
    """An array of the wrong shape; the text says both shapes."""


class CompileError(ArmsimError):
    """LLVM refused a kernel, or is not there: a fault of armsim or of the installation, never of a robot file."""

    exit_code = INTERNAL


class Diverged(ArmsimError):
    """A simulation whose state is no longer finite, or beyond all bounds."""

    exit_code = 3
