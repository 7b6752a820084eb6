"""A law of one's own: a Python function."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence, Sized
from numbers import Real
from reprlib import repr as short
from typing import Any

from armsim.control.law import FeedbackLaw, Kept, Now, Seen
from armsim.control.reference import Desired
from armsim.errors import UsageError
from armsim.expr import Expr, Scalar, Scalars, replay, trace
from armsim.expr.graph import CONDITIONS
from armsim.records import record


@record
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
    q: Scalars
    qd: Scalars
    e: Scalars
    ed: Scalars
    integral: Scalars
    q_ref: Scalars
    qd_ref: Scalars
    qdd_ref: Scalars


LawFunction = Callable[[Told], Sequence[Any]]


@record
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

    def command(self, now: Now, kept: Kept) -> Scalars:
        """What the function says.

        Raises:
            UsageError: There is no function, or it does not return n numbers.
            Exception: The function's own.
        """
        if self.function is None:
            mend = "call armsim.simulate(scenario, law=function), or take another law"
            raise UsageError.of("control.law", "a Python function, as this law is one", "none", mend)
        return self._commands(self._answer(now, kept))

    def _answer(self, now: Now, kept: Kept) -> Any:
        """What the function returns. An error of its own comes out with a note that names it."""
        assert self.function is not None
        seen, desired = now.seen, now.desired
        told = Told(
            now.t, [*seen.q], [*seen.qd], now.e, now.ed, [*kept.integrals], [*desired.q], [*desired.qd], [*desired.qdd]
        )
        try:
            return self.function(told)
        except Exception as error:
            error.add_note(f"raised by the law {self.called} at t = {told.t} s")
            raise

    def _commands(self, answer: Any) -> Scalars:
        """Commands from what the function returned."""
        commands = list(answer) if isinstance(answer, Iterable) else []
        if len(commands) != self.n or not all(map(_is_number, commands)):
            expected = f"a function that returns {self.n} number{'s' * (self.n > 1)}"
            found = short(answer if isinstance(answer, Sized) else commands or answer)
            raise UsageError.of("law", expected, found, "return a list of them, one command per joint")
        return [u if isinstance(u, Expr) else float(u) for u in commands]

    def rates(self, now: Now, kept: Kept, excess: Scalars) -> Kept:
        """The errors."""
        return Kept(now.e)

    @property
    def traceable(self) -> bool:
        """Whether the function can be traced: arithmetic and the functions of `armsim.expr`, no branch on a number.

        Raises:
            UsageError: It returns no commands, or others when it is told the same again.
        """

        n = self.n

        def answer(shift: float, t: Scalar, x: Scalars) -> Any:
            parts = [[shift + y for y in x[k * n : (k + 1) * n]] for k in range(6)]
            return self._answer(Now(shift + t, Seen(parts[0], parts[1]), Desired(*parts[2:5])), Kept(parts[5]))

        def asked(t: Scalar, *x: Scalar) -> Scalars:
            try:
                first, _, again = (answer(shift, t, x) for shift in (0.0, 1.0, 0.0))
            except Exception:  # whatever a function raises that asks an expression for its value
                return []
            return [*self._commands(first), *self._commands(again)]

        names = [f"x{i}" for i in range(1 + 6 * n)]
        if self.function is None:
            return True  # `command` refuses it
        traced = trace(asked, names, "law")
        values = replay(traced, [0.1 + 0.3 * i for i in range(len(names))])
        self.check_repeated(values[:n], values[n:], "")
        return bool(values)

    @property
    def called(self) -> str:
        """The name of the function."""
        return getattr(self.function, "__name__", type(self.function).__name__)

    def check_repeated(self, first: Sequence[float], again: Sequence[float], when: str) -> None:
        """Refuse a function that answers differently when it is told the same again.

        Args:
            first: What came of its commands.
            again: What came of them when it was called again.
            when: When that was, for the message.

        Raises:
            UsageError: They differ.
        """
        if repr(first) != repr(again):  # equal where both are nan, too
            mend = (
                "let it depend on `told` alone: on told.integral in place of a sum of its own, on told.t in place of a clock\n"
                "or a count; random numbers are those of `control.encoder.noise`"
            )
            expected, found = "the same commands whenever it is told the same", f"others when it is called again{when}"
            raise UsageError.of(f"law {self.called}", expected, found, mend)


def _is_number(u: Any) -> bool:
    """Whether a command is a number, or an expression of one; no condition."""
    return u.op not in CONDITIONS if isinstance(u, Expr) else isinstance(u, Real) and not isinstance(u, bool)
