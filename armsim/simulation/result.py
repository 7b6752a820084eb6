"""The result of a simulation, as arrays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from armsim import display
from armsim.clock import EXACT
from armsim.control import Controller
from armsim.errors import UsageError
from armsim.files.faults import no_column
from armsim.integrate.adaptive import steps_chosen
from armsim.integrate.method import Stall
from armsim.loading import Scenario
from armsim.notebook import counted, pandas
from armsim.plant import Plant
from armsim.plant.columns import Heading
from armsim.records import mutable_record
from armsim.simulation.loop_plan import nearest_to_bound
from armsim.simulation.row_log import ArrayRows, Rows
from armsim.simulation.row_totals import RowTotals
from armsim.simulation.setup import Setup
from armsim.simulation.step_error import StepError
from armsim.stability.advice import Advice
from armsim.stability.departure import MotionRows
from armsim.stability.step_advice import advice_on

if TYPE_CHECKING:
    import numpy as np
    from pandas import DataFrame

    from armsim.simulation.step_doubling import StepDoubling


Status = Literal["complete", "interrupted", "diverged"]


@mutable_record
class Result(Mapping[str, Any]):
    """A finished, interrupted or diverged simulation.

    Row k of every array is the state at `t[k]`, with the accelerations, torques and voltages that act from then on.

    As a mapping it has an array of shape (rows,) for each heading of trajectory.csv and torque.csv, the times `t_s` first;
    `to_pandas` makes a data frame of it.

    Attributes:
        setup: What was run.
        status: "complete", "interrupted" or "diverged".
        steps: Number of steps carried out; of an adaptive method, of multiples of dt.
        rows: The rows; see `Plant.layout`.
        end: The row of the state reached, whether or not one was due.
        measures: Results of the measures by name, over all steps, or moments.
        figures: Figures of merit by the names of their measures, gathered at some of the moments, see `armsim.measures.figures`;
            empty of a run that diverged.
        units: Of the measures that were asked for; empty for a pure number, or one of no single unit.
        state: The state reached; of a diverged run, the last one within bounds.
        approach: Of a diverged run, the last states within bounds, one step apart; else empty.
        engine: "llvm" or "python".
        seconds: Wall time by part [s]; rows_s: the loop's waiting for rows to be written.
        stalled: Of a diverged run, why a step could not be made: "no step" where an adaptive method found none short enough for
            its tolerance, or the Newton iteration of an implicit one did not converge; "too many steps" where it tried a
            million from one instant to the next. Else None.
        failure: Of a run that was interrupted as its rows could not be written, why.
        estimated: The error by the step, or why there is none; or the states that it is estimated from when it is asked for.
        origin: Of a run that was read from its folder, what run.yaml says of where it was made: armsim, python and sources.
    """

    setup: Setup = field(repr=False)
    status: str
    steps: int
    rows: Rows = field(repr=False)
    end: list[float] = field(repr=False)
    state: list[float] = field(repr=False)
    seconds: dict[str, float]
    measures: dict[str, float] = field(default_factory=dict)
    units: dict[str, str] = field(default_factory=dict)
    approach: list[list[float]] = field(default_factory=list, repr=False)
    engine: str = "llvm"
    stalled: Stall | None = None
    failure: str = ""
    estimated: StepDoubling | StepError | str = field(default="", repr=False)
    figures: dict[str, float] = field(default_factory=dict, repr=False)
    origin: Mapping[str, str] = field(default_factory=dict, repr=False)

    def plot(self, columns: str | Sequence[str] = (), degrees: bool = False) -> Any:
        """The run over time, a figure of matplotlib; see `armsim.plot`, which writes it, too."""
        return display.notebook().plot(self, None, columns, degrees)

    def __repr__(self) -> str:
        ran = f"{self.scenario.brief}, {self.status}"
        return f"{type(self).__name__}({ran}, {counted(self.count, 'row')} of {counted(len(self.columns), 'column')})"

    @property
    def scenario(self) -> Scenario:
        """What was run."""
        return self.setup.scenario

    @property
    def plant(self) -> Plant:
        """The arm with its drives."""
        return self.setup.plant

    @property
    def advice(self) -> Advice:
        """The advice on the step."""
        return advice_on(self.scenario) if self.setup.advice.partial else self.setup.advice

    @property
    def end_time(self) -> float:
        """The time reached [s]."""
        return self.scenario.clock.at(self.steps)

    @property
    def count(self) -> int:
        """Number of rows."""
        return self.rows.count

    @cached_property
    def _estimate(self) -> StepError | str:
        return self.estimated if isinstance(self.estimated, (StepError, str)) else self.estimated.estimate()

    @property
    def step_error(self) -> StepError | None:
        """The estimated error by the step, for which the run is repeated; None where there is none, as of one not complete."""
        return self._estimate if isinstance(self._estimate, StepError) else None

    @property
    def unestimated(self) -> str:
        """Why a complete run has no such estimate; empty where it has."""
        return self._estimate if isinstance(self._estimate, str) else ""

    @property
    def peaks(self) -> list[float]:
        """Largest magnitude of every joint's motor torque over all steps, or moments [N·m or N], n of them."""
        return [self.measures[f"peak_torque_{joint.name}"] for joint in self.plant.arm.joints]

    def __getstate__(self) -> object:
        """The attributes alone, with what is found when it is asked for."""
        state = {field.name: getattr(self, field.name) for field in fields(self)}
        rows = self.rows if isinstance(self.rows, ArrayRows) else ArrayRows.of(self.table, self.rows.times)
        known = {key: vars(self)[key] for key in {"facts"} & vars(self).keys()}
        return {**state, **known, "rows": rows, "estimated": self._estimate}

    @property
    def steps_chosen(self) -> tuple[int, int] | None:
        """Numbers of steps that an adaptive method accepted and rejected; None for a fixed-step method."""
        return steps_chosen(self.plant.slots, self.state)

    @property
    def table(self) -> np.ndarray:
        """All rows, shape (rows, columns), in the order of `columns`, SI units; a memory map if they are many."""
        return self.rows.table

    @property
    def t(self) -> np.ndarray:
        """Times of the rows [s], shape (rows,)."""
        import numpy as np

        if self.rows.times is not None:
            return self.rows.times
        clock = self.scenario.clock
        apart = clock.log_every * clock.num
        if max(self.count * apart, clock.den) <= EXACT:
            times: np.ndarray = np.arange(self.count) * apart / clock.den
            return times
        return np.array([clock.at(k * clock.log_every) for k in range(self.count)])

    @property
    def q(self) -> np.ndarray:
        """Joint positions [rad or m], shape (rows, n)."""
        return self._block("q")

    @property
    def qd(self) -> np.ndarray:
        """Joint velocities [rad/s or m/s], shape (rows, n)."""
        return self._block("qd")

    @property
    def qdd(self) -> np.ndarray:
        """Joint accelerations [rad/s² or m/s²], shape (rows, n)."""
        return self._block("qdd")

    @property
    def tau(self) -> np.ndarray:
        """Total joint torques or forces, by drives, friction and stops [N·m or N], shape (rows, n)."""
        return self._block("tau")

    def _block(self, quantity: str) -> np.ndarray:
        return self.table[:, self._places(quantity)]

    def _places(self, quantity: str) -> list[int]:
        """Where a row holds a quantity, joint by joint or part by part."""
        return [i for i, column in enumerate(self.setup.layout.columns) if column.quantity == quantity]

    @cached_property
    def totals(self) -> RowTotals:
        """Totals of all rows."""
        if isinstance(self.rows, ArrayRows) and self.rows.totals is not None:
            return self.rows.totals
        totals = RowTotals.of(self.plant.arm, self.setup.layout.columns)
        for _, block in self.rows.blocks():
            totals.add(block)
        return totals

    def latest(self) -> MotionRows:
        """The motion in the last rows, as many as memory holds."""
        assert isinstance(self.rows, ArrayRows)  # as of every run that has just been made
        first, rows = self.rows.latest()
        q, qd, qdd = (
            list(zip(*(rows[i :: self.rows.width].tolist() for i in self._places(quantity)), strict=True))
            for quantity in ("q", "qd", "qdd")
        )
        return MotionRows(self.t[first:].tolist(), q, qd, qdd)

    @cached_property
    def _by_heading(self) -> dict[str, Heading]:
        return {h.text: h for degrees in (True, False) for h in self.setup.layout.headings(degrees)}

    @property
    def columns(self) -> list[str]:
        """Names of the columns of `table`: the headings of trajectory.csv and torque.csv, but for the times."""
        return [h.text for h in self.setup.layout.headings()]

    def __iter__(self) -> Iterator[str]:
        return iter(["t_s", *self.columns])

    def __len__(self) -> int:
        return 1 + len(self.columns)

    def __contains__(self, name: object) -> bool:
        return name == "t_s" or name in self._by_heading or self._wanted(str(name)) is not None

    def _ipython_key_completions_(self) -> list[str]:
        return list(self)

    def to_pandas(self) -> DataFrame:
        """The rows as a data frame: a column for each of `columns`, the times `t_s` as its index.

        Raises:
            UsageError: pandas is not installed.
        """
        pd = pandas()
        frame: DataFrame = pd.DataFrame(self.table, pd.Index(self.t, name="t_s"), self.columns, copy=True)
        return frame

    def _wanted(self, name: str) -> Any:
        """Of a tracking error, `e_R1_rad`, its column of the reference, or its constant target; None of any other name."""
        heading, command, places = self._by_heading.get(f"q{name[1:]}"), self.scenario.command, self._places("q")
        if name[:2] != "e_" or not isinstance(command, Controller) or heading is None or heading.index not in places:
            return None
        if f"q_ref{name[1:]}" in self._by_heading:
            return self[f"q_ref{name[1:]}"]
        return float(command.target[places.index(heading.index)]) * heading.factor

    def __getitem__(self, name: str) -> np.ndarray:
        """A column by its heading in the files, for example `run["tau_R2_Nm"]`, shape (rows,); `_deg` for degrees.

        Besides, `run["e_R2_rad"]`: target or reference less position, under a controller.
        """
        if name == "t_s":
            return self.t
        if (wanted := self._wanted(name)) is not None:
            error: np.ndarray = wanted - self[f"q{name[1:]}"]
            return error
        found = self._by_heading.get(name)
        if found is None:
            raise no_column(name, self, "run")
        values = self.table[:, found.index]
        return values * found.factor if found.factor != 1.0 else values

    def row(self, k: int) -> list[float]:
        """Row k (negative: from the end), in the order of `Plant.layout`."""
        found: list[float] = self.table[k % self.count].tolist()
        return found

    def fastest_to_diverge(self) -> str:
        """Of a diverged run, the slot closest to its bound in the last state within bounds, for example "qd_R4".

        Raises:
            UsageError: The run did not diverge.
        """
        if self.status != "diverged":
            raise UsageError("the run did not diverge")
        return nearest_to_bound(self.plant, self.state)
