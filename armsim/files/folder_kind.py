"""The folders that armsim writes as a whole: what is in them, and by what they are known."""

from __future__ import annotations

import os

from armsim.files.claim import is_hidden_name
from armsim.files.regular_file import read_regular
from armsim.records import record

RUN_FORMAT = "armsim/run/1"
TABLES = ("trajectory.csv", "torque.csv", "record.csv", "trajectory.parquet", "torque.parquet")
ABOUT = "run.yaml"
INPUTS, GAINS, PLAY, SUMMARY, CHECKED = "inputs.csv", "gains.csv", "play.yaml", "plan.yaml", "run"
PLAN_COMMENT = "What an armsim plan came to."
OF_THE_SYSTEM = (".DS_Store", "Thumbs.db", "desktop.ini")  # file managers put them anywhere


@record
class FolderKind:
    """A kind of folder.

    Attributes:
        noun: What it holds, for messages.
        numbered: The folder of those that are numbered.
        files: Names of its files. The last one makes it whole, and is written last.
        mark: Bytes that the last one has near its beginning.
        run: Name of a run in it; empty for none.
    """

    noun: str
    numbered: str
    files: tuple[str, ...]
    mark: bytes
    run: str = ""

    def holds(self, folder: str | os.PathLike[str]) -> bool:
        """Whether a folder is one of this kind, and whole."""
        try:
            return self.mark in read_regular(os.path.join(folder, self.files[-1]), 1000)
        except OSError:
            return False

    def strangers(self, folder: str) -> list[str]:
        """Names in a folder that armsim did not write."""
        found, run = {*entries(folder)} - {*self.files}, os.path.join(folder, self.run)
        if self.run and RUN.holds(run) and not os.path.islink(run):
            found = found - {self.run} | {os.path.join(self.run, name) for name in RUN.strangers(run)}
        return sorted(found)


RUN = FolderKind("run", "runs", (*TABLES, ABOUT), f"format: {RUN_FORMAT}".encode())
PLAN = FolderKind("plan", "plans", (INPUTS, GAINS, PLAY, SUMMARY), PLAN_COMMENT.encode(), CHECKED)
KINDS = (RUN, PLAN)


def entries(path: str) -> list[str]:
    """What is in a folder, but for hidden names and what file managers put there."""
    return sorted(name for name in os.listdir(path) if name not in OF_THE_SYSTEM and not is_hidden_name(name))
