"""What ended a command that should have ended otherwise: as a message and an exit code."""

from __future__ import annotations

import io
import os
import sys
from types import TracebackType

import click

from armsim.errors import INTERNAL, ArmsimError, Refusal
from armsim.files.interrupts import ended_by
from armsim.terminal.streams import drop, echo, unwritable
from armsim.version import __version__

COMPLETING = "_ARMSIM_COMPLETE"  # set by a shell that asks for completions
REFUSED = 2
INTERRUPTED = 130
KEYS = {  # of scenarios, that are taken for options
    "--duration": "duration=2",
    "--dt": "integrator.dt=1e-4",
    "--period": "control.period=1e-3",
    "--payload": "payload.mass=1",
}
OURS = "not your files' fault, but armsim's"


def told(error: BaseException) -> int:
    """Say what went wrong, and return the exit code that says it too."""
    if isinstance(error, SystemExit):
        if type(sys.stdout).__module__ == "click.utils":  # which put it there: the reader of a help has gone
            drop(sys.stdout)
            return 0
        if isinstance(error.code, str):  # as Python has it: a message
            echo(error.code, err=True)
            return 1
        return error.code or 0
    if isinstance(error, click.ClickException):
        if isinstance(error, click.NoSuchOption) and error.option_name in KEYS and _takes_settings(error.ctx):
            mend = f"It is a key of the scenario: write for example --set {KEYS[error.option_name]}."
            error = click.UsageError(f"No such option {error.option_name!r}. {mend}", error.ctx)
        text = io.StringIO()
        error.show(text)
        echo(text.getvalue(), err=True, nl=False)
        return error.exit_code
    if _interrupted(error):
        echo("interrupted", err=True)
        return INTERRUPTED
    printed = "click.utils"  # which prints helps by itself
    if isinstance(error, OSError) and not error.filename and _origin(error).tb_frame.f_globals["__name__"] == printed:
        drop(sys.stdout)
        error = unwritable(error)
    message, code = _message(error)
    echo(message, err=True)
    return code


def _takes_settings(context: click.Context | None) -> bool:
    """Whether a command takes a scenario and --set."""
    return context is not None and {"scenario", "assigned"} <= {one.name for one in context.command.params}


def exit_code(code: int) -> int:
    """An exit code; of what was interrupted by a signal of the system, the one that says by which."""
    number = ended_by()
    return 128 + number if code == INTERRUPTED and number is not None else code


def _message(error: BaseException) -> tuple[str, int]:
    if isinstance(error, ArmsimError):
        return str(error), error.exit_code
    if isinstance(error, MemoryError):
        mend = "ask for less at once: log less often, or make fewer runs"
        return str(Refusal("memory", "room for the numbers", "none left", mend)), REFUSED
    if isinstance(error, OSError):
        if not _folder_exists():
            mend = "change to a folder that exists"
            return str(Refusal("the working folder", "one that exists", "it has been removed", mend)), REFUSED
        where = os.fsdecode(error.filename) if error.filename else "the system"
        found, mend = error.strerror or str(error), "check the path, its permissions, and what is left of the disk"
        return str(Refusal(where, "what can be read or written", found, mend)), REFUSED
    origin = _origin(error)
    module = os.path.basename(origin.tb_frame.f_code.co_filename)
    found = f"{type(error).__name__}: {str(error)[:200]} ({module}:{origin.tb_lineno})"
    return str(Refusal(OURS, "a result, or a refusal that tells what to mend", found, _report(error))), INTERNAL


def _origin(error: BaseException) -> TracebackType:
    """Where an error that has been caught was raised."""
    last = error.__traceback__
    assert last is not None
    while last.tb_next is not None:
        last = last.tb_next
    return last


def _interrupted(error: BaseException | None) -> bool:
    """Whether Ctrl-C is what it came to, or from: an import that is interrupted may fail with another error."""
    while error is not None and not isinstance(error, (KeyboardInterrupt, click.Abort)):
        error = error.__cause__ or error.__context__
    return error is not None


def _folder_exists() -> bool:
    try:
        os.getcwd()
    except OSError:
        return False
    return True


def _report(error: BaseException) -> str:
    """What to do about it: write a report, whose file it names."""
    import platform  # what few commands need
    import tempfile
    import traceback

    about = f"armsim {__version__}, Python {platform.python_version()}, {platform.platform()}"
    text = f"{about}\n{sys.argv}\n\n{''.join(traceback.format_exception(error))}"
    try:
        number, path = tempfile.mkstemp(".txt", "armsim-")
        with open(number, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text)
    except OSError:
        return f"report it, please, with the command and its files ({about})"
    return f"report it, please, with {path} (command, versions, and where it happened) and the files"
