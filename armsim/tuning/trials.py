"""Trials: numbers tried over all cases, in lanes; a row of a table each, from which a search that was stopped goes on."""

from __future__ import annotations

import math
import os
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from armsim.errors import UsageError
from armsim.files.interrupts import interrupts_later
from armsim.files.study_folder import PART, StudyFolder, rows_of
from armsim.formulas.values import Interval
from armsim.studies.design import Rows
from armsim.studies.results import COMPLETE
from armsim.studies.rows import heading, text_of
from armsim.studies.runs import Outcomes, StudyRuns
from armsim.tuning.objective import Judged, Objective

Array = NDArray[np.float64]
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
        runs: Runs by the numbers, then by what the cases vary.
        sought: The numbers, each with its bounds.
        start: Their values at first.
        cases: The cases, shape (cases, paths).
        objective: What is minimised.
        folder: Takes the rows.
        most: How many there may be.
        progress: Called with trials done, and `most`.
        tell: Called with the best trial so far, in words.

    Attributes:
        count: How many there were.
        ended: How many there were of each status.
        unmet: How many of the complete ones miss a condition.
        best: The best of the stage so far, by place.
        judged: What it came to.
        curve: The least objective so far after each trial; NaN before there is one.
    """

    def __init__(
        self,
        runs: StudyRuns,
        sought: dict[str, Interval],
        start: dict[str, float],
        cases: Rows,
        objective: Objective,
        folder: StudyFolder,
        most: int,
        progress: Callable[[int, int], object] | None = None,
        tell: Callable[[str], object] | None = None,
    ) -> None:
        self._runs, self._sought, self._cases, self._objective, self._folder = runs, sought, cases, objective, folder
        self._most, self._progress, self._tell = most, progress, tell
        self.best, self.judged = dict(start), Judged(math.inf, math.inf, 0)
        self.count, self.unmet = 0, 0
        self.ended: dict[str, int] = {}
        self.curve: list[float] = []
        self._written = deque(_read(folder))
        self._waiting: list[bytes] = []
        self._due = time.monotonic() + OFTEN

    def begin(self) -> Array:
        """The best so far as shares of the bounds; a new stage begins, whose first trial it should be."""
        self.judged = Judged(math.inf, math.inf, 0)
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
        kept = tuple(self.best.values())
        rows = np.tile(kept, (len(shares), 1))
        names = list(self._sought)
        for k, place in enumerate(places):
            of = self._sought[place]
            rows[:, names.index(place)] = [of.at(share) for share in shares[:, k].tolist()]
        found = [self._taken(stage, row) for row in rows[: len(self._written)]]
        at_once = max(1, AT_ONCE // len(self._cases))
        for first in range(len(found), len(rows), at_once):
            found += self._tried(stage, rows[first : first + at_once])
        for row, (judged, status) in zip(rows, found, strict=True):
            self._count(row, judged, status)
        if self._progress is not None:
            self._progress(self.count, self._most)
        if self._tell is not None and math.isfinite(self.judged.objective):
            self._tell(f"best: {self.judged.objective:.5g}{' against conditions' if self.judged.violation else ''}")
        return np.array([judged.merit for judged, _ in found])

    def flush(self) -> None:
        """Write the rows that wait."""
        if self._waiting:
            with interrupts_later():
                self._folder.append(b"".join(self._waiting), len(self._waiting))
                self._waiting.clear()
        self._due = time.monotonic() + OFTEN

    def _count(self, row: Array, judged: Judged, status: str) -> None:
        self.count += 1
        self.ended[status] = self.ended.get(status, 0) + 1
        self.unmet += status == COMPLETE and judged.violation > 0.0
        if judged.merit < self.judged.merit:
            self.judged = judged
            self.best = dict(zip(self._sought, row.tolist(), strict=True))
        sound = self.judged.objective if self.judged.violation == 0.0 else math.nan
        self.curve.append(sound if math.isfinite(sound) else math.nan)

    def _taken(self, stage: int, row: Array) -> tuple[Judged, str]:
        """The next trial of the table, which must be this one."""
        written = self._written.popleft()
        if [float(cell) for cell in written[1 : 2 + len(row)]] != [float(stage), *row.tolist()]:
            mend = "name another folder with -o"
            raise UsageError.of(self._folder.path, "the trials of this search", "other ones", mend)
        objective, violation, failed = map(float, written[2 + len(row) : -2])
        return Judged(objective, violation, int(failed)), written[-2]

    def _tried(self, stage: int, rows: Array) -> list[tuple[Judged, str]]:
        """Carry out trials."""
        many, cases = len(rows), len(self._cases)
        found = self._runs(np.hstack([np.repeat(rows, cases, axis=0), np.tile(self._cases, (many, 1))]))
        if found.interrupted:
            self.flush()
            raise Stopped
        judged = []
        for i, row in enumerate(rows):
            part = slice(i * cases, (i + 1) * cases)
            one = Outcomes(found.measures[part], found.status[part], found.reason[part])
            judged.append((self._objective.judged(self._runs, one), *_ending(one)))
            self._wait(stage, row, *judged[-1])
        if time.monotonic() > self._due:
            self.flush()
        return [(of, status) for of, status, _ in judged]

    def _wait(self, stage: int, row: Array, judged: Judged, status: str, reason: str) -> None:
        """A row that is to be written."""
        index = self._folder.rows + len(self._waiting)
        results = np.array([[judged.objective, judged.violation, judged.failed]])
        words = Outcomes(results, np.array([status]), np.array([reason], dtype=object))
        self._waiting.append(text_of(index, np.array([[stage, *row.tolist()]]), words))


def _ending(found: Outcomes) -> tuple[str, str]:
    """How a trial ended: complete, or as the first of its runs that is not."""
    bad = np.flatnonzero(found.status != COMPLETE)
    if not len(bad):
        return COMPLETE, ""
    case = int(bad[0])
    where = f"case {case}: " if len(found.status) > 1 else ""
    return str(found.status[case]), f"{where}{found.reason[case]}"


def _read(folder: StudyFolder) -> list[list[Any]]:
    """The rows that a folder has."""
    path = folder.results if folder.status == COMPLETE else os.path.join(folder.path, PART)
    return [row for _, row in zip(range(folder.rows), rows_of(path), strict=False)] if folder.rows else []
