"""What is traced of a step of the forward model: the step, the state it begins with, and the step's derivatives."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from functools import cached_property, reduce
from itertools import accumulate, chain, islice, pairwise

from armsim.actuation import Output
from armsim.dynamics import ExternalWrench
from armsim.expr import (
    Function,
    Scalar,
    Scalars,
    absolute,
    both,
    differentiable,
    finite_or_nan,
    jacobian,
    trace,
    where,
)
from armsim.integrate import Tolerance
from armsim.loading.open_robot import OpenRobot
from armsim.model import Arm
from armsim.plant import driven_plant
from armsim.recording.applied import with_numbers
from armsim.recording.state_vector import StateVector
from armsim.records import record
from armsim.simulation.loop_plan import bounds
from armsim.simulation.tangent_plan import check_differentiable

Given = Mapping[str, Scalars]  # numbers of the arguments by their names


@record
class StepFunctions:
    """The functions of a forward model.

    Attributes:
        arm: The arm, n joints; with the numbers of the file where they are left open.
        opened: The robot with its open numbers; None where none is open.
        dt: Length of a step [s].
        method: Name of the integrator.
        output: What the inputs are.
        tolerance: Of an adaptive method.
        places: Where wrenches act.
        currents: Whether the currents of the electric motors are among the outputs.
        outputs: Whether there are outputs at all.
        creep: Of a step whose derivatives are taken in place of its own; see `armsim.plant.Plant`.
    """

    arm: Arm
    opened: OpenRobot | None
    dt: float
    method: str
    output: Output
    tolerance: Tolerance
    places: tuple[ExternalWrench, ...]
    currents: bool
    outputs: bool
    creep: float | None = None

    @property
    def structure(self) -> Arm:
        """The arm; with the open numbers as expressions."""
        return self.arm if self.opened is None else self.opened.structure

    @cached_property
    def vector(self) -> StateVector:
        """The order of the state, of a plant whose open numbers stand for themselves."""
        return self._vector_on(self.structure, [0.0] * 6 * len(self.places))

    @cached_property
    def more(self) -> dict[str, int]:
        """How many numbers a step takes besides state and inputs."""
        widths = {"values": 0 if self.opened is None else len(self.opened.paths), "wrench": 6 * len(self.places)}
        return {key: width for key, width in widths.items() if width}

    def widths(self, name: str) -> dict[str, int]:
        """How many numbers each argument of `traced` has."""
        n = self.arm.n
        own = {"q": n, "qd": n, "u": n} if name == "begin" else {"state": len(self.vector.slots), "u": n}
        return own | self.more

    def differentiated(self, name: str) -> dict[str, int]:
        """How many numbers each argument of `traced` has by which derivatives are taken."""
        found = {"state": len(self.vector.carried), "u": self.arm.n}
        return {**found, "values": self.more.get("values", 0)} if name == "derivatives by values" else found

    def traced(self, name: str, bounded: bool = False) -> Function:
        """The "step", "begin" (the initial state) or "derivatives", as a function of all the numbers of its arguments.

        A bounded step that leaves the bounds of a state is NaN. Derivatives ("derivatives by values" also by the open numbers)
        follow the state, by rows.

        Raises:
            UsageError: The step has no derivatives.
        """
        widths = self.widths(name)

        def begin(given: Given) -> Scalars:
            vector = self.vector_with(given)
            state = vector.plant.initial_state(given["q"], given["qd"])
            return finite_or_nan(
                vector.vector(0.0, vector.with_inputs(state, given["u"])),
                [x for key in given if key != "values" for x in given[key]],
            )

        if name == "begin":
            return traced_by(begin, widths, name)
        if name == "step":
            return traced_by(lambda given: finite_or_nan(*self._stepped(given, bounded)), widths, name)
        check_differentiable(self.vector.plant)
        with differentiable():
            step = traced_by(
                lambda given: [*chain(*self._stepped(given, bounded), self._smoothed(given))], widths, "step"
            )
        carried, size, by = [i for i, _ in self.vector.carried], len(self.vector.slots), self.differentiated(name)
        places = dict(zip(widths, pairwise([0, *accumulate(widths.values())]), strict=True))
        wrt = [*carried, *(i for key in by if key in places and key != "state" for i in range(*places[key]))]
        count = len(step.outputs)
        found = jacobian(step, wrt, carried if self.creep is None else range(count - len(carried), count))
        felt, rows = found.outputs[size:count], found.outputs[count:]
        parts = by_arguments(rows, by.values())
        return Function(name, found.graph, finite_or_nan([*found.outputs[:size], *parts], felt))

    def _stepped(self, given: Given, bounded: bool) -> tuple[Scalars, Scalars]:
        """The state after a step; and numbers that are finite if it is to count."""
        vector = self.vector_with(given)
        after = vector.plant.step(0.0, vector.state(given["state"], given["u"]), self.dt)
        own = [given["state"][i] for i, _ in vector.carried]
        if bounded:
            own.append(beyond(vector, after))
        return vector.vector(0.0, after), [*own, *given["u"], *given.get("wrench", [])]

    def _smoothed(self, given: Given) -> Scalars:
        """What moves of the state after a step whose dry friction is smoothed; nothing where it is not."""
        if self.creep is None:
            return []
        vector = self.vector_with(given)
        plant = replace(vector.plant, creep=self.creep)
        after = plant.step(0.0, vector.state(given["state"], given["u"]), self.dt)
        return [after[source] for _, source in vector.carried]

    def vector_with(self, given: Given) -> StateVector:
        """The order of the state, of a plant with the numbers of `values` and `wrench`."""
        if not self.more:
            return self.vector
        arm = self.arm if self.opened is None else self.opened.of(given.get("values", []))
        return self._vector_on(arm, given.get("wrench", []))

    def _vector_on(self, arm: Arm, wrench: Scalars) -> StateVector:
        loads = with_numbers(self.places, wrench)
        return StateVector(
            driven_plant(arm, self.method, self.output, self.tolerance, loads), self.currents, self.outputs
        )


def by_arguments(rows: Scalars, widths: Collection[int]) -> Scalars:
    """A Jacobian by rows as one by rows for each argument, of so many numbers."""
    ends = [0, *accumulate(widths)]
    starts = range(0, len(rows), ends[-1])
    return [x for a, b in pairwise(ends) for i in starts for x in rows[i + a : i + b]]


def beyond(vector: StateVector, state: Scalars) -> Scalar:
    """Infinite where one of the plant's states that belong to the vector is out of bounds, else 0."""
    limits = bounds(vector.plant)
    return where(reduce(both, [absolute(state[i]) <= limits[i] for _, i in vector.carried]), 0.0, math.inf)


def traced_by(text: Callable[[Given], Scalars], widths: Mapping[str, int], name: str) -> Function:
    """A function of so many numbers of each argument, given as lists by its name."""

    def body(*x: Scalar) -> Scalars:
        numbers = iter(x)
        return text({key: list(islice(numbers, width)) for key, width in widths.items()})

    return trace(body, [f"{key}{i + 1}" for key, width in widths.items() for i in range(width)], name)
