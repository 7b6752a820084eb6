"""Exported C as a shared library, by the compiler of this machine."""

from __future__ import annotations

import os
import platform
import shlex
import shutil
import subprocess
import sys
from importlib.util import find_spec

from armsim.errors import CompileError, UsageError, spelled
from armsim.exporting.c_files import FLAGS

COMPILERS = ("cc", "gcc", "clang")
SUFFIXES = {"win32": ".dll", "darwin": ".dylib"}
LETTERS = 2000  # of a compiler's words that are repeated


def build(folder: str, name: str) -> str:
    """Compile the C of a model for this machine, into its folder.

    Args:
        folder: With `name`.c and `name`.h.
        name: Of the model.

    Returns:
        The library's path.

    Raises:
        UsageError: There is no compiler.
        CompileError: It fails.
    """
    suffix = SUFFIXES.get(sys.platform, ".so")
    library = os.path.join(folder, f"{'' if sys.platform == 'win32' else 'lib'}{name}{suffix}")
    position = [] if sys.platform == "win32" else ["-fPIC"]
    source = os.path.join(folder, f"{name}.c")
    command = [*compiler(), "-std=c99", "-O2", *native(), *position, *FLAGS, "-shared", "-o", library, source, "-lm"]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode != 0:
        found = done.stderr.strip()[-LETTERS:] or f"exit code {done.returncode}"
        mend = f"run it yourself: {shlex.join(command)}"
        raise CompileError.of(command[0], "a shared library", found, mend)
    return library


def compiler() -> list[str]:
    """The command of a C compiler: $CC, cc, gcc, clang, or that of the package ziglang.

    Raises:
        UsageError: There is none.
    """
    chosen = _chosen()
    if chosen and shutil.which(chosen[0]) is None:
        raise _none(f"no {chosen[0]}, which $CC names")
    installed = installed_compiler()
    if installed:
        return installed
    if find_spec("ziglang") is not None:
        return [sys.executable, "-m", "ziglang", "cc"]
    raise _none("none")


def installed_compiler() -> list[str]:
    """The command of an installed C compiler: $CC, cc, gcc or clang; empty without one."""
    commands = [_chosen()] if _chosen() else [[name] for name in COMPILERS]
    return next((command for command in commands if shutil.which(command[0]) is not None), [])


def native() -> list[str]:
    """What lets a compiler use all of this machine's instructions."""
    return ["-march=native"] if platform.machine().lower() in ("x86_64", "amd64") else []


def _chosen() -> list[str]:
    return shlex.split(os.environ.get("CC", ""))


def _none(found: str) -> UsageError:
    return UsageError.of(
        spelled("--to library", 'to="library"'),
        "a C compiler: $CC, cc, gcc or clang",
        found,
        f"install one (apt install gcc, xcode-select --install, pip install ziglang), or export with "
        f"{spelled('--to c', 'to=' + repr('c'))} and compile elsewhere",
    )
