"""What is traced of a step of the forward model: the step, the state it begins with, and the step's derivatives."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cached_property, reduce
from itertools import accumulate, islice, pairwise

from armsim.actuation import Output
from armsim.dynamics import ExternalWrench
from armsim.errors import UsageError
from armsim.expr import (
    Function,
    Scalar,
    absolute,
    both,
    differentiable,
    finite_or_nan,
    jacobian,
    trace,
    where,
)
from armsim.integrate import METHODS, Tolerance
from armsim.loading.open_robot import OpenRobot
from armsim.model import Arm
from armsim.plant import driven_plant
from armsim.plant.plant import Plant
from armsim.recording.applied import with_numbers
from armsim.recording.state_vector import StateVector
from armsim.records import record
from armsim.simulation.loop_plan import bounds


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
    """

    arm: Arm
    opened: OpenRobot | None
    dt: float
    method: str
    output: Output
    tolerance: Tolerance
    places: tuple[ExternalWrench, ...]
    currents: bool

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
        names = [f"{key}{i + 1}" for key, width in widths.items() for i in range(width)]

        def body(*x: Scalar) -> list[Scalar]:
            numbers = iter(x)
            given = {key: list(islice(numbers, width)) for key, width in widths.items()}
            if name != "begin":
                after, felt = self._stepped(given, bounded)
                return finite_or_nan(after, felt) if name == "step" else [*after, *felt]
            vector = self._vector_with(given)
            state = vector.plant.initial_state(given["q"], given["qd"])
            return finite_or_nan(
                vector.vector(0.0, vector.with_inputs(state, given["u"])),
                [x for key in given if key != "values" for x in given[key]],
            )

        if name in ("step", "begin"):
            return trace(body, names, name)
        check_differentiable(self.vector.plant)
        carried, size = [i for i, _ in self.vector.carried], len(self.vector.slots)
        wrt, first = list(carried), size
        for key, width in widths.items():
            if key in self.differentiated(name) and key != "state":
                wrt += range(first, first + width)
            first += 0 if key == "state" else width
        with differentiable():
            step = trace(body, names, "step")
        found = jacobian(step, wrt, carried)
        felt, rows = found.outputs[size : len(step.outputs)], found.outputs[len(step.outputs) :]
        k, ends = len(carried), [0, *accumulate(self.differentiated(name).values())]
        parts = [x for a, b in pairwise(ends) for i in range(k) for x in rows[ends[-1] * i + a : ends[-1] * i + b]]
        return Function(name, found.graph, finite_or_nan([*found.outputs[:size], *parts], felt))

    def _stepped(self, given: Mapping[str, list[Scalar]], bounded: bool) -> tuple[list[Scalar], list[Scalar]]:
        """The state after a step; and numbers that are finite if it is to count."""
        vector = self._vector_with(given)
        after = vector.plant.step(0.0, vector.state(given["state"], given["u"]), self.dt)
        own = [given["state"][i] for i, _ in vector.carried]
        if bounded:
            limits = bounds(vector.plant)
            within = [absolute(after[source]) <= limits[source] for _, source in vector.carried]
            own.append(where(reduce(both, within), 0.0, math.inf))
        return vector.vector(0.0, after), [*own, *given["u"], *given.get("wrench", [])]

    def _vector_with(self, given: Mapping[str, list[Scalar]]) -> StateVector:
        """The order of the state, of a plant with the numbers of `values` and `wrench`."""
        if not self.more:
            return self.vector
        arm = self.arm if self.opened is None else self.opened.of(given.get("values", []))
        return self._vector_on(arm, given.get("wrench", []))

    def _vector_on(self, arm: Arm, wrench: Sequence[Scalar]) -> StateVector:
        loads = with_numbers(self.places, wrench)
        return StateVector(driven_plant(arm, self.method, self.output, self.tolerance, loads), self.currents)


def check_differentiable(plant: Plant) -> None:
    """Refuse a plant whose step has no derivatives.

    Raises:
        UsageError: Its steps follow from an error estimate, or it has a step of its own.
    """
    if plant.step_rule is not None:
        raise UsageError(str(plant.step_rule.no_derivatives))
    if plant.integrator.adaptive is not None:
        fixed = [name for name, method in METHODS.items() if method.step is not None]
        mend = f"take one of {', '.join(fixed)}"
        raise UsageError.of("derivatives", "a method with steps of a fixed length", plant.method, mend)
