"""A run that was made before, from the same files: its loop is carried out once more, and its rows are written.

What it comes to is known where it ends as it did, to the bit, as runs follow from their files and from armsim alone. So nothing
is read, checked, built, judged or summarised, and none of what does so is imported.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn, cast

from armsim.clock import Clock
from armsim.errors import UsageError
from armsim.files.csv_writer import CsvFile
from armsim.files.destination import Destination
from armsim.files.folder_kind import ABOUT, RUN
from armsim.files.interrupts import interrupts_later
from armsim.files.new_folder import new_folder
from armsim.records import record
from armsim.simulation.accuracy import Accuracy
from armsim.simulation.engine import NativeEngine
from armsim.simulation.row_log import RowsInMemory
from armsim.simulation.run_files import RunFiles
from armsim.simulation.runner import Job, Runner
from armsim.simulation.stopwatch import Stopwatch

if TYPE_CHECKING:
    from armsim.simulation.loop_plan import LoopPlan

SHORT = 0.5  # s of a loop: of a longer one Ctrl-C keeps the rows, for which all must be known
FEW = 10**6  # numbers in rows: more take as long to write


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
    """A run that was complete, and all that runners and engines ask of its `LoopPlan`; it has no open numbers and tables.

    Attributes:
        times: Its clock, in plain data.
        start: The state at the start.
        end: The state reached, and its row.
        name: Of its scenario.
        files: Names of its tables, with heading, place in a row and factor of every column.
        about: Its run.yaml, before and behind the wall time.
        summary: In plain data.
        told: In lines, but for the wall time.
        width: Numbers of a row.
        opened: What `accuracy` tells of the run as it was asked for.
    """

    times: dict[str, Any]
    start: list[float]
    end: list[float]
    name: str
    files: dict[str, list[tuple[str, int, float]]]
    about: list[str]
    summary: dict[str, Any]
    told: list[str]
    width: int
    opened: dict[str, float]
    key: str
    states: int
    kept: list[float]
    bounds: list[float]
    adaptive: bool
    rare_every: int

    open = tables = ()
    sampled_outside = False

    @property
    def columns(self) -> range:
        """One for each number of a row."""
        return range(self.width)

    def accuracy(self, accuracy: Accuracy) -> dict[str, float]:
        """See `LoopPlan`."""
        return self.opened

    def body(self) -> NoReturn:
        """Where the code is in the cache no more."""
        raise LookupError

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
        watch, plan, clock = Stopwatch(), cast("LoopPlan", self), Clock(**self.times)
        engine = NativeEngine(plan)
        runner, log = Runner(engine, Job(plan, clock, self.start)), RowsInMemory(self.width, clock.rows + 1)
        watch.seconds.update(engine.preparation)
        watch.lap()
        for _ in runner.until(clock.steps, log):
            pass
        end = [*runner.row().run(0)]
        watch.lap("loop_s")
        if [*runner.state, *end] != self.end:
            return None
        rows = log.finish(clock.rows_before(clock.steps), None if clock.steps % clock.log_every else end)
        seconds, (before, behind) = watch.total(), self.about
        times = "".join(f"  {part}: {time!r}\n" for part, time in seconds.items())
        with new_folder(RUN, self.name, destination) as made:
            tables = [partial(CsvFile, made.file(file), columns) for file, columns in self.files.items()]
            with RunFiles(tables, self.width, clock) as files:
                files.take(rows)
            with open(made.file(ABOUT), "w", encoding="utf-8", newline="\n") as about:
                about.write(f"{before}seconds:\n{times}{behind}")
        tried = self.summary["steps_per_second"] * self.summary["seconds"]["loop_s"]
        summary = {**self.summary, "seconds": seconds, "steps_per_second": tried / seconds["loop_s"]}
        return WrittenRun(made.path, summary, self.told, [*self.files])
