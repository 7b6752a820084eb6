"""Every error that armsim raises on purpose descends from `ArmsimError`; the command line catches only these."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self


@dataclass(frozen=True, slots=True)
class Refusal:
    """A refusal as text: where, and one line each for expected, found and mend unless None.

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
        lines = [f"{name:9} {text}" for name, text in parts.items() if text is not None]
        return "\n  ".join([self.where, *(line.replace("\n", "\n" + " " * 12) for line in lines)])


class ArmsimError(Exception):
    """Something the user can mend. Its text says what was expected, what was found and how to mend it."""

    exit_code = 2

    @classmethod
    def of(cls, where: str, expected: str | None = None, found: str | None = None, mend: str | None = None) -> Self:
        """The error with a `Refusal`'s text."""
        return cls(str(Refusal(where, expected, found, mend)))


class FileFaults(ArmsimError):
    """The faults of one or more of the user's files, all at once.

    Attributes:
        faults: The `armsim.files.faults.Fault` of each, in the order of the file.
    """

    def __init__(self, faults) -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join(str(fault) for fault in self.faults))

    def __reduce__(self) -> tuple[type[FileFaults], tuple[tuple[Any, ...]]]:
        return type(self), (self.faults,)


class UsageError(ArmsimError):
    """Invalid arguments of a call or a command."""


class ShapeError(ArmsimError, ValueError):
    """An array of the wrong shape; the text says both shapes."""


class CompileError(ArmsimError):
    """LLVM refused a kernel, or is not there: a fault of armsim or of the installation, never of a robot file."""


class Diverged(ArmsimError):
    """A simulation whose state is no longer finite, or beyond all bounds."""

    exit_code = 3
