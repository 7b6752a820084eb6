"""A run that was made before, from the same files: its loop is carried out once more, and its rows are written.

What it comes to is known where it ends as it did, to the bit, as runs follow from their files and from armsim alone. So nothing
is read, checked, built, judged or summarised, and none of what does so is imported.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from armsim.clock import Clock
from armsim.errors import UsageError
from armsim.files.csv_writer import CsvFile
from armsim.files.destination import Destination
from armsim.files.interrupts import interrupts_later
from armsim.files.recovery import ABOUT
from armsim.files.run_folder import new_run_folder
from armsim.records import record
from armsim.simulation.accuracy import Accuracy
from armsim.simulation.native_engine import NativeEngine
from armsim.simulation.row_log import RowsInMemory
from armsim.simulation.run_files import RunFiles
from armsim.simulation.runner import Job, Runner
from armsim.simulation.stopwatch import Stopwatch

SHORT = 0.5  # s of a loop: of a longer one Ctrl-C keeps the rows, for which all must be known
FEW = 10**6  # numbers in rows: more take as long to write


@record
class KnownLoop:
    """What runners and engines ask of a `LoopPlan` without open numbers, tables and a law that is called."""

    key: str
    states: int
    kept: list[float]
    width: int
    bounds: list[float]
    adaptive: bool
    opened: dict[str, float]
    rare_every: int

    open = tables = ()
    sampled_outside = False

    @property
    def columns(self) -> range:
        """One for each number of a row."""
        return range(self.width)

    def accuracy(self, accuracy: Accuracy) -> dict[str, float]:
        """Of the run as it was asked for."""
        return self.opened

    def body(self) -> Any:
        """Where the code is not in the cache any more."""
        raise LookupError


@record
class WrittenRun:
    """A run that was written.

    Attributes:
        folder: Where it is.
        summary: In plain data.
        told: In lines, but for the wall time.
        tables: Names of its tables.
    """

    folder: str
    summary: dict[str, Any]
    told: list[str]
    tables: list[str]


@record
class KnownRun:
    """A run that was complete.

    Attributes:
        loop: What its loop computes.
        clock: When things happen.
        start: The state at the start.
        end: The state reached, and its row.
        name: Of its scenario.
        tables: Files, and the heading, place in a row and factor of every column.
        about: Its run.yaml, before and behind the wall time.
        summary: In plain data.
        told: Its summary in lines, as far as it was printed.
    """

    loop: KnownLoop
    clock: Clock
    start: list[float]
    end: list[float]
    name: str
    tables: dict[str, list[tuple[str, int, float]]]
    about: tuple[str, str]
    summary: dict[str, Any]
    told: list[str]

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> KnownRun:
        """From plain data."""
        return cls(**{**data, "loop": KnownLoop(**data["loop"]), "clock": Clock(**data["clock"])})

    def repeated(self, destination: Destination) -> WrittenRun | None:
        """Make the run once more; None where it ends elsewhere, its code is gone, or it cannot be written.

        Ctrl-C comes too late to stop anything.

        Raises:
            KeyboardInterrupt: There were two, as at a disk that does not answer.
        """
        made = None
        try:
            with interrupts_later():
                made = self._made(destination)
        except KeyboardInterrupt:
            if made is None:
                raise
        except (LookupError, OSError, UsageError):
            pass
        return made

    def _made(self, destination: Destination) -> WrittenRun | None:
        """See `repeated`."""
        watch = Stopwatch()
        loop, clock, steps = self.loop, self.clock, self.clock.steps
        engine = NativeEngine(loop)  # type: ignore[arg-type]  # has all of a plan that is asked for
        runner = Runner(engine, Job(loop, clock, self.start))  # type: ignore[arg-type]  # likewise
        watch.seconds.update(engine.preparation)
        watch.lap()
        log = RowsInMemory(loop.width, clock.rows_before(steps) + 1)
        for _ in runner.until(steps, log):
            pass
        end = [*runner.row().run(0)]
        watch.lap("loop_s")
        if [*runner.state, *end] != self.end:
            return None
        rows = log.finish(clock.rows_before(steps), None if steps % clock.log_every else end)
        seconds = watch.total()
        with new_run_folder(destination.folder, self.name, destination.force) as made:
            tables = [partial(CsvFile, made.file(file), columns) for file, columns in self.tables.items()]
            with RunFiles(tables, loop.width, clock) as files:
                files.take(rows)
            _write(made.file(ABOUT), self.about, seconds)
        summary = self.summary
        tried = summary["steps_per_second"] * summary["seconds"]["loop_s"]
        times = {"seconds": seconds, "steps_per_second": tried / seconds["loop_s"]}
        return WrittenRun(made.path, {**summary, **times}, self.told, [*self.tables])


def _write(path: str, about: Sequence[str], seconds: Mapping[str, float]) -> None:
    """Write run.yaml with its wall time."""
    times = ", ".join(f"{part}: {time:.9f}" for part, time in seconds.items())
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        file.write(f"{about[0]}seconds: {{{times}}}\n{about[1]}")
