"""Numbers as expressions of what varies in a run: commands of controllers, external forces."""

from __future__ import annotations

import re
from dataclasses import replace

from armsim.document.composite import Number
from armsim.dynamics import OF_FRAME
from armsim.expr import trace
from armsim.files.faults import nearest
from armsim.files.nodes import Node, Scalar, shown
from armsim.formulas.formula import Formula, FormulaError, parse_formula
from armsim.formulas.quantity import Context, Quantity
from armsim.formulas.units import written_unit

NAMES = re.compile(r"\b[^\W\d]\w*")  # in a formula
# of a joint's own, or with `_` and a joint's name behind, of that joint
SIGNALS = ("q", "qd", "e", "ed", "integral", "q_ref", "qd_ref", "qdd_ref")


class RunExpression(Number):
    """A number as an expression of what varies in a run."""

    hint = ""  # what an unknown name may have been meant for

    def signals(self, context: Context) -> list[str]:
        """What varies, by name, besides t."""
        raise TypeError(f"{type(self).__name__} does not say what it is an expression of")

    def varies(self, formula: Formula) -> bool:
        return True

    def read(self, node: Node, context: Context) -> Quantity | None:
        if not isinstance(node, Scalar) or isinstance(node.value, bool) or node.value is None:
            return self.fault(node, context)
        names = self.signals(context)
        try:
            formula = parse_formula(node.text, words=[name for name in names if not name.isidentifier()])
            if formula.names & context.broken:
                return None
            known = {"pi", "t", *names, *context.parameters}
            unknown = sorted(formula.names - known)
            both = sorted(formula.names & {*names} & {*context.parameters})
            if both:
                raise FormulaError(f"`{both[0]}` is a parameter, too", "give the parameter another name")
            own = sorted(formula.names - {*context.parameters, "pi"})
            given = context.values(formula.names & {*context.parameters})
            trace(lambda *x: [formula.evaluate({**given, **dict(zip(own, x, strict=True))})], own, "command")
            if unknown and context.joints is not None:
                close = nearest(unknown[0], known)
                mend = f"did you mean `{close}`?" if close else f"{self.hint}name a number under `parameters`"
                raise FormulaError(f"there is no `{unknown[0]}`", mend)
        except FormulaError as error:
            mend = error.mend or f"write for example `{self.example}`"
            return self.fault(node, context, mend, f"{shown(node)} ({error.problem})")
        return Quantity(0.0, node.text, node.place, formula, kind=self)


def frame_signals(context: Context) -> list[str]:
    """What expressions call the motion of the arm's frames."""
    return [f"{part}_{frame}" for frame in context.frames or () for part in OF_FRAME]


class LawExpression(RunExpression):
    """A command as an expression of what a controller knows."""

    def expected(self, context: Context) -> str:
        return f"an expression of t, {', '.join(SIGNALS)}, the same of another joint, as q_R2, and parameters"

    def signals(self, context: Context) -> list[str]:
        of_joints = (f"{signal}_{joint}" for signal in SIGNALS for joint, _ in context.joints or ())
        return [*SIGNALS, *of_joints, *frame_signals(context)]


class ForceExpression(RunExpression):
    """A number, or an expression of time and motion, as `-200*x_tool`."""

    hint = "name the joint or the frame, too, as in q_R1 and x_tool, or "

    def expected(self, context: Context) -> str:
        return f"{Number.expected(self, context)}, or an expression of t, q_R1, qd_R1, x_tool, vx_tool and the like"

    def signals(self, context: Context) -> list[str]:
        of_joints = (f"{signal}_{joint}" for signal in ("q", "qd") for joint in context.links or ())
        return [*of_joints, *frame_signals(context)]

    def varies(self, formula: Formula) -> bool:
        return False

    def read(self, node: Node, context: Context) -> Quantity | None:
        text = node.value if isinstance(node, Scalar) else None
        fixed = {"pi", *context.parameters} - {*self.signals(context)}
        if not isinstance(text, str) or written_unit(text) or {*NAMES.findall(text)} <= fixed:
            return Number.read(self, node, context)
        found = super().read(node, context)
        return None if found is None else replace(found, kind=RunExpression(self.unit))
