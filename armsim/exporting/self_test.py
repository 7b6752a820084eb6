"""The test program of an export, run before its files are written."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Mapping, Sequence

from armsim.records import record

LIMIT = 20.0  # s, of a command
SAID = re.compile(r"(\d+) calls, (\d+) wrong numbers\s*$")


@record
class SelfTest:
    """What the test program said.

    Attributes:
        by: The tool that ran or compiled it; empty where it was not run.
        calls: Calls that it made.
        wrong: Numbers that were not armsim's.
        reason: Why it was not run.
    """

    by: str = ""
    calls: int = 0
    wrong: int = 0
    reason: str = ""

    def __str__(self) -> str:
        if not self.by:
            return f"not run: {self.reason}"
        return f"{self.calls} calls, {self.wrong} wrong numbers, by {self.by}"


def run_test(texts: Mapping[str, str], commands: Sequence[Sequence[str]], lacking: str) -> SelfTest:
    """Run a test program in a temporary folder.

    Args:
        texts: The exported files by name.
        commands: They build it and run it, the tool's first; none where the tool is missing.
        lacking: The tool, in words.
    """
    if not commands:
        return SelfTest(reason=f"{lacking} is not installed here")
    tool = os.path.basename(commands[0][0])
    try:
        with tempfile.TemporaryDirectory(prefix="armsim-") as folder:
            for name, text in texts.items():
                with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                    file.write(text)
            for command in commands:
                done = subprocess.run(
                    command,
                    cwd=folder,
                    capture_output=True,
                    text=True,
                    errors="replace",
                    stdin=subprocess.DEVNULL,
                    timeout=LIMIT,
                    check=False,
                )
                if done.returncode != 0 and not SAID.search(done.stdout):
                    first = next((line for line in done.stderr.splitlines() if "rror" in line), "").strip()
                    return SelfTest(reason=f"{tool} ends with exit code {done.returncode}{first and f': {first}'}")
    except subprocess.TimeoutExpired:
        return SelfTest(reason=f"it takes longer than {LIMIT:g} s")
    except OSError as error:
        return SelfTest(reason=f"{tool}: {error.strerror or error}")
    said = SAID.search(done.stdout)
    if said is None:
        return SelfTest(reason=f"{tool} prints no counts")
    return SelfTest(tool, int(said[1]), int(said[2]))
