"""What is wrong with a study that shows only when its runs are made ready: measures, distributions, structure."""

from __future__ import annotations

import os

from armsim.errors import ArmsimError, FileFaults, Refusal
from armsim.files.faults import Fault
from armsim.notebook import counted
from armsim.studies.runs import StudyRuns
from armsim.studies.study import of_file
from armsim.studies.study_file import StudyFile, load_study_file
from armsim.tuning.task import Task
from armsim.tuning.tuning import of_file as tuning_of_file


def check_study(path_or_name: str | os.PathLike[str]) -> tuple[tuple[Fault, ...], list[str], list[str]]:
    """The faults of a study file of either kind, refusals without a place as text, and notes on what it asks."""
    try:
        file = load_study_file(path_or_name)
        notes = _study_notes(file) if file.document.tune is None else _tuning_notes(file)
    except FileFaults as error:
        return error.faults, [], []
    except ArmsimError as error:
        title, *rest = str(error).splitlines()
        found = [place for name, place in file.places.items() if name == title.replace("`", "") or name == title]
        where = str(found[0]) if found else file.path
        return (), ["\n".join([str(Refusal(f"{where}: {title}")), *rest])], []
    return (), [], notes


def _study_notes(file: StudyFile) -> list[str]:
    study = of_file(file)
    count, runs = study.design.count, StudyRuns(study, 1)
    return [f"{counted(count, 'run')} of {len(runs.measures)} measures", *runs.notes()]


def _tuning_notes(file: StudyFile) -> list[str]:
    task = Task(tuning_of_file(file), 1)
    sought, cases = counted(len(task.sought), "number"), counted(len(task.cases), "case")
    return [f"{sought} sought over {cases}, in {counted(task.most, 'trial')} at most", *task.runs.notes()]
