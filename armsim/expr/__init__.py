"""Symbolic scalars: traced expressions, and functions on floats, expressions and SymPy symbols alike."""

from armsim.expr.derivative import as_constant, differentiable, implicit, jacobian, partials, with_jacobian
from armsim.expr.elementary import cos, exp, log, sin, tan
from armsim.expr.evaluable import Evaluable
from armsim.expr.forward_mode import ForwardMode
from armsim.expr.function import Function, Loop, Repetition, loop, shared, trace, when
from armsim.expr.graph import Expr, Graph
from armsim.expr.replay import replay
from armsim.expr.scalar import (
    Scalar,
    absolute,
    both,
    clip,
    divided,
    dot,
    either,
    finite_or_nan,
    fma,
    is_number,
    lookup,
    maximum,
    minimum,
    minus,
    negated,
    plus,
    rounded,
    snapped,
    sqrt,
    where,
)
from armsim.expr.scan import Scan, scan
from armsim.expr.switches import Switches
from armsim.expr.table import Table, increases
from armsim.expr.tree import STATIC, Structure, chosen, flatten, leaves, mapped, unflatten, zeros

__all__ = [
    "STATIC",
    "Evaluable",
    "Expr",
    "ForwardMode",
    "Function",
    "Graph",
    "Loop",
    "Repetition",
    "Scalar",
    "Scan",
    "Structure",
    "Switches",
    "Table",
    "absolute",
    "as_constant",
    "both",
    "chosen",
    "clip",
    "cos",
    "differentiable",
    "divided",
    "dot",
    "either",
    "exp",
    "finite_or_nan",
    "flatten",
    "fma",
    "implicit",
    "increases",
    "is_number",
    "jacobian",
    "leaves",
    "log",
    "lookup",
    "loop",
    "mapped",
    "maximum",
    "minimum",
    "minus",
    "negated",
    "partials",
    "plus",
    "replay",
    "rounded",
    "scan",
    "shared",
    "sin",
    "snapped",
    "sqrt",
    "tan",
    "trace",
    "unflatten",
    "when",
    "where",
    "with_jacobian",
    "zeros",
]
