"""A run as figures see it: columns by their headings, in blocks of rows, and what is known of its arm.

It may be in memory or in a folder, finished or not; a table of numbers over time will do as well.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import field, fields
from functools import cached_property
from os import PathLike
from typing import Any

import numpy as np

from armsim.arrays import Array, ArrayLike
from armsim.errors import UsageError
from armsim.figures.drawn_arm import DrawnArm, Span
from armsim.files.row_blocks import RowBlocks
from armsim.files.run_record import folder_of, recorded
from armsim.files.table import TIME
from armsim.loading import load_robot_file
from armsim.recording.recording import Recording
from armsim.records import Mismatch, from_plain, record
from armsim.simulation.energy_balance import EnergyBalance, audit
from armsim.simulation.result import Result

Blocks = Callable[[Sequence[str]], Iterator[Array]]


@record
class RowTable:
    """Columns over time.

    Attributes:
        time: Heading of the times.
        headings: Of the other columns.
        blocks: Rows of the columns of some headings, block by block, each of shape (rows, headings).
        size: Of its file [bytes]; 0 in memory.
    """

    time: str
    headings: tuple[str, ...]
    blocks: Blocks = field(repr=False)
    size: int = 0


@record
class RunScenario:
    """What was run, as plain data has it, angles in radians.

    Attributes:
        name: Of the scenario.
        duration: How long it was to last [s].
        robot: The content of its robot's file.
        control: Its controller; None without.
        payload: In place of the robot's; None for that.
        world: Obstacles beside those of the robot; None without.
        contacts: Contacts beside those of the robot; None without.
    """

    name: str
    duration: float
    robot: Mapping[str, Any]
    control: Mapping[str, Any] | None
    payload: Any
    world: Mapping[str, Any] | None
    contacts: Sequence[Any] | None

    @classmethod
    def of(cls, data: Any) -> RunScenario | None:
        """That of a scenario's data; None where they are not of the kinds that armsim writes."""
        if not isinstance(data, Mapping):
            return None
        values: list[Any] = [data.get(of.name) for of in fields(cls)]
        made = cls(*values)
        sound = isinstance(made.name, str) and isinstance(made.duration, (int, float))
        return made if sound and isinstance(made.robot, Mapping) and isinstance(made.robot.get("name"), str) else None


@record
class DrawnRun:
    """A run.

    Attributes:
        name: As the user named it; of a run in memory, its scenario.
        tables: Its rows.
        status: "complete", "interrupted" or "diverged"; empty where nobody knows.
        data: Of its scenario; empty where nobody knows.
        audit: Its energy balance, None where there is none.
        method: The integrator; empty where nobody knows.
    """

    name: str
    tables: tuple[RowTable, ...]
    status: str = ""
    data: Mapping[str, Any] = field(default_factory=dict, repr=False)
    audit: EnergyBalance | None = None
    method: str = ""

    @property
    def headings(self) -> list[str]:
        """Of all columns but the times, each once."""
        return list(dict.fromkeys(heading for table in self.tables for heading in table.headings))

    @cached_property
    def scenario(self) -> RunScenario | None:
        """What was run; None where nobody knows."""
        return RunScenario.of(self.data)

    @property
    def duration(self) -> float | None:
        """How long it was to last [s]; None where nobody knows."""
        return None if self.scenario is None else self.scenario.duration

    @property
    def controller(self) -> Mapping[str, Any]:
        """Its controller's data; empty where there is none, or nobody knows."""
        return (self.scenario and self.scenario.control) or {}

    @property
    def ended(self) -> str:
        """How it ended, in brackets after its name; nothing if well, or where nobody knows."""
        return f" ({self.status})" if self.status not in ("", "complete") else ""

    @property
    def title(self) -> str:
        """What was run, in a line."""
        of = self.scenario
        if of is None:
            return self.name
        by = f" by {self.method}" if self.method else ""
        return f"{of.name}: {of.duration:g} s of {of.robot['name']}{by}"

    def drawn_arm(self) -> DrawnArm | None:
        """The arm, with the scenario's payload and world; None where nobody knows."""
        of = self.scenario
        if of is None:
            return None
        robot, payload, spans = dict(of.robot), of.payload, list[Span]()
        if isinstance(payload, list):
            spans = [(item.get("from") or None, item.get("to")) for item in payload]
            payload = [{key: x for key, x in item.items() if key not in ("from", "to")} for item in payload]
        if payload is not None:
            robot |= {"payload": payload}
        robot |= {"world": {**robot.get("world", {}), **(of.world or {})}}
        robot |= {"contacts": [*robot.get("contacts", []), *(of.contacts or ())]}
        return DrawnArm.of(load_robot_file(robot).document, spans)

    def known_arm(self) -> DrawnArm:
        """The arm, as above.

        Raises:
            UsageError: Nobody knows it.
        """
        found = self.drawn_arm()
        if found is None:
            mend = "name the folder that the run was written to"
            raise UsageError.of(self.name, "a run with its robot, in run.yaml", "no run.yaml", mend)
        return found

    def control(self, key: str, n: int) -> list[float] | None:
        """Numbers of the scenario's control, one per joint; None where it has none, or they change with time."""
        found = self.controller.get(key)
        if isinstance(found, (int, float)):
            found = [found] * n
        if not isinstance(found, list) or len(found) != n or not all(isinstance(x, (int, float)) for x in found):
            return None
        return [float(x) for x in found]


