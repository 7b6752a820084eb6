"""Trials: numbers tried over all cases, in lanes; a row of a table each, from which a search that was stopped goes on."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Sequence

import numpy as np

from armsim.arrays import Array
from armsim.batches.runs import COMPLETE, Runs
from armsim.batches.table_text import heading
from armsim.errors import UsageError
from armsim.files.interrupts import interrupts_later
from armsim.files.study_folder import StudyFolder
from armsim.studies.design import crossed
from armsim.studies.results import StoredRows, stored_runs
from armsim.tuning.objective import Merit
from armsim.tuning.task import Task

STAGE = "stage"
RESULTS = ("objective", "violation", "failed")
OFTEN = 0.5  # s between writes
AT_ONCE = 2**15  # runs


def trial_heading(places: Sequence[str]) -> bytes:
    """The first line of a table of trials."""
    return heading((STAGE, *places), RESULTS)


class Stopped(Exception):
    """Ctrl-C came; the trials that are whole are written."""


class Trials:
    """Trials of numbers, in the order in which they are asked for; those that the table has are answered from it.

    A search asks for the same trials each time, so that one that was killed goes on where it was, and its table has the bytes of
    an undisturbed one's.

    Args:
        task: What is tried.
        folder: Takes the rows.
        progress: Called with trials done, and how many there may be.
        tell: Called with the best trial so far, in words.

    Attributes:
        count: How many there were.
        best: The best of the stage so far, by place.
        merit: Of it.
    """

    def __init__(
        self,
        task: Task,
        folder: StudyFolder,
        progress: Callable[[int, int], object] | None = None,
        tell: Callable[[str], object] | None = None,
    ) -> None:
        self._task, self._sought, self._folder = task, task.sought, folder
        self._progress, self._tell = progress, tell
        self.best, self.merit = dict(task.start), Merit(math.inf, math.inf, 0)
        self.count = 0
        self._written = deque(StoredRows(folder.table, folder.rows) if folder.rows else ())
        self._waiting: list[Runs] = []
        self._due = time.monotonic() + OFTEN

    def begin(self) -> Array:
        """The best so far as shares of the bounds; a new stage begins, whose first trial it should be."""
        self.merit = Merit(math.inf, math.inf, 0)
        return np.array([of.share(self.best[place]) for place, of in self._sought.items()])

    def __call__(self, stage: int, places: Sequence[str], shares: Array) -> Array:
        """Try numbers.

        Args:
            stage: Its number, from 1 on.
            places: Those that are sought in it; the others stay what is best so far.
            shares: Of their bounds, shape (trials, places).

        Returns:
            What is to be small, shape (trials,).

        Raises:
            Stopped: Ctrl-C came.
        """
        rows = self.numbers(places, shares)
        found = [self._recall(stage, row) for row in rows[: len(self._written)]]
        at_once = max(1, AT_ONCE // len(self._task.cases))
        for first in range(len(found), len(rows), at_once):
            found += self._try(stage, rows[first : first + at_once])
        for row, merit in zip(rows, found, strict=True):
            if merit.value < self.merit.value:
                self.merit, self.best = merit, dict(zip(self._sought, row.tolist(), strict=True))
        self.count += len(rows)
        if self._progress is not None:
            self._progress(self.count, self._task.most)
        if self._tell is not None and math.isfinite(self.merit.objective):
            self._tell(f"best: {self.merit.objective:.5g}{' against conditions' if self.merit.violation else ''}")
        return np.array([merit.value for merit in found])

    def numbers(self, places: Sequence[str], shares: Array) -> Array:
        """All numbers of trials, shape (trials, numbers), by shares of those sought."""
        rows = np.tile(tuple(self.best.values()), (len(shares), 1))
        names = list(self._sought)
        for k, place in enumerate(places):
            of = self._sought[place]
            rows[:, names.index(place)] = [of.at(share) for share in shares[:, k].tolist()]
        return rows

    def flush(self) -> None:
        """Write the rows that wait."""
        if self._waiting:
            with interrupts_later():
                self._folder.append(b"".join(part.text for part in self._waiting), self._lines)
                self._waiting.clear()
        self._due = time.monotonic() + OFTEN

    @property
    def _lines(self) -> int:
        """How many rows wait."""
        return sum(part.done for part in self._waiting)

    @property
    def table(self) -> Runs:
        """The trials that are written."""
        return stored_runs(self._folder, (STAGE, *self._sought), RESULTS)

    def _recall(self, stage: int, row: Array) -> Merit:
        """The next trial of the table, which must be this one."""
        written = self._written.popleft()
        if [float(cell) for cell in written[1 : 2 + len(row)]] != [float(stage), *row.tolist()]:
            mend = "name another folder with -o"
            raise UsageError.of(self._folder.path, "the trials of this search", "other ones", mend)
        objective, violation, failed = map(float, written[2 + len(row) : -2])
        return Merit(objective, violation, int(failed))

    def _try(self, stage: int, rows: Array) -> list[Merit]:
        """Carry out trials, and have their rows wait for being written."""
        many, cases = len(rows), len(self._task.cases)
        found = self._task.runs(crossed(rows, self._task.cases))
        if not found.whole:
            self.flush()
            raise Stopped
        parts = [found.taken(slice(i * cases, (i + 1) * cases)) for i in range(many)]
        merits = [self._task.objective.merit(part) for part in parts]
        values = {STAGE: np.full(many, stage), **dict(zip(self._sought, rows.T, strict=True))}
        trials = Runs.blank(found.name, many, values, RESULTS, first=self._folder.rows + self._lines)
        for i, (merit, part) in enumerate(zip(merits, parts, strict=True)):
            trials.status[i], trials.reason[i] = _ending(part)
            for name in RESULTS:
                trials[name][i] = getattr(merit, name)
        self._waiting.append(trials)
        if time.monotonic() > self._due:
            self.flush()
        return merits


def _ending(found: Runs) -> tuple[str, str]:
    """How a trial ended: complete, or as the first of its runs that is not."""
    bad = np.flatnonzero(~found.complete)
    if not len(bad):
        return COMPLETE, ""
    case = int(bad[0])
    where = f"case {case}: " if len(found.status) > 1 else ""
    return str(found.status[case]), f"{where}{found.reason[case]}"
