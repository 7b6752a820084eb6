"""`armsim.load_run`: a run or a recording from its folder."""

from __future__ import annotations

import os
from os import PathLike

from armsim.errors import UsageError
from armsim.files.run_record import run_record
from armsim.recording.recording import load_recording
from armsim.simulation.run import Run
from armsim.simulation.saved_run import saved_run


def load_run(folder: str | PathLike[str]) -> Run:
    """A run or a recording, as it was written to a folder.

        run = armsim.load_run("runs/arm5_hold-001")

    Its rows are read when they are looked at, in SI units whatever the files have. What it says of itself, `summary()` and
    `advice`, are the words that were said; of a diverged run, `approach` is not kept.

    Args:
        folder: Of `Run.save`, `armsim simulate` or `armsim record`, or the run.yaml in it.

    Raises:
        UsageError: There is no such folder, or it holds no run.
        FileFaults: run.yaml or a table is damaged, or of another version; says where and why.
    """
    record = run_record(folder)
    if record.root is None or not record.tables:
        found = "no folder of this name"
        if os.path.isdir(record.folder):
            found = f"a folder without {'tables of rows' if record.root else 'a run.yaml of armsim'}"
        mend = "name a folder that `armsim simulate` or `armsim record` has written"
        raise UsageError.of(os.fspath(folder), "the folder of a run or a recording", found, mend)
    return load_recording(record) if "recording" in record.data else saved_run(record)
