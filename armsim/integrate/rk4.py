"""The classical Runge-Kutta method: order 4, four evaluations a step.

Stable for real decaying modes while h |λ| <= 2.785, for undamped ones while h ω <= 2.83.
"""

from __future__ import annotations

from functools import partial

from armsim.expr import Scalar
from armsim.integrate.cut import cut_step
from armsim.integrate.method import Method
from armsim.integrate.motion import Motion
from armsim.integrate.runge_kutta import Tableau, rk_step
from armsim.integrate.system import System

RK4 = Tableau(
    A=((), (1 / 2,), (0.0, 1 / 2), (0.0, 0.0, 1.0)),
    b=(1 / 6, 1 / 3, 1 / 3, 1 / 6),
)


def step(system: System, t: Scalar, y: Motion, h: Scalar) -> Motion:
    """The state at t + h, of order 4 through events too: the step is cut there."""
    return cut_step(partial(rk_step, RK4), system, t, y, h)


METHOD = Method(order=4, step=step, cuts=True)