Drawable = str | PathLike[str] | Result | DrawnRun


def each(given: Drawable | Sequence[Drawable]) -> list[Drawable]:
    """One run or several, or files, as a list."""
    return [given] if isinstance(given, (str, os.PathLike, Result, DrawnRun)) else list(given)


def drawn(run: Drawable, told: Callable[[int], object] = bool) -> DrawnRun:
    """A run to be drawn.

    Args:
        run: `armsim.Run`; the folder of a run or a recording, or its run.yaml; or a CSV or Parquet file with a column t_s.
        told: Called with the number of bytes of every block that is read of a file.

    Raises:
        FileFaults: A file cannot be read; says where and why.
        UsageError: There is no such folder, or it holds no run.
    """
    if isinstance(run, DrawnRun):
        return run
    if isinstance(run, Result):
        return _in_memory(run)
    name = os.fspath(run)
    if not os.path.isdir(folder_of(run)):
        if os.path.splitext(name)[1].lower() in (".csv", ".parquet"):
            return DrawnRun(name, (_table(name, told),))
        found = "a file" if os.path.exists(name) else "nothing of this name"
        mend = "`armsim simulate SCENARIO` writes one, and says where"
        raise UsageError.of(name, "the folder of a run, or a CSV file with a column t_s", found, mend)
    record = recorded(run)
    return DrawnRun(name, tuple(_table(path, told) for path in record.tables), **_known(record.data))


def columns_over_time(name: str, columns: Mapping[str, ArrayLike], scenario: Mapping[str, Any]) -> DrawnRun:
    """A motion in memory as a run.

    Args:
        name: What it is called.
        columns: Values by heading, the times `t_s` among them.
        scenario: What was run, with name, duration and robot at least.
    """
    table = np.column_stack([np.asarray(values, float) for values in columns.values()])
    return DrawnRun(name, (_of_blocks(list(columns), lambda: iter([table])),), "complete", scenario)


def _of_blocks(order: list[str], blocks: Callable[[], Iterator[Array]]) -> RowTable:
    """A table in memory, the times `t_s` among its columns, whose blocks have all of these in order."""

    def chosen(wanted: Sequence[str]) -> Iterator[Array]:
        places = [order.index(heading) for heading in wanted]
        return (block[:, places] for block in blocks())

    return RowTable("t_s", tuple(heading for heading in order if heading != "t_s"), chosen)


def _in_memory(run: Result) -> DrawnRun:
    def blocks() -> Iterator[Array]:
        if isinstance(run, Recording):  # whose rows have more numbers than columns
            yield np.column_stack([run.t, run.table])
            return
        for first, block in run.rows.blocks():
            rows = np.asarray(block).reshape(-1, len(run.columns))
            yield np.column_stack([run.t[first : first + len(rows)], rows])

    if isinstance(run, Recording):
        balance = run.audit
    else:
        balance = audit(run) if np.isfinite(run.end).all() else None
    tables = (_of_blocks(["t_s", *run.columns], blocks),)
    return DrawnRun(run.scenario.name, tables, run.status, run.scenario.scenario_data, balance, run.plant.method)


def _known(record: Mapping[str, Any]) -> dict[str, Any]:
    """What a run.yaml says of its run, as far as it is of the kinds that armsim writes."""
    known: dict[str, Any] = {key: record[key] for key in ("status", "method") if isinstance(record.get(key), str)}
    data = record.get("scenario")
    if RunScenario.of(data) is not None:
        known |= {"data": data}
    with suppress(Mismatch):
        known |= {"audit": from_plain(EnergyBalance | None, record.get("audit"))}
    return known


def _table(path: str, told: Callable[[int], object]) -> RowTable:
    rows = RowBlocks(path, told)
    time = next((heading for heading in TIME if heading in rows.headings), None)
    if time is None:
        mend = "name the column of times `t_s`"
        raise UsageError.of(path, "a column `t_s`, the time in s", ", ".join(rows.headings[:6]), mend)
    return RowTable(time, tuple(heading for heading in rows.headings if heading != time), rows.blocks, rows.size)
