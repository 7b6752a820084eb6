"""What the loop over the steps of a run, or of many runs, computes: steps, samples, rows and measures, as traced functions."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple, Protocol

from armsim import sources
from armsim.compile import LoopBody
from armsim.control import FunctionLaw
from armsim.dynamics.contact import ANCHOR, CLOSED, COEFFICIENT
from armsim.errors import UsageError
from armsim.expr import Scalar, Scalars, Structure, Table, flatten, leaves, loop, trace, unflatten, where
from armsim.integrate import Tolerance
from armsim.loading import Scenario
from armsim.measures.contact import CONTACT_TIME
from armsim.measures.drive import peak_torque
from armsim.measures.figures import every, figures_of
from armsim.measures.kind import Request
from armsim.measures.measure import Measure
from armsim.measures.moment import Moment
from armsim.plant import Column, Plant, make_plant
from armsim.plant.columns import Layout
from armsim.records import record
from armsim.simulation.accuracy import AS_ASKED, Accuracy
from armsim.simulation.content import content_of, tables_of

# magnitudes beyond which a run has diverged, by kind of state; that of positions is also the range of our sine
BOUNDS = {"q": 1e6, "qd": 1e9, "current": 1e9, "stuck": 1.0, "before": 1e9}
BOUNDS |= {
    "integral": 1e15,
    "filtered": 1e9,
    "encoder": 1e7,
    "velocity": 1e15,
    "samples": 1e15,
    "held": 1e15,
    "plan": 1e15,
    "queued": 1e15,
    "winding": 1e6,
    "clearance": math.inf,
    CLOSED: math.inf,
    **dict.fromkeys((*ANCHOR, COEFFICIENT), 1e30),
}

SUMMARISED = "peak_torque"  # the measure that the summary of every run is made from


class PlantStart(NamedTuple):
    """What a run is made of.

    Attributes:
        plant: The plant.
        q: Joint positions at the start [rad or m].
        qd: Joint velocities at the start [rad/s or m/s].
    """

    plant: Plant
    q: Scalars
    qd: Scalars = ()


def bounds(plant: Plant) -> list[float]:
    """The magnitude of every state beyond which a run has diverged; inf for work and for the integrator's own states."""
    free = {*plant.integrator.memory, *plant.works, *plant.run_ahead}
    return [math.inf if slot in free else BOUNDS[slot.split("_", 1)[0]] for slot in plant.slots]


def nearest_to_bound(plant: Plant, state: Sequence[float]) -> str:
    """The slot of a state within bounds that is closest to its bound, for example "qd_R4"."""
    shares = [abs(x) / bound if bound < math.inf else 0.0 for x, bound in zip(state, bounds(plant), strict=False)]
    return plant.slots[max(range(len(shares)), key=shares.__getitem__)]


def plant_of_run(scenario: Scenario) -> Plant:
    """The plant of a run, which counts work: an adaptive method runs ahead of the moments where it lands on fewer."""
    ahead = scenario.land_every * scenario.moments > 1
    return replace(make_plant(scenario), audit=True, ahead=ahead, skips=True)


def law_of(plant: Plant) -> FunctionLaw | None:
    """A plant's law where it is a Python function."""
    law = getattr(plant.command, "law", None)
    return law if isinstance(law, FunctionLaw) else None


def is_called(plant: Plant) -> bool:
    """Whether a plant's law is a function that cannot be traced.

    Raises:
        UsageError: It is one, and the control is continuous; or the function does not repeat its answers.
    """
    law = law_of(plant)
    if law is None or law.traceable:
        return False
    if plant.sampled:
        return True
    found = "continuous control by a function that branches on numbers, or calls what takes numbers alone"
    mend = "set `control.period`; or write it with armsim.expr's where, clip, sin, ..., so that it can be traced"
    raise UsageError.of("control.period", "a sample time, at which the function is called", found, mend)


