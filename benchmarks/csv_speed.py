"""How fast the numbers of a run become the text of its trajectory.csv."""

from __future__ import annotations

from itertools import count
from pathlib import Path

from hold import read_case
from timing import in_turns

from armsim.files.csv_writer import CsvFile
from armsim.plant.columns import Layout
from armsim.simulation.simulate import simulate


def measure(folder: Path, rounds: int) -> tuple[int, list[float]]:
    """Write the hold with a row per millisecond.

    Args:
        folder: Where to.
        rounds: How often.

    Returns:
        Numbers in the file, and the time [s] of every round.
    """
    run = simulate(read_case({"log.every": 1e-3}))
    columns = Layout(run.plant.arm).headings(file="trajectory")
    width = len(run.plant.layout.columns)

    fresh = count()  # some file systems write a file to disk at once when it replaces another

    def write() -> None:
        file = CsvFile(str(folder / f"speed{next(fresh)}.csv"), [heading.column for heading in columns])
        file.add(run.rows.flat, width, run.count, run.t.tolist())
        file.close()

    return (1 + len(columns)) * run.count, in_turns({"csv": write}, rounds)["csv"]
