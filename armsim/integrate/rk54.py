"""Dormand and Prince's embedded Runge-Kutta pair of orders 5 and 4, with step-size control.

Seven stages. For smooth non-stiff motions, to any accuracy. J. R. Dormand and P. J. Prince, "A family of
embedded Runge-Kutta formulae", *J. Computational and Applied Mathematics* 6 (1980).
"""

from __future__ import annotations

from armsim.expr import Scalar, fma, mapped, zeros
from armsim.integrate.adaptive import MEMORY, EmbeddedPair, Trial
from armsim.integrate.method import Method
from armsim.integrate.motion import Motion
from armsim.integrate.runge_kutta import Tableau, rk_stages, weighted
from armsim.integrate.system import System

FIFTH = (35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84, 0.0)
FOURTH = (5179 / 57600, 0.0, 7571 / 16695, 393 / 640, -92097 / 339200, 187 / 2100, 1 / 40)
DORMAND_PRINCE = Tableau(
    A=(
        (),
        (1 / 5,),
        (3 / 40, 9 / 40),
        (44 / 45, -56 / 15, 32 / 9),
        (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
        (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
        FIFTH[:6],
    ),
    b=FIFTH,
)
# of the stages in the upper coefficient of dense output of order 4: Hairer, Norsett and Wanner, section II.6, DOPRI5
DENSE = (
    -12715105075 / 11282082432,
    0.0,
    87487479700 / 32700410799,
    -10690763975 / 1880347072,
    701980252875 / 199316789632,
    -1453857185 / 822651844,
    69997945 / 29380423,
)
ERROR = tuple(b - lower for b, lower in zip(FIFTH, FOURTH, strict=True))


def trial(smooth: System, t: Scalar, y: Motion, h: Scalar) -> Trial:
    """One step, its embedded error estimate and its continuous extension of order 4."""
    stages = rk_stages(DORMAND_PRINCE, smooth, t, y, h)
    nothing = zeros(y)
    end = weighted(y, h, FIFTH, stages)
    # the derivatives at both ends are the stages' there
    low = mapped(lambda before, after, k: fma(h, k, before - after), y, end, stages[0])
    high = mapped(lambda before, after, a, b: (after - before) - fma(h, b, a), y, end, low, stages[6])
    upper = weighted(nothing, h, DENSE, stages)
    inner = [low, mapped(lambda a, b: a + b, high, upper), mapped(lambda x: -x, upper)]
    return Trial(end, weighted(nothing, h, ERROR, stages), inner)


METHOD = Method(order=5, adaptive=EmbeddedPair(trial, order=5), coefficients=4, memory=MEMORY)
