"""A loop over the steps of a run that carries the derivatives of its state and measures along."""

from __future__ import annotations

from dataclasses import fields
from functools import cached_property
from typing import Any

from armsim.compile import LoopBody
from armsim.control import Predictive
from armsim.errors import UsageError
from armsim.expr import Expr, ForwardMode, Function, Graph, differentiable
from armsim.integrate import METHODS
from armsim.plant import Plant
from armsim.records import record
from armsim.simulation.content import tables_of
from armsim.simulation.loop_plan import LoopPlan


@record
class TangentPlan(LoopPlan):
    """What a loop computes, without rows; and the derivatives of the measures' results by the open numbers.

    Tangents of the state follow the state, and those of the accumulators follow these: those by all open numbers of the first
    entry, then of the second. Results are followed by their derivatives likewise.
    """

    @classmethod
    def along(cls, plan: LoopPlan) -> TangentPlan:
        """The plan with derivatives along the run."""
        return cls(**{field.name: getattr(plan, field.name) for field in fields(plan)})

    @cached_property
    def values(self) -> LoopPlan:
        """The same without derivatives."""
        return LoopPlan(**{field.name: getattr(self, field.name) for field in fields(self)})

    @property
    def states(self) -> int:
        return self.values.states * (1 + len(self.open))

    @property
    def key(self) -> str:
        return "" if [*tables_of(self.plant)] else super().key  # slopes are tables of their own

    @cached_property
    def kept(self) -> list[float]:
        kept = self.values.kept
        return [*kept, *[0.0] * (len(kept) * len(self.open))]

    @cached_property
    def results(self) -> tuple[str, ...]:
        names = self.values.results
        return (*names, *(f"{name} by {path}" for name in names for path in self.open))

    def body(self) -> LoopBody:
        with differentiable():
            plain = self.values.body()
        n, m = plain.states, plain.kept
        assert plain.begin is not None
        assert plain.finish is not None
        return LoopBody(
            cycle=self._tangent(plain.cycle, [1], [n, m], [n, m]),
            sample=None if plain.sample is None else self._tangent(plain.sample, [1], [n], [n]),
            states=self.states,
            kept=len(self.kept),
            bounds=[*plain.bounds, *[float("inf")] * (self.states - n)],
            begin=self._tangent(plain.begin, [], [], [n]),
            finish=self._tangent(plain.finish, [1], [n, m], [len(self.values.results)]),
        )

    def _tangent(self, function: Function, constant: list[int], moving: list[int], results: list[int]) -> Function:
        """A function of the body with tangents.

        Args:
            function: Of constants, of groups that have tangents, and of the open numbers.
            constant: Numbers of the constants.
            moving: Numbers of the groups.
            results: Numbers of the groups of outputs that have tangents; others follow.
        """
        p, graph = len(self.open), Graph(function.graph.depth)
        given: list[Expr] = []
        seeds: list[dict[int, Any]] = []
        inputs = iter(function.inputs)

        def take(count: int) -> None:
            given.extend(graph.input(str(next(inputs).args[0])) for _ in range(count))

        for count in constant:
            take(count)
            seeds += [{} for _ in range(count)]
        for count in moving:
            take(count)
            seeds += [{k: graph.input(f"d{len(seeds) + i}by{k}") for k in range(p)} for i in range(count)]
        take(p)
        seeds += [{k: 1.0} for k in range(p)]
        total = sum(results)
        found = ForwardMode(function, given, seeds, range(total))
        outputs, first = [], 0
        for count in results:
            outputs += found.outputs[first : first + count]
            outputs += [row.get(k, 0.0) for row in found.rows[first : first + count] for k in range(p)]
            first += count
        return Function(function.name, graph, [*outputs, *found.outputs[total:]])


def check_differentiable(plant: Plant) -> None:
    """Refuse a plant whose step has no derivatives.

    Raises:
        UsageError: Its steps follow from an error estimate, or it has a step of its own; or its law iterates on a plan.
    """
    if plant.step_rule is not None:
        raise UsageError(str(plant.step_rule.no_derivatives))
    if plant.integrator.adaptive is not None:
        fixed = [name for name, method in METHODS.items() if method.step is not None]
        mend = f"set integrator.dt, and integrator.method to one of {', '.join(fixed)}"
        raise UsageError.of("derivatives", "a method with steps of a fixed length", plant.method, mend)
    if isinstance(
        getattr(plant.command, "law", None), Predictive
    ):  # to others its commands have the slopes of its gains
        mend = "take another law, or vary the numbers by `armsim sweep`"
        raise UsageError.of("control.law", "a law with derivatives", "predictive, which iterates on a plan", mend)
