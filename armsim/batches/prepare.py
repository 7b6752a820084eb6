"""A scenario made ready for runs with other numbers: one kernel serves them all."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from armsim.batches.variants import Family
from armsim.compile import SteppingLoop
from armsim.errors import UsageError
from armsim.loading import Scenario
from armsim.loading.open_numbers import Written, open_numbers
from armsim.loading.written import file_with_numbers
from armsim.plant import Plant
from armsim.plant.columns import Layout
from armsim.simulation.driver import Progress
from armsim.simulation.engine import Clock, doubles, finished, repeated
from armsim.simulation.loop_plan import AS_ASKED, Accuracy, LoopPlan
from armsim.simulation.result import KnownSetup
from armsim.simulation.run import Run
from armsim.simulation.simulate import carried_out
from armsim.stability.advice import Advice
from armsim.stability.step_advice import heed


class Prepared:
    """A scenario that is ready to run with any values of its open numbers; called with them, it gives a `Run`.

        sim = armsim.prepare("arm5_hold", open=["control.kp[0]", "payload.mass"])
        run = sim({"control.kp[0]": 80, "payload.mass": 0.2})

    Every run has the bits of `armsim.simulate` with these numbers written in. Numbers that decide what there is (a dry friction
    of zero, say) have a kernel of their own, which is compiled when they are first asked for.

    Attributes:
        open: The paths of the open numbers.
    """

    def __init__(
        self,
        scenario: str | PathLike[str] | Mapping[str, Any],
        open: Sequence[str] | Mapping[str, Any],
        overrides: Mapping[str, Any] | None,
        measure: Sequence[str] | str,
        force_step: bool,
    ) -> None:
        paths = open if isinstance(open, Mapping) else [] if isinstance(open, str) else list(open)
        if not paths or not all(isinstance(path, str) for path in paths):
            raise UsageError.of("open", "a list of paths", repr(open), 'write for example ["control.kp[0]"]')
        self._arguments = (scenario, paths, overrides, measure, force_step)
        self._opened = open_numbers(scenario, paths, overrides)
        self.open = tuple(self._opened.asked)
        self._measure = measure
        self._force_step = force_step
        self._families: dict[tuple[tuple[str, float], ...], tuple[Family, SteppingLoop]] = {}
        file = np.array([[self._opened.number(place) for place in self._opened.places]])
        ((written, _),) = self._opened.groups(file)
        family, _ = self._family(written, file[0].tolist())
        family.adviser.refuses(file)  # compiles it

    def __reduce__(self) -> tuple[Any, ...]:
        return Prepared, self._arguments  # made ready again on the other side

    def __repr__(self) -> str:
        return f"Prepared({self._opened.file.name}, open={list(self.open)})"

    def __call__(self, values: Mapping[str, Any], progress: Progress | None = None) -> Run:
        """Run the scenario.

        Args:
            values: For each open path its number, in the file's unit; where it stands for k numbers, k of them or one for all.
            progress: Called about twenty times a second with steps done and steps in all.

        Raises:
            UsageError: A value is missing, or the files would not take it; or the step is refused, as the run would blow up.
        """
        began = time.perf_counter()
        matrix = self._opened.matrix(values, one=True)
        refused = self._opened.refused(matrix)
        if refused:
            raise UsageError(refused[0])
        ((written, _),) = self._opened.groups(matrix)
        row = matrix[0].tolist()
        family, loop = self._family(written, row)
        engine = OpenEngine(family.plan, loop, row)
        if not engine.sound:
            raise UsageError(family.undetermined(row))
        if family.adviser.refuses(matrix)[0]:
            heed(family.adviser.one(matrix[0]), self._force_step)
        seconds = {"ready_s": time.perf_counter() - began}
        return carried_out(family.scenario, engine, Variant(family, matrix[0]), progress, seconds, began, engine.start)

    def _family(self, written: Written, values: Sequence[float]) -> tuple[Family, SteppingLoop]:
        key = tuple(written.items())
        if key not in self._families:
            family = Family(self._opened, written, values, self._measure, True, True, True, refinable=True)
            loop = family.loop(lanes=1)
            loop.code  # noqa: B018  compiled or fetched
            self._families[key] = family, loop
        return self._families[key]


class Variant:
    """What is run with numbers of its own, made when it is looked at; see `armsim.simulation.result.Setup`.

    Args:
        family: Of the variants of a scenario.
        values: The open numbers.
    """

    def __init__(self, family: Family, values: NDArray[np.float64]) -> None:
        self._family, self._values = family, values

    def __reduce__(self) -> tuple[Any, ...]:
        return KnownSetup, (self.scenario, self.plant, self.advice)

    @cached_property
    def scenario(self) -> Scenario:
        """The scenario with the numbers written in."""
        opened, row = self._family.opened, self._values.tolist()
        file = file_with_numbers(opened.file, dict(zip(opened.places, row, strict=True)))
        return replace(self._family.variant(row), file=file)

    @cached_property
    def plant(self) -> Plant:
        """The arm with its drives."""
        return self._family.plant(self.scenario)

    @property
    def layout(self) -> Layout:
        """What the numbers of a row are."""
        return self._family.plan.plant.layout

    @cached_property
    def advice(self) -> Advice:
        """The advice on the step; a refusal has been heeded, or is a warning."""
        return heed(self._family.adviser.one(self._values), True)


class OpenEngine:
    """Machine code with open numbers, ready for one run of them; see `armsim.simulation.engine.Engine`.

    Args:
        plan: What it computes.
        loop: The compiled loop.
        values: The numbers.

    Attributes:
        start: The state at the start.
        sound: Whether the numbers determine the accelerations.
    """

    name = "llvm"

    def __init__(self, plan: LoopPlan, loop: SteppingLoop, values: Sequence[float]) -> None:
        self.plan, self.plant, self.preparation = plan, plan.plant, dict[str, float]()
        self._loop, self._values, self._rare = loop, list(values), plan.rare_every or 1
        self._open = doubles([*values, *plan.opened().values()])
        state, check = doubles([0.0] * len(self.plant.slots)), doubles([0.0])
        loop.blocks.begin(1, 0, 0, *map(ctypes.addressof, (self._open, state, check)))
        self.start, self.sound = list(state), check[0] > 0.0

    def run(
        self,
        state: ctypes.Array,
        rows: ctypes.Array,
        kept: ctypes.Array,
        first: int,
        last: int,
        log_every: int,
        sample_every: int,
        time_ratio: tuple[int, int],
    ) -> int:
        """Carry out steps; see `armsim.compile.SteppingLoop.run`."""
        return self._loop.run(
            state, rows, kept, first, last, log_every, sample_every, time_ratio, self._open, self._rare
        )

    def run_again(
        self, state: ctypes.Array, first: float, last: float, clock: Clock, accuracy: Accuracy = AS_ASKED
    ) -> bool:
        """Carry out steps once more; see `armsim.simulation.engine.repeated`."""
        return repeated(self._loop, self.plan, self._values, state, first, last, clock, accuracy)

    def measured(self, state: Sequence[float], kept: Sequence[float], t: float, due: bool) -> list[float]:
        """The measures' results; see `armsim.simulation.engine.NativeEngine.measured`."""
        return finished(self._loop, self.plan, state, kept, self._open, t, due)


def prepare(
    scenario: str | PathLike[str] | Mapping[str, Any],
    open: Sequence[str] | Mapping[str, Any],
    overrides: Mapping[str, Any] | None = None,
    measure: Sequence[str] | str = (),
    force_step: bool = False,
) -> Prepared:
    """Make a scenario ready for runs with other numbers.

    Args:
        scenario: A scenario file, the name of a shipped one, or a file's content.
        open: The numbers, by path as `--set` names them: "control.kp[0]", "control.kp" for all of a list,
            "robot.joints[*].motor.Kp"; a mapping also says the values of numbers that the file leaves out.
        overrides: Values in place of the file's, by path.
        measure: Names of what is measured, for `Run.measures`; see docs/measures.md.
        force_step: Run even with a step that is refused.

    Raises:
        FileFaults: The scenario or its robot cannot be run; says where and why.
        UsageError: There is no number at a path, or it is part of the structure, or a measure is unknown.
    """
    return Prepared(scenario, open, overrides, measure, force_step)
