"""What is wrong with a study that is to be tuned, and shows only when its trials are made ready."""

from __future__ import annotations

import os

from armsim.files.faults import Fault
from armsim.notebook import counted
from armsim.studies.check import check_file, told
from armsim.studies.study_file import StudyFile
from armsim.tuning.task import of_file
from armsim.tuning.tune import Task


def check_study(path_or_name: str | os.PathLike[str]) -> tuple[tuple[Fault, ...], list[str], list[str]]:
    """The faults of a study file of either kind, refusals without a place as text, and notes on what it asks."""
    return check_file(path_or_name, lambda file: told(file) if file.data["tune"] is None else _told(file))


def _told(file: StudyFile) -> list[str]:
    task = Task(of_file(file), 1)
    sought, cases = counted(len(task.sought), "number"), counted(len(task.cases), "case")
    return [f"{sought} sought over {cases}, in {counted(task.most, 'trial')} at most", *task.runs.notes()]
