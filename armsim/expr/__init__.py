"""Symbolic scalars: traced expressions, and functions on floats, expressions and SymPy symbols alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

from armsim.door import opened

# at once: modules with a function of their own name, and what these import
from armsim.expr.elementary import cos, exp, log, sin, tan
from armsim.expr.function import Function, Loop, Repetition, loop, shared, trace, when
from armsim.expr.graph import Expr, Graph
from armsim.expr.replay import replay
from armsim.expr.scalar import (
    Scalar,
    Scalars,
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
    zero_where,
)
from armsim.expr.scan import FEW, Scan, each, identity_where, is_long, parts, scan, unrolled_up_to
from armsim.expr.tree import STATIC, Structure, chosen, flatten, leaves, mapped, unflatten, zeros

if TYPE_CHECKING:
    from armsim.expr.derivative import as_constant, differentiable, implicit, jacobian, partials, with_jacobian
    from armsim.expr.evaluable import Evaluable
    from armsim.expr.forward_mode import ForwardMode
    from armsim.expr.switches import Switches
    from armsim.expr.table import Table, increases

_HOMES = {
    "derivative": "as_constant differentiable implicit jacobian partials with_jacobian",
    "evaluable": "Evaluable",
    "forward_mode": "ForwardMode",
    "switches": "Switches",
    "table": "Table increases",
}

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
    "Scalars",
    "FEW",
    "is_long",
    "unrolled_up_to",
    "Scan",
    "each",
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
    "identity_where",
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
    "parts",
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
    "zero_where",
    "zeros",
]
__getattr__ = opened(__name__, _HOMES)
