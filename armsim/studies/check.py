"""What is wrong with a study that shows only when its runs are made ready: measures, distributions, structure."""

from __future__ import annotations

import os
from collections.abc import Callable

from armsim.errors import ArmsimError, FileFaults, Refusal
from armsim.files.faults import Fault
from armsim.notebook import counted
from armsim.studies.study import of_file
from armsim.studies.study_file import StudyFile, load_study_file


def check_file(
    path_or_name: str | os.PathLike[str], told: Callable[[StudyFile], list[str]]
) -> tuple[tuple[Fault, ...], list[str], list[str]]:
    """The faults of a study file, refusals without a place as text, and what `told` says of it."""
    try:
        file = load_study_file(path_or_name)
        notes = told(file)
    except FileFaults as error:
        return error.faults, [], []
    except ArmsimError as error:
        title, *rest = str(error).splitlines()
        found = [place for name, place in file.places.items() if name == title.replace("`", "") or name == title]
        where = str(found[0]) if found else file.path
        return (), ["\n".join([str(Refusal(f"{where}: {title}")), *rest])], []
    return (), [], notes


def told(file: StudyFile) -> list[str]:
    """Notes on what a study asks; raises what is wrong with it."""
    study = of_file(file)
    count = study.design.count
    runs = study.runs(1)
    return [f"{counted(count, 'run')} of {len(runs.measures)} measures", *runs.notes()]