@record
class Keep:
    """What is kept of a run, besides its end and what is measured.

    Attributes:
        rows: Its rows.
        work: The work of all that acts.
        peaks: The largest motor torques, for its summary.
        figures: Figures of merit.
        accuracy: Whether its accuracy stays open, if it can: the step is no part of the plant.
    """

    rows: bool = True
    work: bool = True
    peaks: bool = True
    figures: bool = True
    accuracy: bool = True


EVERYTHING = Keep()


class RowKind(Protocol):
    """What a row has."""

    @property
    def layout(self) -> Layout:
        """What its numbers are."""

    def row(self, t: Scalar, state: Scalars) -> Scalars:
        """The row of a state at time t [s]."""


@record
class OpenPlant:
    """Open numbers of a scenario.

    Attributes:
        names: One for each.
        make: From their values to the plant and the start.
        content: Names all that `make` depends on besides.
        sound: Whether a plant can be run, as a condition.
        landing: Of plants that run ahead: time between landings [s].
    """

    names: tuple[str, ...]
    make: Callable[[Scalars], PlantStart]
    content: str
    sound: Callable[[Plant], Scalar]
    landing: float = 0.0


@record
class LoopPlan:
    """What a loop computes.

    Attributes:
        plant: The plant, on numbers; with open numbers, one of those that they make.
        dt: Length of a step [s]; of an adaptive method the time between the instants it is asked for.
        parts: Number of moments of a step at which measures are gathered, of a plant that runs ahead.
        measures: What is measured.
        summarised: Names of those results that only the summary asks for, the largest motor torques.
        start: Joint positions at the start [rad or m]; None where no measure asks.
        rows: Whether there are rows.
        recorded: What rows have in place of the plant's columns; None for these.
        opened: The open numbers; None without any.
        refinable: Whether its accuracy is open, too, by the last of the open numbers; see `accuracy`.
        rare_every: Steps between the moments at which figures of merit are gathered, where they are the last measure; 0 where
            they are gathered at every moment.
        sampled_outside: Whether commands are sampled by who runs the loop.
    """

    plant: Plant
    dt: float
    measures: tuple[Measure, ...] = ()
    summarised: tuple[str, ...] = ()
    start: tuple[float, ...] | None = None
    rows: bool = True
    recorded: RowKind | None = None
    opened: OpenPlant | None = None
    parts: int = 1
    refinable: bool = False
    rare_every: int = 0
    sampled_outside: bool = False

    @classmethod
    def of(cls, plant: Plant, dt: float) -> LoopPlan:
        """Rows, and the largest motor torques, of a plant alone."""
        peaks = peak_torque(Request(SUMMARISED, plant))
        return cls(plant, dt, (peaks,), peaks.names)

    @classmethod
    def of_run(
        cls,
        scenario: Scenario,
        measure: Sequence[str] | str = (),
        keep: Keep = EVERYTHING,
        opened: OpenPlant | None = None,
    ) -> LoopPlan:
        """What a run of a scenario computes.

        Args:
            scenario: With a method that is picked; with open numbers, one of those that they make.
            measure: Names of measures.
            keep: What is kept besides.
            opened: The open numbers.
        """
        plant, steps = plant_of_run(scenario), scenario.clock.steps
        called = is_called(plant)
        asked: list[Measure] = []
        if measure != ():
            from armsim.measures.names import measures_of

            asked = measures_of(measure, plant)
        peaks = [peak_torque(Request(SUMMARISED, plant))] if keep.peaks else []
        known = [one for one in peaks if one.names not in [other.names for other in asked]]
        figures = [figures_of(plant)] if keep.figures else []
        measures = (*known, *asked, *figures)
        return cls(
            replace(
                plant,
                audit=keep.work or any(one.needs_work for one in measures),
                times=CONTACT_TIME in str([one.names for one in measures]),
            ),
            scenario.dt,
            measures,
            tuple(name for one in (*known, *figures) for name in one.names),
            start=tuple(scenario.initial_q) if asked and opened is None else None,
            rows=keep.rows,
            opened=opened,
            parts=scenario.moments,
            refinable=keep.accuracy and not called and plant.step_rule is None,
            rare_every=every(steps) if keep.figures and scenario.moments == 1 else 0,
            sampled_outside=called,
        )

    @property
    def open(self) -> tuple[str, ...]:
        """Names of the open numbers but for the accuracy."""
        return () if self.opened is None else self.opened.names

    def start_of(self, scenario: Scenario) -> list[float]:
        """The state at the start of a run of a scenario."""
        return self.plant.initial_state(scenario.initial_q, scenario.initial_qd, scenario.landing)

    @property
    def columns(self) -> tuple[Column, ...]:
        """What the numbers of a row are; none without rows."""
        kind = self.recorded or self.plant
        return kind.layout.columns if self.rows else ()

    @property
    def tables(self) -> list[Table]:
        """The tables that it may look up."""
        return tables_of(self.plant)

    @property
    def bounds(self) -> list[float]:
        """See the function."""
        return bounds(self.plant)

    @property
    def adaptive(self) -> bool:
        """Whether its method chooses its steps."""
        return self.plant.integrator.adaptive is not None

    @property
    def states(self) -> int:
        """Numbers of a state."""
        return len(self.plant.slots)

    @property
    def rare(self) -> int:
        """How many of the accumulators are updated only every `rare_every` steps: those of the figures."""
        return len(leaves(self.measures[-1].begin())) if self.rare_every else 0

    @property
    def gathers_end(self) -> bool:
        """Whether the moment at which a run ends is gathered by one more step, whose text is there: if steps have one moment."""
        return self.parts == 1

    @property
    def key(self) -> str:
        """Names all that the loop depends on; empty if that cannot be put into words."""
        made = content_of([self.plant, self.start, self.recorded]) if self.opened is None else self.opened.content
        text = sources.digest(sources.TRACED if self.opened is None else sources.LOADED)
        dt = None if "dt" in self.accuracy() else self.dt
        kept = len(self.kept), self.rare  # also of measures without results, as the figures of an undriven arm
        rows = self.rows and self.plant.logged
        asked = content_of([dt, self.parts, self.results, kept, rows, self.plant.audit, self.refinable])
        return f"{text} {made} {asked} {self.open}" if made and asked else ""

    @cached_property
    def kept(self) -> list[float]:
        """The accumulators of the measures at the start."""
        return leaves([measure.begin() for measure in self.measures])

    @cached_property
    def results(self) -> tuple[str, ...]:
        """Names of the measures' results."""
        return tuple(name for measure in self.measures for name in measure.names)

    @property
    def units(self) -> tuple[str, ...]:
        """Units of the results."""
        return tuple(unit for measure in self.measures for unit in measure.units)

    def accuracy(self, accuracy: Accuracy = AS_ASKED) -> dict[str, float]:
        """The last open numbers by name: dt [s], unless the plant runs ahead; a factor on an adaptive tolerance."""
        known = {} if self.plant.ahead else {"dt": self.dt / accuracy.parts}
        if self.adaptive:
            known["slack"] = 1.0 / accuracy.tighter
        return known if self.refinable else {}

    def body(self) -> LoopBody:
        """The loop's body, traced."""
        n, m = len(self.plant.slots), len(self.kept)
        state_names = ["t", *self.plant.slots]
        open_names = [*self.open, *self.accuracy()]
        names = [*state_names, *(f"kept{i}" for i in range(m)), *open_names]

        def cycle(t: Scalar, *x: Scalar) -> Scalars:
            made = self.made(x[n + m :])
            state, opened = x[:n], dict(zip(names, [t, *x], strict=True))
            if "slack" in opened:
                slack, asked = opened["slack"], made.plant.tolerance
                own = Tolerance(slack * asked.rtol, slack * asked.atol)
                made = made._replace(plant=replace(made.plant, tolerance=own))
            after, kept = self.stepped(made, t, state, x[n : n + m], opened.get("dt", self.dt))
            return [*after, *kept, *self.row(made.plant, t, state)]

        def finish(t: Scalar, *x: Scalar) -> Scalars:
            dt = dict(zip(open_names, x[n + m :], strict=True)).get("dt", self.dt)
            return self.measured(self.made(x[n + m :]), t, x[:n], x[n : n + m], dt, self.gathers_end)

        def sample(t: Scalar, *x: Scalar) -> Scalars:
            return self.made(x[n:]).plant.sample(t, x[:n])

        def begin(*x: Scalar) -> Scalars:
            plant, q, qd = self.made(x)
            assert self.opened is not None
            start = plant.initial_state(q, qd, self.opened.landing)
            return [*start, where(self.opened.sound(plant), 1.0, 0.0)]

        samples = self.plant.sampled and not self.sampled_outside
        return LoopBody(
            cycle=trace(cycle, names, "cycle"),
            sample=trace(sample, [*state_names, *open_names], "sample") if samples else None,
            states=n,
            kept=m,
            bounds=bounds(self.plant),
            begin=None if self.opened is None else trace(begin, list(self.open), "begin"),
            finish=trace(finish, names, "finish"),
            rare=self.rare,
        )

    def row(self, plant: Plant, t: Scalar, state: Scalars) -> Scalars:
        """The row of a state."""
        if self.recorded is not None:
            return self.recorded.row(t, state)
        return plant.observe(t, state) if self.rows else []

    def made(self, values: Scalars) -> PlantStart:
        """The plant and the start for values of the open numbers."""
        if self.opened is not None:
            return self.opened.make(values[: len(self.open)])
        return PlantStart(self.plant, [0.0] * self.plant.arm.n if self.start is None else self.start)

    def stepped(
        self,
        made: PlantStart,
        t: Scalar,
        state: Scalars,
        kept: Scalars,
        dt: Scalar | None = None,
        rare: bool = True,
    ) -> tuple[list[Scalar], list[Scalar]]:
        """The state a step of dt [s] after time t, the plan's own unless given; and the accumulators after its moments.

        Those that are rare stay as they are unless `rare`.
        """
        plant, dt = made.plant, self.dt if dt is None else dt
        if self.parts == 1:
            return plant.step(t, state, dt), self._updated(self._moment(made, t, state, dt), kept, rare)

        def body(k: Scalar, state: Scalars, kept: Scalars) -> list[Any]:
            at, part = t + k * (self.dt / self.parts), self.dt / self.parts
            return [k + 1.0, plant.step(at, state, part), self._updated(self._moment(made, at, state, dt), kept)]

        _, after, gathered = loop([0.0, list(state), list(kept)], body, lambda k, *_: k >= self.parts, self.parts)
        return after, gathered

    def _updated(self, moment: Moment, kept: Scalars, rare: bool = True) -> list[Scalar]:
        """The accumulators after a moment; see `stepped`."""
        parts = self._parts(kept)
        due = len(parts) if rare or not self.rare_every else len(parts) - 1
        pairs = zip(self.measures[:due], parts[:due], strict=True)
        return leaves([*(measure.update(part, moment) for measure, part in pairs), *parts[due:]])

    def measured(
        self,
        made: PlantStart,
        t: Scalar,
        state: Scalars,
        kept: Scalars,
        dt: Scalar | None = None,
        gathered: bool = False,
    ) -> Scalars:
        """The measures' results, where the run ends at time t, by steps of dt [s], the plan's own unless given.

        The accumulators have that moment already if `gathered`.
        """
        moment = self._moment(made, t, state, self.dt if dt is None else dt)
        parts = self._parts(kept if gathered else self._updated(moment, kept))
        return [x for measure, part in zip(self.measures, parts, strict=True) for x in measure.result(part, moment)]

    def _moment(self, made: PlantStart, t: Scalar, state: Scalars, dt: Scalar) -> Moment:
        return Moment(made.plant, t, state, dt / self.parts, made.q)

    def _parts(self, kept: Scalars) -> list[Any]:
        parts: list[Any] = unflatten(self._structure, kept)
        return parts

    @cached_property
    def _structure(self) -> Structure | None:
        """Of the accumulators."""
        return flatten([measure.begin() for measure in self.measures])[1]
