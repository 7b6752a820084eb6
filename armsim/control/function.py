"""A law of one's own: a Python function."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence, Sized
from dataclasses import dataclass
from numbers import Real
from reprlib import repr as short
from typing import Any

from armsim.control.law import FeedbackLaw, Kept, Now, Seen
from armsim.control.reference import Desired
from armsim.errors import UsageError
from armsim.expr import Expr, Scalar, trace
from armsim.expr.graph import CONDITIONS


@dataclass(frozen=True, slots=True)
class Told:
    """What a function is told, lists of n numbers each; in a function that is traced, of expressions.

    Attributes:
        t: Time [s].
        q: Measured joint positions [rad or m].
        qd: Measured joint velocities [rad/s or m/s].
        e: Desired less measured positions.
        ed: Desired less measured velocities.
        integral: ∫e dt since the start [rad·s or m·s].
        q_ref: Desired positions.
        qd_ref: Desired velocities.
        qdd_ref: Desired accelerations [rad/s² or m/s²].
    """

    t: Scalar
    q: list[Scalar]
    qd: list[Scalar]
    e: list[Scalar]
    ed: list[Scalar]
    integral: list[Scalar]
    q_ref: list[Scalar]
    qd_ref: list[Scalar]
    qdd_ref: list[Scalar]


LawFunction = Callable[[Told], Sequence[Any]]


@dataclass(frozen=True)
class FunctionLaw(FeedbackLaw):
    """u = function(told), n numbers; the function has to depend on nothing else.

    Attributes:
        n: Number of joints.
        function: The function; None where it is still to be given.
    """

    n: int
    function: LawFunction | None = None

    name = "python"

    def begin(self) -> Kept:
        """Integrals at zero."""
        return Kept([0.0] * self.n)

    def command(self, now: Now, kept: Kept) -> list[Scalar]:
        """What the function says.

        Raises:
            UsageError: There is no function, or it does not return n numbers.
        """
        if self.function is None:
            mend = "call armsim.simulate(scenario, law=function), or take another law"
            raise UsageError.of("control.law", "a Python function, as this law is one", "none", mend)
        seen, desired = now.seen, now.desired
        told = Told(
            now.t, [*seen.q], [*seen.qd], now.e, now.ed, [*kept.integrals], [*desired.q], [*desired.qd], [*desired.qdd]
        )
        answer = self.function(told)
        commands = list(answer) if isinstance(answer, Iterable) else []
        if len(commands) != self.n or not all(map(_is_number, commands)):
            expected = f"a function that returns {self.n} number{'s' * (self.n > 1)}"
            found = short(answer if isinstance(answer, Sized) else commands or answer)
            raise UsageError.of("law", expected, found, "return a list of them, one command per joint")
        return [u if isinstance(u, Expr) else float(u) for u in commands]

    def rates(self, now: Now, kept: Kept, excess: Sequence[Scalar]) -> Kept:
        """The errors."""
        return Kept(now.e)

    @property
    def traceable(self) -> bool:
        """Whether the function can be traced: arithmetic and the functions of `armsim.expr`, no branch on a number."""

        def asked(*x: Scalar) -> list[Scalar]:
            parts = [list(x[1 + k * self.n : 1 + (k + 1) * self.n]) for k in range(6)]
            return self.command(Now(x[0], Seen(parts[0], parts[1]), Desired(*parts[2:5])), Kept(parts[5]))

        try:
            trace(asked, [f"x{i}" for i in range(1 + 6 * self.n)], "law")
        except UsageError:
            raise
        except Exception:  # whatever a function raises that asks an expression for its value
            return False
        return True


def _is_number(u: Any) -> bool:
    """Whether a command is a number, or an expression of one; no condition."""
    return u.op not in CONDITIONS if isinstance(u, Expr) else isinstance(u, Real) and not isinstance(u, bool)
