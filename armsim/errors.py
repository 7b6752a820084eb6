"""Every error that armsim raises on purpose descends from `ArmsimError`; the command line catches only these."""

from __future__ import annotations


class ArmsimError(Exception):
    """Something the user can mend. Its text says what was expected, what was found and how to mend it."""

    exit_code = 2


class FileFaults(ArmsimError):
    """The faults of one or more of the user's files, all at once.

    Attributes:
        faults: The `armsim.files.faults.Fault` of each, in the order of the file.
    """

    def __init__(self, faults) -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join(str(fault) for fault in self.faults))


class UsageError(ArmsimError):
    """A call or a command that cannot be carried out as it was asked."""


class ShapeError(ArmsimError, ValueError):
    """An array of the wrong shape; the text says both shapes."""


class CompileError(ArmsimError):
    """LLVM refused a kernel, or is not there: a fault of armsim or of the installation, never of a robot file."""


class Diverged(ArmsimError):
    """A simulation that left the range of finite, sensible numbers."""

    exit_code = 3
