"""One run of a study as an ordinary simulation."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any

from armsim.errors import UsageError, spelled
from armsim.simulation.driver import Progress
from armsim.simulation.run import Run
from armsim.simulation.simulate import simulate_into
from armsim.studies.study import Study


def values_at(study: Study, index: int) -> dict[str, Any]:
    """The values of a run by path.

    Raises:
        UsageError: There is no such run.
    """
    count = study.design.count
    if not 0 <= index < count:
        expected, where = f"the index of a run, from 0 to {count - 1}", spelled(f"--show {index}", "index")
        raise UsageError.of(where, expected, str(index), "take one of results.csv")
    return dict(zip(study.axes, study.design.rows(index, index + 1)[0].tolist(), strict=True))


def simulate_row(
    study: Study,
    index: int,
    folder: str | PathLike[str] | None = None,
    force: bool = False,
    progress: Progress | None = None,
) -> tuple[Run, Path]:
    """Run one row of a study into a run folder; its measures are the row's, to the bit.

    Args:
        study: The study.
        index: Of the row.
        folder: See `armsim.simulation.simulate.simulate_into`.
        force: Likewise.
        progress: Likewise.

    Raises:
        UsageError: There is no such run, or it is refused.
    """
    values = list(values_at(study, index).values())
    runs = study.runs(1)
    scenario = runs.scenario(values)
    return simulate_into(
        folder, scenario, progress=progress, force_step=study.force_step, measure=runs.asked, force=force
    )
