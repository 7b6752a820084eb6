"""The loop over the steps of runs: of one, or of many in vector lanes, and their memory. Nothing else loops over steps."""

from __future__ import annotations

import ctypes
import math
import time
from array import array
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, Protocol

from armsim.clock import NEVER, Clock
from armsim.records import record
from armsim.simulation.accuracy import AS_ASKED, Accuracy
from armsim.stability.divergence import LAST_STEPS

if TYPE_CHECKING:
    from armsim.integrate.method import Stall
    from armsim.simulation.loop_plan import LoopPlan

DOUBLE = ctypes.sizeof(ctypes.c_double)
LINE = 64 // DOUBLE  # doubles of a cache line, on which vectors begin
STRETCH = 0.05  # s of steps between looks at Ctrl-C, at the progress, and at what else is asked
FIRST = 256  # steps of fixed length until it is known how long they take


class Numbers:
    """The same numbers of all runs, as doubles; those of a block lie lane by lane: all lanes of the first, then of the second.

    Args:
        blocks: Number of blocks.
        size: Numbers of a run.
        width: Runs in a block.

    Attributes:
        apart: Doubles from a block to the next.
        view: All of them.
    """

    def __init__(self, blocks: int, size: int, width: int) -> None:
        self.size, self.width, self.apart = size, width, max(size, 1) * width
        room = (ctypes.c_double * (blocks * self.apart + LINE))()
        begin = -(ctypes.addressof(room) // DOUBLE) % LINE
        self._address = ctypes.addressof(room) + DOUBLE * begin
        self.view = memoryview(room).cast("B").cast("d")[begin : begin + blocks * self.apart]

    def address(self, block: int = 0) -> int:
        """Where a block begins."""
        return self._address + DOUBLE * block * self.apart

    def block(self, block: int) -> memoryview[float]:
        """The doubles of a block."""
        return self.view[block * self.apart : (block + 1) * self.apart]

    def run(self, run: int) -> memoryview[float]:
        """The numbers of a run."""
        block, lane = divmod(run, self.width)
        return self.block(block)[lane : self.size * self.width : self.width]

    def fill(self, values: Sequence[float], begin: int = 0) -> None:
        """Give numbers, from an index on, to all runs."""
        given = memoryview(array("d", [x for x in values for _ in range(self.width)]))
        for first in range(begin * self.width, len(self.view), self.apart) if values else ():
            self.view[first : first + len(given)] = given

    def scatter(self, values: memoryview[float], size: int) -> None:
        """Give the first numbers, `size` of every run, from a flat sequence with one run after the other."""
        for lane in range(self.width):
            for i in range(size):
                given = values[lane * size + i :: self.width * size]
                self.view[i * self.width + lane :: self.apart][: len(given)] = given


class RowSpace(NamedTuple):
    """Where rows are put.

    Attributes:
        address: Of the next row of the first block.
        apart: Doubles from a block to the next.
    """

    address: int
    apart: int = 0

    def after(self, doubles: int) -> RowSpace:
        """What follows so many doubles."""
        return RowSpace(self.address + DOUBLE * doubles, self.apart) if doubles else self


class RowRoom(Protocol):
    """Takes the rows of runs.

    Attributes:
        at_once: Rows that one stretch of steps may have.
        failure: Why no more rows can be taken; empty while they can.
    """

    at_once: int
    failure: str

    def space(self, first: int) -> RowSpace:
        """Where to put the rows from index `first` on; all before it have been put where earlier calls said."""


class Departure(NamedTuple):
    """A step that led a run out of its bounds.

    Attributes:
        step: Its number.
        before: The state before.
        after: The state that it led to.
    """

    step: int
    before: list[float]
    after: list[float]


class Lanes:
    """Runs on their way.

    Args:
        width: Runs in a block.
        count: Number of runs.
        states: Numbers in a state.
        kept: The accumulators at the start.
        open: Number of open numbers.

    Attributes:
        blocks: Number of blocks.
        state: The states; of a block without a run that is alive, anything.
        after: What the last step of a block that left its bounds led to.
        kept: The accumulators.
        open: The open numbers.
        reached: The step that every block has reached.
        live: Whether a run goes on, 1 or 0, by lane.
        left: The runs that left their bounds.
    """

    def __init__(self, width: int, count: int, states: int, kept: Sequence[float], open: int) -> None:
        self.width, self.blocks = width, (blocks := -(-count // width))
        self.state, self.after = (Numbers(blocks, states, width) for _ in range(2))
        self.kept, self.open = Numbers(blocks, len(kept), width), Numbers(blocks, open, width)
        self.kept.fill(kept)
        self.reached = (ctypes.c_int64 * blocks)()
        self.live = bytearray(b"\1" * count + b"\0" * (blocks * width - count))
        self.left: dict[int, Departure] = {}

    def copy(self) -> Lanes:
        """The same runs once more."""
        other = Lanes(self.width, len(self.live), self.state.size, [0.0] * self.kept.size, self.open.size)
        for name in ("state", "kept", "open"):
            getattr(other, name).view[:] = getattr(self, name).view
        other.live[:] = self.live
        return other

    @property
    def alive(self) -> bool:
        """Whether a run goes on."""
        return 1 in self.live

    def spans(self) -> Iterator[range]:
        """The stretches of blocks in which runs go on."""
        begin = 0
        for block in range(self.blocks + 1):
            if block == self.blocks or not self._of_block(block):
                if block > begin:
                    yield range(begin, block)
                begin = block + 1

    def end(self, block: int, bounds: Sequence[tuple[int, float]]) -> None:
        """End the runs of a block that its last step led out of bounds; the others go on from where it led them.

        Args:
            block: The block.
            bounds: Indices in the state, and the magnitudes beyond which a run ends.
        """
        first, after = block * self.width, self.after.block(block)
        for run in self._of_block(block):
            lane = run - first
            if not all(abs(after[i * self.width + lane]) <= bound for i, bound in bounds):
                before, to = [*self.state.run(run)], [*self.after.run(run)]
                self.left[run] = Departure(int(self.reached[block]), before, to)
                self.live[run] = 0
        if self._of_block(block):
            self.state.block(block)[:] = after
            self.fill_in(block)

    def fill_in(self, block: int) -> None:
        """Let lanes without a run repeat one that goes on, so that they hold up no other."""
        runs = range(block * self.width, (block + 1) * self.width)
        alive = self._of_block(block)
        for run in runs if 0 < len(alive) < self.width else ():
            if not self.live[run]:
                for numbers in (self.state, self.kept, self.open):
                    numbers.run(run)[:] = numbers.run(alive[0])

    def _of_block(self, block: int) -> list[int]:
        """The runs of a block that go on."""
        runs = range(block * self.width, (block + 1) * self.width)
        return [run for run in runs if self.live[run]]


class Engine(Protocol):
    """Carries out steps.

    Attributes:
        name: "llvm" or "python".
        plan: What it computes.
        width: Runs in a block.
        preparation: Wall time of tracing, printing and compiling [s], by part.
    """

    name: str
    plan: LoopPlan
    width: int
    preparation: dict[str, float]

    def begin(self, lanes: Lanes) -> None:
        """Put runs at their start, which the open numbers give; those whose accelerations they do not determine end at once."""

    def run(self, lanes: Lanes, blocks: range, first: int, last: int, clock: Clock, space: RowSpace) -> None:
        """Carry out the steps first <= k < last of some blocks; `lanes.reached` tells how far each came.

        A block stops at a step that leads one of its runs out of bounds: its state is then the one before, and `lanes.after` has
        what it led to.
        """

    def used(self, seconds: float, left: float) -> float:
        """Hear of the processor time of steps, and about that of those left [s]; how long better code for them took."""

    def finish(self, lanes: Lanes, t: float, due: bool) -> Numbers:
        """The measures' results of runs that end at time t [s], a sample being due or not; see `LoopPlan.gathers_end`."""


@record
class Job:
    """Runs to carry out.

    Attributes:
        plan: What their loop computes.
        clock: When things happen.
        start: The state at the start of a single run; None where the open numbers give it.
        values: The plan's open numbers, of one run after the other.
        count: Number of runs.
        accuracy: Of the runs.
        first: The step at which they begin.
        repeats: Whether they were made before, and are repeated without figures of merit.
    """

    plan: LoopPlan
    clock: Clock
    start: Sequence[float] | None = None
    values: Sequence[float] = ()
    count: int = 1
    accuracy: Accuracy = AS_ASKED
    first: int = 0
    repeats: bool = False

    def again(self, first: float, last: float, start: Sequence[float], accuracy: Accuracy = AS_ASKED) -> Job:
        """Some steps of a single run once more, without rows.

        Args:
            first: First step; a part of a step more for one that begins within it. Those steps take no samples.
            last: Step before which to stop, likewise.
            start: The state at the first.
            accuracy: Of the repetition; as asked unless the plan is refinable.
        """
        clock, parts = self.clock, accuracy.parts
        begin = math.ceil(parts * first)
        early = begin - parts * first
        every = None if early or clock.sample_every is None else parts * clock.sample_every
        steps = begin + round(parts * (last - first))
        fine = Clock(clock.num, parts * clock.den, steps, every, offset=-early * clock.num)
        return replace(self, clock=fine, start=start, accuracy=accuracy, first=begin, repeats=True)


class Runner:
    """Carries out runs.

    Args:
        engine: Carries out steps.
        job: What is run.

    Attributes:
        clock: When things happen.
        lanes: The runs.
        done: Number of steps carried out by those that go on; of a single run that left its bounds, those before.
        improving: How long the engine took to make better code on the way [s].
    """

    def __init__(self, engine: Engine, job: Job) -> None:
        self.engine, self.job, self.plan = engine, job, job.plan
        plan, opened = job.plan, [*job.plan.accuracy(job.accuracy).values()]
        self.clock = replace(job.clock, rare_every=NEVER if job.repeats else plan.rare_every or 1)
        self.lanes = Lanes(engine.width, job.count, plan.states, plan.kept, len(plan.open) + len(opened))
        if plan.open:
            self.lanes.open.scatter(memoryview(job.values), len(plan.open))  # type: ignore[arg-type]  # a buffer of doubles
        self.lanes.open.fill(opened, len(plan.open))
        if job.start is None:
            engine.begin(self.lanes)
        else:
            self.lanes.state.fill(job.start)
        for block in range(self.lanes.blocks):
            self.lanes.fill_in(block)
        self._spans = [*self.lanes.spans()]
        self.done, self.improving = job.first, 0.0
        self._bounds = [(i, bound) for i, bound in enumerate(plan.bounds) if bound < math.inf]
        self._stretch = 1 if plan.adaptive else FIRST
        self._columns = len(plan.columns)
        self._spare = self._room(1)
        self._nowhere = RowSpace(self._spare.address(), self._spare.apart)
        self._checkpoints: deque[tuple[int, bytes, bytes]] = deque()  # done, state, kept

    @property
    def state(self) -> list[float]:
        """The state that a single run has reached; of one that left its bounds, the last one within them."""
        return [*self.lanes.state.run(0)]

    @property
    def stalled(self) -> Stall | None:
        """Of a single run that left its bounds, why a step could not be made; see `Result.stalled`."""
        from armsim.integrate.method import stall_of

        left = self.lanes.left.get(0)
        return None if left is None else stall_of(left.after)

    def until(self, last: int, log: RowRoom | None = None, stops: Callable[[int], int] | None = None) -> Iterator[int]:
        """Carry out the steps before `last`, stretch by stretch; gives the number of steps that are done after each.

        It ends early where no run goes on, or the log takes no more rows. Ctrl-C takes back the stretch that it falls in.

        Args:
            last: The step.
            log: Takes the rows; without one there is room for the row of the first step of a stretch.
            stops: From the number of steps done to the next one at which a stretch is to end.
        """
        while self.done < last and self.lanes.alive:
            end = min(last, self.done + self._stretch)
            space = self._nowhere if log is None else log.space(self.clock.rows_before(self.done))
            if log is not None:
                if log.failure:
                    return
                end = min(end, self.done + log.at_once * self.clock.log_every)
            if stops is not None:
                end = min(end, stops(self.done))
            ahead, began, busy = end - self.done, time.perf_counter(), time.thread_time()
            self._advance(end, space)
            spent, used = max(time.perf_counter() - began, 1e-9), time.thread_time() - busy
            self._stretch = max(1, min(10 * ahead, int(ahead * STRETCH / spent)))
            self.improving += self.engine.used(used, (last - self.done) * used / ahead)
            yield self.done

    def row(self) -> Numbers:
        """The rows of the states reached, by one more step from a copy of them."""
        rows, again = self._room(1), self.lanes.copy()
        rows.fill([math.nan] * self._columns)
        clock = replace(self.clock, log_every=1)
        self._carry(again, range(again.blocks), self.done, self.done + 1, clock, RowSpace(rows.address(), rows.apart))
        return rows

    @property
    def results(self) -> dict[str, float]:
        """The results of the measures of a single run that ends here."""
        found = self.finish().run(0)
        return {name: x + 0.0 for name, x in zip(self.plan.results, found, strict=True)}  # no signed zeros, as in rows

    def finish(self) -> Numbers:
        """The results of the measures of runs that end here."""
        lanes, clock, due = self.lanes.copy(), self.clock, self.clock.samples_at(self.done)
        if due and self.plan.sampled_outside:
            due = False
            self._sample(lanes, self.done)
        if self.plan.gathers_end:
            again, every = lanes.copy(), replace(clock, log_every=NEVER, rare_every=1)
            self.engine.run(again, range(again.blocks), self.done, self.done + 1, every, self._nowhere)
            lanes.kept.view[:] = again.kept.view
        return self.engine.finish(lanes, clock.at(self.done), due)

    def approach(self) -> list[list[float]]:
        """Of a single run that left its bounds, the last states before, one step apart, recomputed."""
        first = max(self._checkpoints[0][0], self.done - LAST_STEPS)
        step, state, _ = max((point for point in self._checkpoints if point[0] <= first), key=lambda point: point[0])
        again, quiet = self.lanes.copy(), replace(self.clock, log_every=NEVER)
        again.state.view.cast("B")[:] = state
        space = self._nowhere
        self._carry(again, range(1), step, first, quiet, space)
        states = [[*again.state.run(0)]]
        for k in range(first, self.done):
            self._carry(again, range(1), k, k + 1, quiet, space)
            states.append([*again.state.run(0)])
        return states

    def _advance(self, end: int, space: RowSpace) -> None:
        """Carry out the steps before `end`; runs that leave their bounds end where they do."""
        lanes, begun = self.lanes, self.done
        self._checkpoints.append((begun, lanes.state.view.tobytes(), lanes.kept.view.tobytes()))
        while len(self._checkpoints) > 2 and self._checkpoints[1][0] <= begun - LAST_STEPS:
            self._checkpoints.popleft()
        try:
            for span in self._spans:
                self._carry(lanes, span, begun, end, self.clock, space)
                for block in span:
                    while lanes.reached[block] < end and self._leave(block, begun, end, space):
                        pass
            self.done = end if lanes.alive else max(left.step for left in lanes.left.values())
        except KeyboardInterrupt:
            self.done, state, kept = self._checkpoints[-1]
            lanes.state.view.cast("B")[:], lanes.kept.view.cast("B")[:] = state, kept
            raise

    def _leave(self, block: int, begun: int, end: int, space: RowSpace) -> bool:
        """End the runs of a block that a step led out of bounds, and go on with the others; False if there are none."""
        lanes, step = self.lanes, int(self.lanes.reached[block])
        lanes.end(block, self._bounds)
        self._spans = [*lanes.spans()]
        if not any(block in span for span in self._spans):
            return False
        clock, width = self.clock, self._columns * lanes.width
        rows = clock.rows_before(step + 1) - clock.rows_before(begun)
        self._carry(lanes, range(block, block + 1), step + 1, end, clock, space.after(rows * width))
        return True

    def _carry(self, lanes: Lanes, blocks: range, first: int, last: int, clock: Clock, space: RowSpace) -> None:
        """Carry out the steps first <= k < last of some blocks; samples that the loop does not take are taken in between."""
        every = clock.sample_every
        if every is None or not self.plan.sampled_outside:
            self.engine.run(lanes, blocks, first, last, clock, space.after(blocks.start * space.apart))
            return
        lanes.reached[0], begun = first, clock.rows_before(first)
        while lanes.reached[0] == first < last:
            if first % every == 0:
                self._sample(lanes, first)
            here = space.after((clock.rows_before(first) - begun) * self._columns)
            begin, first = first, min(last, (first // every + 1) * every)
            self.engine.run(lanes, blocks, begin, first, clock, here)

    def _sample(self, lanes: Lanes, step: int) -> None:
        """Sample the command of a single run; at samples 0, 1, 2, 4, 8, ... twice, as its law must answer the same again."""
        from armsim.simulation.loop_plan import law_of

        plant, state, t = self.plan.plant, lanes.state.run(0), self.clock.at(step)
        given, count = [*state], step // (self.clock.sample_every or NEVER)
        found = plant.sample(t, given)
        law = law_of(plant)
        if law is not None and count & (count - 1) == 0:
            law.check_repeated(found, plant.sample(t, given), f" at t = {t:g} s")
        state[:] = memoryview(array("d", found))

    def _room(self, rows: int) -> Numbers:
        """Room for rows of every run."""
        return Numbers(self.lanes.blocks, rows * self._columns, self.lanes.width)
