"""What is exported: functions with arguments and results that have names and units."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from armsim.clock import Clock
from armsim.escaping import in_comment
from armsim.expr import Expr, Function
from armsim.records import record

Kind = Literal["array", "numbers", "clock"]
SLOPES = "derivatives"  # of the step


@record
class Named:
    """One number of an argument or result.

    Attributes:
        name: As armsim names it: "q_R1", "payload.mass".
        unit: SI, or the file's own of an open number; empty for a pure number.
        value: Of an open number, the file's.
    """

    name: str
    unit: str = ""
    value: float = 0.0

    @property
    def described(self) -> str:
        """Its name with its unit, for a comment."""
        return in_comment(f"{self.name} [{self.unit}]" if self.unit else self.name)


@record
class Argument:
    """An argument or a result.

    Attributes:
        name: Of the parameter.
        what: In words.
        items: Its numbers.
        kind: An array; the open numbers, a structure with a field for each; or the clock, a whole number k of which
            the function takes the time t_k [s] and whether a sample is due, 1 or 0.
        columns: Of a matrix whose items are row by row; 0 of a vector.
    """

    name: str
    what: str
    items: tuple[Named, ...]
    kind: Kind = "array"
    columns: int = 0

    @property
    def described(self) -> str:
        """It in words: its name, what it is, its items with their units."""
        if self.kind in ("clock", "numbers"):
            return in_comment(f"{self.name}: {self.what}")
        names = ", ".join(item.described for item in self.items)
        return f"{self.name}[{len(self.items)}]: {in_comment(self.what)}: {names}"


@record
class Entry:
    """A function that is exported.

    Attributes:
        name: Without the model's.
        what: In words.
        function: As traced; its inputs are the arguments' items, then the locals', its outputs the results'.
        arguments: In order.
        result: An array.
        locals: Values that keep their names, in order: an input of the function and what it stands for.
    """

    name: str
    what: str
    function: Function
    arguments: tuple[Argument, ...]
    result: Argument
    locals: Sequence[tuple[Expr, Expr | float]] = ()


def slopes(step: Entry, function: Function, moving: tuple[Named, ...]) -> Entry:
    """The step with its derivatives, of what moves of the state and by it, then by each argument that follows the state."""
    after = next(i for i, argument in enumerate(step.arguments) if argument.name == "state") + 1
    following = step.arguments[after:]
    items = list(step.result.items)
    for given in (moving, *(argument.items for argument in following)):
        items += [Named(f"d_{x.name}_by_{by.name}", f"{x.unit}/({by.unit})") for x in moving for by in given]
    named = "".join(f", by {argument.name}" for argument in following)
    what = f"the state a step later; then row by row its derivatives by what moves of the state{named}"
    words = f"{step.what} With the derivatives of what moves of the state."
    return Entry(SLOPES, words, function, step.arguments, Argument("found", what, tuple(items)))


@record
class Case:
    """A call with reference values, for the test program.

    Attributes:
        entry: Which.
        given: Numbers of each argument; of the clock k.
        found: Numbers of the result, in double precision.
    """

    entry: Entry
    given: tuple[tuple[float, ...], ...]
    found: tuple[float, ...]


@record
class Model:
    """All that is exported of a robot or scenario.

    Attributes:
        name: An identifier in all languages, in lower case.
        about: Lines that say what it is of.
        entries: Its functions.
        numbers: The open numbers; empty without any.
        clock: Of a scenario.
        cases: For the test program.
    """

    name: str
    about: Sequence[str]
    entries: Sequence[Entry]
    numbers: tuple[Named, ...] = ()
    clock: Clock | None = None
    cases: Sequence[Case] = ()


@record
class Stepping:
    """How the forward model steps.

    Attributes:
        dt: Length of a step [s].
        method: Integrator.
        inputs: What they are: "voltage" or "torque".
        creep: Of its derivatives, see `armsim.ForwardModel`.
    """

    dt: float
    method: str
    inputs: Any  # checked by the forward model
    creep: float | None = None
